"""Tests the local generator: its stop strings, its batches, and which loop writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.completion import Decoding  # noqa: E402
from gradeschool.errors import InputError  # noqa: E402
from gradeschool.models.generation import LoadedGenerator  # noqa: E402
from gradeschool.models.local import (  # noqa: E402
    GenerationSettings,
    SampleTask,
    WrittenText,
)
from tests.support.trainees import (  # noqa: E402
    architecture,
    model_folder,
    sums,
    tokenizer_of,
)

LIMIT = 16


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> LoadedGenerator:
    return LoadedGenerator(model_folder(tmp_path_factory.mktemp("model")))


def tasks_of(generator: LoadedGenerator) -> list[SampleTask]:
    prompts = [generator.tokenizer(f"{problem.question}\n")["input_ids"] for problem in sums(6)]
    return [SampleTask(number, 0, tuple(prompt)) for number, prompt in enumerate(prompts)]


def written(
    generator: LoadedGenerator, calculator: bool = False, **decoding: Any
) -> list[WrittenText]:
    """What is written for the tasks, in their order."""
    settings = GenerationSettings(Path(), calculator, Decoding(**{"max_tokens": LIMIT, **decoding}))
    rows = generator.write(settings, LIMIT, tasks_of(generator))
    return sorted(row for some in rows for row in some)


def test_a_text_ends_before_its_stop_string(generator: LoadedGenerator) -> None:
    free = written(generator)
    stop = next(row.text for row in free if len(row.text) > 4)[2:4]
    stopped = written(generator, stop=(stop,))
    assert any(stop in row.text for row in free)
    assert [row.text for row in stopped] == [row.text.partition(stop)[0] for row in free]


def test_tokens_are_counted_up_to_the_limit(generator: LoadedGenerator) -> None:
    for row in written(generator):
        assert row.tokens == LIMIT or row.finished
        assert 0 < row.tokens <= LIMIT
        assert row.logprob is not None and row.logprob < 0


def test_the_texts_do_not_depend_on_the_number_of_rows_in_memory(
    generator: LoadedGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"temperature": 0.8, "seed": 5}
    together = written(generator, **settings)
    monkeypatch.setattr("gradeschool.models.generation.MEMORY_SHARE", 0.0)  # one at a time
    assert [row.text for row in written(generator, **settings)] == [row.text for row in together]


def test_the_number_of_threads_is_restored(generator: LoadedGenerator) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        written(generator)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_an_architecture_without_the_loop_is_left_to_generate_unless_the_calculator_is_asked_for(
    tmp_path: Path,
) -> None:
    for part in (architecture("bloom"), tokenizer_of(sums(8))):
        part.save_pretrained(tmp_path)
    bloom = LoadedGenerator(tmp_path)
    rows = written(bloom)
    assert [row.prompt for row in rows] == list(range(6))
    assert {row.logprob for row in rows} == {None}  # `generate` returns none
    with pytest.raises(InputError, match="'bloom'"):
        written(bloom, calculator=True)
