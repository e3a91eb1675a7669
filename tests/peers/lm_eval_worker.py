"""Runs inside `.venvs/lm_eval`: answers with what lm-evaluation-harness itself says.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "gold", "solution", "scorers"}  ->  {scorer: [verdict, extracted string]}
    {"completions", ...}  ->  the same of several samples, which a filter may let vote
    {"prompts": task, "data": folder, "form": ...}
        ->  {"prompts": [...], "generation": {...}, "repeats": ...}
A scorer is "task/filter", or the task alone where it has no filter; "-" stands for "_". A verdict
is true, false or "error"; the extracted string is what the filter hands to the metric. Prompts are
those of all test documents in order, with the harness's default seed for shots: texts in the form
"plain", lists of [role, text] in the forms "chat" and "multiturn".
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # whatever the harness prints must not stand between the answers

import lm_eval  # noqa: E402
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.api.task import ConfigurableTask  # noqa: E402
from lm_eval.tasks._yaml_loader import load_yaml  # noqa: E402
from lm_eval.utils import env  # noqa: E402

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

folder_of_this_run = tempfile.TemporaryDirectory()
env.from_string = cache(env.from_string)  # the harness compiles its templates anew for every row


def task(name: str, folder: Path) -> ConfigurableTask:
    """Return the registered task with its dataset read from the files train and test of a folder.

    The rows get the columns of the task's own dataset.
    """
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
    if name == "hendrycks-math500":
        boxed = solution if "\\boxed" in solution else f"\\boxed{{{gold}}}"
        return {"problem": question, "solution": boxed.rpartition("\n####")[0] or boxed}
    if name == "aime24":
        return {"Problem": question, "Answer": gold}
    if name == "aime25":
        return {"problem": question, "answer": gold}
    return {"question": question, "answer": solution}


def score(tasks: dict[str, ConfigurableTask], row: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the verdict and the extracted string of every scorer that is asked for."""
    answers: dict[str, list[Any]] = {}
    for scorer in row["scorers"]:
        name, _, filter_name = SHARED.get(scorer, scorer).partition("/")
        task = tasks[name]
        doc = own_row(name, "", row["solution"])
        instance = Instance("generate_until", doc, ("", {}), 0, (name, 0, 1))
        instance.resps = row.get("completions") or [row["completion"]]
        chain = next(
            c for c in task._filters if c.name.replace("_", "-") == (filter_name or "none")
        )
        try:
            chain.apply([instance])
            response = instance.filtered_resps[chain.name]
            result = task.process_results(doc, [response])["exact_match"]
            answers[scorer] = [bool(result), response if filter_name else extracted(task, response)]
        except Exception as error:  # noqa: BLE001  (the harness's failure is the answer)
            answers[scorer] = ["error", type(error).__name__]
    return answers


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


def main() -> None:
    """Answer until the input ends."""
    with folder_of_this_run:
        answer_all(Path(folder_of_this_run.name))


def answer_all(folder: Path) -> None:
    """Make the tasks over a dataset of ours, then answer line by line."""
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, ROWS)), "utf-8")
    tasks = {name: task(name, folder) for name in TASKS}
    for line in sys.stdin:
        row = json.loads(line)
        if "prompts" in row:
            answer: dict[str, Any] = prompts(row["prompts"], Path(row["data"]), row["form"])
        else:
            answer = score(tasks, row)
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
