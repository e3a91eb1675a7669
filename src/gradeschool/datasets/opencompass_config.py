"""Examples out of a configuration of OpenCompass: Python, of which literals alone are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from gradeschool.errors import DataError
from gradeschool.formats.tables import Row

ASKS, THINKS = "Question: ", "\nLet's think step by step\nAnswer:"
CONCLUDES = "\nThe answer is "


def config_shots(path: Path) -> list[Row]:
    """Return the examples of `round=[dict(role="HUMAN", prompt=...), dict(role="BOT", ...), ...]`.

    Each has a question, a rationale and an answer; the open question at the end is none. Raises
    DataError where the file is no such configuration.
    """
    turns = list(_turns(ast.parse(path.read_text("utf-8"))))
    if [role for role, _ in turns] != ["HUMAN", "BOT"] * (len(turns) // 2) + ["HUMAN"]:
        raise DataError(f"{str(path)!r} does not alternate HUMAN and BOT; give the published file")
    rows = []
    for number, at in enumerate(range(0, len(turns) - 1, 2), start=1):
        question = turns[at][1].removeprefix(ASKS).removesuffix(THINKS)
        rationale, _, answer = turns[at + 1][1].rpartition(CONCLUDES)
        fields = {"question": question, "rationale": rationale, "answer": answer.strip()}
        rows.append(Row(number, fields))
    return rows


def _turns(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield (role, prompt) of every `dict(role=..., prompt=...)`, in the order of the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            words = {word.arg: word.value for word in node.keywords}
            values = [words.get("role"), words.get("prompt")]
            texts = [one.value for one in values if isinstance(one, ast.Constant)]
            if len(texts) == 2 and all(isinstance(text, str) for text in texts):
                yield str(texts[0]), str(texts[1])
