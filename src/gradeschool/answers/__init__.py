"""ExtractedAnswer a number out of text: exact, linear in the length of any text, never raising."""
