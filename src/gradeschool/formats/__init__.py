"""Files of completions: one module for each format."""
