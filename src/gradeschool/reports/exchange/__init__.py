"""Runs in the file formats of other tools: one file for each format."""
