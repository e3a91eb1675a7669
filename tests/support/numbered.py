"""Twenty problems whose gold is their number."""

from gradeschool import Problem

PROBLEMS = [
    Problem.from_row(str(index), f"Question {index}?", f"So it is\n#### {index}")
    for index in range(20)
]
