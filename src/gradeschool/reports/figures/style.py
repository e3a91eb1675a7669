"""The one style of every figure: size of a paper's column, embedded fonts, colours for all eyes.

Fonts come with matplotlib, dates and random identifiers are left out: the same records give the
same bytes, given the same matplotlib. Colours are those of Okabe and Ito 2008 (jfly.uni-koeln.de/
color), told apart by people who do not see red and green; lines differ in marker and dash too.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradeschool.atomic import replacing
from gradeschool.errors import InputError, MissingExtraError

COLUMN, PAGE = 3.35, 6.9  # inches: one column, and the width of a page of two
ENDINGS = (".svg", ".pdf", ".png")
INK, SOFT, FAINT = "#1a1a1a", "#6b6b6b", "#dcdcdc"
BLUE, RED, GREEN, PINK, ORANGE, SKY = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
)
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), "-", (0, (3, 1)))
RC: Mapping[str, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlesize": 8.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # TrueType: text that can be searched, and that journals accept
    "svg.fonttype": "path",
    "svg.hashsalt": "gradeschool",
    "path.simplify": False,
}
UNDATED: Mapping[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}

Draw = Callable[[Any], None]


def save(draw: Draw, path: Path, width: float, height: float) -> int:
    """Draw a figure of this size, in inches, and write it whole or not at all; return its bytes.

    The ending of the path says the form. Raises MissingExtraError without matplotlib, InputError
    for another ending and where the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"no figure is written as {path.name!r}; its name may end in {', '.join(ENDINGS)}"
        )
    matplotlib = _matplotlib()
    with matplotlib.rc_context({}):
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        figure = importlib.import_module("matplotlib.figure").Figure(
            figsize=(width, height), layout="constrained"
        )
        draw(figure)
        try:
            with replacing(path) as part:
                figure.savefig(part, metadata=UNDATED[ending])
                size = part.stat().st_size
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"cannot write {str(path)!r}: {reason}; give another path") from error
    return size


def _matplotlib() -> Any:
    try:
        return importlib.import_module("matplotlib")
    except ImportError:
        raise MissingExtraError("drawing figures", "report") from None


def plain(text: str, limit: int = 60) -> str:
    """Return a text as a figure may show it: one line, nothing that matplotlib reads as math."""
    from gradeschool.reports.printable import printable
    from gradeschool.scorer import clip

    return clip(printable(text, keep=""), limit).replace("$", r"\$")


def percent_axis(axis: Any, low: float, high: float) -> None:
    """Give an axis round percentages from below `low` to above `high`, shares of one."""
    from math import ceil, floor

    span = max(high - low, 0.01)
    step = next(one for one in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 1.0) if span / one <= 5.5)
    first, last = max(0, floor(low / step + 1e-9)), min(1 / step, ceil(high / step - 1e-9))
    ticks = [at * step for at in range(int(first), int(last) + 1)]
    axis.set_ticks(ticks, [f"{100 * tick:g}" for tick in ticks])
