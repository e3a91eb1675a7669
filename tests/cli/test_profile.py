"""`gradeschool profile -m`: the model is asked, the runs are stored, the profile is printed."""

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.fault_server import fault_server, status

SHORT = ("-m", "tiny", "-d", "fresh:1", "-d", "fresh:1:test-numbers", "-n", "4",
         "--max-tokens", "60", "--quiet")  # fmt: skip


@pytest.mark.slow
def test_a_model_is_asked_once_and_its_runs_are_ordinary_ones(
    gradeschool: Command, tmp_path: Path
) -> None:
    page = tmp_path / "profile.html"
    result = gradeschool("profile", *SHORT, "--runs-in", tmp_path / "runs", "-o", page, "--json")
    assert result.status == 0, result.err
    profile = result.json()
    assert profile["original"]["problems"] == 4
    [entry] = profile["sets"]
    assert entry["seed_problems"] == 0
    assert set(entry["loss"]) == {"arithmetic", "format", "reasoning"}
    lost = sum(part["share"] for part in entry["loss"].values())
    assert lost == pytest.approx(-entry["difference"])
    assert profile["verdict"][0] == (
        "The problems of fresh:1 are new: no model has memorised them."
    )
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>") and "fresh:1:test-numbers" in text
    assert profile["verdict"][0] in text and 'class="whisker"' in text
    folders = sorted((tmp_path / "runs").iterdir())
    stored = [(folder / "completions.jsonl").read_bytes() for folder in folders]
    again = gradeschool("profile", *SHORT, "--runs-in", tmp_path / "runs", "--json")
    assert again.json() == profile
    assert [(folder / "completions.jsonl").read_bytes() for folder in folders] == stored
    original, varied = sorted(folders, key=lambda folder: "numbers" in folder.name)
    from_runs = gradeschool("profile", original, varied, "--json")
    assert from_runs.json()["sets"][0]["difference"] == entry["difference"]
    assert gradeschool("runs", "verify", folders[0]).status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either the runs of a profile or -m MODEL"),
        (("a", "b", "-n", "3"), "--limit applies only with -m MODEL"),
        (("a", "b", "--quiet", "--batch"), "--batch applies only with -m MODEL"),
        (("a", "b", "-d", "gsm8k", "-d", "aime:2025"), "-d is given 2 times; runs have one"),
        (("-m", "tiny", "-d", "sample"), "only one set: 'sample'"),
        (("-m", "tiny", "-d", "gsm8k", "-d", "mgsm:xx"), "no dataset is called 'mgsm:xx'"),
        (("-m", "tiny", "-o", "x.doc"), "the page cannot be written as 'x.doc'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(
    arguments: tuple[str, ...], message: str, gradeschool: Command
) -> None:
    ended = gradeschool("profile", *arguments)
    assert ended.status == 2
    assert message in ended.err and "Traceback" not in ended.err


def test_a_run_that_stopped_has_no_profile(gradeschool: Command, tmp_path: Path) -> None:
    """The key expires in the second run; a sample of the first run has failed too."""
    sets = ("-d", "fresh:1:test:6", "-d", "fresh:1:test-numbers:6", "--connections", 1)
    faults = {2: status(400), **{number: status(401) for number in range(10, 40)}}
    page = tmp_path / "page.html"
    with fault_server(lambda received: faults.get(received.number)) as server:
        ended = gradeschool("profile", "-m", f"{server.url}/m", *sets, "--runs-in", tmp_path / "a",
                            "-o", page, "--quiet")  # fmt: skip
        assert (ended.status, ended.out) == (2, ""), ended.err
        faults.clear()
        paid = gradeschool("profile", "-m", f"{server.url}/m", *sets, "--runs-in", tmp_path / "b",
                           "--price", "0/1000000", "--max-cost", 20, "-o", page)  # fmt: skip
        assert (paid.status, paid.out) == (3, ""), paid.err
    assert not page.exists()
