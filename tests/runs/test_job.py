"""The settings of an evaluation, its folder, its keys."""

from pathlib import Path

import pytest

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.errors import DataError, InputError
from gradeschool.protocols.registry import get_protocol
from gradeschool.runs.job import Job, prepare, request_key

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
