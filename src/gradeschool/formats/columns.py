"""Which column of a table has which role: named by the user, else by a few canonical names.

Names are compared in lower case with "_" for every other character. A dot leads into an object, and
into each object of a list. What a column contains must fit its role; where several columns could
have the texts, nothing is guessed: the error shows rows and the command for each choice.
"""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

from gradeschool.completion import Finish, finish_of
from gradeschool.errors import InputError
from gradeschool.formats.values import (
    CHAT,
    ROLES,
    TEXTS,
    UNNAMED,
    UNNUMBERED,
    WEAK_TEXTS,
    WORDS,
    ProblemReference,
    Sample,
    error_text,
    finish_reasons,
    finite_number,
    first_given,
    parse_flag,
    parse_id,
    plain_name,
    question_texts,
    read_number,
    run_name,
    shown,
    text_of,
    texts_of,
    whole_number,
)
from gradeschool.problem import MARKER
from gradeschool.scorer import clip

WEAK_GOLDS = WORDS["weak_golds"]
GOLD_WORDS = {*WORDS["gold_words"]}
BESIDE_GOLD = GOLD_WORDS.union(WORDS["beside_gold"])
ABOUT_PROBLEM = {*WORDS["about_problem"]}
COLUMN_ALIASES = {"completion": "response", "text": "response", "answer": "gold", "index": "id",
                  "model": "run"}  # fmt: skip
BARE = re.compile(r"\s*[-+$]?[\d.,/]+%?\.?\s*\Z")  # a number and nothing else
STEP = re.compile(r"\s*(?:#+ *|\**)?(?:step\s*)?\d+\s*[:.)]\D", re.I)  # "Step 1: ", "2. "
ANSWER = re.compile(r"answer|boxed|####", re.I)
OF_REFERENCES = re.compile("|".join(WORDS["of_references"]))  # in names of columns
VARIED = 0.7  # share of the most frequent number of steps
SHORT = 40  # characters of an example
EXAMPLES = 3  # rows in a message
FLAG_WORDS = ("true", "false", "True", "False", "correct", "incorrect", "wrong")
FEW = 5  # times fewer distinct texts than another column: these are instructions, not questions
ENOUGH_ROWS = 4  # rows; fewer golds may be 0 and 1 by chance
WORDY = 5  # words; a text with more is no answer alone
MOST_INSIDE = 1000  # values inside columns that may have a role
MOST_TEXTS = 20_000  # of a row
MOST_KINDS = 8  # values of a column that may tell runs apart
NEARLY_ALL = 0.9  # share of rows that makes a column what it looks like


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

    @property
    def plain(self) -> str:
        """The plain name of the column or of the innermost value."""
        return plain_name(self.path[-1])

    @property
    def parts(self) -> list[str]:
        """The plain names on the path; a dot in the header of a CSV file leads inside, too."""
        return list(map(plain_name, ".".join(self.path).split(".")))

    def __str__(self) -> str:
        """Return the name as --columns takes it."""
        return ".".join(self.path) + "+" * self.joined


@dataclass(slots=True)
class Columns:
    """The column of each role in one file, and how a row becomes samples.

    named: the roles that the user named. is_weak: the texts' column has a name that the reference
    solution's may have too. executed: the column with the output of programs, "" for none.
    selected: the column that repeats one of the several texts of each row, "" for none. thinking:
    the column with the model's reasoning. wordy: other columns with texts of several words. rows:
    how many of each run were read, for --in-order. kinds: for other columns with few values, how
    often each value was read. unheeded: values of the error's column beside texts that are scored.
    unused: the --columns of other columns that look like the problem's id and sample.
    """

    roles: Mapping[str, Column]
    named: frozenset[str] = frozenset()
    is_weak: bool = False
    in_order: bool = False
    executed: str = ""
    selected: str = ""
    thinking: Column | None = None
    wordy: Sequence[str] = ()
    rows: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[Any]] = field(default_factory=dict)
    unheeded: Counter[str] = field(default_factory=Counter)
    unused: str = ""
    last_run: str = UNNAMED
    # The name of each role's column (for a role without one, a name that no table has), in the
    # order of ROLES; the columns that are inside others, by their places there.
    _names: list[str] = field(init=False)
    _inner: list[tuple[int, Column]] = field(init=False)

    def __post_init__(self) -> None:
        columns = list(map(self.roles.get, ROLES))
        self._names = ["\0" if column is None else column.path[0] for column in columns]
        self._inner = [(place, column) for place, column in enumerate(columns)
                       if column and (len(column.path) > 1 or column.joined)]  # fmt: skip

    def __str__(self) -> str:
        """Return "response=completion, question=question"."""
        words = ", ".join(map("{}={}".format, self.roles, self.roles.values()))
        return f"{words}, problems=in order" if self.in_order else words

    def begin(self) -> None:
        """Start again with the first row."""
        self.rows.clear()
        self.unheeded.clear()
        self.last_run = UNNAMED
        for counted in self.kinds.values():
            counted.clear()

    def read(self, number: int, fields: Mapping[str, Any], default_run: str) -> list[Sample]:
        """Return the samples of a row: one for each of its texts."""
        values = list(map(fields.get, self._names))
        for place, inner in self._inner:
            values[place] = inner.value(fields)
        content, asked, gold, id, run, sample, finish, failure, flag = values
        for name, counted in self.kinds.items():
            kind = fields.get(name)
            if isinstance(kind, str | int | float) and len(counted) <= MOST_KINDS:
                counted[kind] += 1
        run = run if isinstance(run, str) else run_name(run)
        model = fields.get("model")
        model = model if isinstance(model, str) else run
        texts = [content] if isinstance(content, str) else texts_of(content)
        if failure is None and not texts:
            failure = first_given(fields, ROLES["error"])
        error = ""
        if failure is not None:
            has_text = bool(texts and any(texts)) and "error" not in self.named
            error = error_text(failure, has_text)
            if has_text and not error and isinstance(failure, str) and error_text(failure, False):
                self.unheeded["" if len(self.unheeded) > MOST_KINDS else failure] += 1
        if self.in_order:
            reference = ProblemReference(gold=gold, order=self.rows[run])
            self.rows[run] += 1
            self.last_run = run
        if not texts:
            if not error:
                value = "null" if content is None else shown(content)
                column = str(self.roles["response"])
                fault = f"has no text: its {column!r} is {value}; give a string"
                return [Sample(number, run or UNNAMED, fault=fault)]
            texts, default_run = [""], UNNAMED
        if not self.in_order:
            id = None if id is None else parse_id(id)
            *turns, question = (None,) if asked is None else question_texts(asked) or (None,)
            in_text = id is None and question is None and gold is None
            reference = ProblemReference(id, question, gold, None, in_text, tuple(turns))
            if question and self.roles["response"].path[-1] == "generated_text":
                texts = [text.removeprefix(question) for text in texts]  # of a pipeline
        if len(texts) > MOST_TEXTS:
            fault = f"has {len(texts):,} texts; at most {MOST_TEXTS:,} are read, write them as rows"
            return [Sample(number, run or UNNAMED, fault=fault)]
        index = None if sample is None else whole_number(sample)
        first = UNNUMBERED if index is None or index < 0 else index
        if isinstance(content, str) and not isinstance(flag, list):  # faster than below
            return [Sample(number, run or default_run, texts[0], reference, first,
                           Finish.UNKNOWN if finish is None else finish_of(finish), error, "",
                           model, None if flag is None else parse_flag(flag))]  # fmt: skip
        reasons = [finish] if finish is not None else finish_reasons(content)
        flags = flag if isinstance(flag, list) else [flag]
        if len(flags) != len(texts):  # one flag for several samples is that of their vote
            flags = [None] * len(texts)
        return [
            Sample(
                number, run or default_run, text, reference,
                first if len(texts) == 1 else max(first, 0) + place,
                finish_of(reasons[place % len(reasons)]) if reasons else Finish.UNKNOWN,
                error, "", model, None if flags[place] is None else parse_flag(flags[place]),
            )
            for place, text in enumerate(texts)
        ]  # fmt: skip

    def with_scores(self, samples: list[Sample], fields: Mapping[str, Any]) -> list[Sample]:
        """Return the samples of a row with the numbers in its column of scores, if it is named."""
        if (column := self.roles.get("score")) is None:
            return samples
        value = column.value(fields)
        values = value if isinstance(value, list) else [value]
        if len(values) != len(samples):
            values = [None] * len(samples)
        return [sample._replace(score=finite_number(each))
                for sample, each in zip(samples, values, strict=True)]  # fmt: skip


def parse_columns(
    text: str, roles: Sequence[str] = tuple(ROLES), where: str = "--columns"
) -> dict[str, str]:
    """Read "question=NAME,response=NAME". Raises InputError for another role or form.

    where: in messages.
    """
    columns = {}
    for part in text.split(","):
        word, _, name = (word.strip() for word in part.partition("="))
        role = COLUMN_ALIASES.get(word, word)
        if not name:
            raise InputError(
                f"{where} {clip(part)!r} is not ROLE=COLUMN, such as {roles[0]}=Output"
            )
        if role not in roles:
            raise InputError(
                f"{where} {clip(part)!r}: {clip(word)!r} is not a role; use {', '.join(roles)}"
            )
        columns[role] = name
    return columns


def choose_columns(
    rows: Sequence[Mapping[str, Any]], named: Mapping[str, str], file: str, in_order: bool
) -> Columns:
    """Return the columns of a table from its first rows and the names that the user gave.

    Raises InputError if it is not certain which column has the texts.
    """
    table, found, is_weak = _Table(rows, file), dict[str, Column](), False
    roles: dict[str, Column] = {}
    for role, name in named.items():
        if name != "-":
            found[role] = table.find(name)
            table.taken.add(found[role].path)
    if "score" in found:
        roles["score"] = found["score"]
    if "flag" in found:
        values = [each for each in table.cells[found["flag"]] if not isinstance(each, list)]
        if values and not any(parse_flag(value) is not None for value in values):
            examples = list(dict.fromkeys(map(shown, values)))
            raise InputError(
                f"the values of {named['flag']!r} in {file!r} ({', '.join(examples[:3])}) are no "
                "verdicts; give a column with true and false, 1 and 0, or correct and wrong: "
                "--columns flag=COLUMN"
            )
    if "response" not in found:
        found["response"], is_weak = table.choose_text()
        table.taken.add(found["response"].path)
        table.refuse_steps(found["response"])
    for role in ROLES:
        column = found.get(role)
        if column is None and role not in named:
            column = table.choose(role)
        if column is not None:
            roles[role] = column
            if role != "question" or column.plain not in CHAT:
                table.taken.add(column.path)
    if in_order and "question" in roles:
        raise InputError(
            f"the column {str(roles['question'])!r} of {file!r} has the questions, which name the "
            "problems; leave --in-order out, or give --columns question=- if it has none"
        )
    others, kinds = table.others(), dict[str, Counter[Any]]()
    for name, column in others.items():
        if "sample" not in roles and name != "seed" and len(kinds) < 4 and table.has_kinds(column):
            kinds[column.path[0]] = Counter()
    selected = unused = ""
    samples = [texts_of(found["response"].value(row)) or () for row in rows]
    for column in others.values() if min(map(len, samples)) > 1 else ():  # one of several texts
        if all(column.value(row) in texts for row, texts in zip(rows, samples, strict=True)):
            selected = selected or str(column)
    is_own = "gold" in roles and "sample" not in roles and not in_order
    if is_own and not {"question", "id"} & {*roles, *named}:
        unused = table.problem_and_sample([*others.values()][:16], roles["gold"], roles.get("run"))
    thoughts = (each for each in table.cells if each.plain in WORDS["thinking"])
    return Columns(
        roles, frozenset(named), is_weak, in_order,
        executed=str(next(filter(None, map(others.get, WORDS["executed"])), "")),
        selected=selected,
        thinking=next(filter(table.may_be_text, thoughts), None),
        wordy=list(map(str, table.wordy_texts())), kinds=kinds, unused=unused,
    )  # fmt: skip


def describe_columns(rows: Sequence[Mapping[str, Any]], file: str) -> str:
    """Return all columns with an example and the roles that they may have, the likeliest first."""
    table = _Table(rows, file)
    lines = [f"columns of {file!r}, and the roles that they may have (--columns ROLE=COLUMN,...):"]
    for column, values in table.cells.items():
        shown = f"  {column}: {example(values[0]) if values else 'empty'}"
        lines.append(f"{shown}: {', '.join(table.likely_roles(column)) or 'none'}")
    return "\n".join(lines)


class _Table:
    """The first rows of a file by column, and which columns have a role already.

    cells: the values of each column, without missing ones: of the columns, then of those inside
    them. top: the first column with a plain name. inner: the values inside columns, by the plain
    name of the innermost. taken: the paths of the columns with a role.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], file: str) -> None:
        self.rows = rows
        self.file = file
        self.taken: set[tuple[str, ...]] = set()
        self.names = list(dict.fromkeys(chain.from_iterable(rows)))
        self.top: dict[str, Column] = {}
        self.inner: defaultdict[str, list[Column]] = defaultdict(list)
        self.cells: dict[Column, list[Any]] = {}
        inside = islice(chain.from_iterable(map(_inside, rows)), 64 * MOST_INSIDE)
        paths = dict.fromkeys(chain(zip(self.names), inside))
        for path in islice(paths, len(self.names) + MOST_INSIDE):
            column = Column(path)
            values = map(column.value, rows)
            self.cells[column] = [each for each in values if each is not None and each == each]
            if len(path) == 1:
                self.top.setdefault(column.plain, column)
            if len(parts := column.parts) > 1:
                self.inner[parts[-1]].append(column)

    def find(self, name: str) -> Column:
        """Return the column that the user named; "+" after it joins a list of steps."""
        joined = name.endswith("+") and name not in self.names
        name = name.removesuffix("+") if joined else name
        if name in self.names:
            return Column((name,), joined)
        plain = list(map(plain_name, name.split(".")))
        for column in self.cells:
            if list(map(plain_name, column.path)) == plain:
                return Column(column.path, joined)
        names = clip(", ".join(map(repr, self.names)), 300) or "none"
        raise InputError(
            f"--columns names {name!r}, but the columns are {names}; `--columns` without a value "
            "shows them with examples"
        )

    def choose_text(self) -> tuple[Column, bool]:
        """Return the column of the texts, and whether its name is a weak one."""
        columns: list[Column] = []
        for names in (TEXTS, WEAK_TEXTS):
            is_weak = names is WEAK_TEXTS
            inside = (each for name in names for each in self.inner.get(name, ())
                      if not is_weak or each.parts[0] in TEXTS)  # fmt: skip
            columns = list(filter(self.may_be_text, filter(None, map(self.top.get, names))))
            columns = columns or list(filter(self.may_be_text, inside))
            if columns:
                break
        if is_weak:  # "answer": 18 beside "pred": "It is ..."
            texts = [each for each in columns if not self.are_golds(each)]
            if columns and not texts and not self.choose("gold", columns[0]):
                for other in self.wordy_texts():
                    if other.plain not in WORDS["thinking"] and other.path[0] != columns[0].path[0]:
                        columns = []  # it is rather the gold of this one
                        break
            columns = texts or columns
            columns = [each for each in columns if each.plain in CHAT][:1] or columns
        else:  # not the same texts under another name
            same = self.cells[columns[0]]
            columns[1:] = [each for each in columns[1:] if self.cells[each] != same]
        if len(columns) == 1:
            return columns[0], is_weak and columns[0].plain not in ("code", "program", *CHAT)
        said = f"each of the columns {{}} of {self.file!r} may be the text; name the right one"
        if not columns:
            errors = filter(None, map(self.top.get, ROLES["error"]))
            if any(error_text(value, False) for column in errors for value in self.cells[column]):
                return Column(("response",)), False  # each request failed
            said = (f"no column of {self.file!r} has a name by which it would be the text; it has "
                    "texts in {}")  # fmt: skip
            columns = [
                each for each in filter(self.may_be_text, self.cells)
                if each.parts[-1] not in ROLES["question"][:5]
                and plain_name(each.path[0]) not in CHAT
            ]  # fmt: skip
            columns = list(filter(self.is_wordy, columns)) or columns
            columns.sort(key=lambda each: OF_REFERENCES.search(each.parts[-1]) is not None)
            columns = columns[:8]
        if not columns and (chat := next(filter(None, map(self.top.get, CHAT)), None)):
            raise InputError(
                f"the chats in {str(chat)!r} of {self.file!r} do not end in a turn of the model; "
                "remove what follows its answer, or name the column of the texts: "
                "--columns response=COLUMN"
            )
        if not columns:
            known = clip(", ".join(map(repr, self.names)), 200) or "none"
            raise InputError(f"{self.file!r} has no text in any column; its columns are {known}")
        lines = [said.replace("{}", ", ".join(repr(str(column)) for column in columns))]
        for number, fields in enumerate(self.rows[:EXAMPLES], start=1):
            cells = [f"{column} = {example(column.value(fields))}" for column in columns]
            lines.append(f"  row {number}: {'; '.join(cells)}")
        for text in columns:
            command = f"response={text}{self.other_roles(text)}"
            lines.append(f"  --columns {shlex.quote(command)}")
        raise InputError("\n".join(lines))

    def other_roles(self, text: Column) -> str:
        """Return ",question=NAME,gold=NAME": likely columns of roles that no name gives."""
        found, taken = "", {*self.taken, text.path}
        free = [each for each in self.top.values() if each.path not in taken]
        if not self.choose("question", text) and not self.choose("id", text):
            wordy = next(filter(self.is_wordy, free), None)
            found = f",question={wordy}" if wordy else ""
        if not self.choose("gold", text):
            golds = list(filter(self.are_golds, free))
            said = Counter[Column]()  # how many texts say the number of a column
            for row in self.rows:
                words = str(text.value(row)).replace(",", "")
                for each in golds:
                    value = each.value(row)
                    said[each] += bool(value) and read_number(value) in words
            for likely, number in said.most_common(1):
                found += f",gold={likely}" if number >= 0.2 * len(self.rows) else ""
        return found

    def problem_and_sample(self, others: Sequence[Column], gold: Column, run: Column | None) -> str:
        """Return "question=NAME,sample=NAME", or id=, if unused columns look like it, "" else.

        Rows with one id have one gold; with their sample numbers (and runs), they differ.
        """

        def kinds(*columns: Column | None) -> int:
            return len({tuple(str(each and each.value(row)) for each in columns)
                        for row in self.rows})  # fmt: skip

        every = len(self.rows)
        for ids in others:
            many = kinds(ids)
            if not ENOUGH_ROWS <= many < every or kinds(ids, gold) > many or self.are_flags(ids):
                continue
            if kinds(ids, run) == every:
                continue  # each run has each problem once
            found = f"{'question' if self.is_wordy(ids) else 'id'}={ids}"
            for number in others:
                whole = all(whole_number(value) is not None for value in self.cells[number])
                if number != ids and whole and kinds(ids, run, number) == every:
                    return f"{found},sample={number}"
            return found
        return ""

    def refuse_steps(self, column: Column) -> None:
        """Raise InputError if the lists of a column are steps, not samples.

        Steps are numbered, or their number varies and only the last one answers.
        """
        texts = map(texts_of, self.cells.get(column, ()))
        lists = [each for each in texts if each and len(each) > 1]
        if not lists:
            return
        numbered = sum(
            all(STEP.match(text) and str(n) in text[:9] for n, text in enumerate(each[:2], 1))
            for each in lists
        )
        [(_, most)] = Counter(map(len, lists)).most_common(1)
        early = [text for each in lists for text in each[:-1]]
        varies = len(lists) >= ENOUGH_ROWS and most < VARIED * len(lists)
        if numbered >= NEARLY_ALL * len(lists) or (
            varies and sum(map(bool, map(ANSWER.search, early))) < 0.2 * len(early)
        ):
            raise InputError(
                f"the column {str(column)!r} of {self.file!r} has lists of steps, such as "
                f"{example(lists[0][0])}; give --columns response={column}+ to join them, or "
                f"--columns response={column} if each is a sample"
            )

    def choose(self, role: str, *texts: Column) -> Column | None:
        """Return the first column of a role whose values fit it, None if there is none.

        texts: columns that are taken too.
        """
        taken = self.taken.union(each.path for each in texts)
        columns = [each for each in filter(None, map(self.top.get, ROLES[role]))
                   if each.path not in taken or each.plain in CHAT]  # fmt: skip
        if role == "gold":
            for name, column in self.top.items():
                words = name.split("_")
                is_gold = BESIDE_GOLD.issuperset(words) and not GOLD_WORDS.isdisjoint(words)
                if is_gold and column.path not in taken and self.are_readable(column):
                    columns.append(column)
        if role in ("question", "gold", "id", "flag"):
            columns += [
                each for name in ROLES[role] for each in self.inner.get(name, ())
                if role == "flag" or (
                    not any(each.path[: len(path)] == path for path in taken)
                    and ABOUT_PROBLEM.issuperset(each.parts[:-1])
                    and (role != "gold" or self.are_readable(each))
                )
            ]  # fmt: skip
        found = [column for column in columns if self.fits(role, column)]
        if role == "question" and len(self.rows) >= ENOUGH_ROWS:
            # An instruction is the same in all rows and has no number, or is one of a few.
            kinds = {each: {*map(str, self.cells[each])} for each in found}
            most = max((len(kinds[each]) for each in found if self.is_wordy(each)), default=0)
            others = [each for each in found if len(kinds[each]) > 1
                      or any(map(str.isdigit, str(kinds[each])))]  # fmt: skip
            found = others if others or self.choose("id", *texts) else found
            found = [each for each in found if len(kinds[each]) * FEW > most] or found
        return found[0] if found else None

    def fits(self, role: str, column: Column) -> bool:
        """Return whether the values of a column fit a role."""
        if role == "flag" or (role == "gold" and self.are_flags(column)):
            return role == "flag" and self.are_flags(column)
        values = self.cells[column]
        late = not values and role in ("run", "finish", "error")  # a later row may have one
        return late or any(map(FITS[role], values))

    def may_be_text(self, column: Column) -> bool:
        """Return whether a column without a role has texts that are no verdicts."""
        return (column.path not in self.taken and any(map(texts_of, self.cells[column]))
                and not self.are_flags(column))  # fmt: skip

    def others(self) -> dict[str, Column]:
        """Return the columns without a role, and with none inside them, by their plain names."""
        used = {path[0] for path in self.taken}
        return {name: each for name, each in self.top.items() if each.path[0] not in used}

    def wordy_texts(self) -> list[Column]:
        """Return the others that have texts which may be a model's."""
        return [column for name, column in self.others().items()
                if name not in ROLES["question"] and not OF_REFERENCES.search(name)
                and self.is_wordy(column)]  # fmt: skip

    def likely_roles(self, column: Column) -> list[str]:
        """Return the roles that a column's name or content speaks for, those by its name first."""
        values = self.cells[column]
        named = [role for role in ROLES
                 if column.plain in ROLES[role] and self.fits(role, column)]  # fmt: skip
        if not values or named:
            return named
        if self.are_flags(column):
            return ["flag"]
        if self.is_wordy(column):
            return ["response", "question"]
        if self.are_golds(column):
            return ["gold", "id", "response"]
        names = list(filter(None, map(parse_id, values)))
        kinds, roles = len(set(names)), ["response"] * any(map(texts_of, values))
        if len(names) < len(self.rows) or max(map(len, names)) > SHORT:
            return roles
        if kinds <= min(MOST_KINDS, 0.5 * len(names)):
            return ["run", *roles]
        is_id = kinds == len(names) and not any(len(each.split()) > 1 for each in names)
        return ["id", *roles] if is_id else roles

    def are_golds(self, column: Column) -> bool:
        """Return whether most values of a column are bare numbers or marked solutions."""
        values = self.cells[column]
        golds = [isinstance(value, int | float) or MARKER in str(value) or BARE.match(str(value))
                 for value in values]  # fmt: skip
        return sum(map(bool, golds)) >= NEARLY_ALL * len(values) > 0

    def are_readable(self, column: Column) -> bool:
        """Return whether most values of a column are golds."""
        values = self.cells[column]
        return sum(map(bool, map(read_number, values))) >= NEARLY_ALL * len(values) > 0

    def is_wordy(self, column: Column) -> bool:
        """Return whether most values of a column are texts of several words."""
        wordy = 0
        for texts in filter(None, map(texts_of, self.cells[column])):
            wordy += len(texts[0].split(None, WORDY)) > WORDY
        return wordy > 0.5 * len(self.rows)

    def has_kinds(self, column: Column) -> bool:
        """Return whether a column has a few short texts or numbers."""
        values = self.cells[column]
        return len(values) == len(self.rows) and all(
            type(value) in (str, int, float) and len(str(value)) <= SHORT for value in values
        ) and len(set(values)) <= MOST_KINDS  # fmt: skip

    def are_flags(self, column: Column) -> bool:
        """Return whether a column tells right from wrong; few numbers 0 and 1 may be golds."""
        flat: list[Any] = []
        for value in self.cells[column]:
            flat += value if isinstance(value, list) else [value]
        if not flat or None in map(parse_flag, flat):
            return False
        return len(flat) >= ENOUGH_ROWS or any(
            isinstance(each, bool) or each in FLAG_WORDS for each in flat
        )


def example(value: Any) -> str:
    """Return a value as it fits into a line."""
    text = " ".join(value.split()) if isinstance(value, str) else shown(value)
    return repr(text if len(text) <= SHORT else f"{text[: SHORT - 3]}...")


def _inside(value: Any, path: tuple[str, ...] = (), depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the values inside an object, or inside the objects of a list."""
    if isinstance(value, list):
        value = value[0] if value and isinstance(value[0], Mapping) else None
    if isinstance(value, Mapping) and depth < 4:
        for name, inner in value.items():
            yield (*path, str(name))
            yield from _inside(inner, (*path, str(name)), depth + 1)


def _may_be_gold(value: Any) -> bool:
    if isinstance(value, list):
        is_tagged = any(isinstance(item, Mapping) and "tags" in item for item in value)
        return is_tagged or (len(value) > 0 and not isinstance(value[0], Mapping | list))
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


FITS: Mapping[str, Callable[[Any], Any]] = {
    "response": texts_of,
    "question": question_texts,
    "gold": _may_be_gold,
    "id": parse_id,
    "run": run_name,
    "sample": lambda value: whole_number(value) is not None,
    "finish": lambda value: isinstance(value, str),
    "error": lambda value: True,
}
# Of rows of other tools, after `foreign` has rewritten them.
PLAIN_ROWS = Columns({role: Column((role,)) for role in ROLES})
