"""Texts made up to confuse a scorer: markers, numbers and odd characters in any order."""

from __future__ import annotations

import random

GOLDS = ("18", "5", "0", "-10", "2,125", "131250", "60", "1,450,000", "7")
MARKERS = (
    "####", "#### ", "\n#### ", "\\boxed{", "}", "\\boxed{18}", "\\boxed{$", "\\boxed{\\$2,125}",
    "boxed", "boxed{", "The answer is ", "the answer is ", "he answer is ", "The final answer is ",
    "final answer is ", "final answer is $", "$. I hope", "Answer: ", "ANSWER:", "answer\n:",
    "answer is", "Answer is **", "the final\nanswer is: $", "Question:", "Question", "\nQ: ",
    "Q: ", "\nQ :", "A: ", "\nA: ", "```output\n", "```", "</think>", "**", "<<3*6=18>>", "x = ",
    "so w", " was ", "answer isn't", "approximately ", "w", "ww", "wa ", "- ", "\\text{ eggs}",
    "\\%", "\\frac{1}{2}",
)  # fmt: skip
NUMBERS = (
    "18", "18", "18", "5", "7", "0", "-10", "10", "2,125", "2125", "1,2,3", "18.", "18.0", "18.00",
    "1.5", "2.75", ".5", "$18", "$18.00", "-$18", "$-18", "**18**", "(18)", "018", "711", "118",
    "131254", "131250", "60%", "60", "1/2", "3:30", "16-18", "5-18", "+18", "--18", "18-", "18'",
    "1e3", "18e", "1_8", "99999.5", "0.00018", "17.9999999", "18.0000001", "18.000001", "1800",
    "0.18", "123456789012345678", "33.333333333333336", "1450000", "1,450,000", "1.5e+05",
    "100005", "18,", ",18", ", 18", ",", ",,", "..", ".", "1.2.3", "18;", "\"18\"", "`18`",
    "\\$18", "\\18", "18kg", "m^2", "{18}", "[18]", "18!", "18?", "$$", "$", "-", "+", "$.", "-.",
    "infinity", "nan",
)  # fmt: skip
ODD = (
    "½", "5²", "１８", "十八", "€18", "£5", "−18", "×", "÷ 3", "–", "18–5", "’", "é", "18é", "é18",
    "“18”", "\u2028", "\x85", "\xa0", "\t", "\r", "\x0b", "ſ", "anſwer: 5", "K", "İ", "ı",
    "\ud800", "😀", "𝟏𝟖", "\x00", "\x7f", "É", "°", "…18", "18°",
)  # fmt: skip
PLAIN = (
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\n\n",
    "x",
    "eggs",
    " eggs.",
    ". ",
    "the ",
    "a",
    "=",
    " = ",
    "and ",
)
KINDS = (MARKERS, NUMBERS, NUMBERS, PLAIN, PLAIN, PLAIN)


def invented(chance: random.Random) -> str:
    """Return a text of up to fourteen pieces; one in four has odd characters."""
    kinds = (*KINDS, ODD) if chance.random() < 0.25 else KINDS
    pieces = [chance.choice(chance.choice(kinds)) for _ in range(chance.randrange(15))]
    text = chance.choice(("", "", " ")).join(pieces)
    return "x" * 290 + text if chance.random() < 0.05 else text
