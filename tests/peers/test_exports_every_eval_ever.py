"""The validator and converters of the real Every Eval Ever, and a JUnit reader, on our exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.peers.pages import run, run_python, why_not
from tests.support.command import run_script
from tests.support.exports import runs_file
from tests.support.hostile_report import HOSTILE

PEER = "every_eval_ever"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(bool(why_not(PEER)), reason=why_not(PEER)),
]
SCORERS = ("gradeschool/reader", "openai/2021")
STATED = ("--source_organization_name", "nobody", "--evaluator_relationship", "other")


def exported(folder: Path, name: str, target: str) -> Path:
    answers = runs_file(folder / "answers.jsonl")
    scorers = (word for scorer in SCORERS for word in ("--scorer", scorer))
    result = run_script(
        "export", answers, "-d", "sample", "--to", name, "-o", folder / target, *scorers
    )
    assert result.status == 0, result.err
    return folder / target


def validated(folder: Path) -> list[dict[str, Any]]:
    patterns = ("data/*/*/*/*.json", "data/*/*/*/*.jsonl")
    process = run(PEER, folder, "python", "-m", "every_eval_ever", "validate", "--format", "json",
               *patterns)  # fmt: skip
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return list(json.loads(process.stdout))


def test_the_validator_passes_it_without_a_warning(tmp_path: Path) -> None:
    """Aggregate, rows, paths, companion: hostile texts, several samples, a failed one."""
    reports = validated(exported(tmp_path, "every-eval-ever", "store"))
    assert [report["file_type"] for report in reports] == ["aggregate", "instance"]
    assert all(report["valid"] for report in reports)
    assert [report["errors"] + report["warnings"] for report in reports] == [[], []]
    assert reports[1]["line_count"] == len(HOSTILE) + 3


def test_the_validator_finds_what_is_wrong(tmp_path: Path) -> None:
    """It does look: a row without its score is an error."""
    store = exported(tmp_path, "every-eval-ever", "store")
    (samples,) = store.glob("data/*/*/*/*_samples.jsonl")
    lines = samples.read_text().splitlines()
    row = json.loads(lines[0])
    del row["evaluation"]
    samples.write_text("\n".join([json.dumps(row), *lines[1:]]) + "\n")
    process = run(PEER, store, "python", "-m", "every_eval_ever", "validate", "data/*/*/*/*.jsonl")
    assert process.returncode != 0


def test_its_converter_reads_our_lm_eval_export(tmp_path: Path) -> None:
    """A third reader of lm-eval's files: scores of both scorers, and samples."""
    folder = exported(tmp_path, "lm-eval", "ours")
    (results,) = folder.glob("*/results_*.json")
    words = ("convert", "lm_eval", "--log_path", results.parent, "--output_dir", tmp_path / "data")
    process = run(PEER, tmp_path, "python", "-m", "every_eval_ever", *map(str, words), *STATED,
               "--include_samples")  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    (aggregate,) = (tmp_path / "data").glob("*/*/*/*.json")
    aggregate_log = json.loads(aggregate.read_text())
    assert aggregate_log["model_info"]["name"] == "org/model-7b"
    scores = [result["score_details"]["score"] for result in aggregate_log["evaluation_results"]]
    figures = next(iter(json.loads(results.read_text())["results"].values()))
    expected = [figures[f"exact_match,{scorer}"] for scorer in SCORERS]
    assert sorted(scores) == pytest.approx(sorted(expected))


def test_junitparser_reads_our_report(tmp_path: Path) -> None:
    """JUnit of `gradeschool report`, hostile texts included: counts, messages, texts."""
    answers = runs_file(tmp_path / "answers.jsonl")
    result = run_script("report", answers, "-d", "sample", "-o", tmp_path / "report.xml")
    assert result.status == 0, result.err
    code = """
import json
from junitparser import JUnitXml
suites = list(JUnitXml.fromfile("report.xml"))
cases = [case for suite in suites for case in suite]
suites = [(suite.name, suite.tests, suite.failures, suite.errors) for suite in suites]
print(json.dumps({
    "suites": suites, "cases": len(cases), "passed": sum(case.is_passed for case in cases),
    "errors": [result.message for case in cases for result in case.result
               if type(result).__name__ == "Error"]}))
"""
    read = run_python(PEER, tmp_path, code)
    assert read.returncode == 0, read.stderr[-3000:]
    report = json.loads(read.stdout)
    (suite,) = report["suites"]
    count = len(HOSTILE) + 3
    assert suite[:2] == ["org/model-7b", count]
    assert report["cases"] == count
    assert report["passed"] == count - suite[2] - suite[3]
    assert report["errors"] == ["timeout: the server said nothing"]
