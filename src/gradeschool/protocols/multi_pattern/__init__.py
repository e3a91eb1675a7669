"""The multi-pattern parser that GSM8K evaluation guides describe, as they describe it."""

from gradeschool.protocols.multi_pattern.rules import MULTI_PATTERN

RULES = (MULTI_PATTERN,)
PROTOCOLS = ()
