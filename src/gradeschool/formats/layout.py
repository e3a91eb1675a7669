"""Find out which column of a foreign file contains what, by names and values.

`plain.py` reads rows whose columns have its own names. For other files, a `Layout` is made from the
first rows: for each role, the first name in `NAMES` that has a usable value. Names are compared in
lower case with "_" for every other character; a dot leads into an object. Column names come from
the documentation of vLLM, OpenAI, Hugging Face pipelines, lighteval, HELM, OpenCompass,
simple-evals, promptfoo, verifiers, NeMo-Skills, LLaMA-Factory and AlpacaEval.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.completion import finish_of
from gradeschool.errors import InputError
from gradeschool.formats.plain import (
    ERROR_FIELDS,
    FINISH_FIELDS,
    PROBLEM_FIELDS,
    TEXT_FIELDS,
    plain_name,
    run_name,
)
from gradeschool.formats.samples import (
    UNNAMED,
    UNNUMBERED,
    Reference,
    Sample,
    error_of,
    faulty,
    first_of,
    gold_in,
    shown,
    text_of,
    whole_number,
)
from gradeschool.formats.settings import mapping
from gradeschool.formats.tables import RUN_FIELDS, Row
from gradeschool.scorer import clip

MESSAGES = ("messages", "conversation", "conversations", "convo", "chat", "dialogue", "turns")
NAMES: Mapping[str, tuple[str, ...]] = {
    "response": (
        *("actual_output", "response.output", "outputs.output", "outputs.answer"),
        *("completion", "completions", "output", "outputs", "response", "responses"),
        *("generated_text", "generation", "generations", "model_response.text", "model_response"),
        *("model_output", "model_answer", "model_completion", "model_solution", "llm_response"),
        *("llm_output", "llm_answer", "assistant", "assistant_response", "bot", "reply"),
        *("result.completions", "response.body", "data.sampled", "sampled", "choices"),
        *("generated", "generated_answer", "generated_response", "generated_solution"),
        *("output_text", "response_text", "raw_output", "raw_response", "full_response", "resps"),
        *("gen", "gens", "resp"),
        *("prediction", "predictions", "predict", "predicted", "candidate", "candidates"),
        *("model_prediction", "pred_text", "text", "content", "result"),
        *("results", "code"),
        *(*MESSAGES, "pred", "predicted_answer", "extracted_answer", "answer", "solution"),
    ),
    "question": (
        *("question", "problem", "query", "question_text", "problem_text", "math_problem"),
        *("doc.query", "doc.question", "doc.problem", "instance.input.text", "data.prompt"),
        *("vars.question", "inputs.question", "user_input", "instruction", "user"),
        *("user_prompt", "human", "origin_prompt"),
        *("prompt", "prompts", "input", "inputs", "input_text", "full_prompt", "text_input"),
        *("request.prompt", *MESSAGES),
    ),
    "gold": (
        *("gold", "gold_answer", "gold_label", "ground_truth", "ground_truth_answer"),
        *("groundtruth", "gt", "gt_answer", "golden_answer", "target", "targets", "label"),
        *("labels", "expected", "expected_answer", "expected_output", "ideal", "correct_answer"),
        *("reference", "references", "reference_answer", "true_answer", "doc.choices"),
        *("reference_outputs.answer", "instance.references", "data.ideal", "doc.answer"),
        *("vars.answer", "answer", "answers", "solution", "final_answer"),
    ),
    "id": (
        *("index", "idx", "id", "question_id", "problem_id", "doc_id", "task_id", "example_id"),
        *("qid", "uid", "instance.id", "item_id", "instance_id", "question_index", "data_id"),
        *("problem_index", "sample_idx", "row_id", "row", "no", "nr", "number", "custom_id"),
        *("request_id", "unnamed_0", "", "sample_id", "testidx", "dataset_index", "key"),
    ),
    "run": (*RUN_FIELDS, "model.name", "provider.id", "modelname", "checkpoint", "model_path"),
    "sample": ("sample", "sample_index", "sample_number", "epoch", "trial", "attempt", "repeat"),
    "finish": (
        *(*FINISH_FIELDS, "meta_info.finish_reason.type"),
        *("meta_info.finish_reason", "details.finish_reason", "response.incomplete_details.reason"),
    ),
    "error": ERROR_FIELDS,
}
ALIASES = {"completion": "response", "answer": "gold", "index": "id", "model": "run"}
POSITIONS = (
    *("index", "idx", "doc_id", "row", "row_id", "unnamed_0", "", "question_index"),
    *("problem_index", "sample_idx", "testidx", "dataset_index"),
)
FULL_TEXT = "generated_text"  # a Hugging Face pipeline puts the prompt before the completion
TEXTS = (
    *("content", "text", "generated_text", "completion", "message", "output_text", "choices"),
    *("candidates", "parts"),
)
# Beside one of these, "answer" is the dataset's answer, not the model's.
RESPONSES = frozenset(NAMES["response"][: NAMES["response"].index("prediction")]) - frozenset(
    ("actual_output", *TEXT_FIELDS)
)
# Of these, some hold the model's text, others the number that was extracted from an "answer".
PREDICTIONS = frozenset(name for name in NAMES["response"] if "pred" in name) | {
    *("candidate", "candidates", "extracted_answer")
}
EXTRACTED_LENGTH = 20  # characters; a longer prediction is a text
GOLDS = frozenset(NAMES["gold"][: NAMES["gold"].index("reference")])
QUESTIONS, ANSWERS = ("user", "human", "HUMAN"), ("assistant", "gpt", "bot", "BOT", "model")
FINISHES = ("finish_reason", "finishReason", "stop_reason")  # beside a completion
ASSERTED = (0, 1)  # promptfoo: no failure, or an assertion is not met; 2 is an error
DEEP = 3  # levels of nested objects that are searched
FEW = 4  # rows; fewer golds may be 0 and 1 by chance
LATE = ("run", "finish", "error")  # roles of columns that may be empty at first
HEAD = 16  # number of rows from which a layout is made

Path = tuple[str, ...]


class Column(NamedTuple):
    """A column, or a value inside the objects of a column."""

    path: Path

    def of(self, fields: Mapping[str, Any]) -> Any:
        """Return the value in a row, None if there is none."""
        value: Any = fields
        for name in self.path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def __str__(self) -> str:
        """Return the name."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Layout:
    """The column of each role.

    named: whether the user named any of them. blank: the numbers of blank rows, which do not count
    in the order of the rows.
    """

    columns: Mapping[str, Column]
    named: bool = False
    blank: Sequence[int] = ()

    @property
    def names_problems(self) -> bool:
        """Whether a column names the problem."""
        return not self.columns.keys().isdisjoint(("id", "question"))

    def place(self, row: int) -> int:
        """Return the place of a row among those that are not blank, counted from 1."""
        return row - bisect_left(self.blank, row)

    def samples(self, row: Row, default_run: str) -> Iterator[Sample]:
        """Yield the completions of a row: one for each of its texts."""
        values = {role: READ[role](column.of(row.fields)) for role, column in self.columns.items()}
        texts, question = values.get("response"), values.get("question")
        error = error_of(values.get("error"), bool(texts))
        if row.fields.get("failureReason") in ASSERTED:
            error = ""  # promptfoo gives the reason why an answer is wrong
        run = values.get("run")
        if error and not texts:
            texts = [""]
        if not texts:
            yield faulty(row.number, run or UNNAMED, self._without_text(row.fields))
            return
        if question and self.columns["response"].path[-1] == FULL_TEXT:
            texts = [text.removeprefix(question) for text in texts]
        number = values.get("sample", UNNUMBERED)
        number = UNNUMBERED if number is None else number
        finishes = [values.get("finish")]
        if "finish" not in self.columns:
            finishes = finishes_of(self.columns["response"].of(row.fields)) or finishes
        for index, text in enumerate(texts):
            yield Sample(
                row=row.number,
                run=run or default_run,
                text=text,
                reference=self._reference(values, row.number, text),
                sample=number if len(texts) == 1 else max(number, 0) + index,
                finish=finish_of(finishes[index % len(finishes)]),
                error=error,
                model=run or "",
            )

    def _reference(self, values: Mapping[str, Any], row: int, text: str) -> Reference:
        id, question, gold = values.get("id"), values.get("question"), values.get("gold")
        named = id is not None or question is not None
        is_position = isinstance(id, int) and plain_name(self.columns["id"].path[-1]) in POSITIONS
        return Reference(
            position=id if is_position else None,
            id=None if id is None or is_position else str(id),
            question=question if named else text,
            gold=gold,
            order=self.place(row),
            prompted=not named,
        )

    def _without_text(self, fields: Mapping[str, Any]) -> str:
        column = self.columns.get("response")
        if column is not None:
            return f"has no text in its column {str(column)!r}: {shown(column.of(fields))}"
        names = clip(", ".join(map(repr, fields)), 200) or "none"
        return f"has no text; its columns are {names}; name it with --columns response=COLUMN"

    def __str__(self) -> str:
        """Return "question='Question', response='Model Response'"."""
        return ", ".join(f"{role}={str(column)!r}" for role, column in self.columns.items())


def is_plain(fields: Mapping[str, Any]) -> bool:
    """Return whether a row has a text and a problem under the names in `plain.py`."""
    text = first_of(fields, TEXT_FIELDS)
    if isinstance(text, list) and text and isinstance(text[0], Mapping):
        return "type" in text[0] and not any(map(_is_message, text))
    names = fields.keys()
    if names.isdisjoint(TEXT_FIELDS[:-1]) and _has_response(fields):
        return False
    has_text = not names.isdisjoint(TEXT_FIELDS) and not isinstance(text, Mapping)
    question = fields.get("question")
    named = not names.isdisjoint(PROBLEM_FIELDS) and (
        isinstance(question, str) or first_of(fields, PROBLEM_FIELDS) is not question
    )
    return has_text and named


def has_several_texts(fields: Mapping[str, Any]) -> bool:
    """Return whether several columns of a row may have the model's text."""
    names = {plain_name(name) for name, value in fields.items() if isinstance(value, str)}
    return len(names & (RESPONSES | PREDICTIONS | {*TEXT_FIELDS[:-1]})) > 1


def _has_response(fields: Mapping[str, Any]) -> bool:
    """Return whether a row has the model's text under another name than "answer"."""
    names = {
        plain_name(name): value
        for name, value in fields.items()
        if isinstance(value, str | list | Mapping)
    }
    if not RESPONSES.isdisjoint(names):
        return True
    if not GOLDS.isdisjoint(map(plain_name, fields)):
        return False
    long = len(str(fields.get("answer"))) > EXTRACTED_LENGTH
    predictions = (value for name, value in names.items() if name in PREDICTIONS)
    return any(not long or len(str(value)) > EXTRACTED_LENGTH for value in predictions)


def parse_columns(text: str) -> dict[str, str]:
    """Read "question=NAME,response=NAME". Raises InputError for another role or form."""
    columns = {}
    for part in text.split(","):
        role, equals, name = (word.strip() for word in part.partition("="))
        role = ALIASES.get(role, role)
        if not equals or not name:
            raise InputError(
                f"--columns {clip(part)!r} is not ROLE=COLUMN, such as response=Output"
            )
        if role not in NAMES:
            raise InputError(
                f"--columns {clip(part)!r}: {clip(role)!r} is not a role; use {', '.join(NAMES)}"
            )
        columns[role] = name
    return columns


def layout_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> Layout:
    """Return the layout of a file from some of its rows, without the roles that have no column.

    rows: the first HEAD of them decide, except for the columns that may be empty there. columns:
    the columns that the user named, by role. Raises InputError if the rows lack one.
    """
    paths: dict[str, list[Path]] = {}
    for fields in rows:
        for path in _paths(fields):
            alike = paths.setdefault(".".join(map(plain_name, path)), [])
            if path not in alike:
                alike.append(path)
    chosen = {role: _column(name, paths) for role, name in columns.items()}
    taken = {column.path for column in chosen.values()}
    for role in NAMES:
        if role in chosen:
            continue
        candidates = (path for name in NAMES[role] for path in paths.get(name, ()))
        for path in candidates:
            column = Column(path)
            is_free = path not in taken or plain_name(path[-1]) in MESSAGES
            is_late = role in LATE  # a later row may have an error, or the first run none
            values = [column.of(fields) for fields in (rows if is_late else rows[:HEAD])]
            has_value = any(READ[role](value) is not None for value in values)
            may_have = is_late and all(value in (None, "") for value in values)
            if role == "gold" and _are_labels(path[-1], values):
                continue
            if is_free and (has_value or may_have):
                chosen[role] = column
                taken.add(path)
                break
    return Layout(chosen, bool(columns))


def _are_labels(name: str, values: Sequence[Any]) -> bool:
    """Return whether a column tells right from wrong completions by 1 and 0."""
    named = plain_name(name) in ("label", "labels", "target", "targets")
    return named and len(values) >= FEW and all(whole_number(value) in (0, 1) for value in values)


def _column(name: str, paths: Mapping[str, Sequence[Path]]) -> Column:
    """Return the column that the user named: an exact match, or the only similar name."""
    every = [path for same in paths.values() for path in same]
    exact = [path for path in every if ".".join(path) == name]
    alike = paths.get(".".join(map(plain_name, name.split("."))), ())
    if not exact and not alike:
        names = clip(", ".join(repr(path[0]) for path in every if len(path) == 1), 300)
        raise InputError(f"--columns names {name!r}, but the columns are {names or 'none'}")
    return Column((*exact, *alike)[0])


def _paths(fields: Mapping[str, Any], depth: int = 1) -> Iterator[Path]:
    for name, value in fields.items():
        yield (name,)
        if isinstance(value, Mapping) and depth < DEEP:
            yield from ((name, *path) for path in _paths(value, depth + 1))


# Values


def texts_of(value: Any) -> list[str] | None:
    """Return the completions in a value (texts, messages, choices); None if it has no text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return [normalize(repr(value))]
    if isinstance(value, Mapping):
        if is_response(value):
            return texts_of(value["output"]) or [""]
        message = value.get("message")
        if isinstance(message, Mapping) and message.get("content", "") is None:
            return [""]  # cut while it was thinking, or a tool call
        inner = next((value[name] for name in TEXTS if value.get(name) is not None), None)
        if inner is value.get("parts"):  # Gemini's: parts of one message
            text = text_of(inner)
            return None if text is None else [text]
        return None if inner is None else texts_of(inner)
    if not isinstance(value, list) or not value:
        return None
    if _is_conversation(value):
        last = value[-1]
        text = _turn(last) if _role(last) in ANSWERS else None
        return None if text is None else [text]
    if len(value) == 1 and isinstance(value[0], list):
        return texts_of(value[0])
    if messages := [item for item in value if _is_message(item)]:  # Responses API
        return texts_of(messages[-1])
    if isinstance(value[0], Mapping) and "type" in value[0]:  # parts of one message
        text = text_of(value)
        return [text] if text else None
    texts = [texts_of(item) for item in value]
    whole = [text[0] for text in texts if text and len(text) == 1]
    return whole if len(whole) == len(value) else None


def finishes_of(value: Any) -> list[object]:
    """Return the finish reasons in the value that has the completions (choices), in their order."""
    if isinstance(value, list):
        each = [finishes_of(item) if isinstance(item, Mapping) else [] for item in value]
        return [reasons[0] for reasons in each] if all(each) else []
    if not isinstance(value, Mapping):
        return []
    if is_response(value):
        return [mapping(value.get("incomplete_details")).get("reason") or value.get("status")]
    for name in FINISHES:
        if value.get(name) is not None:
            return [value[name]]
    return next((reasons for name in TEXTS if (reasons := finishes_of(value.get(name)))), [])


def question_of(value: Any) -> str | None:
    """Return a question: a text, or the last message of the user."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, list) and _is_conversation(value):
        return next((_turn(turn) for turn in reversed(value) if _role(turn) in QUESTIONS), None)
    if isinstance(value, list) and len(value) == 1:
        return question_of(value[0])
    return None


def is_response(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a response of OpenAI's Responses API: reasoning, messages."""
    items = value.get("output")
    return isinstance(items, list) and all(
        isinstance(item, Mapping) and "type" in item for item in items
    )


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "message"


def _is_conversation(value: Sequence[Any]) -> bool:
    return all(isinstance(turn, Mapping) and _role(turn) for turn in value)


def _role(turn: Mapping[str, Any]) -> str:
    role = turn.get("role") or turn.get("from")
    return role if isinstance(role, str) else ""


def _turn(turn: Mapping[str, Any]) -> str | None:
    content = turn.get("content", turn.get("value", turn.get("prompt")))
    return text_of(content)


def _name(value: Any) -> str | int | None:
    is_name = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not is_name or value in ("", None) or value != value:
        return None
    number = whole_number(value)
    return number if number is not None else str(value)


def _same(value: Any) -> Any:
    return value if value == value else None  # pandas writes NaN for no value


READ: Mapping[str, Callable[[Any], Any]] = {
    "response": texts_of,
    "question": question_of,
    "gold": gold_in,
    "id": _name,
    "run": lambda value: run_name(value) or None,
    "sample": whole_number,
    "finish": _same,
    "error": lambda value: value,
}


# Files that are one JSON value


def rows_in(value: Any) -> list[Any] | None:
    """Return the rows in a JSON value, None if there are none.

    Understands an array of rows; an object with such an array (the longest), with an array of rows
    for each of several runs, of objects by number (OpenCompass), or of columns (pandas); `columns`
    and `data` (pandas "split", tables of Weights & Biases); and `results` that are any of these
    (promptfoo).
    """
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, Mapping) or not value:
        return None
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return [dict(zip(map(str, names), row, strict=False)) if isinstance(row, list) else row
                for row in data]  # fmt: skip
    if all(isinstance(item, Mapping) for item in value.values()):
        numbers = [whole_number(name) for name in value]
        if None not in numbers:  # objects by number; the key is the id of a row without an id
            return [{"index": name, **item} for name, item in value.items()]
        if (rows := _by_row(value)) is not None:
            return rows
    lists = [item for item in value.values() if isinstance(item, list) and item]
    if len(lists) == len(value) > 1 and _are_alike(lists):
        return [{"run": name, **_unpacked(row)} for name, table in value.items() for row in table]
    if len(lists) == len(value) and len({len(item) for item in lists}) == 1 < len(lists):
        return [dict(zip(value, cells, strict=True)) for cells in zip(*lists, strict=True)]
    tables = [item for item in lists if all(isinstance(row, Mapping | list) for row in item)]
    longest = max(tables, key=len, default=None)
    if longest is None and isinstance(value.get("results"), Mapping):
        return rows_in(value["results"])
    return None if longest is None else [_unpacked(item) for item in longest]


def _are_alike(tables: Sequence[Sequence[Any]]) -> bool:
    """Return whether tables have the same columns: they are of several runs."""
    rows = [table[0] for table in tables]
    return all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows)


def _unpacked(item: Any) -> Any:
    """Return a row, taken out of a list of one; a conversation gets a name."""
    if isinstance(item, list) and item and all(isinstance(turn, Mapping) for turn in item):
        return {"messages": item} if _is_conversation(item) else item[0] if len(item) == 1 else item
    return item


def _by_row(columns: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the rows of {column: {row: cell}}."""
    rows = dict.fromkeys(name for cells in columns.values() for name in cells)
    if not all(whole_number(row) is not None for row in rows):
        return None
    return [{name: cells.get(row) for name, cells in columns.items()} for row in rows]
