"""Cases of the audit: numbers near the gold, other spellings of it, formats, hostile texts."""

import ast
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool import answers_match, parse_gsm8k_answer
from gradeschool.answers.numbers import parse_decimal
from gradeschool.auditing.cases import BARE, HostileText, every_kind, kinds, rounds, suite

WHOLE = st.integers(-(10**12), 10**12).map(str)


@settings(max_examples=25)
@given(gold=WHOLE)
def test_a_number_near_the_gold_is_never_the_gold(gold: str) -> None:
    """What Python's Decimal can read of the near misses is another number."""
    for kind in kinds()["near_misses"]:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number != Fraction(gold), (kind.name, text)


@settings(max_examples=25)
@given(gold=WHOLE)
def test_another_spelling_of_the_gold_is_the_gold(gold: str) -> None:
    for kind in kinds()["spellings"]:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number == Fraction(gold), (kind.name, text)


def test_kinds_have_names_of_their_own_that_an_option_can_name() -> None:
    names = [kind.name for kind in every_kind()]
    assert len(set(names)) == len(names)
    assert all(name and "," not in name and "/" not in name for name in names)
    assert all(kind.why for kind in every_kind())


def test_every_kind_has_cases_and_no_case_is_both_right_and_wrong() -> None:
    cases = suite(7)
    assert {case.gold for case in cases} != {case.gold for case in suite(8)}
    assert {case.kind.name for case in cases} == {kind.name for kind in every_kind()}
    right = {(case.completion, case.gold) for case in cases if case.kind.right}
    assert not right & {(case.completion, case.gold) for case in cases if not case.kind.right}


def test_published_readings_confirm_the_plain_cases() -> None:
    """The mended multi-pattern reader gives the suite's verdict on plain and near-miss integers."""
    simple = {"plain", "suffix", "prefix", "ten times", "one off", "sign", "thousands commas"}
    simple |= {"five significant digits", "digits swapped", "zero decimals", "decimal tail"}
    for case in suite(3):
        if case.kind.name in simple:
            read = parse_gsm8k_answer(case.completion)
            same = read is not None and answers_match(read, case.gold)
            assert same is case.kind.right, case


def test_hostile_texts_are_what_their_recipes_say() -> None:
    for texts in rounds(300):
        for text in texts:
            assert ast.literal_eval(repr(text.text)) == text.text
            parts = text.recipe().split(" * ")
            assert len(parts) == 1 + (text.times > 1)
            assert len(text.text) < 500
    assert HostileText("", "ab", "<", ">", 3).text == "<ababab>"
    assert HostileText("", "ab", "<", ">", 3_000).recipe() == "'<' + 'ab' * 3_000 + '>'"
