"""The multi-pattern parser that GSM8K evaluation guides describe, as they describe it."""

from gradeschool.protocols.multi_pattern.scorers import MULTI_PATTERN

SCORERS = (MULTI_PATTERN,)
PROTOCOLS = ()
