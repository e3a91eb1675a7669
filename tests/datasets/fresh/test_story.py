"""Annotations of a fresh problem's solution are checked."""

import pytest

from gradeschool.datasets.fresh.story import check_annotations


def test_a_false_annotation_is_refused() -> None:
    check_annotations("Mia has 3*4=<<3*4=12>>12 pens.")
    for line in (
        "Mia has 3*4=<<3*4=13>>13 pens.",
        "Mia has 3*4=<<3*4=12>>13 pens.",
        "Mia has 3*4=<<3*=12>>12 pens.",
        "Mia has 3*4=<<3*4=12.0>>12.0 pens.",
    ):
        with pytest.raises(ValueError, match="annotation"):
            check_annotations(line)
