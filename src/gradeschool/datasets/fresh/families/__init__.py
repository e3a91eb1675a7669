"""The families of problems, one story-teller each."""
