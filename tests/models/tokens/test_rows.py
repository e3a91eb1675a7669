"""Tests the rows of the token loop: forced tokens, limits, stop strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

from gradeschool.models.token_loop import SampleTask  # noqa: E402
from gradeschool.models.tokens.annotations import Annotations  # noqa: E402
from gradeschool.models.tokens.rows import RowTable, Stops  # noqa: E402


class Characters:
    """A tokenizer of one token a character."""

    text = "0123456789<>=*+"

    def __len__(self) -> int:
        return len(self.text)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.text[token] for token in ids]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.convert_ids_to_tokens(ids))

    def batch_decode(self, rows: Sequence[Sequence[int]]) -> list[str]:
        return [self.decode(row) for row in rows]

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [self.text.index(character) for character in text]}


@settings(deadline=None, max_examples=60)
@given(
    chosen=st.lists(st.text("1<>=*", min_size=25, max_size=25), min_size=1, max_size=4),
    limit=st.integers(1, 25),
)
def test_rows_are_forced_apart_from_each_other(chosen: list[str], limit: int) -> None:
    """Side by side or alone, to the limit and not beyond it; what is forced is what follows."""
    tokenizer: Any = Characters()
    annotations = Annotations(tokenizer, len(tokenizer))

    def written(texts: Sequence[str]) -> list[tuple[str, list[bool]]]:
        rows = RowTable(len(texts), limit, annotations)
        slots = np.array(
            [rows.begin(SampleTask(0, place, (0,)), None) for place in range(len(texts))]
        )
        for place in range(limit):
            tokens = np.array([tokenizer(text[place])["input_ids"][0] for text in texts])
            rows.force(slots, tokens)
            rows.add(slots, tokens, np.zeros(len(texts), dtype=np.float32))
        ended = [rows.end(int(slot), False) for slot in slots]
        return [("".join(tokenizer.convert_ids_to_tokens(row.ids)), row.forced) for row in ended]

    together = written(chosen)
    assert together == [written([text])[0] for text in chosen]
    for text, mask in together:
        ids = tokenizer(text)["input_ids"]
        due: list[int] = []
        for place, token in enumerate(ids):
            assert mask[place] == bool(due)
            if due:
                assert token == due.pop(0)
            elif text[place] == "=":
                due = list(annotations.override(ids[:place], token).tokens)


def test_a_row_and_its_prompt_fit_into_the_context() -> None:
    rows = RowTable(3, 10, None, context=12)
    limits = {
        size: int(rows.limits[rows.begin(SampleTask(0, size, (0,) * size), None)])
        for size in (1, 5, 20)
    }
    assert limits == {1: 10, 5: 7, 20: 1}


def test_a_slot_is_free_again_and_its_row_is_forgotten() -> None:
    rows = RowTable(1, 4, None)
    for tokens in ([3, 4], [5]):
        slot = rows.begin(SampleTask(0, 0, (7,)), None)
        assert (rows.last[slot], rows.counts[slot], rows.free) == (7, 0, [])
        for token in tokens:
            rows.add(np.array([slot]), np.array([token]), np.zeros(1, dtype=np.float32))
        written = rows.end(slot, True)
        assert (written.ids, written.forced) == (tokens, [False] * len(tokens))
    assert rows.free == [0]


def test_a_row_draws_the_numbers_of_its_seed_one_after_the_other() -> None:
    rows = RowTable(2, 6, None)
    slots = np.array([rows.begin(SampleTask(n, 0, (7, 8)), 3) for n in range(2)])
    drawn = []
    for _ in range(6):
        drawn.append(rows.drawn(slots).tolist())
        rows.add(slots, slots, np.zeros(2, dtype=np.float32))
    assert all(first == second for first, second in drawn)  # the same prompt, sample and seed
    assert len({first for first, _ in drawn}) == 6


@settings(deadline=None, max_examples=60)
@given(text=st.text("12<=", min_size=1, max_size=12), stop=st.sampled_from(["=2", "1", "<12"]))
def test_a_stop_string_is_seen_with_its_last_token(text: str, stop: str) -> None:
    tokenizer: Any = Characters()
    rows, stops = RowTable(1, 12, None), Stops(tokenizer, len(tokenizer) + 5, [stop, "+"])
    slots = np.array([rows.begin(SampleTask(0, 0, (0,)), None)])
    seen = []
    for token in tokenizer(text)["input_ids"]:
        tokens = np.array([token])
        rows.add(slots, tokens, np.zeros(1, dtype=np.float32))
        seen.append(bool(stops.reached(rows, slots, tokens)[0]))
    assert seen == [text[: end + 1].endswith(stop) for end in range(len(text))]
