"""Math-Verify: parse and verify with their defaults, and its own GSM8K task."""

from gradeschool.protocols.math_verify.scorers import BOXED_GOLD, DEFAULT

SCORERS = (DEFAULT, BOXED_GOLD)
PROTOCOLS = ()
