"""Explain why two results differ: recorded settings, prompts, texts and scorers."""
