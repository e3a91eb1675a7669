"""`gradeschool compare`: pairing, sets that differ, thresholds, what it prints."""

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradeschool.problem import Problem
from gradeschool.scoring.compare import Outcomes, compare, gate
from gradeschool.scoring.table import Tally
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

PROBLEMS = 40
Write = Callable[..., Path]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Problems whose gold is their number."""
    path = tmp_path / "problems.jsonl"
    rows = ({"question": f"What is {i}?", "answer": str(i)} for i in range(PROBLEMS))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of completions: right where `rights` says so."""

    def written(name: str, rights: Sequence[bool], ids: Sequence[int] = (), **more: str) -> Path:
        path = tmp_path / f"{name}.jsonl"
        rows = (
            {
                "index": index,
                "completion": f"The answer is {index if right else index + 1}.",
                **more,
            }
            for index, right in zip(ids or range(len(rights)), rights, strict=True)
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return written


def rights(*wrong: int) -> list[bool]:
    return [index not in wrong for index in range(PROBLEMS)]


def test_the_pairs_and_the_flips(gradeschool: Command, write: Write, dataset: Path) -> None:
    """Accuracies, difference, the problems by name, and the exact test."""
    a, b = write("a", rights(*range(10))), write("b", rights(0, 1, 39))
    result = gradeschool("compare", a, b, "-d", dataset, "--json")
    assert result.status == 0
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


def test_runs_of_different_protocols_are_told_apart(
    gradeschool: Command, tmp_path: Path, dataset: Path
) -> None:
    runs = []
    for protocol in ("openai/2021", "lm-eval/gsm8k"):
        run = tmp_path / protocol.replace("/", "-")
        run.mkdir()
        row = {"index": 3, "completion": "#### 3"}
        (run / "completions.jsonl").write_text(json.dumps(row) + "\n")
        (run / "run.json").write_text(json.dumps({"protocol": {"name": protocol}}))
        runs.append(run / "completions.jsonl")
    same = gradeschool("compare", runs[0], runs[0], "-d", dataset)
    assert "protocols" not in same.err
    result = gradeschool("compare", *runs, "-d", dataset)
    assert result.status == 0, result.err
    assert "under different protocols: openai/2021, lm-eval/gsm8k;" in result.err


def test_sets_that_differ_are_refused_until_told(
    gradeschool: Command, write: Write, dataset: Path
) -> None:
    """The message counts and names them; --common and --unpaired say how to go on."""
    a = write("a", rights()[:30])
    b = write("b", [True] * 25, range(15, 40))
    result = gradeschool("compare", a, b, "-d", dataset)
    assert result.status == 2
    assert "15 only in 'a' (0, 1, 2, 3, 4, ...) and 10 only in 'b'" in result.err
    assert "--common to compare the 15" in result.err
    common = gradeschool("compare", a, b, "-d", dataset, "--common", "--json").json()
    assert common["comparisons"][0]["n"] == 15
    alone = gradeschool("compare", a, b, "-d", dataset, "--unpaired", "--json").json()
    assert alone["comparisons"][0]["n"] == 0
    assert alone["comparisons"][0]["p_method"] == "unpaired z test"
    both = gradeschool("compare", a, b, "-d", dataset, "--unpaired", "--common")
    assert both.status == 2
    apart = write("c", [True] * 5, range(35, 40))
    none = gradeschool("compare", write("d", rights()[:5]), apart, "-d", dataset, "--common")
    assert none.status == 2
    assert "share no problem" in none.err


@pytest.fixture
def failed(write: Write, tmp_path: Path) -> tuple[Path, Path]:
    """Two runs, the second without a completion of problem 3."""
    a, b = write("a", rights(1)), tmp_path / "b.jsonl"
    lines = write("b", rights(1)).read_text().splitlines()
    lines[3] = json.dumps({"index": 3, "error": "http 500: overloaded"})
    b.write_text("\n".join(lines) + "\n")
    return a, b


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
    assert (message in result.err) is (status == 3)
    assert comparison["left_out"] == (["3"] if status == 3 else [])


def test_a_failed_sample_does_not_hide_a_missed_threshold(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path
) -> None:
    a, b = failed
    for margin, status in (("90", 3), ("1", 1)):
        asked = ("compare", b, "--not-worse-than", a, "--margin", margin, "-d", dataset)
        result = gradeschool(*asked)
        assert result.status == status
        assert "no completion in 'b' that can be judged (3)" in result.err


def test_the_refusal_separates_absent_problems_from_failed_ones(
    gradeschool: Command, write: Write, failed: tuple[Path, Path], dataset: Path
) -> None:
    result = gradeschool("compare", failed[1], write("c", rights()[:30]), "-d", dataset)
    assert result.status == 2
    assert "10 only in 'b' (30, 31, 32, 33, 34, ...); 1 problem left out" in result.err
    assert (
        "no completion in 'b' that can be judged (3); give --common to compare the 29" in result.err
    )


def test_reports_of_a_failed_sample_have_the_difference(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    for ending in ("md", "html"):
        path = tmp_path / f"report.{ending}"
        assert gradeschool("report", *failed, "-d", dataset, "-o", path).status == 0
        words = "1 problem is left out of the differences, without a judged completion in one of"
        assert words in path.read_text("utf-8")


def test_a_problem_that_no_run_answers_is_not_left_out(
    gradeschool: Command, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    """Nothing of it could have been compared: the exit status is 0."""
    both = tmp_path / "c.jsonl"
    both.write_bytes(failed[1].read_bytes())
    result = gradeschool("compare", failed[1], both, "-d", dataset, "--json")
    assert (result.status, result.err) == (0, "")
    (comparison,) = result.json()["comparisons"]
    assert (comparison["n"], comparison["left_out"]) == (PROBLEMS - 1, [])


def test_a_page_of_runs_that_are_not_compared_names_no_option_of_compare(
    gradeschool: Command, write: Write, failed: tuple[Path, Path], dataset: Path, tmp_path: Path
) -> None:
    path = tmp_path / "report.md"
    other = write("c", rights()[:30])
    assert gradeschool("report", failed[1], other, "-d", dataset, "-o", path).status == 0
    text = path.read_text("utf-8")
    assert "The runs are not compared\\: the runs judge different problems" in text
    assert "common" not in text


def test_unequal_numbers_of_samples_have_one_accuracy(
    gradeschool: Command, dataset: Path, tmp_path: Path
) -> None:
    """`score`, `compare`, `runs curve`: the share of completions, inside its interval."""
    paths = []
    for name, right in (("a", 1), ("b", 3)):
        rows = [{"index": 0, "sample": i, "completion": "#### 0"} for i in range(40)]
        rows += [
            {"index": i, "completion": f"#### {i if i < right else i + 1}"} for i in range(1, 10)
        ]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("-d", dataset, "--scorer", "gradeschool/reader", "--json")
    compared = gradeschool("compare", *paths, *asked).json()
    (comparison,) = compared["comparisons"]
    for path, run, side in zip(paths, compared["runs"], "ab", strict=True):
        scored = gradeschool("score", path, *asked).json()["runs"][0]["scorers"]
        expected = scored["gradeschool/reader"]["accuracy"]
        (first, *_) = gradeschool("runs", "curve", path, *asked).json()["curves"][path.stem]
        assert run["accuracy"] == comparison[f"accuracy_{side}"] == first["maj"] == expected
        assert run["ci95"][0] < expected < run["ci95"][1]
    assert comparison["difference"] == pytest.approx(0.2)  # by problem, and the output says so
    assert comparison["is_even"] is False
    words = "in a difference each problem counts once, in an accuracy each completion"
    assert words in gradeschool("compare", *paths, *asked[:-1]).out
    (alone,) = gradeschool("compare", *paths, *asked, "--unpaired").json()["comparisons"]
    assert alone["difference"] == pytest.approx(2 / 49)


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
    missing = gradeschool("compare", f"{both}#huge", "-d", dataset)
    assert missing.status == 2
    assert "contains no run 'huge'" in missing.err
    assert "#base'" in missing.err


def test_several_samples_are_clustered_by_problem(
    gradeschool: Command, dataset: Path, tmp_path: Path
) -> None:
    """Samples of one problem count as one: ten copies do not make a difference surer."""
    rows = {"once": 1, "ten": 10}
    ps = []
    for name, samples in rows.items():
        path = tmp_path / f"{name}.jsonl"
        with path.open("w") as file:
            for run, wrong in (("a", range(12)), ("b", range(9, 14))):
                for index in range(PROBLEMS):
                    for sample in range(samples):
                        text = f"#### {index + (index in wrong)}"
                        row = {"index": index, "run": run, "sample": sample, "completion": text}
                        file.write(json.dumps(row) + "\n")
        (comparison,) = gradeschool("compare", path, "-d", dataset, "--json").json()["comparisons"]
        ps.append(comparison["p"])
        assert comparison["difference"] == pytest.approx(7 / PROBLEMS)
    assert ps[0] == pytest.approx(ps[1])


@pytest.mark.parametrize(
    ("wrong", "options", "status", "message"),
    [
        (range(4), ("--at-least", "0.9"), 0, "met: b: accuracy 90.00 %"),
        (range(5), ("--at-least", "0.9"), 1, "MISSED: b: accuracy 87.50 %"),
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


@pytest.mark.parametrize(
    ("wrong", "options", "status", "line"),
    [
        (range(3), (), 0, "met: b against a: -7.50 points, one-sided p 0.125 (fails below"),
        (range(5), (), 1, "MISSED: b against a: -12.50 points, one-sided p 0.031 (fails below"),
        (range(12), (), 1, "MISSED: b against a: -30.00 points, one-sided p 2e-04 (fails below"),
        (range(0), (), 0, "met: b against a: +0.00 points"),
        (range(3), (), 0, "a loss of 1 is not excluded"),
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
    assert "met: b: 0 samples failed (0 in a), at most 0 is accepted" in done.out


@pytest.mark.parametrize(("accepted", "status"), [(0, 1), (2, 1), (3, 0)])
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
    assert f"b: 3 samples failed (0 in a), at most {accepted} is accepted" in done.out
    assert "b against a: +5.41 points" in done.out  # 35 of 37 and 37 of 37


@pytest.mark.parametrize("option", [("--not-worse-than", "RUN"), ("--unpaired",)])
def test_the_gate_stands_alone(
    gradeschool: Command, write: Write, dataset: Path, option: tuple[str, ...]
) -> None:
    """Two measures, or none by problem, are bad input."""
    good = write("a", rights())
    words = [str(good) if word == "RUN" else word for word in option]
    done = gradeschool("compare", write("b", rights()), "--gate", good, *words, "-d", dataset)
    assert done.status == 2
    assert "--gate cannot be combined with --not-worse-than or --unpaired" in done.err


def test_the_gate_takes_a_file_of_several_runs(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path
) -> None:
    good = write("a", rights())
    lines = [json.loads(line) for line in write("b", rights()).read_text().splitlines()]
    several = tmp_path / "several.jsonl"
    rows = [json.dumps({**line, "run": name}) + "\n" for name in ("x", "y") for line in lines]
    several.write_text("".join(rows))
    done = gradeschool("compare", several, "--gate", good, "-d", dataset, "--json")
    assert done.status == 0, done.err
    assert [run["run"] for run in done.json()["runs"]] == ["a", "x", "y"]


def test_the_gate_refuses_runs_of_other_prompts(gradeschool: Command, tmp_path: Path) -> None:
    """A change of protocol is not a change of the engine."""
    for protocol in ("zero-shot/chat", "zero-shot/cot"):
        asked = ("-m", "recorded/sample#handwritten/cot", "-p", protocol, "-d", "sample")
        output = tmp_path / protocol.partition("/")[2]
        assert gradeschool("eval", *asked, "-n", "4", "-o", output, "--quiet").status == 0
    done = gradeschool("compare", tmp_path / "cot", "--gate", tmp_path / "chat")
    assert done.status == 2
    assert "a gate compares runs of the same prompts" in done.err


def outcomes(name: str, corrects: Sequence[bool]) -> Outcomes:
    """One sample of each problem."""
    ids = [str(index) for index in range(len(corrects))]
    problems = {id: Problem(id, f"{id}?", "1", "#### 1") for id in ids}
    tallies = {id: Tally(int(right), 1) for id, right in zip(ids, corrects, strict=True)}
    return Outcomes(name, problems, tallies, 0)


def gated(draw: random.Random, good: Sequence[float], build: Sequence[float]) -> bool:
    """Whether a build fails the gate; both are probabilities of the problems to be right."""
    runs = [
        outcomes(name, [draw.random() < chance for chance in chances])
        for name, chances in (("good", good), ("build", build))
    ]
    return not all(threshold.met for threshold in gate(runs, compare(runs), 1.0))


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


def test_one_run_alone_needs_a_threshold(gradeschool: Command, write: Write, dataset: Path) -> None:
    """Nothing to compare with is bad input."""
    result = gradeschool("compare", write("a", rights()), "-d", dataset)
    assert result.status == 2
    assert "only one run is given: 'a'" in result.err


def test_one_file_twice_is_named_so(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path
) -> None:
    """Whatever the path: a run is not compared with itself."""
    path = write("a", rights())
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "completions.jsonl").write_bytes(path.read_bytes())
    for one, other in (
        (path, folder / ".." / path.name),
        (folder, folder / "completions.jsonl"),
    ):
        result = gradeschool("compare", one, other, "-d", dataset)
        assert result.status == 2
        assert f"the same file is given twice: '{one}', " in result.err
    run = gradeschool("compare", path, f"{path}#a", "-d", dataset)
    assert run.status == 2
    assert f"the same file is given twice: '{path}', '{path}#a'" in run.err


@pytest.mark.parametrize(
    ("seed", "change", "is_noted"),
    [(2, {}, True), (6, {}, False), (1, {}, False), (2, {"temperature": 0.0}, False)],
)
def test_runs_that_share_seeds_are_noted(
    gradeschool: Command, write: Write, dataset: Path, tmp_path: Path, seed: int,
    change: dict[str, float], is_noted: bool,
) -> None:  # fmt: skip
    """Seeds 1 to 5 and 2 to 6 have four in common: these runs are not independent."""
    text = write("c", rights()).read_text()
    folders: list[Path] = []
    for first in (1, seed):
        folder = tmp_path / f"run{len(folders)}"
        folder.mkdir()
        (folder / "completions.jsonl").write_text(text)
        decoding = {"temperature": 0.7, "seed": first, **change}
        fields = {"model": "m", "samples": 5, "decoding": decoding}
        (folder / "run.json").write_text(json.dumps(fields))
        folders.append(folder / "completions.jsonl")
    result = gradeschool("compare", *folders, "-d", dataset)
    assert result.status == 0, result.err
    assert ("have 4 of 5 seeds in common" in result.err) is is_noted
    assert ("with a --seed that differs by at least 5" in result.err) is is_noted


def test_one_id_for_two_problems_is_refused(
    gradeschool: Command, dataset: Path, tmp_path: Path
) -> None:
    """Runs that carry different problems of their own under one id are not paired."""
    from gradeschool.errors import InputError

    def run(gold: str) -> Outcomes:
        problem = Problem("7", f"What is {gold}?", gold, f"#### {gold}")
        return Outcomes(gold, {"7": problem}, {"7": Tally(1, 1)}, 0)

    with pytest.raises(InputError, match="use the id '7' for different problems"):
        compare([run("1"), run("2")])


@pytest.mark.official
def test_the_published_solutions(gradeschool: Command, data: Path) -> None:
    """6B verification against 175B fine-tuning: 4.3 points, which an unpaired test sees less of."""
    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    result = gradeschool(
        "compare", f"{solutions}#175b_finetuning", f"{solutions}#6b_verification",
        "--scorer", "openai/example-solutions", "--json",
    ).json()  # fmt: skip
    (comparison,) = result["comparisons"]
    assert comparison["n"] == 1319
    assert comparison["difference"] == pytest.approx((515 - 458) / 1319)
    assert len(comparison["gained"]) - len(comparison["lost"]) == 515 - 458
    assert comparison["p"] < 0.01 < comparison["p_unpaired"]
