"""An audit for the terminal."""

from __future__ import annotations

from collections.abc import Collection

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.auditing.audit import MEANINGS, AuditFinding, AuditReport, Fault
from gradeschool.percentages import count
from gradeschool.reports.printable import printable
from gradeschool.scorer import clip

LONGEST_EXAMPLE, LONGEST_GOT, LONGEST_GOLD = 160, 80, 24
STYLES = {Fault.FALSE_ACCEPT: "bold red", Fault.FALSE_REJECT: "bold yellow"}
GAP = "   "


def print_audit(report: AuditReport, counting: Collection[AuditFinding], console: Console) -> None:
    """Print the formats that a scorer reads, and one table for each class of findings.

    counting: the findings that count; the others are only named.
    """
    console.print(Text.assemble((printable(report.scorer), "bold"), f"  {report.call}"))
    total = len(report.read) + len(report.unread)
    console.print(Text(f"reads {len(report.read)} of {total} formats", "green"))
    if report.unread:
        lines = ["does not read"]  # formats are never broken
        for shape in report.unread:
            written = GAP + printable(shape, "")
            if len(lines[-1]) + len(written) > console.width:
                lines.append(GAP)
            lines[-1] += written
        console.print(Text("\n".join(lines)))
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
