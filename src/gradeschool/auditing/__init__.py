"""Audits scorers and reward functions with cases whose verdict is clear to a careful reader."""
