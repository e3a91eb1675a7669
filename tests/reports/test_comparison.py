"""How differences of accuracies are written."""

import pytest

from gradeschool.reports.comparison import points


@pytest.mark.parametrize(
    ("difference", "shown"),
    [(0.0123, "+1.23"), (-0.0123, "-1.23"), (0.0, "+0.00"), (-1e-9, "+0.00")],
)
def test_points(difference: float, shown: str) -> None:
    """Every difference has a sign, and a zero has no minus."""
    assert points(difference) == shown
