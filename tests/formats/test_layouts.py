"""Result files in the layouts of public repositories: what `score` shows of each.

All problems are of this package, or made here. A wrong number without a word is the only failure;
a refusal names the command that mends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from tests.support.command import Command
from tests.support.files import jsonl

SAMPLE = load_dataset("sample").problems[:20]
RIGHT = 12  # the first texts are right
CASES = Path(__file__).parents[3] / "shared" / "cases" / "files"
Row = dict[str, Any]


def text(number: int) -> str:
    """A text about the problem; right for the first twelve."""
    problem = SAMPLE[number]
    value = problem.gold if number < RIGHT else "987654"
    return f"{' '.join(problem.question.split()[:12])} ... so the answer is {value}."


def rows(build: Callable[[int], Row]) -> list[Row]:
    return [build(number) for number in range(len(SAMPLE))]


def q(number: int) -> str:
    return SAMPLE[number].question


def gold(number: int) -> str:
    return SAMPLE[number].gold


TWELVE = "12 of 20"
# name: (rows, options, what is shown: the correct ones, or words of the refusal, words on stderr)
FILES: dict[str, tuple[Callable[[int], Row], str, str, str]] = {
    "question and response": (lambda n: {"question": q(n), "response": text(n)}, "", TWELVE, ""),
    "idx, question, gold, response": (
        lambda n: {"idx": n, "question": q(n), "gold": gold(n), "response": text(n)}, "", TWELVE,
        ""),
    "alpaca with a prediction": (
        lambda n: {"instruction": q(n), "input": "", "output": SAMPLE[n].solution,
                   "prediction": text(n)}, "", "may be the text",
        "response=prediction,gold=output"),
    "llama-factory": (
        lambda n: {"prompt": f"user\n{q(n)}\nassistant\n", "predict": text(n), "label": gold(n)},
        "", TWELVE, ""),
    "nested outputs with labels": (
        lambda n: {"idx": n, "question": q(n), "ground_truth": gold(n),
                   "outputs": [{"response": text(n), "label": n < RIGHT}]}, "", TWELVE,
        "flags: 20 of 20"),
    "two samples each": (
        lambda n: {"question": q(n), "outputs": [text(n), "987654"]}, "", "12 of 40", ""),
    "steps, joined": (
        lambda n: {"question": q(n), "steps": ["First.", text(n)]}, "response=steps+", TWELVE, ""),
    "numbered steps under the name of a text": (
        lambda n: {"question": q(n), "prediction": ["Step 1: first.", f"Step 2: {text(n)}"]}, "",
        "lists of steps", "response=prediction+"),
    "the prompt column repeated in the text": (
        lambda n: {"prompt": f"Q: {q(n - 1)}\nA: 6.\n\nQ: {q(n)}\nA:", "gold": gold(n),
                   "output": f"Q: {q(n - 1)}\nA: 6.\n\nQ: {q(n)}\nA:{text(n) if n else ''}"},
        "", "11 of 20", "begin with their prompt"),
    "an instruction template in the text": (
        lambda n: {"id": n, "output": "Below is an instruction.\n\n### Instruction:\n" + q(n)
                   + f"\n\n### Response:{text(n) if n else ''}"}, "", "11 of 20",
        "begin with their prompt"),
    "a number whose text is elsewhere": (
        lambda n: {"question": q(n), "gold": gold(n), "predicted_answer": gold(n),
                   "full_generation": text(n)}, "", "20 of 20",
        "--columns response=full_generation"),
    "two models in columns": (
        lambda n: {"question": q(n), "answer": gold(n), "a_response": text(n),
                   "b_response": text(n)}, "", "has texts in 'a_response', 'b_response'",
        "--columns response=b_response"),
    "a vote's flag is none of each sample": (
        lambda n: {"question": q(n), "responses": [text(n), text(n), "1"], "is_correct": True},
        "", "24 of 60", ""),
    "prompts in later texts": (
        lambda n: {"question": q(n), "output": text(n) if n < 5 else f"Q: {q(n - 1)}\nA: 6.\n\n"
                   f"Q: {q(n)}\nA: {text(n)}"}, "", TWELVE, "begin with their prompt"),
    "prompts in a few texts": (
        lambda n: {"question": q(n), "output": text(n) if n < 15 else f"Q: {q(n - 1)}\nA: 6.\n\n"
                   f"Q: {q(n)}\nA: {text(n)}"}, "", TWELVE, "5 of 20 texts"),
    "a chat that ends in a doubt": (
        lambda n: {"messages": [
            {"role": "user", "content": q(n)}, {"role": "assistant", "content": "It is 1."},
            {"role": "user", "content": "Are you sure?"},
            {"role": "assistant", "content": text(n)}]}, "", TWELVE, "in 20 of 20 chats"),
    "an empty response beside its reasoning": (
        lambda n: {"question": q(n), "response": text(n) if n % 2 else "", "reasoning": text(n)},
        "", "6 of 20", "--columns response=reasoning"),
    "debate, by question": (
        lambda n: {q(n): [[[{"role": "assistant", "content": text(n)}]], gold(n)]}, "",
        "no column", ""),
    "vLLM's outputs": (
        lambda n: {"request_id": str(n), "prompt": f"Q: {q(n)}\nA:",
                   "outputs": [{"index": 0, "text": text(n), "finish_reason": "stop"}]},
        "", TWELVE, ""),
    "verl's validation": (
        lambda n: {"input": f"user\n{q(n)}\nassistant\n", "output": text(n), "gts": gold(n),
                   "score": float(n < RIGHT)}, "", TWELVE, "flags: 20 of 20"),
    "Qwen2.5-Math": (
        lambda n: {"idx": n, "question": q(n), "gt": gold(n), "solution": SAMPLE[n].solution,
                   "code": [text(n)], "pred": [gold(n)], "score": [True]}, "", "may be the text",
        "response=code"),
    "the first words of questions, own golds": (
        lambda n: {"question": q(n)[:40], "response": text(n), "answer": gold(n)}, "", TWELVE, ""),
    "the model's own answer as gold": (
        lambda n: {"question": q(n), "gold": text(n).split()[-1].rstrip("."), "response": text(n)},
        "", "model's own answers", "--columns gold=-"),
    "the model's own answer as own gold": (
        lambda n: {"question": f"{n}: {q(n)}", "final_answer": gold(n), "response": text(n)}, "",
        TWELVE, ""),
    "a length that is called a target": (
        lambda n: {"question": f"Ben has {n} hats and buys 5. How many hats?",
                   "target_length": n + 5, "response": f"He has {n + 5} hats."}, "",
        "no question", "gold=COLUMN"),
    "a gold under a long name": (
        lambda n: {"question": f"Ben has {n} hats and buys 5. How many hats?",
                   "expected_tokens": 100, "platinum_target": n + 5,
                   "response": f"He has {n + (5 if n < RIGHT else 6)} hats."}, "", TWELVE,
        "gold=platinum_target"),
    "flags that disagree": (
        lambda n: {"question": q(n), "response": text(n), "correct": n >= RIGHT}, "", TWELVE,
        "0 of 20 agree"),
    "reference as response": (
        lambda n: {"question": q(n), "response": SAMPLE[n].solution}, "", "reference solutions",
        "--columns response="),
    "most, not all, are references": (
        lambda n: {"question": q(n), "response": SAMPLE[n].solution if n else "?"}, "",
        "reference solutions in 19 of 20", ""),
    "a dataset without a model": (
        lambda n: {"question": q(n), "answer": SAMPLE[n].solution}, "", "reference",
        "--columns response="),
    "gold and response swapped": (
        lambda n: {"question": q(n), "gold": text(n), "response": gold(n)}, "", "look swapped",
        "--columns response=gold,gold=response"),
    "swapped, the texts of a model": (
        lambda n: {"question": q(n), "gold": text(n), "response": SAMPLE[n].solution}, "",
        "look swapped", "--columns response=gold,gold=response"),
    "swapped, numbers alone": (
        lambda n: {"question": q(n), "gold": gold(n) if n < RIGHT else "987654",
                   "response": gold(n)}, "", "look swapped", "has other numbers"),
    "two responses": (
        lambda n: {"question": q(n), "response": text(n), "completion": "987654"}, "",
        "may be the text", "response=completion"),
    "golds of another dataset": (
        lambda n: {"question": q(n), "target": str(5000 + n), "response": text(n)}, "",
        "20 of 20 golds", "--columns gold=-"),
    "golds of another dataset, named": (
        lambda n: {"question": q(n), "target": str(5000 + n), "response": text(n)}, "gold=target",
        "0 of 20", ""),
    "programs with what they print": (
        lambda n: {"question": q(n), "code": f"def f():\n    return {gold(n)}\nprint(f())",
                   "execution_result": gold(n)}, "",
        "12 of 20|", "are programs"),
    "multiple choice": (
        lambda n: {"question": f"{q(n)} (A) 1 (B) 2", "gold": "ABCD"[n % 4], "response": "B"}, "",
        "multiple choice", ""),
    "own problems with golds": (
        lambda n: {"id": n, "input": f"Lena packs {n + 2} boxes of 9 pens. How many pens?",
                   "output": f"#### {9 * (n + 2)}", "expected": str(9 * (n + 2))}, "",
        "20 of 20", ""),
    "own problems, ids from GSM8K's range": (
        lambda n: {"index": n, "query": f"Ben has {n} hats and buys 5. How many hats?",
                   "completion": f"He has {n + (5 if n < RIGHT else 6)} hats.", "gold": n + 5},
        "", TWELVE, ""),
    "questions of nothing, no gold": (
        lambda n: {"question": f"Ben has {n} hats and buys 5. How many hats?", "response": "5"},
        "", "no question", "-d"),
    "simple-evals messages": (
        lambda n: {"convo": 1, "messages": [{"role": "user", "content": q(n)},
                                             {"role": "assistant", "content": text(n)}]},
        "", TWELVE, ""),
    "promptfoo": (
        lambda n: {"vars": {"question": q(n), "answer": gold(n)}, "provider": {"id": "m"},
                   "response": {"output": text(n)}, "prompt": {"label": "3"}, "success": True},
        "", TWELVE, "gold=vars.answer, run=provider"),
    "lm-eval": (
        lambda n: {"doc_id": n, "doc": {"question": q(n), "answer": SAMPLE[n].solution},
                   "resps": [[text(n)]], "filter": "strict-match", "exact_match": float(n < RIGHT),
                   "target": gold(n)}, "", TWELVE, "flags: 20 of 20"),
    "lm-eval with repeats": (
        lambda n: {"doc_id": n, "doc": {"question": q(n), "answer": SAMPLE[n].solution},
                   "resps": [[text(n)], ["987654"]], "filter": "none"}, "", "12 of 40", ""),
    "lm-eval of reference solutions": (
        lambda n: {"doc_id": n, "doc": {"question": q(n), "answer": SAMPLE[n].solution},
                   "resps": [[SAMPLE[n].solution]], "filter": "none"}, "",
        "reference solutions", ""),
    "OpenAI batch": (
        lambda n: {"custom_id": f"sample-{n}", "error": None, "response": {"status_code": 200,
                   "body": {"choices": [{"message": {"content": text(n)}}], "model": "m"}}},
        "", TWELVE, ""),
    "OpenAI evals": (
        lambda n: {"spec": {"completion_fns": ["m"], "base_eval": "gsm8k"}} if not n else {
            "run_id": "r", "event_id": n, "sample_id": f"gsm8k.test.{n}", "type": "sampling",
            "data": {"prompt": [{"role": "user", "content": q(n)}], "sampled": [text(n)]}},
        "", "11 of 19", "OpenAI evals log"),
    "OpenAI evals with a judge": (
        lambda n: {"run_id": "r", "event_id": n, "sample_id": str(n // 2), "type": "sampling",
                   "data": {"sampled": ["Yes" if n % 2 else text(n // 2)],
                            "prompt": [{"role": "user", "content": q(n // 2)}]}},
        "", "10 of 10", ""),
    "OpenAI evals, matches": (
        lambda n: {"spec": {"completion_fns": ["m"], "base_eval": "gsm8k"}} if not n else {
            "run_id": "r", "event_id": n, "sample_id": f"gsm8k.test.{n}", "type": "match",
            "data": {"correct": n < RIGHT, "expected": gold(n), "picked": "", "sampled": text(n),
                     "prompt": [{"role": "user", "content": q(n)}]}},
        "", "11 of 19", "flags: 19 of 19"),
    "HELM": (
        lambda n: {"instance": {"input": {"text": q(n)}, "id": f"id{n}", "references": [
                       {"output": {"text": SAMPLE[n].solution}, "tags": ["correct"]}]},
                   "request": {"model": "org/m", "prompt": f"Q: {q(n)}\nA:"},
                   "result": {"success": True, "completions": [{"text": text(n)}]}},
        "", TWELVE, "HELM scenario state"),
    "lighteval": (
        lambda n: {"doc": {"query": f"Question: {q(n)}\nAnswer:", "choices": [gold(n)],
                           "gold_index": [0], "specific": None},
                   "model_response": {"text": [text(n)], "input_tokens": [1]},
                   "metric": {"extractive_match": float(n < RIGHT)}},
        "", TWELVE, "flags: 20 of 20"),
    "lighteval, early": (
        lambda n: {"example": q(n), "instruction": "", "full_prompt": f"Question: {q(n)}",
                   "predictions": repr([text(n)]), "gold": [gold(n)],
                   "metrics": {"qem": int(n < RIGHT)}}, "", TWELVE, "flags: 20 of 20"),
    "wandb names": (
        lambda n: {"inputs": {"question": q(n)}, "output": text(n), "scores": {"correct": True}},
        "", TWELVE, ""),
    "numbers as texts": (
        lambda n: {"question": q(n), "output": float(gold(n).replace(",", "")) if n < RIGHT else 3},
        "", TWELVE, ""),
    "empty texts are no answer": (
        lambda n: {"question": q(n), "response": text(n) if n < RIGHT else ""}, "", TWELVE, ""),
    "in order": (lambda n: {"response": text(n)}, "--in-order", TWELVE, ""),
    "in order, beside questions": (
        lambda n: {"question": q(n), "response": text(n)}, "--in-order",
        "leave --in-order out", ""),
    "an instruction above the question": (
        lambda n: {"instruction": "Solve it step by step.", "input": q(n), "output": text(n)}, "",
        TWELVE, "question=input"),
    "an instruction with a number above the question": (
        lambda n: {"prompt": f"Solve it in {7 + n % 2} steps.", "input": q(n), "output": text(n)},
        "", TWELVE, "question=input"),
    "users beside repeated questions": (
        lambda n: {"user": f"u{n}", "question": q(n % 2), "response": text(n % 2)}, "", "20 of 20",
        "question=question"),
    "solutions under a name that was given": (
        lambda n: {"question": q(n), "truth": SAMPLE[n].solution}, "response=truth", "20 of 20",
        "this is no accuracy of a model"),
    "a number beside the solution and the text": (
        lambda n: {"question": q(n), "ground_truth_raw": SAMPLE[n].solution, "pred": gold(n),
                   "model_outputs": text(n)}, "", "20 of 20", "--columns response=model_outputs"),
    "kinds of mistakes": (
        lambda n: {"question": q(n), "response": text(n), "error": "none" if n < RIGHT else "sum"},
        "", TWELVE, "that no service's failure has, such as 'sum'"),
    "an error's column that is named": (
        lambda n: {"question": q(n), "response": text(n), "error": "sum" if n < 4 else ""},
        "error=error", "8 of 20", ""),
    "failures beside texts": (
        lambda n: {"question": q(n), "response": text(n), "error": None if n > 3
                   else {"message": "no"} if n % 2 else "Connection refused"}, "", "8 of 20", ""),
    "steps without numbers": (
        lambda n: {"question": q(n), "response": [*["So on."] * (n % 5 + 1), text(n)]}, "",
        "lists of steps", "response=response+"),
    "two prompts in one file": (
        lambda n: {"question": q(n // 2), "form": "ab"[n % 2], "response": text(n // 2)}, "",
        "20 of 20", "--columns run=form"),
    "two temperatures in one file": (
        lambda n: {"question": q(n // 2), "temperature": n % 2 / 2, "response": text(n // 2)}, "",
        "20 of 20", "--columns run=temperature"),
    "a run without texts": (
        lambda n: {"run": "ab"[n // 10], "question": q(n), "response": None if n > 9 else text(n)},
        "", "no row of run 'b'", "--columns of its own"),
    "the selected one of several texts": (
        lambda n: {"question": q(n), "responses": ["987654", text(n)], "best": text(n)}, "",
        "12 of 40", "--columns response=best"),
    "texts that were cut": (
        lambda n: {"question": q(n), "response": f"{q(n)} {text(n)}"[:100]}, "", "0 of 20",
        "20 of 20 texts"),
    "problems of two datasets": (
        lambda n: {"data_source": "ab"[n % 2], "prompt": q(n)[::-1] if n % 2 else q(n),
                   "gts": gold(n), "response": text(n)}, "", TWELVE,
        "10 of 20 rows"),
    "flags as letters": (
        lambda n: {"question": q(n), "response": text(n), "ok": "yN"[n >= RIGHT]}, "flag=ok",
        TWELVE, "flags: 20 of 20"),
    "flags that are none": (
        lambda n: {"question": q(n), "response": text(n), "ok": "0.8"}, "flag=ok",
        "the values of 'ok'", "are no verdicts"),
    "flags as signs": (
        lambda n: {"question": q(n), "response": text(n), "result": "✅" if n < RIGHT else "❌"},
        "", TWELVE, "flags: 20 of 20"),
    "a placeholder for no answer": (
        lambda n: {"question": q(n), "response": text(n) if n < RIGHT else "-1"}, "", TWELVE,
        "8 of 20 texts"),
    "Gemini's batches": (
        lambda n: {"key": str(n), "response": {"candidates": [
            {"content": {"parts": [{"text": text(n)}], "role": "model"}}]}}, "", TWELVE, ""),
    "Vertex's batches": (
        lambda n: {"request": {"contents": [{"role": "user", "parts": [{"text": q(n)}]}]},
                   "response": {"candidates": [{"content": {"parts": [{"text": text(n)}]}}]}}, "",
        TWELVE, "question=request.contents"),
    "Bedrock": (
        lambda n: {"recordId": str(n), "modelOutput": {"content": [
            {"type": "text", "text": text(n)}]}}, "", TWELVE, "id=recordId"),
    "MT-Bench": (
        lambda n: {"question_id": n, "choices": [{"index": 0, "turns": [text(n)]}]}, "", TWELVE,
        ""),
    "DeepEval": (
        lambda n: {"input": q(n), "actualOutput": text(n), "expectedOutput": gold(n)}, "", TWELVE,
        "gold=expectedOutput"),
    "LangSmith": (
        lambda n: {"inputs.question": q(n), "outputs.answer": text(n), "error": "",
                   "reference_outputs.answer": gold(n)}, "", TWELVE,
        "gold=reference_outputs.answer"),
    "a chat that the user ends": (
        lambda n: {"messages": [{"role": "user", "content": q(n)},
                                {"role": "assistant", "content": text(n)},
                                {"role": "user", "content": "Thanks!"}]}, "",
        "do not end in a turn of the model", ""),
    "no name of the problem": (lambda n: {"response": text(n)[-30:]}, "", "names no problem",
                               "--in-order"),
}  # fmt: skip


def shown(gradeschool: Command, path: Path, options: str) -> tuple[str, str]:
    """Return "12 of 20" or the message, and what was printed on stderr."""
    words = ["--in-order"] if options == "--in-order" else ["--columns", options] if options else []
    ended = gradeschool("score", path, "-d", "sample", "--json", "--scorer", "gradeschool/reader",
                        *words)  # fmt: skip
    if ended.status not in (0, 3):
        assert ended.status == 2
        return ended.err, ended.err
    [run] = ended.json()["runs"]
    correct = run["scorers"]["gradeschool/reader"]["correct"]
    flags = run["scorers"]["gradeschool/reader"].get("flags") or run.get("flags")
    agree = f" flags: {_agreement(flags)}" if flags else ""
    return f"{correct} of {run['n']}", ended.err + agree


def _agreement(flags: Any) -> str:
    each = flags if "agree" in flags else next(iter(flags.values()))
    return f"{each['agree']} of {each['n']}"


@pytest.mark.parametrize("name", FILES)
def test_a_layout_is_read_right_or_refused(gradeschool: Command, tmp_path: Path, name: str) -> None:
    build, options, expected, words = FILES[name]
    figure, err = shown(gradeschool, jsonl(tmp_path / "results.jsonl", rows(build)), options)
    if not expected.endswith("|"):
        assert expected in figure
    assert words in err


def test_other_containers_hold_the_same_rows(gradeschool: Command, tmp_path: Path) -> None:
    table = rows(lambda n: {"question": q(n), "response": text(n)})
    columns = {name: {str(n): row[name] for n, row in enumerate(table)} for name in table[0]}
    forms = {
        "array.json": table,
        "results.json": {"model": "m", "results": table},
        "numbered.json": {str(n): row for n, row in enumerate(table)},
        "columns.json": columns,
        "lists.json": {name: [row[name] for row in table] for name in table[0]},
        "questions.json": {row["question"]: {"response": row["response"]} for row in table},
        "details.json": {
            "details": {"type": "GEN", **{str(n): row for n, row in enumerate(table)}}
        },
        "samples.json": {"meta": {"n": 20}, "samples": table},
        "texts.json": {str(n): row["response"] for n, row in enumerate(table)},
        "modes.json": {"few_shot": {"accuracy": 0.6, "details": table}},
        "pool.json": {"shots": [{"question": "How?", "answer": "1"}] * 30, "results": table},
    }
    for name, value in forms.items():
        (tmp_path / name).write_text(json.dumps(value))
        assert shown(gradeschool, tmp_path / name, "")[0] == TWELVE, name


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("results_1.json", '{"results": {}, "configs": {}}', "samples_*.jsonl"),
        ("run.log", "INFO start\nINFO end\n", "one of these formats"),
        ("lists.json", '{"a": [{"b": 1}], "c": [{"d": 2}]}', "several lists of rows, 'a', 'c'"),
        ("wrong.json", '{"n": 9, "failures": [{"response": "a"}]}', "only the rows of 'failures'"),
        ("dump.json", '{"a": 1, "b": [1, 2]}', "without a list of rows"),
        ("empty.jsonl", "", "contains no completions"),
        ("a.csv", 'question,response\n"a,b,c\n', "cannot be read"),
        ("mgsm_en.tsv", f"{'Ben, who has 5 hats, ' * 9}\t18\n", "its first row is no header"),
    ],
)
def test_what_is_no_table_is_refused(
    gradeschool: Command, tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    assert words in gradeschool.refused("score", tmp_path / name, "-d", "sample")


def test_trailing_commas_and_long_names_in_csv(gradeschool: Command, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [f'"{q(n)}",{text(n)[-20:]!r},,' for n in range(3)]
    path.write_text("\n".join(["question,response,,", *lines]))
    assert shown(gradeschool, path, "")[0] == "3 of 3"
    note = "Notes: what was hard, " + "in your own words, " * 9  # a survey's question
    path.write_text("\n".join([f'question,response,"{note}",', *lines]))
    assert shown(gradeschool, path, "")[0] == "3 of 3"


def test_two_files_have_their_own_columns(gradeschool: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        made = [{"question": q(n), name: text(n)} for n in range(len(SAMPLE))]
        jsonl(tmp_path / f"{name}.jsonl", made)
    ended = gradeschool(
        "score", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-d", "sample", "--json",
        "--columns", "response=a", "--columns", "response=b", "--scorer", "gradeschool/reader",
    )  # fmt: skip
    runs = ended.json()["runs"]
    assert [run["scorers"]["gradeschool/reader"]["correct"] for run in runs] == [RIGHT, RIGHT]


def test_columns_without_a_value_are_shown(gradeschool: Command, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", [{"question": "How?", "blub": "It is 3."}])
    ended = gradeschool.done("score", path, "--columns")
    assert "blub: 'It is 3.': response" in ended.out


@pytest.mark.official
@pytest.mark.skipif(not CASES.exists(), reason="the cases are not in this checkout")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, "0 of 12") for name in ("b", "c", "m1_0", "m1_1", "m2c", "m4")),
        *((name, "--columns") for name in ("m3b", "m5", "m9")),
        ("golds", "0 of 50"),
    ],
)
def test_the_cases_of_the_issue(gradeschool: Command, data: Path, name: str, expected: str) -> None:
    ended = gradeschool(
        "score", CASES / f"{name}.jsonl", "--json", "--scorer", "gradeschool/reader"
    )
    if expected == "--columns":
        assert (ended.status, expected in ended.err) == (2, True)
    else:
        [run] = ended.json()["runs"]
        assert f"{run['scorers']['gradeschool/reader']['correct']} of {run['n']}" == expected


def test_lm_eval_rows_written_twice_count_once(gradeschool: Command, tmp_path: Path) -> None:
    made = [
        {"doc_id": n, "doc": {"question": q(n), "answer": gold(n)}, "target": gold(n),
         "resps": [[text(n)]], "filtered_resps": [text(n)], "filter": "none"}
        for n in range(len(SAMPLE))
    ]  # fmt: skip
    path = jsonl(tmp_path / "samples_a.jsonl", [*made, *made])
    correct, err = shown(gradeschool, path, "")
    assert correct == TWELVE
    assert "counted once" in err
