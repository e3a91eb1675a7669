"""Read the runs of a page: completions, recorded facts, and a verifier's token values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.platinum import disputed
from gradeschool.datasets.sources import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.own_run import results_of
from gradeschool.formats.samples import ReadOptions
from gradeschool.problem import Problem
from gradeschool.runs.plan import prompts_of
from gradeschool.scoring.samples import Run
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.verifier.scores import ScoreRow, read_scores, scores_path


@dataclass(frozen=True, slots=True)
class PageRun:
    """One run of a page, and what is recorded about it beside its samples.

    results: its results.json. disputed: the revised problems by id, None for removed ones (see
    `datasets.platinum.disputed`). valued: a verifier's values of completions, by their keys.
    prompts: sent prompts by problem id; only those verified by the keys of a run folder.
    """

    chosen: SourceRun
    results: Mapping[str, Any]
    disputed: Mapping[str, Problem | None]
    valued: Mapping[str, TokenValues]
    prompts: Mapping[str, Prompt]


def gather(
    specs: Sequence[str], options: ReadOptions, warn: Callable[[str], None]
) -> list[PageRun]:
    """Read the runs of FILE or FILE#RUN arguments; raises InputError."""
    chosen = choose_runs(specs, options, warn)
    valued = {path: token_values(path, warn) for path in {run.path for run in chosen}}
    return [
        PageRun(
            run, results_of(run.path), disputed_labels(run.run), valued[run.path], _prompts(run)
        )
        for run in chosen
    ]


def page_run(run: Run) -> PageRun:
    """Return a run in memory for a page, of which only the completions are known."""
    return PageRun(SourceRun(run, Path(), {}), {}, disputed_labels(run), {}, {})


def _prompts(chosen: SourceRun) -> Mapping[str, Prompt]:
    """Return the prompts that were sent, by problem id.

    Prompts are rendered again and verified by the key of the completion, which is a digest of the
    prompt. A prompt that cannot be verified or rendered is left out.
    """
    keys = [
        (sample.problem.id, sample.stored.key)
        for sample in chosen.run.samples
        if sample.problem is not None and sample.stored is not None
    ]
    try:
        by_key = prompts_of(chosen.manifest) if keys else {}
    except InputError:
        return {}
    return {id: by_key[key] for id, key in keys if key in by_key}


def disputed_labels(run: Run) -> Mapping[str, Problem | None]:
    """Return the disputed labels of a run's dataset."""
    if run.dataset in ("", OWN_PROBLEMS):
        return {}
    return disputed(load_dataset(run.dataset).problems, run.problems())


MOST_TOKENS = 5_000  # a longer completion is shown without its values
TORN = "\ufffd"  # in a token that contains part of a character
LOOKAHEAD = 16  # maximum number of characters within torn tokens
MOST_TORN = 200  # maximum number of characters of consecutive torn tokens


class TokenValues(NamedTuple):
    """A verifier's output for one completion: its score, and its value after each token."""

    verifier: str
    score: float
    tokens: tuple[str, ...]
    values: tuple[float, ...]


def token_values(source: Path, warn: Callable[[str], None]) -> dict[str, TokenValues]:
    """Return the values of a run folder's or file's completions by key, if there are any.

    Of several verifiers, the last one written is used, and `warn` is called. Rows whose values and
    tokens do not match are skipped.
    """
    path = scores_path(source)
    verifiers: dict[str, dict[str, TokenValues]] = {}
    last = ""
    for row in read_scores(path):
        result = _checked(row)
        if result is not None:
            last = row.verifier
            verifiers.setdefault(last, {})[row.key] = result
    if len(verifiers) > 1:
        others = ", ".join(repr(name) for name in verifiers if name != last)
        warn(f"{str(path)!r} has values by several verifiers; those by {last!r} are shown, not "
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
    """Return the part of the text for each token; the tokens themselves if they do not match it.

    A character whose bytes are split over several tokens goes to the first of them, together with
    everything up to the next whole token. Tokens after the text's end (an end token) are kept.
    """
    results: list[str] = []
    place = first = 0
    torn = ""  # tokens from `first` on whose characters are not yet known
    for token in tokens:
        if TORN in token and not text.startswith(token, place):
            first = first if torn else len(results)
            torn += token
            results.append("")
            continue
        if torn:
            gap = _gap(text, place, torn, token)
            results[first], torn = gap, ""
            place += len(gap)
        results.append(token)
        place += len(token) if place < len(text) else 0
    if torn:
        results[first] = text[place:]
    return results if "".join(results).startswith(text) else list(tokens)


def _gap(text: str, place: int, torn: str, token: str) -> str:
    """Return the characters of torn tokens: up to the next token, with the same ASCII."""
    plain = _ascii(torn)
    if len(torn) > MOST_TORN:
        return ""
    for index in range(place, min(place + len(torn) + LOOKAHEAD, len(text)) + 1):
        ends = index == len(text) or text.startswith(token, index)
        if ends and _ascii(text[place:index]) == plain:
            return text[place:index]
    return ""


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()
