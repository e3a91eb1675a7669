"""OpenAI's own code of 2021: the release of GSM8K, and the solutions published with it."""

from gradeschool.protocols.openai.official import EXAMPLE_SOLUTIONS, OFFICIAL, OFFICIAL_SCORER

SCORERS = (OFFICIAL_SCORER, EXAMPLE_SOLUTIONS)
PROTOCOLS = (OFFICIAL,)
