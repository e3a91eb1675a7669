"""Comparing runs: pairs, flips, clusters, gates; what is refused, left out and printed."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.problem import Problem
from gradeschool.scoring.compare import Outcomes, compare, compare_unpaired, gate
from gradeschool.scoring.table import Tally
from tests.support.command import Command
from tests.support.files import jsonl

PROBLEMS = 40
Write = Callable[..., Path]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Problems whose gold is their number."""
    rows = ({"question": f"What is {i}?", "answer": str(i)} for i in range(PROBLEMS))
    return jsonl(tmp_path / "problems.jsonl", rows)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of completions: right where `rights` says so."""

    def written(name: str, rights: Sequence[bool], ids: Sequence[int] = (), **more: str) -> Path:
        rows = (
            {
                "index": index,
                "completion": f"The answer is {index if right else index + 1}.",
                **more,
            }
            for index, right in zip(ids or range(len(rights)), rights, strict=True)
        )
        return jsonl(tmp_path / f"{name}.jsonl", rows)

    return written


def rights(*wrong: int) -> list[bool]:
    return [index not in wrong for index in range(PROBLEMS)]


@pytest.fixture
def failed(write: Write, tmp_path: Path) -> tuple[Path, Path]:
    """Two runs, the second without a completion of problem 3."""
    a, b = write("a", rights(1)), tmp_path / "b.jsonl"
    lines = write("b", rights(1)).read_text().splitlines()
    lines[3] = json.dumps({"index": 3, "error": "http 500: overloaded"})
    b.write_text("\n".join(lines) + "\n")
    return a, b


def test_the_pairs_and_the_flips(gradeschool: Command, write: Write, dataset: Path) -> None:
    """Accuracies, difference, the problems by name, and the exact test."""
    a, b = write("a", rights(*range(10))), write("b", rights(0, 1, 39))
    result = gradeschool.done("compare", a, b, "-d", dataset, "--json")
    (comparison,) = result.json()["comparisons"]
    assert [run["accuracy"] for run in result.json()["runs"]] == [0.75, 0.925]
    assert comparison["difference"] == pytest.approx(0.175)
    assert [change["problem"] for change in comparison["gained"]] == [str(i) for i in range(2, 10)]
    assert comparison["lost"] == [{"problem": "39", "before": 1.0, "after": 0.0}]
    assert comparison["p"] == pytest.approx(20 / 512)  # 1 of 9 flips the other way
    assert comparison["ci95"][0] < 0.175 < comparison["ci95"][1]
    shown = gradeschool("compare", a, b, "-d", dataset)
    assert "+17.50" in shown.out
    assert "better on: 2, 3, 4, 5, 6, 7, 8, 9" in shown.out
    assert "worse on: 39" in shown.out


def test_uneven_samples_have_one_mean(gradeschool: Command, dataset: Path, tmp_path: Path) -> None:
    """`score`, `compare`, `runs curve`: the mean over problems, inside its interval."""
    paths = []
    for name, right in (("a", 1), ("b", 3)):
        rows = [{"index": 0, "sample": i, "completion": "#### 0"} for i in range(40)]
        rows += [
            {"index": i, "completion": f"#### {i if i < right else i + 1}"} for i in range(1, 10)
        ]
        paths.append(jsonl(tmp_path / f"{name}.jsonl", rows))
    asked = ("-d", dataset, "--scorer", "gradeschool/reader", "--json")
    compared = gradeschool("compare", *paths, *asked).json()
    (comparison,) = compared["comparisons"]
    for path, run, side in zip(paths, compared["runs"], "ab", strict=True):
        scored = gradeschool("score", path, *asked).json()["runs"][0]["scorers"]
        expected = scored["gradeschool/reader"]["accuracy"]
        (first, *_) = gradeschool("runs", "curve", path, *asked).json()["curves"][path.stem]
        assert run["accuracy"] == comparison[f"accuracy_{side}"] == first["maj"] == expected
        assert run["ci95"][0] < expected < run["ci95"][1]
    assert comparison["difference"] == pytest.approx(0.2)
    assert "each problem counts once" in gradeschool("compare", *paths, *asked[:-1]).out
    (alone,) = gradeschool("compare", *paths, *asked, "--unpaired").json()["comparisons"]
    assert alone["difference"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "options", "status", "line"),
    [
        (range(3), (), 0, "met: b against a: -7.50 points, one-sided p 0.125 (fails below"),
        (range(5), (), 1, "MISSED: b against a: -12.50 points, one-sided p 0.031 (fails below"),
        (range(0), (), 0, "met: b against a: +0.00 points"),
        (range(0), ("--margin", "12"), 0, "a loss of 12 is excluded"),
        (range(3), (), 0, "an equally good run needs 5,887 problems to exclude it with 80 % power"),
    ],
)
def test_the_gate_fails_what_is_significantly_worse(
    gradeschool: Command, write: Write, dataset: Path, wrong: Sequence[int],
    options: tuple[str, ...], status: int, line: str,
) -> None:  # fmt: skip
    """Chance alone does not fail a build, and too few problems to exclude a loss do not either."""
    good, build = write("a", rights()), write("b", rights(*wrong))
    done = gradeschool("compare", build, "--gate", good, *options, "-d", dataset)
    assert done.status == status
    assert line in done.out
    assert "met: b: 0 samples failed (0 in a), at most 0 are accepted" in done.out


def outcomes(name: str, corrects: Sequence[bool]) -> Outcomes:
    """One sample of each problem."""
    ids = [str(index) for index in range(len(corrects))]
    problems = {id: Problem(id, f"{id}?", "1", "#### 1") for id in ids}
    tallies = {id: Tally(int(right), 1) for id, right in zip(ids, corrects, strict=True)}
    return Outcomes(name, problems, tallies, 0)


def test_an_unpaired_difference_is_that_of_its_accuracies() -> None:
    """Texts on which the scorer fails are in neither."""
    a, b = outcomes("a", [True, False]), outcomes("b", [True, True, False])
    failing = replace(a, scorer_errors={"7": 2})
    [pair] = compare_unpaired([failing, b])
    assert (pair.accuracy_a, pair.accuracy_b) == (1 / 2, 2 / 3)
    assert pair.difference == pytest.approx(1 / 6)


def gated(draw: random.Random, good: Sequence[float], build: Sequence[float]) -> bool:
    """Whether a build fails the gate; both are probabilities of the problems to be right."""
    runs = [
        outcomes(name, [draw.random() < chance for chance in chances])
        for name, chances in (("good", good), ("build", build))
    ]
    return not all(threshold.met for threshold in gate(runs, compare(runs), 1.0))


@pytest.mark.slow
def test_200_equal_builds_fail_the_gate_at_the_stated_rate() -> None:
    """5 % at most, one-sided; the exact test stays below it. A loss of 4 points is found."""
    draw = random.Random(200)
    chances = [draw.betavariate(4, 1) for _ in range(600)]
    alarms = sum(gated(draw, chances, chances) for _ in range(200))
    worse = [max(0.0, chance - 0.06) for chance in chances]
    found = sum(gated(draw, chances, worse) for _ in range(60))
    print(f"{alarms} of 200 equal builds fail, {found} of 60 that are 6 points worse")
    assert 0 < alarms <= 18  # binomial, 10 expected at most: more than 18 in 1 of 200 suites
    assert found >= 45


def test_one_id_of_two_is_refused(gradeschool: Command, dataset: Path, tmp_path: Path) -> None:
    """Runs that carry different problems of their own under one id are not paired."""
    from gradeschool.errors import InputError

    def run(gold: str) -> Outcomes:
        problem = Problem("7", f"What is {gold}?", gold, f"#### {gold}")
        return Outcomes(gold, {"7": problem}, {"7": Tally(1, 1)}, 0)

    with pytest.raises(InputError, match="use the id '7' for different problems"):
        compare([run("1"), run("2")])


@pytest.mark.slow
@pytest.mark.official
def test_the_published_solutions(gradeschool: Command, data: Path) -> None:
    """6B verification against 175B fine-tuning: 4.3 points."""
    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    result = gradeschool(
        "compare", f"{solutions}#175b_finetuning", f"{solutions}#6b_verification",
        "--scorer", "openai/example-solutions", "--json",
    ).json()  # fmt: skip
    (comparison,) = result["comparisons"]
    assert comparison["n"] == 1319
    assert comparison["difference"] == pytest.approx((515 - 458) / 1319)
    assert len(comparison["gained"]) - len(comparison["lost"]) == 515 - 458
    assert comparison["p"] < 0.01


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
    rows = [
        {"index": index, "completion": f"The answer is {index}."} for index in range(PROBLEMS - 1)
    ]
    rows[5:7] = [{"index": index, "error": "timeout", "completion": ""} for index in (5, 6)]
    build = jsonl(tmp_path / "b.jsonl", rows)
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


def test_reports_of_a_failed_sample_have_the_difference(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    for ending in ("md", "html"):
        path = tmp_path / f"report.{ending}"
        gradeschool.done("report", *failed, "-d", dataset, "-o", path)
        words = "1 problem is left out of the differences, without a judged completion in one of"
        assert words in path.read_text("utf-8")
