"""How shares and differences of shares are written."""

import pytest

from gradeschool.percentages import bounds, gain, percent, points


@pytest.mark.parametrize(
    ("difference", "shown"),
    [(0.0123, "+1.23"), (-0.0123, "-1.23"), (0.0, "+0.00"), (-1e-9, "+0.00")],
)
def test_points(difference: float, shown: str) -> None:
    """Every difference has a sign, and a zero has no minus."""
    assert points(difference) == shown


def test_shares_and_intervals() -> None:
    assert percent(0.72449) == "72.45 %" and percent(1 / 3, 1) == "33.3 %"
    assert bounds((0.7, 0.801)) == "70.00 - 80.10"
    assert bounds((0.7, 0.801), 1, " to ") == "70.0 to 80.1"
    assert gain(0.012, (-0.0001, 0.026)) == "+1.2 (+0.0 to +2.6)"
