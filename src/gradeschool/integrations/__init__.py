"""The scorers and data of gradeschool inside other tools."""

from __future__ import annotations

import warnings
from collections.abc import Sequence


def renamed(
    scorer: str | Sequence[str], rule: str | Sequence[str], old: str = "rule"
) -> str | Sequence[str]:
    """Return the scorer, also from the keyword's old name, which works until 0.2.0.

    old: the old name, `rule` or `rules`. Warns with DeprecationWarning if it is used.
    """
    if not rule:
        return scorer
    new = old.replace("rule", "scorer")
    warnings.warn(f"{old}= is now {new}=; give {new}={rule!r}", DeprecationWarning, stacklevel=3)
    return rule
