"""Many samples of a model on this machine, straight from the token loop into a run folder.

The same folder as `gradeschool eval` writes, row by row: a sampling that is killed at any time asks
only for what is missing, and more samples can be added later. What a sample is depends on weights,
prompt, its number and the seed alone, not on what else is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Finish, Prompt, Usage
from gradeschool.errors import ModelError
from gradeschool.formats.read import MANIFEST_FILE
from gradeschool.models.base import Reply, Request
from gradeschool.models.batched import DEFAULT_TOKENS, fingerprint, folder_of, tokens_of, too_long
from gradeschool.runs.finish import scorers_of, write_results
from gradeschool.runs.manifest import manifest
from gradeschool.runs.plan import Plan, missing
from gradeschool.runs.records import completed, failed, to_line
from gradeschool.runs.store import RunStore
from gradeschool.verifier.sample_processes import in_processes
from gradeschool.verifier.sample_work import Asked, How, Write, Written
from gradeschool.verifier.stopping import stopped_by_signals


@dataclass(frozen=True, slots=True)
class Here:
    """A model on this machine as a sampling asks it: the one that `eval` calls transformers/."""

    folder: Path
    name: str
    calculator: bool

    @property
    def identity(self) -> str:
        """Return what makes its samples its own."""
        calculator = " with the calculator" if self.calculator else ""
        return f"transformers/{self.name} {fingerprint(self.folder)}{calculator}"


class Told(NamedTuple):
    """How far a sampling is; `tokens` were written in this session."""

    done: int
    of: int
    tokens: int


class Sampling(NamedTuple):
    """How a sampling ended: samples stored of all that the plan has, failures, interrupted."""

    stored: int
    of: int
    failed: int
    stopped: bool


class _Work(NamedTuple):
    """What is to be written, and the requests whose prompts leave no room, by their numbers."""

    how: How
    asked: list[Asked]
    unfit: list[tuple[int, ModelError]]


def here(spec: str, calculator: bool) -> Here:
    """Return the model of a folder, or of a name in the Hugging Face cache; raises InputError."""
    return Here(folder_of(spec), spec.rstrip("/").rpartition("/")[2], calculator)


def sample_here(
    plan: Plan,
    model: Here,
    output: Path,
    *,
    write: Write = in_processes,
    version: str = "",
    tell: Callable[[Told], None] | None = None,
) -> Sampling:
    """Write the samples that a run folder lacks, then its results.

    write: who writes them, here or elsewhere; this process alone stores them. SIGINT and SIGTERM
    end it in order. Raises StoreError where the folder holds another run.
    """
    requests = plan.requests(model.identity)
    with RunStore(output) as store, stopped_by_signals() as stop:
        known: Any = model  # only its identity is looked at
        fields = manifest(plan, known, version, store.read_json(MANIFEST_FILE))
        store.write_json(MANIFEST_FILE, fields)
        done = {key for key, one in store.completions.items() if not one.error}
        todo = missing(requests, done)
        work = _work(plan, model, requests, todo)
        _append(
            store, [(at, failed(todo[at], error, model.name)) for at, error in work.unfit], todo
        )
        stored, tokens = len(requests) - len(todo), 0
        with closing(_written(write, model, work)) as written:
            for rows in written:
                made = [(row.number, _completion(todo[row.number], row, model)) for row in rows]
                _append(store, made, todo)
                stored += len(rows)
                tokens += sum(row.tokens for row in rows)
                if tell is not None:
                    tell(Told(stored, len(requests), tokens))
                if stop.asked:
                    break
        if not stop.asked:
            write_results(plan, model.name, store, requests, scorers_of(plan))
        return Sampling(stored, len(requests), len(work.unfit), stop.asked)


def _append(
    store: RunStore, made: Sequence[tuple[int, Completion]], todo: Sequence[Request]
) -> None:
    lines = [to_line(one, todo[at].problem.question) for at, one in made]
    store.append(lines, [one for _, one in made])


def _completion(request: Request, row: Written, model: Here) -> Completion:
    finish = Finish.STOP if row.finished else Finish.LENGTH
    return completed(request, Reply(row.text, finish, Usage(None, row.tokens)), model.name)


def _written(write: Write, model: Here, work: _Work) -> Generator[list[Written], None, None]:
    if work.asked:
        yield from write(model.folder, work.how, work.asked)


def _work(plan: Plan, model: Here, requests: Sequence[Request], todo: Sequence[Request]) -> _Work:
    """Return what is to be written of `todo`, the missing ones of all requests.

    The limit of tokens is lowered where the longest prompt that fits leaves less room: that of all
    requests, so that a run that goes on has the limit that it began with.
    """
    decoding = plan.decoding
    limit = decoding.max_tokens or DEFAULT_TOKENS
    how = How(
        temperature=1.0 if decoding.temperature is None else decoding.temperature,
        top_p=1.0 if decoding.top_p is None else decoding.top_p,
        max_tokens=limit,
        seed=decoding.seed or 0,
        calculator=model.calculator,
        stop=decoding.stop,
    )
    if not todo:
        return _Work(how, [], [])
    context, tokens = _context(model, requests)
    longest = max((len(ids) for ids in tokens.values() if _fits(ids, limit, context)), default=0)
    asked, unfit = [], []
    for at, request in enumerate(todo):
        ids = tokens[request.prompt]
        if _fits(ids, limit, context):
            asked.append(Asked(at, request.sample, ids))
        else:
            unfit.append((at, too_long(len(ids), limit, context)))
    return _Work(how._replace(max_tokens=min(limit, context - longest)), asked, unfit)


def _fits(tokens: Sequence[int], limit: int, context: int) -> bool:
    """Tell whether a prompt leaves room for a quarter of a completion's tokens."""
    return len(tokens) + limit // 4 <= context


def _context(model: Here, requests: Sequence[Request]) -> tuple[int, dict[Prompt, tuple[int, ...]]]:
    """Return how many tokens the model can see, and those of every prompt."""
    from transformers import AutoConfig

    from gradeschool.verifier.head import load_tokenizer

    tokenizer = load_tokenizer(model.folder)
    config = AutoConfig.from_pretrained(model.folder, local_files_only=True)
    context = getattr(config, "max_position_embeddings", None) or 1 << 30
    prompts = dict.fromkeys(request.prompt for request in requests)
    return context, {prompt: tuple(tokens_of(tokenizer, prompt)) for prompt in prompts}
