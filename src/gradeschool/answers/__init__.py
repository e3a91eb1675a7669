"""Extracts the answer from a text: exact, linear in the length of any text, never raising."""
