"""`gradeschool rank`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import (
    FileVerb,
    FiniteRange,
    check_scorers,
    dataset_option,
    json_option,
    print_json,
    reading,
    renamed_option,
    scorer_option,
    stdout_console,
    warn,
)
from gradeschool.cli.training import seed_option
from gradeschool.cli.verifier_verb import form_option, reduction_option
from gradeschool.reports.printable import say

if TYPE_CHECKING:
    from gradeschool.scoring.statistics import Interval
    from gradeschool.verifier.candidates import CandidateRun
    from gradeschool.verifier.choice import ChosenStrategy, DevelopmentRun
    from gradeschool.verifier.rank import Ranking, RankInput
    from gradeschool.verifier.scorers import CandidateScorer
    from gradeschool.verifier.scores import ScoreRow


@click.command(cls=FileVerb)
@click.argument("run", metavar="RUN")
@click.option("--verifier", metavar="FOLDER|FILE.gguf|tiny|SCORES",
              help="Verifier or published reward model, which scores what has no score yet; or a "
                   "file of scores; or the first characters of a verifier's name in the run's "
                   "score file.")  # fmt: skip
@click.option(
    "--generator",
    metavar="FOLDER|FILE.gguf|tiny",
    help="Rank by the log-probability under this model too; without a verifier, by it alone.",
)
@reduction_option
@form_option
@click.option("--dev", "developments", multiple=True, metavar="RUN",
              help="Choose strategy, completions, voters and share weight on this run, on other "
                   "problems; several runs choose the temperature too.")  # fmt: skip
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="RUN",
    help="Compare with another run on the same problems, such as a greedy one.",
)
@click.option("--voters", type=click.IntRange(min=1), default=5, show_default=True,
              help="Number of voters: the verifier's top N completions.")  # fmt: skip
@renamed_option("--share-weight", "share_weight", aliases=("--favour",),
                type=FiniteRange(min=0), default=0.2, show_default=True,
                help="Weight of an answer's share of the samples beside the score.")  # fmt: skip
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Random subsets of each problem's completions, for votes over fewer of them.",
)
@seed_option
@scorer_option("Scorer that labels the completions; by default that of the protocol.")
@dataset_option
@json_option
def command(
    run: str,
    verifier: str | None,
    generator: str | None,
    reduction: str,
    form: str | None,
    developments: tuple[str, ...],
    baselines: tuple[str, ...],
    voters: int,
    share_weight: float,
    draws: int,
    seed: int,
    scorer: str | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Select one of many completions, by a verifier, a vote, both, or log-probability.

    RUN is a run folder or a sample file (FILE#NAME: one run of several) with a verifier's scores.
    Prints the accuracy of each selection strategy, by problem family and over the number of
    completions and voters, and the AUC and calibration of the scores; intervals are clustered by
    problem.

    Example: gradeschool rank runs/samples --verifier models/verifier --baseline runs/greedy
    """
    from gradeschool.scoring.sources import check_sources
    from gradeschool.verifier.choice import chosen_strategy
    from gradeschool.verifier.rank import rank, scorer_or_scores
    from gradeschool.verifier.selection import SelectionSettings

    check_scorers(scorer)
    check_sources([run, *developments, *baselines], reading(dataset))
    source = scorer_or_scores(run, verifier, generator, reduction, form)
    candidates, prepared = _scored(run, source, dataset, scorer)
    settings = SelectionSettings(voters, share_weight, draws, seed)
    chosen = None
    if developments:
        to_choose = [
            _scored(spec, source, dataset, scorer, is_reported=False)
            for spec in dict.fromkeys(developments)
        ]
        both = prepared.has_logprob and all(ranked.has_logprob for _, ranked in to_choose)
        chosen = chosen_strategy(
            [_development(*scored) for scored in to_choose],
            _development(candidates, prepared),
            has_logprob=both,
            settings=settings,
        )
    others, scores = _baselines(candidates, baselines, dataset)
    ranking = rank(prepared.cases, has_logprob=prepared.has_logprob, stored=prepared.stored,
                   baselines=others, settings=settings)  # fmt: skip
    facts = {
        "run": candidates.run,
        "verifier": prepared.verifier,
        "scorer": candidates.scorer,
        "failed": candidates.failed,
        "unscored": prepared.unscored,
    }
    _show(ranking, scores, facts, chosen, as_json)


def _scored(
    spec: str,
    source: CandidateScorer | tuple[str, Mapping[str, ScoreRow]],
    dataset: str | None,
    scorer: str | None,
    is_reported: bool = True,
) -> tuple[CandidateRun, RankInput]:
    """Return a run with its scores; warn about completions without a score.

    source: of the reported run. Another run has its own dataset, and scores beside it.
    """
    from gradeschool.formats.own_run import dataset_of
    from gradeschool.reports.progress import ScoringDisplay
    from gradeschool.verifier.candidates import one_run
    from gradeschool.verifier.rank import rank_input, scored_by
    from gradeschool.verifier.scorers import CandidateScorer
    from gradeschool.verifier.scores import choose_scores, scores_path

    if not is_reported and dataset_of(Path(spec)):
        dataset = None
    candidates = one_run(spec, reading(dataset), warn, scorer)
    if isinstance(source, CandidateScorer):
        with ScoringDisplay() as display:
            name, rows = scored_by(source, candidates, display.scored)
    else:
        beside = scores_path(candidates.path)
        name, rows = source if is_reported else choose_scores(beside, source[0])
    prepared = rank_input(candidates, name, rows)
    if prepared.unscored:
        warn(
            f"{prepared.unscored} of {candidates.total} completions have no score and are left out"
        )
    return candidates, prepared


def _development(sampled: CandidateRun, ranked: RankInput) -> DevelopmentRun:
    """Return a run with the temperature that its run.json records."""
    from gradeschool.formats.settings import mapping
    from gradeschool.verifier.choice import DevelopmentRun

    temperature = mapping(sampled.manifest.get("decoding")).get("temperature")
    return DevelopmentRun(str(sampled.path), temperature, ranked.cases)


def _baselines(
    candidates: CandidateRun, specs: tuple[str, ...], dataset: str | None
) -> tuple[dict[str, dict[str, tuple[int, int]]], dict[str, tuple[float, Interval]]]:
    """Return the outcomes of other runs by problem, and their accuracies, both by name."""
    from gradeschool.verifier.rank import baseline

    outcomes: dict[str, dict[str, tuple[int, int]]] = {}
    accuracies: dict[str, tuple[float, Interval]] = {}
    for spec in dict.fromkeys(specs):
        name, result, accuracy, interval = baseline(candidates, spec, reading(dataset), warn)
        label = name if name not in outcomes else f"{name} ({spec})"
        outcomes[label], accuracies[label] = result, (accuracy, interval)
    return outcomes, accuracies


def _show(
    ranking: Ranking,
    baselines: dict[str, tuple[float, Interval]],
    facts: dict[str, Any],
    chosen: ChosenStrategy | None,
    as_json: bool,
) -> None:
    from gradeschool.reports.ranking import choice_json, print_choice, print_ranking, ranking_json

    if as_json:
        accuracies = {name: {"accuracy": accuracy, "ci95": list(interval)}
                for name, (accuracy, interval) in baselines.items()}  # fmt: skip
        choice = {"chosen": choice_json(chosen)} if chosen else {}
        print_json({**facts, **choice, "baselines": accuracies, **ranking_json(ranking)})
        return
    say(f"{facts['run']} by {facts['verifier']}, scored by {facts['scorer']}")
    if chosen:
        print_choice(chosen, stdout_console())
    print_ranking(ranking, baselines, stdout_console())
