"""The packages of an extra: installed or not, and what the error says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradeschool.errors import MissingExtraError, is_installed, require_packages


def test_a_package_is_looked_for_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gs_broken.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert is_installed("gs_broken")
    assert "gs_broken" not in sys.modules
    assert not is_installed("gs_absent")
    assert not is_installed("gs_absent.part")


def test_a_folder_of_the_name_is_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wandb` leaves such a folder where it ran."""
    (tmp_path / "gs_wandb").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not is_installed("gs_wandb")


def test_all_packages_of_a_feature_are_needed() -> None:
    require_packages("reading", "extra", "json", "csv")
    with pytest.raises(MissingExtraError, match=r"reading needs .*'gradeschool\[extra\]'"):
        require_packages("reading", "extra", "json", "gs_absent")
