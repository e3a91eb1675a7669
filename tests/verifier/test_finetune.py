"""`gradeschool finetune`: the folder that it makes, and resuming."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.verifier.session import Session  # noqa: E402
from gradeschool.verifier.training import Precision, SaveDtype  # noqa: E402
from tests.support.command import Command, environment  # noqa: E402
from tests.support.command import gradeschool as gradeschool  # noqa: E402  # a fixture
from tests.support.trainees import sums, write_problems  # noqa: E402

QUICK = ("--vocabulary", 300, "--batch", 8, "--quiet")
SHORT = ("--epochs", 2)
PROBLEMS, EPOCHS = 48, 3
DTYPES: tuple[SaveDtype | None, ...] = (None, "float32")
PRECISIONS: tuple[tuple[Precision | None, int], ...] = ((None, 0), ("bfloat16", 1))


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_problems(tmp_path_factory.mktemp("data") / "sums.jsonl", PROBLEMS)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    """The command in a process of its own."""
    words = [sys.executable, "-m", "gradeschool", "finetune", *map(str, arguments)]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({})
    )


def wait_for(there: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while not there():
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < end
        time.sleep(0.02)


# The folder


@pytest.fixture(scope="module")
def trained_folder(problems: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the command made."""
    from gradeschool.cli import main

    folder = tmp_path_factory.mktemp("models") / "made"
    arguments = ("-m", "new:0.2M", "-d", problems, "-o", folder, *QUICK, "--dev", problems,
             "--dev-problems", 3, "-k", 2, "--epochs", EPOCHS)  # fmt: skip
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["gradeschool", "finetune", *map(str, arguments)])
        patch.setenv("PYTHONSAFEPATH", "1")  # which main sets
        main()
    assert ended.value.code == 0
    return folder


def test_the_folder_is_a_plain_model_with_a_record(trained_folder: Path, problems: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    names = {file.name for file in trained_folder.iterdir()}
    assert names == {
        "config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json", "training.json", "losses.jsonl", "curves.jsonl",
    }  # fmt: skip
    model: Any = AutoModelForCausalLM.from_pretrained(trained_folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(trained_folder, local_files_only=True)
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id == 1
    assert model.generation_config.pad_token_id == tokenizer.pad_token_id == 0
    prompt = tokenizer(f"{sums(1)[0].question}\n", return_tensors="pt")
    written = model.generate(**prompt, max_new_tokens=5, do_sample=False)
    assert written.shape[1] > prompt["input_ids"].shape[1]
    record = json.loads((trained_folder / "training.json").read_text())
    assert record["status"] == "finished"
    assert record["updates"] == PROBLEMS * EPOCHS // 8
    assert record["settings"]["optimizer"] == "muon"
    assert len(record["settings"]["dataset_sha256"]) == len(record["digest"]) == 64
    assert record["command"].startswith("gradeschool finetune -m new:0.2M")
    assert record["tokens"] > 0 < record["seconds"]
    assert record["losses"]["language"] < 8


def test_the_curves_have_a_row_an_epoch(trained_folder: Path) -> None:
    rows = [json.loads(line) for line in (trained_folder / "curves.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert rows[-1]["dev_loss"] < rows[0]["dev_loss"]
    for row in rows:
        assert row["k"] == 2
        assert 0 <= row["mean@k"] <= row["test@k"] <= 1
        assert 0 <= row["test@1"] <= 1


def test_the_tokenizer_writes_any_text_back(trained_folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(trained_folder, local_files_only=True)
    for text in (
        "Tom pays $1,048.50 – naïve? 東京 🙂\n<<2*3=6>>6",
        "  two  spaces\t\n\n",
        "a\u200bb",
    ):
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
    digits = tokenizer.convert_ids_to_tokens(tokenizer("<<48/2=24>>24")["input_ids"])
    assert [token for token in digits if any(char.isdigit() for char in token)] == list("4822424")


def test_the_folder_is_evaluated_and_continued(
    trained_folder: Path, problems: Path, gradeschool: Command, tmp_path: Path
) -> None:
    ended = gradeschool(
        "eval",
        "-m",
        f"transformers/{trained_folder}",
        "-p",
        "openai/2021",
        "-d",
        problems,
        "-n",
        3,
        "-o",
        tmp_path / "run",
        "--quiet",
        "--json",
    )
    assert ended.status == 0, ended.err
    assert ended.json()["runs"][0]["n"] == 3
    ended = gradeschool(
        "finetune",
        "-m",
        trained_folder,
        "-d",
        problems,
        "-o",
        tmp_path / "more",
        "-n",
        9,
        "--epochs",
        1,
        "--batch",
        4,
        "--dropout",
        0.2,
        "--loss-on",
        "both",
        "--json",
    )
    assert ended.status == 0, ended.err
    assert ended.json()["settings"]["optimizer"] == "adam"
    assert ended.json()["updates"] == 2
    assert "9 examples, 2 updates of 4; 1 process on cpu" in ended.err


def test_small_updates_are_kept_in_float32_and_lost_in_the_bfloat16_of_the_base(
    problems: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    from gradeschool.verifier.finetune import Finetuning, finetune
    from tests.support.trainees import tokenizer_of, trainee

    tokenizer = tokenizer_of(sums(40))
    trainee(tokenizer).bfloat16().save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    before = load_file(tmp_path / "base" / "model.safetensors")
    unchanged: dict[SaveDtype | None, float] = {}
    for save_dtype in DTYPES:
        settings = Finetuning(str(tmp_path / "base"), str(problems), limit=8, batch=4, epochs=1.0,
                              lr=1e-6, save_dtype=save_dtype)  # fmt: skip
        output = tmp_path / str(save_dtype)
        finetune(settings, Session(output))
        after = load_file(output / "model.safetensors")
        dtypes = {str(weight.dtype).removeprefix("torch.") for weight in after.values()}
        assert dtypes == {save_dtype or "bfloat16"}
        same = sum(int((after[name] == before[name]).sum()) for name in before)
        unchanged[save_dtype] = same / sum(weight.numel() for weight in before.values())
    assert unchanged[None] > 0.95
    assert unchanged["float32"] < 0.5


def test_bfloat16_passes_on_a_cpu_are_warned_of(problems: Path, tmp_path: Path) -> None:
    from gradeschool.verifier.finetune import Finetuning, finetune
    from gradeschool.verifier.session import SLOW_BFLOAT16, Listener

    for precision, notes in PRECISIONS:
        settings = Finetuning("new:0.05M", str(problems), limit=4, batch=4, epochs=1.0, lr=1e-3,
                              vocabulary=300, precision=precision)  # fmt: skip
        received: list[str] = []
        finetune(
            settings, Session(tmp_path / str(precision), listener=Listener(note=received.append))
        )
        assert received.count(SLOW_BFLOAT16) == notes


def test_llama_cpp_reads_the_folder_and_writes_the_same(
    trained_folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("gguf")
    pytest.importorskip("xllamacpp")
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from gradeschool.models.gguf_file import write_gguf
    from tests.support.llama_server import llama_server

    model: Any = AutoModelForCausalLM.from_pretrained(trained_folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(trained_folder, local_files_only=True)
    write_gguf(trained_folder, tmp_path / "made.gguf")

    def ask(address: str, **fields: Any) -> Any:
        request = Request(
            address, json.dumps(fields).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(request, timeout=60) as reply:
            return json.load(reply)

    with llama_server(tmp_path / "made.gguf") as url:
        for problem in sums(8)[::4]:
            prompt = f"{problem.question}\n"
            tokens = tokenizer(prompt + problem.solution)["input_ids"]
            root = url.removesuffix("/v1")
            assert ask(f"{root}/tokenize", content=prompt + problem.solution)["tokens"] == tokens
            reply = ask(f"{url}/completions", prompt=prompt, temperature=0, max_tokens=20)
            ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
            written = model.generate(ids, max_new_tokens=20, do_sample=False)[0, ids.shape[1] :]
            expected = tokenizer.decode(written, skip_special_tokens=True)
            assert reply["choices"][0]["text"] == expected


# Resuming


def test_a_killed_training_resumed_gives_the_bytes_of_one_that_was_not(
    problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    options = ("-m", "new:0.2M", "-d", problems, *QUICK, "--epochs", 4, "--save-every", 5,
               "--dropout", 0.2)  # fmt: skip
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(*options, "-o", killed)
    wait_for((killed / "training" / "checkpoint.safetensors").exists, process)
    process.kill()  # at update 5 or a little behind, of 24; an epoch has 6
    process.communicate()
    assert not (killed / "model.safetensors").exists()
    assert json.loads((killed / "training.json").read_text())["status"] == "running"
    assert gradeschool("finetune", *options, "-o", killed).status == 0
    assert gradeschool("finetune", *options, "-o", whole).status == 0
    assert (killed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    updates = [
        [json.loads(row)["update"] for row in (folder / "losses.jsonl").read_text().splitlines()]
        for folder in (killed, whole)
    ]
    assert updates[0] == updates[1] == list(range(1, 25))


def test_an_interrupt_saves_and_the_same_command_goes_on(
    problems: Path, tmp_path: Path, gradeschool: Command
) -> None:
    folder = tmp_path / "model"
    options = ("-m", "new:0.2M", "-d", problems, "-o", folder, *QUICK, "--epochs", 10)
    process = start(*options)
    wait_for((folder / "training" / "losses.jsonl").exists, process)
    wait_for(lambda: (folder / "training" / "losses.jsonl").stat().st_size > 0, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err.decode()
    match = re.search(rb"the same command resumes from update (\d+)", err)
    assert match
    ended = gradeschool("finetune", *options, "--json")
    assert ended.status == 0
    assert ended.json()["updates"] == 60
    again = gradeschool("finetune", *options, "--json")
    assert again.json() == ended.json()


# What is refused, and nothing is overwritten


def test_another_command_on_the_folder_is_refused(
    trained_folder: Path, problems: Path, gradeschool: Command
) -> None:
    before = contents(trained_folder)
    ended = gradeschool(
        "finetune", "-m", "new:0.2M", "-d", problems, "-o", trained_folder, "--seed", 7
    )
    assert ended.status == 2
    assert "contains another training: its" in ended.err
    assert "give another folder with -o" in ended.err
    assert contents(trained_folder) == before


def test_problems_longer_than_the_context_are_counted(gradeschool: Command, tmp_path: Path) -> None:
    path = write_problems(tmp_path / "long.jsonl", 6)
    with path.open("a") as file:
        file.write(json.dumps({"question": "How many? " * 700, "answer": "#### 1"}) + "\n")
    folder = tmp_path / "out"
    ended = gradeschool(
        "finetune", "-m", "new:0.2M", "-d", path, "-o", folder, *SHORT, *QUICK[:-1], "--json"
    )
    assert ended.status == 0, ended.err
    assert "1 problems are longer than the model's 1024 tokens and left out: 6" in ended.err
    assert ended.json()["left_out"] == ["6"]
    only = tmp_path / "only.jsonl"
    only.write_text(path.read_text().splitlines()[-1] + "\n")
    ended = gradeschool(
        "finetune", "-m", "new:0.2M", "-d", only, "-o", tmp_path / "none", *SHORT, *QUICK
    )
    assert ended.status == 2
    assert "no example to train on: the longest of 1 has" in ended.err
