"""Train verifiers: fine-tune a generator, sample from it, train a verifier, rank with it."""
