"""Which column of a table has which role: named by the user, else by a few canonical names.

Names are compared in lower case with "_" for every other character. A dot leads into an object, and
into each object of a list. What a column contains must fit its role; where several columns could
have the texts, nothing is guessed: the error shows rows and the command for each choice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import normalize
from gradeschool.completion import Finish, finish_of
from gradeschool.errors import InputError
from gradeschool.formats.samples import (
    UNNAMED,
    UNNUMBERED,
    Reference,
    Sample,
    error_of,
    faulty,
    first_of,
    flag_of,
    sample_number,
    shown,
    text_of,
    whole_number,
)
from gradeschool.formats.tables import RUN_FIELDS, Row
from gradeschool.problem import MARKER
from gradeschool.scorer import clip

CHAT = ("messages", "conversation", "conversations", "chat", "dialogue", "turns")
# The canonical names of each role, the better ones first; "answer" is known by its contents.
TEXTS = (
    *("response", "responses", "completion", "completions", "output", "outputs"),
    *("generation", "generations", "generated_text", "generated_response"),
    *("generated_answer", "generated_solution", "generated", "model_output"),
    *("model_response", "model_answer", "model_prediction", "model_completion"),
    *("model_solution", "llm_response", "llm_output", "llm_answer", "prediction"),
    *("predictions", "predict", "predicted", "candidate", "candidates", "output_text"),
    *("response_text", "raw_output", "raw_response", "full_response", "choices"),
    *("actual_output", "assistant", "assistant_response", "reply", "sampled", "resps"),
    *("prediction_text", "pred_text", "model_generation", "full_output"),
)
WEAK_TEXTS = (
    *("answer", "solution", "pred", "preds", "predicted_answer", "extracted_answer"),
    *("text", "content", "result"),
    *("results", "code", "program", *CHAT),
)
QUESTIONS = (
    *("question", "problem", "question_text", "problem_text", "query", "user_input"),
    *("user", "instruction"),
    *("prompt", "prompts", "full_prompt", "input", "inputs", "input_text", *CHAT),
)
GOLDS = (
    *("gold", "gold_answer", "golden_answer", "ground_truth", "ground_truth_answer"),
    *("groundtruth", "gt", "gt_answer", "target", "targets", "expected", "expected_answer"),
    *("expected_output", "correct_answer", "ideal", "reference_answer", "reference"),
    *("references", "true_answer", "gold_label", "label", "labels"),
)
# Other names are those of golds if they have one of these words, no word but the others ...
GOLD_WORDS = {"gold", "golden", "target", "truth", "expected"}
BESIDE_GOLD = GOLD_WORDS | {
    *("answer", "answers", "ans", "final", "correct", "true", "ground", "reference"),
    *("solution", "response", "output", "result"),
    *("label", "number", "numeric", "int", "parsed", "text", "platinum", "gsm", "gsm8k"),
    *("math", "test", "dataset", "original"),
}  # ... and the values are golds
WEAK_GOLDS = ("answer", "final_answer", "solution", "answers")
IDS = (
    *("id", "index", "idx", "question_id", "problem_id", "doc_id", "task_id", "example_id"),
    *("qid", "uid", "instance_id", "question_index", "problem_index", "sample_idx"),
    *("row_id", "row", "data_id", "custom_id", "dataset_index", "unnamed_0"),
)
RUNS = (*RUN_FIELDS, "checkpoint", "model_path", "system")
FLAGS = (
    *("is_correct", "correct", "iscorrect", "correctness", "is_right", "passed"),
    *("exact_match", "acc", "accuracy", "result", "score", "scores", "reward", "judge"),
    *("verdict", "label", "labels", "reported_correct", "grade", "match"),
)
ERRORS = ("error", "error_message", "exception")
ROLES: Mapping[str, tuple[str, ...]] = {
    "response": (*TEXTS, *WEAK_TEXTS),
    "question": QUESTIONS,
    "gold": (*GOLDS, *WEAK_GOLDS),
    "id": (*IDS, ""),
    "run": RUNS,
    "sample": ("sample", "sample_index", "sample_number", "epoch", "trial", "attempt", "repeat"),
    "finish": ("finish", "finish_reason", "stop_reason"),
    "error": ERRORS,
    "flag": FLAGS,
}
ALIASES = {"completion": "response", "text": "response", "answer": "gold", "index": "id",
           "model": "run"}  # fmt: skip
EXECUTED = (
    "executed",
    "exec_result",
    "execution_result",
    "program_output",
    "code_output",
    "report",
)
LATE = ("run", "sample", "finish", "error")  # fit by name alone
NO_COLUMN = "-"  # --columns gold=-: the file has none
INNER = ("text", "content", "generated_text", "completion", "response", "output", "message",
         "output_text", "answer", "choices", "candidates", "parts")  # fmt: skip
FINISH_KEYS = ("finish_reason", "finishReason", "stop_reason")
USERS, ANSWERERS = ("user", "human", "HUMAN"), ("assistant", "gpt", "bot", "BOT", "model")
PLAIN = re.compile(r"[^0-9a-z]+")
BARE = re.compile(r"\s*[-+$]?[\d.,/]+%?\.?\s*\Z")  # a number and nothing else
STEP = re.compile(r"\s*(?:#+ *|\**)?(?:step\s*)?\d+\s*[:.)]\D", re.I)  # "Step 1: ", "2. "
DEEPEST = 12  # levels of lists and objects around a text
SHORT = 40  # characters of an example
EXAMPLES = 3  # rows in a message
WORDS = ("true", "false", "True", "False", "correct", "incorrect", "wrong")  # as flags
ENOUGH = 4  # rows; fewer golds may be 0 and 1 by chance
MOST_TOGETHER = 0.9  # share of rows that makes a column what it looks like


@cache
def plain_name(name: str) -> str:
    """Return a column's name in lower case, with "_" for every other character."""
    return PLAIN.sub("_", str(name).lower()).strip("_")


class Column(NamedTuple):
    """A column, or a value inside the objects of a column; joined: a list of steps is one text."""

    path: tuple[str, ...]
    joined: bool = False

    def value(self, fields: Mapping[str, Any]) -> Any:
        """Return the value in a row, None if there is none; a list for each object of a list."""
        value: Any = fields.get(self.path[0])
        for name in self.path[1:]:
            if isinstance(value, list):
                inner = [item.get(name) for item in value if isinstance(item, Mapping)]
                value = inner if len(inner) == len(value) else None
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        if self.joined and isinstance(value, list):
            steps = [step if isinstance(step, str) else text_of([step]) for step in value]
            return "\n".join(step for step in steps if step)
        return value

    def __str__(self) -> str:
        """Return the name as --columns takes it."""
        return ".".join(self.path) + "+" * self.joined


class Columns:
    """The column of each role in one file, and how a row becomes samples.

    is_weak: the name of the text's column may as well be that of the reference solution. named:
    the roles that the user named. others: the columns without a role.
    """

    def __init__(
        self,
        roles: Mapping[str, Column],
        named: frozenset[str],
        is_weak: bool,
        in_order: bool,
        others: Sequence[str] = (),
    ) -> None:
        self.roles = roles
        self.named = named
        self.is_weak = is_weak
        self.in_order = in_order
        self.others = others
        self.rows = 0  # that were read, for --in-order
        # Each role with the name of its column, "" for one that is inside of another.
        self._names = [
            (role, "" if len(path) > 1 or joined else path[0])
            for role, (path, joined) in roles.items()
        ]

    def __str__(self) -> str:
        """Return "response=completion, question=question"."""
        words = "".join([f"{role}={column}, " for role, column in self.roles.items()])
        return f"{words}problems=in order" if self.in_order else words.removesuffix(", ")

    def _in_other_columns(self, role: str, fields: Mapping[str, Any]) -> str | None:
        """Return a value under another canonical name, as rows of several files in one have."""
        if role in self.roles and role not in self.named:
            for name in self.others:
                if plain_name(name) in ROLES[role] and (value := FITS[role](fields.get(name))):
                    return str(value)
        return None

    def read(self, row: Row, default_run: str) -> list[Sample]:
        """Return the samples of a row: one for each of its texts."""
        fields = row.fields
        values: dict[str, Any] = {}
        for role, name in self._names:
            values[role] = fields.get(name) if name else self.roles[role].value(fields)
        order = self.rows
        self.rows += 1
        content, run = values["response"], values.get("run")
        texts = [content] if isinstance(content, str) else texts_of(content)
        run = run if isinstance(run, str) else run_name(run)
        run = run or self._in_other_columns("run", fields) or ""
        model = fields.get("model")
        model = model if isinstance(model, str) else run
        failure = values.get("error")
        if failure is None and not texts:
            failure = first_of(fields, ERRORS)
        error = "" if failure is None else error_of(failure, bool(texts))
        if error and fields.get("failureReason") in (0, 1):
            error = ""  # promptfoo gives the reason why an answer is wrong
        if error and not texts:
            texts = [""]
        if not texts:
            value = "null" if content is None else shown(content)
            fault = f"has no text: its {str(self.roles['response'])!r} is {value}; give a string"
            return [faulty(row.number, run or UNNAMED, fault)]
        if self.in_order:
            reference = Reference(gold=values.get("gold"), order=order)
        else:
            id, question, gold = values.get("id"), values.get("question"), values.get("gold")
            id = self._in_other_columns("id", fields) if id is None else id_of(id)
            question = None if question is None else question_of(question)
            in_text = id is None and question is None and gold is None
            reference = Reference(id, question, gold, None, in_text)
            if question and self.roles["response"].path[-1] == "generated_text":
                texts = [text.removeprefix(question) for text in texts]  # of a pipeline
        number, finish, flag = values.get("sample"), values.get("finish"), values.get("flag")
        number = UNNUMBERED if number is None else sample_number(number)
        finishes = [finish] if finish is not None else []
        if not finishes and not isinstance(content, str):
            finishes = finishes_of(content)
        run = run or default_run
        samples = []
        for place, text in enumerate(texts):
            if len(texts) > 1:
                number = max(number, 0) + (place > 0)
            if isinstance(flag, list):
                each = flag_of(flag[place]) if len(flag) == len(texts) else None
            else:
                each = None if flag is None else flag_of(flag)
            reason = finish_of(finishes[place % len(finishes)]) if finishes else Finish.UNKNOWN
            facts = reference, number, reason, error, "", model, each
            samples.append(Sample(row.number, run, text, *facts))
        return samples


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
        if role not in ROLES:
            raise InputError(
                f"--columns {clip(part)!r}: {clip(role)!r} is not a role; use {', '.join(ROLES)}"
            )
        columns[role] = name
    return columns


def choose_columns(
    rows: Sequence[Mapping[str, Any]], named: Mapping[str, str], file: str, in_order: bool
) -> Columns:
    """Return the columns of a table from its first rows and the names that the user gave.

    Raises InputError if it is not certain which column has the texts.
    """
    table = _Table(rows, file)
    roles: dict[str, Column] = {}
    taken: set[tuple[str, ...]] = set()
    for role, name in named.items():
        if name != NO_COLUMN:
            roles[role] = table.named(name)
            taken.add(roles[role].path)
    is_weak = False
    if "response" not in roles:
        roles["response"], is_weak = table.choose_text(taken)
        taken.add(roles["response"].path)
        table.refuse_steps(roles["response"])
    ordered = {}
    for role in ROLES:
        column = roles.get(role)
        if column is None and role not in named:
            column = table.choose(role, taken)
        if column is not None:
            ordered[role] = column
            if role != "question" or plain_name(column.path[-1]) not in CHAT:
                taken.add(column.path)
    used = {path[0] for path in taken}
    others = [column.path[0] for column in table.columns.values() if column.path[0] not in used]
    return Columns(ordered, frozenset(named), is_weak, in_order, others)


class _Table:
    """The first rows of a file, by column."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], file: str) -> None:
        self.rows = rows
        self.file = file
        self.columns: dict[str, Column] = {}  # by plain name, the first column with it
        self.nested: dict[str, list[Column]] = {}  # by the plain name of the last part
        self.cells: dict[str, list[Any]] = {}  # of each column, without missing values
        for fields in rows:
            for name, value in fields.items():
                if name not in self.cells:
                    self.cells[name] = []
                    self.columns.setdefault(plain_name(name), Column((name,)))
                if value is not None and value == value:
                    self.cells[name].append(value)
                if isinstance(value, Mapping | list):
                    for path in _inside(value, (name,), 1):
                        columns = self.nested.setdefault(plain_name(path[-1]), [])
                        if Column(path) not in columns:
                            columns.append(Column(path))

    def named(self, name: str) -> Column:
        """Return the column that the user named; "+" after it joins a list of steps."""
        joined = name.endswith("+") and name not in self.cells
        name = name.removesuffix("+") if joined else name
        if name in self.cells:
            return Column((name,), joined)
        plain = list(map(plain_name, name.split(".")))
        for column in self.every():
            if list(map(plain_name, column.path)) == plain:
                return Column(column.path, joined)
        names = clip(", ".join(map(repr, map(str, self.columns.values()))), 300) or "none"
        raise InputError(
            f"--columns names {name!r}, but the columns are {names}; `--columns` without a value "
            "shows them with examples"
        )

    def every(self) -> list[Column]:
        """Return the columns, then the values inside them."""
        inside = (column for alike in self.nested.values() for column in alike)
        return [*self.columns.values(), *inside]

    def values(self, column: Column) -> list[Any]:
        """Return the column's values, without missing ones."""
        if len(column.path) == 1 and not column.joined:
            return self.cells[column.path[0]]
        found = (column.value(fields) for fields in self.rows)
        return [value for value in found if value is not None and value == value]

    def choose_text(self, taken: set[tuple[str, ...]]) -> tuple[Column, bool]:
        """Return the column of the texts, and whether its name is a weak one."""
        strong = self._with_texts(TEXTS, taken)
        if not strong:
            inner = [each for name in TEXTS for each in self.nested.get(name, ())]
            strong = [each for each in inner if any(map(texts_of, self.values(each)))]
        for each in strong[1:]:
            if self.values(each) == self.values(strong[0]):
                strong.remove(each)  # the same texts under another name
        if len(strong) == 1:
            return strong[0], False
        if strong:
            raise self.refused(strong, "may be the text")
        weak = self._with_texts(WEAK_TEXTS, taken)
        if len(weak) > 1:  # golds beside texts, such as "answer": 18 beside "pred": "It is ..."
            weak = [each for each in weak if not self._is_golds(each)] or weak
        names = [plain_name(each.path[-1]) for each in weak]
        if len(weak) > 1 and {*names} & {*CHAT}:
            weak = [each for each, name in zip(weak, names, strict=True) if name in CHAT][:1]
        if len(weak) == 1:
            return weak[0], plain_name(weak[0].path[-1]) not in ("code", "program", *CHAT)
        if weak:
            raise self.refused(weak, "may be the text")
        if any(self.values(self.columns[name]) for name in ERRORS if name in self.columns):
            return Column(("response",)), False  # each request failed
        texts = [
            column
            for column in self.every()
            if column.path not in taken
            and plain_name(column.path[-1]) not in QUESTIONS[:5]
            and any(map(texts_of, self.values(column)))
            and not self.are_flags(column)
        ]
        raise self.refused(texts[:8], "has a name by which it would be the text")

    def _with_texts(self, names: Sequence[str], taken: set[tuple[str, ...]]) -> list[Column]:
        found = []
        for name in names:
            column = self.columns.get(name)
            if column is not None and column.path not in taken and not self.are_flags(column):
                for value in self.values(column):
                    if isinstance(value, str) or texts_of(value) is not None:
                        found.append(column)
                        break
        return found

    def refuse_steps(self, column: Column) -> None:
        """Raise InputError if the lists of a column are numbered steps, not samples."""
        lists = [each for each in map(texts_of, self.values(column)) if each and len(each) > 1]
        steps = [each for each in lists
                 if all(STEP.match(text) and str(place) in text[:9]
                        for place, text in enumerate(each[:2], start=1))]  # fmt: skip
        if lists and len(steps) >= MOST_TOGETHER * len(lists):
            raise InputError(
                f"the column {str(column)!r} of {self.file!r} has lists of steps, such as "
                f"{example(steps[0][0])}; give --columns response={column}+ to join them, or "
                f"--columns response={column} if each is a sample"
            )

    def _is_golds(self, column: Column) -> bool:
        values = self.values(column)
        golds = [isinstance(value, int | float) or MARKER in str(value) or BARE.match(str(value))
                 for value in values]  # fmt: skip
        return sum(map(bool, golds)) >= MOST_TOGETHER * len(values)

    def are_flags(self, column: Column) -> bool:
        """Return whether a column tells right from wrong; few numbers 0 and 1 may be golds."""
        flat: list[Any] = []
        for value in self.values(column):
            flat += value if isinstance(value, list) else [value]
        is_word = False
        for value in flat:
            if flag_of(value) is None:
                return False
            is_word = is_word or isinstance(value, bool) or value in WORDS
        return bool(flat) and (is_word or len(flat) >= ENOUGH)

    def choose(self, role: str, taken: set[tuple[str, ...]]) -> Column | None:
        """Return the first column of a role whose values fit it, None if there is none."""
        for name in ROLES[role]:
            column = self.columns.get(name)
            is_chat = name in CHAT  # has the question and the text
            if column and (column.path not in taken or is_chat) and self.fits(role, column):
                return column
        if role == "gold":
            for name, column in self.columns.items():
                words = {*name.split("_")}
                if GOLD_WORDS & words and words <= BESIDE_GOLD and column.path not in taken:
                    golds = [value for value in self.values(column) if _is_readable_gold(value)]
                    most = len(golds) >= MOST_TOGETHER * len(self.values(column)) > 0
                    if most and not self.are_flags(column):
                        return column
        if role in ("question", "gold", "id", "flag") and self.nested:
            for column in (each for name in ROLES[role] for each in self.nested.get(name, ())):
                is_free = not any(column.path[: len(path)] == path for path in taken)
                if (is_free or role == "flag") and self.fits(role, column):
                    return column
        return None

    def fits(self, role: str, column: Column) -> bool:
        """Return whether the values of a column fit a role."""
        if role == "flag" or (role == "gold" and self.are_flags(column)):
            return role == "flag" and self.are_flags(column)
        values = self.values(column)
        late = not values and role in ("run", "finish", "error")  # a later row may have one
        return late or any(map(FITS[role], values))

    def refused(self, columns: Sequence[Column], why: str) -> InputError:
        """Return the error that shows rows of these columns and the command for each choice."""
        if not columns:
            names = clip(", ".join(map(repr, map(str, self.columns.values()))), 200) or "none"
            return InputError(f"{self.file!r} has no text in any column; its columns are {names}")
        names = ", ".join(repr(str(column)) for column in columns)
        only = "each of the columns" if len(columns) > 1 else "the column"
        no = why.startswith("has")
        lines = [f"no column of {self.file!r} {why}; it has texts in {names}" if no
                 else f"{only} {names} of {self.file!r} {why}; name the right one"]  # fmt: skip
        for number, fields in enumerate(self.rows[:EXAMPLES], start=1):
            cells = [f"{column} = {example(column.value(fields))}" for column in columns]
            lines.append(f"  row {number}: {'; '.join(cells)}")
        lines += [f"  --columns response={column}" for column in columns]
        return InputError("\n".join(lines))


def example(value: Any) -> str:
    """Return a value as it fits into a line."""
    text = " ".join(value.split()) if isinstance(value, str) else shown(value)
    return repr(text if len(text) <= SHORT else f"{text[: SHORT - 3]}...")


def _inside(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values inside an object, or inside the objects of a list."""
    if isinstance(value, list):
        value = value[0] if value and isinstance(value[0], Mapping) else None
    if isinstance(value, Mapping) and depth < 4:
        for name, inner in value.items():
            yield (*path, str(name))
            yield from _inside(inner, (*path, str(name)), depth + 1)


def describe_columns(rows: Sequence[Mapping[str, Any]], file: str) -> str:
    """Return all columns with an example and the roles that fit, for `--columns` without value."""
    table = _Table(rows, file)
    lines = [f"columns of {file!r}, and the roles that fit (--columns ROLE=COLUMN,...):"]
    for column in table.every():
        values = table.values(column)
        named = [role for role in LATE if plain_name(column.path[-1]) in ROLES[role]]
        roles = [role for role in ROLES if role not in LATE and values and table.fits(role, column)]
        lines.append(f"  {column}: {example(values[0]) if values else 'empty'}: "
                     f"{', '.join(roles + named) or 'none'}")  # fmt: skip
    return "\n".join(lines)


# Values


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
        inner = next((value[name] for name in INNER if value.get(name) is not None), None)
        if inner is value.get("parts"):  # Gemini's: parts of one message
            text = text_of(inner)
            return None if text is None else [text]
        return None if inner is None else texts_of(inner, depth + 1)
    if not isinstance(value, list) or not value:
        return None
    if _is_conversation(value):
        last = value[-1]
        text = _turn(last) if _role(last) in ANSWERERS else None
        return None if text is None else [text]
    if len(value) == 1 and isinstance(value[0], list):
        return texts_of(value[0], depth + 1)
    if messages := [each for each in value if isinstance(each, Mapping)
                    and each.get("type") == "message"]:  # of the Responses API  # fmt: skip
        return texts_of(messages[-1], depth + 1)
    if isinstance(value[0], Mapping) and "type" in value[0]:  # parts of one message
        text = text_of(value)
        return [text] if text else None
    texts = [texts_of(item, depth + 1) for item in value]
    whole = [text[0] for text in texts if text and len(text) == 1]
    return whole if len(whole) == len(value) else None


def finishes_of(value: Any, depth: int = 0) -> list[object]:
    """Return the finish reasons in the value that has the completions (choices), in their order."""
    if depth > DEEPEST:
        return []
    if isinstance(value, list):
        each = [finishes_of(item, depth + 1) if isinstance(item, Mapping) else [] for item in value]
        return [reasons[0] for reasons in each] if all(each) else []
    if not isinstance(value, Mapping):
        return []
    if is_response(value):
        details = value.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        return [reason or value.get("status")]
    reason = first_of(value, FINISH_KEYS)
    if reason is not None:
        return [reason]
    return next(
        (reasons for name in INNER if (reasons := finishes_of(value.get(name), depth + 1))), []
    )


def question_of(value: Any, depth: int = 0) -> str | None:
    """Return a question: a text, or the last message of the user."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        inner = first_of(value, ("question", "problem", "text", "content", "prompt"))
        return question_of(inner) if isinstance(inner, str) else None
    if isinstance(value, list) and value and _is_conversation(value):
        return next((_turn(turn) for turn in reversed(value) if _role(turn) in USERS), None)
    if isinstance(value, list) and len(value) == 1 and depth < DEEPEST:
        return question_of(value[0], depth + 1)
    return None


def id_of(value: Any) -> str | None:
    """Return an id as text: pandas writes 3.0 for 3 where another id is missing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value != value:
        return None
    if isinstance(value, str):
        return value or None
    number = whole_number(value)
    return shown(value) if number is None else str(number)


def run_name(value: object) -> str:
    """Return the name of a run or model in a field, "" for none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and (inner := first_of(value, ("name", "id"))) is not None:
        return run_name(inner)
    if isinstance(value, bool) or value is None or value != value:
        return ""
    number = whole_number(value)
    return shown(value) if number is None else str(number)


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
    return text_of(turn.get("content", turn.get("value", turn.get("prompt"))))


def _may_be_gold(value: Any) -> bool:
    if isinstance(value, list):
        return (len(value) > 0 and not isinstance(value[0], Mapping | list)) or _is_tagged(value)
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _is_readable_gold(value: Any) -> bool:
    try:
        return bool(read_gold(value))
    except InputError:
        return False


def _is_tagged(value: Sequence[Any]) -> bool:
    return any(isinstance(item, Mapping) and "tags" in item for item in value)


FITS: Mapping[str, Callable[[Any], Any]] = {
    "response": texts_of,
    "question": question_of,
    "gold": _may_be_gold,
    "id": id_of,
    "run": run_name,
    "sample": lambda value: whole_number(value) is not None,
    "finish": lambda value: isinstance(value, str),
    "error": lambda value: True,
}
