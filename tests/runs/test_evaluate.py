"""`gradeschool eval`: its settings, a real llama.cpp server, kills, faults, bad input."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gradeschool as package
from gradeschool import Problem
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import DataError, InputError
from gradeschool.models.doctor import QUESTION
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.evaluate import interim_check, interim_sizes, is_narrow, outcome_of_reply
from gradeschool.runs.job import Job, prepare, request_key
from gradeschool.scorer import Outcome
from gradeschool.scoring.table import CORRECT, WRONG
from tests.support.command import Command
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    fault_server,
    forwarded,
    good,
    status,
    write_sums,
)
from tests.support.files import jsonl, stored_rows


@pytest.mark.parametrize("protocol", [
    pytest.param("lm-eval/gsm8k", marks=pytest.mark.slow),
    pytest.param("olmes/gsm8k-tulu", marks=pytest.mark.slow),
    "zero-shot/chat",
])  # fmt: skip
def test_every_protocol_runs_end_to_end_on_the_real_server(
    data: Path, llama_url: str, tmp_path: Path, protocol: str, gradeschool: Command
) -> None:
    folder = tmp_path / "run"
    with fault_server(lambda _: forwarded(llama_url)) as server:
        result = gradeschool(
            "eval", "-m", server.url, "-p", protocol, "-n", 3, "-o", folder, "--max-tokens", 40
        )
    assert result.status == 0, result.err
    assert len(stored_rows(folder)) == 3
    fields = json.loads((folder / "results.json").read_text())
    assert fields["n"] == 3
    assert fields["completion_tokens"] > 0
    # Not what is asked to learn what the server does with a prefix.
    sent = [each.body for each in server.requests if QUESTION not in json.dumps(each.body)]
    is_chat = "messages" in sent[0]
    begins = is_chat and sent[0]["messages"][-1]["role"] == "assistant"
    assert begins == (protocol == "olmes/gsm8k-tulu") == ("continue_final_message" in sent[0])
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["protocol"]["name"] == f"{protocol} with max tokens 40"
    assert manifest["decoding"]["max_tokens"] == 40
    listed = gradeschool("protocols", "prompts", protocol, "-n", 3)
    prompts = [json.loads(line) for line in listed.out.splitlines()]
    name = "messages" if is_chat else "prompt"
    assert sorted(json.dumps(body[name]) for body in sent) == sorted(
        json.dumps(prompt[name]) for prompt in prompts
    )


@pytest.mark.slow
def test_ctrl_c_stores_what_is_in_flight(llama_url: str, tmp_path: Path) -> None:
    problems, folder = write_sums(tmp_path / "problems.jsonl", 200), tmp_path / "run"
    with fault_server(lambda _: forwarded(llama_url), delay=0.05) as server:
        command = [sys.executable, "-m", "gradeschool", "eval", "-m", f"{server.url}/tiny", "-p",
                   "openai/2021", "-d", str(problems), "-o", str(folder), "--connections", "4",
                   "--max-tokens", "8"]  # fmt: skip
        first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while len(stored_rows(folder)) < 20:
            assert first.poll() is None
            time.sleep(0.005)
        first.send_signal(signal.SIGINT)
        _, printed = first.communicate(timeout=60)
        assert first.returncode == 130
        assert "run the same command again to request them" in printed
        assert "Traceback" not in printed
        answered = server.answered
        assert len(stored_rows(folder)) == answered < 200
        assert json.loads((folder / "results.json").read_text())["missing"] == 200 - answered
        second = subprocess.run(command, timeout=60)
    assert second.returncode == 0
    assert len(server.requests) == 200


def test_stopping_early_keeps_the_level_of_the_interval() -> None:
    draw, covered, runs, sizes = random.Random(5), 0, 400, interim_sizes(800)
    for _ in range(runs):
        outcomes: list[int] = []
        for size in sizes:
            outcomes += [
                CORRECT if draw.random() < 0.7 else WRONG for _ in range(size - len(outcomes))
            ]
            check = interim_check(14, sizes, size, [(str(n), it) for n, it in enumerate(outcomes)])
            if is_narrow(check):
                break
        low, high = check["interval"]
        covered += low <= 0.7 <= high
    assert covered >= 0.95 * runs


class Model:
    """A model that answers a share of the problems, and counts its calls."""

    def __init__(self, golds: dict[str, str]) -> None:
        self.golds, self.calls = golds, 0
        self.__name__ = "model"

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.calls += 1
        question = messages[-1]["content"]
        return f"#### {self.golds[question] if len(question) % 7 else 0}"


def run(model: Model, folder: Path, until: float) -> package.Scores:
    protocol = package.get_protocol("zero-shot/chat").with_changes(prompt="{question}")
    problems = ",".join(str(number) for number in range(1, 251))
    return package.evaluate(
        model, protocol, "fresh:7", until=until, output=folder, problems=problems
    )


@pytest.mark.slow
def test_a_run_stops_when_its_interval_is_narrow_and_resumes(tmp_path: Path) -> None:
    model = Model({each.question: each.gold for each in load_dataset("fresh:7").problems})
    first = run(model, tmp_path / "run", 24)
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (len(first), model.calls, manifest["problems"]) == (100, 100, 100)
    until = manifest["until"]
    assert (until["looks"], until["problems"], until["level"]) == ([100, 200, 250], 100, 0.983333)
    assert manifest["problem_ids"] != [str(number) for number in range(1, 101)]
    again = run(model, tmp_path / "run", 24)
    assert (again.headline, model.calls) == (first.headline, 100)
    narrower = run(model, tmp_path / "run", 16)
    assert (len(narrower), model.calls) == (200, 200)
    assert len(run(model, tmp_path / "run", 1)) == 250


def test_the_command_says_what_ended_the_run(gradeschool: Command, tmp_path: Path) -> None:
    words = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--until", 30, "--quiet")
    shown = gradeschool.done("eval", *words, "-o", tmp_path / "run")
    assert "--until 30: stopped after 48 of 48 problems in random order" in shown.out
    result = gradeschool("eval", *words, "-o", tmp_path / "run", "--json").json()
    assert result["runs"][0]["until"]["problems"] == 48
    gradeschool.done("runs", "verify", tmp_path / "run")
    with pytest.raises(InputError, match="--batch cannot be combined"):
        package.evaluate("openai/x", dataset="sample", until=3, batch=True)


TEXTS = ["The answer is 7.", "Ann has 3 pens and 4 pens", "I do not know.", "7 or 8, who can say"]
GOLD = "7"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("ANSWER: 7", Outcome.CORRECT),
        ("It ends with 1,200.\n**ANSWER: 7**\n", Outcome.CORRECT),
        ("ANSWER: 8", Outcome.WRONG),
        ("ANSWER: 7\nANSWER: NONE", Outcome.NO_ANSWER),
        ("7", Outcome.ERROR),
        ("ANSWER: seven", Outcome.ERROR),
        ("", Outcome.ERROR),
    ],
)
def test_the_line_that_was_asked_for_is_the_verdict(reply: str, outcome: Outcome) -> None:
    assert outcome_of_reply(reply, Problem.from_gold(GOLD)) is outcome


def wise(received: ReceivedRequest) -> Behaviour:
    """Answer as a judge would, by the response in the prompt."""
    return good("ANSWER: 7" if "pens" in received.question else "ANSWER: NONE")


def recorded(folder: Path, texts: list[str]) -> tuple[object, ...]:
    """The words that evaluate recorded texts, each of a problem of its own."""
    rows = [{"question": f"Q{row}?", "answer": GOLD} for row in range(len(texts))]
    answers = [{"question": f"Q{row}?", "completion": text} for row, text in enumerate(texts)]
    model = f"recorded/{jsonl(folder / 'texts.jsonl', answers)}"
    return "-m", model, "-d", jsonl(folder / "own.jsonl", rows), "-o", folder / "run"


def test_a_judge_reads_only_what_no_rule_reads(gradeschool: Command, tmp_path: Path) -> None:
    run, words = tmp_path / "run", recorded(tmp_path, TEXTS)
    with fault_server(lambda _: status(400)) as judge:
        asked = (*words, "--judge", f"{judge.url}/wise", "--quiet")
        failing = gradeschool("eval", *asked, "--json")
        failed = failing.json()["runs"][0]["judge"]
        assert failed["error"] == failed["asked"] == failed["failed"] == 3
        assert failing.status == 3
        judge.choose, judge.requests = wise, []
        result = gradeschool("eval", *asked, "--json").json()["runs"][0]
        assert result["judge"] == {
            "scorer": "judge/wise", "model": f"wise at {judge.url}", "of": 4, "asked": 3,
            "failed": 0, "correct": 1, "wrong": 0, "no_answer": 2, "error": 0,
        }  # fmt: skip
        prompts = [received.question.partition("RESPONSE\n") for received in judge.requests]
        assert sorted(TEXTS[1:]) == sorted(after.partition("\n\nEND")[0] for *_, after in prompts)
        assert all(GOLD not in before for before, *_ in prompts)
        plain = gradeschool("eval", *words, "--quiet", "--json").json()["runs"][0]
        assert plain["scorers"] == result["scorers"]
        shown = gradeschool("eval", *asked)
        assert "judge/wise was asked about 3 of 4 completions" in shown.out
        assert len(judge.requests) == 3
        planned = gradeschool("eval", *asked, "--dry-run", "--json").json()["judge"]
        assert (planned["requests"], planned["most_requests"]) == (3, 3)
    stored = (run / "judge-wise" / "completions.jsonl").read_text().splitlines()
    assert [bool(json.loads(line).get("error")) for line in stored] == [True] * 3 + [False] * 3
    gradeschool.done("runs", "verify", run)
    assert len(gradeschool("runs", "list", tmp_path, "--json").json()) == 1


def test_a_judges_replies_are_in_a_folder_of_its_name(gradeschool: Command, tmp_path: Path) -> None:
    """The folders of earlier runs are called so; under another name, all is paid for again."""
    words = recorded(tmp_path, ["Hm, pens."])
    with fault_server(wise) as judge:
        for _ in range(2):
            gradeschool.done("eval", *words, "--judge", f"{judge.url}/own/wise:7b", "--quiet")
    assert len(judge.requests) == 1
    assert (tmp_path / "run/judge-own-wise-7b/completions.jsonl").exists()


def test_own_thinking_marks_hide_an_answer(gradeschool: Command, tmp_path: Path) -> None:
    """What only thinking says is no answer: the judge is asked, and the estimate counts it."""
    texts = ["<plan>The answer is 7.</plan>Hm, pens.", "<plan>It is 8.</plan>The answer is 7."]
    (tmp_path / "prices.json").write_text('{"wise": [1000000, 1000000], "recorded-texts": [0, 0]}')
    marks = ("--thinking-marks", "<plan>,</plan>", "--quiet", "--json")
    words = (*recorded(tmp_path, texts), *marks)
    with fault_server(wise) as judge:
        asked = (*words, "--judge", f"{judge.url}/wise")
        counts = gradeschool("eval", *asked).json()["runs"][0]["judge"]
        assert (counts["asked"], counts["correct"], len(judge.requests)) == (1, 1, 1)
        planned = gradeschool.done("eval", *asked, "--dry-run", "--price", tmp_path / "prices.json")
        assert planned.json()["judge"]["requests"] == 1
        assert planned.json()["judge"]["cost"] > 0


def test_the_prompt_of_the_judge_is_a_protocol(gradeschool: Command) -> None:
    shown = gradeschool("protocols", "show", "gradeschool/judge").out
    assert "Which final answer does the response give" in shown
    with pytest.raises(package.GradeschoolError, match="--max-cost does not limit"):
        package.evaluate("tiny", dataset="sample", judge="tiny", max_cost=1.0, price="1/1")


RECORDED = "recorded/sample#handwritten/chat"


def job(**settings: object) -> Job:
    return Job(**{"model": RECORDED, "dataset": "sample", **settings})  # type: ignore[arg-type]


def test_changed_settings_are_in_the_folders_name(tmp_path: Path) -> None:
    def folder_of(**settings: object) -> str:
        chosen = job(**settings)
        return prepare(chosen).folder.as_posix()

    usual = "runs/sample-handwritten-chat_zero-shot-chat_sample"
    assert folder_of() == folder_of(calculator=False) == usual
    assert folder_of(max_tokens=60, seed=3) == f"{usual}_max-tokens-60_seed-3"
    problems = tmp_path / "my sums.jsonl"
    problems.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    assert folder_of(dataset=str(problems)) == usual.replace("_sample", "_my-sums")


@pytest.mark.usefixtures("data")
def test_the_protocols_own_dataset_is_not_in_the_folders_name() -> None:
    folder = prepare(job(dataset="")).folder.as_posix()
    assert folder == "runs/sample-handwritten-chat_zero-shot-chat"


def test_settings_that_are_not_given_are_the_protocols() -> None:
    name = "zero-shot/cot"
    usual = get_protocol(name).decoding
    assert prepare(job(protocol=name)).plan.decoding == usual
    changed = prepare(job(protocol=name, temperature=0.5, top_p=0.9, stop=(), seed=4)).plan.decoding
    assert changed == Decoding(0.5, 0.9, usual.max_tokens, (), 4)


def test_keys_differ_wherever_a_request_differs() -> None:
    base = ("model at x", Prompt(text="Q"), Decoding(), 0)
    others = [
        ("other at x", *base[1:]),
        (base[0], Prompt(text="Q "), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),)), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),), prefix=""), *base[2:]),
        (*base[:2], Decoding(temperature=0.7), 0),
        (*base[:2], Decoding(stop=("a", "b")), 0),
        (*base[:2], Decoding(stop=("ab",)), 0),
        (*base[:2], Decoding(seed=1), 0),
        (*base[:3], 1),
    ]
    keys = [request_key(*item) for item in (base, *others)]
    assert len(set(keys)) == len(keys)
    assert request_key(*base) == keys[0]


def test_problems_are_chosen_at_random_or_by_id(tmp_path: Path) -> None:
    def ids(**settings: object) -> list[str]:
        return [problem.id for problem in prepare(job(**settings)).plan.problems]

    whole = ids()
    sample = ids(random=20)
    assert sample == ids(random=20) and sample != whole[:20]
    assert len(sample) == 20 and set(sample) < set(whole)
    assert ids(random=10_000) == whole
    assert ids(problems="7,3") == ["3", "7"]
    (tmp_path / "ids").write_text("3\n7\n")
    assert ids(problems=str(tmp_path / "ids")) == ["3", "7"]
    for settings, message in (
        ({"problems": "3,zz"}, "has no problem 'zz' .* give ids of the dataset"),
        ({"limit": 3, "random": 3}, "give one of -n, --random and --problems"),
    ):
        with pytest.raises(InputError, match=message):
            ids(**settings)


def test_absent_examples_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def load(name: str) -> Dataset:
        if name == "gsm8k:train":
            raise DataError("cannot fetch it")
        return load_dataset(name)

    monkeypatch.setattr("gradeschool.runs.job.load_dataset", load)
    with pytest.raises(DataError, match="cannot fetch it; or give --shots 0, or --shots FILE"):
        prepare(job(protocol="lm-eval/gsm8k", output=tmp_path))
