"""The paper from nothing: stages that are commands of this package, and what they found."""
