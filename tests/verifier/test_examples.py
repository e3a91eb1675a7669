"""Where the steps of a solution end among its tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from gradeschool.verifier.examples import QuestionSolution, encode_steps, step_ends, texts_of
from tests.support.trainees import sums, tokenizer_of

pytest.importorskip("transformers", reason="needs transformers, which make test-all installs")

QUESTION = "What is it?"
# The pattern of Qwen 2: line breaks belong to the sign before them.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def joining_tokenizer(text: str) -> Any:
    """A tokenizer that was trained on the text and joins a full stop and the line breaks after."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])  # fmt: skip
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text] * 50, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>")


def steps_of(tokenizer: Any, solution: str, finished: bool = True) -> list[str]:
    """The text of each step, by its tokens."""
    [text] = texts_of(tokenizer, [QuestionSolution(QUESTION, solution, finished)])
    ends = step_ends(tokenizer, QUESTION, solution, text.solution)
    return [tokenizer.decode(text.solution[start:end]) for start, end in pairwise([0, *ends])]


def test_steps_end_where_a_token_holds_several_line_breaks() -> None:
    solution = "We add 3 and 4.\n\nThat gives 7.\n\nWe double it – so 14.\n\n#### 14"
    tokenizer = joining_tokenizer(solution)
    joined = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(".\n\n"))
    assert len(joined) == 1
    steps = ["We add 3 and 4.\n\n", "That gives 7.\n\n", "We double it – so 14.\n\n"]
    assert steps_of(tokenizer, solution) == [*steps, "#### 14<|end|>"]
    assert steps_of(tokenizer, solution, finished=False) == [*steps, "#### 14"]
    assert steps_of(tokenizer, solution.replace("\n\n", "\n"))[1] == "That gives 7.\n"


@pytest.mark.parametrize("between", ["\n", "\n\n", "\n \n"])
def test_steps_of_lines_that_share_no_token_end_as_those_of_the_lines_alone(between: str) -> None:
    tokenizer = tokenizer_of(sums(8))
    lines = ["Tom has 2+3=<<2+3=5>>5 apples.", "Then 5+6=11.", "#### 11"]
    solution = between.join(lines)
    [text] = texts_of(tokenizer, [QuestionSolution(QUESTION, solution)])
    alone = encode_steps(tokenizer, QUESTION, solution.split("\n"))
    assert alone.text.solution == text.solution
    expected = [
        end for end, line in zip(alone.ends, solution.split("\n"), strict=True) if line.strip()
    ]
    assert step_ends(tokenizer, QUESTION, solution, text.solution) == expected
    assert len(expected) == 3


def test_a_solution_without_a_line_is_one_step() -> None:
    tokenizer = tokenizer_of(sums(8))
    [text] = texts_of(tokenizer, [QuestionSolution(QUESTION, "")])
    assert step_ends(tokenizer, QUESTION, "", text.solution) == [1]
