"""Runs inside `.venvs/lighteval`, `evalscope` and `verifiers`: answers with what they say.

{"prompts": n, "data": folder}  ->  {"prompts": [...], ...}, in `lighteval`
{"prompts": benchmark, "subset", "rows": [...], "shots": [...]}  ->  {"prompts": [[[role, text],
    ...], ...], "shot_count": n}, in `evalscope`; rows as the benchmark's dataset has them
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.peers.worker import Judge, Row, read_by, read_in, serve


def lighteval_scorers() -> dict[str, Judge]:
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

    def gsm8k(row: Row) -> tuple[Any, str | None]:
        doc = gsm8k_prompt({"question": "", "answer": row["solution"]})
        reply = ModelResponse(text=[row["completion"]])
        right = metric.compute(doc=doc, model_response=reply) == 1.0
        patterns = utils.get_extraction_regexes(
            doc, metric.pred_extraction_target, Language.ENGLISH
        )
        return right, read_by(
            utils.extract_target_from_pred(row["completion"], patterns, "first_match")
        )

    def inspect(row: Row) -> tuple[Any, str | None]:
        state: Any = SimpleNamespace(output=SimpleNamespace(completion=row["completion"]))
        score = asyncio.run(scorer(state, Target([row["gold"]])))
        assert score is not None
        return score.value == "C", read_in(score.answer or "[]")

    def of_gold(metric: Any, targets: Any, label: str = "") -> Judge:
        def score(row: Row) -> tuple[Any, str | None]:
            solution = row["solution"].rpartition("\n####")[0]
            gold = solution if label and "\\boxed" in solution else row["gold"]
            doc = Doc(query="", choices=[label + gold], gold_index=0)
            reply = ModelResponse(text=[row["completion"]])
            right = metric.compute(doc=doc, model_response=reply) == 1.0
            patterns = utils.get_extraction_regexes(doc, targets, Language.ENGLISH)
            text = row["completion"].strip() if metric is pass_at_1 else row["completion"]
            return right, read_by(utils.extract_target_from_pred(text, patterns, "first_match"))

        return score

    return {
        "lighteval/gsm8k": gsm8k,
        "lighteval/gsm8k-inspect": inspect,
        "lighteval/gsm-plus": of_gold(metric, metric.pred_extraction_target),
        "lighteval/math-500": of_gold(
            pass_at_1, pass_at_1.compute_score.__self__.pred_extraction_target, "ANSWER: "
        ),
        "lighteval/aime": of_gold(
            pass_at_1, pass_at_1.compute_score.__self__.pred_extraction_target
        ),
    }


def evalscope_scorers() -> dict[str, Judge]:
    from evalscope.metrics.math.parser import compare_answers, extract_answer
    from evalscope.metrics.nlp.metrics import Accuracy

    def gsm8k(row: Row) -> tuple[Any, str | None]:
        answer = extract_answer(row["completion"])
        return Accuracy(numeric=True).apply([answer], [row["gold"]]) == [1.0], answer

    def aime(row: Row) -> tuple[Any, str | None]:
        answer = extract_answer(row["completion"])
        return compare_answers(answer, row["gold"], integer_only=True).matched, answer

    return {"evalscope/gsm8k": gsm8k, "evalscope/aime": aime}


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


def verifiers_scorers() -> dict[str, Judge]:
    from verifiers.parsers.maybe_think_parser import MaybeThinkParser
    from verifiers.rubrics.math_rubric import verify_response
    from verifiers.utils.data_utils import extract_boxed_answer

    def rubric(strict: bool, row: Row) -> tuple[Any, str | None]:
        parser = MaybeThinkParser(extract_fn=partial(extract_boxed_answer, strict=strict))
        reply: Any = [{"role": "assistant", "content": row["completion"]}]
        response = parser.parse_answer(reply) or ""
        return verify_response(response, row["gold"], 50_000, 5)[0] == 1.0, response

    return {
        "verifiers/math-rubric": partial(rubric, True),
        "verifiers/math-rubric-lenient": partial(rubric, False),
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


MAKERS = {
    "lighteval": lighteval_scorers,
    "evalscope": evalscope_scorers,
    "verifiers": verifiers_scorers,
}


def start() -> Callable[[str], Judge]:
    """Return the judges of the package that is installed here."""
    (name,) = [name for name in MAKERS if find_spec(name)]
    return MAKERS[name]().__getitem__


def other(row: Row) -> Any:
    """Return prompts."""
    if "rows" in row:
        return evalscope_prompts(row)
    return lighteval_prompts(row["prompts"], row["data"])


if __name__ == "__main__":
    serve(start, other)
