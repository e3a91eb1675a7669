"""What every worker does: answer each JSON line of stdin with a JSON line, in the same order.

    {"completion", "gold", "solution", "scorers": [name, ...]}  ->  {name: [verdict, extracted]}

A verdict is true, false or "error"; the extracted string is null for nothing, and after "error" the
name of the exception. A scorer has the name of ours that it is compared with. Lines without
"scorers" are each worker's own.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import sys
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Judge = Callable[[Row], tuple[Any, str | None]]


def serve(start: Callable[[], Callable[[str], Judge]], other: Callable[[Row], Any] = dict) -> None:
    """Answer until the input ends.

    start: imports the harness and returns a function that returns the judge of a scorer's name.
    other: answers lines without "scorers".
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the harness prints must not stand between the answers
    judge_of = start()
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        row = json.loads(line)
        answer = _judged(judge_of, row) if "scorers" in row else other(row)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _judged(judge_of: Callable[[str], Judge], row: Row) -> dict[str, list[Any]]:
    answer: dict[str, list[Any]] = {}
    for name in row["scorers"]:
        try:
            verdict, extracted = judge_of(name)(row)
            answer[name] = [verdict if verdict == "error" else bool(verdict), extracted]
        except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
            answer[name] = ["error", type(error).__name__]
    return answer


def read_by(parsed: list[Any]) -> str | None:
    """Return the characters among what Math-Verify or lighteval extracted."""
    texts = [item for item in parsed if isinstance(item, str)]
    return texts[0] if texts else str(parsed[0]) if parsed else None


def read_in(shown: str) -> str | None:
    """Return the characters out of such a list that was turned into text."""
    quotes = [index for index in (shown.find("'"), shown.find('"')) if index >= 0]
    if quotes:
        return str(ast.literal_eval(shown[min(quotes) : -1]))
    return shown[1:-1] or None
