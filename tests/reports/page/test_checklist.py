"""Check what the reporting checklist says of decoding, changes and samples."""

import json
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.report_page import report, written
from tests.support.report_page import run_folder as run_folder  # a fixture


def test_changes_from_an_unknown_protocol_are_not_known(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    path = run_folder / "run.json"
    manifest = json.loads(path.read_bytes())
    manifest["protocol"]["name"] = "of-a-later/version"
    path.write_text(json.dumps(manifest))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert "<dt>Changed</dt><dd>not known: this version does not have the protocol</dd>" in page
    assert "as published" not in page


@pytest.mark.parametrize(
    ("temperature", "top_p", "words"),
    [
        (None, None, "the server&#x27;s default, no seed"),
        (0.7, None, "temperature 0.7, no seed"),
        (0, 1.0, "greedy, top-p 1.0, no seed"),
    ],
)
def test_decoding_that_the_server_chooses_is_its_default(
    gradeschool: Command,
    run_folder: Path,
    tmp_path: Path,
    temperature: float | None,
    top_p: float | None,
    words: str,
) -> None:
    path = run_folder / "run.json"
    manifest = json.loads(path.read_bytes())
    manifest["decoding"] |= {"temperature": temperature, "top_p": top_p}
    path.write_text(json.dumps(manifest))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert f"<dt>Decoding</dt><dd>{words}</dd>" in page


def test_unequal_numbers_of_samples_have_a_curve_and_are_named(
    gradeschool: Command, tmp_path: Path
) -> None:
    rows = [{"index": 0, "sample": sample, "completion": "#### 600"} for sample in range(4)]
    rows += [{"index": index, "completion": "#### 1"} for index in range(1, 9)]
    page = report(
        gradeschool, tmp_path / "page.html", written(tmp_path / "a.jsonl", *rows), "-d", "sample"
    )
    assert "<dt>Samples a problem</dt><dd>1 to 4: accuracy is the mean" in page
    assert 'class="curve maj"' in page
