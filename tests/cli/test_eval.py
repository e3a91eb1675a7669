"""`gradeschool eval`: several models and protocols, and what was measured."""

import asyncio
from pathlib import Path

import pytest

from gradeschool import evaluate
from gradeschool.cli.eval import report_end
from gradeschool.runs.evaluate import Session
from gradeschool.runs.evaluate import evaluate as evaluate_job
from gradeschool.runs.job import Job, prepare
from tests.support.command import Command
from tests.support.command import folder as folder  # a fixture
from tests.support.fault_server import Behaviour, ReceivedRequest, fault_server, status
from tests.support.files import jsonl

CHAT, COT = "recorded/sample#handwritten/chat", "recorded/sample#handwritten/cot"
SAMPLE = ("-d", "sample", "--quiet")


def test_every_model_runs_under_every_protocol(gradeschool: Command) -> None:
    grid = ("-m", CHAT, "-m", COT, "-m", CHAT, "-p", "zero-shot/chat", "-p", "openai/2021")
    result = gradeschool.done("eval", *grid, *SAMPLE, "--json")
    runs = result.json()["runs"]
    assert [(run["model"], run["protocol"], run["dataset"], run["n"]) for run in runs] == [
        (model, protocol, "sample", 48)
        for model in (CHAT, COT)
        for protocol in ("zero-shot/chat", "openai/2021")
    ]
    alone = gradeschool("eval", "-m", COT, *SAMPLE, "-o", "alone", "--json").json()["runs"][0]
    assert alone["scorers"] == runs[2]["scorers"]
    assert sorted(path.name for path in Path("runs").iterdir()) == [
        "sample-handwritten-chat_openai-2021_sample",
        "sample-handwritten-chat_zero-shot-chat_sample",
        "sample-handwritten-cot_openai-2021_sample",
        "sample-handwritten-cot_zero-shot-chat_sample",
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_leaderboard_is_readable_at_any_width(gradeschool: Command, columns: int) -> None:
    models = ("-m", CHAT, "-m", COT, "-m", "recorded/sample#handwritten/terse")
    shown = gradeschool("eval", *models, *SAMPLE, columns=columns).out
    table = shown.partition("\n\n")[2].partition("\n\n")[0]
    for style in ("chat", "cot", "terse"):
        assert f"recorded-handwritten/{style}" in table  # whole: no word is broken
    figures = table.replace("95 % interval", "").splitlines()
    accuracies = [float(word) for line in figures for word, unit in
                  zip(line.split(), line.split()[1:], strict=False) if unit == "%"]  # fmt: skip
    assert accuracies == sorted(accuracies, reverse=True)
    assert len(accuracies) == 3
    assert all(len(line) <= columns for line in table.splitlines())


def test_a_leaderboard_says_that_its_scorers_differ(gradeschool: Command) -> None:
    asked = ("eval", "-m", CHAT, "-m", COT, *SAMPLE, "-p", "zero-shot/chat")
    assert "The scorers differ" not in gradeschool(*asked).out
    shown = gradeschool(*asked, "-p", "openai/2021").out
    assert "The scorers differ (gradeschool/reader, openai/2021), and the same texts" in shown
    assert "under one scorer: gradeschool compare" in shown


def test_a_model_that_cannot_run_leaves_the_others_their_rows(gradeschool: Command) -> None:
    result = gradeschool("eval", "-m", "http://127.0.0.1:9/v1", "-m", CHAT, *SAMPLE, "--json")
    assert result.status == 2
    assert "is the server running?" in result.err
    assert [run["model"] for run in result.json()["runs"]] == [CHAT]


def test_every_job_is_checked_before_one_begins(gradeschool: Command, folder: Path) -> None:
    result = gradeschool("eval", "-m", CHAT, "-p", "zero-shot/chat", "-p", "absent", *SAMPLE)
    assert (result.status, result.out) == (2, "")
    assert "no protocol is called 'absent'" in result.err
    assert not list(folder.iterdir())


def test_two_models_never_share_a_folder(gradeschool: Command, folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "answers.jsonl").write_text('{"index": 0, "completion": "600"}\n')
    models = ("-m", "recorded/a/answers.jsonl", "-m", "recorded/b/answers.jsonl")
    said = gradeschool.refused("eval", *models, *SAMPLE)
    assert "would share the folder 'runs/answers_zero-shot-chat_sample'" in said
    assert not (folder / "runs").exists()


def test_overrides_are_told_and_have_a_folder_of_their_own(gradeschool: Command) -> None:
    changed = gradeschool("eval", "-m", CHAT, *SAMPLE, "--max-tokens", 60)
    assert "changed  max tokens 60 (the protocol: 1024)" in changed.out
    assert "protocol zero-shot/chat" in changed.out
    assert "dataset  sample, 48 problems" in changed.out
    assert Path("runs/sample-handwritten-chat_zero-shot-chat_sample_max-tokens-60").is_dir()
    plain = gradeschool("eval", "-m", CHAT, *SAMPLE)
    assert (plain.status, "changed" in plain.out) == (0, False)


def test_a_setting_that_the_server_refuses_ends_in_a_warning(
    gradeschool: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(request: ReceivedRequest) -> Behaviour | None:
        if "temperature" not in request.body:
            return None
        return status(400, "Unsupported value: 'temperature' does not support 0 with this model.")

    arguments = ("-d", "sample", "-n", 5, "-o", tmp_path / "run", "--connections", 1)
    with fault_server(refuses) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", *arguments)
        assert len(server.requests) == 6  # what was refused once is not sent again
        caplog.clear()
        evaluate(f"{server.url}/m", dataset="sample", limit=5)
    warning = "the server refuses temperature: 5 of 5 answers were drawn"
    assert ended.status == 0
    assert warning in ended.err
    assert [warning in record.message for record in caplog.records] == [True]


def test_samples_that_are_all_the_same_are_said(gradeschool: Command, tmp_path: Path) -> None:
    several = ("-d", "sample", "-n", 6, "-k", 3, "--temperature", 0.7, "-o", tmp_path / "run")
    with fault_server() as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", *several)
        shown = gradeschool("runs", "verify", tmp_path / "run")
    assert "the samples of 6 of 6 problems are the same text" in ended.err.replace("\n", " ")
    assert shown.status == 0


def test_an_interruption_tells_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def show(session: Session, note: str) -> None:
        if session.ended == 3 and not session.dispatcher.stopping.is_set():
            session.interrupt()

    with fault_server(lambda each: status(400) if each.number == 1 else None) as server:
        job = Job(f"{server.url}/m", dataset="sample", connections=1, output=tmp_path / "run")
        ended = asyncio.run(evaluate_job(prepare(job), show))
    assert report_end(ended) == 130
    said = " ".join(capsys.readouterr().err.split())
    assert "interrupted: 45 samples not asked yet, 1 failed (1 http 400); run the same" in said


def test_thinking_that_no_answer_shows_is_said(gradeschool: Command, tmp_path: Path) -> None:
    with fault_server() as server:
        run = ("-m", f"{server.url}/m", "-d", "sample", "-o", tmp_path / "run", "--thinking", "on")
        ended = gradeschool("eval", *run, "-n", 3)
        refused = gradeschool("eval", *run, "--random", 3)
    assert "none of 3 answers shows thinking" in ended.err.replace("\n", " ")
    assert "contains 3 other problems" in refused.err


def test_a_refused_request_needs_a_change_first(gradeschool: Command, tmp_path: Path) -> None:
    def refuses(request: ReceivedRequest) -> Behaviour | None:
        return status(400, "no") if "grapes" in str(request.body) else None

    rows = [{"question": f"How many {each}?", "answer": "5"} for each in ("grapes", "pears")]
    problems = jsonl(tmp_path / "p.jsonl", rows)
    with fault_server(refuses) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", tmp_path / "run")
    assert ended.status == 3
    assert "change what the server names, then run the command again" in ended.err


def test_a_scorer_that_fails_is_named_and_ends_with_3(gradeschool: Command, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("def f(text, problem):\n    assert problem.id != '0'\n    return True\n")
    asked = ("eval", "-m", CHAT, *SAMPLE, "-n", 4, "-o", tmp_path / "run", "--scorer", f"{own}:f")
    ended = gradeschool(*asked)
    assert ended.status == 3
    assert f"{own}:f fails on 1 completion; why: gradeschool explain" in ended.err
    listed = gradeschool("runs", "list", tmp_path / "run")
    assert "75.00 to 100.00 %" in " ".join(listed.out.split())


@pytest.mark.parametrize("smaller", [("-n", "4"), ("-n", "5", "-k", "1")])
def test_runs_do_not_shrink(gradeschool: Command, tmp_path: Path, smaller: tuple[str, ...]) -> None:
    with fault_server() as server:
        arguments = ("-m", f"{server.url}/m", "-d", "sample", "-o", tmp_path / "run",
                     "--temperature", "1")  # fmt: skip
        gradeschool.done("eval", *arguments, "-n", "5", "-k", "2")
        files = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}
        ended = gradeschool("eval", *arguments, *smaller)
    assert ended.status == 2
    assert "give -n 5 or more" in ended.err or "give -k 2 or more" in ended.err
    assert files == {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}


def test_a_configuration_gives_options_by_name(gradeschool: Command) -> None:
    Path("run.toml").write_text(
        f'model = ["{CHAT}", "{COT}"]\ndataset = "sample"\nlimit = 20\nmax_tokens = 9\n'
    )
    for words, numbers in (((), [20, 20]), (("-n", 5), [5, 5])):
        read = gradeschool("eval", "--config", "run.toml", *words, "--dry-run", "--json").json()
        assert [run["samples"] for run in read["runs"]] == numbers
        assert {run["most_completion_tokens"] for run in read["runs"]} == {9 * numbers[0]}
    assert (
        "cannot read 'absent.toml' as a TOML file"
        in gradeschool("eval", "--config", "absent.toml").err
    )


WRONG_CONFIGURATIONS = {
    'model = "tiny"\nmax-token = 3': "no option in 'run.toml' is called 'max-token'; did you mean",
    'model = "tiny"\nlimit = "many"': "'many' is not a valid integer",
    'model = "tiny"\nlimit = 0': "0 is not in the range",
    'model = "tiny"\nlimit = true': "limit in 'run.toml' is True; give a text or a number",
    'model = "tiny"\nbatch = "yes"': "batch in 'run.toml' is 'yes'; give true or false",
    'model = "tiny"\ndataset = ["a", "b"]': "dataset in 'run.toml' is ['a', 'b']",
    "model = ": "cannot read 'run.toml' as a TOML file",
    "": "--model",
}


@pytest.mark.parametrize("text", WRONG_CONFIGURATIONS)
def test_a_configuration_is_checked_too(gradeschool: Command, folder: Path, text: str) -> None:
    Path("run.toml").write_text(text)
    result = gradeschool("eval", "--config", "run.toml")
    assert (result.status, result.out) == (2, "")
    assert WRONG_CONFIGURATIONS[text] in " ".join(result.err.split())
    assert [path.name for path in folder.iterdir()] == ["run.toml"]
