"""Our scorers and tasks for inspect_ai, with a stand-in for the library."""

import asyncio
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gradeschool import all_scorers, get_protocol, load_dataset
from gradeschool.errors import InputError
from gradeschool.reports.export import inspect_scorer_name
from tests.support.files import jsonl
from tests.support.inspect_scores import ROWS
from tests.support.lent_modules import imported_anew, lend_inspect

MODULE = "gradeschool.integrations.for_inspect"


class Scorers(NamedTuple):
    """The module, and what it registers by name."""

    module: Any
    registered: dict[str, Callable[..., Any]]


@pytest.fixture
def scorers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scorers]:
    """The module, imported with inspect's names."""
    registered = lend_inspect(monkeypatch)
    with imported_anew(MODULE) as [module]:
        yield Scorers(module, registered)


def state(text: str, stop: str = "stop", **metadata: object) -> SimpleNamespace:
    """A sample that was answered."""
    output = SimpleNamespace(completion=text, stop_reason=stop)
    return SimpleNamespace(output=output, metadata=metadata, sample_id=7, input_text="How many?")


def score(scorer: Any, text: str, gold: str | list[str], stop: str = "stop") -> Any:
    target = [gold] if isinstance(gold, str) else gold  # as inspect's Target lists it
    return asyncio.run(scorer(state(text, stop), target))


@pytest.mark.parametrize(("name", "text", "gold", "stop", "value", "reason"), ROWS)
def test_scores_hold_the_value_and_the_cause_of_a_miss(
    scorers: Scorers,
    name: str,
    text: str,
    gold: str | list[str],
    stop: str,
    value: str,
    reason: str | None,
) -> None:
    scored = score(scorers.registered[name](), text, gold, stop)
    assert (str(scored.value), getattr(scored, "reason", None)) == (value, reason)


def test_a_score_says_what_was_extracted_and_where(scorers: Scorers) -> None:
    right = score(scorers.module.numeric_equality(), "It is 1,250.", "1250")
    assert right.answer == "1250"
    assert right.metadata == {"scorer": "numeric-equality", "outcome": "correct", "span": [6, 12]}
    wrong = score(scorers.module.numeric_equality(), "ANSWER: 711", "11")
    assert "'711' is not '11'" in wrong.explanation
    assert wrong.explanation.endswith("(wrong value)")
    nothing = score(scorers.module.numeric_equality(), "no idea.", "11")
    assert (nothing.answer, set(nothing.metadata)) == (None, {"scorer", "outcome"})


def test_the_best_of_several_targets_counts(scorers: Scorers) -> None:
    reader = scorers.registered["reader"]()
    assert score(reader, "#### 19", ["eleven", "18", "19"]).value == "C"
    assert score(reader, "#### 7", ["eleven", "18", "19"]).value == "I"
    assert score(reader, "no idea.", ["eleven", "18"]).value == "N"
    assert str(score(reader, "#### 19", []).value) == "nan"


def test_everything_that_is_registered_is_exported(scorers: Scorers) -> None:
    names = [inspect_scorer_name(name) for name in all_scorers()]
    assert len(set(names)) == len(names)
    assert not any("@" in name or "." in name for name in names)
    ours = {name.removeprefix("gradeschool/") for name in names}
    assert ours | {"numeric_equality", "gsm8k", "aime2025"} == set(scorers.registered)
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["inspect_ai"] == {"gradeschool": MODULE}
    exported = {name: getattr(scorers.module, name) for name in scorers.module.__all__}
    factories = [*exported.pop("SCORERS").values(), *exported.values()]
    assert set(map(id, factories)) == set(map(id, scorers.registered.values()))


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, imported with inspect's names; its scorers are known by their names."""
    lend_inspect(monkeypatch)
    with imported_anew(MODULE) as [module]:
        known = {name: (lambda name=name: name) for name in module.SCORERS}
        monkeypatch.setattr(module, "SCORERS", known)
        yield module


@pytest.fixture
def aime(tmp_path: Path) -> str:
    """A file as the benchmark's."""
    rows = [{"id": "1", "problem": "One?", "answer": 11}, {"id": "2", "problem": "?", "answer": 49}]
    return str(jsonl(tmp_path / "aime.jsonl", rows))


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", ["inspect/gsm8k", "olmes/gsm8k-tulu", "verifiers/gsm8k@<=0.3.0"])
def test_a_task_has_the_prompts_and_scorers_of_its_protocol(tasks: Any, name: str) -> None:
    protocol, problems = get_protocol(name), load_dataset("sample").problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    task = tasks.gsm8k(name, dataset="sample")
    prompts = [prompt.as_messages() for prompt in protocol.render(problems, shots)]
    assert [[dict(zip(("role", "content"), turn, strict=True)) for turn in sample.input]
            for sample in task.dataset] == prompts  # fmt: skip
    assert [(sample.id, sample.target) for sample in task.dataset] == [
        (problem.id, problem.gold) for problem in problems
    ]
    assert task.dataset[0].metadata == {
        "question": problems[0].question, "solution": problems[0].solution,
    }  # fmt: skip
    assert task.scorer == list(protocol.scorers)
    assert task.version == task.metadata["protocol_digest"] == protocol.digest()
    assert task.metadata["protocol"] == name


@pytest.mark.usefixtures("data")
def test_what_a_protocol_leaves_open_is_left_to_inspect(tasks: Any) -> None:
    olmes = vars(tasks.gsm8k("olmes/gsm8k-tulu", dataset="sample").config)
    assert olmes == {
        "temperature": 0.0,
        "top_p": get_protocol("olmes/gsm8k-tulu").decoding.top_p,
        "max_tokens": 512,
        "stop_seqs": ["Question:", "</s>", "<|im_end|>"],
        "seed": None,
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False},
    }
    open_ended = vars(tasks.gsm8k("verifiers/gsm8k-v1", dataset="sample").config)
    assert open_ended == dict.fromkeys(olmes)


@pytest.mark.parametrize(
    ("scorers", "names"),
    [
        ("", ["numeric-equality"]),
        ("numeric-equality", ["numeric-equality"]),
        ("openai/2021, gradeschool/reader", ["openai/2021", "gradeschool/reader"]),
        (["openai/2021"], ["openai/2021"]),
    ],
)
def test_scorers_are_named_in_a_list_or_with_commas(
    tasks: Any, aime: str, scorers: Any, names: list[str]
) -> None:
    chosen = {"scorers": scorers} if scorers else {}
    assert tasks.aime2025(dataset=aime, **chosen).scorer == names


def test_aime2025_has_its_revision(tasks: Any, aime: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def load(name: str) -> object:
        asked.append(name)
        return load_dataset(aime)

    monkeypatch.setattr(tasks, "load_dataset", load)
    assert len(tasks.aime2025().dataset) == 2
    assert asked == ["hf:math-ai/aime25@563bb8404243c5f09de6ec262f2db674fe5bce9b"]


def test_a_completion_protocol_is_refused_with_the_names_of_others(tasks: Any, aime: str) -> None:
    with pytest.raises(InputError, match=r"'lm-eval/gsm8k' is not a chat .*inspect/gsm8k"):
        tasks.aime2025("lm-eval/gsm8k", dataset=aime)
