"""All closed-form rules over a batch of completions, compiled by numba (`gradeschool[fast]`).

The kernels here are plain functions over bytes and whole numbers. Each gives a rule's code where
the case is plain, and ASK where it is not; then the rule itself is asked. A kernel never guesses: a
test compares every code with the rule's own outcome.
"""
