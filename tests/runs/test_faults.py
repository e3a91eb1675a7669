"""A hostile server against whole runs: what is answered is stored, what fails is said."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.faults import FaultyRun
from gradeschool.errors import InputError
from gradeschool.models import endpoint
from gradeschool.models.choose import find_server
from gradeschool.runs import send
from gradeschool.runs.send import FAILING_PROBLEMS, TRIES, TRIES_OF
from tests.support import fault_server as bad
from tests.support.command import Command, run_script
from tests.support.fault_server import (
    FAULTS,
    KEY,
    Behaviour,
    Effect,
    ReceivedRequest,
    evaluate_at,
    fault_server,
    write_sums,
)
from tests.support.files import stored_rows

PROBLEMS = 8
VICTIM = "What is 3 +"
SECONDS = 0.4  # that a request may take


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "FIRST_WAIT", 0.002)
    monkeypatch.setattr(endpoint, "LARGEST_REPLY", 2**16)


def named(*effects: Effect) -> list[str]:
    return [name for name, fault in FAULTS.items() if fault.effect in effects]


def patience(name: str) -> float:
    """Return how long a request may take: not long where that is what is tried."""
    return SECONDS if FAULTS[name].cause == "timeout" else 30.0


def test_the_documentation_names_every_fault_and_its_cause() -> None:
    text = (Path(__file__).parents[2] / "docs" / "runs.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    for name, fault in FAULTS.items():
        (row,) = [row for row in rows if name in row.split("|")[1].strip().split("; ")]
        assert fault.cause in row or fault.cause.startswith("http"), name


@pytest.mark.parametrize("name", named(Effect.RETRIED))
def test_a_fault_that_passes_costs_one_request_and_no_sample(name: str, tmp_path: Path) -> None:
    def choose(request: ReceivedRequest) -> Behaviour | None:
        failing = VICTIM in request.question and request.repeats == 0
        return FAULTS[name].behaviour if failing else bad.truth

    with fault_server(choose) as server:
        ended = evaluate_at(server.url, tmp_path / "run", seconds=patience(name))
    assert (ended.answered, ended.results["failed"], ended.fatal) == (PROBLEMS, 0, None)
    assert ended.score.scorers[0].accuracy == 1.0
    assert len(server.requests) == PROBLEMS + 1
    assert len(stored_rows(tmp_path / "run")) == PROBLEMS


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * name.startswith("HTTP 429"))
     for name in named(Effect.RETRIED, Effect.FAILED)],
)  # fmt: skip
def test_a_fault_that_lasts_fails_its_sample_alone(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    tries = TRIES_OF.get(fault.cause, TRIES) if fault.effect is Effect.RETRIED else 1

    def choose(request: ReceivedRequest) -> Behaviour:
        return fault.behaviour if VICTIM in request.question else bad.truth

    folder = tmp_path / "run"
    with fault_server(choose) as server:
        ended = evaluate_at(server.url, folder, seconds=patience(name))
    assert (ended.answered, ended.results["failed"], ended.fatal) == (PROBLEMS - 1, 1, None)
    assert ended.results["errors"] == {fault.cause: 1}
    assert ended.score.scorers[0].accuracy == 1.0  # of those that were answered
    assert sum(VICTIM in request.question for request in server.requests) == tries
    assert len(server.requests) == PROBLEMS - 1 + tries
    (error,) = [row["error"] for row in stored_rows(folder) if row["error"]]
    assert error.startswith(f"{fault.cause}: ")


@pytest.mark.parametrize("name", named(Effect.ANSWERED))
def test_every_answer_is_stored_for_its_own_problem(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with fault_server(lambda _: FAULTS[name].behaviour) as server:
        ended = evaluate_at(server.url, folder, problems=40, connections=2)
    assert (ended.answered, ended.results["failed"], ended.fatal) == (40, 0, None)
    stored = {row["problem_id"]: row["completion"] for row in stored_rows(folder)}
    assert stored == {str(n): f"The sum is {n}.\n#### {n}" for n in range(40)}
    assert len(stored_rows(folder)) == 40


@pytest.mark.parametrize("name", named(Effect.STOPPED))
def test_what_every_request_meets_stops_the_run_at_once(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    with fault_server(lambda request: fault.behaviour if request.number > 3 else None) as server:
        ended = evaluate_at(server.url, tmp_path / "run", problems=100, connections=1, key=KEY)
    assert ended.fatal is not None
    assert fault.cause in str(ended.fatal)
    assert KEY not in str(ended.fatal)
    assert (ended.answered, len(server.requests)) == (3, 4)


@pytest.mark.parametrize("behaviour", [bad.status(400), bad.status(500), bad.reset])
def test_a_server_that_fails_everything_is_given_up(behaviour: Behaviour, tmp_path: Path) -> None:
    with fault_server(lambda request: behaviour if request.number > 5 else None) as server:
        ended = evaluate_at(server.url, tmp_path / "run", problems=200)
    assert ended.fatal is not None
    assert "problems failed one after the other, the last: " in str(ended.fatal)
    assert ended.answered == 5
    assert FAILING_PROBLEMS <= ended.results["failed"] < FAILING_PROBLEMS + 4
    assert len(server.requests) < 200


@pytest.mark.slow
def test_a_storm_of_429_halves_the_pace_and_the_servers_wish_is_kept(tmp_path: Path) -> None:
    ends: list[float] = []
    early: list[ReceivedRequest] = []

    def choose(request: ReceivedRequest) -> Behaviour | None:
        if request.number == 17:
            ends.append(time.time() + 1.0)
        if request.number < 17 or (ends and time.time() > ends[0] + 0.2):
            return None
        if request.number > 17 + 16:
            early.append(request)
        return bad.status(429, Retry_After="1.3")

    with fault_server(choose, delay=0.01) as server:
        ended = evaluate_at(server.url, tmp_path / "run", problems=120, connections=16)
    assert ended.answered == 120
    assert not early  # all 16 were in flight together; none came back before its time
    assert len(server.requests) <= 120 + 16


def test_retries_of_a_run_have_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "LEAST_RETRIES", 3)
    flaky = {f"What is {n} + 0?" for n in range(10)}

    def choose(request: ReceivedRequest) -> Behaviour | None:
        return bad.status(500) if any(text in request.question for text in flaky) else None

    with fault_server(choose) as server:
        ended = evaluate_at(server.url, tmp_path / "run", problems=40)
    assert ended.results["failed"] == 10
    assert len(server.requests) == 40 + 3 + 20  # a try for each, and the budget: 3 + 40 / 2


LEAKS: Mapping[str, Behaviour] = {
    "in an error": bad.status(400, "your key is {authorization}"),
    "in a refusal": bad.status(401, "wrong key: {authorization}"),
    "in a redirect": bad.status(302, Location=f"http://x.example/{KEY}"),
    "in a passing error": bad.status(500, "{authorization}"),
    "in an answer": bad.good(f"#### 1 {KEY}"),
    "in html": bad.body(f"<html>{KEY}</html>".encode()),
}


@pytest.mark.parametrize("name", LEAKS)
def test_the_key_is_in_no_file_and_no_message_even_where_the_server_repeats_it(
    name: str, tmp_path: Path, gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems = write_sums(tmp_path / "problems.jsonl", 3)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with fault_server(lambda request: LEAKS[name]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = gradeschool(
            "eval", "-m", "openai/x", "-d", problems, "-o", tmp_path / "run", "--json"
        )
    assert server.requests[0].authorization == f"Bearer {KEY}"
    artefacts = [path.read_text() for path in (tmp_path / "run").iterdir()]
    assert (tmp_path / "run" / "results.json").exists()
    assert KEY not in "".join([result.out, result.err, *artefacts])


def test_https_where_a_server_speaks_http_is_a_clear_error(tmp_path: Path) -> None:
    """An http server behind an https address: no handshake, no retry storm, no traceback."""
    problems = write_sums(tmp_path / "problems.jsonl", 3)
    with fault_server() as server:
        url = server.url.replace("http://", "https://") + "/m"
        result = run_script("eval", "-m", url, "-d", problems, "-o", tmp_path / "run")
    assert result.status == 2
    assert f"does not speak TLS; did you mean {server.url}?" in result.err
    assert "accuracy" not in result.out
    assert "Traceback" not in result.err


def test_the_environments_proxy_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fault_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        ended = evaluate_at("http://192.0.2.7/v1", tmp_path / "run", problems=3)
        assert (ended.answered, len(proxy.requests)) == (3, 3)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with fault_server() as server:
            assert evaluate_at(server.url, tmp_path / "direct", problems=3).answered == 3
            assert (len(server.requests), len(proxy.requests)) == (3, 3)
    for unusable in ("socks5://192.0.2.8:1080", "http://[192.0.2.8", "http://192.0.2.8:99999"):
        monkeypatch.setenv("http_proxy", unusable)
        with pytest.raises(
            InputError, match=r"HTTP_PROXY .* is not a usable http:// or https:// URL"
        ):
            evaluate_at("http://192.0.2.7/v1", tmp_path / "other", problems=3)


def test_options_are_shown_and_headers_secret(tmp_path: Path, gradeschool: Command) -> None:
    problems, folder = write_sums(tmp_path / "problems.jsonl", 3), tmp_path / "run"
    options = ("--thinking", "off", "--reasoning-effort", "low", "--extra-body", '{"top_k": 20}',
               "--header", f"X-Key={KEY}", "--stop", "END", "--top-p", 0.9)  # fmt: skip
    with fault_server(lambda request: bad.good(f"#### 1 {KEY}")) as server:
        words = ("eval", "-m", f"{server.url}/m", "-d", problems, "-o", folder)
        ended = gradeschool(*words, *options)
        other = gradeschool(*words, "--thinking", "on")
    sent = server.requests[0].body
    assert sent["chat_template_kwargs"] == {
        "enable_thinking": False, "thinking": False, "reasoning_effort": "low",
    }  # fmt: skip
    assert (sent["top_k"], sent["stop"], sent["top_p"]) == (20, ["END"], 0.9)
    assert "thinking off, reasoning effort low" in ended.out
    artefacts = "".join(path.read_text() for path in folder.iterdir())
    assert KEY not in ended.out + ended.err + artefacts
    assert json.loads((folder / "run.json").read_text())["options"]["headers"] == ["X-Key"]
    assert (other.status, "contains another run" in other.err) == (2, True)


def test_each_server_gets_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADESCHOOL_API_KEY", f"a.example={KEY} b.example:81=sk-other-123")
    assert find_server("https://a.example/v1")[2] == KEY
    assert find_server("http://b.example:81/v1")[2] == "sk-other-123"
    assert find_server("http://c.example/v1")[2] == ""
    monkeypatch.setenv("GRADESCHOOL_API_KEY", "sk-one=for-all")
    assert find_server("http://c.example/v1")[2] == "sk-one=for-all"


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "2> >(exit)", "2>&- >&-"])
def test_a_run_without_stderr_goes_on_and_ends_right(redirection: str, tmp_path: Path) -> None:
    problems = write_sums(tmp_path / "problems.jsonl", 60)
    with fault_server() as server:
        words = [sys.executable, "-m", "gradeschool", "eval", "-m", f"{server.url}/m",
                 "-d", problems, "-o", tmp_path / "run"]  # fmt: skip
        line = " ".join(map(str, words))
        ended = subprocess.run(["bash", "-c", f"{line} {redirection}"], capture_output=True)
    assert ended.returncode == 0
    assert len(stored_rows(tmp_path / "run")) == 60
    assert json.loads((tmp_path / "run" / "results.json").read_text())["missing"] == 0


def test_empty_answers_are_said_with_what_mends_them(tmp_path: Path, gradeschool: Command) -> None:
    def choose(request: ReceivedRequest) -> Behaviour:
        response = bad.choices(request, "")
        response["choices"][0]["message"] |= {"content": None, "reasoning_content": "#### 1"}
        return bad.body(json.dumps(response).encode())

    problems, folder = write_sums(tmp_path / "problems.jsonl", 3), tmp_path / "run"
    with fault_server(choose) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", folder)
    assert "3 of 3 answers have no answer: all text is in the reasoning field" in ended.err
    assert "give --thinking off" in ended.err
    shown = gradeschool("why", folder, "--expected", 90).out
    assert "all text is in the reasoning field" in shown and "--thinking off" in shown


@pytest.mark.parametrize("seed", range(4))
def test_at_random_nothing_is_lost_mixed_up_or_asked_twice(seed: int, tmp_path: Path) -> None:
    """`python benchmarks/faults.py` does the same a thousand times."""
    faulty = FaultyRun(tmp_path / "run", seed, problems=12)
    faulty.play()
    assert not +faulty.wrong
