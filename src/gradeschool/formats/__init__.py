"""Sample files: one module for each file format that completions come in."""
