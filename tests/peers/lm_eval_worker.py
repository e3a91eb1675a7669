"""Runs inside `.venvs/lm_eval`: answers with what lm-evaluation-harness itself says.

    {"completions": [...], ...}  ->  the same of several samples, which a filter may let vote
    {"prompts": task, "data": folder, "form": ...}
        ->  {"prompts": [...], "generation": {...}, "repeats": ...}

The extracted string is what the filter hands to the metric. Prompts are those of all test documents
in order, with the harness's default seed for shots: texts in the form "plain", lists of [role,
text] in the forms "chat" and "multiturn".
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.peers.worker import Judge, Row, read_by, serve

if TYPE_CHECKING:
    from lm_eval.api.task import ConfigurableTask

HRM8K = "hrm8k-gsm8k-en"
TASKS = {
    "gsm8k": "gsm8k/gsm8k.yaml",
    "gsm8k-cot": "gsm8k/gsm8k-cot.yaml",
    "gsm8k-cot-zeroshot": "gsm8k/gsm8k-cot-zeroshot.yaml",
    "gsm8k-cot-self-consistency": "gsm8k/gsm8k-cot-self-consistency.yaml",
    "gsm8k-cot-llama": "gsm8k/gsm8k-cot-llama.yaml",
    "gsm8k-llama": "llama3/instruct/gsm8k/gsm8k.yaml",
    HRM8K: "hrm8k/en/hrm8k_gsm8k_en.yaml",
    "gsm8k-platinum": "gsm8k_platinum/gsm8k-platinum.yaml",
    "gsm8k-platinum-cot": "gsm8k_platinum/gsm8k-platinum-cot.yaml",
    "gsm8k-platinum-cot-zeroshot": "gsm8k_platinum/gsm8k-platinum-cot-zeroshot.yaml",
    "gsm8k-platinum-cot-self-consistency": (
        "gsm8k_platinum/gsm8k-platinum-cot-self-consistency.yaml"
    ),
    "gsm8k-platinum-cot-llama": "gsm8k_platinum/gsm8k-platinum-cot-llama.yaml",
    "gsm-plus": "gsm_plus/gsm_plus.yaml",
    "gsm-plus-mini": "gsm_plus/gsm_plus_mini.yaml",
    "asdiv-cot-llama": "asdiv/asdiv-cot-llama.yaml",
    "hendrycks-math500": "hendrycks_math/hendrycks_math500.yaml",
    "minerva-math500": "minerva_math/minerva_math500.yaml",
    "aime24": "aime/aime24.yaml",
    "aime25": "aime/aime25.yaml",
} | {
    f"mgsm-{kind.replace('_', '-')}-{language}": f"mgsm/{kind}/mgsm_{kind}_{language}.yaml"
    for kind in ("direct", "native_cot", "en_cot")
    for language in ("bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh")
}
# Scorers that several tasks share -> one of these tasks, and its filter.
SHARED = {
    "mgsm-direct/remove-whitespace": "mgsm-direct-sw/remove-whitespace",
    "mgsm/flexible-extract": "mgsm-native-cot-th/flexible-extract",
    "mgsm-en-cot/strict-match": "mgsm-en-cot-ru/strict-match",
    "aime": "aime24",
}
SEED = 1234
# The shape of the data: scoring needs a dataset to be there and never looks at it.
ROWS = [{"question": f"{n} + 1?", "answer": f"{n} + 1 = {n + 1}\n#### {n + 1}"} for n in range(9)]

MINERVA = "minerva-math500"

folder_of_this_run = tempfile.TemporaryDirectory()


def task(name: str, folder: Path) -> ConfigurableTask:
    """Return the registered task with its dataset read from the files train and test of a folder.

    The rows get the columns of the task's own dataset.
    """
    import lm_eval
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    config = dict(load_yaml(Path(lm_eval.__file__).parent / "tasks" / TASKS[name]))
    folder = as_own_rows(name, folder)
    evaluated = config.get("test_split") or config["validation_split"]
    files = {"train": str(folder / "train.jsonl"), evaluated: str(folder / "test.jsonl")}
    config |= {
        "dataset_path": "json",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": files},
    }
    return ConfigurableTask(config=config)


def as_own_rows(name: str, folder: Path) -> Path:
    """Write the files of a folder anew, in the columns of a task's dataset; return where."""
    own = Path(tempfile.mkdtemp(dir=folder_of_this_run.name))
    for split in ("train", "test"):
        rows = map(json.loads, (folder / f"{split}.jsonl").read_text("utf-8").splitlines())
        lines = [json.dumps(own_row(name, row["question"], row["answer"])) for row in rows]
        (own / f"{split}.jsonl").write_text("\n".join(lines), "utf-8")
    return own


def own_row(name: str, question: str, solution: str) -> dict[str, Any]:
    """Return a problem of GSM8K in the columns of a task's dataset."""
    gold = solution.split("####")[-1].strip()
    if name == HRM8K:
        return {"original": question, "answer": gold.replace(",", "")}
    if name.startswith("mgsm"):
        return {"question": question, "answer": None, "answer_number": gold.replace(",", "")}
    if name.startswith("gsm-plus"):
        return {"question": question, "solution": solution, "answer": gold}
    if name.startswith("asdiv"):
        body, _, last = question.rpartition(" ")
        return {"body": body, "question": last, "answer": gold}
    if name in ("hendrycks-math500", MINERVA):
        boxed = solution if "\\boxed" in solution else f"\\boxed{{{gold}}}"
        return {"problem": question, "solution": boxed.rpartition("\n####")[0] or boxed}
    if name == "aime24":
        return {"Problem": question, "Answer": gold}
    if name == "aime25":
        return {"problem": question, "answer": gold}
    return {"question": question, "answer": solution}


def start() -> Callable[[str], Judge]:
    """Make the tasks over a dataset of ours and return the judge of each scorer."""
    from lm_eval.api.instance import Instance
    from lm_eval.utils import env

    env.from_string = cache(env.from_string)  # the harness compiles its templates for every row
    folder = Path(folder_of_this_run.name)
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    made = cache(lambda name: task(name, folder))

    def judge_of(scorer: str) -> Judge:
        plain = scorer.removeprefix("lm-eval/")
        name, _, filter_name = SHARED.get(plain, plain).partition("/")
        if name == MINERVA:
            return minerva_math_verify if filter_name else minerva_exact_match
        task = made(name)
        chain = next(
            c for c in task._filters if c.name.replace("_", "-") == (filter_name or "none")
        )

        def judge(row: Row) -> tuple[Any, str | None]:
            doc = own_row(name, "", row["solution"])
            instance = Instance("generate_until", doc, ("", {}), 0, (name, 0, 1))
            instance.resps = row.get("completions") or [row["completion"]]
            chain.apply([instance])
            response = instance.filtered_resps[chain.name]
            result = task.process_results(doc, [response])["exact_match"]
            return result, response if filter_name else extracted(task, response)

        return judge

    return judge_of


def minerva_results(row: Row) -> tuple[dict[str, Any], Any]:
    """Return the results of minerva_math500 and its module."""
    from lm_eval.tasks.minerva_math import utils

    doc = own_row(MINERVA, "", row["solution"])
    box = utils.last_boxed_only_string(doc["solution"]) or ""
    doc["answer"] = utils.normalize_final_answer(utils.remove_boxed(box))
    return utils.process_results(doc, [row["completion"]]), utils


def minerva_exact_match(row: Row) -> tuple[Any, str | None]:
    results, utils = minerva_results(row)
    read = utils.get_unnormalized_answer(row["completion"])
    shown = None if read == "[invalidanswer]" else utils.normalize_final_answer(read)
    return results["exact_match"], shown


def minerva_math_verify(row: Row) -> tuple[Any, str | None]:
    results, utils = minerva_results(row)
    return results["math_verify"], read_by(utils.parse(row["completion"]))


def extracted(task: ConfigurableTask, text: str) -> str | None:
    """Return what a task with results of its own compares."""
    module: Any = sys.modules[task.config.process_results.__module__]
    if hasattr(module, "parse_math_answer"):
        answer: str | None = module.parse_math_answer(text)
        return answer
    # The tasks of MATH and AIME do not hand out what they compare: that is read once more.
    dollars = [index for index, character in enumerate(text) if character == "$"]
    between = text[dollars[0] + 1 : dollars[-1]] if len(dollars) > 1 else text
    if task.config.task == "aime24" and (box := module.last_boxed_only_string(text)) is not None:
        try:
            return str(module.remove_boxed(box))
        except (AssertionError, IndexError):
            pass
    return between


def prompts(name: str, folder: Path, form: str) -> dict[str, Any]:
    """Return the prompt of every test document, drawn one after the other, and the decoding."""
    configured = task(name, folder)
    configured.set_fewshot_seed(SEED)
    options: dict[str, Any] = {}
    if form != "plain":
        options = {
            "apply_chat_template": True,
            "fewshot_as_multiturn": form == "multiturn",
            "chat_template": lambda messages, **_: json.dumps(messages),
        }
    shots = configured.config.num_fewshot or 0
    rendered: list[Any] = [
        configured.fewshot_context(doc, shots, **options) for doc in configured.test_docs()
    ]
    if form != "plain":
        rendered = [
            [[turn["role"], turn["content"]] for turn in json.loads(text)] for text in rendered
        ]
    options = {
        "generation": configured.config.generation_kwargs,
        "repeats": configured.config.repeats,
    }
    return {"prompts": rendered, **options}


def other(row: Row) -> dict[str, Any]:
    """Answer what is not a completion."""
    return prompts(row["prompts"], Path(row["data"]), row["form"])


if __name__ == "__main__":
    with folder_of_this_run:
        serve(start, other)
