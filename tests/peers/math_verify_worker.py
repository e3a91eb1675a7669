"""Runs inside `.venvs/lighteval`, `evalscope`, `trl` and `verifiers`: answers with what they say.

Reads one JSON object a line, writes one a line, in the same order:
    {"completion", "gold", "solution"}  ->  {scorer: [verdict, extracted string or null], ...}
    {"prompts": n, "data": folder}  ->  {"prompts": [...], ...}, in `lighteval`
    {"prompts": benchmark, "subset", "rows": [...], "shots": [...]}  ->  {"prompts": [[[role, text],
        ...], ...], "shot_count": n}, in `evalscope`; rows as the benchmark's dataset has them
    {"seconds": [{"completion", "gold"}, ...]}  ->  seconds that Math-Verify itself takes
A verdict is true, false or "error". The scorers are those of the package that is installed here.
"""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)  # whatever the harness prints must not stand between the answers

Scorer = Callable[[dict[str, str]], tuple[Any, str | None]]


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


def lighteval_scorers() -> dict[str, Scorer]:
    from inspect_ai.scorer import Target
    from lighteval.metrics.metrics import Metrics, math_scorer
    from lighteval.metrics.utils import extractive_match_utils as utils
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc
    from lighteval.tasks.tasks.gsm8k import gsm8k_prompt
    from lighteval.utils.language import Language

    metric = Metrics.expr_gold_metric.value.sample_level_fn
    pass_at_1 = Metrics.pass_at_k_math(sample_params={"k": 1, "n": 1}).sample_level_fn
    scorer = math_scorer()

    def gsm8k(row: dict[str, str]) -> tuple[Any, str | None]:
        doc = gsm8k_prompt({"question": "", "answer": row["solution"]})
        reply = ModelResponse(text=[row["completion"]])
        right = metric.compute(doc=doc, model_response=reply) == 1.0
        patterns = utils.get_extraction_regexes(
            doc, metric.pred_extraction_target, Language.ENGLISH
        )
        return right, read_by(
            utils.extract_target_from_pred(row["completion"], patterns, "first_match")
        )

    def inspect(row: dict[str, str]) -> tuple[Any, str | None]:
        state: Any = SimpleNamespace(output=SimpleNamespace(completion=row["completion"]))
        score = asyncio.run(scorer(state, Target([row["gold"]])))
        assert score is not None
        return score.value == "C", read_in(score.answer or "[]")

    def of_gold(metric: Any, targets: Any, label: str = "") -> Scorer:
        def score(row: dict[str, str]) -> tuple[Any, str | None]:
            doc = Doc(query="", choices=[label + row["gold"]], gold_index=0)
            reply = ModelResponse(text=[row["completion"]])
            right = metric.compute(doc=doc, model_response=reply) == 1.0
            patterns = utils.get_extraction_regexes(doc, targets, Language.ENGLISH)
            text = row["completion"].strip() if metric is pass_at_1 else row["completion"]
            return right, read_by(utils.extract_target_from_pred(text, patterns, "first_match"))

        return score

    return {
        "gsm8k": gsm8k,
        "gsm8k-inspect": inspect,
        "gsm-plus": of_gold(metric, metric.pred_extraction_target),
        "math-500": of_gold(
            pass_at_1, pass_at_1.compute_score.__self__.pred_extraction_target, "ANSWER: "
        ),
        "aime": of_gold(pass_at_1, pass_at_1.compute_score.__self__.pred_extraction_target),
    }


def evalscope_scorers() -> dict[str, Scorer]:
    from evalscope.metrics.math.parser import compare_answers, extract_answer
    from evalscope.metrics.nlp.metrics import Accuracy

    def gsm8k(row: dict[str, str]) -> tuple[Any, str | None]:
        answer = extract_answer(row["completion"])
        return Accuracy(numeric=True).apply([answer], [row["gold"]]) == [1.0], answer

    def aime(row: dict[str, str]) -> tuple[Any, str | None]:
        answer = extract_answer(row["completion"])
        return compare_answers(answer, row["gold"], integer_only=True).matched, answer

    return {"gsm8k": gsm8k, "aime": aime}


def evalscope_prompts(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a benchmark of evalscope sends for rows of its dataset."""
    from evalscope.api.registry import get_benchmark
    from evalscope.config import TaskConfig

    benchmark = get_benchmark(row["prompts"], TaskConfig(model="m", datasets=[row["prompts"]]))
    count = benchmark.few_shot_num
    shots = [benchmark.record_to_sample(shot) for shot in row["shots"][:count]]
    benchmark.fewshot_dataset = {row["subset"]: shots}
    prompts = [
        benchmark.process_sample_str_input(benchmark.record_to_sample(record), row["subset"])
        for record in row["rows"]
    ]
    turns = [[[turn.role, turn.content] for turn in prompt] for prompt in prompts]
    return {"prompts": turns, "shot_count": count}


def trl_scorers() -> dict[str, Scorer]:
    from trl.rewards import accuracy_reward

    def reward(row: dict[str, str]) -> tuple[Any, str | None]:
        logged: dict[str, list[str]] = {}
        reply = [{"role": "assistant", "content": row["completion"]}]
        (reward,) = accuracy_reward([reply], [row["gold"]], log_extra=logged.__setitem__)
        shown = logged["answer_parsed"][0].replace("[unparseable]", "[]")
        return "error" if reward is None else reward == 1.0, read_in(shown)

    return {"accuracy-reward": reward}


def verifiers_scorers() -> dict[str, Scorer]:
    from functools import partial

    from math_verify import parse, verify
    from verifiers.parsers.maybe_think_parser import MaybeThinkParser
    from verifiers.rubrics.math_rubric import verify_response
    from verifiers.utils.data_utils import extract_boxed_answer

    def rubric(strict: bool, row: dict[str, str]) -> tuple[Any, str | None]:
        parser = MaybeThinkParser(extract_fn=partial(extract_boxed_answer, strict=strict))
        reply: Any = [{"role": "assistant", "content": row["completion"]}]
        response = parser.parse_answer(reply) or ""
        return verify_response(response, row["gold"], 50_000, 5)[0] == 1.0, response

    def default(row: dict[str, str]) -> tuple[Any, str | None]:
        answer = parse(row["completion"])
        return verify(parse(row["gold"]), answer), read_by(answer)

    def boxed_gold(row: dict[str, str]) -> tuple[Any, str | None]:
        answer = parse(row["completion"])
        return verify(parse(f"\\boxed{{{row['gold']}}}"), answer), read_by(answer)

    def version_1(row: dict[str, str]) -> tuple[Any, str | None]:
        """A port: the environment's verify.py is in no wheel."""
        matches = re.findall(r"####\s*(.+)", row["completion"])
        response = matches[-1] if matches else row["completion"]
        gold = parse(f"\\boxed{{{row['gold']}}}")
        return verify(gold, parse(f"\\boxed{{{response}}}")), response

    return {
        "math-rubric": partial(rubric, True),
        "math-rubric-lenient": partial(rubric, False),
        "default": default,
        "boxed-gold": boxed_gold,
        "gsm8k-v1": version_1,
    }


def lighteval_prompts(count: int, folder: str) -> dict[str, Any]:
    """Return the first prompts in evaluation order: ids, plain text and chat messages."""
    from lighteval.tasks.lighteval_task import LightevalTask
    from lighteval.tasks.prompt_manager import PromptManager
    from lighteval.tasks.tasks.gsm8k import gsm8k

    def rows(split: str) -> list[dict[str, str]]:
        text = Path(folder, f"{split}.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    gsm8k.num_fewshots = 5
    task: Any = LightevalTask(gsm8k)
    task.dataset = {split: rows(split) for split in ("train", "test")}
    docs = task.get_docs()[:count]
    plain, chat = PromptManager(), PromptManager()
    chat.use_chat_template = True
    return {
        "queries": [doc.query for doc in docs],
        "prompts": [plain.prepare_prompt(doc) for doc in docs],
        "messages": [chat.prepare_prompt_api(doc) for doc in docs],
        "stop": list(docs[0].stop_sequences),
        "max_tokens": docs[0].generation_size,
    }


def seconds_of_math_verify(rows: list[dict[str, str]]) -> float:
    """Return how long Math-Verify takes for its verdicts when it is called directly."""
    from math_verify import parse, verify

    start = time.perf_counter()
    for row in rows:
        verify(parse(row["gold"]), parse(row["completion"]))
    return time.perf_counter() - start


def main() -> None:
    """Answer until the input ends."""
    makers = {
        "lighteval": lighteval_scorers,
        "evalscope": evalscope_scorers,
        "trl": trl_scorers,
        "verifiers": verifiers_scorers,
    }
    (name,) = [name for name in makers if find_spec(name)]
    scorers = makers[name]()
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        row = json.loads(line)
        answer: Any = {}
        if "prompts" in row and name == "evalscope":
            answer = evalscope_prompts(row)
        elif "prompts" in row:
            answer = lighteval_prompts(row["prompts"], row["data"])
        elif "seconds" in row:
            answer = seconds_of_math_verify(row["seconds"])
        else:
            for scorer, score in scorers.items():
                try:
                    right, extracted = score(row)
                    answer[scorer] = [right if right == "error" else bool(right), extracted]
                except Exception as error:  # noqa: BLE001  (the harness's own failure is the answer)
                    answer[scorer] = ["error", type(error).__name__]
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
