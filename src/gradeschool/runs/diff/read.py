"""From a chosen run to a side: which tool wrote it, and what it recorded."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path

from gradeschool.completion import Prompt
from gradeschool.formats.inspect_log import is_inspect
from gradeschool.formats.lm_eval_samples import is_lm_eval
from gradeschool.formats.read import COMPLETIONS_FILE, read_samples
from gradeschool.formats.whole_json import read_whole
from gradeschool.runs.diff import side
from gradeschool.runs.diff.inspect_ai import inspect_side
from gradeschool.runs.diff.lm_eval import lm_eval_side
from gradeschool.runs.diff.own import own_side
from gradeschool.runs.diff.side import Side, known
from gradeschool.scoring.sources import Chosen
from gradeschool.tables import read_rows

CHAT, TEXT = "chat messages", "one text"


def read_side(chosen: Chosen) -> Side:
    """Return a chosen run with everything that its records say of how it was made."""
    found = _read(chosen)
    prompts = [asked.prompt for asked in found.asked.values() if asked.prompt is not None]
    counts = Counter(one.problem.id for one in found.run.samples if one.problem is not None)
    samples = Counter(counts.values()).most_common(1)
    told = {
        side.FORM: _form(prompts),
        side.SYSTEM: _systems(prompts),
        side.SAMPLES: samples[0][0] if samples else None,
    }
    settings = {**known(told), **found.settings}
    if found.settings.get(side.SYSTEM) == "none" and told[side.SYSTEM] is not None:
        settings[side.SYSTEM] = told[side.SYSTEM]
    return Side(found.run, found.kind, settings, found.asked, found.scorer)


def _read(chosen: Chosen) -> Side:
    run, path = chosen.run, chosen.path
    if path.is_dir() or (chosen.manifest and path.name == COMPLETIONS_FILE):
        return own_side(run, path, chosen.manifest)
    if path.suffix == ".eval" or is_inspect(read_whole(path)):
        return inspect_side(run, path)
    if path.suffix in (".jsonl", "") and is_lm_eval(_first(path)):
        return lm_eval_side(run, path)
    rows = (one for one in read_samples(path) if one.run == run.name)
    models = sorted({one.model for one in rows if one.model})
    return Side(run, "recorded completions", known({side.MODEL: ", ".join(models) or None}))


def _first(path: Path) -> dict[str, object]:
    return next((dict(row.fields) for row in read_rows(path) if not row.fault), {})


def _form(prompts: list[Prompt]) -> str | None:
    forms = {CHAT if prompt.is_chat else TEXT for prompt in prompts}
    return " and ".join(sorted(forms)) or None


def _systems(prompts: list[Prompt]) -> str | None:
    """Return the one system message of all prompts, "none", or how many there are."""
    turns = chain.from_iterable(prompt.messages[:1] for prompt in prompts)
    found = {turn.content for turn in turns if turn.role == "system"}
    if not prompts:
        return None
    if len(found) > 1:
        return f"{len(found)} different ones"
    return next(iter(found), "none")
