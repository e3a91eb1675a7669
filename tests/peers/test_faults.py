"""The faults of tests/support/fault_server.py: what lm-eval and inspect_ai make of them.

docs/runs.md has the table; `python -m tests.peers.test_faults` prints its rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.peers.install import VENVS, missing, python_of
from tests.support.fault_server import (
    FAULTS,
    Behaviour,
    Effect,
    ReceivedRequest,
    fault_server,
    truth,
)

pytestmark = pytest.mark.peers

WORKER = Path(__file__).with_name("faults_worker.py")
PEERS = {"lm_eval_api": "lm-eval 0.4.13", "inspect_ai_server": "inspect_ai 0.3.285"}
SECONDS = 30  # for one evaluation
PROBLEMS, VICTIM = 8, "What is 3 + 0?"
TABLE = Path(__file__).parents[2] / "docs" / "runs.md"


class Worker:
    """A peer in its own process, which evaluates one URL after the other."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process, self.folder, self.count = process, folder, 0

    def evaluate(self, url: str) -> dict[str, Any]:
        """Return what the peer stored of one evaluation."""
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        problems = folder / "problems.jsonl"
        rows = [{"question": f"What is {n} + 0?", "answer": f"#### {n}"} for n in range(PROBLEMS)]
        problems.write_text("\n".join(map(json.dumps, rows)))
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"url": url, "folder": str(folder), "problems": str(problems)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        limit = threading.Timer(SECONDS, self.process.kill)
        limit.start()
        line = self.process.stdout.readline()
        if not line and not limit.is_alive():
            raise TimeoutError
        limit.cancel()
        assert line, (self.folder / "log").read_text("utf-8", "replace")[-2000:]
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def running(peer: str, folder: Path) -> Iterator[Worker]:
    """Start a peer's worker."""
    settings = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder), "NO_PROXY": "127.0.0.1"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [python_of(peer), WORKER, peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=VENVS / peer,
            env=os.environ | settings,
        )
        try:
            yield Worker(process, folder)
        finally:
            process.kill()
            process.communicate()  # closes its streams


class Conduct(NamedTuple):
    """What became of an evaluation in which one problem's replies (or all) have a fault."""

    result: str
    requests: int

    def __str__(self) -> str:
        times = "1 request" if self.requests == 1 else f"{self.requests} requests"
        return f"{self.result}, {times}"


def conduct(worker: Worker, name: str) -> Conduct:
    """Run one evaluation of a peer against a fault."""
    fault = FAULTS[name]
    everywhere = fault.effect is Effect.ANSWERED

    def choose(request: ReceivedRequest) -> Behaviour:
        return fault.behaviour if everywhere or VICTIM in request.question else truth

    with fault_server(choose) as server:
        answer = worker.evaluate(server.url)
        requests = sum(VICTIM in request.question for request in server.requests)
    rows = answer["rows"]
    if answer["error"]:
        return Conduct("the run ends without results", requests)
    texts = [f"The sum is {n}.\n#### {n}" for n in range(PROBLEMS)]
    misplaced = sum(text != texts[n] and text in texts for n, (text, _) in enumerate(rows))
    if misplaced:
        return Conduct(f"{misplaced} of {PROBLEMS} answers are another problem's", requests)
    text, correct = rows[3]
    if text is None:
        return Conduct("failed", requests)
    taken = "correct" if everywhere else "accepted as an answer"
    return Conduct(taken if correct else "scored as wrong", requests)


@pytest.mark.parametrize("peer", PEERS)
def test_the_table_says_what_the_peers_do(peer: str, tmp_path: Path) -> None:
    if reason := missing(peer):
        pytest.skip(reason)
    text = TABLE.read_text("utf-8")
    column = 5 + list(PEERS).index(peer)
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    written = {cells[1].strip(): cells[column].strip() for cells in rows if len(cells) > column}
    with running(peer, tmp_path) as worker:
        for name in ("content that is null", "finish_reason error", "error in the choice"):
            result = written[name].partition(",")[0].replace("*", "")
            assert conduct(worker, name).result == result, name


def main() -> None:
    for peer in PEERS:
        names = sys.argv[1:] or list(FAULTS)
        while names:  # a worker that does not end is killed, and another goes on
            with tempfile.TemporaryDirectory() as folder, running(peer, Path(folder)) as worker:
                while names:
                    name = names.pop(0)
                    try:
                        result = str(conduct(worker, name))
                    except TimeoutError:
                        print(f"{peer} | {name} | does not end in {SECONDS} s", flush=True)
                        break
                    print(f"{peer} | {name} | {result}", flush=True)


if __name__ == "__main__":
    main()
