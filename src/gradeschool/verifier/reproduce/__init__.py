"""The paper's experiments: stages that are commands of this package, and their findings."""
