"""Rendering problems into prompts: one text, turns of a chat, an assistant prefix."""
