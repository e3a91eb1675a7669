"""Pages and texts from the Jinja2 templates in `templates/`.

A page is one file with its own script and makes no network requests. Every value of its template is
text: it is escaped, and characters that cannot be seen are spelled out. Only `Markup` is not, and
no completion, name or message ever becomes `Markup`. The content security policy allows the one
style and the one script of the page by their hashes.
"""

import base64
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from gradeschool import __version__
from gradeschool.atomic import replacing, writing_output
from gradeschool.printable import bounds, count, gain, markdown_text, p_value, points, printable
from gradeschool.scoring.statistics import Interval

MOST_TICKS = 6
EDGE = 3.0  # percent of margin on both sides, so that dots and labels at the ends are not cut


def render(
    template: str, title: str, kicker: str = "Evaluation report", live: bool = False, **values: Any
) -> str:
    """Return a page from a template that extends `base.html`.

    title: the heading; kicker: the small line above it. live: the page is served by
    `gradeschool view`. values: what the template names.
    """
    templates = environment()
    shipped = Path(__file__).with_name("templates")
    style, script = (Markup((shipped / name).read_text("utf-8"))  # noqa: S704  (ours)
                     for name in ("page.css", "page.js"))  # fmt: skip
    script_hash, style_hash = (
        f"sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}"
        for inline in (script, style)
    )
    policy = (
        f"default-src 'none'; script-src '{script_hash}'; style-src '{style_hash}'; "
        "base-uri 'none'; form-action 'none'; connect-src 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    page = templates.get_template(template).render(
        title=title,
        kicker=kicker,
        live=live,
        style=style,
        script=script,
        policy=policy,
        version=__version__,
        now=datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"),
        **values,
    )
    return f"{page}\n"


def fill(template: str, **values: Any) -> str:
    """Return a text from a template, which names the values; what cannot be seen is spelled out."""
    return environment().get_template(template).render(**values)


def save_page(page: str, path: Path) -> int:
    """Write a page atomically; return its size in bytes. Raises InputError if that fails."""
    body = page.encode()
    with writing_output(path), replacing(path) as part:
        part.write_bytes(body)
    return len(body)


class Axis(NamedTuple):
    """Shares from low to high (0 to 1), with ticks at round numbers, over the width of a strip."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, share: float) -> str:
        """Return the position of a share in percent of the width."""
        inside = min(max(share, self.low), self.high)
        return f"{EDGE + (100 - 2 * EDGE) * (inside - self.low) / (self.high - self.low):.3f}%"


def axis_over(intervals: Iterable[Interval]) -> Axis:
    """Return an axis that covers all intervals, from one round number to another."""
    spans = list(intervals) or [Interval(0.0, 1.0)]
    low = min(interval.low for interval in spans)
    high = max(interval.high for interval in spans)
    step = next(
        size for size in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / size < MOST_TICKS - 1
    )
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(round(index * step, 4) for index in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


@cache
def environment() -> Environment:
    """Return the environment of all templates: escaping, and the formats of numbers."""
    templates = Environment(
        loader=PackageLoader("gradeschool.reports"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    templates.filters |= {
        "percent": lambda share, digits=2: f"{100 * share:.{digits}f}",
        "points": lambda share, digits=2: points(share, digits).replace("-", "−"),
        "gain": lambda pair, digits=2: gain(pair.difference, pair.ci95, digits),
        "span": lambda interval, between=" – ", digits=2: bounds(interval, digits, between),
        "p_value": p_value,
        "count": count,
        "dollars": "${:,.2f}".format,
        "markdown": markdown_text,
        "thousands": "{:,}".format,
    }
    templates.globals["link_to"] = lambda **state: f"#{urlencode(state)}"
    return templates


def _shown(value: object) -> object:
    """Return a value as it is shown: None as nothing, what cannot be seen by its number."""
    if value is None:
        return ""
    return value if isinstance(value, Markup) else printable(str(value), keep="\n\t")
