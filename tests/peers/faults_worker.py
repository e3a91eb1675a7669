"""Runs in a peer's environment: a small evaluation of each URL on stdin, by lm-eval or inspect.

Reads {"url", "folder", "problems"} a line; answers {"error", "rows": [[text, correct], ...]}, where
`error` says why the evaluation ended without results, and text is None for a sample that failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

SECONDS, RETRIES = 2, 2  # of a request


def lm_eval_rows(url: str, folder: Path, problems: Path) -> list[list[Any]]:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    (folder / "task.yaml").write_text(json.dumps({
        "task": "local", "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(problems)}},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["Question:"], "do_sample": False},
        "filter_list": [{"name": "strict-match", "filter": [
            {"function": "regex", "regex_pattern": "#### (\\-?[0-9\\.\\,]+)"},
            {"function": "take_first"}]}],
        "metric_list": [{"metric": "exact_match", "aggregation": "mean",
                         "higher_is_better": True, "regexes_to_ignore": ["#### "]}],
    }))  # fmt: skip
    results = simple_evaluate(
        model="local-chat-completions",
        model_args=f"model=m,base_url={url}/chat/completions,num_concurrent=2,"
        f"max_retries={RETRIES},timeout={SECONDS}",
        tasks=["local"],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        apply_chat_template=True,
        bootstrap_iters=0,
    )
    samples = sorted(results["samples"]["local"], key=lambda sample: sample["doc_id"])
    return [[sample["resps"][0][0], bool(sample["exact_match"] == 1)] for sample in samples]


def inspect_rows(url: str, folder: Path, problems: Path) -> list[list[Any]]:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import match

    rows = [json.loads(line) for line in problems.read_text().splitlines()]
    samples = [
        Sample(input=row["question"], target=row["answer"].removeprefix("#### ")) for row in rows
    ]
    task = Task(dataset=MemoryDataset(samples), scorer=match(numeric=True))
    (log,) = eval(
        task, model="openai/m", model_base_url=url, max_connections=2, max_samples=2,
        log_dir=str(folder), display="none", model_args={"responses_api": False},
        max_retries=RETRIES, timeout=SECONDS * 4, attempt_timeout=SECONDS, fail_on_error=False,
    )  # fmt: skip
    if log.status != "success" or log.samples is None:
        raise RuntimeError(log.error.message if log.error else log.status)
    if errors := {sample.error.message for sample in log.samples if sample.error}:
        print(errors, file=sys.stderr)
    return [
        [
            None if sample.error else sample.output.completion,
            bool(sample.scores) and sample.scores["match"].value == "C",
        ]
        for sample in sorted(log.samples, key=lambda sample: sample.id)
    ]


def main() -> None:
    os.environ["OPENAI_API_KEY"] = "none"
    rows_of = lm_eval_rows if sys.argv[1] == "lm_eval_api" else inspect_rows
    answers = sys.stdout
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {"error": "", "rows": []}
        with contextlib.redirect_stdout(sys.stderr):
            try:
                folder = Path(request["folder"])
                answer["rows"] = rows_of(request["url"], folder, Path(request["problems"]))
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the peer raises)
                answer["error"] = f"{type(error).__name__}: {str(error)[:200]}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
