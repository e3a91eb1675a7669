"""Scorers and data of gradeschool in the shapes that other tools expect."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

# The scorer of every reward, scorer and environment that names none.
DEFAULT_SCORER = "gradeschool/reader"


def renamed(
    scorer: str | Sequence[str], rule: str | Sequence[str], old: str = "rule"
) -> str | Sequence[str]:
    """Return the scorer, which may come under the keyword's old name until 0.2.0.

    old: that name, `rule` or `rules`. Warns with DeprecationWarning where it is used.
    """
    if not rule:
        return scorer
    new = old.replace("rule", "scorer")
    warnings.warn(f"{old}= is now {new}=; give {new}={rule!r}", DeprecationWarning, stacklevel=3)
    return rule
