"""Math-Verify: parse and verify with their defaults, and its own GSM8K task."""

from gradeschool.protocols.math_verify.rules import BOXED_GOLD, DEFAULT

RULES = (DEFAULT, BOXED_GOLD)
PROTOCOLS = ()
