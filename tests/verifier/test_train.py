"""Samples and trainings through the commands: resumed, early stopped, with adapters, refused."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from gradeschool.verifier import train  # noqa: E402
from gradeschool.verifier.networks import Verifier  # noqa: E402
from tests.support.command import Command  # noqa: E402
from tests.support.files import jsonl, stored_rows  # noqa: E402
from tests.support.trainees import sums, tokenizer_of, trainee, write_problems  # noqa: E402

pytestmark = pytest.mark.slow
SAMPLED = 6  # problems
SMALL = ("--optimizer", "muon", "--lr", "5e-3", "--batch", "8", "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A generator, problems, and samples of which the shorter ones are right."""
    folder = tmp_path_factory.mktemp("train")
    problems = sums(24)
    tokenizer = tokenizer_of(problems)
    tokenizer.chat_template = "{% for turn in messages %}[{{ turn.content }}]{% endfor %}:"
    for part in (trainee(tokenizer), tokenizer):
        part.save_pretrained(folder / "generator")
    write_problems(folder / "sums.jsonl", 24)
    for name, start in (("samples", 0), ("dev", 12)):
        rows = []
        for index, problem in enumerate(problems[start : start + 12], start=start):
            for sample in range(4):
                is_right = sample % 2 == 0
                text = "He has it." if is_right else "He has it all of it and more of it."
                answer = problem.gold if is_right else "99"
                rows.append({"index": index, "sample": sample,
                             "completion": f"{text} {sample}\n#### {answer}"})  # fmt: skip
        jsonl(folder / f"{name}.jsonl", rows)
    yield folder


def train_words(folder: Path, output: Path, *more: object) -> list[object]:
    return ["verifier", "train", "--generator", folder / "generator", "--samples",
            folder / "samples.jsonl", "-d", folder / "sums.jsonl", "-o", output, *SMALL,
            *more]  # fmt: skip


def losses(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "losses.jsonl").read_text().splitlines()]


def test_finetune_learns_and_runs_once(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    words = ("verifier", "finetune", "-m", "new:0.05M", "-d", folder / "sums.jsonl", "-o",
             tmp_path / "model", "--epochs", 6, "--vocabulary", 300, *SMALL,
             "--micro-batch", 5)  # fmt: skip
    assert gradeschool.done(*words, "--json").json()["updates"] == 18
    rows = losses(tmp_path / "model")
    assert rows[-1]["language"] < rows[0]["language"] - 1
    gradeschool.done(*words)
    said = gradeschool.refused(*("1e-3" if word == "5e-3" else word for word in words))
    assert "holds another training (its lr" in said


def test_a_killed_training_goes_on_from_its_checkpoint(folder: Path, tmp_path: Path) -> None:
    words = train_words(folder, tmp_path / "v", "--epochs", 10, "--save-every", 5, "--init-row",
                        "probe")  # fmt: skip
    command = [sys.executable, "-m", "gradeschool", *map(str, words)]
    command.remove("--quiet")
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (tmp_path / "v/training/checkpoint-10").exists():
            pass
        process.kill()
        assert b"a probe of" in process.communicate()[1]
    (tmp_path / "v" / "training" / "checkpoint-99").mkdir()  # the kill was while it was written
    (tmp_path / "v" / "training" / "checkpoint-99" / "trainer_state.json").touch()
    assert not (tmp_path / "v" / "verifier.json").exists()
    assert b"a probe of" not in subprocess.run(command, check=True, capture_output=True).stderr
    fields = json.loads((tmp_path / "v" / "training.json").read_text())
    assert (fields["status"], fields["updates"]) == ("finished", 60)
    assert not (tmp_path / "v" / "training").exists()
    assert losses(tmp_path / "v")[-1]["update"] == 60


def test_a_training_that_is_stopped_before_its_first_update_goes_on(
    folder: Path, tmp_path: Path, gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    words = train_words(folder, tmp_path / "v", "--init-row", "probe")
    with monkeypatch.context() as patch:
        patch.setattr(train, "_begin", stop)
        assert gradeschool(*words).status == 130
    gradeschool.done(*words)
    assert json.loads((tmp_path / "v" / "training.json").read_text())["status"] == "finished"


def test_an_epoch_reads_everything(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    words = ("verifier", "finetune", "-m", folder / "generator", "-d", folder / "sums.jsonl", "-o",
             tmp_path / "model", "--epochs", 2, *SMALL[:-2], 16, "--quiet", "--json")  # fmt: skip
    assert gradeschool.done(*words).json()["updates"] == 4  # 24 problems: 16 and 8, twice


def test_final_losses_are_also_those_before_a_checkpoint() -> None:
    trainer: Any = object.__new__(train.OwnTrainer)
    trainer.args = SimpleNamespace(logging_steps=2, world_size=1, device="cpu")
    logged = [{"loss": 0.1, "verification": 0.1}, {"eval_auc": 0.5}, {"loss": 0.3,
              "verification": 0.3}]  # fmt: skip
    trainer.take_losses(logged)
    assert trainer.mean_losses() == {"verification": pytest.approx(0.3)}
    assert trainer.mean_losses(4) == {"verification": pytest.approx(0.2)}


def test_a_model_answers_without_steps(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    problems, model, run = folder / "sums.jsonl", tmp_path / "direct", tmp_path / "run"
    for words in (
        ("finetune", "-m", folder / "generator", "-d", problems, "-o", model, "--loss-on", "answer",
         "--epochs", 20, *SMALL),
        ("sample", "-m", f"transformers/{model}", "-d", problems, "-o", run, "-n", 4, "-k", 1,
         "--temperature", 0, "--max-tokens", 8, "--quiet"),
    ):  # fmt: skip
        gradeschool.done("verifier", *words)
    assert all(row["completion"].startswith("#### ") for row in stored_rows(run))


@pytest.mark.parametrize(
    "options",
    [
        ("--level", "token", "--chat"),
        ("--level", "pooled", "--init-row", "probe"),
        ("--level", "likelihood"),
        ("--level", "token", "--objective", "pairwise"),
        ("--level", "step", "--lora", "2"),
    ],
)
def test_a_verifier_learns_which_solutions_are_right(
    folder: Path, tmp_path: Path, gradeschool: Command, options: tuple[str, ...]
) -> None:
    output = tmp_path / "verifier"
    gradeschool.done(*train_words(folder, output, "--epochs", 12, *options))
    ranked = gradeschool.done("verifier", "rank", folder / "dev.jsonl", "-d", folder / "sums.jsonl",
                         "--verifier", output, "--json")  # fmt: skip
    assert ranked.json()["auc"]["verifier"]["within"] > 0.8
    (folder / "dev.verifier-scores.jsonl").unlink()
    assert (output / "adapter").is_dir() == ("--lora" in options)
    assert json.loads((output / "verifier.json").read_text())["chat"] == ("--chat" in options)
    if "--lora" in options:  # which freezes the unembedding, but not the reserved token's row
        row = Verifier.load(output)[0].row.detach()
        begun = torch.randn(len(row), generator=torch.Generator().manual_seed(0)) * len(row) ** -0.5
        assert float((row - begun).norm()) > 0.05


def test_dev_keeps_the_best_and_stops(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "verifier"
    words = train_words(folder, output, "--epochs", 100, "--dev", folder / "dev.jsonl")  # fmt: skip
    ended = gradeschool.done(*words, "--json")
    assert max(row.get("eval_auc_within", 0) for row in losses(output)) > 0.9
    assert ended.json()["updates"] < 600


@pytest.mark.parametrize(
    ("rates", "messages"),
    [
        (("1e-9", "1e-9"), ["a constant scores 0.2", "learnt next to nothing"]),
        (("5e-3", "1"), ["the head's gain changed its sign", "give a lower --head-lr"]),
    ],
)
def test_a_head_that_learnt_badly_is_warned_of(
    folder: Path, tmp_path: Path, gradeschool: Command, rates: tuple[str, str], messages: list[str]
) -> None:
    words = train_words(folder, tmp_path / "v", "--head-lr", rates[1], "--level", "pooled")
    words = [word for word in words if word != "--quiet"]
    words[words.index("5e-3")] = rates[0]
    ended = gradeschool.done(*words)
    assert all(message in ended.err for message in messages), ended.err


def other_generator(folder: Path, target: Path, *, keeps_lines: bool) -> Path:
    """The generator with other files; keeps_lines: its tokenizer reads line breaks."""
    shutil.copytree(folder / "generator", target)
    (target / "config.json").write_text((target / "config.json").read_text() + "\n")
    if not keeps_lines:
        fields = json.loads((target / "tokenizer.json").read_text())
        fields["normalizer"] = {"type": "Replace", "pattern": {"String": "\n"}, "content": " "}
        (target / "tokenizer.json").write_text(json.dumps(fields))
    return target


def test_bad_trainings_are_refused(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    def refused(*words: object) -> str:
        ended = gradeschool(*words)
        assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
        return ended.err

    for options, message in (
        (("--objective", "verification", "--language", "right"), "does not have; leave it out"),
        (("--level", "likelihood", "--init-row", "probe"), "has no values, which --init-row"),
        (("--level", "likelihood", "--objective", "pairwise"), "or train by DPO (TRL)"),
        (("--init", "nowhere"), "there is no such folder"),
        (("--dev", folder / "samples.jsonl"), "12 problems of --dev"),
    ):
        assert message in refused(*train_words(folder, tmp_path / "v", *options))
    answers = jsonl(tmp_path / "answers.jsonl", [{"question": "1+1?", "answer": "2"}])
    finetune = ("verifier", "finetune", "-m", folder / "generator", "-o", tmp_path / "g", "-d")
    said = refused(*finetune, answers)
    assert "of 1 of 1 problems are answers alone" in said and "--loss-on answer, or" in said
    said = refused(*finetune, answers, "--loss-on", "answer", "--vocabulary", 300)
    assert "--vocabulary is for a new model" in said
    samples = [{"question": "1+1?", "gold": "2", "sample": n, "response": f"#### {n}"}
               for n in range(4)]  # fmt: skip
    said = refused("verifier", "train", "--generator", folder / "generator", "--samples",
                   jsonl(tmp_path / "own.jsonl", samples), "-o", tmp_path / "v",
                   "--quiet")  # fmt: skip
    assert "answers alone" in said and "--language right, or" in said
    gradeschool.done("verifier", "finetune", "-m", folder / "generator", "-d",
                     folder / "sums.jsonl", "-o", tmp_path / "chat", "--chat", *SMALL)  # fmt: skip
    words = train_words(folder, tmp_path / "v", "--init", tmp_path / "chat")
    assert "was trained with --chat; give --chat here too" in refused(*words)
    lines = (folder / "samples.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "right.jsonl").write_text("".join(lines[0::2]))
    words = train_words(folder, tmp_path / "v")
    words[words.index(folder / "samples.jsonl")] = tmp_path / "right.jsonl"
    assert "are all right; a verifier learns from right and wrong ones" in refused(*words)
    bare = other_generator(folder, tmp_path / "bare", keeps_lines=False)
    words = train_words(folder, tmp_path / "v")
    words[words.index(folder / "generator")] = bare
    assert "loses line breaks" in refused(*words)
    assert "loses line breaks" in refused("verifier", "finetune", "-m", bare, "-d",
                                          folder / "sums.jsonl", "-o", tmp_path / "g")  # fmt: skip
    run = tmp_path / "run"
    gradeschool.done("verifier", "sample", "-m", f"transformers/{folder / 'generator'}", "-d",
                          folder / "sums.jsonl", "-o", run, "-n", 2, "-k", 2, "--max-tokens", 8,
                          "--quiet")  # fmt: skip
    other = other_generator(folder, tmp_path / "other", keeps_lines=True)
    found = refused("verifier", "train", "--generator", other, "--samples", run, "-o",
                    tmp_path / "v", "--quiet")  # fmt: skip
    assert "were written by 'generator'" in found and "not by the model in" in found


def test_two_processes_by_accelerate_learn_as_one(folder: Path, tmp_path: Path) -> None:
    launch = "-m accelerate.commands.launch --multi_gpu --num_machines 1 --mixed_precision no"
    launch += " --dynamo_backend no --num_processes 2"
    rows: list[list[dict[str, Any]]] = []
    for count, start in ((1, ""), (2, launch)):
        words = map(str, train_words(folder, tmp_path / f"v{count}", "--epochs", 4))
        command = [sys.executable, *start.split(), "-m", "gradeschool", *words]
        command.remove("--quiet")
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        assert said.count(f"24 updates of 8; {count} processes on cpu") == 1
        rows.append(losses(tmp_path / f"v{count}"))
    for one, two in zip(*rows, strict=True):
        assert two == {name: pytest.approx(value, rel=1e-3) for name, value in one.items()}


def sample_words(folder: Path, output: Path, samples: int) -> list[object]:
    model, problems = f"transformers/{folder / 'generator'}", folder / "sums.jsonl"
    return ["verifier", "sample", "-m", model, "-d", problems, "-n", SAMPLED, "-k", samples,
            "--max-tokens", 12, "-o", output, "--quiet"]  # fmt: skip


def rows_of(output: Path) -> dict[str, dict[str, Any]]:
    rows = {row["key"]: row for row in stored_rows(output)}
    for row in rows.values():
        row.pop("latency", None)  # another session takes another time
    return rows


def test_a_killed_sampling_goes_on(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    gradeschool.done(*sample_words(folder, output, 3))
    first = rows_of(output)
    assert len(first) == 3 * SAMPLED
    assert len({row["completion"] for row in first.values()}) > 2 * SAMPLED
    lines = (output / "completions.jsonl").read_bytes().splitlines(keepends=True)
    (output / "completions.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:30])
    gradeschool.done(*sample_words(folder, output, 3))
    assert rows_of(output) == first
    gradeschool.done(*sample_words(folder, output, 5))
    more = rows_of(output)
    assert len(more) == 5 * SAMPLED
    assert {key: more[key] for key in first} == first


def test_samples_are_counted_and_scored(folder: Path, tmp_path: Path, gradeschool: Command) -> None:
    output = tmp_path / "run"
    ended = gradeschool.done(*sample_words(folder, output, 2), "--json")
    summary = ended.json()
    assert (summary["problems"], summary["completions"]) == (SAMPLED, 2 * SAMPLED)
    assert 0 <= summary["right"] <= summary["completions"]
    manifest = json.loads((output / "run.json").read_text())
    assert manifest["decoding"]["temperature"] == 0.7
    assert manifest["model"].endswith("with the calculator")
    scored = gradeschool.done("score", output)
    assert "openai/2021" in scored.out
