"""`--judge MODEL`: a model reads the completions that no rule reads.

Asked only where the answer extractor finds no answer or guesses. The judge says which answer the
text gives, and does not know the gold; the comparison is ours. Its verdicts are a scorer of their
own, `judge/MODEL`, and are never part of another's. Each reply is stored in the run folder, in
judge-MODEL/completions.jsonl, and is not asked for again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradeschool.answers.extractor import extract_final_answer, rests_on_guess
from gradeschool.answers.quantities import canonical_gold, same_answer
from gradeschool.answers.regions import Marks
from gradeschool.completion import Completion
from gradeschool.errors import FatalModelError
from gradeschool.models.base import Model, Request
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import request_key
from gradeschool.runs.send import Dispatcher
from gradeschool.runs.store import RunStore
from gradeschool.verdict import Outcome

# The last line that the prompt asks for; of a longer reply, the last of them.
VERDICT = re.compile(r"^\W{0,4}ANSWER:\W{0,4}(NONE|[-+]?[\d.,/:]*\d)", re.MULTILINE)


def judge_requests(
    identity: str, answered: Iterable[tuple[Request, Completion]], marks: Marks
) -> list[Request]:
    """Return the judge's request for each completion that no rule reads.

    identity: of the judge; its key has the question and the completion, which are in the prompt.
    marks: of thinking, besides the usual ones.
    """
    asked, protocol = [], get_protocol("gradeschool/judge")
    for request, row in answered:
        problem = request.problem
        reading = extract_final_answer(row.text, problem.question, marks)
        if reading is None or rests_on_guess(reading):
            with_text = replace(problem, meta={**problem.meta, "completion": row.text})
            [prompt] = protocol.render([with_text], ())
            key = request_key(identity, prompt, protocol.decoding, row.sample)
            asked.append(Request(problem, prompt, protocol.decoding, key, row.sample))
    return asked


def outcome_of_reply(reply: str, problem: Problem) -> Outcome:
    """Return the outcome of a judge's reply; ERROR for one without the line that is asked for."""
    lines = VERDICT.findall(reply)
    if not lines:
        return Outcome.ERROR
    if lines[-1] == "NONE":
        return Outcome.NO_ANSWER
    right = same_answer(lines[-1].replace(",", ""), canonical_gold(problem.gold))
    return Outcome.CORRECT if right else Outcome.WRONG


async def ask_judge(
    model: Model,
    folder: Path,
    answered: Sequence[tuple[Request, Completion]],
    marks: Marks,
    connections: int | None,
) -> dict[str, Any]:
    """Ask the judge about the completions that no rule reads; return the counts for results.json.

    Stored replies are not requested again. A request that failed is an error, and is requested by
    the next command.
    """
    async with model:
        name = re.sub(r"[^\w.-]+", "-", model.name)
        asked = judge_requests(model.identity, answered, marks)
        stopped = {}
        with RunStore(folder / f"judge-{name}") as store:
            rows = store.completions

            def record(request: Request, completion: Completion) -> None:
                store.append(completion, request.problem.question)

            todo = [each for each in asked if each.key not in rows or rows[each.key].error]
            try:
                dispatcher = Dispatcher(model, record, connections or model.connections)
                await dispatcher.send_all(todo)
            except FatalModelError as error:
                stopped = {"stopped": str(error)}
        given = [each for each in asked if each.key in rows and not rows[each.key].error]
        outcomes = Counter(outcome_of_reply(rows[each.key].text, each.problem) for each in given)
        failed = len(asked) - len(given)
        outcomes[Outcome.ERROR] += failed
        return {
            "scorer": f"judge/{model.name}",
            "model": model.identity,
            "of": len(answered),
            "asked": len(asked),
            "failed": failed,
            **{outcome.value: outcomes[outcome] for outcome in Outcome},
            **stopped,
        }
