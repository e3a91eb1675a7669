"""Works out the answers of fresh problems from the words of their questions alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from gradeschool.datasets.fresh import fresh_problems
from gradeschool.datasets.fresh.story import VERBS, WORDS

Facts = dict[str, Any]
Rules = Mapping[str, Callable[..., object]]
SPLITS = ("train", "test-templates")  # all wordings are in one of the two
WRITTEN = {
    "a dozen": "12", "two dozen": "24", "three dozen": "36", "twice": "2 times", "half": "1/2",
    "a third": "1/3", "two thirds": "2/3", "a quarter": "1/4", "three quarters": "3/4",
    "a fifth": "1/5", "two fifths": "2/5", "three fifths": "3/5",
    **{word: str(number) for number, word in enumerate(WORDS) if number > 1},
}  # fmt: skip
WORD = re.compile(rf"\b(?:{'|'.join(WRITTEN)})\b", re.IGNORECASE)
# What a rule abbreviates: a number, a name that counts, any person and theirs, other words;
# "{give}" is the verb in any form.
SIGNS = {
    "#": r"(\d+(?:\.\d+)?(?:/\d+)?)",
    "&": r"([A-Z][a-z]+|[a-z]+)",
    "@": r"(?:[A-Z][a-z]+|[Hh]e|[Ss]he|him|her)",
    "~": r"(?:[Hh]is|[Hh]er|[A-Z][a-z]+'s)",
    "_": r"(?:[a-z]+(?: [a-z]+)*?)",
}
NUMBER = re.compile(SIGNS["#"])
CONNECTOR = r"(?:Then |Later, |After that, |Next, )?"
ASIDES = re.compile(
    r"(?:[A-Z]\w+|[Hh]e|[Ss]he) (?:is|was|lives|lived|has|had) \d+ (?:years old|miles from .*"
    r"|cousins|photos of animals)|.* house (?:is|was) .*|[Tt]here (?:are|were) \d+ people in .*"
)


class Reckoning(NamedTuple):
    """How many questions the rules understood, and those whose gold is another number.

    unread: the rules that read no sentence: a kind of sentence that is never written.
    """

    understood: int
    wrong: list[str]
    unread: list[str]


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    then: Callable[..., object]


class _Reading(NamedTuple):
    """The rule for a sentence, and the values in it."""

    rule: _Rule
    values: list[Any]


def reckon(family: str, rules: Rules, steps: tuple[int, int] = (2, 4)) -> Reckoning:
    """Work out 300 problems of a family; a question with a sentence of no rule is left out."""
    compiled = [_Rule(_pattern(words), then) for words, then in rules.items()]
    understood, wrong = 0, []
    read = set[re.Pattern[str]]()
    for split in SPLITS:
        for problem in fresh_problems(5, 150, split=split, steps=steps, families=(family,)):
            answer = _answer(problem.question, compiled, read)
            understood += answer is not None
            if answer not in (None, Fraction(problem.gold)):
                wrong.append(f"{answer}, not {problem.gold}: {problem.question}")
    unread = [
        words for words, rule in zip(rules, compiled, strict=True) if rule.pattern not in read
    ]
    return Reckoning(understood, wrong, unread)


def relate(
    facts: Facts, first: str, second: str, change: Callable[[Any], Any], undo: Callable[[Any], Any]
) -> None:
    """Compute the first from the second, or the second from the first."""
    if second in facts:
        facts[first] = change(facts[second])
    else:
        facts[second] = undo(facts[first])


def answer(facts: Facts, value: Any) -> None:
    """State what the question asks for."""
    facts["answer"] = value


def _pattern(words: str) -> re.Pattern[str]:
    words = re.sub(r"\{([a-z]+)\}", lambda verb: _forms(verb[1]), words)
    return re.compile(CONNECTOR + re.sub("[#&@~_]", lambda sign: SIGNS[sign[0]], words))


def _forms(verb: str) -> str:
    return f"(?:{'|'.join(VERBS.get(verb, ('is', 'are', 'was', 'were')))})"


def _answer(question: str, rules: list[_Rule], read: set[re.Pattern[str]]) -> Any:
    """Return the answer; a sentence that needs what is not known yet is read again later.

    The patterns of the sentences are added to `read` if there is an answer.
    """
    text = WORD.sub(lambda word: WRITTEN[word[0].lower()], question).replace("$", "")
    text = re.sub(r"(\d+)%", r"\1/100", text)
    waiting: list[_Reading] = []
    for sentence in re.split(r"[.?] ", text[:-1]):
        parts = [sentence] if _reads(rules, sentence) else sentence.split(", and ")
        for part in parts:
            match = _reads(rules, part)
            if match is None and not ASIDES.fullmatch(part):
                return None
            waiting += [match] if match else []
    patterns = {reading.rule.pattern for reading in waiting}
    facts: Facts = {}
    *waiting, asked = waiting
    while waiting:
        later = [reading for reading in waiting if not _holds(facts, reading)]
        if len(later) == len(waiting):
            return None
        waiting = later
    asked.rule.then(facts, *asked.values)
    if "answer" in facts:
        read |= patterns
    return facts.get("answer")


def _reads(rules: list[_Rule], sentence: str) -> _Reading | None:
    """Return the first rule for a sentence, and the values in it."""
    for rule in rules:
        if match := rule.pattern.fullmatch(sentence):
            return _Reading(rule, [Fraction(value) if value and NUMBER.fullmatch(value) else value
                                   for value in match.groups()])  # fmt: skip
    return None


def _holds(facts: Facts, reading: _Reading) -> bool:
    """Apply a rule; False if it needs a fact that is not there."""
    try:
        reading.rule.then(facts, *reading.values)
    except KeyError:
        return False
    return True
