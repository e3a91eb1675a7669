"""Two results that should agree and do not: what they record, and what explains the rest."""
