"""`python -m tests.support.two_processes FOLDER CASE...`: one of two processes that train cases.

A case is KIND-WHAT, or KIND-WHAT-killed: then the first process dies by SIGKILL in the middle if
the training is new, and the other one ends because its partner has died.
"""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.command import environment

SAVE_EVERY, LAST = 2, 3  # updates of the killed process, of which two are stored
KILLED = "killed"
COMMON: dict[str, Any] = {"batch": 8, "epochs": 1.0}


def train(folder: Path, what: str, output: Path, **how: Any) -> None:
    """Train a generator ("language") or a verifier of some level into a folder."""
    from gradeschool.verifier.finetune import Finetuning, finetune
    from gradeschool.verifier.session import Session
    from gradeschool.verifier.train_verifier import Level, VerifierTraining, train_verifier

    problems = str(folder / "sums.jsonl")
    if what == "language":
        settings = Finetuning("new:0.2M", problems, lr=1e-3, warmup=2, vocabulary=300, **COMMON)
        finetune(settings, Session(output, save_every=SAVE_EVERY, **how))
        return
    task = VerifierTraining(
        str(folder / "generator"), str(folder / "samples.jsonl"), dataset=problems,
        level=Level(what), lr=1e-2, **COMMON,
    )  # fmt: skip
    train_verifier(task, Session(output, save_every=SAVE_EVERY, **how))


def start(folder: Path, *cases: str) -> "list[subprocess.Popen[str]]":
    """Start both processes, as a launcher does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    variables = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.two_processes", str(folder), *cases],
            env=environment({**variables, "RANK": str(rank), "LOCAL_RANK": str(rank)}),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip


def main(folder: Path, cases: list[str]) -> None:
    """Train all cases with the other process."""
    from gradeschool.verifier.parallel import joined
    from gradeschool.verifier.session import Listener

    def die(update: Any) -> None:
        if update.number == LAST:
            os.kill(os.getpid(), signal.SIGKILL)

    with joined("ddp", 2) as world:
        for case in cases:
            kind, what, *killed = case.split("-")
            here: Any = replace(world, kind=kind)  # type: ignore[arg-type]
            fresh = not (folder / case).exists()
            how = {"listener": Listener(update=die)} if killed and fresh else {}
            train(folder, what, folder / case, world=here, **how)
            if world.first:
                print(case, here.describe(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
