"""Run folders: what an older version wrote is read, resumed and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool.errors import InputError, StoreError
from gradeschool.formats.own_run import dataset_of, manifest_of, read_json, read_manifest, scorer_of
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

MODEL = "recorded/sample#handwritten/chat"


def change(path: Path, key: str, old_key: str) -> None:
    """Rename a key of a JSON file everywhere, as version 0.1 wrote it."""
    path.write_text(path.read_text().replace(f'"{key}":', f'"{old_key}":'))


@pytest.fixture
def old_run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run folder with the keys of the time when scorers were called rules."""
    folder = tmp_path / "run"
    words = ("eval", "-m", MODEL, "-d", "sample", "-n", "20", "-o", str(folder), "--quiet")
    assert gradeschool(*words).status == 0
    for name in ("run.json", "results.json"):
        change(folder / name, "scorers", "rules")
    assert '"rules"' in (folder / "run.json").read_text()
    return folder


def test_old_keys_are_read_under_their_new_names(old_run: Path) -> None:
    manifest = read_manifest(old_run)
    assert manifest["protocol"]["scorers"] == ["gradeschool/reader"]
    assert "rules" not in manifest["protocol"]
    assert scorer_of(manifest) == "gradeschool/reader"
    assert dataset_of(old_run) == "sample"
    results = read_json(old_run / "results.json")
    assert results is not None
    assert list(results["scorers"]) == ["gradeschool/reader"]


def test_an_old_run_is_resumed_and_grows(gradeschool: Command, old_run: Path) -> None:
    before = (old_run / "completions.jsonl").read_bytes()
    words = ("eval", "-m", MODEL, "-d", "sample", "-o", str(old_run), "--quiet")
    result = gradeschool(*words)
    assert result.status == 0, result.err
    assert (old_run / "completions.jsonl").read_bytes().startswith(before)
    assert '"scorers"' in (old_run / "run.json").read_text()
    assert '"rules"' not in (old_run / "run.json").read_text()


def test_an_old_run_is_listed_verified_compared_explained_and_exported(
    gradeschool: Command, old_run: Path, tmp_path: Path
) -> None:
    listed = json.loads(gradeschool("runs", "list", str(old_run), "--json").out)
    assert "gradeschool/reader" in listed["runs"][0]["results"]["scorers"]
    verified = gradeschool("runs", "verify", str(old_run))
    assert verified.status == 0, verified.out
    difference = json.loads(gradeschool("diff", str(old_run), str(old_run), "--json").out)
    assert difference["a"]["scorer"] == "gradeschool/reader"
    explained = json.loads(gradeschool("explain", str(old_run), "--json").out)
    assert explained["scorer"] == "gradeschool/reader"
    written = tmp_path / "run.eval"
    assert gradeschool("export", str(old_run), "--to", "inspect", "-o", str(written)).status == 0


def test_a_damaged_run_json_is_an_error_where_it_is_needed_and_ignored_elsewhere(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match=r"is not a run folder: it has no run\.json"):
        read_manifest(tmp_path)
    damaged: Any
    for damaged in ("{", "[]", "[" * 100_000):
        (tmp_path / "run.json").write_text(damaged)
        with pytest.raises(StoreError, match=r"run\.json.*remove or repair it"):
            read_manifest(tmp_path)
        assert manifest_of(tmp_path) == {}
