"""Differential tests: our rules and prompts beside the real harnesses, verdict by verdict."""
