"""Math-Verify: parse and verify with their defaults, and its own GSM8K task."""
