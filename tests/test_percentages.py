"""How shares and differences of shares are written."""

import pytest

from gradeschool.percentages import bounds, count, decimals, gain, p_value, percent, points


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


@pytest.mark.parametrize(
    ("p", "shown"),
    [(1.0, "1.000"), (0.0213, "0.021"), (0.001, "0.001"), (2.4e-4, "2e-04"), (1e-13, "<1e-12")],
)
def test_p_values(p: float, shown: str) -> None:
    assert p_value(p) == shown


def test_counts_and_decimals() -> None:
    assert (count(1, "retry", "retries"), count(1319, "row")) == ("1 retry", "1,319 rows")
    assert (decimals(0.71249), decimals(None), decimals(None, "none")) == ("0.712", "", "none")
