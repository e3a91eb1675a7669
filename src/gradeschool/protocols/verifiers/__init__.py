"""verifiers: MathRubric with its two parsers, and the GSM8K environment of version 1."""

from gradeschool.protocols.verifiers.prompts import LEGACY, V1
from gradeschool.protocols.verifiers.scorers import GSM8K_V1, MATH_RUBRIC, MATH_RUBRIC_LENIENT

SCORERS = (MATH_RUBRIC, MATH_RUBRIC_LENIENT, GSM8K_V1)
PROTOCOLS = (LEGACY, V1)
