"""Cases of the audit: numbers near the gold, other spellings of it, styles."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.numbers import parse_decimal
from gradeschool.auditing.cases import BARE, COMMAS, FORMATS, equal, golds, grouped, plus, times
from gradeschool.auditing.suite import NEAR_MISSES, SPELLINGS

WHOLE = st.integers(-(10**12), 10**12).map(str)


@given(gold=WHOLE)
def test_a_number_near_the_gold_is_never_the_gold(gold: str) -> None:
    """What Python's Decimal can read of the near misses is another number."""
    for kind in NEAR_MISSES:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number != Fraction(gold), (kind.name, text)


@given(gold=WHOLE)
def test_another_spelling_of_the_gold_is_the_gold(gold: str) -> None:
    for kind in SPELLINGS:
        for text in kind.texts(BARE, gold):
            number = parse_decimal(text.replace(",", "").replace("−", "-"))
            assert number is None or number == Fraction(gold), (kind.name, text)


@given(number=WHOLE, term=st.integers(-9, 9))
def test_numbers_are_written_exactly(number: str, term: int) -> None:
    assert Fraction(times(number, "0.01")) == Fraction(number) / 100
    assert Fraction(times(number, "1000")) == Fraction(number) * 1000
    assert int(plus(number, term)) == int(number) + term
    assert grouped(number).replace(",", "") == str(int(number))
    assert equal(grouped(number), f"{number}.00")


def test_golds_with_commas_and_drawn_golds_are_numbers() -> None:
    assert all(gold.lstrip("-").isdigit() for seed in range(20) for gold in golds(seed))
    assert all(grouped(gold.replace(",", "")) == gold for gold in COMMAS)


def test_a_style_writes_the_number_at_its_place_alone() -> None:
    for form in FORMATS:
        assert form.write("18").count("18") == 1
        assert form.write(r"\1\g<0>").count(r"\1\g<0>") == 1
        assert form.write("18").replace("18", "N") == form.shape
