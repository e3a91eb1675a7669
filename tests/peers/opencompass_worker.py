"""Runs inside `.venvs/opencompass`: answers with what OpenCompass itself says.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "solution", "scorers"}  ->  {scorer: [verdict, extracted string]}
    {"prompts": configuration, "questions": [...]}  ->  {"prompts": [[[role, text], ...], ...],
        "options": of the inferencer}
Scorers are "gsm8k" and "gsm8k-0shot-v2". The package cannot be imported without torch; the
functions named below are compiled from its files as they stand there, without their decorators.
"""

from __future__ import annotations
import __future__

import ast
import copy
import importlib.util
import json
import re
import sys
import typing
from pathlib import Path
from typing import Any

GSM8K = ("gsm8k_dataset_postprocess", "gsm8k_postprocess", "Gsm8kEvaluator")
MATH = (
    *("last_boxed_only_string", "remove_boxed", "extract_boxed_answer", "normalize_final_answer"),
    *("math_postprocess_v2", "MATHEvaluator"),
)
# models/openai_api.py: the roles that its messages get.
ROLES = {"HUMAN": "user", "BOT": "assistant"}


class BaseEvaluator:
    """Stands in for the base class of the evaluators, which adds nothing to a verdict."""

    def __init__(self, **_: Any) -> None: ...


def compiled(file: Path, names: tuple[str, ...], **definitions: Any) -> dict[str, Any]:
    """Return the named functions, classes and constants of a Python file, compiled alone.

    definitions: what the rest of the file would have imported or defined for them.
    """
    tree = ast.parse(file.read_text("utf-8"))
    kept = [node for node in tree.body if _name(node) in names]
    for node in kept:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = []
    space: dict[str, Any] = {"re": re, **definitions}
    flags = __future__.annotations.compiler_flag  # annotations name what is not here
    exec(compile(ast.Module(kept, []), str(file), "exec", flags), space)
    return space


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return getattr(node, "name", "")


def prompts(package: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the messages that a configuration makes of questions, and how it decodes."""
    utils = compiled(
        package / "utils" / "prompt.py",
        ("PromptList", "safe_format"),
        **{name: getattr(typing, name) for name in ("Dict", "List", "Optional", "Union")},
        deepcopy=copy.deepcopy,
    )
    config = package / "configs" / "datasets" / "gsm8k" / f"{row['prompts']}.py"
    absent = dict.fromkeys(("PromptTemplate", "ZeroRetriever", "GenInferencer"))
    chosen = compiled(config, ("gsm8k_infer_cfg",), **absent)["gsm8k_infer_cfg"]
    template = utils["PromptList"](chosen["prompt_template"]["template"]["round"])
    rendered = [template.format(question=question) for question in row["questions"]]
    options = {name: value for name, value in chosen["inferencer"].items() if name != "type"}
    turns = [[[ROLES[turn["role"]], turn["prompt"]] for turn in prompt] for prompt in rendered]
    return {"prompts": turns, "options": options}


def main() -> None:
    """Answer until the input ends."""
    package = importlib.util.find_spec("opencompass")
    if package is None or package.origin is None:
        sys.exit("opencompass is not installed here")
    folder = Path(package.origin).parent / "datasets"
    gsm8k = compiled(folder / "gsm8k.py", GSM8K, BaseEvaluator=BaseEvaluator)
    math = compiled(folder / "math.py", MATH, BaseEvaluator=BaseEvaluator)
    scorers = {
        "gsm8k": (gsm8k["gsm8k_postprocess"], gsm8k["Gsm8kEvaluator"]().is_equal),
        "gsm8k-0shot-v2": (math["math_postprocess_v2"], math["MATHEvaluator"]("v2").is_equiv),
    }
    for line in sys.stdin:
        row = json.loads(line)
        if "prompts" in row:
            print(json.dumps(prompts(folder.parent, row)), flush=True)
            continue
        answers: dict[str, list[Any]] = {}
        for name in row["scorers"]:
            read, equal = scorers[name]
            try:
                answer = read(row["completion"])
                gold = gsm8k["gsm8k_dataset_postprocess"](row["solution"])
                answers[name] = [bool(equal(answer, gold)), answer]
            except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
                answers[name] = ["error", type(error).__name__]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
