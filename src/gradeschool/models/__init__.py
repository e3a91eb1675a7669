"""Models: OpenAI-compatible endpoints, models on this machine, sample files."""
