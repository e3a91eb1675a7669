"""`gradeschool verifier train`, `verifier score`, `rank`: from labels to a ranking."""

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool import load_dataset  # noqa: E402
from gradeschool.errors import InputError  # noqa: E402
from gradeschool.formats.samples import ReadOptions  # noqa: E402
from gradeschool.verifier.base_model import build_tokenizer  # noqa: E402
from gradeschool.verifier.candidates import CandidateRun, candidates_of  # noqa: E402
from gradeschool.verifier.head import GAIN, LIKELIHOOD_GAIN, Verifier  # noqa: E402
from gradeschool.verifier.labels import LabelledSolution, SolutionGroup  # noqa: E402
from gradeschool.verifier.scores import read_scores, scores_path  # noqa: E402
from gradeschool.verifier.session import Listener, Session  # noqa: E402
from gradeschool.verifier.train_verifier import (  # noqa: E402
    Level,
    VerifierTraining,
    batch_of,
    train_verifier,
    verifier_facts,
)
from gradeschool.verifier.training import TrainingUpdate  # noqa: E402
from tests.support.command import Command, environment  # noqa: E402
from tests.support.command import gradeschool as gradeschool  # noqa: E402  # a fixture
from tests.support.trainees import sums, tokenizer_of, trainee, write_problems  # noqa: E402

PROBLEMS = 40
QUICK: dict[str, Any] = {"optimizer": "muon", "lr": 1e-2, "warmup": 5, "batch": 4, "epochs": 14.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Problems, a generator, and completions of it that anyone could tell apart."""
    folder = tmp_path_factory.mktemp("verifier")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    tokenizer = tokenizer_of(sums(PROBLEMS))
    trainee(tokenizer).save_pretrained(folder / "generator")
    tokenizer.save_pretrained(folder / "generator")
    rows = []
    for index, problem in enumerate(sums(PROBLEMS)):
        texts = [problem.solution, f"Bob has none.\n#### {index}00", problem.solution, "#### 7000"]
        rows += [
            {"index": index, "sample": sample, "completion": text}
            for sample, text in enumerate(texts)
        ]
    body = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "samples.jsonl").write_text(body, encoding="utf-8")
    return folder


def settings_of(folder: Path, **changes: Any) -> VerifierTraining:
    return VerifierTraining(
        str(folder / "generator"),
        str(folder / "samples.jsonl"),
        dataset=str(folder / "sums.jsonl"),
        **{**QUICK, **changes},
    )


@pytest.fixture(scope="module")
def trained(folder: Path) -> Path:
    fields = train_verifier(settings_of(folder), Session(folder / "verifier"))
    assert fields["status"] == "finished"
    return folder / "verifier"


def test_a_training_is_logged_as_its_losses_are(
    folder: Path, tmp_path: Path, gradeschool: Command
) -> None:
    output = tmp_path / "logged"
    settings = ("--completions", folder / "samples.jsonl", "-d", folder / "sums.jsonl")
    result = gradeschool("verifier", "train", "--generator", folder / "generator", *settings,
                         "--batch", 8, "-o", output, "--log", "jsonl", "--quiet")  # fmt: skip
    assert (result.status, result.err) == (0, "")
    lines = [json.loads(line) for line in (output / "log.jsonl").read_text("ascii").splitlines()]
    losses = [json.loads(line) for line in (output / "losses.jsonl").read_text().splitlines()]
    fields = json.loads((output / "training.json").read_text("utf-8"))
    assert lines[1:-2] == [
        {"event": "metrics", "updates": row.pop("update"), **row} for row in losses
    ]
    assert lines[0]["settings.level"] == "token" and lines[0]["digest"] == fields["digest"]
    assert lines[-2]["final/losses.verification"] == fields["losses"]["verification"]
    assert lines[-1] == {"event": "end", "finished": True}


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


# Training


def test_the_folder_says_what_the_verifier_learnt_from(folder: Path, trained: Path) -> None:
    fields = json.loads((trained / "verifier.json").read_text())
    assert (fields["token"], fields["level"], fields["objective"]) == ("<ver>", "token", "joint")
    samples = fields["samples"]
    assert (samples["problems"], samples["completions"], samples["right"]) == (40, 160, 80)
    assert (samples["solved"], samples["mixed"], samples["different"]) == (40, 40, 120)
    assert set(fields["generator"]) == {"config.json", "model.safetensors", "tokenizer.json"}
    rows = [json.loads(line) for line in (trained / "losses.jsonl").read_text().splitlines()]
    assert len(rows) == fields["updates"] == 140
    assert rows[0]["verification"] > 0.2
    assert rows[-1]["verification"] < 0.1
    assert rows[-1]["language"] < rows[0]["language"]
    Verifier.load(trained)
    assert not (trained / "training").exists()
    assert str(folder) not in (trained / "verifier.json").read_text()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"level": Level.SOLUTION, "objective": "verification", "dropout": 0.2},
        {"level": Level.LIKELIHOOD, "group": 2, "batch": 8},
    ],
)
def test_a_training_that_stops_goes_on_to_the_same_bits(
    folder: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    task = settings_of(folder, epochs=1.0, **changes)
    train_verifier(task, Session(tmp_path / "whole"))

    def stop(update: TrainingUpdate) -> None:
        if update.number == 5:
            raise KeyboardInterrupt

    listener = Listener(lambda _: None, stop)
    with pytest.raises(KeyboardInterrupt):
        train_verifier(task, Session(tmp_path / "halved", save_every=2, listener=listener))
    assert not (tmp_path / "halved" / "verifier.json").exists()
    numbers: list[int] = []
    listener = Listener(lambda _: None, lambda update: numbers.append(update.number))
    train_verifier(task, Session(tmp_path / "halved", save_every=2, listener=listener))
    assert numbers == list(range(5, 11))
    whole, halved = (weights(tmp_path / name) for name in ("whole", "halved"))
    assert whole.keys() == halved.keys()
    assert all(torch.equal(whole[name], halved[name]) for name in whole)
    heads = [Verifier.load(tmp_path / name) for name in ("whole", "halved")]
    assert heads[0].gain.item() == heads[1].gain.item() not in (GAIN, LIKELIHOOD_GAIN)


@pytest.mark.parametrize(
    "options",
    [("--lora", 4, "--head-lr", 1e-2), ("--level", "likelihood"),
     ("--level", "likelihood", "--objective", "preference")],
    ids=["token-lora", "likelihood", "preference"],
)  # fmt: skip
def test_a_killed_training_resumed_gives_the_bytes_of_one_that_was_not(
    folder: Path, tmp_path: Path, gradeschool: Command, options: tuple[object, ...]
) -> None:
    if "--lora" in options:
        pytest.importorskip("peft")
    words = ("verifier", "train", "--generator", folder / "generator", "--completions",
             folder / "samples.jsonl", "-d", folder / "sums.jsonl", "--batch", 4, "--epochs", 3,
             "--lr", 1e-3, "--dropout", 0.2, "--save-every", 5, *options)  # fmt: skip
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(
        [sys.executable, "-m", "gradeschool", *map(str, words), "-o", str(killed)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment({"OMP_NUM_THREADS": "1"}),
    )  # fmt: skip
    until = time.monotonic() + 120
    while not (killed / "training" / "checkpoint.safetensors").exists():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    process.kill()  # at update 5 or a little behind, of 30
    assert process.wait() == -signal.SIGKILL
    assert not (killed / "verifier.json").exists()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in the killed process
    try:
        ends = [gradeschool(*words, "-o", output) for output in (killed, whole)]
    finally:
        torch.set_num_threads(threads)
    assert [end.status for end in ends] == [0, 0], ends
    updates = [
        [json.loads(row)["update"] for row in (output / "losses.jsonl").read_text().splitlines()]
        for output in (killed, whole)
    ]
    assert updates[0] == updates[1] == list(range(1, 31))
    for name in ("model.safetensors", "verifier.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize("level", [Level.TOKEN, Level.LIKELIHOOD])
def test_accumulated_passes_are_the_large_batch(folder: Path, tmp_path: Path, level: Level) -> None:
    for name, tokens in (("large", 8192), ("small", 100)):
        train_verifier(
            settings_of(folder, epochs=0.5, level=level, lr=1e-3, pass_tokens=tokens),
            Session(tmp_path / name),
        )
    large, small = (weights(tmp_path / name) for name in ("large", "small"))
    assert all(torch.allclose(large[name], small[name], atol=1e-5) for name in large)
    rows = [
        [json.loads(row) for row in (tmp_path / name / "losses.jsonl").read_text().splitlines()]
        for name in ("large", "small")
    ]
    assert len(rows[0]) == 5
    for row, other in zip(*rows, strict=True):
        for part in ("verification", "language", "norm"):
            assert row[part] == pytest.approx(other[part], rel=1e-3, abs=1e-4)


def test_the_likelihood_head_starts_at_about_a_nat_where_it_started_at_twelve(
    folder: Path, tmp_path: Path
) -> None:
    settings = settings_of(folder, level=Level.LIKELIHOOD, epochs=0.1, lr=1e-6)
    notes: list[str] = []
    train_verifier(settings, Session(tmp_path / "v", listener=Listener(note=notes.append)))
    first = json.loads((tmp_path / "v" / "losses.jsonl").read_text().split("\n")[0])
    assert first["verification"] < 1.5
    assert any("head starts at 1." in note for note in notes)


def test_the_weights_may_come_from_another_model(folder: Path, tmp_path: Path) -> None:
    tokenizer = tokenizer_of(sums(PROBLEMS))
    trainee(tokenizer, seed=1).save_pretrained(tmp_path / "other")
    tokenizer.save_pretrained(tmp_path / "other")
    task = settings_of(folder, epochs=0.1, init=str(tmp_path / "other"))
    train_verifier(task, Session(tmp_path / "verifier"))
    fields = json.loads((tmp_path / "verifier" / "verifier.json").read_text())
    assert fields["init"] != fields["generator"]
    got, begun = weights(tmp_path / "verifier"), weights(tmp_path / "other")
    name = "model.layers.0.self_attn.q_proj.weight"
    assert (got[name] - begun[name]).abs().max() < 0.1
    assert (got[name] - weights(folder / "generator")[name]).abs().max() > 0.1


def test_completions_of_one_kind_teach_nothing(folder: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("".join(json.dumps(row) + "\n" for row in rows if row["sample"] % 2))
    with pytest.raises(InputError, match="are all wrong; a verifier learns from right and wrong"):
        train_verifier(
            VerifierTraining(
                str(folder / "generator"), str(wrong), dataset=str(folder / "sums.jsonl")
            ),
            Session(tmp_path / "verifier"),
        )


# Scoring and ranking


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "answers.jsonl"
    file.write_bytes((folder / "samples.jsonl").read_bytes())
    yield file


def test_completions_are_scored_once(
    folder: Path, trained: Path, copied: Path, gradeschool: Command
) -> None:
    words = ("verifier", "score", "--verifier", trained, "-d", folder / "sums.jsonl", copied)
    ended = gradeschool(*words)
    assert ended.status == 0, ended.err
    assert "160 completions of answers are scored" in ended.out
    path = scores_path(copied)
    lines = path.read_bytes().splitlines(keepends=True)
    # Equal texts of a problem have one key: a file's completions have none of their own.
    assert len(lines) == 160
    path.write_bytes(b"".join(lines[:90]) + lines[90][:20])
    assert gradeschool(*words).status == 0
    before = {row.key: row.score for row in map(_row, lines)}
    after = {row.key: row.score for row in read_scores(path)}
    assert after.keys() == before.keys()
    assert all(after[key] == pytest.approx(before[key], abs=1e-5) for key in before)
    size = path.stat().st_size
    assert gradeschool(*words).status == 0
    assert path.stat().st_size == size
    more = (*words, "--tokens", "--generator", folder / "generator")
    assert gradeschool(*more).status == 0
    rows = {row.key: row for row in read_scores(path)}
    for row in rows.values():
        assert row.values and row.tokens
        assert len(row.values) == len(row.tokens) == row.length
        assert row.values[-1] == pytest.approx(row.score, abs=1e-5)
        assert row.logprob is not None and row.logprob < 0
        assert row.tokens[-1] == "<eos>"


def _row(line: bytes) -> Any:
    from gradeschool.verifier.scores import ScoreRow

    return ScoreRow(**json.loads(line))


def test_rank_scores_what_is_not_scored_and_finds_the_right_ones(
    folder: Path, trained: Path, copied: Path, gradeschool: Command
) -> None:
    data = folder / "sums.jsonl"
    words = ("rank", copied, "-d", data, "--verifier", trained, "--generator", folder / "generator")
    ended = gradeschool(*words, "--json")
    assert ended.status == 0, ended.err
    report = ended.json()
    assert report["auc"]["verifier"]["within"] > 0.9
    assert report["strategies"]["best"]["accuracy"] > 0.9
    assert report["strategies"]["mean"]["accuracy"] == 0.5
    assert {"logprob", "sum", "coverage", "weighted", "top", "frequency"} < report[
        "strategies"
    ].keys()
    assert report["unique_solutions"] == 3.0
    table = gradeschool("rank", copied, "-d", data, columns=120)
    assert table.status == 0, table.err
    for text in ("best by verifier", "majority vote", "any right (coverage)", "within problems",
                  "best by mean logprob", "calibration", "N", "k"):  # fmt: skip
        assert text in table.out


def test_a_verifier_that_is_none_is_said_to_be_none(
    folder: Path, copied: Path, gradeschool: Command
) -> None:
    generator = folder / "generator"
    ended = gradeschool("rank", copied, "-d", folder / "sums.jsonl", "--verifier", generator)
    assert ended.status == 2
    assert "is not a verifier: verifier.json is missing" in ended.err


# Steps


def test_a_step_level_verifier_learns_the_first_wrong_step(
    tmp_path: Path, gradeschool: Command
) -> None:
    """Trained on exact labels of fresh problems; its lines' values make the score."""
    problems = load_dataset("fresh:4:train:24").problems
    rows = [
        {"index": index, "sample": sample, "completion": text}
        for index, problem in enumerate(problems)
        for sample, text in enumerate(
            [problem.solution, "That is 1+1=<<1+1=2>>2.\n#### 2", "No end."]
        )
    ]
    samples = tmp_path / "samples.jsonl"
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    tokenizer = build_tokenizer([problem.solution for problem in problems], vocabulary=300)
    trainee(tokenizer).save_pretrained(tmp_path / "generator")
    tokenizer.save_pretrained(tmp_path / "generator")
    settings = VerifierTraining(
        str(tmp_path / "generator"), str(samples), dataset="fresh:4:train:24", level=Level.STEP,
        supervision="process", **{**QUICK, "epochs": 6},
    )  # fmt: skip
    train_verifier(settings, Session(tmp_path / "verifier"))
    fields = json.loads((tmp_path / "verifier" / "verifier.json").read_text())
    assert (fields["level"], fields["supervision"]) == ("step", "process")
    names = set()
    for reduction in ("last", "min", "product", "mean"):
        words = ("rank", samples, "-d", "fresh:4:train:24", "--verifier", tmp_path / "verifier")
        ended = gradeschool(*words, "--reduce", reduction, "--json")
        assert ended.status == 0, ended
        names.add(ended.json()["verifier"].partition(":")[2])
    assert names == {"", "min", "product", "mean"}


def test_targets_are_one_before_the_first_wrong_step() -> None:
    solution = LabelledSolution((5, 6, 7, 8, 9), False, 2, ends=(2, 4, 5), wrong_from=2)
    group = SolutionGroup((3, 4), [solution])
    token, step = (batch_of([group], level) for level in (Level.TOKEN, Level.STEP))
    assert token.targets.tolist() == step.targets.tolist() == [[1, 1, 1, 0, 0, 0]]
    assert token.weights.tolist() == [[0, 2, 2, 2, 2, 2]]
    assert step.weights.tolist() == [[0, 0, 2, 0, 2, 2]]
    outcome = batch_of([SolutionGroup((3, 4), [solution._replace(wrong_from=None)])])
    assert outcome.targets.tolist() == [[1, 0, 0, 0, 0, 0]]


def test_preferences_pair_each_right_solution_with_each_wrong_one_of_its_problem() -> None:
    def solution(token: int, right: bool, logprob: float) -> LabelledSolution:
        return LabelledSolution((token, 2), right, logprob=logprob)

    groups = [
        SolutionGroup((5,), [solution(6, True, -1.0), solution(7, False, -2.0)]),
        SolutionGroup((8,), [solution(6, False, -3.0), solution(7, True, -4.0),
                             solution(9, True, -5.0)]),
    ]  # fmt: skip
    batch = batch_of(groups, Level.LIKELIHOOD, beta=0.5)
    assert batch.preferences is not None
    pairs = zip(batch.preferences.right.tolist(), batch.preferences.wrong.tolist(), strict=True)
    assert sorted(pairs) == [(0, 1), (3, 2), (4, 2)]
    assert batch.counts["preference"] == 3
    logprobs = torch.tensor([-1.0, -2.5, -3.0, -3.0, -5.5])
    gains = [0.0, -0.5, 0.0, 1.0, -0.5]  # over the start
    expected = sum(
        math.log1p(math.exp(-0.5 * (gains[right] - gains[wrong])))
        for right, wrong in [(0, 1), (3, 2), (4, 2)]
    )
    assert batch.preferences.loss(logprobs).item() == pytest.approx(expected)
    assert batch_of(groups, Level.LIKELIHOOD).preferences is None


def test_a_training_by_preference_raises_right_solutions_over_wrong_ones(
    folder: Path, tmp_path: Path
) -> None:
    updates: list[TrainingUpdate] = []
    settings = settings_of(folder, level="likelihood", objective="preference", epochs=6.0)
    train_verifier(settings, Session(tmp_path / "out", listener=Listener(update=updates.append)))
    first, last = updates[0].losses["preference"], updates[-1].losses["preference"]
    assert first == pytest.approx(math.log(2), abs=0.02)  # the start is its own reference
    assert last < 0.6 * first
    written = json.loads((tmp_path / "out" / "verifier.json").read_text())
    assert (written["head"], written["objective"]) == ("likelihood", "preference")
    others = verifier_facts(settings_of(folder), candidates(folder))
    assert verifier_facts(settings, candidates(folder))["beta"] == 0.1
    assert "beta" not in others  # a training of an earlier release resumes


def candidates(folder: Path) -> CandidateRun:
    runs = candidates_of(
        str(folder / "samples.jsonl"),
        ReadOptions(dataset=str(folder / "sums.jsonl")),
        lambda _: None,
    )
    return runs[0]


def test_preferences_need_likelihoods_and_problems_with_both_labels(
    folder: Path, tmp_path: Path
) -> None:
    settings = settings_of(folder, objective="preference")
    with pytest.raises(InputError, match="give --level likelihood"):
        train_verifier(settings, Session(tmp_path / "out"))
    lines = (folder / "samples.jsonl").read_text().splitlines()
    kept = [lines[index] for index in (0, 5)]  # one completion of each of two problems
    (tmp_path / "one.jsonl").write_text("\n".join(kept) + "\n")
    alone = replace(settings, level=Level.LIKELIHOOD, samples=str(tmp_path / "one.jsonl"))
    with pytest.raises(InputError, match="sample more of each problem"):
        train_verifier(alone, Session(tmp_path / "out"))
    assert not (tmp_path / "out" / "verifier.json").exists()
