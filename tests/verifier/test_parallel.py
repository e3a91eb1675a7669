"""Two processes (gloo) train as one does, by DDP and by FSDP2; a missing one is noticed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.verifier.parallel import joined  # noqa: E402
from gradeschool.verifier.training import CHECKPOINT, checkpoint_facts  # noqa: E402
from tests.support.command import environment  # noqa: E402
from tests.support.trainees import sums, tokenizer_of, trainee, write_problems  # noqa: E402
from tests.support.two_processes import LAST, start, train  # noqa: E402

WHOLE = ("ddp-language", "fsdp-language", "ddp-likelihood", "fsdp-token", "fsdp-likelihood")
NAMES = {"ddp": "DDP", "fsdp": "FSDP2"}
UPDATES = 5


def losses(folder: Path) -> list[dict[str, Any]]:
    """What each update says, but for what it took."""
    rows = [json.loads(line) for line in (folder / "losses.jsonl").read_text().splitlines()]
    return [{name: row[name] for name in row if name != "seconds"} for row in rows]


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def stored(folder: Path) -> int:
    """How many updates the checkpoint of a training holds."""
    facts = checkpoint_facts(folder / "training" / CHECKPOINT)
    assert facts is not None
    return int(facts["updates"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Problems, a generator, and right and wrong completions of each problem."""
    folder = tmp_path_factory.mktemp("pair")
    write_problems(folder / "sums.jsonl", 40)
    tokenizer = tokenizer_of(sums(40))
    trainee(tokenizer).save_pretrained(folder / "generator")
    tokenizer.save_pretrained(folder / "generator")
    texts = ((index, (problem.solution, f"Bob has none.\n#### {index}00", "#### 7000"))
             for index, problem in enumerate(sums(40)))  # fmt: skip
    rows = [
        {"index": index, "sample": sample, "completion": text}
        for index, solutions in texts
        for sample, text in enumerate(solutions)
    ]
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture(scope="module")
def trained(folder: Path) -> Path:
    """What two processes make; the last case is killed, and so is the first of the second pair."""
    first, second = start(folder, *WHOLE, "fsdp-language-killed")
    output = first.communicate(timeout=300)[0]
    assert first.returncode == -9, output
    assert [line for line in output.splitlines() if line.startswith(WHOLE)] == [
        f"{case} 2 processes on cpu, {NAMES[case.partition('-')[0]]}" for case in WHOLE
    ]
    second.kill()
    second.communicate()
    assert stored(folder / "fsdp-language-killed") == LAST - 1
    first, second = start(folder, "fsdp-language-killed", "ddp-language-killed")
    assert first.communicate(timeout=300)[0]
    second.kill()
    second.communicate()
    assert first.returncode == -9
    assert stored(folder / "ddp-language-killed") == LAST - 1
    both = start(folder, "ddp-language-killed")
    output = "".join(process.communicate(timeout=300)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0], output
    return folder


@pytest.mark.parametrize("case", WHOLE)
def test_two_processes_reach_the_losses_and_the_weights_of_one(
    case: str, trained: Path, tmp_path: Path
) -> None:
    what = case.partition("-")[2]
    train(trained, what, tmp_path / "one")
    single, pair_losses = losses(tmp_path / "one"), losses(trained / case)
    assert len(single) == len(pair_losses) == UPDATES
    for mine, theirs in zip(single, pair_losses, strict=True):
        assert theirs == pytest.approx(mine, rel=1e-3, abs=1e-4)
    first, second = weights(tmp_path / "one"), weights(trained / case)
    assert first.keys() == second.keys()
    assert all(torch.allclose(first[name], second[name], atol=1e-3) for name in first)
    record = json.loads((trained / case / "training.json").read_text())
    assert record["processes"].startswith("2 processes")


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_two_processes_of_which_one_was_killed_go_on(kind: str, trained: Path) -> None:
    whole, killed = trained / f"{kind}-language", trained / f"{kind}-language-killed"
    assert losses(whole) == losses(killed)
    first, second = weights(whole), weights(killed)
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not (killed / "training").exists()


def test_torchrun_starts_the_command(folder: Path, tmp_path: Path) -> None:
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = ["-m", "gradeschool", "finetune", "-m", "new:0.05M", "-d", folder / "sums.jsonl",
             "-o", tmp_path / "model", "--vocabulary", 300, "--epochs", 0.5, "--processes", 2,
             "--parallel", "ddp"]  # fmt: skip
    ended = subprocess.run(
        [sys.executable, *map(str, [*launcher, *arguments])],
        capture_output=True,
        text=True,
        env=environment({"OMP_NUM_THREADS": "1"}),
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("2 processes on cpu, DDP") == 1  # said once, by the first
    record = json.loads((tmp_path / "model/training.json").read_text())
    assert (record["status"], record["processes"]) == ("finished", "2 processes on cpu, DDP")


def test_a_launcher_that_starts_one_process_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    message = r"2 processes were requested, 1 started: `accelerate launch --cpu`.*torchrun"
    with pytest.raises(InputError, match=message), joined("ddp", 2):
        pass
    with joined("ddp", 1) as world:
        assert (world.size, world.first) == (1, True)
        assert world.describe() == "1 process on cpu"
        monkeypatch.setenv("ACCELERATE_USE_CPU", "True")
        assert "accelerate launch starts no more" in world.describe()


def test_more_processes_than_gpus_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch would say "invalid device ordinal"."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    message = r"process 2 of this machine has no GPU of its own \(GPUs: 1\); start as many with"
    with pytest.raises(InputError, match=message), joined("ddp", 2):
        pass
