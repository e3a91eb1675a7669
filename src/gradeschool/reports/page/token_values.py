"""A verifier's values of a run's completions, token by token, from the scores beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from gradeschool.verifier.scores import ScoreRow, read_scores, scores_path

MOST_TOKENS = 5_000  # of a completion; a longer one is shown without its values
TORN = "\ufffd"  # stands in a token that holds a part of a character
LOOKAHEAD = 16  # characters that torn tokens may hide
MOST_TORN = 200  # characters of torn tokens one behind the other


class TokenValues(NamedTuple):
    """What a verifier says of one completion: its score, and its value after each token."""

    verifier: str
    score: float
    tokens: tuple[str, ...]
    values: tuple[float, ...]


def token_values(source: Path, warn: Callable[[str], None]) -> dict[str, TokenValues]:
    """Return the values of a run folder's or file's completions by key; none where none lie there.

    Of several verifiers it is the one that was written last, which `warn` is told. Rows whose
    values and tokens do not fit each other are passed over.
    """
    path = scores_path(source)
    verifiers: dict[str, dict[str, TokenValues]] = {}
    last = ""
    for row in read_scores(path):
        found = _checked(row)
        if found is not None:
            last = row.verifier
            verifiers.setdefault(last, {})[row.key] = found
    if len(verifiers) > 1:
        others = ", ".join(repr(name) for name in verifiers if name != last)
        warn(f"{str(path)!r} holds values by several verifiers; those by {last!r} are shown, not "
             f"by {others}")  # fmt: skip
    return verifiers.get(last, {})


def _checked(row: ScoreRow) -> TokenValues | None:
    tokens, values = row.tokens, row.values
    if not tokens or not values or len(tokens) != len(values) or len(tokens) > MOST_TOKENS:
        return None
    if not all(isinstance(token, str) for token in tokens) or not isfinite(row.score):
        return None
    if not all(isinstance(value, int | float) and isfinite(value) for value in values):
        return None
    return TokenValues(row.verifier, row.score, tuple(tokens), tuple(map(float, values)))


def pieces(text: str, tokens: Sequence[str]) -> list[str]:
    """Return what each token is of a text; the tokens as they are where they are not of it.

    A character whose bytes several tokens share goes to the first of them, together with all up to
    the next whole token. Tokens behind the text's end (an end token) stay.
    """
    found: list[str] = []
    place = first = 0
    torn = ""  # tokens from `first` on whose characters are not known yet
    for token in tokens:
        if TORN in token and not text.startswith(token, place):
            first = first if torn else len(found)
            torn += token
            found.append("")
            continue
        if torn:
            gap = _gap(text, place, torn, token)
            found[first], torn = gap, ""
            place += len(gap)
        found.append(token)
        place += len(token) if place < len(text) else 0
    if torn:
        found[first] = text[place:]
    return found if "".join(found).startswith(text) else list(tokens)


def _gap(text: str, place: int, torn: str, token: str) -> str:
    """Return the characters of torn tokens: up to the next token, with the same ASCII in them."""
    plain = _ascii(torn)
    if len(torn) > MOST_TORN:
        return ""
    for at in range(place, min(place + len(torn) + LOOKAHEAD, len(text)) + 1):
        ends = at == len(text) or text.startswith(token, at)
        if ends and _ascii(text[place:at]) == plain:
            return text[place:at]
    return ""


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()
