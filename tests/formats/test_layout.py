"""The shapes that files of answers come in: each is read unaided, or with one hint.

Every file holds the same twelve problems of the shipped sample: ten answered correctly, two not.
It is written by the tool's own writer where that is installed, else by hand after the tool's
documentation or source, which the docstring of its function names.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats import tables
from gradeschool.formats.layout import parse_columns, question_of, rows_in, texts_of
from gradeschool.formats.read import read_samples
from gradeschool.problem import Problem
from tests.support.command import Command, CommandResult
from tests.support.command import gradeschool as gradeschool  # a fixture

SCORER = "gradeschool/reader"
PROBLEMS = load_dataset("sample").problems[:12]
WRONG = (3, 7)
Rows = list[dict[str, Any]]


def text(problem: Problem) -> str:
    return "I give up: 987654321" if int(problem.id) in WRONG else problem.solution


def rows(fields: Callable[[Problem], dict[str, Any]]) -> Rows:
    return [fields(problem) for problem in PROBLEMS]


def jsonl(path: Path, table: Rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in table), "utf-8")
    return path


def dumped(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def separated(path: Path, table: Rows, separator: str, encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(table)
    return path


def chat(problem: Problem) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "Solve the problem."},
        {"role": "user", "content": f"{problem.question}\nThink step by step."},
        {"role": "assistant", "content": text(problem)},
    ]


def openai_messages(folder: Path) -> Path:
    """OpenAI's chat format: https://platform.openai.com/docs/api-reference/chat."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {"messages": chat(problem)}))


def openai_responses(folder: Path) -> Path:
    """Chat completions as a client dumps them, each beside its question."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "question": problem.question,
        "response": {"id": "chatcmpl-1", "object": "chat.completion", "choices": [
            {"index": 0, "message": chat(problem)[-1], "finish_reason": "stop"}]},
    }))  # fmt: skip


def sharegpt(folder: Path) -> Path:
    """ShareGPT's conversations: from, value."""
    return dumped(folder / "a.json", rows(lambda problem: {
        "id": f"x_{problem.id}", "conversations": [
            {"from": "human", "value": problem.question},
            {"from": "gpt", "value": text(problem)}]}))  # fmt: skip


def generated_text(folder: Path) -> Path:
    """transformers' text-generation pipeline, return_full_text=False, zipped with the questions."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "question": problem.question, "generated_text": text(problem)}))  # fmt: skip


def generated_text_with_prompt(folder: Path) -> Path:
    """The same pipeline's default: the prompt comes first; a list of lists, nothing else."""
    return dumped(folder / "a.json", [
        [{"generated_text": f"Question: {problem.question}\nAnswer: {text(problem)}"}]
        for problem in PROBLEMS
    ])  # fmt: skip


def generated_chat(folder: Path) -> Path:
    """The pipeline on messages: generated_text is the conversation."""
    return dumped(folder / "a.json", [[{"generated_text": chat(problem)}] for problem in PROBLEMS])


def idx(folder: Path) -> Path:
    """Rows of ToRA, Qwen2.5-Math and others: idx, question, gt, code (a list of texts), pred."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "idx": int(problem.id), "question": problem.question, "gt": problem.gold,
        "code": [text(problem)], "pred": ["7"], "score": [False]}))  # fmt: skip


def survey(folder: Path) -> Path:
    """A spreadsheet's header: Question, Model Response, Ground Truth."""
    return separated(folder / "a.csv", rows(lambda problem: {
        "Question": problem.question, "Model Response": text(problem),
        "Ground Truth": problem.gold}), ",")  # fmt: skip


def response_and_gold(folder: Path) -> Path:
    """A response and a gold, no question and no id: problems of their own."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "response": text(problem), "gold": int(problem.gold.replace(",", ""))}))  # fmt: skip


def tsv(folder: Path) -> Path:
    return separated(folder / "a.tsv", rows(lambda problem: {
        "id": problem.id, "prediction": text(problem)}), "\t")  # fmt: skip


def semicolons(folder: Path) -> Path:
    """What Excel saves as CSV where the comma is the decimal point."""
    return separated(folder / "a.csv", rows(lambda problem: {
        "Frage": problem.question, "question": problem.question, "output": text(problem)}),
        ";", "utf-8-sig")  # fmt: skip


def unicode_text(folder: Path) -> Path:
    """What Excel saves as Unicode text: tabs, UTF-16."""
    return separated(folder / "a.csv", rows(lambda problem: {
        "question": problem.question, "answer": text(problem)}), "\t", "utf-16")  # fmt: skip


def excel(folder: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl writes Excel files")
    book = openpyxl.Workbook()
    book.active.append(["Nr", "Question", "LLM Answer", "Correct Answer", None])
    for problem in PROBLEMS:
        book.active.append([int(problem.id), problem.question, text(problem), problem.gold])
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def pandas_csv(folder: Path) -> Path:
    """DataFrame.to_csv with its index: the first column has no name."""
    return separated(folder / "a.csv", rows(lambda problem: {
        "": problem.id, "model_output": text(problem)}), ",")  # fmt: skip


def pandas_columns(folder: Path) -> Path:
    """DataFrame.to_json, default orient "columns": {column: {row: cell}}."""
    return dumped(folder / "a.json", {
        "question": {problem.id: problem.question for problem in PROBLEMS},
        "generation": {problem.id: text(problem) for problem in PROBLEMS}})  # fmt: skip


def pandas_split(folder: Path) -> Path:
    """DataFrame.to_json(orient="split")."""
    table = [[problem.question, text(problem)] for problem in PROBLEMS]
    return dumped(folder / "a.json", {
        "columns": ["question", "answer"], "index": list(range(12)), "data": table})  # fmt: skip


def arrow_table() -> Any:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow writes Arrow and Parquet")
    return arrow.Table.from_pylist(rows(lambda problem: {
        "question": problem.question, "response": text(problem)}))  # fmt: skip


def datasets_folder(folder: Path) -> Path:
    """datasets' DatasetDict.save_to_disk: a folder a split, Arrow streams in shards."""
    table = arrow_table()
    from pyarrow import ipc

    split = folder / "saved" / "test"
    split.mkdir(parents=True)
    for index, part in enumerate((table.slice(0, 7), table.slice(7))):
        with ipc.new_stream(str(split / f"data-{index:05}-of-00002.arrow"), table.schema) as file:
            file.write_table(part)
    dumped(split / "state.json", {"_data_files": []})
    return folder / "saved"


def parquet_shards(folder: Path) -> Path:
    """Dataset.push_to_hub: a folder "data" of Parquet shards."""
    table = arrow_table()
    from pyarrow import parquet

    (folder / "saved" / "data").mkdir(parents=True)
    for index, part in enumerate((table.slice(0, 5), table.slice(5))):
        name = f"train-{index:05}-of-00002.parquet"
        parquet.write_table(part, folder / "saved" / "data" / name)
    return folder / "saved"


def feather(folder: Path) -> Path:
    """DataFrame.to_feather: an Arrow file."""
    table = arrow_table()
    from pyarrow import feather as writer

    writer.write_feather(table, folder / "a.feather")
    return folder / "a.feather"


def vllm(folder: Path) -> Path:
    """vLLM 0.30, vllm/outputs.py: RequestOutput with CompletionOutput."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "request_id": problem.id, "prompt": f"Q: {problem.question}\nA:", "prompt_token_ids": [1],
        "outputs": [{"index": 0, "text": text(problem), "token_ids": [1], "finish_reason": "stop",
                     "cumulative_logprob": None}], "finished": True}))  # fmt: skip


def lighteval(folder: Path) -> Path:
    """lighteval 0.13, logging/info_loggers.py: Detail(doc, model_response, metric) in Parquet."""
    arrow = pytest.importorskip("pyarrow", reason="pyarrow writes Parquet")
    from pyarrow import parquet

    table = rows(lambda problem: {
        "doc": {"query": f"Question: {problem.question}\nAnswer:", "choices": [problem.solution],
                "gold_index": [0], "id": problem.id, "task_name": "lighteval|gsm8k|5"},
        "metric": {"em": 0.0},
        "model_response": {"input": None, "text": [text(problem)], "input_tokens": [1]},
    })  # fmt: skip
    path = folder / "details_lighteval|gsm8k|5_2026-11-22.parquet"
    parquet.write_table(arrow.Table.from_pylist(table), path)
    return path


def opencompass(folder: Path) -> Path:
    """OpenCompass 0.5.4, icl_base_inferencer.py: GenInferencerOutputHandler."""
    return dumped(folder / "gsm8k.json", {
        problem.id: {"origin_prompt": [
            {"role": "HUMAN", "prompt": f"Question: {problem.question}\nLet's think\nAnswer:"}],
            "prediction": text(problem), "gold": problem.solution}
        for problem in PROBLEMS
    })  # fmt: skip


def helm(folder: Path) -> Path:
    """HELM 0.5.16, scenario_state.json: adaptation/request_state.py, scenarios/scenario.py."""
    states = rows(lambda problem: {
        "instance": {"input": {"text": problem.question}, "split": "test", "id": f"id{problem.id}",
                     "references": [{"output": {"text": problem.gold}, "tags": ["correct"]}]},
        "train_trial_index": 0, "request": {"model": "org/model", "prompt": "Q: ..."},
        "result": {"success": True, "cached": True, "completions": [
            {"text": text(problem), "logprob": 0, "tokens": []}]},
        "num_train_instances": 5, "prompt_truncated": False})  # fmt: skip
    spec = {"method": "generation", "instructions": ""}
    return dumped(folder / "scenario_state.json", {"adapter_spec": spec, "request_states": states})


def simple_evals(folder: Path) -> Path:
    """simple-evals' *_allresults.json: score, metrics, htmls, convos (a conversation a sample)."""
    return dumped(folder / "mgsm_model_allresults.json", {
        "score": 0.83, "metrics": {"accuracy": 0.83}, "htmls": ["<p>"] * 12,
        "convos": [chat(problem)[1:] for problem in PROBLEMS], "metadata": None})  # fmt: skip


def wandb_table(folder: Path) -> Path:
    """wandb 0.31, sdk/data_types/table.py: an exported *.table.json."""
    table = [[problem.question, text(problem), problem.gold] for problem in PROBLEMS]
    return dumped(folder / "predictions.table.json", {
        "_type": "table", "columns": ["Input", "Output", "Expected"], "data": table,
        "ncols": 3, "nrows": 12, "column_types": {}})  # fmt: skip


def alpaca_eval(folder: Path) -> Path:
    """AlpacaEval's model_outputs.json: instruction, output, generator."""
    return dumped(folder / "a.json", rows(lambda problem: {
        "instruction": problem.question, "input": "", "output": text(problem),
        "generator": "my-model", "dataset": "gsm8k"}))  # fmt: skip


def nemo_skills(folder: Path) -> Path:
    """NeMo-Skills' output.jsonl: problem, generation, expected_answer."""
    return jsonl(folder / "output.jsonl", rows(lambda problem: {
        "problem": problem.question, "expected_answer": problem.gold,
        "generation": text(problem), "num_generated_tokens": 3}))  # fmt: skip


def llama_factory(folder: Path) -> Path:
    """LLaMA-Factory's generated_predictions.jsonl: prompt (templated), predict, label."""
    return jsonl(folder / "generated_predictions.jsonl", rows(lambda problem: {
        "prompt": f"<|im_start|>user\n{problem.question}<|im_end|>\n<|im_start|>assistant\n",
        "predict": text(problem), "label": problem.solution}))  # fmt: skip


def verifiers_results(folder: Path) -> Path:
    """verifiers' results.jsonl (vf-eval -s): messages in prompt and completion, answer, reward."""
    return jsonl(folder / "results.jsonl", rows(lambda problem: {
        "example_id": int(problem.id), "prompt": chat(problem)[:2],
        "completion": chat(problem)[2:], "answer": problem.gold, "reward": 0.0}))  # fmt: skip


def openai_evals(folder: Path) -> Path:
    """OpenAI evals' log of events: type "sampling", data with prompt and sampled."""
    return jsonl(folder / "events.jsonl", rows(lambda problem: {
        "run_id": "r", "event_id": int(problem.id), "type": "sampling",
        "data": {"prompt": chat(problem)[:2], "sampled": [text(problem)]}}))  # fmt: skip


def in_order(folder: Path) -> Path:
    """Nothing but the texts, in the order of the dataset."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {"text": text(problem)}))


def columns_of_lists(folder: Path) -> Path:
    """Dataset.to_dict: {column: [cells]}."""
    return dumped(folder / "a.json", {
        "query": [problem.question for problem in PROBLEMS],
        "model_answer": [text(problem) for problem in PROBLEMS]})  # fmt: skip


def excel_with_title(folder: Path) -> Path:
    """A first sheet of notes, and a title above the header of the second."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["Read the second sheet"])
    sheet = book.create_sheet("Results")
    sheet.append(["Evaluation, March 2026"])
    sheet.append([])
    sheet.append(["No.", "Question", "Model answer"])
    for number, problem in enumerate(PROBLEMS, start=1):
        sheet.append([number, problem.question, text(problem)])
    book.save(folder / "title.xlsx")
    return folder / "title.xlsx"


def promptfoo(folder: Path) -> Path:
    """`promptfoo eval -o results.json`: results in results."""
    return dumped(folder / "a.json", {"evalId": "eval-1", "config": {}, "results": {
        "version": 3, "stats": {"successes": 1}, "results": [
            {"id": f"r{number}", "promptIdx": 0, "testIdx": number, "success": True,
             "vars": {"question": problem.question}, "provider": {"id": "openai:gpt-4o"},
             "prompt": {"raw": f"Solve: {problem.question}", "label": "Solve"},
             "response": {"output": text(problem), "tokenUsage": {"total": 9}}}
            for number, problem in enumerate(PROBLEMS)]}})  # fmt: skip


def deepeval(folder: Path) -> Path:
    """Test cases of DeepEval."""
    return dumped(folder / "a.json", rows(lambda problem: {
        "input": problem.question, "actual_output": text(problem)}))  # fmt: skip


def ragas(folder: Path) -> Path:
    """Samples of Ragas."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "user_input": problem.question, "response": text(problem)}))  # fmt: skip


def langsmith(folder: Path) -> Path:
    """Runs of LangSmith: inputs and outputs are objects."""
    return jsonl(folder / "a.jsonl", rows(lambda problem: {
        "id": "3f1c", "inputs": {"question": problem.question},
        "outputs": {"output": text(problem)}}))  # fmt: skip


def foreign_words(folder: Path) -> Path:
    """Columns in another language: one hint names them."""
    return separated(folder / "a.csv", rows(lambda problem: {
        "Frage": problem.question, "Antwort": text(problem)}), ";")  # fmt: skip


UNAIDED = (
    openai_messages, openai_responses, sharegpt, generated_text, generated_text_with_prompt,
    generated_chat, idx, survey, response_and_gold, tsv, semicolons, unicode_text, excel,
    pandas_csv, pandas_columns, pandas_split, datasets_folder, parquet_shards, feather, vllm,
    lighteval, opencompass, helm, simple_evals, wandb_table, alpaca_eval, nemo_skills,
    llama_factory, verifiers_results, openai_evals, in_order, columns_of_lists,
    excel_with_title, promptfoo, deepeval, ragas, langsmith,
)  # fmt: skip


Score = Callable[..., CommandResult]


@pytest.fixture
def score(gradeschool: Command) -> Score:
    """`gradeschool score` under one scorer."""
    return lambda path, *options: gradeschool("score", path, "--scorer", SCORER, *options)


def counts(result: CommandResult) -> tuple[int, int]:
    """Return the correct completions and all that were judged."""
    [run] = result.json()["runs"]
    figures = run["scorers"][SCORER]
    return figures["correct"], figures["correct"] + figures["wrong"] + figures["no_answer"]


@pytest.mark.parametrize("shape", UNAIDED, ids=lambda shape: shape.__name__)
def test_a_shape_is_read_unaided(
    score: Score, tmp_path: Path, shape: Callable[[Path], Path]
) -> None:
    """Ten of twelve are correct, and nothing is lost."""
    dataset = () if shape is response_and_gold else ("-d", "sample")
    result = score(shape(tmp_path), "--json", *dataset)
    assert (result.status, *counts(result)) == (0, 10, 12), result.err


def test_a_hint_names_the_columns(score: Score, tmp_path: Path) -> None:
    """Without it one message says which columns there are; with it the file is read."""
    path = foreign_words(tmp_path)
    refused = score(path, "-d", "sample")
    assert refused.status == 2
    assert "'Frage', 'Antwort'" in refused.err
    assert "--columns" in refused.err
    assert refused.err.count("\n") == 1
    result = score(path, "--json", "-d", "sample", "--columns", "question=Frage,response=Antwort")
    assert (result.status, *counts(result)) == (0, 10, 12)


def test_what_was_guessed_is_shown_with_three_rows(score: Score, tmp_path: Path) -> None:
    """The columns by their roles, and the first rows with the problems that they belong to."""
    lines = score(survey(tmp_path), "-d", "sample").err.splitlines()
    assert "response='Model Response', question='Question', gold='Ground Truth'" in lines[0]
    assert [line.split(":")[1].strip() for line in lines[1:]] == ["row 2", "row 3", "row 4"]
    assert "problem '0' (gold 600)" in lines[1]


@pytest.mark.parametrize("dataset_has", ["solution", "gold"])
@pytest.mark.parametrize(
    "name",
    ["pred", "prediction", "model_output", "generated_text", "output_text", "gen", "resp"],
)
def test_answer_beside_another_text_is_the_dataset_s(
    score: Score, tmp_path: Path, name: str, dataset_has: str
) -> None:
    """GSM8K's own columns are question and answer; people add one with the model's text."""
    table = rows(lambda problem: {
        "question": problem.question, "answer": getattr(problem, dataset_has),
        name: f"{text(problem)} ",
    })  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)
    assert f"response='{name}'" in result.err


def test_answer_beside_an_extracted_number_is_the_model_s(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {
        "question": problem.question, "answer": f"Well. {text(problem)}", "pred": "1",
    })  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)


def test_the_dataset_itself_is_refused(score: Score, tmp_path: Path) -> None:
    """Its solutions are scored only where the user names their column."""
    table = rows(lambda problem: {"question": problem.question, "answer": problem.solution})
    path = jsonl(tmp_path / "a.jsonl", table)
    refused = score(path, "-d", "sample")
    assert refused.status == 2
    assert "are the reference solutions of 'sample'" in refused.err
    assert "--columns response=COLUMN" in refused.err
    result = score(path, "-d", "sample", "--json", "--columns", "response=answer")
    assert (result.status, *counts(result)) == (0, 12, 12)


@pytest.mark.parametrize(
    "name", ["model", "model_name", "model_id", "llm", "generator", "engine", "Model", "Model Name"]
)
def test_models_of_one_file_are_runs(score: Score, tmp_path: Path, name: str) -> None:
    table: Rows = [
        {"id": problem.id, "completion": text(problem), name: model}
        for model in ("a", "b") for problem in PROBLEMS
    ]  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert [run["n"] for run in result.json()["runs"]] == [12, 12]


@pytest.mark.parametrize("shift", [1, 5])
def test_questions_decide_where_ids_are_those_of_the_rows(
    score: Score, tmp_path: Path, shift: int
) -> None:
    table = [
        {
            "id": (int(problem.id) + shift) % 12,
            "question": problem.question,
            "output": text(problem),
        }
        for problem in PROBLEMS
    ]
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)
    assert "12 of 12 name another problem than the question beside them" in result.err


@pytest.mark.parametrize(
    "gold", [float, lambda n: f"\\boxed{{{n}}}", lambda n: f"{n} pears", lambda n: f"It is {n}."]
)
def test_own_golds_may_be_floats_and_words(
    score: Score, tmp_path: Path, gold: Callable[[int], object]
) -> None:
    """A table with a gold missing in one row has floats in all; other datasets have ids from 0."""
    table: Rows = [
        {"id": float(n), "completion": f"That is {2 * n}.", "gold": gold(2 * n)} for n in range(20)
    ]
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json")
    assert (result.status, *counts(result)) == (0, 20, 20)


@pytest.mark.parametrize(("error", "failed"), [
    (None, 0), (float("nan"), 0), ("None", 0), ("", 0), (0.25, 0), (False, 0),
    ("timeout", 12), ({"code": 429}, 12),
])  # fmt: skip
def test_what_counts_as_an_error(score: Score, tmp_path: Path, error: object, failed: int) -> None:
    """A number beside a text is a measure; pandas writes "None" and NaN for nothing."""
    table = rows(lambda problem: {"id": problem.id, "output": text(problem), "error": error})
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert result.json()["runs"][0]["scorers"][SCORER]["error"] == failed
    table = rows(lambda problem: {"idx": problem.id, "gen": text(problem), "error": error})
    result = score(jsonl(tmp_path / "b.jsonl", table), "--json", "-d", "sample")
    assert result.json()["runs"][0]["scorers"][SCORER]["error"] == failed


def test_several_completions_are_not_joined_beside_a_row_with_one(
    score: Score, tmp_path: Path
) -> None:
    table: Rows = [
        {"id": problem.id, "output": [{"text": text(problem)}, {"text": "#### 1"}]}
        for problem in PROBLEMS
    ]
    table[5]["output"] = "timeout"
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert counts(result) == (9, 23)


def test_null_content_is_an_empty_answer_in_every_form(score: Score, tmp_path: Path) -> None:
    """A model that was cut while thinking has answered nothing."""
    reply = {"choices": [{"message": {"content": None, "reasoning_content": "Well"},
                          "finish_reason": "length"}]}  # fmt: skip
    forms: dict[str, dict[str, Any]] = {
        "batch": {
            "custom_id": "r-0",
            "response": {"status_code": 200, "body": reply},
            "error": None,
        },
        "chat": {"idx": 0, "response": reply},
    }
    for name, row in forms.items():
        result = score(jsonl(tmp_path / f"{name}.jsonl", [row]), "--json", "-d", "sample")
        figures = result.json()["runs"][0]["scorers"][SCORER]
        assert (figures["no_answer"], figures["error"]) == (1, 0), name
        assert result.json()["runs"][0]["forms"]["truncated"] == 1, name


@pytest.mark.parametrize("row", [
    {"index": 0, "prompt": "p", "outputs": [{"text": "So it", "finish_reason": "length"}]},
    {"index": 0, "text": "So it", "meta_info": {"finish_reason": {"type": "length"}}},
    {"id": 0, "generated_text": "So it", "details": {"finish_reason": "length"}},
], ids=["vLLM", "SGLang", "TGI"])  # fmt: skip
def test_finish_reasons_of_engines(score: Score, tmp_path: Path, row: dict[str, Any]) -> None:
    result = score(jsonl(tmp_path / "a.jsonl", [row]), "--json", "-d", "sample")
    assert result.json()["runs"][0]["forms"]["truncated"] == 1


def test_explain_leaves_out_what_score_leaves_out(gradeschool: Command, tmp_path: Path) -> None:
    table = rows(lambda problem: {"id": problem.id, "output": text(problem)})
    table[0]["output"] = None
    path = jsonl(tmp_path / "a.jsonl", table)
    ended = gradeschool("explain", path, "-d", "sample", "--scorer", SCORER, "--json").json()
    assert (ended["completions"], ended["correct"], ended["error"]) == (12, 9, 1)


def test_a_gemini_batch_is_read(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {"key": f"request-{problem.id}", "response": {"candidates": [
        {"content": {"parts": [{"text": "So: "}, {"text": text(problem)}], "role": "model"},
         "finishReason": "MAX_TOKENS"}]}})  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)
    assert result.json()["runs"][0]["forms"]["truncated"] == 12


def test_a_file_that_was_written_twice_is_noted(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {"id": problem.id, "output": text(problem)})
    result = score(jsonl(tmp_path / "a.jsonl", table * 2), "--json", "-d", "sample")
    assert counts(result) == (20, 24)
    assert "stands 2 times, with the same text" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(("start", "message"), [
    (b"\x28\xb5\x2f\xfd..", "zstd"), (b"BZh9", "bzip2"), (b"PK\x03\x04", "zip"),
    (b"\x80\x04\x95", "pickle"), (b"PAR1", "Parquet"), (b"\xff\xfe{\x00", "UTF-16"),
])  # fmt: skip
def test_a_file_of_another_kind_is_named(
    score: Score, tmp_path: Path, start: bytes, message: str
) -> None:
    (tmp_path / "a.jsonl").write_bytes(start)
    result = score(tmp_path / "a.jsonl", "-d", "sample")
    assert result.status == 2
    assert message in result.err
    assert result.err.count("\n") == 1


def test_own_golds_need_no_dataset(score: Score, tmp_path: Path) -> None:
    """Problems that no dataset knows are scored against the golds of the file, which is said."""
    table: Rows = [
        {"question": f"What is {n} plus {n}, in the units of our own lab?",
         "output": f"#### {2 * n}", "gold": 2 * n} for n in range(20)
    ]  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json")
    assert (result.status, *counts(result)) == (0, 20, 20)
    assert "is scored against its own golds" in result.err


def test_a_chosen_dataset_is_not_replaced_by_golds(score: Score, tmp_path: Path) -> None:
    """Golds that contradict a dataset given by -d are refused with an example."""
    table: Rows = [{"id": n, "output": f"#### {n}", "gold": n + 10_000} for n in range(20)]
    result = score(jsonl(tmp_path / "a.jsonl", table), "-d", "sample")
    assert result.status == 2
    assert "leave out -d to score against the file's own golds" in result.err


def test_a_gold_that_differs_is_said(score: Score, tmp_path: Path) -> None:
    """The dataset's gold counts; the file's other gold is mentioned once."""
    table = rows(lambda problem: {"question": problem.question, "output": text(problem),
                                  "gold": "5" if problem.id == "4" else problem.gold})  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert counts(result) == (10, 12)
    assert "differ from those of 'sample' in 1 of 12 rows (row 5: 5, not" in result.err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("question", "is not ROLE=COLUMN"),
        ("queston=A", "is not a role; use response"),
        ("question=", "is not ROLE=COLUMN"),
        ("question=Nowhere", "names 'Nowhere', but the columns are 'Question'"),
    ],
)
def test_a_hint_that_is_wrong(score: Score, tmp_path: Path, columns: str, message: str) -> None:
    """One sentence, exit 2."""
    result = score(survey(tmp_path), "-d", "sample", "--columns", columns)
    assert result.status == 2
    assert message in result.err
    assert result.err.count("\n") == 1


def test_columns_are_parsed() -> None:
    """Several options are one; the words of rows are aliases of the roles."""
    assert parse_columns("question=a b , completion=c,index=d") == {
        "question": "a b", "response": "c", "id": "d"}  # fmt: skip
    with pytest.raises(InputError):
        parse_columns("")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        (18, ["18"]),
        (1.5, ["1.5"]),
        (float("nan"), None),
        (True, None),
        ([{"role": "user", "content": "a"}], None),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], ["b"]),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["ab"]),
        ({"choices": [{"text": "a"}, {"text": "b"}]}, ["a", "b"]),
        ([{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], ["a"]),
        ([["a", "b"]], ["a", "b"]),
        ([], None),
        (None, None),
        ([{"text": "a"}, None], None),
        ({}, None),
    ],
)
def test_texts_of_a_value(value: object, expected: list[str] | None) -> None:
    """Texts, numbers, messages, parts and choices; None where there is no text."""
    assert texts_of(value) == expected


def test_question_of_messages() -> None:
    """The last message of the user."""
    turns = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert question_of(turns) == "b"
    assert question_of(" ") is None
    assert question_of([]) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1], [1]),
        ({"results": {"a": 1}}, None),
        ({}, None),
        ("text", None),
        ({"rows": [{"a": 1}], "few": [{}] * 0}, [{"a": 1}]),
        ({"1": {"a": 2}}, [{"index": "1", "a": 2}]),
        ({"columns": ["a"], "data": [[1], [2, 3], []]}, [{"a": 1}, {"a": 2}, {}]),
    ],
)
def test_rows_in_a_value(value: object, expected: Sequence[object] | None) -> None:
    """Arrays, objects by number, tables; None for an object without rows."""
    assert rows_in(value) == expected


@pytest.mark.parametrize(
    ("write", "limit", "says"),
    [(deepeval, "LARGEST_WHOLE", "one JSON value of more than 0 MiB; write one object a line"),
     (excel, "LARGEST_SHEET", "bytes once unpacked; save it as CSV")],
    ids=["json", "excel"],
)  # fmt: skip
def test_a_file_too_large_to_be_read_whole_says_what_to_do(
    write: Callable[[Path], Path], limit: str, says: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(tables, limit, 10)
    with pytest.raises(InputError) as caught:
        read_samples(write(tmp_path))
    assert says in str(caught.value)
    assert "cannot be read" not in str(caught.value)


@pytest.mark.parametrize("text_column", ["completion", "generation"])
@pytest.mark.parametrize(
    ("first", "second"), [("a", "b"), (0, 1), ({"name": "a"}, {"name": "b"}), ("", "b"), (None, 1)]
)
def test_runs_have_any_kind_of_name(
    score: Score, tmp_path: Path, text_column: str, first: object, second: object
) -> None:
    table: Rows = [
        {"id": problem.id, "model": model, text_column: text}
        for model, is_right in ((first, True), (second, False))
        for problem in PROBLEMS
        for text in [problem.solution if is_right else "98765"]
    ]
    runs = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample").json()["runs"]
    assert [(run["n"], run["scorers"][SCORER]["correct"]) for run in runs] == [(12, 12), (12, 0)]


def test_an_empty_run_does_not_hide_the_model(score: Score, tmp_path: Path) -> None:
    table: Rows = [
        {"id": problem.id, "completion": "1", "run": "", "model": model}
        for model in ("a", "b") for problem in PROBLEMS
    ]  # fmt: skip
    runs = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample").json()["runs"]
    assert [run["run"] for run in runs] == ["a", "b"]


def test_lists_of_several_models_are_runs(score: Score, tmp_path: Path) -> None:
    lists = {
        model: rows(lambda problem: {"id": problem.id, "completion": text(problem)})
        for model in ("gpt", "llama")
    }
    runs = score(dumped(tmp_path / "a.json", lists), "--json", "-d", "sample").json()["runs"]
    assert [(run["run"], run["n"]) for run in runs] == [("gpt", 12), ("llama", 12)]


@pytest.mark.parametrize("text_column", ["completion", "generation"])
@pytest.mark.parametrize("column", ["error", "error_message", "exception"])
@pytest.mark.parametrize("success", [{}, {"x": 1}, None])
def test_failures_after_many_successes_are_errors(
    score: Score, tmp_path: Path, text_column: str, column: str, success: object
) -> None:
    """The first rows have the column with null, or do not have it."""
    table: Rows = [
        {"id": problem.id, "sample": sample, text_column: text(problem)}
        | ({column: None} if success is None else {})
        for sample in range(2) for problem in PROBLEMS
    ]  # fmt: skip
    table += [
        {"id": problem.id, "sample": 2, text_column: "", column: "429: too many requests"}
        for problem in PROBLEMS
    ]
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    [run] = result.json()["runs"]
    assert (run["n"], run["scorers"][SCORER]["error"]) == (36, 12)
    assert run["scorers"][SCORER]["correct"] == 20


def test_a_promptfoo_assertion_is_no_failure(score: Score, tmp_path: Path) -> None:
    """promptfoo writes why an answer is wrong into `error` (src/evaluator.ts)."""
    results = [
        {"provider": {"id": provider}, "vars": {"question": problem.question},
         "response": {"output": problem.solution if provider == "a" else "98765"},
         "failureReason": 0 if provider == "a" else 1,
         **({} if provider == "a" else {"error": "Expected output to contain the answer"})}
        for provider in ("a", "b") for problem in PROBLEMS
    ]  # fmt: skip
    results[0] |= {"failureReason": 2, "error": "timeout", "response": {}}
    file = dumped(tmp_path / "a.json", {"results": {"results": results}})
    result = score(file, "--json", "-d", "sample")
    scores = {run["run"]: run["scorers"][SCORER] for run in result.json()["runs"]}
    assert [scores["a"][name] for name in ("correct", "wrong", "error")] == [11, 0, 1]
    assert [scores["b"][name] for name in ("correct", "wrong", "error")] == [0, 12, 0]


def test_a_response_may_begin_with_its_reasoning(score: Score, tmp_path: Path) -> None:
    """Items of OpenAI's Responses API: https://platform.openai.com/docs/api-reference/responses."""
    table = rows(lambda problem: {"question": problem.question, "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": text(problem)}]},
    ]})  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)


def test_thoughts_are_not_the_reply() -> None:
    parts = [{"text": "#### 999", "thought": True}, {"text": "#### 18"}]
    assert texts_of({"content": {"parts": parts}}) == ["#### 18"]


@pytest.mark.parametrize(
    ("solution", "other"), [("output", "prediction"), ("response", "generation")]
)
def test_solutions_beside_the_model_s_texts_are_refused(
    score: Score, tmp_path: Path, solution: str, other: str
) -> None:
    table = rows(lambda problem: {
        "instruction": problem.question, solution: problem.solution, other: text(problem),
    })  # fmt: skip
    path = jsonl(tmp_path / "a.jsonl", table)
    assert "are the reference solutions of" in score(path, "-d", "sample").err
    named = score(path, "-d", "sample", "--json", "--columns", f"response={other}")
    assert (named.status, *counts(named)) == (0, 10, 12)


def test_golds_beside_texts_of_an_unknown_name_are_refused(score: Score, tmp_path: Path) -> None:
    """A model that answers with the bare number is scored where the user names the column."""
    table = rows(lambda problem: {
        "question": problem.question, "answer": problem.gold, "my_notes": text(problem),
    })  # fmt: skip
    path = jsonl(tmp_path / "a.jsonl", table)
    refused = score(path, "-d", "sample")
    assert refused.status == 2
    assert "are the golds of 'sample'" in refused.err
    named = score(path, "-d", "sample", "--json", "--columns", "response=my_notes")
    assert (named.status, *counts(named)) == (0, 10, 12)
    named = score(path, "-d", "sample", "--json", "--columns", "response=answer")
    assert (named.status, *counts(named)) == (0, 12, 12)


def test_bare_answers_are_scored(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {"question": problem.question, "answer": problem.gold})
    table[0]["answer"] = "1"
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 11, 12)


@pytest.mark.parametrize("spell", [json.dumps, str])
@pytest.mark.parametrize("turns", [False, True])
def test_lists_in_the_cells_of_a_csv_file(
    score: Score, tmp_path: Path, spell: Callable[[Any], str], turns: bool
) -> None:
    """Several completions, or a conversation, as pandas writes them."""
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "messages" if turns else "completions"])
        for problem in PROBLEMS:
            texts = [text(problem), 'It\'s \n "one".']
            conversation = [
                {"role": "user", "content": problem.question},
                {"role": "assistant", "content": text(problem)},
            ]
            writer.writerow([problem.question, spell(conversation if turns else texts)])
    result = score(tmp_path / "a.csv", "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12 if turns else 24)


@pytest.mark.parametrize("cell", ["[" * 50_000, '["18", 7]', "['18'", '["a"][0]', "[{1: 2}, 'a']"])
def test_a_cell_that_is_no_list_is_a_text(tmp_path: Path, cell: str) -> None:
    quoted = cell.replace('"', '""')
    (tmp_path / "a.csv").write_text(f'id,completion\nsample-1,"{quoted}"\n', "utf-8")
    [sample] = read_samples(tmp_path / "a.csv")
    assert sample.text == cell


def test_sheets_with_one_header_are_runs(score: Score, tmp_path: Path) -> None:
    """A sheet for each model; a sheet with another table is left out."""
    book = pytest.importorskip("openpyxl").Workbook()
    for name in ("large", "small"):
        sheet = book.create_sheet(name)
        sheet.append(["question", "response"])
        for problem in PROBLEMS:
            right = problem.gold if name == "large" else "1"
            sheet.append([problem.question, f"The answer is {right}."])
    book.active.append(["model", "mean of three"])
    book.active.append(["large", 1])
    book.move_sheet("Sheet", 2)
    book.save(tmp_path / "a.xlsx")
    result = score(tmp_path / "a.xlsx", "--json", "-d", "sample")
    runs = {run["run"]: run["scorers"][SCORER]["correct"] for run in result.json()["runs"]}
    assert (result.status, runs) == (0, {"large": 12, "small": 0})


def test_own_golds_by_index_are_problems_of_their_own(score: Score, tmp_path: Path) -> None:
    table: Rows = [
        {
            "index": index,
            "sample": 0,
            "gold": 1000 + index,
            "completion": f"#### {1000 + index % 20}",
        }
        for index in range(40)
    ]
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    if result.status:  # `-d` names a dataset whose golds they are not
        result = score(jsonl(tmp_path / "a.jsonl", table), "--json")
    [run] = result.json()["runs"]
    assert (run["n"], run["scorers"][SCORER]["correct"]) == (40, 20)


def test_prompts_that_ask_other_problems_than_the_ids_are_used(
    score: Score, tmp_path: Path
) -> None:
    """Rows of a subset, numbered from 0."""
    table: Rows = [
        {"id": index, "prompt": f"Question: {problem.question}\nAnswer:", "output": problem.gold}
        for index, problem in enumerate(reversed(PROBLEMS))
    ]
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 12, 12)
    assert "the questions are used" in result.err


def test_labels_of_right_and_wrong_are_no_golds(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {
        "prompt": f"Question: {problem.question}\nAnswer:", "response": text(problem),
        "label": int(int(problem.id) not in WRONG),
    })  # fmt: skip
    result = score(jsonl(tmp_path / "a.jsonl", table), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)


def test_empty_cells_are_no_golds(score: Score, tmp_path: Path) -> None:
    table = rows(lambda problem: {"index": problem.id, "completion": text(problem), "gold": ""})
    result = score(separated(tmp_path / "a.csv", table, ","), "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 10, 12)


@pytest.mark.parametrize("blank", [5, 11, 40])
def test_a_blank_line_moves_no_row(score: Score, tmp_path: Path, blank: int) -> None:
    """Rows that name no problems are read in the order of the dataset."""
    problems = load_dataset("sample").problems
    lines = [json.dumps({"generated": problem.solution}) + "\n" for problem in problems]
    path = tmp_path / "a.jsonl"
    path.write_text("".join([*lines[:blank], "\n", *lines[blank:]]))
    result = score(path, "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, len(problems), len(problems))


def test_a_row_of_empty_cells_is_blank_but_an_empty_text_is_not(
    score: Score, tmp_path: Path
) -> None:
    problems = load_dataset("sample").problems
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["generated"])
        writer.writerows([["" if index == 20 else p.solution] for index, p in enumerate(problems)])
    result = score(path, "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, len(problems) - 1, len(problems))
    path.write_text(f"index,completion\n0,{problems[0].gold}\n,\n1,{problems[1].gold}\n")
    result = score(path, "--json", "-d", "sample")
    assert (result.status, *counts(result)) == (0, 2, 2)
