"""The paper's experiments: stages, which are commands of this package, and their findings."""
