"""The contents of a question: the unit that it asks for, and the quantities that it gives."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

HOW_MANY = re.compile(
    r"(?i)\b(?:how\s+many|number\s+of|what\s+percent(?:age)?\s+of)\s+((?:[a-z'’-]+\s*){1,6})"
)
IN_UNITS = re.compile(
    r"(?i)\bin\s+(?:total\s+)?(seconds?|minutes?|hours?|days?|weeks?|months?|years?|cents?"
    r"|dollars?|inches|feet|yards|miles|meters|centimeters|kilometers|kilograms|grams|pounds"
    r"|ounces|liters|gallons|cups|percent(?:age)?|kg|km|cm|mm|ml)\b"
)
PERCENT = re.compile(
    r"(?i)\b(?:what|which)\s+(?:is\s+the\s+)?(?:\w+\s+){0,3}percent(?:age)?\b|\b(?:in"
    r"|as\s+an?)\s+percent"
)
MONEY = re.compile(
    r"(?i)\bhow\s+much\s+(?:money|change|profit|cash|more\s+money|(?:\w+\s+){0,8}?(?:cost|pay|paid"
    r"|earn|spend|spent|save|saved|make|made|owe|charge|charged|worth|price))|\b(?:cost|price"
    r"|profit|salary|budget|income|revenue|total\s+amount\s+of\s+money)\b"
)
# "How much water" does not ask for money.
HOW_MUCH = re.compile(
    r"(?i)\bhow\s+much\s+(?:(?:more|less)\s+)?(?:do|does|did|is|are|was|were|will|would|can|could"
    r"|should|must|has|have|had|total|in\s+total|money)\b"
)
TIME_OF = re.compile(
    r"(?i)\bhow\s+(?:many\s+|much\s+)?(?:more\s+)?(?:long(?:er)?|time)\b|\bhow\s+much\s+longer\b"
)
SHARE = re.compile(r"(?i)fraction|\bpart\b|portion|percent|probability|chance|ratio|share")
COMPARES = re.compile(r"(?i)\b(?:more|less|fewer|differ(?:ence|s)?|further|\w{3,}er|than)\b")
LONG_WORD = re.compile(r"[A-Za-z]{4,}")
POINT_LANGUAGES = re.compile(
    r"(?i)\b(?:il|elle|en\stout|der|die|das|und|ist|sind|gibt|geben|zusammen|wie|viele?|el|los|las"
    r"|una|por|lo\stanto|es|son|quedan|cuánt[oa]s?|della|sono|totale|uma|são|resposta|é|ele|ela"
    r"|het|een|antwoord|zijn|les|des|est|donc|combien|[а-яё]{2,})\b"
)
ENGLISH = re.compile(r"(?i)\b(?:the|is|of|and|she|he|so|are|how|many|much)\b")
# Words of a question without information on what it asks for.
NO_TOPIC = frozenset(
    """
    what which many much does have will would could should there they their them with from that thi
    were been between after before when where each other both into than then more less
    """.split()  # noqa: SIM905
)
NAME = re.compile(r"\b[A-Z][a-z]{2,}")
# fmt: off
NO_NAMES = frozenset((
    "How", "What", "Which", "When", "Where", "Calculate", "Find", "Determine", "Given", "After",
    "Before", "The",
))
# fmt: on
SENTENCE = re.compile(r"[.!?]\s+")
# Words after "how many" that are not the counted thing.
FILLERS = frozenset(
    """
    more less fewer other total additional extra of the a an in is are was were do does did has
    have had will would can could should must her his their its my your each all both different
    whole full many much new old complete times as than to it he she they there left remaining
    on at by with for from into if when after before per now
    """.split()  # noqa: SIM905
)
GIVEN = re.compile(r"(\d[\d,]*(?:\.\d+)?)[ -]?(%|[A-Za-z]+)?")
PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"))
SHORT_UNITS = {
    "feet": "foot", "min": "minute", "mins": "minute", "hr": "hour", "hrs": "hour", "h": "hour",
    "sec": "second", "secs": "second", "m": "meter", "metre": "meter", "metres": "meter",
    "litre": "liter", "litres": "liter", "kilometre": "kilometer", "kilometres": "kilometer",
}  # fmt: skip
CLOCKS = ("hour", "minute", "second", "day", "week", "month", "year")


class QuestionHints:
    """Facts about a question, each computed when first needed. Linear, never raises.

    Words are stems: "dollar", "percent". An empty question has no facts.
    """

    def __init__(self, question: str) -> None:
        self.question = question

    @cached_property
    def asking(self) -> str:
        """The sentence that asks."""
        return _asking_part(self.question[-2_000:])

    @cached_property
    def units(self) -> frozenset[str]:
        """The units that the answer counts."""
        units = _units(self.asking)
        if not units and "$" in self.question and HOW_MUCH.search(self.asking):
            return frozenset(["dollar"])
        return units

    @cached_property
    def _given(self) -> list[tuple[str, str]]:
        pairs = (match.groups("") for match in GIVEN.finditer(self.question[:8_000]))
        return [(digits.replace(",", ""), word) for digits, word in pairs]

    @cached_property
    def givens(self) -> frozenset[tuple[str, str]]:
        """The quantities of the question: digits, and the next word."""
        return frozenset((digits, stem(word)) for digits, word in self._given if word)

    @cached_property
    def values(self) -> frozenset[str]:
        """Only the digits of the quantities."""
        return frozenset(digits for digits, _ in self._given)

    @cached_property
    def share(self) -> bool:
        """True if it may ask for a fraction."""
        return SHARE.search(self.asking) is not None

    @cached_property
    def compares(self) -> bool:
        """True if it may ask how much more."""
        return not self.question or COMPARES.search(self.asking) is not None

    @cached_property
    def words(self) -> frozenset[str]:
        """The longer words of the sentence that asks."""
        return frozenset(map(stem, LONG_WORD.findall(self.asking)))

    @cached_property
    def name(self) -> str:
        """The only name in the sentence that asks, else ""."""
        names = set(NAME.findall(self.asking)) - NO_NAMES
        return names.pop() if len(names) == 1 else ""

    @cached_property
    def points(self) -> bool:
        """True if its language writes "5.600" or "5 600" for thousands."""
        return groups_by_points(self.question)


# Returns the hints of a question; those of the last 8,192 questions are remembered.
question_hints = lru_cache(8192)(QuestionHints)


def groups_by_points(text: str) -> bool:
    """Return whether the language of a text writes "5.600" or "5 600" for thousands."""
    count = len(POINT_LANGUAGES.findall(text))
    return count > 0 and count > len(ENGLISH.findall(text))


def restates_question(text: str, question: str, share: float = 0.6) -> bool:
    """Return whether a sentence contains this share of the topic words of the asking sentence."""
    words = question_hints(question).words
    topics = words - NO_TOPIC if len(words - NO_TOPIC) >= 3 else words
    found = topics.intersection(map(stem, LONG_WORD.findall(text)))
    return len(topics) >= 3 and len(found) >= share * len(topics)


def stem(word: str) -> str:
    """Return a word's stem, accurate enough to distinguish units: "boxes" -> "box"."""
    word = word.lower().strip("'’-")
    if not word.endswith("s"):
        return "cent" if word == "¢" else SHORT_UNITS.get(word, word)
    if word == "cents":
        return "cent"
    for ending, rest in PLURALS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + rest
    if word in SHORT_UNITS:
        return SHORT_UNITS[word]
    return word[:-1] if not word.endswith("ss") and len(word) > 3 else word


def _asking_part(question: str) -> str:
    """Return the sentence that ends in the last question mark, else the last sentence."""
    end = question.rfind("?")
    end = len(question) if end < 0 else end
    start = 0
    for stop in SENTENCE.finditer(question, 0, end):
        start = stop.end()
    return question[start:end]


def _units(asking: str) -> frozenset[str]:
    explicit = [stem(match) for match in IN_UNITS.findall(asking)]
    if explicit:
        return frozenset(explicit[-1:])
    if PERCENT.search(asking):
        return frozenset(["percent"])
    counted = [match.group(1) for match in HOW_MANY.finditer(asking)]
    if counted:
        if counted[-1].startswith("times "):
            return frozenset(["time"])
        words = [word for word in counted[-1].split() if word.lower() not in FILLERS]
        return frozenset(stem(word) for word in words[:2])
    if TIME_OF.search(asking):
        return frozenset(CLOCKS)
    return frozenset(["dollar"]) if MONEY.search(asking) else frozenset()
