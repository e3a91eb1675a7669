"""Runs inside `.venvs/opencompass`: answers with what OpenCompass itself says.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "solution", "scorers"}  ->  {scorer: [verdict, extracted string]}
    {"prompts": configuration, "questions": [...]}  ->  {"prompts": [[[role, text], ...], ...],
        "options": of the inferencer}; "answers" too where the rows are examples themselves
Scorers are those of `oracles.OPENCOMPASS`. The package cannot be imported without torch; the
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
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

GSM8K = ("gsm8k_dataset_postprocess", "gsm8k_postprocess", "Gsm8kEvaluator")
MGSM = ("LANG_TO_ANSWER_PREFIX", "mgsm_postprocess", "MGSM_Evaluator")
GSM_HARD = ("mathbench_postprocess",)
MATH = (
    *("last_boxed_only_string", "remove_boxed", "extract_boxed_answer", "normalize_final_answer"),
    *("math_postprocess_v2", "MATHEvaluator"),
)
NAMES = {name: getattr(typing, name) for name in
         ("Dict", "Hashable", "List", "Optional", "Tuple", "Union")}  # fmt: skip
NAMES |= {
    "copy": copy,
    "deepcopy": copy.deepcopy,
    "warnings": warnings,
    "abstractmethod": lambda method: method,
}
# configs/models/openai: how the roles of a template become turns.
OPENAI = {"round": [{"role": "HUMAN", "api_role": "HUMAN"},
                    {"role": "BOT", "api_role": "BOT", "generate": True}]}  # fmt: skip
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


def read_in(shown: str) -> str | None:
    """Return the characters out of a list that was turned into text."""
    quotes = [index for index in (shown.find("'"), shown.find('"')) if index >= 0]
    if quotes:
        return str(ast.literal_eval(shown[min(quotes) : -1]))
    return shown[1:-1] or None


def with_own_rows(
    package: Path, utils: dict[str, Any], chosen: dict[str, Any], row: dict[str, Any]
) -> dict[str, Any]:
    """Return the same for a configuration whose examples are rows of the set itself."""
    names = NAMES | {name: utils[name] for name in ("PromptList", "safe_format")}

    def part(file: str, name: str) -> Any:
        names[name] = compiled(package / file, (name,), **names)[name]
        return names[name]

    part("utils/types.py", "_check_type_list")
    template = part("openicl/icl_prompt_template.py", "PromptTemplate")
    retriever = part("openicl/icl_retriever/icl_base_retriever.py", "BaseRetriever")
    parser = part("models/base_api.py", "APITemplateParser")(OPENAI)
    rows = [
        {"question": question, "answer": answer}
        for question, answer in zip(row["questions"], row["answers"], strict=True)
    ]
    reader = SimpleNamespace(output_column="answer")
    state = SimpleNamespace(index_ds=rows, test_ds=rows, dataset_reader=reader)
    options = {name: value for name, value in chosen["inferencer"].items() if name != "type"}
    form = template(chosen["ice_template"]["template"], chosen["ice_template"]["ice_token"])
    examples = retriever.generate_ice(state, chosen["retriever"]["fix_id_list"], form)
    parsed = [
        parser.parse_template(
            retriever.generate_prompt_for_generate_task(state, index, examples, ice_template=form),
            "gen",
        )
        for index in range(len(rows))
    ]
    turns = [[[ROLES[turn["role"]], turn["prompt"]] for turn in prompt] for prompt in parsed]
    return {"prompts": turns, "options": options}


def prompts(package: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return the messages that a configuration makes of questions, and how it decodes."""
    utils = compiled(package / "utils" / "prompt.py", ("PromptList", "safe_format"), **NAMES)
    folder, name = row.get("folder", "gsm8k"), row.get("variable", "gsm8k_infer_cfg")
    config = package / "configs" / "datasets" / folder / f"{row['prompts']}.py"
    absent = dict.fromkeys(("PromptTemplate", "ZeroRetriever", "FixKRetriever", "GenInferencer"))
    if folder == "mgsm":  # the configurations are made in a loop over languages
        texts = compiled(config, ("LANG_TO_INSTRUCTIONS",))["LANG_TO_INSTRUCTIONS"]
        turn = {"role": "HUMAN", "prompt": texts[row["language"]]}
        chosen: dict[str, Any] = {"prompt_template": {"template": {"round": [turn]}},
                  "inferencer": {"max_out_len": 512}}  # fmt: skip
    else:
        chosen = compiled(config, (name,), **absent)[name]
    if "ice_template" in chosen:
        return with_own_rows(package, utils, chosen, row)
    template = utils["PromptList"](chosen["prompt_template"]["template"]["round"])
    column = row.get("column", "question")
    rendered = [template.format(**{column: question}) for question in row["questions"]]
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
    mgsm = compiled(folder / "mgsm.py", MGSM, BaseEvaluator=BaseEvaluator)
    hard = compiled(folder / "mathbench.py", GSM_HARD)["mathbench_postprocess"]
    scorers = {
        "gsm8k": (gsm8k["gsm8k_postprocess"], gsm8k["Gsm8kEvaluator"]().is_equal),
        "gsm8k-0shot-v2": (math["math_postprocess_v2"], math["MATHEvaluator"]("v2").is_equiv),
    }

    def of_language(code: str) -> tuple[Any, Any]:
        def read(text: str) -> str:
            return str(mgsm["mgsm_postprocess"](text, code))

        evaluator = mgsm["MGSM_Evaluator"]()
        return read, lambda answer, gold: evaluator.score([answer], [gold])["accuracy"] == 100

    scorers |= {f"mgsm-{code}": of_language(code) for code in mgsm["LANG_TO_ANSWER_PREFIX"]}
    # AccEvaluator compares the strings.
    scorers["gsm-hard"] = (lambda text: hard(text, "en"), lambda answer, gold: answer == gold)
    verifier = folder.parent / "evaluator" / "math_evaluator.py"
    worker = compiled(verifier, ("_verify_worker",))["_verify_worker"]

    def by_math_verify(text: str, gold: str) -> list[Any]:
        """Return the verdict and the characters that were read."""
        outcomes: list[Any] = []
        worker(text, gold, SimpleNamespace(put=outcomes.append))
        kind, *rest = outcomes[0]
        if kind != "ok":
            raise ValueError(f"{kind}: {rest}")
        correct, shown, _ = rest
        return [bool(correct), read_in(shown)]

    for line in sys.stdin:
        row = json.loads(line)
        if "prompts" in row:
            print(json.dumps(prompts(folder.parent, row)), flush=True)
            continue
        answers: dict[str, list[Any]] = {}
        for name in row["scorers"]:
            try:
                if name == "math-verify":
                    answers[name] = by_math_verify(row["completion"], row["gold"])
                    continue
                read, equal = scorers[name]
                answer = read(row["completion"])
                gold = gsm8k["gsm8k_dataset_postprocess"](row["solution"])
                if name.startswith("mgsm") or name == "math-verify":
                    gold = row["gold"]
                elif name == "gsm-hard":
                    gold = str(float(row["gold"]))
                answers[name] = [bool(equal(answer, gold)), answer]
            except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
                answers[name] = ["error", type(error).__name__]
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
