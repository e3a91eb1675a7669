"""verifiers: MathRubric with its two parsers, and the GSM8K environment of version 1."""

from gradeschool.protocols.verifiers.gsm8k import (
    GSM8K_V1,
    LEGACY,
    MATH_RUBRIC,
    MATH_RUBRIC_LENIENT,
    V1,
)

SCORERS = (MATH_RUBRIC, MATH_RUBRIC_LENIENT, GSM8K_V1)
PROTOCOLS = (LEGACY, V1)
