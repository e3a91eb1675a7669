"""Training verifiers: fine-tune a generator, sample it, train a verifier, rank by it."""
