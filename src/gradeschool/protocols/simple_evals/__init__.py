"""OpenAI simple-evals: its MGSM evaluation, in English on any problems."""

from gradeschool.protocols.simple_evals.mgsm import PROTOCOLS, SCORERS

__all__ = ["PROTOCOLS", "SCORERS"]
