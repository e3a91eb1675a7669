"""One answer from a model's text: the patterns that people agree on, tried in order.

The order and the pitfalls are those of the common GSM8K evaluation guides; where their regexes lose
answers (nested boxes, "$" before the number, overflow on long numbers) this reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.search import last_box, last_match

# A sign counts where no word, digit or bracket stands before it: "16-18" holds 16 and 18.
NUMBER = r"(?:(?<![\w).])[-+−])?(?:\$\s{0,4})?(?:(?<=\$)[-+−])?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
# What may stand between a marker and its number: white space, emphasis, currency.
LEAD = r"[\s*_`$:]{0,40}?"
HASHES = re.compile(rf"####{LEAD}({NUMBER})")
ANSWER_IS = re.compile(
    rf"\b[Tt]he\s{{1,20}}(?:final\s{{1,20}})?answer\s{{1,20}}is(?:\s{{1,20}}equal\s{{1,20}}to)?{LEAD}({NUMBER})"
)
ANSWER_COLON = re.compile(rf"(?i)\banswer\s{{0,20}}(?:\*\*)?:{LEAD}({NUMBER})")
ANY_NUMBER = re.compile(NUMBER)


def parse_gsm8k_answer(text: str) -> str | None:
    r"""Return the final answer that a completion states, normalised; None without a number.

    Tries in this order, each time taking the last match: `#### N`, `\boxed{N}`, "The answer is N",
    "Answer: N", the last number in the text. Keeps the sign; drops "$", commas, trailing periods
    and zero decimals. Linear in the length of the text; never raises.
    """
    found = last_match(HASHES, text)
    if found is None:
        boxed = _number_in_box(text)
        if boxed is not None:
            return boxed
        found = last_match(ANSWER_IS, text) or last_match(ANSWER_COLON, text)
    if found is not None:
        return _clean(found.group(1))
    found = last_match(ANY_NUMBER, text)
    return None if found is None else _clean(found.group())


def majority_vote(answers: Sequence[str | None]) -> str | None:
    """Return the most frequent answer; None counts as no vote; ties go to the first seen.

    None where there is no vote at all. (lm-evaluation-harness counts "[invalid]" as a vote; to
    reproduce that, pass the string.)
    """
    votes = Counter(answer for answer in answers if answer is not None)
    return votes.most_common(1)[0][0] if votes else None


def _number_in_box(text: str) -> str | None:
    box = last_box(text)
    if box is None:
        return None
    content = box.text.replace("{,}", ",").replace("\\,", "").replace("\\$", "$")
    numbers = ANY_NUMBER.findall(content)
    return _clean(numbers[0]) if len(numbers) == 1 else None


def _clean(number: str) -> str:
    cleaned = normalize(number.replace("$", "").replace("−", "-").replace(" ", "").lstrip("+"))
    return cleaned if parse_decimal(cleaned) is not None else number
