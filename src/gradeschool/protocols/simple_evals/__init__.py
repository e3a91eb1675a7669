"""OpenAI simple-evals: its MGSM evaluation in English, on any problems."""

from gradeschool.protocols.simple_evals.mgsm import MGSM_EN, MGSM_SCORER

SCORERS = (MGSM_SCORER,)
PROTOCOLS = (MGSM_EN,)
