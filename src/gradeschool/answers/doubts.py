"""Numbers that a sentence denies, only considers, or only bounds: no answers.

"15 is wrong", "not 15", "could be 15", "suppose it is 15", "15 or more", "15 to 18", "15 ± 3".
"""

from __future__ import annotations

import re

from gradeschool.answers.quantities import WrittenNumber, quantity_at

# Characters of a sentence before and after a number that may deny it, and that exclude it directly.
REACH, NEAR = 96, 24
# A number after one of these is not the result: "more than 5" compares with it, "not 5" and "as
# opposed to 5" exclude its value.
EXCLUDED = re.compile(
    r"(?i)(?:\b(?:(?P<compared>(?<!\bno\s)(?:more|less|greater|fewer)\sthan|compared\s(?:to|with)"
    r"|exceed(?:s|ing)?)|(?:not|never|no\slonger)(?:\s(?:be|pick|choose|answer|say|write))?"
    r"|(?:(?:other|rather)\sthan|(?:instead|en\slugar|en\svez|em\svez|au\slieu|invece)\s(?:of|d[ei])"
    r"|ao\sinvés\sde|as\sopposed\sto|versus|vs\.?|(?:an)?statt|вместо)(?:\sthe|\sa|\snur|\sonly)?"
    r"|(?:et|y|e)\s(?:non?|não)(?:\s(?:pas|de))?|nicht|no\s(?:es|son)|não\s(?:é|são)"
    r"|non\s(?:è|sono)|n['’]est\spas|не)"
    r"|n['’]t(?:\s(?:be|pick|choose|answer|say|write))?|\bcannot(?:\sbe)?|≠|\\neq?|不是|而非)$"
)
# Every match of it ends in one of these, in lower case.
EXCLUDED_ENDS = (
    "than", " to", "with", "exceed", "exceeds", "exceeding", "not", "never", "longer", " be",
    "e of", "d of", " de", " di", "vs", "vs.", "versus", "statt", "вместо", " the", " a", " nur",
    " only", "non", " no", " pas", "não", "nicht", " es", " son", " é", " são", " è", " sono",
    "n't", "n’t", "cannot", "≠", "\\ne", "\\neq", "не", "不是", "而非", "pick", "choose", "answer",
    "say", "write",
)  # fmt: skip
# Before a number, in its clause: what follows is tried, guessed or supposed.
CONSIDERED = re.compile(
    r"(?i)\b(?:(?:could|might|may)\s(?:\w+\s)?(?:be|equal)|(?:try(?:ing)?|testing)(?:\s\w\s?=)?"
    r"|(?:let(?:['’]s|\sme|\sus)|i(?:['’]ll|\swill|\scan)?|we|to)\s(?:try|test|check|guess|assume"
    r"|suppose|consider)(?:ing)?(?:\s(?:with|that|it['’]?s?|(?:\w+\s)?\w+\s(?:is|are|was|be)|is))?"
    r"|consider(?:ing)?(?:\sthe\s\w+)?|as\sa\sguess,?|a\sguess\sof|if\s(?:you|they|someone|we)\s(?:got|get|have|answered|wrote)"
    r"|(?:(?:suppos(?:e|ing)|assum(?:e|ing)|imagine|pretend|perhaps|maybe|possibly"
    r"|vielleicht|könnten?|angenommen|peut-être|pourrait|supposons|qui(?:zá|zas|zás)|podría|tal\svez"
    r"|talvez|poderia|suponha|supongamos|forse|potrebbe|misschien|может\sбыть|возможно|допустим)\b,?"
    r"|(?:let(?:['’]s|\sus|\sme)\s|(?:^|[.;:!?\n]\s{1,3}))say\b"
    r"|\bif\s(?=\w+\s(?:is|are|was|were))|(?:^|[.;:!?\n]\s{1,3})if\s)[^.;:,!?\n\d]{0,30}"
    r"|(?:rang(?:es?|ed|ing)|var(?:y|ies|ied)|lies?|anywhere|somewhere)\sfrom"
    r"|(?:可能|也许|或许|假设|もしかして|たぶん)\w{0,4})$"
)
# Before a number, in its clause: what follows is denied, or somebody else's mistake.
DENIED_BEFORE = re.compile(
    r"(?i)(?:\b(?:false|untrue|wrong|incorrect|mistake|error|\w*n(?:o|['’])t\s(?:true|correct|right|the\scase)"
    r"|doubt(?:ful|s)?|impossible|unlikely)\s(?:that|if|whether|to\s\w+)\b"
    r"|(?:\bnot|n['’]t|\bnever)\s(?:\w+\s)?(?:think|believe|say|claim|sure|certain|convinced|agree"
    r"|suppose|expect|mean)\b|\bunsure\b|\bwonder\b"
    r"|\b(?:might|may|could|would|(?:some|many|most)(?:\s(?:people|students))?|tempting\sto)"
    r"\s(?:\w+\s)?(?:think|say|assume|believe|guess|expect|answer)\b)(?:(?!\bbut\b)[^.;=\n]){0,60}$"
    r"|(?:\bnot|n['’]t|\bnever|\bcannot)\s(?:\w+ly\s)?(?:be|equal(?:\sto)?"
    r"|(?:add\sup|come|amount|work\sout)\sto|give|make|result\sin)\s$"
    r"|\bno\sway\s(?:that\s)?\w+\s(?:is|are|was)\s$"
    r"|\b(?:wrong|incorrect|false)\s(?:answer|result|total|value|guess)\s(?:here\s)?"
    r"(?:is|was|of|would\sbe)\s$|\b(?:mistake|error)\s(?:gives|yields|leads\sto|results\sin)\s$"
    r"|\b(?:wrong|incorrect)(?:\sanswer)?:\s$|\bdisagree\swith\s$"
    r"|\b(?:one|some|any|either|neither|none)\sof\s(?:these:?\s|the\s\w+:?\s)?"
    r"(?:[\s\d.,$]|and|or){0,60}$"
    r"|\b(?:(?:any|every)thing\sbut|different\sfrom|rul(?:e[sd]?|ing)\sout|discard(?:ed)?"
    r"|reject(?:ed)?|exclude[sd]?"
    r"|(?:mistake|error|trap|distractor)\s(?:is|was|would\sbe)(?:\sto\s\w+)?)\s\$?$"
)
# What a predicate says of a wrong number.
_WRONG = (
    r"(?:(?:the\s|an?\s)?(?:\w+\s)?(?:wrong|incorrect|false)(?!\s\w+s\b)|untrue|mistaken|invalid|impossible"
    r"|unlikely|off\b|(?:ruled\sout|rejected|excluded|discarded|out\sof\sthe)\b"
    r"|(?:only\s)?what\s(?:a|you|one|many|some|people|most|careless)\s"
    r"|(?:close|nearly|almost)\s[^.;\n\d]{0,16}\bnot\b"
    r"|not\s(?:the|right|correct|it|our|valid|true|what|enough|possible|equal|a)\b"
    r"|an?\s(?:\w+\s)?(?:mistake|error|slip|guess|trap|distractor|typo|contradiction)"
    r"|(?:(?:far|much|way|a\sbit|clearly)\s)?too\s(?:low|high|small|big|large|many|few|much|little"
    r"|short|long))"
)
DENIED_AFTER = re.compile(
    r"(?i)[*_$)}\]\\'\"”]{0,6}"
    r"(?:,?\s(?:(?:which|that)|(?:but|though|and)\s(?:that|this|it)))?"
    r"(?:\s(?!is\b|was\b)\w{2,14}){0,2}?"
    r"(?:\s(?:is|are|was|were|(?:(?:would|will|must|can|could)(?:\snot)?|can(?:not|['’]t)|ha(?:s|ve)\sto)"
    r"\sbe|seems|looks|sounds|appears\sto\sbe|turns\sout\sto\sbe)|['’]s)\s(?:\w+ly\s|still\s|also\s)?"
    rf"{_WRONG}"
    r"|[^.;\n\d]{0,20}\b(?:(?:is|was|are|would|does|do|did|ca|could|wo)n['’]t|cannot"
    r"|(?:does|do|did|can|could|will|would|must|should|may|might)\snot)\s(?:be\s|seem\s)?(?:the\s|a\s|our\s|quite\s)?"
    r"(?:\w+\s)?(?:answer|right|correct|result|total|true|it|work|fit|match|equal|enough|satisfy|meet|hold|add\sup"
    r"|make\ssense)\b"
    r"|(?:\s\w+){0,2}\s(?:cannot|can['’]t)\sbe(?=[.!;])"
    r"|(?:\s\w+){0,2}\s(?:contradicts|fails|(?:gives|leads\sto)\sa\scontradiction)\b"
    r"|[^.;\n\d]{0,24}(?:\bbut\s|\.\s)(?:it|that|this)(?:\sis|['’]s|\swas)\s"
    r"(?:wrong|incorrect|false|not\s(?:right|correct|it|true|the))\b"
    r"|,?\s(?:no|nope),\s|\?\s{1,2}(?:No|Wrong|Incorrect)\b"
    r"|[^.;\n\d]{0,16}\s(?:(?:ist|sind|war|wäre)\s(?:falsch|nicht\srichtig|verkehrt)"
    r"|(?:n['’]est\spas|no\ses|não\sé|non\sè)\scorr"
    r"|(?:est|sont)\s(?:faux|fausse|incorrect)|(?:es|son|está)\s(?:incorrect|fals|errón)"
    r"|(?:é|está)\s(?:errad|incorret|fals)|(?:è|sono)\s(?:sbagliat|fals|errat)|(?:это\s)?не(?:верно|правильно))"
    r"|\s?是?(?:错|不对|不正确|間違)"
)
# Words, one of which is near each match of the three: a test that costs less.
_DOUBTFUL = """
    not never no cannot wrong incorrect false untrue impossible unlikely mistake mistaken error trap
    distractor guess guessing invalid off slip typo too could might may maybe perhaps possibly try
    trying test testing assume assuming suppose consider considering say imagine if doubt doubtful
    doubts unsure wonder would some many most people students tempting one any either neither none
    anything everything different rule rules ruled ruling discard discarded reject rejected exclude
    excludes excluded pretend close nearly almost only what lies lie ranges range ranged ranging
    varies vary anywhere somewhere nope let let's fails contradicts contradiction falsch verkehrt
    richtig faux fausse vielleicht könnte könnten angenommen peut-être pourrait supposons quizá
    quizás quizas podría tal talvez poderia suponha supongamos forse potrebbe misschien может
    возможно допустим неверно неправильно disagree out supposing must should n'est
    don't doesn't didn't isn't wasn't aren't can't couldn't won't wouldn't
    """.split()  # noqa: SIM905
DOUBTFUL = frozenset(
    word.replace("'", mark) + end for word in _DOUBTFUL for mark in "'’" for end in ("", *".,!?;:*")
)
STEMS = ("incorre", "fals", "errat", "sbagliat")
# A number that only bounds the result, or has a tolerance: "15 or more", "15 ± 3", "15+".
RANGED = re.compile(
    r"(?i)\s?(?:\\?%|\\?\$|[A-Za-z]{1,12})?\s?"
    r"(?:(?:±|\\pm|\+\s?/\s?[-−]|\+[-−]|plus\sor\sminus)\s?\\?\$?\d"
    r"|(?:[<>≤≥]|\\(?:[gl]eq?(?:slant)?|[gl]t)(?![a-z]))\s?[a-z\d]|and\s(?:up|above|more|over)\b(?!\s\w)"
    r"|plus(?=\.?\s*\Z)|\+(?!\s?[\\$(\w])|\+(?=\s[a-z]{2})|,?\s?\bor\s(?:(?:even|maybe|perhaps)\s)?"
    r"(?:more|less|fewer|so|higher|lower|above|below|greater|under|over)\b)"
)
RANGED_SIGNS = ("±", "+", "plus", "or ", "and ", "<", ">", "≤", "≥", "\\")
# ... and after a marker also "15 at most", "15 to 18", "up to 15".
BOUND_AFTER = re.compile(
    r"(?i)(?:\s[A-Za-z]{1,12})?\s(?:at\s(?:the\s)?(?:most|least)|(?:min|max)imum)\b"
)
TO = re.compile(r"(?i)\s?(?:(?:up\s)?to|through|until|bis|hasta|[-–—~]|\.\.\.?|…)\s?")
BOUND = re.compile(
    r"(?i)(?:\b(?:up\sto|at\s(?:the\s)?(?:least|most)|n(?:o|ot)\s(?:more|less|fewer)\sthan"
    r"|(?:more|less|fewer)\sthan|over|under|below|above|(?:min|max)(?:imum(?:\sof)?|\.)|anywhere\sfrom"
    r"|from|between|mindestens|höchstens|bis\szu|zwischen|(?:mehr|weniger)\sals|entre"
    r"|au\s(?:moins|plus|maximum)|(?:plus|moins|más|menos)\sde|(?:al|pelo)\smenos|almeno|как\sминимум"
    r"|не\s(?:менее|более)|(?:from|between)\s\\?\$?[\d.,]+\s(?:to|and))\s"
    r"|(?:[≥≤]|至少|最多|\\(?:[gl]eq?(?:slant)?|[gl]t)(?![a-z])|(?:[:{(#]\s?|\w\s)[<>](?![a-z/]))\s?)\\?\$?$"
    r"|(?<!\\)\[\s?(?:[\d.]{1,12},\s?)?$"
)
# Every match of it, without "\\$ " at its end, ends in one of these.
BOUND_ENDS = (
    "to", "least", "most", "than", "over", "under", "below", "above", "of", "from", "between",
    "and", "≥", "≤", "ge", "le", "geq", "leq", "slant", "min.", "max.", "minimum",
    "gt", "lt", "<", ">", "[", ",", "ens", "zu", "als",
    "de", "entre", "zwischen", "moins", "plus", "maximum", "menos", "almeno", "минимум", "менее",
    "более",
    "至少", "最多",
)  # fmt: skip
CALCULATED = re.compile(
    r"\s?(?:\\?\$?[\d.,]+)?(?:\s?[A-Za-z]{1,12}){0,2}\s?(?:[-+*/×÷=≈]|\\times|\\div)"
)


def ruled_out(text: str, start: int, end: int, number: WrittenNumber) -> str | None:
    """Return why a sentence does not offer a number: "" if its value may still be the result.

    None if nothing speaks against it; start, end: the sentence.
    """
    near = text[max(start, number.start - NEAR) : number.start].rstrip("$ }")
    exclusion = EXCLUDED.search(near) if near.lower().endswith(EXCLUDED_ENDS) else None
    if exclusion is not None:
        return exclusion[0] if exclusion["compared"] is None else ""
    before, after = _around(text, start, end, number)
    if not _may_doubt(before, after):
        return None
    if CONSIDERED.search(before.rstrip("$ }")):
        return ""
    return "denied" if DENIED_AFTER.match(after) or DENIED_BEFORE.search(before) else None


def is_denied(text: str, start: int, end: int, number: WrittenNumber) -> bool:
    """Return whether a sentence denies the number in it: "15 is wrong", "it is false that 15 …"."""
    before, after = _around(text, start, end, number)
    return _may_doubt(before, after) and bool(
        DENIED_AFTER.match(after) or DENIED_BEFORE.search(before)
    )


def _around(text: str, start: int, end: int, number: WrittenNumber) -> tuple[str, str]:
    before = text[max(start, number.start - REACH) : number.start]
    return before, text[number.end : min(end, number.end + REACH)]


def _may_doubt(before: str, after: str) -> bool:
    piece = f"{before} {after}".lower()
    if not DOUBTFUL.isdisjoint(piece.split()):
        return True
    return not piece.isascii() or any(map(piece.__contains__, STEMS))


def is_ranged(text: str, start: int, end: int, number: WrittenNumber, *, direct: bool) -> bool:
    """Return whether a number only bounds the result: "15 or more", "15 to 18", "15 ± 3".

    direct: whether it comes right after a marker, where "up to 15" is no answer either.
    """
    after = text[number.end : min(end, number.end + 32)]
    if any(map(after.__contains__, RANGED_SIGNS)) and RANGED.match(text, number.end, end):
        return True
    if not direct:
        return False
    before = text[max(start, number.start - NEAR) : number.start]
    if before.rstrip("\\$ ").lower().endswith(BOUND_ENDS) and BOUND.search(before):
        return True
    if BOUND_AFTER.match(text, number.end, end):
        return True
    to = TO.match(text, number.end, end)
    following = None if to is None else quantity_at(text, to.end(), end)
    return following is not None and CALCULATED.match(text, following.end, end) is None
