"""The grid: every score on the samples of a generator, and on those of the same one self-trained.

A round samples from a generator, trains it further on its own right samples, and trains verifiers
on all of these samples, right and wrong; every score of a round has the same labels. The first
round's generator is the recipe's, the second's is the first's control. What is chosen (how a
solution's score comes of its tokens, the learning rate of a training by preference, the best sample
or the vote) is chosen on a development split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, tanh
from pathlib import Path
from typing import NamedTuple

from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verifier.rank import AccuracyGain, baseline, counted, difference, one_run
from gradeschool.verifier.reproduce.findings import Outcomes, share_of, summed
from gradeschool.verifier.reproduce.presets import (
    DEV,
    LABELLED,
    Preset,
    folder,
    kept_right,
    problems_of,
)
from gradeschool.verifier.reproduce.stages import Stage
from gradeschool.verifier.scores import ScoreRow, choose_scores
from gradeschool.verifier.selection import (
    BEST,
    MAJORITY,
    Option,
    RankedProblem,
    SelectionSettings,
    pick,
)

WEIGHTED = "weighted"
OWN, SELF, LIKELIHOOD, TOKEN, PREFERENCE = "own", "self", "likelihood", "token", "preference"
FEW = "likelihood-few"
GREEDY, NEXT_GREEDY = "greedy", "self-greedy"
# The paper's head: from the samples alone, for more than 5,000 updates at the laptop's 30,000.
TOKEN_HEAD = ("--level", "token", "--language", "right", "--optimizer", "muon", "--lr", "2e-3",
              "--warmup", "30", "--batch", "16", "--group", "1", "--epochs", "3")  # fmt: skip
# Pairs need several samples of a problem: as many labels, of fewer problems.
FEW_SAMPLES = 8
FEW_HEAD = ("--level", "likelihood", "--optimizer", "muon", "--lr", "1e-3", "--warmup", "30",
            "--batch", "2", "--group", "8")  # fmt: skip
PREFERENCE_HEAD = ("--level", "likelihood", "--objective", "preference", "--beta", "0.1",
                   "--optimizer", "muon", "--warmup", "30", "--batch", "8", "--group", "8",
                   "--epochs", "3")  # fmt: skip
PREFERENCE_RATES = ("3e-4", "1e-3")


class Round(NamedTuple):
    """The names of what a round reads and makes; suffix: of what it makes."""

    number: int
    generator: str
    self_trained: str
    suffix: str

    @property
    def samples(self) -> str:
        """Return the name of the labelled samples."""
        return f"samples{self.suffix}"

    def drawn(self, split: str) -> str:
        """Return the name of the run that the scores select from."""
        if split in problems_of() and not self.suffix:
            return split
        return f"{split}-samples{self.suffix}"

    def verifier(self, scorer: str) -> str:
        """Return the name of a verifier."""
        is_first = scorer == LIKELIHOOD and not self.suffix
        return "verifier" if is_first else f"verifier-{scorer}{self.suffix}"


ROUNDS = (
    Round(1, "generator", "control", ""),
    Round(2, "control", "control-second", "-control"),
)
