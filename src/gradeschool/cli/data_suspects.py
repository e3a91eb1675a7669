"""`gradeschool data suspects`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FiniteRange,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.scoring.suspects import Suspect

SHOWN_RUNS = 4


@click.command("suspects")
@click.argument("files", nargs=-1, required=True)
@click.option("--strong", type=FiniteRange(0, 1), default=0.7, show_default=True,
              help="Ask runs of a higher accuracy alone.")  # fmt: skip
@click.option("-n", "--limit", type=click.IntRange(min=0), default=20, show_default=True,
              help="Problems to show.")  # fmt: skip
@dataset_option
@json_option
def suspects_command(
    files: tuple[str, ...], strong: float, limit: int, dataset: str | None, as_json: bool
) -> None:
    """List problems whose label may be wrong.

    These are problems that runs of FILES, which are right elsewhere, miss in the same way: one
    other answer has more runs than the gold. A suspicion and no proof: runs of one model are no
    independent witnesses. What GSM8K-Platinum did with a problem stands beside it.

    Example: gradeschool data suspects runs/*/completions.jsonl
    """
    from gradeschool.datasets.platinum import disputed
    from gradeschool.scoring.sources import load_runs, sources
    from gradeschool.scoring.suspects import suspects

    found = sources(files, dataset)
    datasets = {source.dataset.name: source.dataset for source in found}
    if len(datasets) > 1:
        names = ", ".join(map(repr, datasets))
        raise InputError(f"the files are of different datasets: {names}; give those of one")
    runs = [run for source in found for run in load_runs(Path(source.name), dataset, warn)]
    [problems] = [one.problems for one in datasets.values()]
    listed = suspects(runs, disputed(problems), strong)
    if as_json:
        print_json({"suspects": [one.as_json() for one in listed]})
    else:
        _print(listed, limit)
    warn_of_faults(sum(run.faults for run in runs))


def _print(listed: list[Suspect], limit: int) -> None:
    from rich.text import Text

    from gradeschool.reports.printable import printable

    console = stdout_console()
    count = "1 problem" if len(listed) == 1 else f"{len(listed)} problems"
    console.print(f"{count} where more strong runs agree on one other answer than on the gold")
    for one in listed[:limit]:
        said = (
            f"gold {one.problem.gold}, said by {one.right} of {one.runs}; {one.value}, said by "
            f"{len(one.sayers)}, the best {100 * one.strongest:.1f} % right; GSM8K-Platinum "
            f"{one.platinum}"
        )
        names = ", ".join(one.sayers[:SHOWN_RUNS])
        more = f" and {len(one.sayers) - SHOWN_RUNS} more" if len(one.sayers) > SHOWN_RUNS else ""
        console.print()
        console.rule(Text(f"problem {printable(one.problem.id)}"), align="left")
        console.print(Text(printable(one.problem.question), "italic"))
        console.print(Text(printable(said), "bold"))
        console.print(Text(f"{printable(names, keep='')}{more}"))
    if 0 < limit < len(listed):
        console.print(f"\n{len(listed) - limit} more; show them with -n {len(listed)}")
