"""Runs inside `.venvs/functions`: functions of packages that cannot be imported without torch.

Functions, classes and constants are compiled from their files as they stand there. What a harness
does not hand out is read once more. vLLM's wheel has no tests: its function is SGLang's, letter for
letter, with the module regex.

    {"prompts": configuration of OpenCompass, "questions": [...], "folder", ...}
        ->  {"prompts": [[[role, text], ...], ...], "options": of the inferencer}
        "answers" too where the rows are examples themselves
"""

from __future__ import annotations
import __future__

import ast
import copy
import importlib
import re
import sys
import threading
import typing
import warnings
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.peers.worker import Judge, Row, read_by, read_in, serve


def compiled(file: Path, names: str, **definitions: Any) -> dict[str, Any]:
    """Return the named functions, classes and constants of a Python file, compiled alone.

    definitions: what the rest of the file would have imported or defined for them.
    """
    tree = ast.parse(file.read_text("utf-8"))
    kept = [node for node in tree.body if _name(node) in names.split()]
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


def file_of(package: str, name: str) -> Path:
    """Return a file of an installed package, which is not imported."""
    return Path(str(distribution(package).locate_file(name)))


def marked(solution: str) -> str:
    """Return the label that verl's and oumi's recipes make of a solution."""
    match = re.search(r"#### (\-?[0-9\.\,]+)", solution)
    assert match is not None
    return match.group(1).replace(",", "")


def verl_scorers() -> dict[str, Judge]:
    folder = file_of("verl", "verl/utils/reward_score")
    gsm8k = compiled(folder / "gsm8k.py", "_SOLUTION_CLIP_CHARS extract_solution compute_score")
    math = compiled(
        folder / "math_reward.py",
        "compute_score is_equiv remove_boxed last_boxed_only_string fix_fracs fix_a_slash_b "
        "remove_right_units fix_sqrt strip_string",
    )
    dapo = compiled(
        folder / "math_dapo.py",
        "last_boxed_only_string remove_boxed SUBSTITUTIONS REMOVED_EXPRESSIONS verify "
        "normalize_final_answer is_correct_minerva is_correct_strict_box compute_score",
    )

    def by(method: str) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            score = gsm8k["compute_score"](
                row["completion"], marked(row["solution"]), method=method
            )
            return score == 1.0, gsm8k["extract_solution"](row["completion"], method)

        return judge

    def by_math(row: Row) -> tuple[Any, str | None]:
        box = math["last_boxed_only_string"](row["completion"])
        try:
            read = math["remove_boxed"](box)
        except (AssertionError, TypeError):
            read = None
        return math["compute_score"](row["completion"], row["gold"]) == 1.0, read

    def by_dapo(row: Row) -> tuple[Any, str | None]:
        result = dapo["compute_score"](row["completion"], row["gold"])
        return result["acc"], None if result["pred"] == "[INVALID]" else result["pred"]

    return {
        "verl/gsm8k/strict": by("strict"),
        "verl/gsm8k/flexible": by("flexible"),
        "verl/math-reward": by_math,
        "verl/math-dapo": by_dapo,
    }


def oumi_scorers() -> dict[str, Judge]:
    oumi = compiled(
        file_of("oumi", "oumi/datasets/grpo/rewards/gsm8k_reward.py"),
        "_extract_solution gsm8k_reward",
    )

    def judge(row: Row) -> tuple[Any, str | None]:
        score = oumi["gsm8k_reward"]("", row["completion"], marked(row["solution"]), {})
        return score == 1.0, oumi["_extract_solution"](row["completion"])

    return {"oumi/gsm8k": judge}


def helm_scorers() -> dict[str, Judge]:
    helm = compiled(
        file_of("crfm-helm", "helm/benchmark/metrics/evaluate_reference_metrics.py"),
        "exact_match exact_match_indicator final_number_exact_match",
    )

    def by(metric: str, read: Callable[[str], str]) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            text = row["completion"].strip()
            gold = row["solution"].replace("####", "The answer is").replace("\n", " ") + "."
            return helm[metric](gold, text) == 1.0, read(text)

        return judge

    def last_number(text: str) -> str:
        return str((re.findall(r"-?[\d,]+(?:.\d+)?", text) or [""])[-1]).replace(",", "")

    return {
        "helm/gsm/final-number": by("final_number_exact_match", last_number),
        "helm/gsm/exact-match-indicator": by(
            "exact_match_indicator", lambda text: text.split(" ")[-1].strip()
        ),
    }


def serving_scorers() -> dict[str, Judge]:
    def by(module: Any) -> Judge:
        names = "INVALID get_answer_value"
        space = compiled(
            file_of("sglang", "sglang/test/few_shot_gsm8k.py"), names, ast=ast, re=module
        )

        def judge(row: Row) -> tuple[Any, str | None]:
            read, label = (
                space["get_answer_value"](row[key]) for key in ("completion", "solution")
            )
            if label == space["INVALID"]:
                return "error", "AssertionError"
            return read == label, None if read == space["INVALID"] else str(read)

        return judge

    return {"sglang/gsm8k-few-shot": by(re), "vllm/gsm8k": by(importlib.import_module("regex"))}


def lighteval_scorers() -> dict[str, Judge]:
    matches = compiled(
        file_of("lighteval", "lighteval/metrics/metrics_sample.py"),
        "ExactMatches", SampleLevelComputation=object, Callable=Callable,
    )["ExactMatches"](strip_strings=True)  # fmt: skip

    def judge(row: Row) -> tuple[Any, str | None]:
        gold = f" {row['solution'].split('####')[-1].strip().replace(',', '')}"
        return matches.compute_one_item(gold, row["completion"]) == 1, row["completion"].strip()

    return {"lighteval/mgsm": judge}


def nemo_scorers() -> dict[str, Judge]:
    names = "_GSM8K_HASH_PATTERN _NUMBER_PATTERN _BOXED_PATTERN _normalize_number gsm8k_answer"
    nemo = compiled(
        file_of("nemo-evaluator", "nemo_evaluator/contrib/byob/scorers.py"), names,
        ScorerInput=SimpleNamespace,
    )  # fmt: skip

    def judge(row: Row) -> tuple[Any, str | None]:
        text = row["completion"]
        result = nemo["gsm8k_answer"](SimpleNamespace(response=text, target=row["solution"]))
        match = nemo["_GSM8K_HASH_PATTERN"].search(text) or nemo["_BOXED_PATTERN"].search(text)
        numbers = [match[1]] if match else nemo["_NUMBER_PATTERN"].findall(text)
        return result["correct"], nemo["_normalize_number"](numbers[-1]) if numbers else None

    return {"nemo-evaluator/gsm8k-answer": judge}


def trl_scorers() -> dict[str, Judge]:
    import logging

    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse, verify

    trl = compiled(
        file_of("trl", "trl/rewards/accuracy_rewards.py"),
        "accuracy_reward reasoning_accuracy_reward",
        is_math_verify_available=lambda: True, threading=threading, logging=logging, parse=parse,
        verify=verify, LatexExtractionConfig=LatexExtractionConfig,
        NormalizationConfig=NormalizationConfig,
    )  # fmt: skip

    def by(function: str) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            logged: dict[str, list[str]] = {}
            reply = [{"role": "assistant", "content": row["completion"]}]
            (reward,) = trl[function]([reply], [row["gold"]], log_extra=logged.__setitem__)
            shown = logged["answer_parsed"][0]
            shown = "[]" if shown in ("[unparseable]", "[incomplete reasoning]") else shown
            return "error" if reward is None else reward == 1.0, read_in(shown)

        return judge

    return {
        "trl/accuracy-reward": by("accuracy_reward"),
        "trl/reasoning-accuracy-reward": by("reasoning_accuracy_reward"),
    }


def math_verify_scorers() -> dict[str, Judge]:
    """Return Math-Verify's defaults, and verifiers', whose scorers call it."""
    from math_verify import parse, verify
    from math_verify.errors import TimeoutException

    score = compiled(
        file_of("verifiers", "verifiers/v1/utils/score.py"),
        "BOXED_START extract_boxed_answer verify_boxed_math_answer",
        parse=parse, verify=verify, MathVerifyTimeout=TimeoutException,
    )  # fmt: skip

    def by_verifiers(row: Row) -> tuple[Any, str | None]:
        text = row["completion"]
        read = score["extract_boxed_answer"](text.rsplit("</think>", 1)[-1], strict=True).strip()
        unended = "<think>" in text and "</think>" not in text
        return score["verify_boxed_math_answer"](text, row["gold"]), None if unended else read

    def by_default(gold: str) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            answer = parse(row["completion"])
            return verify(parse(gold.format(row["gold"])), answer), read_by(answer)

        return judge

    def version_1(row: Row) -> tuple[Any, str | None]:
        """A port: the environment's verify.py is in no wheel."""
        matches = re.findall(r"####\s*(.+)", row["completion"])
        response = matches[-1] if matches else row["completion"]
        gold = parse(f"\\boxed{{{row['gold']}}}")
        return verify(gold, parse(f"\\boxed{{{response}}}")), response

    return {
        "math-verify/default": by_default("{}"),
        "math-verify/boxed-gold": by_default("\\boxed{{{}}}"),
        "verifiers/boxed-math-answer": by_verifiers,
        "verifiers/gsm8k-v1": version_1,
    }


class BaseEvaluator:
    """Stands in for the base class of OpenCompass's evaluators, which adds nothing to a verdict."""

    def __init__(self, **_: Any) -> None: ...


def opencompass_scorers() -> dict[str, Judge]:
    folder = file_of("opencompass", "opencompass/datasets")
    gsm8k = compiled(
        folder / "gsm8k.py",
        "gsm8k_dataset_postprocess gsm8k_postprocess Gsm8kEvaluator", BaseEvaluator=BaseEvaluator,
    )  # fmt: skip
    math = compiled(
        folder / "math.py",
        "last_boxed_only_string remove_boxed extract_boxed_answer normalize_final_answer "
        "math_postprocess_v2 MATHEvaluator", BaseEvaluator=BaseEvaluator,
    )  # fmt: skip
    mgsm = compiled(
        folder / "mgsm.py", "LANG_TO_ANSWER_PREFIX mgsm_postprocess MGSM_Evaluator",
        BaseEvaluator=BaseEvaluator,
    )  # fmt: skip
    hard = compiled(folder / "mathbench.py", "mathbench_postprocess")["mathbench_postprocess"]
    verifier = folder.parent / "evaluator" / "math_evaluator.py"
    worker = compiled(verifier, "_verify_worker")["_verify_worker"]

    def by(read: Any, equal: Any, gold_of: Callable[[Row], str]) -> Judge:
        def judge(row: Row) -> tuple[Any, str | None]:
            answer = read(row["completion"])
            return equal(answer, gold_of(row)), answer

        return judge

    def of_language(code: str) -> Judge:
        evaluator = mgsm["MGSM_Evaluator"]()
        return by(
            lambda text: str(mgsm["mgsm_postprocess"](text, code)),
            lambda answer, gold: evaluator.score([answer], [gold])["accuracy"] == 100,
            lambda row: row["gold"],
        )

    def by_math_verify(row: Row) -> tuple[Any, str | None]:
        outcomes: list[Any] = []
        worker(row["completion"], row["gold"], SimpleNamespace(put=outcomes.append))
        kind, *rest = outcomes[0]
        if kind != "ok":
            raise ValueError(f"{kind}: {rest}")
        return rest[0], read_in(rest[1])

    def marked_gold(row: Row) -> str:
        return str(gsm8k["gsm8k_dataset_postprocess"](row["solution"]))

    return {
        "opencompass/gsm8k": by(
            gsm8k["gsm8k_postprocess"], gsm8k["Gsm8kEvaluator"]().is_equal, marked_gold
        ),
        "opencompass/gsm8k-0shot-v2": by(
            math["math_postprocess_v2"], math["MATHEvaluator"]("v2").is_equiv, marked_gold
        ),
        # AccEvaluator compares the strings.
        "opencompass/gsm-hard": by(
            lambda text: hard(text, "en"), str.__eq__, lambda row: str(float(row["gold"]))
        ),
        "opencompass/math-verify": by_math_verify,
        **{f"opencompass/mgsm-{code}": of_language(code) for code in mgsm["LANG_TO_ANSWER_PREFIX"]},
    }


NAMES = {name: getattr(typing, name) for name in
         ("Dict", "Hashable", "List", "Optional", "Tuple", "Union")}  # fmt: skip
NAMES |= {"copy": copy, "deepcopy": copy.deepcopy, "warnings": warnings}
NAMES |= {"abstractmethod": lambda method: method}
# configs/models/openai: how the roles of a template become turns; models/openai_api.py: its roles.
OPENAI = {"round": [{"role": "HUMAN", "api_role": "HUMAN"},
                    {"role": "BOT", "api_role": "BOT", "generate": True}]}  # fmt: skip
ROLES = {"HUMAN": "user", "BOT": "assistant"}


def opencompass_prompts(row: Row) -> Row:
    """Return the messages that a configuration makes of questions, and how it decodes."""
    package = file_of("opencompass", "opencompass")
    utils = compiled(package / "utils" / "prompt.py", "PromptList safe_format", **NAMES)
    variable = row.get("variable", "gsm8k_infer_cfg")
    config = package / "configs" / "datasets" / row["folder"] / f"{row['prompts']}.py"
    absent = dict.fromkeys(("PromptTemplate", "ZeroRetriever", "FixKRetriever", "GenInferencer"))
    if row["folder"] == "mgsm":  # the configurations are made in a loop over languages
        texts = compiled(config, "LANG_TO_INSTRUCTIONS")["LANG_TO_INSTRUCTIONS"]
        turn = {"role": "HUMAN", "prompt": texts[row["language"]]}
        chosen: Row = {"prompt_template": {"template": {"round": [turn]}},
                       "inferencer": {"max_out_len": 512}}  # fmt: skip
    else:
        chosen = compiled(config, variable, **absent)[variable]
    if "ice_template" in chosen:
        rendered = _with_own_rows(package, utils, chosen, row)
    else:
        template = utils["PromptList"](chosen["prompt_template"]["template"]["round"])
        column = row.get("column", "question")
        rendered = [template.format(**{column: question}) for question in row["questions"]]
    turns = [[[ROLES[turn["role"]], turn["prompt"]] for turn in prompt] for prompt in rendered]
    options = {name: value for name, value in chosen["inferencer"].items() if name != "type"}
    return {"prompts": turns, "options": options}


def _with_own_rows(package: Path, utils: Row, chosen: Row, row: Row) -> list[Any]:
    """Render a configuration whose examples are rows of the set itself."""
    names = NAMES | {name: utils[name] for name in ("PromptList", "safe_format")}

    def part(file: str, name: str) -> Any:
        names[name] = compiled(package / file, name, **names)[name]
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
    form = template(chosen["ice_template"]["template"], chosen["ice_template"]["ice_token"])
    examples = retriever.generate_ice(state, chosen["retriever"]["fix_id_list"], form)
    return [
        parser.parse_template(
            retriever.generate_prompt_for_generate_task(state, index, examples, ice_template=form),
            "gen",
        )
        for index in range(len(rows))
    ]


def start() -> Callable[[str], Judge]:
    """Compile every function."""
    makers = (
        verl_scorers, oumi_scorers, helm_scorers, serving_scorers, lighteval_scorers, nemo_scorers,
        trl_scorers, math_verify_scorers, opencompass_scorers,
    )  # fmt: skip
    return {name: judge for make in makers for name, judge in make().items()}.__getitem__


if __name__ == "__main__":
    serve(start, opencompass_prompts)
