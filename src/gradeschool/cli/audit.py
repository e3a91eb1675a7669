"""`gradeschool audit`."""

import sys
from collections.abc import Collection

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.auditing.audit import (
    MEANINGS,
    MOST_HANGS,
    AuditFinding,
    AuditReport,
    Fault,
    audit,
    check_names,
)
from gradeschool.cli import options as cli
from gradeschool.cli.options import COUNT, option
from gradeschool.errors import InputError
from gradeschool.printable import count, printable, quoted
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.reports.progress import ProgressDisplay
from gradeschool.scorer import clip

LONGEST_EXAMPLE, LONGEST_GOT, LONGEST_GOLD = 160, 80, 24
STYLES = {"false-accept": "bold red", "false-reject": "bold yellow"}


@click.command(cls=cli.Command)
@click.argument("function", required=False, metavar="MODULE:FUNCTION")
@option("--scorer", str, "Audit a scorer from `gradeschool protocols list` instead of a function.",
        metavar="NAME")  # fmt: skip
@option("--allow", str, "Do not count a class ('slow') or kind ('false-reject/number-words') of "
        "finding.", multiple=True, metavar="NAME")  # fmt: skip
@option("--threshold", float, "Lowest score that counts as accepted.", default=0.5)
@option("--longest", COUNT, "Length of the longest hostile text, in characters.", default=1000000)
@option("--seed", int, "Seed of the random golds.", default=0)
@cli.json_option
def audit_command(
    function: str | None, scorer: str | None, allow: tuple[str, ...], threshold: float,
    longest: int, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Find what a scorer or reward function gets wrong, with the smallest example of each kind.

    FUNCTION takes (completion, gold) and returns a bool or a number; MODULE may be FILE.py. It
    runs in a separate process with a time limit. Exit status: 0 no finding that counts, 1 at least
    one, 2 bad input.

    Example: gradeschool audit rewards.py:score --allow slow
    """
    if (function is None) == (scorer is None):
        which = (
            "both a function and a scorer are" if scorer else "neither a function nor a scorer is"
        )
        raise InputError(f"{which} given; give MODULE:FUNCTION or --scorer NAME")
    if scorer and ":" in scorer:
        raise InputError(f"--scorer takes the name of a published scorer; for a function: "
                         f"gradeschool audit {quoted(scorer)}")  # fmt: skip
    check_names(allow)

    audited = function or "" if scorer is None else get_usable_scorer(scorer)
    with ProgressDisplay() as display:

        def show(asked: int, total: int, hung: int) -> None:
            display.update(asked, total, lambda: [
                f"{count(hung, 'text')} hung, the audit ends after {MOST_HANGS}" if hung else "",
                display.time_left(asked, total - asked),
            ])  # fmt: skip

        report = audit(audited, seed=seed, threshold=threshold, longest=longest, show=show)
    counting = report.counting(allow=allow)
    if as_json:
        cli.print_json({**report.to_json(), "counting": [finding.name for finding in counting]})
    else:
        print_audit(report, counting, cli.stdout_console())
    sys.exit(1 if counting else 0)


def print_audit(report: AuditReport, counting: Collection[AuditFinding], console: Console) -> None:
    """Print the formats that a scorer reads, and one table for each class of findings.

    counting: the findings that count; the others are only named.
    """
    console.print(Text.assemble((printable(report.scorer), "bold"), f"  {report.call}"))
    total = len(report.read) + len(report.unread)
    console.print(Text(f"reads {len(report.read)} of {total} formats", "green"))
    if report.unread:
        console.print(
            f"does not read {'  |  '.join(printable(each, '') for each in report.unread)}"
        )
    for fault in Fault:
        counted = [finding for finding in report.of(fault) if finding in counting]
        allowed = [finding.kind for finding in report.of(fault) if finding not in counting]
        if counted or allowed:
            heading = (fault.value.replace("-", " "), STYLES.get(fault, "bold magenta"))
            kinds = count(len(counted), "kind")
            console.print(Text.assemble("\n", heading, f"  {MEANINGS[fault]}: {kinds}"))
        if counted:
            is_verdict = fault in STYLES
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
            table.add_column("kind", overflow="fold", max_width=26)
            table.add_column("failed", justify="right")
            table.add_column("smallest example", overflow="fold", ratio=3)
            table.add_column("gold", overflow="fold", max_width=LONGEST_GOLD)
            table.add_column("why" if is_verdict else "what happens", overflow="fold", ratio=2)
            for finding in counted:
                # A long completion is shown as the expression that builds it.
                is_whole = finding.recipe == repr(finding.completion)
                example = f"'{printable(finding.completion, '')}'" if is_whole else finding.recipe
                got = finding.why if is_verdict else clip(printable(finding.got, ""), LONGEST_GOT)
                table.add_row(
                    printable(finding.kind, ""),
                    f"{finding.failed:,} of {finding.tried:,}",
                    clip(example, LONGEST_EXAMPLE),
                    clip(printable(finding.gold, ""), LONGEST_GOLD),
                    got,
                )
            console.print(table)
        if allowed:
            console.print(Text(f"allowed: {printable(', '.join(allowed))}", "dim"))
    if report.at_threshold:
        console.print(
            f"\n{count(report.at_threshold, 'wrong answer')} got exactly {report.threshold:g}, the "
            "lowest score that counts as accepted; if that is a credit for the form, set a higher "
            "--threshold"
        )
    console.print()
    questions = f"{report.questions:,} questions, seed {report.seed}"
    if report.gave_up:
        questions += "; it hung or ended its process so often that the audit stopped early"
    if report.clean:
        console.print(Text(f"clean: {questions}", "green"))
        return
    rest = len(report.findings) - len(counting)
    more = f", {rest} more allowed" if rest else ""
    console.print(Text(f"{count(len(counting), 'finding')}{more}: {questions}"))
