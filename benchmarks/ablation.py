"""Remove each pattern, alternative and weight of the answer extractor in turn; count what changes.

    python benchmarks/ablation.py [--every 40] [--whole] >table.tsv

Each row: what was removed, the verdicts that change on the hand-read and invented texts, on the
sentences of the tests and on every N-th recorded completion, and how many of them become right and
wrong. A pattern is tried on the texts on which it matches. What changes nothing may go. Needs the
shared data (GRADESCHOOL_DATA).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.extractor import LABELS, completions, labelled, rows
from gradeschool import load_gsm8k
from gradeschool.answers import assertion, candidates, extractor, quantities, regions, statements

MODULES = (quantities, regions, assertion, candidates, statements, extractor)
SEVERAL = 5  # changed verdicts after which a removal is not tried further
GROUP = re.compile(r"\((?:\?P<\w+>|\?[aimsux-]*:|\?<?[=!])?")


class Text(NamedTuple):
    """A completion, its question, and the right answer ("" if nobody read it)."""

    completion: str
    question: str
    answer: str


def texts(every: int) -> list[Text]:
    """Return the texts on which verdicts are compared."""
    problems = list(load_gsm8k("test"))
    found = [Text(text.text, text.question, text.answer or "") for text in labelled(problems)]
    found += [
        Text(row["completion"], row["question"], row["answer"] or "")
        for name in ("invented.jsonl", "texts.jsonl")
        for row in rows(LABELS / name)
    ]
    families = json.loads((LABELS / "families.json").read_text("utf-8"))
    found += [
        Text(template.format(n=47, m=56, k=67, d=5), "", "47" if family == "plain" else "")
        for family, templates in families.items()
        for template in templates
    ]
    recorded = [row for file in completions().values() for row in file]
    for row in recorded[::every]:
        problem = problems[row["index"]]
        found.append(Text(row["completion"], problem.question, problem.gold))
    return found


def verdict(text: Text) -> str:
    """Return the value of a text in a form that all its writings share, "" for none."""
    extracted = extractor.extract_final_answer(text.completion, text.question)
    return "" if extracted is None else exact_form(extracted.value)


def exact_form(value: str) -> str:
    """Return "37/2" for "18.5"; what is no number, as it is."""
    number = quantities.exact(value)
    return value if number is None else str(number)


def alternatives(pattern: str) -> Iterator[str]:
    """Yield a pattern without one of its alternatives, for each of them."""
    stack: list[list[int]] = [[0]]  # where the branches of each open group begin
    index = 0
    while index <= len(pattern):
        character = pattern[index : index + 1]
        if character == "\\":
            index += 1
        elif character == "[":
            index = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*").match(pattern, index).end()  # type: ignore[union-attr]
        elif character == "(":
            index = GROUP.match(pattern, index).end() - 1  # type: ignore[union-attr]
            stack.append([index + 1])
        elif character == "|":
            stack[-1].append(index + 1)
        elif character == ")" or not character:
            starts = [*stack.pop(), index + 1]
            for first, after in pairwise(starts):
                if len(starts) > 2:  # the last branch goes with the bar before it
                    cut = (first, after) if after <= index else (first - 1, index)
                    yield pattern[: cut[0]] + pattern[cut[1] :]
        index += 1


def removals(whole: bool) -> Iterator[tuple[str, Callable[[], None], Callable[[], None]]]:
    """Yield the name of each removal, with what carries it out and what takes it back.

    whole: weights and whole patterns only, not each alternative of a pattern.
    """
    for name, weight in list(candidates.WEIGHTS.items()):
        yield (
            f"weight {name}",
            lambda name=name: candidates.WEIGHTS.__setitem__(name, 0.0),  # type: ignore[misc]
            lambda name=name, weight=weight: candidates.WEIGHTS.__setitem__(name, weight),  # type: ignore[misc]
        )
    for module in MODULES:
        for name, pattern in list(vars(module).items()):
            if not isinstance(pattern, re.Pattern) or not is_own(module, name):
                continue
            never = "(?!)" + "".join(f"(?P<{group}>)" for group in pattern.groupindex)
            never += "()" * (pattern.groups - len(pattern.groupindex))
            for shorter in (never, *(() if whole else alternatives(pattern.pattern))):
                try:
                    changed = re.compile(shorter, pattern.flags)
                except re.error:
                    continue
                shown = "whole" if shorter == never else shorter
                yield (
                    f"{module.__name__.rpartition('.')[2]}.{name}\t{shown[:120]}",
                    lambda old=pattern, new=changed: bind(old, new),  # type: ignore[misc]
                    lambda old=pattern, new=changed: bind(new, old),  # type: ignore[misc]
                )


class Watched:
    """A pattern that notes the text on which it matches; without a match, none of it matters."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.matched: set[int] = set()

    def __getattr__(self, name: str) -> object:
        method = getattr(self.pattern, name)
        if not callable(method):
            return method

        def noted(*arguments: Any, **options: Any) -> Any:
            found = method(*arguments, **options)
            if name == "finditer":
                found = list(found)
            if found and found != arguments[-1]:
                self.matched.add(Watched.text)
            return iter(found) if name == "finditer" else found

        return noted

    text = 0


def matched_texts(chosen: list[Text]) -> dict[str, set[int]]:
    """Return, by pattern, the texts on which it matches."""
    watched = {}
    for module in MODULES:
        for name, pattern in list(vars(module).items()):
            if isinstance(pattern, re.Pattern) and is_own(module, name):
                watched[f"{module.__name__.rpartition('.')[2]}.{name}"] = Watched(pattern)
    for watch in watched.values():
        bind(watch.pattern, watch)
    for index, text in enumerate(chosen):
        Watched.text = index
        verdict(text)
    for watch in watched.values():
        bind(watch, watch.pattern)
    # A negative look-around decides where it does not match, too.
    everywhere = set(range(len(chosen)))
    return {
        name: everywhere
        if "(?!" in watch.pattern.pattern or "(?<!" in watch.pattern.pattern
        else watch.matched
        for name, watch in watched.items()
    }


def is_own(module: ModuleType, name: str) -> bool:
    """Return whether a module defines a name, rather than imports it."""
    source = Path(str(module.__file__)).read_text("utf-8")
    return re.search(rf"^{name} = ", source, re.MULTILINE) is not None


def bind(old: object, new: object) -> None:
    """Put an object in the place of another in every module."""
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
            if hasattr(value, "cache_clear"):
                value.cache_clear()
    statements.CUES = tuple((new if cue is old else cue, words) for cue, words in statements.CUES)  # type: ignore[assignment]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=40)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    chosen = texts(options.every)
    base = [verdict(text) for text in chosen]
    touched = matched_texts(chosen)
    for name, remove, restore in removals(options.whole):
        remove()
        changed = right = wrong = 0
        for index in sorted(touched.get(name.partition("\t")[0], range(len(chosen)))):
            text, before = chosen[index], base[index]
            try:
                now = verdict(text)
            except (AttributeError, IndexError, KeyError, TypeError):
                now = "raises"
            changed += now != before
            answer = exact_form(text.answer) if text.answer else ""
            right += now != before and now == answer
            wrong += now != before and before == answer
            if changed == SEVERAL:
                break
        restore()
        print(changed, right, wrong, name, sep="\t", flush=True)


if __name__ == "__main__":
    main()
