"""Text that a terminal may show."""

from __future__ import annotations


def printable(text: str, keep: str = "\n") -> str:
    """Return a text with control characters, invisible marks and lone surrogates escaped.

    keep: control characters that stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )
