"""Asking a model: plan, what is missing, ask, append; nothing paid for is lost."""
