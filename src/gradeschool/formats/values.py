"""A sample: one completion as its row in a file gives it; how the values of a row are read.

Values are those of JSON and of cells: completions, questions, ids, flags, failures.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import normalize
from gradeschool.completion import NO_USAGE, Completion, Finish, Usage
from gradeschool.errors import InputError
from gradeschool.printable import count
from gradeschool.problem import Problem
from gradeschool.scorer import clip

UNNAMED = ""  # the run of a row that names no run, until the whole file is read
UNNUMBERED = -1  # the sample number of a row that gives none
WHOLE = re.compile(r"\s*(-?\d{1,18})(?:\.0+)?\s*\Z")
NUMBER_AT_END = re.compile(r"(?:^|[-_:/# ])0*(\d{1,15})\Z")
PARTS_OF_ID = re.compile(r"[-_:/# ]")
# Names of columns by their role, and other names and words, from names.toml.
_NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
ROLES, WORDS = (
    {name: tuple(words.split()) for name, words in _NAMES[table].items()}
    for table in ("roles", "words")
)
CHAT, TEXTS, WEAK_TEXTS = WORDS["chat"], ROLES["response"], WORDS["weak_texts"]
ROLES |= {"response": TEXTS + WEAK_TEXTS, "id": (*ROLES["id"], "")}
PLAIN, CAMEL = re.compile(r"[^0-9a-z]+"), re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason")
USERS, ANSWERERS = ("user", "human", "HUMAN"), ("assistant", "gpt", "bot", "BOT", "model")
NO_ERROR = ("", "none", "null", "nan", "false")
FLAGS = dict.fromkeys(WORDS["right"], True) | dict.fromkeys(WORDS["wrong"], False)
DEEPEST = 12  # levels of lists and objects around a text
SERVICE_FAILURE = "the text is a failure of a service: "
LONGEST_FAILURE, FAILURE_HEAD = 1500, 200  # characters: of all, of those that FAILURE_BEGINS reads
FAILURE_BEGINS = re.compile(
    r"""[\s\W]{0,4}(?:
    [\w.]{0,40}(?:error|exception|timeout|failure)s?\b
    | (?:an?|api|http|request|server|internal|connection|network|openai|service|generation|model)
      [\w /-]{0,24}\b(?:errors?|exception|failed|failure|timed\ out|exceeded|unavailable|aborted)\b
    | (?:rate[ -]?limit|too\ many\ requests|quota|service\ unavailable|bad\ gateway|gateway\ time)
    | (?:failed|unable)\ to\ (?:generate|get|call|connect|fetch|complete)
    | [45]\d\d\s+(?:too|bad|internal|service|gateway|unauthorized|forbidden|server|client)\b
    | (?:max(?:imum)?\ )?retries\ exceeded | \w{0,20}connectionpool\(
    | connection\ (?:refused|reset|closed)\b | server\ disconnected\b | cuda\ out\ of\ memory\b
    | context[ _-]?length[ _-]?exceeded\b | (?:content[ _-]filter|overloaded)\W*\Z
    | traceback\b | html | doctype\ html )""",
    re.VERBOSE,
)
# What a spreadsheet makes of a text: an error of a formula, a date.
SPOILED = re.compile(r"#(?:NAME\?|REF!|VALUE!|DIV/0!|NUM!|N/A)\Z|\d{4}-\d\d-\d\d 00:00:00\Z")
FAILURE_NAMES = re.compile(
    r"rate.?limit|too many requests|time[ds]?[ -]?out|connection|quota|overload|unavailable"
    r"|bad gateway|internal (?:server )?error|server error|retries|out of memory|api[ _]?key"
    r"|unauthori[sz]ed|forbidden|disconnected|context.?length|content.?(?:filter|policy)|status|endpoint"
    r"|error code|\bcode\W{1,4}[45]\d\d|\bhttp\W{1,3}[45]\d\d|\b(?:429|50[0234]|529)\b"
    r"|\bapi\b|request failed|failed to generate|error generating"
)
UNKNOWN = "unknown"  # a value that an engine does not report


class ProblemReference(NamedTuple):
    """How a row names its problem; what it does not say is None.

    id: of the problem, or its row in the dataset. question: may be a prompt that contains the
    question. gold: that of the file, as it stands there. order: the place of the row among those
    that are not blank, from 0, for --in-order. in_text: the row has no question, id or gold, and
    matching looks for a question in the text. turns: of the user in a chat, before the question.
    """

    id: str | None = None
    question: str | None = None
    gold: Any = None
    order: int | None = None
    in_text: bool = False
    turns: tuple[str, ...] = ()

    @property
    def number(self) -> int | None:
        """The row of the dataset: the only number of the id, at its end."""
        if self.id is None:
            return None
        if (whole := WHOLE.match(self.id)) is not None:
            return int(whole[1])
        if sum(part.isdecimal() for part in PARTS_OF_ID.split(self.id)) > 1:
            return None
        match = NUMBER_AT_END.search(self.id)
        return None if match is None else int(match[1])


NO_REFERENCE = ProblemReference()


class Sample(NamedTuple):
    """A completion, or why there is none, as its row in a file gives it.

    row: 1-based number in the file. run: the name that results are grouped under, UNNAMED for a row
    that names none. reference: how the row names its problem. sample: its number among the
    samples of its problem, UNNUMBERED if the file does not say. error: the provider's failure,
    which is an outcome, not a wrong answer. fault: why the row cannot be used. flag: the file's own
    verdict. stored: the completion of a row of a run folder. score: a reward, if the user named its
    column. problem: set by matching, None for a row that cannot be used.
    """

    row: int
    run: str = UNNAMED
    text: str = ""
    reference: ProblemReference = NO_REFERENCE
    sample: int = UNNUMBERED
    finish: Finish = Finish.UNKNOWN
    error: str = ""
    fault: str = ""
    model: str = ""
    flag: bool | None = None
    stored: Completion | None = None
    score: float | None = None
    problem: Problem | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of the request and of the completion, as far as they are recorded."""
        return self.stored.usage if self.stored else NO_USAGE


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the files of a command are read.

    columns: the columns that the user named, by role: one mapping for all files, or one for each.
    dataset: the name or path of the dataset of the problems, None to find it out. in_order: rows
    are the dataset's, in its order. id_base: the number of the first problem in ids, None to find
    it out.
    """

    columns: tuple[Mapping[str, str], ...] = ()
    dataset: str | None = None
    in_order: bool = False
    id_base: int | None = None

    def for_each(self, files: Sequence[str]) -> list[tuple[str, ReadOptions]]:
        """Return each file with its own options; raises InputError for too many columns."""
        if len(self.columns) <= 1:
            return [(file, self) for file in files]
        if len(self.columns) != len(files):
            raise InputError(
                f"--columns is given {len(self.columns)} times for {count(len(files), 'file')}; "
                "give it once for all files, or once for each in their order (join roles by commas)"
            )
        return [(file, replace(self, columns=(columns,)))
                for file, columns in zip(files, self.columns, strict=True)]  # fmt: skip


DEFAULTS = ReadOptions()


# Values


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON value if it is an object, else an empty object."""
    return value if isinstance(value, Mapping) else {}


def read_object(path: Path, advice: str) -> dict[str, Any]:
    """Return the JSON object in a file; raises InputError, with the advice, if there is none."""
    try:
        fields = json.loads(path.read_bytes())
        if not isinstance(fields, dict):
            raise ValueError("it is not an object")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); {advice}") from error
    return fields


@cache
def plain_name(name: str) -> str:
    """Return a column's name in lower case, with "_" for every other character and in camelCase."""
    return PLAIN.sub("_", CAMEL.sub("_", str(name)).lower()).strip("_")


def rank_of_texts(names: Iterable[str]) -> int:
    """Return 2 if one of these names is usual for a model's texts, 1 if it may be, else 0."""
    plain = {plain_name(name) for name in names}
    return 2 if not plain.isdisjoint(TEXTS) else int(not plain.isdisjoint(WEAK_TEXTS))


def service_failure(text: str) -> bool:
    """Return whether a text is no completion: "Error: rate limit 429", a spreadsheet's "#NAME?"."""
    begins = FAILURE_BEGINS.match(text[:FAILURE_HEAD].lower())  # without re.I in half the time
    failed = (begins and FAILURE_NAMES.search(text.lower())) or SPOILED.match(text)
    return failed is not None and len(text) <= LONGEST_FAILURE


def texts_of(value: Any, depth: int = 0) -> list[str] | None:
    """Return the completions in a value (texts, messages, choices); None if it has no text."""
    if depth > DEEPEST:
        return None
    if isinstance(value, str):
        return [value]
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return [normalize(repr(value))]
    if isinstance(value, Mapping):
        if is_response(value):
            return texts_of(value["output"], depth + 1) or [""]
        message = value.get("message")
        if isinstance(message, Mapping) and message.get("content", "") is None:
            return [""]  # cut while it was thinking, or a tool call
        inner = first_given(value, WORDS["inner"])
        if inner is not None and inner is value.get("parts"):  # Gemini's: parts of one message
            text = text_of(inner)
            return None if text is None else [text]
        return None if inner is None else texts_of(inner, depth + 1)
    if not isinstance(value, list) or not value:
        return None
    if _is_conversation(value):
        text = _turn(value[-1]) if _role(value[-1]) in ANSWERERS else None
        return None if text is None else [text]
    if len(value) == 1 and isinstance(value[0], list):
        return texts_of(value[0], depth + 1)
    kinds = [each.get("type") if isinstance(each, Mapping) else None for each in value]
    if "message" in kinds:  # of the Responses API: the last message is the answer
        last = len(kinds) - 1 - kinds[::-1].index("message")
        return texts_of(value[last], depth + 1)
    if kinds[0] is not None:  # parts of one message
        text = text_of(value)
        return [text] if text else None
    texts = [texts_of(item, depth + 1) for item in value]
    whole = [text[0] for text in texts if text and len(text) == 1]
    return whole if len(whole) == len(value) else None


def finish_reasons(value: Any, depth: int = 0) -> list[object]:
    """Return the finish reasons in the value that has the completions (choices), in their order."""
    if depth > DEEPEST:
        return []
    if isinstance(value, list):
        each = [
            finish_reasons(item, depth + 1) if isinstance(item, Mapping) else [] for item in value
        ]
        return [reasons[0] for reasons in each] if all(each) else []
    if not isinstance(value, Mapping):
        return []
    if is_response(value):
        details = value.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return [reason or value.get("status")]
    reason = first_given(value, FINISH_KEYS)
    if reason is not None:
        return [reason]
    inside = (finish_reasons(value.get(name), depth + 1) for name in WORDS["inner"])
    return next(filter(None, inside), [])


def question_texts(value: Any, depth: int = 0) -> tuple[str, ...]:
    """Return the texts of the user in a chat, in their order, or the one text of another value."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, Mapping):
        inner = first_given(value, ("question", "problem", "text", "content", "prompt"))
        return question_texts(inner) if isinstance(inner, str) else ()
    if isinstance(value, list) and value and _is_conversation(value):
        turns = [_turn(turn) for turn in value if _role(turn) in USERS]
        return tuple(text for text in turns if text is not None)
    if isinstance(value, list) and len(value) == 1 and depth < DEEPEST:
        return question_texts(value[0], depth + 1)
    return ()


def parse_id(value: Any) -> str | None:
    """Return an id as text: pandas writes 3.0 for 3 where another id is missing."""
    if type(value) is int:
        return str(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value != value:
        return None
    if isinstance(value, str):
        return value or None
    number = whole_number(value)
    return shown(value) if number is None else str(number)


def run_name(value: object) -> str:
    """Return the name of a run or model in a field, "" for none."""
    if isinstance(value, Mapping):
        inner = first_given(value, ("name", "id"))
        return "" if inner is None else run_name(inner)
    return parse_id(value) or ""


def is_response(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a response of OpenAI's Responses API: reasoning, messages."""
    items = value.get("output")
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and "type" in item for item in items
    )


def _is_conversation(value: Sequence[Any]) -> bool:
    return all(isinstance(turn, Mapping) and _role(turn) for turn in value)


def _role(turn: Mapping[str, Any]) -> str:
    role = turn.get("role") or turn.get("from")
    return role if isinstance(role, str) else ""


def _turn(turn: Mapping[str, Any]) -> str | None:
    return text_of(first_given(turn, ("content", "value", "prompt", "parts")))


def text_of(content: object, between: str = "") -> str | None:
    """Return the text of a message's content (a string or a list of parts), else None."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping | str) for part in content):
        shown = (each for each in content if isinstance(each, str) or not each.get("thought"))
        parts = [each if isinstance(each, str) else each.get("text") for each in shown]
        return between.join(part for part in parts if isinstance(part, str))
    return None


def whole_number(value: object) -> int | None:
    """Return an index given as a number or as digits, else None."""
    if type(value) is int:
        return value if abs(value) < 2**63 else None
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, str) and (match := WHOLE.match(value)) is not None:
        return int(match[1])
    return None


def finite_number(value: object) -> float | None:
    """Return a finite number, also one in words ("0.93"), else None; a truth value is none."""
    try:
        number = float(value) if isinstance(value, int | float | str) else nan
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and not isinstance(value, bool) else None


def error_text(value: object, has_text: bool) -> str:
    """Return the failure that a row's error field reports, "" for none.

    Beside a text, only an object and words that services use are a failure: other words name a
    model's mistake. Tables that pandas wrote have NaN or "None".
    """
    if not value or value != value:
        return ""
    text = value if isinstance(value, str) else shown(value)
    if has_text and isinstance(value, Mapping):
        return message_of(value) if any(value.values()) else ""
    if has_text:
        return text if service_failure(text) else ""
    return "" if text.strip().lower() in NO_ERROR else text


def message_of(error: Any) -> str:
    """Return the message of a failure that a server reports as an object or a text."""
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("code") or "request failed"
    return error if isinstance(error, str) or not error else shown(error)


def read_number(gold: object) -> str:
    """Return a file's gold in its compared form, "" if it cannot be read."""
    try:
        return normalize(read_gold(gold))
    except InputError:
        return ""


def parse_flag(value: object) -> bool | None:
    """Return a file's own verdict: true, 1, "correct" ..., None for any other value."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return FLAGS.get(value.strip().lower()) if isinstance(value, str) else None


def shown(value: object) -> str:
    """Return a value in a form that fits into a message, however long or deep it is."""
    try:
        return clip(repr(value))
    except RecursionError:
        return "a value that is nested too deeply"


def first_given(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first of these fields that is present and not None."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return value
    return None
