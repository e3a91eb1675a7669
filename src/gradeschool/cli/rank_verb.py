"""`gradeschool rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import (
    FiniteRange,
    check_scorers,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
)
from gradeschool.cli.training import seed_option

if TYPE_CHECKING:
    from gradeschool.scoring.statistics import Interval
    from gradeschool.verifier.rank import Ranking


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--verifier", metavar="FOLDER|FILE.gguf|tiny|SCORES",
              help="A verifier (what it has not scored is scored), a file of scores, or "
                   "the beginning of a name in the one beside the run.")  # fmt: skip
@click.option("--generator", metavar="FOLDER|FILE.gguf|tiny",
              help="With a verifier: rank by its logprobs too.")  # fmt: skip
@click.option("--baseline", "baselines", multiple=True, metavar="RUN",
              help="Another run on the same problems to compare with: a greedy one.")  # fmt: skip
@click.option("--voters", type=click.IntRange(min=1), default=5, show_default=True,
              help="K of the vote among the verifier's top K.")  # fmt: skip
@click.option("--share-weight", "--favour", "share_weight", type=FiniteRange(min=0), default=0.2,
              show_default=True, help="Weight of an answer's share beside a score.")  # fmt: skip
@click.option("--draws", type=click.IntRange(min=1), default=20, show_default=True,
              help="Random subsets a problem, for votes among fewer completions.")  # fmt: skip
@seed_option
@click.option("--scorer", "--rule", metavar="NAME",
              help="The scorer that reads the answers; by default the protocol's own.")  # fmt: skip
@dataset_option
@json_option
def command(
    run: str,
    verifier: str | None,
    generator: str | None,
    baselines: tuple[str, ...],
    voters: int,
    share_weight: float,
    draws: int,
    seed: int,
    scorer: str | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Pick one of many answers by every strategy: verifier, vote, both, log-probability.

    RUN is a run folder or a file of completions (FILE#NAME: one run of several) with a verifier's
    scores. Prints accuracies by problem family, over the number of completions and of voters, and
    how well the scores tell right from wrong, with intervals by problem.

    Example: gradeschool rank runs/samples --verifier models/verifier --baseline runs/greedy
    """
    from gradeschool.cli.verifier_verb import progress
    from gradeschool.scoring.sources import check_sources
    from gradeschool.verifier.rank import baseline, one_run, rank, ready, scored_by, scores_of
    from gradeschool.verifier.scorers import CandidateScorer
    from gradeschool.verifier.selection import SelectionSettings

    check_scorers(scorer)
    check_sources([run, *baselines], dataset)
    source = scores_of(run, verifier, generator)
    held = one_run(run, dataset, warn, scorer)
    if isinstance(source, CandidateScorer):
        name, rows = scored_by(source, held, progress("scored"))
    else:
        name, rows = source
    prepared = ready(held, name, rows)
    if prepared.unscored:
        warn(f"{prepared.unscored} of {held.total} completions have no score; they are left out")
    others: dict[str, dict[str, tuple[int, int]]] = {}
    scores: dict[str, tuple[float, Interval]] = {}
    for spec in dict.fromkeys(baselines):
        other, found, accuracy, interval = baseline(held, spec, dataset, warn)
        label = other if other not in others else f"{other} ({spec})"
        others[label], scores[label] = found, (accuracy, interval)
    settings = SelectionSettings(voters, share_weight, draws, seed)
    ranking = rank(
        prepared.cases, has_logprob=prepared.has_logprob, baselines=others, settings=settings
    )
    facts = {"run": held.run, "verifier": name, "scorer": held.scorer, "failed": held.failed,
             "unscored": prepared.unscored}  # fmt: skip
    _show(ranking, scores, facts, as_json)


def _show(
    ranking: Ranking,
    baselines: dict[str, tuple[float, Interval]],
    facts: dict[str, Any],
    as_json: bool,
) -> None:
    from gradeschool.reports.printable import printable
    from gradeschool.reports.ranking import print_ranking, ranking_json

    if as_json:
        told = {name: {"accuracy": accuracy, "ci95": list(interval)}
                for name, (accuracy, interval) in baselines.items()}  # fmt: skip
        print_json({**facts, "baselines": told, **ranking_json(ranking)})
        return
    click.echo(printable(f"{facts['run']} by {facts['verifier']}, read by {facts['scorer']}"))
    print_ranking(ranking, baselines, stdout_console())
