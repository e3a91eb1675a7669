"""Where the page of a protocol, scorer or harness lies, and Markdown that shows texts verbatim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import ModuleType

from gradeschool.protocols.registry import all_protocols, all_scorers

LINE_BREAK = "⏎"
CODE = re.compile(r"(^(?: {4}|\t).*$|^```.*?^```|`+[^`]+`+)", re.MULTILINE | re.DOTALL)
PACKAGE = re.compile(r"https://pypi\.org/project/([^/]+)/([^/]+)/?")
BARE_STAR = re.compile(r"(?<=\w)\*(?=[\w:])")


def slug(name: str) -> str:
    """Return a name as a part of an address; a version range is told in words."""
    words = name.replace("<=", "up-to-").replace(">=", "from-")
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-")


def protocol_page(name: str) -> str:
    """Return the file of a protocol's page."""
    return f"protocols/{slug(name)}.md"


def scorer_page(name: str) -> str:
    """Return the file of a scorer's page."""
    return f"scorers/{slug(name)}.md"


def package_page(package: ModuleType) -> str:
    """Return the file of a harness's page."""
    return f"harnesses/{slug(package_name(package))}/index.md"


def package_name(package: ModuleType) -> str:
    """Return the first part of the names that a package holds."""
    first = next(iter((*package.PROTOCOLS, *package.SCORERS)))
    return str(first.name.split("/")[0])


def package_title(package: ModuleType) -> str:
    """Return what the harness of a package is called: the docstring up to its colon."""
    line = (package.__doc__ or package_name(package)).split("\n")[0]
    return line.partition(":")[0].strip(" .")


def check_distinct() -> None:
    """Raise ValueError where two protocols or two scorers would have one page."""
    for names in (all_protocols(), all_scorers()):
        if len({slug(name) for name in names}) != len(names):
            raise ValueError(f"two names have one page: {sorted(names)}")


def link(name: str, page: str, up: str = "../") -> str:
    """Return a link to a page, its text the name as code."""
    return f"[`{name}`]({up}{page})"


def code(text: str) -> str:
    """Return a text as code in a cell of a table: nothing in it is Markdown, line breaks show."""
    shown = text.replace("\n", LINE_BREAK)
    marks = (one if one.isalnum() or one == " " else f"&#{ord(one)};" for one in shown)
    return f"<code>{''.join(marks)}</code>"


def fence(text: str, language: str = "text", title: str = "") -> str:
    """Return a block of code that holds a text of any kind."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    named = f' title="{title}"' if title else ""
    return f"{ticks}{language}{named}\n{text}\n{ticks}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def links(addresses: Iterable[str]) -> str:
    """Return a list of addresses; a release of a package is named, not linked."""
    items = []
    for address in addresses:
        package = PACKAGE.fullmatch(address)
        items.append(f"- PyPI {' '.join(package.groups())}" if package else f"- <{address}>")
    return "\n".join(items)


def plain(text: str) -> str:
    """Return text of a person whose `<`, `>` and lone stars outside code are characters."""
    parts = CODE.split(text)
    for at in range(0, len(parts), 2):
        parts[at] = BARE_STAR.sub(r"\*", parts[at].replace("<", "&lt;").replace(">", "&gt;"))
    return "".join(parts)
