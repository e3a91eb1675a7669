"""Check what a report says of runs that lack problems of each other."""

from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.compared_runs import dataset as dataset  # a fixture
from tests.support.compared_runs import failed as failed  # a fixture
from tests.support.compared_runs import write as write  # a fixture


def test_reports_of_a_failed_sample_have_the_difference(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    for ending in ("md", "html"):
        path = tmp_path / f"report.{ending}"
        assert gradeschool("report", *failed, "-d", dataset, "-o", path).status == 0
        words = "1 problem is left out of the differences, without a judged completion in one of"
        assert words in path.read_text("utf-8")
