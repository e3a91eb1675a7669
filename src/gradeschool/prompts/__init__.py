"""Rendering problems into prompts: one text, or chat turns with an optional assistant prefix."""
