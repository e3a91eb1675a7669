"""New GSM8K-format problems from a seed: `fresh_problems(seed, count, split=...)`."""

from gradeschool.datasets.fresh.generate import SPLITS, VERSION, fresh_problems, fresh_stream

__all__ = ["SPLITS", "VERSION", "fresh_problems", "fresh_stream"]
