"""Check what `gradeschool compare` refuses, leaves out and prints, and its exit status."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.compared_runs import PROBLEMS, Write, rights
from tests.support.compared_runs import dataset as dataset  # a fixture
from tests.support.compared_runs import failed as failed  # a fixture
from tests.support.compared_runs import write as write  # a fixture
from tests.support.files import jsonl


def test_sets_that_differ_are_refused(gradeschool: Command, write: Write, dataset: Path) -> None:
    a = write("a", rights()[:30])
    b = write("b", [True] * 25, range(15, 40))
    result = gradeschool.refused("compare", a, b, "-d", dataset)
    assert "15 only in 'a' (0, 1, 2, 3, 4, ..., which asks " in result
    assert "--common to compare the 15" in result
    common = gradeschool("compare", a, b, "-d", dataset, "--common", "--json").json()
    assert common["comparisons"][0]["n"] == 15
    alone = gradeschool("compare", a, b, "-d", dataset, "--unpaired", "--json").json()
    assert alone["comparisons"][0]["n"] == 0
    assert alone["comparisons"][0]["p_method"] == "unpaired z test"
    both = gradeschool("compare", a, b, "-d", dataset, "--unpaired", "--common")
    assert both.status == 2
    apart = write("c", [True] * 5, range(35, 40))
    said = gradeschool.refused(
        "compare", write("d", rights()[:5]), apart, "-d", dataset, "--common"
    )
    assert "share no problem" in said


@pytest.mark.parametrize(("options", "status"), [((), 3), (("--common",), 0)])
def test_errors_are_left_out_and_never_wrong(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, options: tuple[str, ...],
    status: int,
) -> None:  # fmt: skip
    """A problem without a completion in one run is left out of both; --common accepts that."""
    a, b = failed
    result = gradeschool("compare", a, b, "-d", dataset, *options, "--json")
    assert result.status == status
    assert [run["errors"] for run in result.json()["runs"]] == [0, 1]
    (comparison,) = result.json()["comparisons"]
    assert (comparison["n"], comparison["difference"]) == (PROBLEMS - 1, 0)
    message = "1 problem left out: no completion in 'b' that can be judged (3)"
    assert message in result.err
    assert comparison["left_out"] == (["3"] if status == 3 else [])


def test_problems_that_failed_in_both_runs_are_named(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path
) -> None:
    _, b = failed
    other = b.with_name("other.jsonl")
    other.write_bytes(b.read_bytes())
    result = gradeschool("compare", other, b, "-d", dataset)
    assert result.status == 3
    for name in ("other", "b"):
        assert f"1 problem left out: no completion in {name!r}" in result.err


def test_a_refused_comparison_names_the_problems_without_a_judged_completion(
    gradeschool: Command, failed: tuple[Path, Path], write: Write, dataset: Path
) -> None:
    few = write("few", rights()[:5])
    refused = gradeschool("compare", few, failed[1], "-d", dataset)
    assert refused.status == 2
    left_out = "; 1 problem left out: no completion in 'b' that can be judged (3); give --common"
    assert left_out in refused.err


def test_a_labelled_question_is_no_other_problem(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"id": f"T{n}", "question": f"What is {n} plus 1?", "gold": n + 1,
             "response": f"{'We add one to it. ' * 4}The answer is {n + n % 2}."}
            for n in range(20)]  # fmt: skip
    labelled = [row | {"question": f"Question: {row['question']}\nAnswer:"} for row in rows]
    labelled[0] = labelled[0] | {"response": "The answer is 1."}
    paths = [jsonl(tmp_path / f"{n}.jsonl", each) for n, each in enumerate((rows, labelled))]
    result = gradeschool.done("compare", *paths)
    assert "better on: T0\n" in result.out
    assert "equal" not in result.err
    result = gradeschool("compare", paths[0], jsonl(tmp_path / "2.jsonl", rows))
    assert "20 of 20 texts are equal in '0' and '2'" in result.err


def test_two_columns_of_one_file_are_two_runs(gradeschool: Command, tmp_path: Path) -> None:
    rows = [
        {"question": f"What is {n} plus 1?", "gold": n + 1, "one": f"The answer is {n + 1}.",
         "two": f"The answer is {n + n % 2}."}
        for n in range(20)
    ]  # fmt: skip
    path = jsonl(tmp_path / "wide.jsonl", rows)
    columns = ("--columns", "response=one", "--columns", "response=two")
    result = gradeschool("compare", path, path, *columns, "--json")
    shares = {run["run"]: run["accuracy"] for run in result.json()["runs"]}
    assert shares == {"wide (one)": 1.0, "wide (two)": 0.5}


def test_a_failed_sample_does_not_hide_a_missed_threshold(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path
) -> None:
    a, b = failed
    for margin, status in (("90", 3), ("1", 1)):
        asked = ("compare", b, "--not-worse-than", a, "--margin", margin, "-d", dataset)
        result = gradeschool(*asked)
        assert result.status == status
        assert "no completion in 'b' that can be judged (3)" in result.err


def test_one_file_of_several_runs_and_one_run_of_it(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path
) -> None:
    """FILE is all its runs, FILE#RUN is one; p values of several are corrected."""
    runs = {"base": rights(*range(20)), "small": rights(*range(19)), "large": rights()}
    both = tmp_path / "runs.jsonl"
    both.write_text("".join(write(name, r, run=name).read_text() for name, r in runs.items()))
    result = gradeschool("compare", both, "-d", dataset, "--json").json()
    assert [run["run"] for run in result["runs"]] == list(runs)
    small, large = result["comparisons"]
    assert small["p_holm"] == small["p"] == 1.0
    assert large["p_holm"] == pytest.approx(2 * large["p"])
    report = gradeschool(
        "compare", f"{both}#large", f"{both}#small", "-d", dataset, "--json"
    ).json()
    assert [run["run"] for run in report["runs"]] == ["large", "small"]
    missing = gradeschool.refused("compare", f"{both}#huge", "-d", dataset)
    assert "contains no run 'huge'" in missing
    assert "#base'" in missing


@pytest.mark.parametrize(
    ("wrong", "options", "status", "message"),
    [
        (range(4), ("--at-least", "0.9"), 0, "met: b: accuracy 90.00 %"),
        (range(2), ("--not-worse-than", "a", "--margin", "12"), 0, "met: b against a"),
        (range(2), ("--not-worse-than", "a", "--margin", "1"), 1, "MISSED: b against a"),
        (range(5), ("--not-worse-than", "a", "--margin", "30", "--at-least", "0.9"), 1, "MISSED"),
    ],
)
def test_thresholds_decide_the_exit_status(
    gradeschool: Command,
    write: Write,
    dataset: Path,
    wrong: Sequence[int],
    options: tuple[str, ...],
    status: int,
    message: str,
) -> None:
    """1 where one is missed; the interval, not the estimate, must rule out a worse run."""
    a, b = write("a", rights(0, 1)), write("b", rights(*wrong))
    arguments = [str(a) if option == "a" else option for option in options]
    result = gradeschool("compare", b, *arguments, "-d", dataset)
    assert result.status == status
    assert message in result.out


@pytest.mark.parametrize(("accepted", "status"), [(2, 1), (3, 0)])
def test_samples_that_failed_are_a_threshold_of_their_own(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path, accepted: int, status: int
) -> None:
    """They are left out of the test, and a run that stopped early has failed the others."""
    good = write("a", rights(0, 1))
    build = tmp_path / "b.jsonl"
    rows = [
        {"index": index, "completion": f"The answer is {index}."} for index in range(PROBLEMS - 1)
    ]
    rows[5:7] = [{"index": index, "error": "timeout", "completion": ""} for index in (5, 6)]
    build.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = gradeschool("compare", build, "--gate", good, "--max-failures", accepted, "-d", dataset)
    assert done.status == status
    assert f"b: 3 samples failed (0 in a), at most {accepted} are accepted" in done.out
    assert "b against a: +5.41 points" in done.out  # 35 of 37 and 37 of 37


def test_the_gate_refuses_runs_of_other_prompts(gradeschool: Command, tmp_path: Path) -> None:
    for protocol in ("zero-shot/chat", "zero-shot/cot"):
        asked = ("-m", "recorded/sample#handwritten/cot", "-p", protocol, "-d", "sample")
        output = tmp_path / protocol.partition("/")[2]
        gradeschool.done("eval", *asked, "-n", "4", "-o", output, "--quiet")
    said = gradeschool.refused("compare", tmp_path / "cot", "--gate", tmp_path / "chat")
    assert "a gate compares runs of the same prompts" in said


def test_one_file_twice_is_named_so(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path
) -> None:
    path = write("a", rights())
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "completions.jsonl").write_bytes(path.read_bytes())
    for one, other in ((path, folder / ".." / path.name), (folder, folder / "completions.jsonl")):
        said = gradeschool.refused("compare", one, other, "-d", dataset)
        assert f"the same file is given twice: '{one}', " in said
    said = gradeschool.refused("compare", path, f"{path}#a", "-d", dataset)
    assert f"the same file is given twice: '{path}', '{path}#a'" in said


@pytest.mark.parametrize(("seed", "is_noted"), [(2, True), (6, False)])
def test_runs_that_share_seeds_are_noted(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path, seed: int, is_noted: bool
) -> None:
    """Seeds 1 to 5 and 2 to 6 have four in common: these runs are not independent."""
    text = write("c", rights()).read_text()
    folders: list[Path] = []
    for first in (1, seed):
        folder = tmp_path / f"run{len(folders)}"
        folder.mkdir()
        (folder / "completions.jsonl").write_text(text)
        decoding = {"temperature": 0.7, "seed": first}
        fields = {"model": "m", "samples": 5, "decoding": decoding}
        (folder / "run.json").write_text(json.dumps(fields))
        folders.append(folder / "completions.jsonl")
    result = gradeschool.done("compare", *folders, "-d", dataset)
    assert ("have 4 of 5 seeds in common" in result.err) is is_noted
    assert ("with a --seed that differs by at least 5" in result.err) is is_noted


@pytest.mark.parametrize("words", [("compare",), ("compare", "--gate"), ("profile",)])
def test_a_damaged_run_json_does_not_stop_a_comparison(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "run").mkdir()
    other = tmp_path / "run" / "completions.jsonl"
    other.write_text(write("c", rights(1)).read_text())
    fields = {"protocol": "x", "decoding": 3, "dataset": ["y"]}
    (tmp_path / "run" / "run.json").write_text(json.dumps(fields))
    gradeschool.done(words[0], write("a", rights()), *words[1:], other, "-d", dataset)


# Reports


def test_reports_of_a_failed_sample_have_the_difference(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    for ending in ("md", "html"):
        path = tmp_path / f"report.{ending}"
        gradeschool.done("report", *failed, "-d", dataset, "-o", path)
        words = "1 problem is left out of the differences, without a judged completion in one of"
        assert words in path.read_text("utf-8")
