"""Options that several verbs share: old names, and what is given twice."""

import pytest

from gradeschool.models.recorded import SAMPLE_FILE
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

# A command line with an option that has one value -> the name in the message.
TWICE = {
    "score x.jsonl -d sample -d gsm8k": "--dataset is given 2 times; give it once",
    "eval -m tiny -n 3 -n 4": "--limit is given 2 times; give it once",
    "eval -m tiny --calculator --no-calculator": "--calculator is given 2 times; give it once",
    "compare a b --scorer openai/2021 --rule multi-pattern": "--scorer is given 2 times",
    "runs curve x.jsonl --scorer openai/2021 --scorer multi-pattern": "--scorer is given 2 times",
    "data generate -n 3 --count 4": "is given 2 times; give it once",
}
OLD_NAMES = {
    "score": ("--rule", "--rules", "--scorers"),
    "compare": ("--rule",),
    "rank": ("--rule", "--favour"),
    "audit": ("--rule",),
    "runs curve": ("--rule",),
    "data generate": ("--count",),
    "verifier train": ("--samples",),
}


@pytest.mark.parametrize("words", TWICE)
def test_an_option_with_one_value_is_given_once(gradeschool: Command, words: str) -> None:
    ended = gradeschool(*words.split())
    assert (ended.status, ended.out) == (2, "")
    assert TWICE[words] in ended.err


@pytest.mark.parametrize("verb", OLD_NAMES)
def test_help_shows_the_new_names_alone(gradeschool: Command, verb: str) -> None:
    words = gradeschool(*verb.split(), "--help").out.replace(",", " ").split()
    assert not set(OLD_NAMES[verb]) & set(words)


def test_the_old_name_of_an_option_works(gradeschool: Command) -> None:
    new, old = (
        gradeschool("score", "-d", "sample", SAMPLE_FILE, option, "openai/2021")
        for option in ("--scorer", "--rule")
    )
    assert new == old
    assert new.status == 0
