"""What is made safe to show in a terminal, a spreadsheet or a Markdown table."""

from gradeschool.reports.printable import markdown_table


def test_a_cell_of_a_markdown_table_does_not_end_early() -> None:
    """A bare "|" is escaped, an escaped one is left alone, and a line break is a space."""
    assert markdown_table(("name", "n"), [("a|b\nc", "1"), (r"p\|q", "")]) == [
        "| name | n |",
        "| --- | ---: |",
        r"| a\|b c | 1 |",
        r"| p\|q |  |",
    ]
