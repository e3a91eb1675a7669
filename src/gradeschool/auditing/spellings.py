"""The gold, written otherwise: each of them is the right answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal

from gradeschool.auditing.golds import grouped, plus, times
from gradeschool.auditing.kinds import Kind, right
from gradeschool.auditing.styles import Style

WORDS = {"0": "zero", "1": "one", "5": "five", "11": "eleven", "18": "eighteen", "60": "sixty",
         "72": "seventy-two", "250": "two hundred fifty", "1000": "one thousand"}  # fmt: skip
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
DRESSES = (("**", "**"), ("*", "*"), ("`", "`"), ("(", ")"), ('"', '"'), ("$", "$"),
           (r"\(", r"\)"), (r"$\boxed{", "}$"))  # fmt: skip
SPACES = " \u00a0\u202f\u2009"


def _thousands(gold: str) -> bool:
    return len(gold.lstrip("-")) > 3 and "," not in gold


def _unsigned(gold: str) -> bool:
    return not gold.startswith("-")


def _commas(gold: str) -> Iterable[str]:
    return [grouped(gold)] if _thousands(gold) else []


def _spaces(gold: str) -> Iterable[str]:
    return [grouped(gold, mark) for mark in SPACES] if _thousands(gold) else []


def _scientific(gold: str) -> Iterator[str]:
    _, digits, _ = Decimal(gold).as_tuple()
    tail = len(digits) - 1
    if tail > 2:
        mantissa = times(gold, f"1e-{tail}")
        yield f"{mantissa}e{tail}"
        yield f"{mantissa} x 10^{tail}"


def _currency(gold: str) -> Iterable[str]:
    if not _unsigned(gold):
        return [f"-${gold[1:]}", f"$-{gold[1:]}"]
    return [f"${gold}", f"€{gold}", f"£{gold}", f"${gold}.00", f"{gold} €"]


def _fraction(gold: str) -> Iterable[str]:
    return [f"{int(gold) * 2}/2", f"{int(gold) * 6}/6"]


def _equation(gold: str) -> Iterable[str]:
    long = [f"2 * 8 + {plus(gold, -16)} = {gold}"] if int(gold) > 16 else []
    return [f"{plus(gold, -3)} + 3 = {gold}", f"x = {gold}", *long]


def _latex(style: Style, gold: str) -> Iterator[str]:
    """Write what only a box or a formula holds."""
    if not style.latex:
        return
    for number in (
        rf"\text{{{gold}}}",
        rf"\textbf{{{gold}}}",
        rf"{gold} \text{{ eggs}}",
        rf"{gold}\,\text{{cm}}",
        rf"\${gold}",
        rf"{gold}\%",
        rf"\frac{{{int(gold) * 2}}}{{2}}",
        rf"{plus(gold, -3)} + 3 = {gold}",
        rf"\boxed{{{gold}}}",
    ):
        yield style.write(number)


def _latex_commas(style: Style, gold: str) -> Iterator[str]:
    if style.latex and _thousands(gold):
        for mark in ("{,}", r"\,", r",\!"):
            yield style.write(grouped(gold, mark))


def _dressed(style: Style, gold: str) -> Iterator[str]:
    if style.latex:
        return
    for left, close in DRESSES:
        if f"{left}N{close}" not in style.shape:
            yield style.write(f"{left}{gold}{close}")


def _dotted(style: Style, gold: str) -> Iterator[str]:
    if not style.closed and not style.shape.endswith("."):
        yield style.write(f"{gold}.")
        yield style.write(f"{gold} .")


def _plain(gold: str) -> Iterable[str]:
    return [gold]


def _without_commas(gold: str) -> Iterable[str]:
    return [gold.replace(",", "")] if "," in gold else []


PLAIN = right("plain", "the gold as it stands", _plain)
COMMA_GOLDS = (
    right("gold with commas", "a gold's commas are no part of its value", _without_commas),
    right("commas on both sides", "the answer is the gold, character for character", _plain),
)  # fmt: skip
DECIMAL_GOLDS = (
    right("decimal gold with more zeros", "zeros at the end of a decimal do not change it",
          lambda gold: [f"{gold}0", f"{gold}00"]),
    right("decimal gold as a fraction", "a fraction is the number that it comes to",
          lambda gold: {"0.5": ["1/2"], "2.5": ["5/2", "2 1/2"]}.get(gold, [])),
)  # fmt: skip
SPELLINGS = (
    right("thousands commas", "thousands commas do not change a number", _commas),
    Kind("thousands commas in LaTeX", True, "thousands commas do not change a number",
         _latex_commas),
    right("spaces between thousands", "spaces between thousands do not change a number", _spaces),
    right("zero decimals", "decimals of zero do not change a number",
          lambda gold: [f"{gold}.0", f"{gold}.00"]),
    right("currency", "the currency is a unit", _currency),
    right("unit", "a unit does not change the number",
          lambda gold: [f"{gold} dollars", f"{gold} eggs", f"{gold} minutes"]),
    right("unit without a space", "a unit does not change the number",
          lambda gold: [f"{gold}kg", f"{gold}cm"]),
    right("percent sign", "a percentage is given by its number",
          lambda gold: [f"{gold}%", f"{gold} percent"]),
    right("unicode minus", "a minus sign is a minus sign",
          lambda gold: [] if _unsigned(gold) else [f"−{gold[1:]}"]),
    right("plus sign", "a plus sign does not change a number",
          lambda gold: [f"+{gold}"] if _unsigned(gold) else []),
    Kind("emphasis", True, "marks around a number do not change it", _dressed),
    Kind("inside the box", True, "a box may hold words, a unit or an equation", _latex),
    Kind("period", True, "a period ends the sentence, not the number", _dotted),
    right("fraction", "a fraction is the number that it comes to", _fraction),
    right("equation", "the result of an equation is the answer", _equation),
    right("unicode digits", "digits of other scripts are digits",
          lambda gold: [gold.translate(FULL_WIDTH), gold.translate(ARABIC)]),
    right("scientific notation", "the notation does not change the number", _scientific),
    right("number words", "a number in words is the number",
          lambda gold: [WORDS[gold]] if gold in WORDS else []),
)  # fmt: skip
