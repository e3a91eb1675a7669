"""Options that several verbs share."""

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

# A command line with an option that has one value -> the name in the message.
TWICE = {
    "score x.jsonl -d sample -d gsm8k": "--dataset is given 2 times; give it once",
    "eval -m tiny -n 3 -n 4": "--limit is given 2 times; give it once",
    "eval -m tiny --calculator --no-calculator": "--calculator is given 2 times; give it once",
    "compare a b --scorer openai/2021 --scorer multi-pattern": "--scorer is given 2 times",
    "runs curve x.jsonl --scorer openai/2021 --scorer multi-pattern": "--scorer is given 2 times",
    "data generate -n 3 --limit 4": "is given 2 times; give it once",
}


@pytest.mark.parametrize("words", TWICE)
def test_an_option_with_one_value_is_given_once(gradeschool: Command, words: str) -> None:
    ended = gradeschool(*words.split())
    assert (ended.status, ended.out) == (2, "")
    assert TWICE[words] in ended.err
