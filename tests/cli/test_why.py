"""`gradeschool why`: what it says of a gap, suggests and refuses."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradeschool import Problem, evaluate, load_dataset
from tests.support.command import Command
from tests.support.files import jsonl

DATASET, EXPECTED = "fresh:5", 90.0
PROBLEMS = load_dataset(DATASET).problems[:200]
NEXT = "\n\nQuestion: A box has 3 pens and Ann buys 4 more boxes. How many pens?\nAnswer: 12"


def answers(fault: Callable[[str, bool, Problem], str] | None = None) -> Iterator[str]:
    """The answers of a model that is right in 9 of 10 problems, each with a fault."""
    luck = random.Random(7)
    for problem in PROBLEMS:
        right = luck.random() < 0.9
        value = problem.gold if right else str(int(problem.gold.replace(",", "")) + 17)
        working = problem.solution.rpartition("\n####")[0] if right else "We count the items."
        text = f"{working}\nThe answer is {value}."
        yield fault(text, right, problem) if fault else text


def file_of(path: Path, texts: Iterator[str], **columns: Any) -> Path:
    rows = [
        {"id": problem.id, "question": problem.question, "completion": text, **columns}
        for problem, text in zip(PROBLEMS, texts, strict=True)
    ]
    return jsonl(path, rows)


def run_of(
    folder: Path, texts: Iterator[str], protocol: str = "zero-shot/chat", **engine: str
) -> Path:
    """A run folder with these answers; engine: what its run.json says of the engine."""
    by_question = dict(zip((problem.question for problem in PROBLEMS), texts, strict=True))

    def model(prompt: Any) -> str:
        requested = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        return next(text for question, text in by_question.items() if question in requested)

    evaluate(model, protocol, DATASET, limit=len(PROBLEMS), name="m", output=folder)
    manifest = folder / "run.json"
    fields = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**fields, **({"engine": engine} if engine else {})}))
    return folder


def run_on(text: str, right: bool, problem: Problem) -> str:
    return text + NEXT


def worse(text: str, right: bool, problem: Problem) -> str:
    return text.replace(problem.gold, "3") if int(problem.id) % 4 == 0 else text


@pytest.mark.slow
def test_a_gap_within_chance_is_called_so(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "answers.jsonl", answers())
    sentence = gradeschool("why", path, "--expected", "92.5", "-d", DATASET)
    assert "which is within chance" in sentence.out
    fields = gradeschool("why", path, "--expected", "92.5", "-d", DATASET, "--json").json()
    assert fields["within_chance"] is True
    assert not any(cause["points"] for cause in fields["causes"])


@pytest.mark.parametrize(("expected", "named"), [("50", True), ("30", False), ("100", False)])
def test_a_scorer_that_gives_the_expected_figure_is_named(
    gradeschool: Command, tmp_path: Path, expected: str, named: bool
) -> None:
    """Half of the texts have the number behind "####"; the reader reads them all."""
    rows = [
        {"id": p.id, "question": p.question, "gold": p.gold,
         "completion": f"#### {p.gold}" if n % 2 else f"The answer is {p.gold}."}
        for n, p in enumerate(PROBLEMS[:40])
    ]  # fmt: skip
    path = jsonl(tmp_path / "a.jsonl", rows)
    shown = gradeschool("why", path, "--expected", expected).out
    assert ("openai/2021" in shown and "50.00 % on these texts" in shown) is named


def test_failures_and_unexplained_points_are_named(gradeschool: Command, tmp_path: Path) -> None:
    rows = [
        {"id": p.id, "question": p.question, "gold": p.gold, "completion": f"The answer is {gold}.",
         "finish": "length" if n < 3 else "stop", "error": "timeout" * (n >= 17)}
        for n, p in enumerate(PROBLEMS[:20])
        for gold in [p.gold if n >= 8 else "7771"]
    ]  # fmt: skip
    for row in rows[:3]:
        row["completion"] = "First I count the rows and then"
    for row in rows[17:]:
        row["completion"] = ""
    result = gradeschool("why", jsonl(tmp_path / "a.jsonl", rows), "--expected", "99")
    assert "up to" in result.out
    assert "unexplained, even if the causes above account for all that they can" in result.out
    assert "3 samples of 20 failed and are left out" in result.out


def test_suggested_commands_read_the_same_rows(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.jsonl", answers())
    other = file_of(tmp_path / "b.jsonl", answers(worse))
    asked = ("-d", DATASET, "--columns", "response=completion", "--scorer", "openai/2021")
    words = f"-d {DATASET} --columns response=completion"
    alone = gradeschool("why", path, "--expected", EXPECTED, *asked).out
    assert f"-> gradeschool explain {path} {words} --scorer openai/2021" in alone
    scorer = "inspect/match-numeric@>=0.3.261"  # a shell would write a file
    beside = gradeschool("why", other, "--expected-run", path, *asked[:-1], scorer)
    assert f"-> gradeschool compare {path} {other} {words} --scorer '{scorer}'" in beside.out


def test_a_run_without_a_completion_is_refused(gradeschool: Command, tmp_path: Path) -> None:
    """There is no score to explain; 0.00 % would be wrong."""
    rows = [
        {"id": p.id, "question": p.question, "completion": "", "error": "boom"}
        for p in PROBLEMS[:5]
    ]
    failed = jsonl(tmp_path / "failed.jsonl", rows)
    good = file_of(tmp_path / "a.jsonl", answers())
    alone = gradeschool("why", failed, "--expected", "50", "-d", DATASET)
    assert (alone.status, alone.out) == (2, "")
    assert (
        "the run 'failed' contains no completion that 'gradeschool/reader' can judge" in alone.err
    )
    said = gradeschool.refused("why", failed, "--expected-run", good, "-d", DATASET)
    assert "the run 'failed' contains no completion" in said
    curve = gradeschool("runs", "curve", failed, "-d", DATASET)
    assert (curve.status, curve.out) == (2, "")
    assert "contains no completion" in curve.err


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run folder of eight problems, one of them wrong."""
    problems = jsonl(tmp_path / "problems.jsonl", [
        {"question": f"How many are {i} and {i}?", "answer": f"so\n#### {2 * i}"}
        for i in range(8)])  # fmt: skip
    answers = jsonl(tmp_path / "said.jsonl", [
        {"index": i, "completion": f" so\n#### {2 * i + (i == 7)}", "model": "m"}
        for i in range(8)])  # fmt: skip
    gradeschool.done("eval", "-m", f"recorded/{answers}", "-d", problems, "-p", "zero-shot/cot",
                        "-o", tmp_path / "run", "--quiet")  # fmt: skip
    return tmp_path / "run"


def beside(gradeschool: Command, run: Path, other: Path) -> dict[str, Any]:
    words = ("--expected-run", other, "-d", run.parent / "problems.jsonl", "--json")
    fields: dict[str, Any] = gradeschool("why", run, *words).json()
    points = sum(cause["points"] for cause in fields["causes"])
    assert points == pytest.approx(fields["missing_points"])
    return fields


def test_samples_of_lm_eval(run: Path, gradeschool: Command, tmp_path: Path) -> None:
    """The same prompts but for one space; two texts differ, one of them for a stop string."""
    prompts = [f"Q: How many are {i} and {i}?\nA: Let's think step by step." for i in range(8)]
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
        for i, prompt in enumerate(prompts)
    ]  # fmt: skip
    (tmp_path / "lm").mkdir()
    path = jsonl(tmp_path / "lm" / "samples_gsm8k_2026.jsonl", samples)
    (tmp_path / "lm" / "results_2026.json").write_text(json.dumps({
        "model_name": "m", "lm_eval_version": "0.4.13", "n-shot": {"gsm8k": 0},
        "config": {"model": "hf", "model_args": "pretrained=m,add_bos_token=True,dtype=float16"},
        "configs": {"gsm8k": {"dataset_path": "gsm8k", "test_split": "test", "repeats": 1}},
        "chat_template_sha": None, "versions": {"gsm8k": 3.0}}))  # fmt: skip
    fields = beside(gradeschool, run, path)
    settings = {each["name"]: (each["here"], each["there"]) for each in fields["settings"]}
    assert settings["stop strings"][1] == ["Question:"]
    assert settings["BOS token"] == (None, "True")
    assert settings["precision"] == (None, "float16")
    assert {cause["name"] for cause in fields["causes"]} == {"prompts"}
    notes = " ".join(fields["notes"])
    assert "6 of 8 completions are identical" in notes
    assert "prompts are equal for 7 of 8" in notes
    assert "the prompts of problem 2 differ after byte" in notes


def test_a_prompt_is_recorded_if_the_key_proves_it(run: Path, gradeschool: Command) -> None:
    """A run.json with another decoding than the keys were made with proves no prompt."""
    other = run.parent / "other"
    shutil.copytree(run, other)
    assert "prompts are equal for 8 of 8" in beside(gradeschool, run, other)["notes"]
    manifest = json.loads((other / "run.json").read_text())
    manifest["decoding"]["max_tokens"] = 7
    (other / "run.json").write_text(json.dumps(manifest))
    notes = beside(gradeschool, run, other)["notes"]
    assert "the prompts are not recorded on both sides" in notes


def cut(text: str, right: bool, problem: Problem) -> str:
    return text[: len(text) // 2] if int(problem.id) % 2 else text


def cut_at_one_length(text: str, right: bool, problem: Problem) -> str:
    return ("We add 3 and 4. " * 6)[:95] if int(problem.id) % 2 else text[-90:]


def template(text: str, right: bool, problem: Problem) -> str:
    return "<|im_end|>\n<|im_start|>assistant\nWhat can I do?" if int(problem.id) % 3 else text


def bare(text: str, right: bool, problem: Problem) -> str:
    return "41" if int(problem.id) % 2 else problem.gold


def empty(text: str, right: bool, problem: Problem) -> str:
    return "" if int(problem.id) % 2 else text


def first_cause(gradeschool: Command, *words: object) -> str:
    result = gradeschool.done("why", *words, "-d", DATASET, "--json")
    return str(result.json()["causes"][0]["name"])


# Fault of the texts -> options, and the cause that is to be named first.
FAULTS: dict[str, tuple[Callable[[str, bool, Problem], str] | None, list[str], str]] = {
    "run-on": (run_on, ["--scorer", "lm-eval/gsm8k/flexible-extract"], "run-on"),
    "truncation": (cut, [], "truncation"),
    "texts that end at one length": (cut_at_one_length, [], "truncation"),
    "template": (template, [], "chat template"),
    "extraction": (None, ["--scorer", "openai/2021"], "extraction"),
    "no working": (bare, [], "no working"),
    "empty": (empty, [], "empty completions"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_texts_is_named(gradeschool: Command, fault: str, tmp_path: Path) -> None:
    spoil, options, cause = FAULTS[fault]
    path = file_of(tmp_path / "answers.jsonl", answers(spoil))
    assert first_cause(gradeschool, path, "--expected", EXPECTED, *options) == cause


def test_a_limit_of_the_server_is_to_be_raised_there(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.setattr("gradeschool.formats.run_folder.cut_by_server", lambda *_: 12)
    path = file_of(tmp_path / "answers.jsonl", answers(cut))
    shown = gradeschool("why", path, "--expected", EXPECTED, "-d", DATASET).out
    assert "the server's own limit cut them, the longest after 12 tokens: raise it there" in shown
    assert "--max-tokens" not in shown


def test_other_precision_and_engine_are_named(gradeschool: Command, tmp_path: Path) -> None:
    good = run_of(tmp_path / "good", answers(), engine="llama.cpp", precision="F16")
    low = run_of(tmp_path / "low", answers(worse), engine="llama.cpp", precision="Q4_0")
    other = run_of(tmp_path / "other", answers(worse), engine="vLLM", precision="F16")
    assert first_cause(gradeschool, low, "--expected-run", good) == "precision"
    assert first_cause(gradeschool, other, "--expected-run", good) == "engine"
    alone = gradeschool("why", low, "--expected", EXPECTED, "--json").json()["causes"]
    assert "precision" in [cause["name"] for cause in alone]


def test_other_prompts_than_the_expected_are_named(gradeschool: Command, tmp_path: Path) -> None:
    good = run_of(tmp_path / "good", answers(), "gradeschool/few-shot-cot")
    chat = run_of(tmp_path / "chat", answers(worse), "zero-shot/chat")
    assert first_cause(gradeschool, chat, "--expected-run", good) == "prompts"


def test_equal_prompts_of_other_lengths_are_told(gradeschool: Command, tmp_path: Path) -> None:
    runs = [run_of(tmp_path / name, answers()) for name in ("here", "there")]
    for tokens, run in enumerate(runs, start=90):
        path = run / "completions.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        jsonl(path, [{**row, "prompt_tokens": tokens} for row in rows])
    notes = gradeschool("why", runs[0], "--expected-run", runs[1], "--json").json()["notes"]
    assert any("another number of tokens, such as +1 there" in note for note in notes), notes


def test_other_labels_than_expected_are_named(gradeschool: Command, tmp_path: Path) -> None:
    def with_golds(path: Path, spoiled: bool) -> Path:
        rows = [
            {"id": p.id, "question": p.question, "response": text,
             "gold": "1" if spoiled and int(p.id) % 4 == 0 else p.gold}
            for p, text in zip(PROBLEMS, answers(), strict=True)
        ]  # fmt: skip
        return jsonl(path, rows)

    good, bad = with_golds(tmp_path / "a.jsonl", False), with_golds(tmp_path / "b.jsonl", True)
    result = gradeschool.done("why", bad, "--expected-run", good, "--json")
    cause = result.json()["causes"][0]
    assert cause["name"] == "labels"
    assert cause["points"] == pytest.approx(100 * 47 / len(PROBLEMS))
    assert cause["evidence"].startswith("47 completions: ")


@pytest.mark.slow
def test_the_points_add_up(gradeschool: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "answers.jsonl", answers(run_on))
    options = ("-d", DATASET, "--scorer", "lm-eval/gsm8k/flexible-extract")
    fields = gradeschool("why", path, "--expected", EXPECTED, *options, "--json").json()
    reader = gradeschool("score", path, "-d", DATASET, "--scorer", "gradeschool/reader", "--json")
    there = reader.json()["runs"][0]["scorers"]["gradeschool/reader"]["accuracy"]
    (cause,) = [cause for cause in fields["causes"] if cause["name"] == "run-on"]
    assert cause["points"] == pytest.approx(100 * (there - fields["accuracy"]), abs=1.5)
    shown = gradeschool("why", path, "--expected", EXPECTED, *options).out
    assert f"{cause['points']:.1f}  run-on" in shown
    assert "-> evaluate with a protocol whose stop strings" in shown


def test_what_run_json_says_is_a_cause(gradeschool: Command, tmp_path: Path) -> None:
    """Other problems than the protocol's, another model, and a figure that is too high."""
    run = run_of(tmp_path / "run", answers())
    path = run / "run.json"
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "model": "asked at http://localhost:1/v1"}))
    rows = [json.loads(line) for line in (run / "completions.jsonl").read_text().splitlines()]
    jsonl(run / "completions.jsonl", [{**row, "model": "given"} for row in rows])
    causes = gradeschool("why", run, "--expected", 99, "--json").json()["causes"]
    said = {cause["name"]: cause["evidence"] for cause in causes}
    assert said["another model"].endswith("another model answered: 'given' (200 answers)")
    assert said["other problems"] == "the run is on fresh:5; a figure of gsm8k is of others"
    assert "points more than expected, which is not chance" in gradeschool(
        "why", run, "--expected", 40
    ).out.replace("\n", " ")
