"""What a training refuses leaves nothing behind, and a training of other settings as it was."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.trainees import sums, tokenizer_of, trainee, write_problems

PROBLEMS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Problems, a generator, completions right and wrong, and what nobody can learn from."""
    folder = tmp_path_factory.mktemp("refused")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    tokenizer = tokenizer_of(sums(PROBLEMS))
    trainee(tokenizer).save_pretrained(folder / "generator")
    tokenizer.save_pretrained(folder / "generator")
    rows: list[dict[str, Any]] = [
        {"index": index, "sample": sample, "completion": text}
        for index, problem in enumerate(sums(PROBLEMS))
        for sample, text in enumerate((problem.solution, "#### 7000"))
    ]
    wrong = [row for row in rows if row["sample"]]
    for name, some in (("samples", rows), ("wrong", wrong)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    (folder / "broken.jsonl").write_text('{"question": "How many?", "answer"\n')
    (folder / "empty.jsonl").write_text("")
    shutil.copytree(folder / "generator", folder / "one-line")
    _lose_line_breaks(folder / "one-line" / "tokenizer.json")
    run = folder / "others-run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"model": "transformers/other 0123456789abcdef"}))
    (run / "completions.jsonl").write_text((folder / "samples.jsonl").read_text())
    (folder / "unfinished" / "training").mkdir(parents=True)
    for name in ("verifier", "no-tokenizer"):
        shutil.copytree(folder / "generator", folder / name)
    (folder / "verifier" / "verifier.json").write_text(
        '{"token_id": 5, "gain": 1, "bias": 0, "head": "token"}'
    )
    for file in (folder / "no-tokenizer").glob("tokenizer*"):
        file.unlink()
    (folder / "half").mkdir()
    (folder / "half" / "config.json").write_text('{"model_type": "llama"}')
    return folder


def _lose_line_breaks(tokenizer: Path) -> None:
    """Let a tokenizer drop line breaks, as those do that split at any space."""
    fields = json.loads(tokenizer.read_text())
    fields["normalizer"] = {"type": "Replace", "pattern": {"String": "\n"}, "content": " "}
    tokenizer.write_text(json.dumps(fields))


def words(folder: Path, verb: str, output: Path, changes: dict[str, Any]) -> list[object]:
    """A command that would train, changed; an option that is None is left out."""
    commands: dict[str, dict[str, Any]] = {
        "finetune": {"-m": "new:0.05M", "-d": folder / "sums.jsonl", "--vocabulary": 300},
        "verifier train": {"--generator": folder / "generator", "-d": folder / "sums.jsonl",
                           "--samples": folder / "samples.jsonl"},
    }  # fmt: skip
    arguments = {**commands[verb], "-o": output, "--epochs": 1, "--batch": 4, **changes}
    here = {name: folder / value[1:] if str(value).startswith("@") else value
            for name, value in arguments.items()}  # fmt: skip
    return [*verb.split(), *(word for pair in here.items() for word in pair), "--quiet"]


@pytest.mark.parametrize(
    ("verb", "changes", "message"),
    [
        ("finetune", {"-d": "@broken.jsonl"}, "broken.jsonl"),
        ("finetune", {"-d": "@empty.jsonl"}, "empty.jsonl"),
        ("finetune", {"-d": "@none.jsonl"}, "none.jsonl"),
        ("finetune", {"-m": "@none"}, "contains no model"),
        ("finetune", {"-m": "@half"}, "cannot be loaded"),
        ("finetune", {"-m": "@one-line"}, "loses line breaks"),
        ("verifier train", {"--generator": "@one-line"}, "loses line breaks"),
        ("verifier train", {"--samples": "@others-run"}, "were written by 'other' (0123456789abc"),
        ("finetune", {"-m": "new:7B"}, "no size of a new model is called '7B'"),
        ("finetune", {"--vocabulary": 20}, "too small"),
        ("finetune", {"--dev": "@none.jsonl"}, "none.jsonl"),
        ("finetune", {"--processes": 2}, "2 processes were requested, 1 started"),
        ("finetune", {"--seed": -1}, "'--seed': -1 is not in the range"),
        ("finetune", {"--lr": "nan"}, "'nan' is not a finite number"),
        ("finetune", {"--precision": "half"}, "'half' is not one of"),
        ("finetune", {"--pass-tokens": 0}, "'--pass-tokens': 0 is not in the range"),
        ("verifier train", {"-d": "@broken.jsonl"}, "broken.jsonl"),
        ("verifier train", {"--samples": "@none.jsonl"}, "none.jsonl"),
        ("verifier train", {"--samples": "@wrong.jsonl"}, "are all wrong"),
        ("verifier train", {"--generator": "@none"}, "contains no model"),
        ("verifier train", {"--generator": "@half"}, "cannot be loaded"),
        ("verifier train", {"--init": "@none"}, "contains no model"),
        ("finetune", {"-m": "@unfinished"}, "is not finished; run its command again"),
        ("verifier train", {"--generator": "@verifier"}, "is a verifier; give the model that"),
        ("verifier train", {"--generator": "@no-tokenizer"}, "cannot be loaded"),
        ("verifier train", {"--beta": 0.5}, "--beta 0.5 is the scale of --objective preference"),
        (
            "verifier train",
            {"--language": "right", "--objective": "verification"},
            "--language right chooses the text of a loss",
        ),
        ("verifier train", {"--processes": 2}, "2 processes were requested, 1 started"),
        ("verifier train", {"--seed": -1}, "'--seed': -1 is not in the range"),
    ],
)
def test_a_refused_start_leaves_nothing_behind(
    verb: str, changes: dict[str, Any], message: str, folder: Path, tmp_path: Path,
    gradeschool: Command,
) -> None:  # fmt: skip
    ended = gradeschool(*words(folder, verb, tmp_path / "new" / "model", changes))
    assert ended.status == 2, ended
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("verifier export @unfinished -o @new", "is not finished; run its command again"),
        ("verifier score @samples.jsonl -d @sums.jsonl --verifier @unfinished -o @new",
         "is not finished; run its command again"),
        ("verifier score @samples.jsonl -d @sums.jsonl --generator @no-tokenizer -o @new",
         "the tokenizer in "),
        ("gguf @unfinished -o @new", "is not finished; run its command again"),
        ("gguf @no-tokenizer -o @new", "tokenizer.json' cannot be read"),
    ],
)  # fmt: skip
def test_a_model_that_lacks_a_part_is_named(
    command: str, message: str, folder: Path, gradeschool: Command
) -> None:
    ended = gradeschool(*command.replace("@", f"{folder}/").split())
    assert ended.status == 2, ended
    assert message in ended.err
    assert "unexpected" not in ended.err
    assert not (folder / "new").exists()


@pytest.fixture(scope="module")
def begun(folder: Path) -> dict[str, Path]:
    """A fine-tuning and a verifier's training that were stopped after their first checkpoint."""
    from gradeschool.verifier.finetune import Finetuning, finetune
    from gradeschool.verifier.session import Listener, Session
    from gradeschool.verifier.train_verifier import VerifierTraining, train_verifier
    from gradeschool.verifier.training import TrainingUpdate

    def stop(update: TrainingUpdate) -> None:
        if update.number == 2:
            raise KeyboardInterrupt

    data, how = str(folder / "sums.jsonl"), {"save_every": 1, "listener": Listener(update=stop)}
    generator = Finetuning("new:0.05M", data, vocabulary=300, epochs=1.0, batch=4)
    verifier = VerifierTraining(
        str(folder / "generator"), str(folder / "samples.jsonl"), dataset=data, batch=4
    )
    folders = {"finetune": folder / "begun-generator", "verifier train": folder / "begun-verifier"}
    with pytest.raises(KeyboardInterrupt):
        finetune(generator, Session(folders["finetune"], **how))  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        train_verifier(verifier, Session(folders["verifier train"], **how))  # type: ignore[arg-type]
    return folders


@pytest.mark.parametrize(
    ("verb", "changes", "name"),
    [
        ("finetune", {"--pass-tokens": 100}, "pass_tokens"),
        ("finetune", {"--precision": "bfloat16"}, "precision"),
        ("finetune", {"--batch": 5}, "batch"),
        ("finetune", {"--vocabulary": 301}, "vocabulary"),
        ("finetune", {"-n": 11}, "limit"),
        ("finetune", {"--seed": 1}, "seed"),
        ("finetune", {"--dropout": 0.2}, "dropout"),
        ("verifier train", {"--pass-tokens": 100}, "pass_tokens"),
        ("verifier train", {"--level": "solution"}, "level"),
        ("verifier train", {"--init": "@generator"}, "init"),
        ("verifier train", {"--samples": "@wrong.jsonl"}, "samples"),
    ],
)
def test_a_training_does_not_go_on_with_other_settings(
    verb: str, changes: dict[str, Any], name: str, folder: Path, begun: dict[str, Path],
    gradeschool: Command,
) -> None:  # fmt: skip
    if verb == "finetune":  # as it was begun, in all else
        changes = {"--optimizer": "adam", "--lr": 1e-5, "--warmup": 0, **changes}
    before = {path: path.read_bytes() for path in begun[verb].rglob("*.*")}
    assert any(path.suffix == ".safetensors" for path in before)
    ended = gradeschool(*words(folder, verb, begun[verb], changes))
    assert ended.status == 2, ended
    assert f"contains another training: its {name} is " in ended.err
    assert "nothing was changed: give another folder with -o" in ended.err
    assert {path: path.read_bytes() for path in begun[verb].rglob("*.*")} == before


@pytest.mark.parametrize("verb", ["finetune", "verifier train"])
def test_the_same_settings_go_on_from_the_checkpoint(
    verb: str, folder: Path, begun: dict[str, Path], gradeschool: Command, tmp_path: Path
) -> None:
    """Runs last: it ends what the others look at."""
    same = {"--optimizer": "adam", "--lr": 1e-5, "--warmup": 0} if verb == "finetune" else {}
    for output in (begun[verb], tmp_path / "whole"):
        ended = gradeschool(*words(folder, verb, output, same), "--json")
        assert ended.status == 0, ended.err
        assert ended.json()["updates"] == 3
    first, other = begun[verb], tmp_path / "whole"
    assert (first / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    again = gradeschool(*words(folder, verb, begun[verb], same), "--json")
    assert again.json()["created"] == json.loads((first / "training.json").read_text())["created"]


def test_nothing_right_is_an_error_and_prints_nothing(folder: Path, gradeschool: Command) -> None:
    data = folder / "sums.jsonl"
    ended = gradeschool("data", "right", folder / "wrong.jsonl", "-d", data, "--with", data)
    assert (ended.status, ended.out) == (2, "")
    assert "is correct; sample more for each problem" in ended.err
    ended = gradeschool("data", "right", folder / "samples.jsonl", "-d", data, "--with", data)
    assert ended.status == 0
    rows = [json.loads(line) for line in ended.out.splitlines()]
    expected = [
        {"question": problem.question, "answer": problem.solution} for problem in sums(PROBLEMS)
    ]
    assert rows == expected * 2
