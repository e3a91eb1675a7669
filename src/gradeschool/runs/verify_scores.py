"""Whether results.json says what the run's own scorers make of the stored completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradeschool.completion import Completion
from gradeschool.runs.finish import scorers_of
from gradeschool.runs.manifest import differing, facts_of, plan_of
from gradeschool.runs.results import run_of
from gradeschool.scoring.score import score_table
from gradeschool.scoring.table import ScoredTable

ANEW = "the command of the run writes it anew"


def wrong_scores(
    manifest: Mapping[str, Any], results: Mapping[str, Any], completions: Sequence[Completion]
) -> str:
    """Return what is wrong with the scores of a results.json, "" for nothing.

    completions: all stored rows, in order. Says nothing of a run whose protocol or dataset is
    another today. Raises InputError where they are not to be had, MissingExtraError for a scorer.
    """
    plan = plan_of(manifest)
    if differing(manifest, {**manifest, **facts_of(plan)}) is not None:
        return ""
    stored = results.get("scorers")
    told = dict(stored) if isinstance(stored, Mapping) else {}
    if told.keys() != set(plan.protocol.scorers):
        others = ", ".join(told) or "no scorer"
        own = ", ".join(plan.protocol.scorers)
        return f"results.json is by {others}, the run's own are {own}; {ANEW}"
    requests = plan.requests(str(manifest.get("model")))
    run = run_of("", requests, _counting(completions))
    for scorer, found in (
        score_table(ScoredTable(run, scorers_of(plan))).as_json()["scorers"].items()
    ):
        if told[scorer] != found:
            said = _said(told[scorer], found)
            return f"results.json is not what {scorer} makes of these rows: {said}; {ANEW}"
    return ""


def _counting(completions: Sequence[Completion]) -> dict[str, Completion]:
    """Return the row of each key that counts: the last that is no error, else the last."""
    answered = {one.key: one for one in completions if not one.error}
    return {one.key: one for one in completions} | answered


def _said(told: Any, found: Mapping[str, Any]) -> str:
    if not isinstance(told, Mapping):
        return repr(told)
    name = next((name for name in found if told.get(name) != found[name]), "")
    if not name:
        return "it has more fields than a score"
    return f"{name} {told.get(name)!r}, not {found[name]!r}"
