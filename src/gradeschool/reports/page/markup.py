"""HTML that cannot hold what a model wrote as anything but text."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

from gradeschool.reports.printable import printable

VOID = frozenset({"br", "circle", "col", "hr", "input", "line", "link", "meta", "rect"})


class Html(str):
    """Markup that `el` built. Every other string is text, and is escaped where it is used."""

    __slots__ = ()


def text(value: str) -> Html:
    """Return a text as markup: HTML's characters escaped, invisible ones spelled out."""
    return Html(escape(printable(value, keep="\n\t"), quote=True))


def el(tag: str, *children: str | None, **attributes: str | float | bool | None) -> Html:
    """Return an element; children that are no Html are escaped, None is left out.

    Attribute names: "_" stands for "-", and one at the end is dropped (`class_`). A value of True
    is an attribute without a value; False and None leave it out.
    """
    written = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = name.rstrip("_").replace("_", "-")
        written.append(f" {spelled}" if value is True else f' {spelled}="{text(_plain(value))}"')
    start = f"<{tag}{''.join(written)}"
    if tag in VOID:
        return Html(f"{start} />")
    return Html(f"{start}>{join(*children)}</{tag}>")


def join(*children: str | None) -> Html:
    """Return children one behind the other, escaped where they are no Html."""
    parts = (child if isinstance(child, Html) else text(child) for child in children if child)
    return Html("".join(parts))


def link_to(**state: str) -> str:
    """Return the address within the page of a state of its explorer."""
    return f"#{urlencode(state)}"


def _plain(value: str | float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
