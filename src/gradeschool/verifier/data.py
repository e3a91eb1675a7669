"""The data of trainings: labelled completions, their tokens, and the rows of a batch."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from gradeschool.completion import Finish
from gradeschool.datasets.step_labels import NO_ERROR
from gradeschool.errors import InputError
from gradeschool.formats.own_run import manifest_of
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.percentages import percent
from gradeschool.problem import Problem
from gradeschool.scoring.samples import Warn
from gradeschool.scoring.sources import choose_runs
from gradeschool.scoring.table import scored_table, scorer_for
from gradeschool.verdict import Outcome
from gradeschool.verifier.process_labels import ReferenceSteps, label_steps

TOGETHER = 1_000  # texts that are tokenised together
MOST_PAIRS = 8  # of a problem's right and wrong solutions, for the pairwise loss
# The text of the language loss in joint training: reference solutions, or right samples.
Language = Literal["reference", "right"]
# The target of a solution's values: its final answer, or its first wrong step.
Supervision = Literal["outcome", "process"]
Objective = Literal["joint", "verification", "pairwise"]


class Candidate(NamedTuple):
    """One completion: its key, its number among the problem's completions, and its verdict.

    finished: it ended before the token limit; True if a file does not say.
    """

    key: str
    sample: int
    text: str
    finished: bool
    answer: str | None
    right: bool


class ProblemCandidates(NamedTuple):
    """A problem with its completions, in the order of their numbers."""

    problem: Problem
    candidates: Sequence[Candidate]

    @property
    def outcome(self) -> tuple[int, int]:
        """Return the number of right completions, and of all."""
        return sum(candidate.right for candidate in self.candidates), len(self.candidates)


class CandidateRun(NamedTuple):
    """The completions of a run, by problem, in the order of the dataset or of the sample file.

    failed: number of samples without a text or with a scorer error.
    """

    run: str
    path: Path
    manifest: dict[str, Any]
    scorer: str
    answered: Sequence[ProblemCandidates]
    failed: int

    @property
    def total(self) -> int:
        """Return the number of completions."""
        return sum(len(problem.candidates) for problem in self.answered)


def read_candidates(
    spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None
) -> list[CandidateRun]:
    """Return the runs of a run folder or file (FILE#RUN: one of several), ready for ranking.

    scorer: a name; None means the first scorer of the run's protocol, else the answer extractor.
    Raises InputError, DataError.
    """
    folder = Path(spec)
    reader = scorer_for([manifest_of(folder) if folder.exists() else {}], scorer)
    runs = []
    for chosen in choose_runs([spec], options, warn):
        table = scored_table(chosen.run, [reader])
        problems: dict[str, Problem] = {}
        candidates: defaultdict[str, list[Candidate]] = defaultdict(list)
        for sample, problem, (verdict,) in zip(
            table.samples, table.problems(), table.verdicts, strict=True
        ):
            if verdict.outcome is not Outcome.ERROR:
                problems[problem.id] = problem
                candidates[problem.id].append(Candidate(
                    sample_key(sample, problem),
                    sample.sample,
                    sample.text,
                    finished=sample.finish != Finish.LENGTH,
                    answer=verdict.answer.value if verdict.answer else None,
                    right=verdict.correct,
                ))  # fmt: skip
        if not candidates:
            raise InputError(
                f"{str(chosen.path)!r} has no readable completion of {chosen.run.name!r}"
            )
        answered = [
            ProblemCandidates(problems[id], sorted(each, key=lambda candidate: candidate.sample))
            for id, each in candidates.items()
        ]
        failed = len(chosen.run.samples) - sum(map(len, candidates.values()))
        runs.append(CandidateRun(
            chosen.run.name, chosen.path, chosen.manifest, reader.name, answered, failed
        ))  # fmt: skip
    return runs


def one_run(spec: str, options: ReadOptions, warn: Warn, scorer: str | None = None) -> CandidateRun:
    """Return the run of an argument; raises InputError for several runs."""
    runs = read_candidates(spec, options, warn, scorer)
    if len(runs) > 1:
        names = ", ".join(repr(f"{spec}#{run.run}") for run in runs)
        raise InputError(f"{spec!r} contains {len(runs)} runs; give one: {names}")
    return runs[0]


def sample_key(sample: Sample, problem: Problem) -> str:
    """Return the key of a sample: the stored one, else the digest of its texts."""
    stored = sample.stored.key if sample.stored else ""
    return stored or text_key(problem.question, sample.text)


def text_key(question: str, text: str) -> str:
    """Return the key for a completion without one: a digest of question and completion."""
    facts = json.dumps([question, text]).encode()
    return f"text-{hashlib.sha256(facts).hexdigest()[:32]}"


def count_labels(answered: Sequence[ProblemCandidates]) -> dict[str, float]:
    """Count the labels of completions.

    solved: problems with a right completion. mixed: problems with right and wrong ones. different:
    distinct texts, by problem. right_share: of the completions.
    """
    outcomes = [each.outcome for each in answered]
    right, total = sum(right for right, _ in outcomes), sum(size for _, size in outcomes)
    return {
        "problems": len(answered),
        "completions": total,
        "right": right,
        "solved": sum(right > 0 for right, _ in outcomes),
        "mixed": sum(0 < right < size for right, size in outcomes),
        "different": sum(len({one.text for one in each.candidates}) for each in answered),
        "right_share": right / max(1, total),
    }


def describe_labels(labels: dict[str, float]) -> str:
    """Return the counts of `count_labels` in one line."""
    share = percent(labels["right_share"], 1)
    return (
        "{completions:,} completions of {problems:,} problems, {different:,} of them different, "
        "{share} right; {solved:,} problems solved at least once, {mixed:,} mixed"
    ).format(**labels, share=share)


# Tokens


class QuestionSolution(NamedTuple):
    """A question and one solution; `finished`: the solution ended before the token limit."""

    question: str
    solution: str
    finished: bool = True


class SolutionTokens(NamedTuple):
    """The tokens of a question and of a solution."""

    question: tuple[int, ...]
    solution: tuple[int, ...]


class StepTokens(NamedTuple):
    """The tokens of a question and of a solution's steps; ends: where each step ends (past it)."""

    text: SolutionTokens
    ends: tuple[int, ...]


def encode(tokenizer: Any, question: str, solution: str) -> SolutionTokens:
    """Return the tokens of one question with a solution; see `encode_pairs`."""
    return encode_pairs(tokenizer, [QuestionSolution(question, solution)])[0]


def encode_pairs(tokenizer: Any, pairs: Sequence[QuestionSolution]) -> list[SolutionTokens]:
    """Return the tokens of pairs: the question with a line break, the solution with the end token.

    The question's tokens are those of the prompt of `openai/2021`, or a user's turn (`use_chat`).
    The solution is tokenised after the prompt if that leaves the prompt's tokens unchanged,
    otherwise separately. A solution that is not finished has no end token. Equal pairs are encoded
    once.
    """
    end, is_chat = tokenizer.eos_token_id, uses_chat(tokenizer)
    more = {"add_special_tokens": False} if is_chat else {}  # the template has the first token
    different = list(dict.fromkeys(pairs))
    known: dict[QuestionSolution, SolutionTokens] = {}
    for start in range(0, len(different), TOGETHER):
        chunk = different[start : start + TOGETHER]
        prompts = {pair.question: f"{pair.question}\n" for pair in chunk}
        for question in prompts if is_chat else ():
            prompts[question] = tokenizer.apply_chat_template(
                [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
            )
        read = tokenizer(list(prompts.values()), **more)["input_ids"]
        befores = {question: list(ids) for question, ids in zip(prompts, read, strict=True)}
        texts = [prompts[pair.question] + pair.solution for pair in chunk]
        for pair, ids in zip(chunk, tokenizer(texts, **more)["input_ids"], strict=True):
            before, after = befores[pair.question], list(ids)
            if before and before[-1] == end and not is_chat:
                before.pop()  # some tokenizers add an end token to every text
            if after[: len(before)] == before:
                after = after[len(before) :]
            else:
                after = list(tokenizer(pair.solution, add_special_tokens=False)["input_ids"])
            if not after or after[-1] != end:
                after.append(end)
            if not pair.finished and len(after) > 1:
                after.pop()
            known[pair] = SolutionTokens(tuple(before), tuple(after))
    return [known[pair] for pair in pairs]


def use_chat(tokenizer: Any, where: str) -> None:
    """Make a tokenizer read questions as a user's turn; raises InputError without a template."""
    if not tokenizer.chat_template:
        raise InputError(
            f"the tokenizer in {where!r} has no chat template, which --chat needs; leave it out"
        )
    tokenizer.reads_chat = True


def uses_chat(tokenizer: Any) -> bool:
    """Return whether a tokenizer reads questions as a user's turn."""
    return bool(getattr(tokenizer, "reads_chat", False))


def encode_steps(tokenizer: Any, question: str, steps: Sequence[str]) -> StepTokens:
    """Return a solution by steps, each ended by a line break, then the end token.

    As in training, the last step has no line break, and the end token belongs to it. A step without
    tokens has the same end as the previous step.
    """
    ids: list[int] = []
    ends = []
    for number, step in enumerate(steps, start=1):
        text = step if number == len(steps) else f"{step}\n"
        tokens = list(tokenizer(text, add_special_tokens=False)["input_ids"])
        if tokens and tokens[-1] == tokenizer.eos_token_id:
            tokens.pop()  # some tokenizers add an end token to every text
        ids += tokens
        ends.append(len(ids))
    ids.append(tokenizer.eos_token_id)
    ends[-1:] = [len(ids)]
    before = encode(tokenizer, question, "").question
    return StepTokens(SolutionTokens(before, tuple(ids)), tuple(ends))


def step_ends(tokenizer: Any, question: str, solution: str, tokens: Sequence[int]) -> list[int]:
    """Return the ends of the steps of a solution among its tokens (past their last tokens).

    A step is a non-empty line with its line break; a token that goes on past the line break belongs
    to it. The last step ends with the solution. tokens: of the solution, as by `encode_pairs`.
    """
    lines = solution.split("\n")
    text, ends = encode_steps(tokenizer, question, lines)
    if text.solution[: len(tokens)] != tuple(tokens):  # lines alone have other tokens

        def line_breaks(size: int) -> int:
            return str(tokenizer.decode(list(tokens[:size]))).count("\n")

        sizes = range(len(tokens) + 1)
        breaks = (bisect_left(sizes, line, key=line_breaks) for line in range(1, len(lines)))
        ends = (*breaks, len(tokens))
    kept = [min(end, len(tokens)) for end, line in zip(ends, lines, strict=True) if line.strip()]
    return [*kept[:-1], len(tokens)]


# Rows of a batch


class TrainingRow(NamedTuple):
    """A question with a solution, which begins at `start`, and what is learnt from it.

    drawn: how often the solution was sampled, its weight in the verification loss; 0 for none.
    right_tokens: number of solution tokens whose value should be 1; the rest should be 0. ends: of
    the steps among the solution's tokens. speaks_from: first token of the language loss, None for
    none. logprob: of the solution (nats) under the initial model, for the pairwise loss.
    """

    ids: tuple[int, ...]
    start: int
    drawn: int = 0
    right_tokens: int = 0
    ends: tuple[int, ...] = ()
    speaks_from: int | None = None
    logprob: float = 0.0

    @property
    def text(self) -> SolutionTokens:
        """Return question and solution."""
        return SolutionTokens(self.ids[: self.start], self.ids[self.start :])

    @property
    def is_right(self) -> bool:
        """Return whether every token's value should be 1."""
        return self.right_tokens >= len(self.ids) - self.start


# What is learnt from together: one solution, with its reference solution, or a pair.
Item = tuple[TrainingRow, ...]


class TrainingItems(NamedTuple):
    """The items of a training, and the ids of problems that gave none.

    too_long: longer than the model's context. undecided: without a decided first wrong step.
    """

    items: list[Item]
    too_long: list[str]
    undecided: Sequence[str] = ()


def language_items(
    tokenizer: Any, problems: Sequence[Problem], context: int | None, whole: bool
) -> TrainingItems:
    """Return the items of a fine-tuning. whole: learn the question too.

    Raises InputError if no problem fits into the context.
    """
    items: list[Item] = []
    too_long: list[str] = []
    pairs = [QuestionSolution(problem.question, problem.solution) for problem in problems]
    for problem, (question, solution) in zip(problems, encode_pairs(tokenizer, pairs), strict=True):
        if context is not None and len(question) + len(solution) > context:
            too_long.append(problem.id)
            continue
        first = 1 if whole else len(question)
        items.append((TrainingRow(question + solution, len(question), speaks_from=first),))
    if not items:
        raise InputError(
            f"there is no example to train on: {len(too_long)} problems are longer than the "
            f"model's context of {context!r} tokens; give another dataset or a model of more "
            "context"
        )
    return TrainingItems(items, too_long)


def verifier_items(
    sampled: CandidateRun,
    tokenizer: Any,
    context: int | None,
    *,
    objective: Objective = "joint",
    language: Language | None = "reference",
    supervision: Supervision = "outcome",
    by_step: bool = False,
    seed: int = 0,
) -> TrainingItems:
    """Return the items of a verifier's training: one for each distinct solution, or each pair.

    language: with "reference", each solution comes with the problem's reference solution, so that
    language data and verifier data are mixed equally; with "right", right solutions are also
    language data. by_step: the rows say where steps end. Raises InputError if all labels are the
    same, if nothing remains, or for process labels of problems that are not fresh.
    """
    pairs = [
        QuestionSolution(answered.problem.question, *text)
        for answered in sampled.answered
        for text in [
            (answered.problem.solution, True),
            *((each.text, each.finished) for each in answered.candidates),
        ]
    ]
    tokens = dict(zip(pairs, encode_pairs(tokenizer, pairs), strict=True))
    items: list[Item] = []
    too_long: list[str] = []
    undecided: list[str] = []
    for answered in sampled.answered:
        problem = answered.problem
        labelled = _solution_rows(answered, tokenizer, tokens, supervision, by_step)
        rows = [row for row in labelled if context is None or len(row.ids) <= context]
        if not rows:
            (too_long if labelled else undecided).append(problem.id)
        if objective == "pairwise":
            right = [row for row in rows if row.is_right]
            wrong = [row for row in rows if not row.is_right]
            compared = list(product(right, wrong))
            Random(f"{seed}:{problem.id}").shuffle(compared)  # noqa: S311
            items += compared[:MOST_PAIRS]
        elif language == "reference":
            question, solution = tokens[QuestionSolution(problem.question, problem.solution)]
            ids = (question + solution)[:context]
            reference = TrainingRow(ids, len(question), speaks_from=len(question))
            items += [(row, reference) for row in rows]
        else:
            speaks = language == "right"
            items += [(row._replace(speaks_from=row.start if speaks and row.is_right else None),)
                      for row in rows]  # fmt: skip
    labels = {row.is_right for item in items for row in item if row.drawn}
    if len(labels) < 2:
        found = "all right" if True in labels else "all wrong"
        if not labels and objective == "pairwise" and not too_long and not undecided:
            found = "never right and wrong for the same problem"
        elif not labels:
            found = "all too long" if too_long else "all undecided"
        raise InputError(
            f"the completions of {str(sampled.path)!r} are {found}; a verifier learns from right "
            "and wrong ones: sample more, at a higher temperature, or from another generator"
        )
    return TrainingItems(items, too_long, undecided)


def _solution_rows(
    answered: ProblemCandidates,
    tokenizer: Any,
    tokens: Mapping[QuestionSolution, SolutionTokens],
    supervision: Supervision,
    by_step: bool,
) -> list[TrainingRow]:
    """Return a problem's distinct solutions with their counts and labels."""
    problem = answered.problem
    reference = ReferenceSteps(problem) if supervision == "process" else None
    drawn = Counter((each.text, each.finished, each.right) for each in answered.candidates)
    rows = []
    for (text, finished, right), count in drawn.items():
        question, solution = tokens[QuestionSolution(problem.question, text, finished)]
        right_tokens = len(solution) if right else 0
        ends: list[int] = []
        if by_step or reference is not None:
            ends = step_ends(tokenizer, problem.question, text, solution)
        if reference is not None:
            first_wrong = label_steps(text, problem, reference).first_wrong
            if first_wrong is None:
                continue
            right_tokens = ends[first_wrong - 1] if first_wrong else 0
            if first_wrong == NO_ERROR:
                right_tokens = len(solution)
        ids = question + solution
        rows.append(TrainingRow(ids, len(question), count, right_tokens, tuple(ends)))
    return rows
