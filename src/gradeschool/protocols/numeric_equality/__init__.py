"""Numeric equality after "ANSWER:": the scorer that PostTrainBench asked for."""

from gradeschool.protocols.numeric_equality.rules import NUMERIC_EQUALITY

RULES = (NUMERIC_EQUALITY,)
PROTOCOLS = ()
