"""The grid of scores as tables: which score selects best, on which generator's samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gradeschool.atomic import write_json
from gradeschool.percentages import bounds, gain
from gradeschool.reports.printable import markdown_table
from gradeschool.scoring.statistics import Interval
from gradeschool.verifier.rank import AccuracyGain
from gradeschool.verifier.reproduce.grid import (
    FEW,
    FEW_SAMPLES,
    GREEDY,
    LIKELIHOOD,
    OWN,
    PREFERENCE,
    SELF,
    SELF_GREEDY,
    TOKEN,
    WEIGHTED,
    GridCell,
    family_of_scorer,
    grid,
)
from gradeschool.verifier.reproduce.presets import SPLITS, Preset
from gradeschool.verifier.selection import BEST, MAJORITY

ROUND_TITLES = {
    1: "samples of the generator",
    2: "samples of the self-trained generator",
    3: "samples of the generator that was self-trained twice",
}
TITLES = {
    "": "none",
    OWN: "log-probability under the generator itself",
    SELF: "log-probability under the generator trained on its right samples",
    LIKELIHOOD: "likelihood verifier",
    TOKEN: "the paper's token head",
    FEW: f"likelihood verifier, {FEW_SAMPLES} samples of each problem",
    PREFERENCE: f"verifier by preference (DPO), {FEW_SAMPLES} samples of each problem",
}
STRATEGY_TITLES = {
    GREEDY: "one greedy answer",
    SELF_GREEDY: "one greedy answer after training on the right samples",
    MAJORITY: "majority vote",
    BEST: "best",
    WEIGHTED: "weighted vote",
}
SHOWN = (MAJORITY, f"{OWN} {BEST}", f"{SELF} {BEST}")
FILE = "results/grid.json"


def write_grid(root: Path, preset: Preset) -> Iterator[str]:
    """Write results/grid.json of a recipe's folder; yield the tables of its results."""
    by_split = {split: grid(root, preset, split) for split in SPLITS}
    fields = {split: [_fields(cell) for cell in cells] for split, cells in by_split.items()}
    write_json(root / FILE, fields)
    for split, cells in by_split.items():
        for number, title in ROUND_TITLES.items():
            chosen = [cell for cell in cells if cell.round == number]
            if chosen:
                yield from ("", f"### {split}: {title}", "")
                yield from _table(chosen)
                yield from _sentences(chosen)


def _table(cells: Sequence[GridCell]) -> Iterator[str]:
    heads = ("score", "selected", "right", "95 %", "each seed", "over the majority vote",
             "over own log-probability", "over self-trained log-probability")  # fmt: skip
    rows = []
    for cell in cells:
        title = TITLES[family_of_scorer(cell.scorer)]
        reduction = f" ({cell.reduction})" if cell.reduction else ""
        rows.append([
            f"{title}{reduction}", STRATEGY_TITLES[cell.strategy], f"{100 * cell.accuracy:.1f}",
            bounds(cell.ci95, 1, " to "), " ".join(f"{100 * s:.1f}" for s in cell.by_seed),
            *(gap_text(cell.over.get(name)) for name in SHOWN),
        ])  # fmt: skip
    yield from markdown_table(heads, rows, texts=2)
    yield ""


def _sentences(cells: Sequence[GridCell]) -> Iterator[str]:
    """Yield the gain of the best use of the likelihood verifier over each baseline of its round."""
    verified = [cell for cell in cells if cell.scorer == LIKELIHOOD]
    if not verified:
        return
    best = max(verified, key=lambda cell: cell.development or 0.0)
    names = {GREEDY: "one greedy answer", SELF_GREEDY: STRATEGY_TITLES[SELF_GREEDY],
             MAJORITY: "the majority vote", f"{OWN} {BEST}": f"the best by {TITLES[OWN]}",
             f"{SELF} {BEST}": f"the best by {TITLES[SELF]}"}  # fmt: skip
    for name, title in names.items():
        gap = best.over.get(name)
        if gap is not None:
            yield (f"- {STRATEGY_TITLES[best.strategy]} by the likelihood verifier against "
                   f"{title}: {gap_text(gap)}, {_outcome(gap.ci95)}.")  # fmt: skip


def _outcome(interval: Interval) -> str:
    return "above" if interval.low > 0 else "below" if interval.high < 0 else "not decided"


def gap_text(gap: AccuracyGain | None) -> str:
    """Return a gain with its interval, "" for none."""
    return "" if gap is None else gain(gap.difference, gap.ci95)


def _fields(cell: GridCell) -> Mapping[str, object]:
    return {**cell._asdict(), "over": {name: gap._asdict() for name, gap in cell.over.items()}}
