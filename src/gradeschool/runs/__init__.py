"""Run a plan: request what is missing, store what comes, resume, merge, verify."""
