"""Auditing scorers and reward functions: cases with the verdict that a careful reader gives."""
