"""Thresholds that a build may hold its model to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradeschool.scoring.compare import Comparison, Outcomes


class Threshold(NamedTuple):
    """A threshold of one run, whether it is met, and the figures in words."""

    run: str
    met: bool
    text: str


def check(
    outcomes: Sequence[Outcomes],
    comparisons: Sequence[Comparison],
    at_least: float | None,
    margin: float | None,
) -> list[Threshold]:
    """Return the thresholds of every run that is held to them.

    at_least: what the accuracy itself must reach, as a share. margin: points by which a run may be
    worse than the first; met only where the whole 95 % interval of the difference is above that
    (non-inferiority at 2.5 %, one-sided). Where there is a margin the first run is the measure and
    is not held to anything.
    """
    held = outcomes if margin is None else outcomes[1:]
    found = []
    if at_least is not None:
        for one in held:
            shown = f"accuracy {100 * one.accuracy:.2f} %, at least {100 * at_least:g} % is asked"
            found.append(
                Threshold(one.run, one.accuracy >= at_least - 1e-12, f"{one.run}: {shown}")
            )
    if margin is not None:
        for other in comparisons:
            met = 100 * other.ci95.low > -margin
            low = f"the difference may be as low as {100 * other.ci95.low:+.2f} points"
            asked = f"above -{margin:g} is asked"
            text = f"{other.run} against {other.baseline}: {low}, {asked}"
            found.append(Threshold(other.run, met, text))
    return found
