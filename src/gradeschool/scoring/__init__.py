"""Scorers over completions: verdicts, scores with their uncertainty, disagreements."""
