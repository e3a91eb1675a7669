"""What a result measured, in words, in the terminal and on the page."""

import json
from pathlib import Path

import pytest

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.formats.run_folder import cut_by_server, manifest_of
from gradeschool.reports.measured import measured, truncation_advice
from gradeschool.scoring.score import Forms
from tests.support.command import Command
from tests.support.files import jsonl
from tests.support.report_page import blocks, report

CHAT = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--quiet")


@pytest.fixture
def changed_run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run with another limit than its protocol's, cut to 20 problems."""
    folder = tmp_path / "run"
    gradeschool.done("eval", *CHAT, "-n", 20, "--max-tokens", 60, "-o", folder)
    return folder


def test_settings_are_words(changed_run: Path) -> None:
    engine = {"engine": "llama.cpp", "version": "xllamacpp 1.2", "precision": "Q4_1"}
    settings = measured({**manifest_of(changed_run), "engine": engine})
    assert dict(settings) == {
        "model": "recorded/sample#handwritten/chat (llama.cpp, xllamacpp 1.2, weights Q4_1)",
        "protocol": "zero-shot/chat with max tokens 60",
        "dataset": "sample, the first 20 of 48 problems",
        "changed": "max tokens 60 (the protocol: 1024)",
    }
    assert measured({}) == []


def test_a_system_message_is_a_change(gradeschool: Command, tmp_path: Path) -> None:
    options = ("-n", 2, "--system", "Answer only", "--temperature", 0.3, "-o", tmp_path / "run")
    shown = gradeschool("eval", *CHAT, *options).out
    assert "changed  system 'Answer only', temperature 0.3 (the protocol: 0.0)" in shown


def test_chosen_problems_are_not_the_first() -> None:
    fields = {"dataset": {"name": "gsm8k:test"}, "problems": 2, "samples": 1,
              "dataset_problems": 1319}  # fmt: skip
    assert ("dataset", "gsm8k:test, the first 2 of 1,319 problems") in measured(fields)
    chosen = {**fields, "problem_ids": ["7", "1300"]}
    assert ("dataset", "gsm8k:test, 2 of 1,319 problems") in measured(chosen)


@pytest.mark.parametrize("verb", ["report", "export"])
def test_problems_of_the_file_itself(gradeschool: Command, tmp_path: Path, verb: str) -> None:
    """A file that brings its golds needs no dataset; page and export name its own problems."""
    rows = [
        {"question": f"What is {n} plus {n}, in the units of our own lab?",
         "response": f"It is {2 * n}.\n#### {2 * n}", "gold": 2 * n} for n in range(20)
    ]  # fmt: skip
    file = jsonl(tmp_path / "rows.jsonl", rows)
    if verb == "report":
        assert "<h1>rows on the file&#39;s own problems</h1>" in report(
            gradeschool, tmp_path / "page.html", file
        )
    else:
        gradeschool.done("export", file, "--to", "lm-eval", "-o", tmp_path / "out")
        (results,) = (tmp_path / "out").rglob("results_*.json")
        written = json.loads(results.read_text(encoding="utf-8"))
        assert written["n-samples"] == {
            "the_file_s_own_problems": {"original": 20, "effective": 20}
        }


def test_a_page_says_the_settings(gradeschool: Command, changed_run: Path, tmp_path: Path) -> None:
    page = report(gradeschool, tmp_path / "page.html", changed_run)
    title = "recorded-handwritten/chat on 48 problems written for this package, shipped with it"
    assert f"<h1>{title}</h1>" in page
    for words in (
        "<dd>sample, the first 20 of 48 problems</dd>",
        "<dd>zero-shot/chat with max tokens 60</dd>",
        '<dd class="changed">max tokens 60 (the protocol: 1024)</dd>',
        "<dt>Changed from the protocol</dt><dd>max tokens 60 (the protocol: 1024)</dd>",
    ):
        assert words in page
    shown = gradeschool("runs", "show", changed_run).out
    assert "changed            max tokens 60 (the protocol: 1024)" in shown


def test_the_page_has_each_prompt(gradeschool: Command, changed_run: Path, tmp_path: Path) -> None:
    data = blocks(report(gradeschool, tmp_path / "page.html", changed_run))
    problems = data["data"]["problems"]
    prompts = data["prompts-0"]
    assert len(prompts) == len(problems) == 20
    for (_, question, *_), [messages] in zip(problems, prompts, strict=True):
        assert messages[-1] == ["user", question]
        assert messages[0][0] == "system"


def test_no_unproven_prompt_shows(gradeschool: Command, changed_run: Path, tmp_path: Path) -> None:
    manifest = changed_run / "run.json"
    manifest.write_text(manifest.read_text().replace('"max_tokens": 60', '"max_tokens": 61'))
    data = blocks(report(gradeschool, tmp_path / "page.html", changed_run))
    assert data["data"]["prompted"] == [False]
    assert "prompts-0" not in data


ADVICE = {
    (1, 1000, 0, 0): "",
    (60, 1000, 542, 0): "54.2 % of the completions are truncated at 60 tokens, where the protocol "
    "allows 1,024: leave out --max-tokens 60.",
    (1024, 100, 20, 0): "20.0 % of the completions are truncated at 1,024 tokens: their answers "
    "may be missing. Give --max-tokens 2048 and see whether the score changes; report the changed "
    "limit with it.",
    (1024, 100, 20, 15): "20.0 % of the completions are truncated at 1,024 tokens, and 15.0 % ran "
    "on into a next question: the model did not stop after its answer. Use a chat protocol for a "
    "chat model, or one with stop strings.",
    (None, 100, 20, 0): "20.0 % of the completions are truncated: their answers may be missing. "
    "Raise the server's limit on tokens.",
}


@pytest.mark.parametrize(
    ("limit", "longest", "server"), [(1024, 12, True), (1024, 1020, False), (None, 12, False)]
)
def test_a_lower_limit_of_a_server_is_named(limit: int | None, longest: int, server: bool) -> None:
    manifest = {"protocol": {"name": "zero-shot/chat"}, "decoding": {"max_tokens": limit}}
    answers = [Completion("k", "p", 0, "so", Finish.LENGTH, Usage(None, longest))]
    advice = truncation_advice(manifest, Forms(100, 0, 20, 0, 0), cut_by_server(manifest, answers))
    assert (f"the longest after {longest} of" in advice) is server
    assert ("does not raise" in advice) is server


@pytest.mark.parametrize("case", ADVICE)
def test_truncation_comes_with_what_to_do(case: tuple[int | None, int, int, int]) -> None:
    limit, n, truncated, run_on = case
    manifest = {"protocol": {"name": "zero-shot/chat"}, "decoding": {"max_tokens": limit}}
    assert truncation_advice(manifest, Forms(n, 0, truncated, run_on, 0)) == ADVICE[case]
