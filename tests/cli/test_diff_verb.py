"""Check `gradeschool diff` on run folders, sample files and logs of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.archives import DEFLATED, write_archive
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.differences import STRICT
from tests.support.report_page import rows


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run folder under lm-eval's prompt, of eight problems, one of them wrong."""
    problems = rows(tmp_path / "problems.jsonl", [
        {"question": f"How many are {i} and {i}?", "answer": f"so\n#### {2 * i}"}
        for i in range(8)])  # fmt: skip
    answers = rows(tmp_path / "said.jsonl", [
        {"index": i, "completion": f" so\n#### {2 * i + (i == 7)}", "model": "m"}
        for i in range(8)])  # fmt: skip
    ended = gradeschool("eval", "-m", f"recorded/{answers}", "-d", problems, "-p", "zero-shot/cot",
                       "-o", tmp_path / "run", "--quiet")  # fmt: skip
    assert ended.status == 0, ended.err
    return tmp_path / "run"


def prompts_of(run: Path) -> list[str]:
    return [f"Q: How many are {i} and {i}?\nA: Let's think step by step." for i in range(8)]


def test_our_run_and_samples_of_lm_eval(run: Path, gradeschool: Command, tmp_path: Path) -> None:
    """The same prompts but for one space; two texts differ, one of them for a stop string."""
    folder = tmp_path / "lm"
    folder.mkdir()
    texts = [f" so\n#### {2 * i + (i == 7)}" for i in range(8)]
    texts[1], texts[2] = texts[1] + "\nQ: 3?", "no"
    samples = [
        {
            "doc_id": i,
            "doc": {"question": f"How many are {i} and {i}?", "answer": f"so\n#### {2 * i}"},
            "target": f"so\n#### {2 * i}",
            "arguments": {"gen_args_0": {"arg_0": prompt + (" " if i == 2 else ""), "arg_1": {
                "until": ["Question:"], "do_sample": False, "max_gen_toks": 256}}},
            "resps": [[texts[i]]],
            "filter": name,
        }
        for name in ("strict-match", "flexible-extract")
        for i, prompt in enumerate(prompts_of(run))
    ]  # fmt: skip
    path = rows(folder / "samples_gsm8k_2026.jsonl", samples)
    (folder / "results_2026.json").write_text(json.dumps({
        "model_name": "m", "lm_eval_version": "0.4.13", "n-shot": {"gsm8k": 0},
        "config": {"model": "hf", "model_args": "pretrained=m,add_bos_token=True,dtype=float16"},
        "configs": {"gsm8k": {"dataset_path": "gsm8k", "test_split": "test", "repeats": 1}},
        "chat_template_sha": None, "versions": {"gsm8k": 3.0}}))  # fmt: skip
    delta = gradeschool("diff", run, path, "-d", tmp_path / "problems.jsonl", "--json").json()
    by_name = {entry["name"]: entry for entry in delta["fields"]}
    assert (by_name["prompt"]["explains"], by_name["prompt"]["of"]) == (1, 8)
    assert by_name["stop strings"]["b"] == ["Question:"]
    assert by_name["BOS token"] | {"words": ""} == {
        "name": "BOS token", "a": None, "b": "True", "state": "not recorded", "explains": 1,
        "of": 8, "words": ""}  # fmt: skip
    assert by_name["scorer"]["b"] == STRICT
    assert (by_name["precision"]["b"], by_name["engine"]["b"]) == (
        "float16",
        "hf add_bos_token=True dtype=float16",
    )
    assert delta["prompt_differences"][0]["b"] == " "
    assert delta["b"]["kind"] == "lm-eval samples"
    assert sum(entry["points"] for entry in delta["steps"]) == pytest.approx(delta["points"])
    assert {entry["name"]: entry["texts"] for entry in delta["steps"]}[
        "other texts, other prompts"
    ] == 1
    shown = gradeschool("diff", run, path, "-d", tmp_path / "problems.jsonl")
    assert "6 of 8 completions are identical" in shown.out
    assert "not recorded in A: engine, precision, chat template, BOS token" in shown.out


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_our_run_and_a_log_of_inspect(
    run: Path, gradeschool: Command, tmp_path: Path, name: str
) -> None:
    head = {
        "eval": {"model": "openai/m", "model_base_url": "http://h/v1", "task": "gsm8k",
                 "task_args": {"fewshot": 0}, "packages": {"inspect_ai": "0.3.260"},
                 "dataset": {"name": "gsm8k"}, "config": {"epochs": 1},
                 "scorers": [{"name": "match", "options": {"numeric": True}}]},
        "plan": {"config": {"temperature": 0.5, "max_tokens": 100}},
    }  # fmt: skip
    samples = [
        {
            "id": i, "epoch": 1, "input": f"How many are {i} and {i}?", "target": str(2 * i),
            "messages": [{"role": "system", "content": "Think."},
                         {"role": "user", "content": f"How many are {i} and {i}?"},
                         {"role": "assistant", "content": "x"}],
            "output": {"completion": f"It is {2 * i}.", "usage": {"input_tokens": 30},
                       "choices": [{"stop_reason": "stop"}]},
        }
        for i in range(8)
    ]  # fmt: skip
    if name.endswith(".json"):
        (tmp_path / name).write_text(json.dumps({**head, "samples": samples}))
    else:
        members = {"header.json": json.dumps(head).encode()}
        members |= {f"samples/{i}.json": json.dumps(entry).encode() for i, entry in
                    enumerate(samples)}  # fmt: skip
        write_archive(tmp_path / name, members, DEFLATED)
    delta = gradeschool("diff", run, tmp_path / name, "-d", tmp_path / "problems.jsonl", "--json")
    by_name = {entry["name"]: entry for entry in delta.json()["fields"]}
    assert by_name["scorer"]["b"] == "inspect/match-numeric@>=0.3.253"
    assert (by_name["system message"]["a"], by_name["system message"]["b"]) == ("none", "Think.")
    assert (by_name["temperature"]["a"], by_name["temperature"]["b"]) == (0.0, 0.5)
    assert by_name["prompt form"]["state"] == "differs"
    assert by_name["max tokens"]["b"] == 100
    assert delta.json()["points"] == pytest.approx(12.5)
    assert "temperature" in delta.json()["possible_causes"]


def test_a_prompt_counts_where_the_key_of_the_completion_proves_it(
    run: Path, gradeschool: Command
) -> None:
    """A manifest that tells of another decoding than the keys were made with proves no prompt."""
    whole = gradeschool("diff", run, run, "--json").json()
    assert whole["pairs"]["prompts_equal"] == 8
    manifest = json.loads((run / "run.json").read_text())
    manifest["decoding"]["max_tokens"] = 7
    (run / "run.json").write_text(json.dumps(manifest))
    assert gradeschool("diff", run, run, "--json").json()["pairs"]["prompts_equal"] == 0


def test_bad_input(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    other = rows(tmp_path / "o.jsonl", [{"index": 0, "completion": "5"}])
    problems = rows(tmp_path / "p.jsonl", [{"question": "another?", "answer": "5"}])
    nothing = gradeschool("diff", other, tmp_path / "absent.jsonl", "-d", problems)
    assert (nothing.status, "does not exist" in nothing.err) == (2, True)
    alone = gradeschool("diff", other, other.rename(tmp_path / "q.jsonl"), "-d", problems)
    assert alone.status == 2
    entry = rows(tmp_path / "one.jsonl", [{"index": 0, "completion": "5"}])
    three = rows(tmp_path / "three.jsonl", [
        {"index": 0, "run": name, "completion": "5"} for name in "xyz"])  # fmt: skip
    many = gradeschool("diff", entry, three, "-d", problems)
    assert (many.status, "these are 4" in many.err) == (2, True)
    scorer = gradeschool("diff", entry, entry, "-d", problems, "--scorer-a", "lm-eval/nothing")
    assert scorer.status == 2


@pytest.mark.official
def test_real_completions_of_one_model_under_two_prompts(data: Path, gradeschool: Command) -> None:
    """gpt-4o-mini read once and twice: no text is the same, the scorer moves nothing."""
    path = data / "completions" / "re2_rereading.jsonl"
    name = "gpt-4o-mini-2024-07-18"
    ended = gradeschool("diff", f"{path}#{name}|read1|cot", f"{path}#{name}|read2|cot", "--json")
    delta = ended.json()
    assert (delta["judged_pairs"], delta["pairs"]["equal_texts"]) == (1319, 0)
    assert delta["points"] == pytest.approx(100 * (delta["b"]["accuracy"] - delta["a"]["accuracy"]))
    assert delta["unexplained_points"] == pytest.approx(delta["points"])
    assert "temperature" in delta["unrecorded_settings"]
