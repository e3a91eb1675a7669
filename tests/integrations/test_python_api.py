"""`gradeschool.evaluate`, `score`, `compare`, `report`, the notebook, the pytest plugin."""

import ast
import asyncio
import gc
import importlib
import inspect
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradeschool
from gradeschool import Scores
from gradeschool.errors import (
    DataError,
    GradeschoolError,
    InputError,
    ModelError,
    UnknownNameError,
)
from gradeschool.models.choose import SAMPLE_FILE
from gradeschool.scorer import DEFAULT_SCORER
from tests.support.files import jsonl

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
CHAT = "recorded/sample#handwritten/chat"
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
NOWHERE = "http://127.0.0.1:9/v1"


def test_a_named_model_is_evaluated_as_on_the_command_line() -> None:
    scores = gradeschool.evaluate(CHAT, dataset="sample")
    assert (len(scores), scores.correct) == (48, 43)
    assert "gradeschool/reader       43   89.58 %" in str(scores)
    assert "<td>89.58 %</td>" in scores._repr_html_()


OWN = """
def last_word(completion, gold):
    return completion.split()[-1]

def always(completion, gold):
    return True
"""


def test_own_scorers_are_the_same_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("own")
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    scores = gradeschool.evaluate(
        CHAT, dataset="sample", limit=9, output=run, scorers=[own.last_word, "gradeschool/reader"]
    )
    by_option = gradeschool.evaluate(
        CHAT, dataset="sample", limit=9, scorers=["own.py:last_word", "gradeschool/reader"]
    )
    assert scores.headline.scorer == "own.py:last_word"
    assert scores.run.scorers == by_option.run.scorers
    protocol = json.loads((run / "run.json").read_text())["protocol"]
    assert protocol["scorers"] == ["own.py:last_word", "gradeschool/reader"]
    assert protocol["digest"] == (
        gradeschool.get_protocol("zero-shot/chat")
        .with_changes(scorers=["own.py:last_word", "gradeschool/reader"])
        .digest()
    )
    again = gradeschool.score(run, scorer=own.last_word)
    assert (again.headline, len(again)) == (scores.headline, 9)
    assert gradeschool.score(run, scorer=again.scored.scorers.scorers[0]).headline == again.headline
    [difference] = gradeschool.compare(scores, run, scorer=own.always)
    assert difference.difference == 0
    page = gradeschool.report(tmp_path / "page.md", scores, run, scorer=[own.last_word]).read_text()
    assert "Scored by own.py" in page
    with pytest.raises(InputError, match="no run is given"):
        gradeschool.report(tmp_path / "none.md")


def test_options_of_evaluate_are_the_fields_of_a_job(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"system": "", "stop": ["Q:"], "top_p": 0.9}
    gradeschool.evaluate(CHAT, dataset="sample", output=tmp_path, random=4, **changes)
    manifest = json.loads((tmp_path / "run.json").read_text())
    assert (manifest["decoding"]["stop"], manifest["problems"]) == (["Q:"], 4)
    assert manifest["protocol"]["changes"] == changes
    with pytest.raises(UnknownNameError, match="no option of evaluate is called 'stops'"):
        gradeschool.evaluate(CHAT, dataset="sample", stops=["Q:"])


def test_a_run_that_is_not_kept_ends_with_its_result() -> None:
    scores = gradeschool.evaluate(CHAT, dataset="sample", limit=3)
    folder = scores.folder
    assert folder is not None
    assert (folder / "completions.jsonl").exists()
    del scores
    gc.collect()  # a result is part of a cycle
    assert not folder.exists()


def test_a_result_writes_reports(tmp_path: Path) -> None:
    evaluated = gradeschool.evaluate(CHAT, dataset="sample", limit=5)
    page = evaluated.report(tmp_path / "run.html").read_text(encoding="utf-8")
    assert "zero-shot/chat" in page
    assert "Prompt as sent" in page
    scored = gradeschool.score(["#### 18", "7"], [18, 8], "openai/2021")
    shown = scored.report(tmp_path / "texts.md").read_text(encoding="utf-8")
    assert "Scored by openai/2021" in shown
    with pytest.raises(InputError, match=r"run\.html' exists"):
        evaluated.report(tmp_path / "run.html")
    with pytest.raises(InputError, match=r"must end in \.html or \.md"):
        evaluated.report(tmp_path / "run.doc")


def test_an_async_function_is_a_model() -> None:
    running = 0
    most = 0

    async def model(messages: Any) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "#### 600"

    scores = gradeschool.evaluate(model, dataset="sample", limit=8)
    assert (len(scores), scores.correct, most > 1) == (8, 1, True)


def test_evaluating_in_a_coroutine_does_not_block_its_loop() -> None:
    async def both() -> tuple[gradeschool.Scores, int]:
        ticks = 0
        task = asyncio.create_task(gradeschool.evaluate_async(CHAT, dataset="sample"))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0)
        return task.result(), ticks

    scores, ticks = asyncio.run(both())
    assert (scores.correct, ticks > 1) == (43, True)


def test_samples_of_a_problem_and_files_are_scored() -> None:
    eight = gradeschool.Problem("b", "3 + 5?", "8", "#### 8")
    scores = gradeschool.score(["#### 18", "#### 7", "#### 8"], [18, eight, eight])
    assert [verdict.correct for verdict in scores.verdicts] == [True, False, True]
    assert scores.accuracy == 0.75  # the mean over two problems
    assert [sample.problem.id for sample in scores.scored.samples if sample.problem] == [
        "0",
        "b",
        "b",
    ]
    recorded = gradeschool.score(f"{SAMPLE_FILE}#handwritten/chat", dataset="sample")
    assert recorded.correct == 43
    with pytest.raises(InputError, match="#handwritten/chat"):
        gradeschool.score(SAMPLE_FILE, dataset="sample")


UNSUITABLE: Any = None  # what the types forbid
REFUSED: dict[str, Callable[[], object]] = {
    "the golds are None": lambda: gradeschool.score(["8"]),
    "the golds are '18'": lambda: gradeschool.score(["1", "8"], "18"),
    "the completions are '18'": lambda: gradeschool.score("18", ["1", "8"]),
    "1 texts but 0 golds": lambda: gradeschool.score(["a"], []),
    "no texts": lambda: gradeschool.score([], []),
    "text 0 is a NoneType": lambda: gradeschool.score([UNSUITABLE], ["1"]),
    "gold 0: the gold None is missing": lambda: gradeschool.score(["a"], [None]),
    "empty": lambda: gradeschool.score(["a"], [" "]),
    "no scorer is named": lambda: gradeschool.score(["a"], ["1"], []),
    "openai/2021": lambda: gradeschool.score(["a"], ["1"], "openai/2020"),
    "the gold 'abc' contains no number": lambda: gradeschool.judge("8", "abc"),
    "there is no gold": lambda: gradeschool.judge("8"),
    "the completion is a NoneType": lambda: gradeschool.judge(UNSUITABLE),
    "the model is a NoneType": lambda: gradeschool.evaluate(UNSUITABLE),
    "the model 'absent'": lambda: gradeschool.evaluate("absent", dataset="sample"),
    "no protocol is called 'absent'": lambda: gradeschool.evaluate(CHAT, "absent"),
    "no dataset is called 'absent'": lambda: gradeschool.evaluate(CHAT, dataset="absent"),
    "limit is 0": lambda: gradeschool.evaluate(CHAT, limit=0),
    "temperature is 3": lambda: gradeschool.evaluate(CHAT, temperature=3),
    "dataset is None": lambda: gradeschool.evaluate(CHAT, dataset=UNSUITABLE),
    "is the server running": lambda: gradeschool.evaluate(NOWHERE, dataset="sample"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(message: str) -> None:
    with pytest.raises(GradeschoolError, match=message) as caught:
        REFUSED[message]()
    assert isinstance(caught.value, ModelError if "server" in message else InputError)
    assert not isinstance(caught.value, DataError)
    assert len(str(caught.value)) < 400


@pytest.mark.slow
def test_the_notebook_runs_in_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells run in order, as a kernel runs them: awaited, in a loop, in one namespace."""
    pytest.importorskip("xllamacpp")
    monkeypatch.chdir(tmp_path)
    cells = [
        "".join(cell["source"])
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    shown = asyncio.run(results_of(cells))
    assert shown[0].startswith("<table><caption>40 completions")
    assert any("no answer" in text for text in shown[1:])
    assert (tmp_path / "report.html").stat().st_size > 50_000


async def results_of(cells: list[str]) -> list[str]:
    """Run cells; return what a notebook shows of the last expression of each."""
    namespace: dict[str, Any] = {}
    shown = []
    for cell in cells:
        tree = ast.parse(cell)
        if isinstance(last := tree.body[-1], ast.Expr):
            tree.body[-1] = ast.Assign([ast.Name("shown", ast.Store())], last.value)
        code = compile(ast.fix_missing_locations(tree), "cell", "exec", AWAIT)
        if inspect.iscoroutine(running := eval(code, namespace)):
            await running
        if "shown" in namespace:
            value = namespace.pop("shown")
            html = getattr(value, "_repr_html_", None)
            shown.append(html() if html else repr(value))
    return shown


def test_an_interrupted_evaluation_gives_no_scores(tmp_path: Path) -> None:
    calls = []

    def model(question: str) -> str:
        calls.append(question)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return "7"

    with pytest.raises(KeyboardInterrupt):
        gradeschool.evaluate(model, dataset="sample", connections=1, output=tmp_path / "run")
    rows = (tmp_path / "run" / "completions.jsonl").read_text().splitlines()
    assert 2 <= len(rows) == len(calls) < 48


def test_a_function_gets_the_text_of_a_completion_protocol() -> None:
    prompts: list[object] = []

    def model(prompt: object) -> str:
        prompts.append(prompt)
        return "#### 600"

    scores = gradeschool.evaluate(model, "gradeschool/few-shot-cot", "sample", limit=2)
    assert isinstance(scores, Scores)
    assert (len(scores), scores.correct) == (2, 1)
    assert all(isinstance(prompt, str) for prompt in prompts)


def test_what_the_function_raises_is_raised() -> None:
    def broken(messages: object) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        gradeschool.evaluate(broken, dataset="sample", limit=1)
    with pytest.raises(InputError, match=r"returned a int: '?3"):
        gradeschool.evaluate(lambda messages: 3, dataset="sample", limit=1)  # type: ignore[arg-type]


def test_an_own_protocol_object_is_evaluated_and_recorded(tmp_path: Path) -> None:
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol("zero-shot/chat").with_changes(system="Think.")
    seen: list[Any] = []

    def model(messages: Any) -> str:
        seen.append(messages)
        return "#### 1"

    gradeschool.evaluate(model, protocol, "sample", limit=2, output=tmp_path / "run")
    assert seen[0][0] == {"role": "system", "content": "Think."}
    fields = json.loads((tmp_path / "run" / "run.json").read_text())["protocol"]
    assert (fields["base"], fields["changes"]) == ("zero-shot/chat", {"system": "Think."})


TEXTS = ["so\n#### 18", "ANSWER: 711", "no idea"]

GOLDS = [18, "11", {"question": "?", "answer": "#### 1"}]


def test_score_counts_and_says_why() -> None:
    scores = gradeschool.score(TEXTS, GOLDS)
    assert (len(scores), scores.correct, scores.headline.no_answer) == (3, 1, 1)
    assert scores.accuracy == pytest.approx(1 / 3)
    assert scores.ci95[0] < 1 / 3 < scores.ci95[1]
    assert [index for index, _ in scores.misses()] == [1, 2]
    assert "'711' is not '11'" in scores.misses()[0][1].reason
    assert [verdict.scorer for verdict in scores.verdicts] == [DEFAULT_SCORER] * 3


def test_score_takes_several_scorers_and_equal_golds_are_different_problems() -> None:
    scores = gradeschool.score(
        ["#### 1", "1", "#### 1", "2"], ["1"] * 4, ["openai/2021", DEFAULT_SCORER]
    )
    assert [item.correct for item in scores.run.scorers] == [2, 3]
    alone = gradeschool.score(["#### 1", "1", "#### 1", "2"], ["1"] * 4)
    assert (
        alone.ci95
        == gradeschool.score(["#### 1", "1", "#### 1", "2"], [1, "1", "#### 1", 1.0]).ci95
    )


def test_a_result_prints_a_table_and_renders_in_a_notebook() -> None:
    scores = gradeschool.score(TEXTS, GOLDS, [DEFAULT_SCORER, "inspect/match-numeric@<=0.3.220"])
    head, *lines = str(scores).splitlines()
    assert head.split()[:3] == ["scorer", "correct", "accuracy"]
    assert [line.split()[1] for line in lines] == ["1", "2"]
    page = scores._repr_html_()
    assert page.count("<tr>") == 3
    assert "match-numeric@&lt;=0.3.220" in page


def test_misses_have_the_places_of_the_completions(tmp_path: Path) -> None:
    """A failed sample has no verdict."""
    answers = [{"completion": "", "error": "429"}, {"completion": "7"}, {"completion": "8"}]
    rows = [{"question": f"{index}?", "gold": 7, **row} for index, row in enumerate(answers)]
    scores = gradeschool.score(jsonl(tmp_path / "answers.jsonl", rows))
    assert [index for index, _ in scores.misses()] == [2]


def test_compare_takes_results_and_paths() -> None:
    golds = [str(number) for number in range(20)]
    texts = [f"#### {gold if int(gold) < 12 else 99}" for gold in golds]
    first, second = gradeschool.score(golds, golds), gradeschool.score(texts, golds)
    [comparison] = gradeschool.compare(first, second)
    assert comparison.n == 20
    assert comparison.difference == pytest.approx(-0.4)
    assert repr(comparison).startswith("<run 2 against run 1: -40.00 (")
    runs = (f"{SAMPLE_FILE}#handwritten/chat", f"{SAMPLE_FILE}#handwritten/cot")
    [comparison] = gradeschool.compare(*runs, dataset="sample")
    assert (comparison.n, comparison.run) == (48, "handwritten/cot")
    with pytest.raises(InputError, match="give another"):
        gradeschool.compare(first)


def test_assert_accuracy_returns_the_scores(assert_accuracy: Callable[..., Scores]) -> None:
    assert assert_accuracy(TEXTS, GOLDS, at_least=0.3).correct == 1


def test_assert_accuracy_fails_with_reasons(assert_accuracy: Callable[..., Scores]) -> None:
    with pytest.raises(
        pytest.fail.Exception, match=r"the accuracy is 33.33 %, not 50.00 %"
    ) as caught:
        assert_accuracy(TEXTS, GOLDS, at_least=0.5)
    assert "'711' is not '11'" in str(caught.value)
    with pytest.raises(pytest.fail.Exception, match=r"lower end of the interval is 6\.15 %"):
        assert_accuracy(TEXTS, GOLDS, at_least=0.3, confident=True)
    with pytest.raises(InputError, match="at_least is 90"):
        assert_accuracy(TEXTS, GOLDS, at_least=90)
