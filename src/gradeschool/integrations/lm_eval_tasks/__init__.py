"""Tasks and filters for `lm_eval --include_path`."""
