"""Completions and words that a seeded generator and hypothesis invent: the same in every run."""

from __future__ import annotations

import random
import unicodedata
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gradeschool.problem import Problem
from tests.peers.compare import Case

SEED = 20211027
TEXTS, WORDS = 7000, 12000  # by the seeded generator, from the pools below
FREE = 1000  # of either by hypothesis, which knows other strange characters
SETTINGS = settings(
    max_examples=FREE,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def pool(words: str, absent: int = 0) -> list[str]:
    """Split a pool at its spaces; "" is drawn as often as `absent` of the words."""
    return absent * [""] + words.split()


SIGNS = pool("- + − － ﹣ ＋ -- 负 負 正 ⁻ ~ ±", absent=4)
CURRENCY = pool(r"$ \$ £ € \£ \€ ¥ ￥ US$ $$ \\$", absent=4)
OPENING = pool(r"""** * _ \_ \* ( [ { ' " ` \( <b>""", absent=5)
CLOSING = pool(r". . ** **. * _ ) ] } ! ? : ; , % .. ... kg ° \) \% € </b> .</b> th", absent=3)
CLOSING += [". . .", " dollars"]
GROUPING = pool(r", , ， ﹐ 、 ٬ ' ’ ʼ ＇ _ \, {,} .")
GROUPING += [" ", "\u00a0", "\u202f", "\u2009", "\u2007", "\u2008"]
POINTS = pool(". . ٫ ． , 点 點 ·")
DECIMALS = pool("0 00 5 50 000001 ٥ ½", absent=1)
EXPONENTS = pool("e3 E-2 e+2 e−1 e400 e ² ⁻³ ¹⁰ ⁺² ^2 ⁵⁰⁰", absent=4)
ZEROS = "0０٠۰०০๐໐᠐𝟎𝟘𝟬𝟶🯰"  # the zeros of alphabets whose digits follow one another
SYMBOLS = "½⅓¼¾⅞⅒⅟↉ⅫⅤⅧↀ①⑩⑳❶➒㊿㈠㉑²⁹₀₇⒈Ⓐ٪〇○零一二三四五六七八九十百千万億兆"
SYMBOLS += "廿卅卌两兩幺壹贰拾佰仟萬亿点點"
CHINESE = "零〇一二三四五六七八九十百千万億兆廿卅两點点5５ "
WORDS_OF_TEXT = [
    *("####", "#### ", "####\n", "##### ", "## ##", "The answer is", "the answer is", "answer is"),
    *("The answer is ", "The final answer is", "ANSWER:", "Answer: ", "answer :", "\\boxed{", "}"),
    *("\\boxed{}", "Question:", "Q:", "A: ", "= ", "=", "<<9*2=18>>", "so", "eggs", "kg", "and"),
    *("[invalid]", "NULL", "nan", "inf", "-inf", "Infinity", "İ", "ﬁ", "ß", "K", "ſ", "\x00"),
    *("\ud800", "\u200b", "\ufeff", "</think>", "1/2", "3:30", "16-18", "x", "e", "E5", "\\"),
]
SEPARATORS = ["", "", " ", " ", " ", "\n", "\n\n", "\t", "\r\n"]
SEPARATORS += ["\x0b", "\x1c", "\x85", "\u2028", "\u3000"]
GOLDS = pool("18 18 18 5 11 1,000 114,200 131250 -10 -3 0 2.5 18.0 123 1000 $18 18. 1e3 ½ １８")
GOLDS += pool("−5 60% 1,2,3 ² 1.000.000 .5 +7 a no . ٣ - 1_000 5² 2½ Ⅻ 1234567 十八")
GOLDS += ["1 000", "x 5"]
NEAR = pool("18 18 1800 018 5 11 711 1000 131254 10 3")  # near the golds
# No golds: the harnesses' own words for "no answer", which match themselves; and a NUL, which numpy
# drops from the end of a string, so that lm-eval takes it for an empty gold.
NO_GOLDS = ("[invalid]", "NULL", "\x00")


def numeral(draw: random.Random) -> str:
    """Invent the digits of one number, in any script, with marks between them."""
    kind = draw.randrange(12)
    if kind == 0:
        return "".join(draw.choices(SYMBOLS, k=draw.randint(1, 4)))
    if kind == 1:
        return "".join(draw.choices(CHINESE, k=draw.randint(1, 7)))
    digits = draw.choice([*NEAR, str(draw.randrange(10 ** draw.randint(1, 12)))])
    if kind == 2:
        zero = ord(draw.choice(ZEROS))
        return "".join(chr(zero + int(digit)) for digit in digits)
    if kind in (3, 4):
        size, mark = draw.randint(1, 4), draw.choice(GROUPING)
        return mark.join(digits[max(0, end - size) : end] for end in _ends(len(digits), size))
    if kind in (5, 6):
        return digits + draw.choice(POINTS) + draw.choice(DECIMALS)
    before = draw.choice(SYMBOLS) if kind in (7, 8) else ""
    after = draw.choice(SYMBOLS) if kind in (8, 9) else ""
    return before + digits + after


def _ends(length: int, size: int) -> range:
    return range(length % size or size, length + 1, size)


def number_word(draw: random.Random) -> str:
    """Invent a word that may be read as a number."""
    front = [draw.choice(CURRENCY), draw.choice(SIGNS)]
    draw.shuffle(front)
    middle = "".join(front) + numeral(draw) + draw.choice(EXPONENTS)
    return draw.choice(OPENING) + middle + draw.choice(CLOSING)


def completion(draw: random.Random) -> tuple[str, str]:
    """Invent a completion and a gold, which every other time stands in the completion."""
    words = [
        number_word(draw) if draw.random() < 0.5 else draw.choice(WORDS_OF_TEXT)
        for _ in range(draw.randint(0, 8))
    ]
    own = [word for word in words if _may_be_gold(word)]
    gold = draw.choice(own if own and draw.random() < 0.5 else GOLDS)
    return "".join(word + draw.choice(SEPARATORS) for word in words), gold


def _may_be_gold(word: str) -> bool:
    return bool(word.strip()) and "#" not in word and word not in NO_GOLDS


pieces = st.sampled_from(WORDS_OF_TEXT + CURRENCY + GROUPING + NEAR + list(SYMBOLS))
free_texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


@cache
def invented_cases() -> list[Case]:
    """Return the invented completions with their golds."""
    draw = random.Random(SEED)
    pairs = [completion(draw) for _ in range(TEXTS)]

    @SETTINGS
    @given(free_texts, st.sampled_from(GOLDS))
    def collect(text: str, gold: str) -> None:
        pairs.append((text, gold))

    collect()
    return [
        Case(f"invented {number}", text, Problem.from_gold(gold))
        for number, (text, gold) in enumerate(pairs)
    ]


@cache
def invented_words() -> list[str]:
    """Return words: every character that has a numeric value, then invented ones."""
    every = (chr(code) for code in range(0x110000))
    words = [char for char in every if unicodedata.numeric(char, None) is not None]
    words += [f"1{char}" for char in words]
    draw = random.Random(SEED)
    alphabet = SYMBOLS + CHINESE + "0123456789.,-eE"
    words += [number_word(draw) for _ in range(WORDS // 3)]
    words += [numeral(draw) for _ in range(WORDS // 3)]
    words += ["".join(draw.choices(alphabet, k=draw.randint(1, 7))) for _ in range(WORDS // 3)]

    @SETTINGS
    @given(st.text(max_size=6))
    def collect(word: str) -> None:
        words.append(word)

    collect()
    return words
