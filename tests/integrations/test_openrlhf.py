"""The reward for OpenRLHF."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.integrations import openrlhf


@pytest.mark.parametrize(
    ("query", "prompt", "text"),
    [
        ("Q: 1?\nA: one", "Q: 1?\nA:", " one"),
        ("Q A 18<|im_end|>\n</s><pad><pad>", "Q A", " 18"),
        ("<s> Q: 1?\nA: 5 <|eot_id|>", "Q: 1?\nA:", " 5"),
        ("something else", "Q: 1?", None),
        ("</s></s>", "", ""),
        ("Q: 1 + 1?\n#### 2\nQ: 9 * 2?\nA:</s>", "Q: 1+1?\n#### 2\n\nQ: 9 * 2 ?\nA: ", ""),
        ("<s>Q: 9 * 2?\nA:  #### 18", "Q: 9 * 2 ?\nA: ", "  #### 18"),
        ("<s>" + 90 * "go on\n" + "18", 90 * "go on\n", "18"),
        ("<s>" + 90 * "go on\n" + "18", 90 * "go  on\n", "\n18"),
        (80 * "go on\n" + "18", 90 * "go on\n", None),
        (" ".join(map(str, range(5, 199))) + " so 18", " ".join(map(str, range(199))), " so 18"),
    ],
)
def test_openrlhf_reads_the_response_alone(query: str, prompt: str, text: str | None) -> None:
    assert openrlhf.response(query, prompt) == text


@pytest.mark.slow
def test_openrlhf_gives_nothing_for_a_query_without_its_prompt() -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    with pytest.warns(UserWarning, match="does not contain its prompt"):
        results = openrlhf.reward_func(["Q: 1?\n#### 18"], ["another prompt"], ["18"])
    assert results["rewards"].tolist() == [0.0]


def test_the_file_for_openrlhf_holds_the_function_that_it_looks_for() -> None:
    assert "def reward_func(" in Path(openrlhf.__file__).read_text("utf-8")


@pytest.mark.slow
def test_openrlhf_gets_tensors() -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    results = openrlhf.reward_func(["Q 18", "Q 7", "Q none"], ["Q"] * 3, ["18", "#### 11", "1"])
    assert results["rewards"].tolist() == results["scores"].tolist() == [1.0, 0.0, 0.0]
    assert results["extra_logs"]["answered"].tolist() == [1.0, 1.0, 0.0]
