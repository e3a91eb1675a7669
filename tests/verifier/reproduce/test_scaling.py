"""Accuracy over many samples and over FLOPs, from runs and models made by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest

from gradeschool.completion import Completion, Finish, Usage
from gradeschool.errors import DataError
from gradeschool.formats.own_run import to_line
from gradeschool.formats.samples import ReadOptions
from gradeschool.reports.reproduction import write_figure
from gradeschool.verifier.candidates import candidates_of
from gradeschool.verifier.reproduce.ablations import plan
from gradeschool.verifier.reproduce.flops import (
    TransformerShape,
    sampling_flops,
)
from gradeschool.verifier.reproduce.plans import AblationPlan, Contrast, MeasuredPoint
from gradeschool.verifier.reproduce.points import verdicts
from gradeschool.verifier.reproduce.presets import LAPTOP
from gradeschool.verifier.reproduce.scaling import (
    GREEDY_NAMES,
    MANY,
    SELF_TRAINED,
    ManySamples,
    over_flops,
    over_samples,
)
from gradeschool.verifier.scores import ScoreRow, append_scores

PROBLEMS, SAMPLES = 6, 4
PROMPT, TOKENS = 10, 5
SHAPE = TransformerShape(weights=96, layers=2, width=8)
TRAINED = {
    "": ("first",),
    "again": ("first", "second"),
    "verifier": ("first", "second", "third"),
    "head": ("first", "third"),
}


@pytest.fixture
def many(tmp_path: Path) -> ManySamples:
    """Six problems: sample 0 alone is right; the verifier likes it best, model and head least."""
    _write(tmp_path / "problems/test.jsonl", (
        {"id": str(index), "question": f"What is {index} + 1?", "answer": f"#### {index + 1}"}
        for index in range(PROBLEMS)
    ))  # fmt: skip
    places = [(index, sample) for index in range(PROBLEMS) for sample in range(SAMPLES)]
    for name, right in (("many", [sample == 0 for _, sample in places]),
                        ("greedy", [index < 2 for index in range(PROBLEMS)]),
                        ("again", [index < 5 for index in range(PROBLEMS)])):  # fmt: skip
        rows = places if name == "many" else [(index, 0) for index in range(PROBLEMS)]
        _run(tmp_path / name, rows, right)
    [sampled] = candidates_of(
        str(tmp_path / "many"), ReadOptions(dataset=str(tmp_path / "problems/test.jsonl")), print
    )
    for name, sign in (("scores", 1), ("self", -1), ("head", -1)):
        append_scores(tmp_path / f"{name}.jsonl", [
            ScoreRow(each.key, name, 0.5 + 0.1 * sign * each.right, TOKENS,
                     -1.0 - each.right if name == "scores" else None)
            for problem in sampled.answered for each in problem.candidates
        ])  # fmt: skip
    return ManySamples("many", "scores.jsonl", "self.jsonl", "head.jsonl", ("greedy", "again"),
                       "first", TRAINED)  # fmt: skip


def test_accuracies_are_means_over_subsets_of_the_samples(
    many: ManySamples, tmp_path: Path
) -> None:
    points = {(point.series, point.x): point for point in over_samples(many, tmp_path)}
    for n in (1, 2, 4):
        assert points["best by verifier", n].share == pytest.approx(n / SAMPLES)
        assert points[GREEDY_NAMES[0], n].share == pytest.approx(2 / 6)
        assert points[GREEDY_NAMES[1], n].share == pytest.approx(5 / 6)
        assert points[GREEDY_NAMES[1], n].baseline
    assert points["majority vote", 4].share == 0
    # The likeliest of the wrong ones; alone, each sample is the best.
    for series in (SELF_TRAINED, "best by own logprob", "best by the paper's head"):
        assert [points[series, n].share for n in (1, 2, 4)] == pytest.approx([0.25, 0, 0])
    assert points["best by verifier", 2].chances == {str(i): 0.5 for i in range(PROBLEMS)}


def test_a_problem_of_fewer_samples_counts_where_it_has_enough(
    many: ManySamples, tmp_path: Path
) -> None:
    """The first problem lacks its last sample: it counts at 1 and 2, and in no point at 4."""
    file = tmp_path / "many/completions.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: SAMPLES - 1] + lines[SAMPLES:]))
    measured = over_samples(many, tmp_path)
    points = {(point.series, point.x): point for point in measured}
    best = [points["best by verifier", n].chances or {} for n in (1, 2, 4)]
    assert [chances.get("0") for chances in best] == pytest.approx([1 / 3, 2 / 3, None])
    assert best[2] == {str(index): 1 for index in range(1, PROBLEMS)}
    likely = [points[SELF_TRAINED, n].chances or {} for n in (1, 2, 4)]
    assert [chances.get("0") for chances in likely] == pytest.approx([1 / 3, 0, None])
    assert likely[2] == {str(index): 0 for index in range(1, PROBLEMS)}
    # A difference is over the problems of both points.
    turn = Contrast("", (0, "best by verifier", 4), (0, "best by verifier", 1))
    [result] = verdicts("n", AblationPlan([], contrasts=(turn,)), measured)
    assert result.difference == pytest.approx(0.75)


@pytest.mark.parametrize("stored", [True, False])
def test_flops_are_those_of_writing_reading_and_training(
    many: ManySamples, tmp_path: Path, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Log-probabilities that sampling stored cost nothing more."""
    monkeypatch.setattr("gradeschool.verifier.rank.stores_logprobs", lambda *_: stored)
    pytest.importorskip("safetensors", reason="needs safetensors, which make test-all installs")
    for number, name in enumerate(("first", "second", "third"), 1):
        _model(tmp_path / name, updates=number)
    answers = 100
    points = {(point.panel, point.series, point.x): point.share
              for point in over_flops(many, answers, tmp_path)}  # fmt: skip
    prompt, written = SHAPE.forward(PROMPT), SHAPE.forward(TOKENS, PROMPT)
    update = 3 * 2 * SHAPE.forward(7)
    for n in (1, 2, 4):
        drawn = prompt + n * written
        assert (0, "majority vote", drawn) in points
        assert (0, "best by own logprob", drawn if stored else 2 * drawn) in points
        assert points[0, "best by verifier", 2 * drawn] == pytest.approx(n / SAMPLES)
        assert (1, "majority vote", update + answers * drawn) in points
        assert (1, SELF_TRAINED, 3 * update + answers * 2 * drawn) in points
        assert (1, "best by verifier", 6 * update + answers * 2 * drawn) in points
        assert (1, "best by the paper's head", 4 * update + answers * 2 * drawn) in points
    assert points[1, GREEDY_NAMES[1], 3 * update + answers * (prompt + written)] == 5 / 6
    report = "\n".join(write_figure(tmp_path, LAPTOP, "compute", AblationPlan(
        [], contrasts=(), read=lambda root: over_flops(many, answers, root), titles=("a", "b")
    )))  # fmt: skip
    assert "| a: best by verifier |" in report
    assert json.loads((tmp_path / "figures/compute.json").read_text())["verdicts"] == []
    report = "\n".join(write_figure(tmp_path, LAPTOP, "n", AblationPlan(
        [], contrasts=(), read=partial(over_samples, many), titles=("",)
    )))  # fmt: skip
    assert report.count(f"| {GREEDY_NAMES[0]} |") == 1  # a level, not a curve


def test_files_that_record_no_tokens_have_no_flops(many: ManySamples, tmp_path: Path) -> None:
    path = tmp_path / "many/completions.jsonl"
    completion = Completion("key", "0", 0, "#### 1", Finish.STOP)
    path.write_bytes(to_line(completion, "What is 0 + 1?"))
    with pytest.raises(DataError, match="records no tokens"):
        sampling_flops(tmp_path / "many", SHAPE)
    path.write_text("")
    with pytest.raises(DataError, match="has no completion"):
        sampling_flops(tmp_path / "many", SHAPE)


def test_chances_are_compared_problem_by_problem() -> None:
    """Far apart from problem to problem, but always higher by the same: decided."""
    low = {str(index): index / 20 for index in range(10)}
    high = {name: chance + 0.1 for name, chance in low.items()}
    points = [MeasuredPoint(0, name, 8, 0.5, None, chances=chances)
              for name, chances in (("high", high), ("low", low))]  # fmt: skip
    contrasts = (Contrast("high against low", (0, "high", 8), (0, "low", 8)),)
    [result] = verdicts("n", AblationPlan([], contrasts=contrasts), points)
    assert result.difference == pytest.approx(0.1)
    assert result.ci95 == pytest.approx((0.1, 0.1))
    assert result.outcome == "holds"


def test_the_verifiers_over_k_have_as_many_samples_and_the_same_options() -> None:
    commands = [stage.command for stage in plan("k", LAPTOP).stages]
    trained = [command for command in commands if command[:2] == ("verifier", "train")]
    assert len(trained) == 3
    parts = {tuple(word for word in command if "samples" not in word and "verifier-k" not in word)
             for command in trained}  # fmt: skip
    assert len(parts) == 1
    sampled = {command[command.index("-o") + 1]: command for command in commands
               if command[0] == "sample" and "problems/labelled.jsonl" in command}  # fmt: skip
    counts = []
    for command in trained:
        drawn = sampled[command[command.index("--samples") + 1]]
        problems = int(drawn[drawn.index("-n") + 1]) if "-n" in drawn else LAPTOP.labelled
        counts.append(int(drawn[drawn.index("-k") + 1]) * problems)
    assert max(counts) == LAPTOP.labelled
    assert min(counts) > 0.99 * max(counts)


def test_many_samples_are_of_the_self_trained_generator_and_its_verifier() -> None:
    stages = {stage.name: stage for stage in plan("n", LAPTOP).stages}
    assert stages.keys() == {stage.name for stage in plan("compute", LAPTOP).stages}
    drawn = " ".join(stages["test-many-control-0"].command)
    assert f"-m transformers/seed-0/control -o seed-0/test-many-control -k {MANY}" in drawn
    scored = " ".join(stages["scores-many-0"].command)
    assert "--verifier seed-0/verifier-likelihood-control --generator seed-0/control" in scored
    assert "seed-0/verifier-token-control" in stages["scores-many-token-0"].command
    assert not any("held-out" in name for name in stages)


def _run(folder: Path, places: Iterable[tuple[int, int]], right: Iterable[bool]) -> None:
    """Write a run folder with its tokens, as `sample` does."""
    rows = [
        to_line(
            Completion(
                f"{folder.name}-{index}-{sample}", str(index), sample,
                f"It is\n#### {index + 1 if is_right else 99}", Finish.STOP,
                Usage(PROMPT, TOKENS), run="model",
            ),
            f"What is {index} + 1?",
        )
        for (index, sample), is_right in zip(places, right, strict=True)
    ]  # fmt: skip
    folder.mkdir()
    (folder / "completions.jsonl").write_bytes(b"".join(rows))


def _model(folder: Path, updates: int) -> None:
    """Write a model's folder: 96 weights and an embedding; updates of two examples of 7 tokens."""
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir(exist_ok=True)
    weights = {"model.embed_tokens.weight": np.zeros((50, 8)), "layer.a": np.zeros((8, 8)),
               "layer.b": np.zeros((4, 8))}  # fmt: skip
    save_file(weights, folder / "model.safetensors")
    config = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8}
    (folder / "config.json").write_text(json.dumps(config))
    training = {"tokens": 14 * updates, "updates": updates, "settings": {"batch": 2}}
    (folder / "training.json").write_text(json.dumps(training))


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
