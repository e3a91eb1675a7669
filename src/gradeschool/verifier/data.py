"""The data of trainings: questions and solutions as tokens, and the rows of a batch."""

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, product
from random import Random
from typing import Any, Literal, NamedTuple

from gradeschool.datasets.load import NO_ERROR
from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.scoring.at_k import CandidateRun
from gradeschool.verifier.process_labels import ReferenceSteps, label_steps

TEXTS_AT_ONCE = 1_000  # texts that are tokenised together
MOST_PAIRS = 8  # of a problem's right and wrong solutions, for the pairwise loss
# The text of the language loss in joint training: reference solutions, or right samples.
Language = Literal["reference", "right"]
# The target of a solution's values: its final answer, or its first wrong step.
Supervision = Literal["outcome", "process"]
Objective = Literal["joint", "verification", "pairwise"]
# What a verifier learns. token and solution are the paper's: a value at every solution token, or at
# the last one only. step: at the last token of each step, as in process reward models. pooled: one
# value, the mean over the solution's tokens. likelihood: the log-probability of the whole solution,
# see `head.Verifier`.
Level = Literal["token", "pooled", "step", "solution", "likelihood"]


class QuestionSolution(NamedTuple):
    """A question and one solution; `finished`: the solution ended before the token limit."""

    question: str
    solution: str
    finished: bool = True


class SolutionTokens(NamedTuple):
    """The tokens of a question and of a solution."""

    question: tuple[int, ...]
    solution: tuple[int, ...]


def encode_pairs(tokenizer: Any, pairs: Sequence[QuestionSolution]) -> list[SolutionTokens]:
    """Return the tokens of pairs: the question with a line break, the solution with the end token.

    The question's tokens are those of the prompt of `openai/2021`, or a user's turn (`use_chat`).
    The solution is tokenised after the prompt if that leaves the prompt's tokens unchanged,
    otherwise separately. A solution that is not finished has no end token. Equal pairs are encoded
    once.
    """
    end, is_chat = tokenizer.eos_token_id, getattr(tokenizer, "reads_chat", False)
    more = {"add_special_tokens": False} if is_chat else {}  # the template has the first token
    different = list(dict.fromkeys(pairs))
    known: dict[QuestionSolution, SolutionTokens] = {}
    for start in range(0, len(different), TEXTS_AT_ONCE):
        chunk = different[start : start + TEXTS_AT_ONCE]
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


def step_ends(tokenizer: Any, steps: Sequence[str], tokens: Sequence[int]) -> list[int]:
    """Return where each step ends among a solution's tokens (past its last token).

    steps: the solution, divided at line breaks, which belong to the step before. A token that goes
    on past a line break belongs to that step. The last step ends with the solution.
    """
    breaks = {token: str(tokenizer.decode([token])).count("\n") for token in set(tokens)}
    ends = [place for place, token in enumerate(tokens, start=1) for _ in range(breaks[token])]
    lines = list(accumulate(step.count("\n") + 1 for step in steps))[:-1]
    return [*(ends[line - 1] if line <= len(ends) else len(tokens) for line in lines), len(tokens)]


def line_ends(tokenizer: Any, solution: str, tokens: Sequence[int]) -> list[int]:
    """Return where each non-empty line ends; see `step_ends`. The last ends with the solution."""
    lines = solution.split("\n")
    ends = zip(step_ends(tokenizer, lines, tokens), lines, strict=True)
    kept = [end for end, line in ends if line.strip()]
    return [*kept[:-1], len(tokens)]


# Rows of a batch


class TrainingRow(NamedTuple):
    """A question with a solution, which begins at `start`, and what is learnt from it.

    weight: in the verification loss, how often the solution was sampled; 0 for none. right_tokens:
    number of solution tokens whose value should be 1; the rest should be 0. ends: of the steps
    among the solution's tokens. language_start: first token of the language loss, None for none.
    """

    ids: tuple[int, ...]
    start: int
    weight: int = 0
    right_tokens: int = 0
    ends: tuple[int, ...] = ()
    language_start: int | None = None

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


def refuse_bare(problems: Sequence[Problem], advice: str) -> None:
    """Raise InputError if reference solutions are only final answers: a model learns to guess."""
    bare = [each for each in problems if not each.solution.partition(MARKER)[0].strip()]
    if bare:
        raise InputError(
            f"the solutions of {len(bare)} of {len(problems)} problems are answers alone, such as "
            f"that of {bare[0].id!r}: a model would learn to answer without steps; give {advice}, "
            "or a dataset with solutions"
        )


def language_items(
    tokenizer: Any, problems: Sequence[Problem], context: int | None, whole: bool
) -> tuple[list[Item], list[str]]:
    """Return the items of a fine-tuning, and the ids of problems that do not fit into the context.

    whole: learn the question too. Raises InputError if no problem fits.
    """
    items: list[Item] = []
    left_out: list[str] = []
    pairs = [QuestionSolution(problem.question, problem.solution) for problem in problems]
    for problem, (question, solution) in zip(problems, encode_pairs(tokenizer, pairs), strict=True):
        if context is not None and len(question) + len(solution) > context:
            left_out.append(problem.id)
            continue
        first = 1 if whole else len(question)
        items.append((TrainingRow(question + solution, len(question), language_start=first),))
    if not items:
        raise InputError(
            f"there is no example to train on: {len(left_out)} problems are longer than the "
            f"model's context of {context!r} tokens; give another dataset or a model of more "
            "context"
        )
    return items, left_out


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
) -> tuple[list[Item], list[str]]:
    """Return the items of a verifier's training: one for each distinct solution, or each pair.

    Also returns the ids of problems without a solution that fits into the context and, for process
    labels, whose first wrong step is decided. language: with "reference", each solution comes with
    the problem's reference solution, so that language data and verifier data are mixed equally;
    with "right", right solutions are also language data. by_step: the rows say where steps end.
    Raises InputError if all labels are the same, if nothing remains, or for process labels of
    problems that are not fresh.
    """
    if language == "reference":
        refuse_bare([problem for problem, _ in sampled.answered], "--language right")
    # By problem: distinct solutions with their numbers; the reference comes first.
    counted = [Counter((each.text, each.finished, each.right) for each in answered.candidates)
               for answered in sampled.answered]  # fmt: skip
    pairs = []
    for (problem, _), counts in zip(sampled.answered, counted, strict=True):
        pairs.append(QuestionSolution(problem.question, problem.solution))
        pairs += [QuestionSolution(problem.question, text, done) for text, done, _ in counts]
    encoded = iter(encode_pairs(tokenizer, pairs))
    items: list[Item] = []
    left_out: list[str] = []
    for answered, counts in zip(sampled.answered, counted, strict=True):
        problem, (question, reference) = answered.problem, next(encoded)
        truth = ReferenceSteps(problem) if supervision == "process" else None
        rows = []
        for (text, _, right), count in counts.items():
            solution = next(encoded).solution
            right_tokens, ends = len(solution) * right, []
            if by_step or truth is not None:
                ends = line_ends(tokenizer, text, solution)
            if truth is not None:
                first_wrong = label_steps(text, problem, truth).first_wrong
                if first_wrong is None:
                    continue
                right_tokens = [0, *ends][first_wrong]
                if first_wrong == NO_ERROR:
                    right_tokens = len(solution)
            row = TrainingRow(question + solution, len(question), count, right_tokens, tuple(ends))
            if context is None or len(row.ids) <= context:
                rows.append(row)
        if not rows:
            left_out.append(problem.id)
        if objective == "pairwise":
            compared = list(product([row for row in rows if row.is_right],
                                    [row for row in rows if not row.is_right]))  # fmt: skip
            Random(f"{seed}:{problem.id}").shuffle(compared)  # noqa: S311
            items += compared[:MOST_PAIRS]
        elif language == "reference":
            ids = (question + reference)[:context]
            other = TrainingRow(ids, len(question), language_start=len(question))
            items += [(row, other) for row in rows]
        else:
            for row in rows:
                is_text = language == "right" and row.is_right
                items.append((row._replace(language_start=row.start if is_text else None),))
    labels = {row.is_right for item in items for row in item if row.weight}
    if len(labels) < 2:
        found = "all right" if True in labels else "all wrong"
        if not labels:
            found = "all too long or undecided" if left_out else "never both for one problem"
        raise InputError(
            f"the completions of {str(sampled.path)!r} are {found}; a verifier learns from right "
            "and wrong ones: sample more, at a higher temperature, or from another generator"
        )
    return items, left_out
