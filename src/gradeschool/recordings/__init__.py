"""Recorded completions: one file for each format that they come in."""
