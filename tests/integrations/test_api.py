"""`score`, `evaluate`, the pytest plugin, the rows of gsm8k-olmes and the verb `integrations`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import gradeschool as package
from gradeschool import Scores, load_dataset
from gradeschool.answers.numbers import normalize
from gradeschool.errors import InputError
from gradeschool.integrations import pytest_plugin
from gradeschool.integrations.callables import function_input
from gradeschool.integrations.lm_eval_tasks import filters
from gradeschool.integrations.verifiers import (
    exact_match,
    load_environment,
    reader,
    reply,
    rows,
    sampling,
)
from gradeschool.scorer import DEFAULT_SCORER
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

TEXTS = ["so\n#### 18", "ANSWER: 711", "no idea"]
GOLDS = [18, "11", {"question": "?", "answer": "#### 1"}]


# score


def test_score_counts_and_says_why() -> None:
    scores = package.score(TEXTS, GOLDS)
    assert (len(scores), scores.correct, scores.headline.no_answer) == (3, 1, 1)
    assert scores.accuracy == pytest.approx(1 / 3)
    assert scores.ci95[0] < 1 / 3 < scores.ci95[1]
    assert [index for index, _ in scores.misses()] == [1, 2]
    assert "'711' is not '11'" in scores.describe_misses()
    assert [verdict.scorer for verdict in scores.verdicts] == [DEFAULT_SCORER] * 3


def test_score_takes_several_scorers_and_equal_golds_are_different_problems() -> None:
    scores = package.score(
        ["#### 1", "1", "#### 1", "2"], ["1"] * 4, ["openai/2021", DEFAULT_SCORER]
    )
    assert [item.correct for item in scores.run.scorers] == [2, 3]
    alone = package.score(["#### 1", "1", "#### 1", "2"], ["1"] * 4)
    assert alone.ci95 == package.score(["#### 1", "1", "#### 1", "2"], [1, "1", "#### 1", 1.0]).ci95


def test_a_result_prints_a_table_and_renders_in_a_notebook() -> None:
    scores = package.score(TEXTS, GOLDS, [DEFAULT_SCORER, "inspect/match-numeric@<=0.3.220"])
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
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = package.score(path)
    assert [index for index, _ in scores.misses()] == [2]


def test_many_misses_are_counted_not_listed() -> None:
    shown = package.score(["x"] * 9, ["1"] * 9).describe_misses()
    assert shown.endswith("and 4 more")


def test_score_takes_the_question_of_a_row() -> None:
    row = {"question": "How many minutes does she need?", "answer": "#### 120"}
    text = "She needs 2 hours (120 minutes)."
    assert package.score([text], [row]).correct == 1
    assert package.score([{"completion": text, "gold": row}]).correct == 1
    assert package.score([text], ["120"]).correct == 0


@pytest.mark.parametrize(
    ("texts", "golds", "scorer", "said"),
    [
        (["a"], [], DEFAULT_SCORER, "1 texts but 0 golds"),
        ([], [], DEFAULT_SCORER, "no texts"),
        ([3], ["1"], DEFAULT_SCORER, "text 0 is a int: '?3"),
        (["a"], [None], DEFAULT_SCORER, "gold 0 is <class 'NoneType'>"),
        (["a"], [" "], DEFAULT_SCORER, "empty"),
        (["a"], ["1"], [], "no scorer"),
        (["a"], ["1"], "openai/2020", "openai/2021"),
    ],
)
def test_score_refuses_what_it_cannot_use(
    texts: list[str], golds: list[object], scorer: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        package.score(texts, golds, scorer)


# evaluate


def knows(golds: dict[str, str]) -> Callable[[object], str]:
    """A model that knows these answers and nothing else."""

    def model(prompt: object) -> str:
        text = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
        results = [gold for question, gold in golds.items() if question[:40] in text]
        return f"#### {results[0]}" if results else "I do not know."

    return model


@pytest.mark.parametrize("protocol", ["zero-shot/chat", "gradeschool/few-shot-cot"])
def test_evaluate_asks_a_function_under_a_protocol(protocol: str) -> None:
    problems = load_dataset("sample").problems[:6]
    model = knows({problem.question: problem.gold for problem in problems[:4]})
    scores = package.evaluate(model, protocol, "sample", limit=6)
    assert isinstance(scores, Scores)
    assert (len(scores), scores.correct) == (6, 4)
    assert [normalize(v.answer.value) for v in scores.verdicts[:4] if v.answer] == [
        normalize(problem.gold) for problem in problems[:4]
    ]


def test_an_object_with_an_async_call_is_a_model() -> None:
    class Model:
        async def __call__(self, messages: object) -> str:
            await asyncio.sleep(0)
            return "#### 600"

    assert package.evaluate(Model(), dataset="sample", limit=2).correct == 1


def test_evaluate_runs_where_a_loop_is_running() -> None:
    async def cell() -> Scores:
        return package.evaluate(lambda messages: "#### 1", dataset="sample", limit=2)

    assert len(asyncio.run(cell())) == 2


def test_a_kept_folder_is_not_asked_again(tmp_path: Path) -> None:
    calls: list[object] = []

    def model(messages: object) -> str:
        calls.append(messages)
        return "#### 1"

    for limit in (2, 3):
        package.evaluate(model, dataset="sample", limit=limit, output=tmp_path / "run")
    assert len(calls) == 3


def test_what_the_function_raises_is_raised() -> None:
    def broken(messages: object) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        package.evaluate(broken, dataset="sample", limit=1)
    with pytest.raises(InputError, match=r"returned a int: '?3"):
        package.evaluate(lambda messages: 3, dataset="sample", limit=1)  # type: ignore[arg-type]


@pytest.mark.usefixtures("data")
def test_a_prefix_is_the_last_message() -> None:
    protocol = package.get_protocol("olmes/gsm8k-tulu")
    shots = load_dataset(protocol.shots).problems
    prompt = next(iter(protocol.render(load_dataset("sample").problems[:1], shots)))
    messages = function_input(prompt)
    assert messages[-1] == {"role": "assistant", "content": "Answer:"}


# The pytest plugin


def test_assert_accuracy_returns_the_scores(assert_accuracy: Callable[..., Scores]) -> None:
    assert assert_accuracy(TEXTS, GOLDS, at_least=0.3).correct == 1


def test_assert_accuracy_fails_with_figures_and_reasons(
    assert_accuracy: Callable[..., Scores],
) -> None:
    with pytest.raises(
        pytest.fail.Exception, match=r"the accuracy is 33.33 %, not 50.00 %"
    ) as caught:
        assert_accuracy(TEXTS, GOLDS, at_least=0.5)
    assert "'711' is not '11'" in str(caught.value)
    with pytest.raises(pytest.fail.Exception, match=r"lower end of the interval is 6\.15 %"):
        assert_accuracy(TEXTS, GOLDS, at_least=0.3, confident=True)
    with pytest.raises(InputError, match="at_least is 90"):
        assert_accuracy(TEXTS, GOLDS, at_least=90)


# gsm8k-olmes


@pytest.mark.usefixtures("data")
def test_the_rows_of_gsm8k_olmes_are_our_prompts() -> None:
    first = rows("sample", system_prompt="Be brief.")[0]
    assert [turn["role"] for turn in first["prompt"]][:3] == ["system", "user", "assistant"]
    assert first["prompt"][-1] == {"role": "assistant", "content": "Answer:"}
    assert first["prompt"][1:] == rows("sample")[0]["prompt"]
    assert len(first["prompt"]) == 1 + 8 * 2 + 2


def test_its_decoding_is_that_of_olmes() -> None:
    assert sampling() == {
        "temperature": 0.0,
        "max_tokens": 512,
        "stop": ["Question:", "</s>", "<|im_end|>"],
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False},
    }


@pytest.mark.parametrize(
    ("said", "answer", "value"),
    [
        ("<think>maybe 7</think> So the answer is 18.", "18", 1.0),
        ("<think>18</think> no", "18", 0.0),
        ("1,250 in all", "1250", 1.0),
        ("it is 10", "-10", 1.0),
        ("18.00", "18", 0.0),
        ("", "18", 0.0),
    ],
)
def test_its_reward_is_the_last_number(said: str, answer: str, value: float) -> None:
    assert exact_match(said, answer) == value
    assert exact_match([{"role": "assistant", "content": said}], answer, state={}) == value


def test_no_reply_earns_nothing() -> None:
    assert (exact_match(None, "18"), reader(None, "18"), reply(None)) == (0.0, 0.0, "")


def test_verifiers_without_environments_names_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("verifiers", "datasets"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["verifiers"], "__version__", "0.4.0", raising=False)
    monkeypatch.setattr(sys.modules["datasets"], "Dataset", object, raising=False)
    with pytest.raises(InputError, match=r"0\.4\.0 .* pip install 'verifiers<0\.4'"):
        load_environment(dataset="sample")


def test_its_metric_beside_is_the_reader() -> None:
    assert (exact_match("18.00", "18"), reader("18.00", "18")) == (0.0, 1.0)
    assert reply("a</think>b</think> c ") == "c"


@pytest.mark.usefixtures("data")
def test_the_metric_reads_the_question_of_the_row() -> None:
    said, question = "So the answer is 1.5 hours (90 minutes).", "How many minutes does it take?"
    assert (reader(said, "90"), reader(said, "90", {"question": question})) == (0.0, 1.0)
    assert rows("sample")[0]["info"]["question"] in rows("sample")[0]["prompt"][-2]["content"]


# lm-eval's filters


def test_a_filter_gives_a_text_for_each_document() -> None:
    docs = [{"question": "?", "answer": f"so\n#### {gold}"} for gold in ("1,250", "11", "3")]
    resps = [["#### 1250.00", "ignored"], ["ANSWER: 711"], ["no idea"]]
    assert filters.reader(resps, docs) == ["1,250", "711", "[invalid]"]
    assert filters.numeric_equality(resps, docs) == ["1,250", "711", "[invalid]"]


@pytest.mark.parametrize(
    "answer", ["18", 18, "####18", "x = 18\n####18", "#### 18 ", "#### 18\n", "$18", "+18"]
)
def test_a_right_answer_is_the_gold_as_exact_match_compares_it(answer: object) -> None:
    (filtered,) = filters.reader([["#### 18.0"]], [{"answer": answer}])
    assert compared(filtered) == compared(str(answer))
    (wrong,) = filters.reader([["#### 19"]], [{"question": "?", "answer": answer}])
    assert compared(wrong) != compared(str(answer))


def compared(text: str) -> str:
    """What exact_match leaves of a text: `regexes_to_ignore` of the task."""
    for pattern in (",", r"\$", "(?s).*#### ", r"\.$"):
        text = re.sub(pattern, "", text)
    return text


@pytest.mark.parametrize("doc", [{"answer": "eighteen"}, {"answer": None}, {}, {"answer": "####"}])
def test_a_document_without_a_gold_is_invalid(doc: dict[str, object]) -> None:
    with pytest.warns(UserWarning, match="1 document scores 0: the gold"):
        assert filters.reader([["#### 18"]], [doc]) == ["[invalid]"]


def test_numeric_equality_reads_no_part_of_a_gold() -> None:
    with pytest.warns(UserWarning, match="the gold cannot be read: '1,8xx' is not a number"):
        assert filters.numeric_equality([["#### 18"]], [{"answer": "#### 1,8xx"}]) == ["[invalid]"]


# The verb


def test_integrations_prints_paths_that_are_there(gradeschool: Command) -> None:
    folder = Path(gradeschool("integrations", "lm-eval").out.strip())
    assert (folder / "gsm8k_gradeschool.yaml").is_file()
    assert Path(gradeschool("integrations", "openrlhf").out.strip()).is_file()
    assert "pkg://gradeschool.integrations.verl" in gradeschool("integrations").out


def test_an_unknown_tool_is_refused_with_those_that_are_close(
    gradeschool: Command,
) -> None:
    result = gradeschool("integrations", "lmeval")
    assert (result.status, "did you mean lm-eval?" in result.err) == (2, True)


def test_the_old_keyword_names_the_scorer() -> None:
    with pytest.warns(DeprecationWarning, match="rule= is now scorer="):
        scores = package.score(["#### 18"], [18], rule="openai/2021")
    assert [item.scorer for item in scores.run.scorers] == ["openai/2021"]
    with pytest.warns(DeprecationWarning):
        pytest_plugin.check(["#### 18"], [18], at_least=1, rule="openai/2021")
