"""Differential tests: our scorers and prompts beside the real harnesses, verdict by verdict."""
