"""The figures of Cobbe et al. 2021 (arXiv:2110.14168), to be filled with measured series.

`gradeschool verifier reproduce` measures the series; this module only draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradeschool.errors import InputError, UnknownNameError
from gradeschool.reports.figures import (
    DOUBLING,
    LINEAR,
    TENFOLD,
    Figure,
    Panel,
    Series,
)

PROBLEMS, PARAMETERS = "Training problems", "Parameters of the model"
EPOCHS, SAMPLES, VOTERS = "Epoch", "Completions per problem", "Voters among the top ranked"
EACH, FLOPS = "Samples of a labelled problem", "FLOPs"
SOLVED = "Test problems solved (%)"


# Figures whose panels show different measures, each on its own axis.
APART = ("3",)


class Frame(NamedTuple):
    """The axes of one panel: its title, the label of x and the scale of x."""

    title: str
    x: str
    scale: str


class Form(NamedTuple):
    """A figure of the paper: its claim in words, and its panels."""

    claim: str
    frames: tuple[Frame, ...]


FIGURES: Mapping[str, Form] = {
    "2": Form(
        "fine-tuning: accuracy over training-set size and over model size",
        (Frame("by training set", PROBLEMS, DOUBLING), Frame("by model", PARAMETERS, TENFOLD)),
    ),
    "3": Form(
        "over epochs test@1 rises while test@100 falls after the first few",
        (Frame("test@1", EPOCHS, LINEAR), Frame("test@100", EPOCHS, LINEAR)),
    ),
    "5": Form(
        "verification against fine-tuning over training-set size",
        (Frame("smaller model", PROBLEMS, DOUBLING), Frame("larger model", PROBLEMS, DOUBLING)),
    ),
    "5a": Form(
        "token-level verifiers beat solution-level ones in the end",
        (Frame("", EPOCHS, LINEAR),),
    ),
    "5b": Form("the joint objective beats verification alone", (Frame("", EPOCHS, LINEAR),)),
    "5c": Form(
        "a large generator with a small verifier beats the reverse",
        (Frame("", PROBLEMS, DOUBLING),),
    ),
    "6a": Form(
        "accuracy over completions rises, and falls where adversarial ones are found",
        (Frame("", SAMPLES, DOUBLING),),
    ),
    "6b": Form("the more completions, the more voters pay", (Frame("", VOTERS, DOUBLING),)),
    "7": Form(
        "dropout helps fine-tuning and solution-level verifiers, token-level ones slightly",
        (
            Frame("fine-tuning", PROBLEMS, DOUBLING),
            Frame("solution-level verifier", EPOCHS, LINEAR),
            Frame("token-level verifier", EPOCHS, LINEAR),
        ),
    ),
    "calculator": Form(
        "results that a calculator writes beat the model's own arithmetic (appendix C, no figure)",
        (Frame("", PROBLEMS, DOUBLING),),
    ),
    "n": Form(
        "best by verifier falls with many completions (the paper's beyond 400; figure 6a further)",
        (Frame("", SAMPLES, DOUBLING),),
    ),
    "k": Form(
        "several samples of few labelled problems against one each of many (no figure)",
        (Frame("", EACH, DOUBLING),),
    ),
    "compute": Form(
        "accuracy over FLOPs (no figure)",
        (Frame("an answer", FLOPS, TENFOLD), Frame("with training", FLOPS, TENFOLD)),
    ),
}


def paper_figure(
    name: str,
    panels: Sequence[Sequence[Series]],
    *,
    x: str | None = None,
    titles: Sequence[str] | None = None,
    scale: str | None = None,
) -> Figure:
    """Return a figure of the paper with measured series, one sequence of series per panel.

    name: a key of FIGURES. x, scale: replace the paper's, for all panels. titles: of the panels,
    whose number may then differ from the paper's. Raises UnknownNameError, and InputError for a
    wrong number of panels.
    """
    form = FIGURES.get(name)
    if form is None:
        raise UnknownNameError("figure of the paper", name, FIGURES)
    if not panels or not all(panels):
        raise InputError(f"figure {name!r} needs series for every panel, got {panels!r}")
    frames = form.frames if titles is None else _titled(form.frames, titles)
    if len(frames) != len(panels):
        raise InputError(
            f"figure {name!r} has {len(frames)} panels, series are given for {len(panels)}; "
            "give titles for as many panels as there are"
        )
    return Figure(
        f"figure-{name}",
        tuple(
            Panel(tuple(series), x or frame.x, SOLVED, frame.title, scale or frame.scale)
            for frame, series in zip(frames, panels, strict=True)
        ),
        shared=name not in APART,
    )


def _titled(frames: Sequence[Frame], titles: Sequence[str]) -> tuple[Frame, ...]:
    return tuple(
        frames[min(index, len(frames) - 1)]._replace(title=title)
        for index, title in enumerate(titles)
    )
