"""Run against a server that fails at random: no answer may be mis-scored, misplaced or lost.

    python benchmarks/faults.py [--runs 1000] [--seed 1] [--problems 12] [--json]

Each run is a small evaluation in this process, over a real socket, against
tests/support/fault_server.py. A random share of the replies has a random fault, from all faults of
the server except those that stop a run. The run is continued, session by session, until nothing is
missing. Counted over all runs:

    mis-scored      a stored answer is not what the server meant, or is not scored as correct
    misattributed   a stored answer is that of another problem
    lost            a sample has no answer at the end, or an answer that was stored is gone
    asked twice     a sample was requested again after its answer had been stored
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradeschool.models import endpoint
from gradeschool.models.endpoint import Endpoint
from gradeschool.runs import send
from gradeschool.runs.evaluate import evaluate
from gradeschool.runs.job import Job, prepare
from tests.support.fault_server import (
    FAULTS,
    Behaviour,
    Effect,
    FaultServer,
    ReceivedRequest,
    fault_server,
    truth,
)

SECONDS = 0.3  # timeout of a request
MOST_SESSIONS = 60
KINDS = ("mis-scored", "misattributed", "lost", "asked twice")
SLOW = ("no reply", "reply a byte at a time")  # each costs SECONDS, so they are drawn less often


class FaultyRun:
    """One evaluation and what went wrong in it."""

    def __init__(self, folder: Path, seed: int, problems: int) -> None:
        self.folder, self.problems = folder, problems
        self.rng = random.Random(seed)
        self.share = self.rng.choice((0.05, 0.2, 0.4, 0.6))
        names = [name for name, fault in FAULTS.items() if fault.effect is not Effect.STOPPED]
        self.names = self.rng.sample(names, self.rng.randint(1, len(names)))
        self.samples = self.rng.choice((1, 1, 2, 3))
        self.protocol = self.rng.choice(("zero-shot/chat", "openai/2021"))
        self.connections = self.rng.randint(1, 8)
        self.faults: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.sessions = 0

    def choose(self, request: ReceivedRequest) -> Behaviour:
        """Answer correctly, or with one of the faults of this run."""
        if self.rng.random() >= self.share:
            return truth
        name = self.rng.choice(self.names)
        if name in SLOW and self.rng.random() < 0.8:
            return truth
        self.faults[name] += 1
        return FAULTS[name].behaviour

    def rows(self) -> list[dict[str, Any]]:
        """Return the stored rows."""
        path = self.folder / "completions.jsonl"
        text = path.read_text("ascii") if path.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def session(self, server: FaultServer) -> int:
        """Run one session; return the number of samples without an answer."""
        path = self.folder.parent / "problems.jsonl"
        job = Job(
            "faulty", self.protocol, str(path), samples=self.samples, temperature=0.7,
            max_tokens=64, seed=1, connections=self.connections, output=self.folder,
        )  # fmt: skip
        before = {(row["problem_id"], row["sample"]) for row in self.rows() if not row["error"]}
        first = len(server.requests)
        ended = asyncio.run(evaluate(prepare(job, Endpoint(server.url, "faulty", "", SECONDS))))
        for request in server.requests[first:]:
            sample = (numbers_in(request.question)[-2], request.body["seed"] - 1)
            self.wrong["asked twice"] += sample in before
        after = {(row["problem_id"], row["sample"]) for row in self.rows() if not row["error"]}
        self.wrong["lost"] += len(before - after)
        score = ended.score.scorers[0]
        self.wrong["mis-scored"] += score.wrong + score.no_answer
        self.wrong["mis-scored"] += score.correct != ended.answered
        missing: int = ended.results["requested"] - ended.answered
        return missing

    def play(self) -> None:
        """Run sessions until every sample has an answer, and check the stored rows."""
        questions = [
            {"question": f"What is {n} + 0?", "answer": f"#### {n}"} for n in range(self.problems)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in questions)
        (self.folder.parent / "problems.jsonl").write_text(lines)
        with fault_server(self.choose) as server:
            for _ in range(MOST_SESSIONS):
                self.sessions += 1
                if not self.session(server):
                    break
        answers = [row for row in self.rows() if not row["error"]]
        for row in answers:
            meant = f"The sum is {row['problem_id']}.\n#### {row['problem_id']}"
            if row["completion"] != meant:
                other = row["completion"].startswith("The sum is ")
                self.wrong["misattributed" if other else "mis-scored"] += 1
        samples = {(row["problem_id"], row["sample"]) for row in answers}
        self.wrong["lost"] += self.problems * self.samples - len(samples)
        self.wrong["asked twice"] += len(answers) - len(samples)


def numbers_in(question: str) -> list[str]:
    words = question.rpartition("What is ")[2].replace("?", " ").split()
    return [word for word in words if word.isdecimal()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Evaluate against a server that fails at random.")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    send.FIRST_WAIT, endpoint.LARGEST_REPLY = 0.001, 2**16
    wrong: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    faults: Counter[str] = Counter()
    samples = sessions = 0
    for number in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            run = FaultyRun(
                Path(folder) / "run", options.seed * 1_000_003 + number, options.problems
            )
            run.play()
        if +run.wrong:
            print(f"run {number} of seed {options.seed}: {dict(+run.wrong)}", file=sys.stderr)
        wrong.update(run.wrong)
        faults.update(run.faults)
        samples += run.problems * run.samples
        sessions += run.sessions
    figures = {"runs": options.runs, "sessions": sessions, "samples": samples}
    if options.json:
        print(json.dumps({**figures, "faults": faults, "wrong": wrong}))
        return
    print(f"{options.runs} runs, {sessions} sessions, {samples} samples")
    print(f"{faults.total()} faults of {len(faults)} kinds")
    for kind, count in wrong.items():
        print(f"{count:6} {kind}")


if __name__ == "__main__":
    main()
