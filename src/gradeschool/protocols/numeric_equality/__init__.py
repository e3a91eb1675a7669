"""Numeric equality after "ANSWER:": the scorer that PostTrainBench asked for."""

from gradeschool.protocols.numeric_equality.scorers import NUMERIC_EQUALITY

SCORERS = (NUMERIC_EQUALITY,)
PROTOCOLS = ()
