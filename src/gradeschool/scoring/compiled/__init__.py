"""All closed-form scorers over a batch of completions, compiled by numba (`gradeschool[fast]`).

The kernels here are plain functions over bytes and whole numbers. Each gives a scorer's code where
the case is plain, and ASK where it is not; then the scorer itself is asked. A kernel never guesses:
a test compares every code with the scorer's own outcome.
"""
