"""The families of problems, one function for each."""
