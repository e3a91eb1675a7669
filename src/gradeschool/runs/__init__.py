"""Run a plan: request missing samples, store completions, resume, verify."""
