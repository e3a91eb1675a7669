"""An audit for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.auditing.audit import MEANINGS, AuditFinding, AuditReport, Fault
from gradeschool.percentages import count
from gradeschool.reports.printable import printable
from gradeschool.scorer import clip

LONGEST_EXAMPLE, LONGEST_GOT, LONGEST_GOLD = 160, 80, 24
VERDICTS = (Fault.FALSE_ACCEPT, Fault.FALSE_REJECT)
STYLES = {Fault.FALSE_ACCEPT: "bold red", Fault.FALSE_REJECT: "bold yellow"}
GAP = "   "
OTHER_STYLE, CLEAN_STYLE, ALLOWED_STYLE = "bold magenta", "green", "dim"


def print_audit(report: AuditReport, counting: Collection[AuditFinding], console: Console) -> None:
    """Print the formats that a scorer reads, and one table for each class of findings.

    counting: the findings that count; the others are only named.
    """
    console.print(Text.assemble((printable(report.scorer), "bold"), f"  {report.call}"))
    total = len(report.read) + len(report.unread)
    console.print(Text(f"reads {len(report.read)} of {total} formats", CLEAN_STYLE))
    if report.unread:
        console.print(_unread(report.unread, console.width))
    for fault in Fault:
        counted = [finding for finding in report.of(fault) if finding in counting]
        allowed = [finding.kind for finding in report.of(fault) if finding not in counting]
        if counted or allowed:
            console.print()
            console.print(_heading(fault, len(counted)))
        if counted:
            console.print(_table(fault, counted))
        if allowed:
            console.print(Text(f"allowed: {printable(', '.join(allowed))}", ALLOWED_STYLE))
    console.print()
    console.print(_summary(report, len(counting)))


def _unread(shapes: Iterable[str], width: int) -> Text:
    """Return the formats in lines of a width, without breaking any format."""
    lines = ["does not read"]
    for shape in shapes:
        written = GAP + printable(shape, "")
        if len(lines[-1]) + len(written) > width:
            lines.append(GAP)
        lines[-1] += written
    return Text("\n".join(lines))


def _heading(fault: Fault, number: int) -> Text:
    name = fault.value.replace("-", " ")
    kinds = count(number, "kind")
    return Text.assemble((name, STYLES.get(fault, OTHER_STYLE)), f"  {MEANINGS[fault]}: {kinds}")


def _table(fault: Fault, findings: Iterable[AuditFinding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("kind", overflow="fold", max_width=26)
    table.add_column("failed", justify="right")
    table.add_column("smallest example", overflow="fold", ratio=3)
    table.add_column("gold", overflow="fold", max_width=LONGEST_GOLD)
    table.add_column("why" if fault in VERDICTS else "what happens", overflow="fold", ratio=2)
    for finding in findings:
        reason = finding.why if fault in VERDICTS else clip(printable(finding.got, ""), LONGEST_GOT)
        table.add_row(
            printable(finding.kind, ""),
            f"{finding.failed:,} of {finding.tried:,}",
            clip(_example(finding), LONGEST_EXAMPLE),
            clip(printable(finding.gold, ""), LONGEST_GOLD),
            reason,
        )
    return table


def _example(finding: AuditFinding) -> str:
    """Return a completion with line breaks escaped, or the expression that builds a long one."""
    if finding.recipe == repr(finding.completion):
        return f"'{printable(finding.completion, '')}'"
    return finding.recipe


def _summary(report: AuditReport, counting: int) -> Text:
    questions = f"{report.questions:,} questions, seed {report.seed}"
    if report.gave_up:
        questions += "; it hung or ended its process so often that the audit stopped early"
    if report.clean:
        return Text(f"clean: {questions}", CLEAN_STYLE)
    allowed = len(report.findings) - counting
    return Text(
        f"{count(counting, 'finding')}{f', {allowed} more allowed' if allowed else ''}: {questions}"
    )
