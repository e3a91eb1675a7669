"""How fast completions are scored: ours and the published harnesses on the same texts, in turn.

    python benchmarks/scoring.py [--corpus hashes distinct mix] [--rounds 3] [--json] [--no-peers]

One of our scorers stands beside the same scorer in its harness, and all closed-form scorers at once
beside lm-eval's two filters. Peers run in their own environments (`python tests/peers/install.py`),
slow ones on the stated part of the rows, evenly spread; one that is not installed is passed over in
words. Each round asks everyone once; medians are of seconds of CPU, so that a busy machine disturbs
little. A matrix is new in every round: what it remembers, it learns in that round. What numba needs
before its first verdict is told apart.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.scoring_corpora import Corpus, corpora
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, get_scorer
from gradeschool.scoring import fast
from gradeschool.scoring.matrix import Matrix
from tests.peers.install import missing, python_of

Row = tuple[str, Problem]
BATCH = 1000  # rows that files are scored in
WORKER = Path(__file__).with_name("scoring_worker.py")
# Scorers whose verdict is ours, not a published one; it reads the question too.
OWN = ("gradeschool/reader",)
OFFICIAL = re.compile(r"#### (\-?[0-9\.\,]+)")
FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


class PeerOf(NamedTuple):
    """A peer's scorer, its environment, our same scorers, and its part of the rows."""

    scorer: str
    environment: str
    scorers: tuple[str, ...]
    every: int


PEERS = (
    PeerOf(
        "lm_eval", "lm_eval", ("lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"), 50
    ),
    PeerOf("inspect", "inspect_ai", ("inspect/match-numeric@>=0.3.253",), 10),
    PeerOf("math_verify", "verifiers", (), 100),
    PeerOf("opencompass", "opencompass", ("opencompass/gsm8k",), 10),
    PeerOf("verl_strict", "verl", ("verl/gsm8k/strict",), 1),
    PeerOf("verl_flexible", "verl", ("verl/gsm8k/flexible",), 1),
)


class Timed(NamedTuple):
    """What one contestant did in one round."""

    seconds: float
    rows: int


Contest = dict[str, Callable[[], Timed]]


def timed(rows: Sequence[Row], work: Callable[[], object]) -> Timed:
    start = time.process_time()
    work()
    return Timed(time.process_time() - start, len(rows))


def alone(names: Sequence[str], rows: Sequence[Row]) -> None:
    """Judge by a few scorers, one after the other, without anything that the matrix shares."""
    for scorer in map(get_scorer, names):
        references: dict[str, str] = {}
        for text, problem in rows:
            reference = references.get(problem.id)
            if reference is None:
                reference = references[problem.id] = scorer.reference(problem)
            scorer.outcome(text, reference)


def bare_official(rows: Sequence[Row]) -> int:
    """Count right answers by the shortest script for "#### N"."""
    golds = {problem.id: problem.gold.replace(",", "") for _, problem in rows}
    found = ((OFFICIAL.search(text), problem.id) for text, problem in rows)
    return sum(one is not None and one[1].replace(",", "") == golds[at] for one, at in found)


def bare_flexible(rows: Sequence[Row]) -> int:
    """Count right answers by the shortest script for the last number, with findall."""
    golds = {problem.id: problem.gold.replace(",", "") for _, problem in rows}
    found = ((FLEXIBLE.findall(text), problem.id) for text, problem in rows)
    return sum(
        bool(one) and max(one[-1]).replace(",", "").replace("$", "").rstrip(".") == golds[at]
        for one, at in found
    )


def closed_form(own: bool) -> list[str]:
    """Return the names of the scorers that call no library."""
    return [
        name
        for name, scorer in all_scorers().items()
        if not scorer.extra and (own or name not in OWN)
    ]


def together(names: Sequence[str], rows: Sequence[Row]) -> None:
    """Judge by all these scorers at once, as a matrix without compiled code does."""
    codes = Matrix([get_scorer(name) for name in names]).codes
    for text, problem in rows:
        codes(text, problem)


def compiled(names: Sequence[str], rows: Sequence[Row]) -> None:
    """Do the same in batches, as files are scored; by compiled code where numba is installed."""
    matrix = Matrix([get_scorer(name) for name in names])
    for at in range(0, len(rows), BATCH):
        matrix.codes_of(rows[at : at + BATCH])


def start(rows: Sequence[Row]) -> dict[str, float]:
    """Compile what is not on disk, then return the seconds of CPU that loading and compiling take.

    Loading is measured in a process of its own. Nothing where numba is not installed.
    """
    if find_spec("numba") is None:
        return {}
    names = closed_form(own=False)
    fast.TO_LOAD = fast.TO_COMPILE = 0
    first = timed(rows[:1], lambda: compiled(names, rows[:1])).seconds
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        again = pool.submit(load, names).result()
    return {"first": first, "load": again}


def load(names: Sequence[str]) -> float:
    """Return the seconds of CPU from the import of numba to the first verdict."""
    fast.TO_LOAD = fast.TO_COMPILE = 0
    row = ("#### 18", Problem.from_gold("18"))
    return timed([row], lambda: compiled(names, [row])).seconds


shared_rows: Sequence[Row] = ()


def half(job: tuple[list[str], int]) -> float:
    """In a process of its own: judge every second problem's completions; return seconds of CPU."""
    names, remainder = job
    own = [row for row in shared_rows if int(row[1].id) % 2 == remainder]
    return timed(own, lambda: compiled(names, own)).seconds


def two_processes(names: list[str], rows: Sequence[Row]) -> Timed:
    """Judge in two processes; the seconds are those of the slower one."""
    global shared_rows
    shared_rows = rows
    with ProcessPoolExecutor(2) as pool:
        return Timed(max(pool.map(half, [(names, 0), (names, 1)])), len(rows))


class Peer:
    """A peer's process with its rows."""

    def __init__(self, peer: PeerOf, rows: Sequence[Row], folder: Path) -> None:
        file = folder / f"{peer.scorer}.json"
        picked = [[text, problem.gold, problem.solution] for text, problem in rows[:: peer.every]]
        file.write_text(json.dumps(picked), "utf-8")
        self.process = subprocess.Popen(
            [python_of(peer.environment), WORKER, peer.scorer, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )

    def round(self) -> Timed:
        """Ask for one round."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("a peer died; run its worker by hand: benchmarks/scoring_worker.py")
        found = json.loads(answer)
        return Timed(found["seconds"], found["rows"])

    def end(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def contest(rows: list[Row], peers: dict[PeerOf, Peer], memory: bytes) -> Contest:
    """Return everyone who takes part, by name, in the order of the table."""
    published, every = closed_form(own=False), closed_form(own=True)
    found: Contest = {
        "bare re: official": lambda: timed(rows, lambda: bare_official(rows)),
        "ours: openai/2021": lambda: timed(rows, lambda: alone(["openai/2021"], rows)),
        "bare re: flexible": lambda: timed(rows, lambda: bare_flexible(rows)),
        "ours: lm-eval/gsm8k/flexible-extract": lambda: timed(
            rows, lambda: alone(["lm-eval/gsm8k/flexible-extract"], rows)
        ),
    }
    for peer, process in peers.items():
        found[f"peer: {peer.scorer}"] = process.round
        if peer.scorers:
            found[f"ours: {' + '.join(peer.scorers)}"] = partial(
                timed, rows, partial(alone, peer.scorers, rows)
            )
    found[f"ours: {len(published)} published scorers"] = lambda: timed(
        rows, lambda: together(published, rows)
    )
    found[f"ours: {len(published)} published scorers, compiled"] = lambda: timed(
        rows, lambda: compiled(published, rows)
    )
    if len(every) > len(published):
        found[f"ours: {len(every)} scorers, {', '.join(OWN)} too"] = lambda: timed(
            rows, lambda: together(every, rows)
        )
    found[f"ours: {len(published)} published scorers, compiled, 2 processes"] = lambda: (
        two_processes(published, rows)
    )
    found["limit: bytes.count over all texts"] = lambda: timed(rows, lambda: memory.count(b"\0"))
    found["limit: a copy of all texts"] = lambda: timed(rows, lambda: bytearray(memory))
    return found


def tell(what: str) -> None:
    """Show what is being done, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{what}\033[K", end="", file=sys.stderr, flush=True)


def measure(corpus: Corpus, rounds: int, with_peers: bool) -> dict[str, Any]:
    """Return the median rates of everyone on a corpus."""
    memory = "".join(text for text, _ in corpus.rows).encode("utf-8", "surrogatepass")
    peers: dict[PeerOf, Peer] = {}
    passed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for peer in PEERS if with_peers else ():
            if why := missing(peer.environment):
                passed.append(f"{peer.scorer}: {why}")
            else:
                peers[peer] = Peer(peer, corpus.rows, Path(folder))
        found = contest(corpus.rows, peers, memory)
        seconds: dict[str, list[Timed]] = {name: [] for name in found}
        for number in range(rounds):
            for name, work in found.items():
                tell(f"round {number + 1}: {name}")
                seconds[name].append(work())
        tell("")
        for process in peers.values():
            process.end()
    rates = {
        name: {
            "per_second": median(one.rows / max(one.seconds, 1e-9) for one in rounds_of_one),
            "rows": rounds_of_one[0].rows,
        }
        for name, rounds_of_one in seconds.items()
    }
    each = len(memory) / len(corpus.rows)
    return {"corpus": corpus.name, "about": corpus.about, "bytes_each": each, "rates": rates,
            "passed_over": passed}  # fmt: skip


def show(result: dict[str, Any]) -> None:
    """Print a corpus's table: rates, and ours against the peer or bare script above it."""
    rates = result["rates"]
    print(f"\n{result['corpus']}: {result['about']}; {result['bytes_each']:.0f} bytes each")
    print(f"  {'completions/s':>15} {'us each':>9} {'rows':>8}  of CPU, medians")
    above = None
    for name, one in rates.items():
        rate = one["per_second"]
        if name.startswith(("peer", "bare")):
            above = rate
        beside = f"   {rate / above:.2f} x" if above and name.startswith("ours") else ""
        above = None if name.startswith("ours") else above
        print(f"  {rate:15,.0f} {1e6 / rate:9.2f} {one['rows']:8,}  {name}{beside}")
    all_at_once = 0.0
    for how in ("published scorers", "published scorers, compiled"):
        all_at_once = next(one["per_second"] for name, one in rates.items() if name.endswith(how))
        if "peer: lm_eval" in rates:
            ratio = all_at_once / rates["peer: lm_eval"]["per_second"]
            print(f"  all {how} at once against lm-eval's two filters: {ratio:.0f} x")
    for limit in (name for name in rates if name.startswith("limit")):
        share = all_at_once / rates[limit]["per_second"]
        gigabytes = rates[limit]["per_second"] * result["bytes_each"] / 1e9
        print(f"  {share:.2%} of {limit.removeprefix('limit: ')} ({gigabytes:.1f} GB/s)")
    for passed in result["passed_over"]:
        print(f"  passed over: {passed}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the scoring of completions.")
    names = ["hashes", "distinct", "mix"]
    parser.add_argument("--corpus", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    seconds = start([("#### 18", Problem.from_gold("18"))])
    if seconds:
        print(
            "numba, seconds of CPU before the first verdict, in no rate below: "
            f"{seconds['first']:.1f} here, {seconds['load']:.2f} from disk",
            file=sys.stderr,
        )
    for corpus in corpora(options.corpus):
        result = measure(corpus, options.rounds, not options.no_peers)
        if options.json:
            print(json.dumps(result), flush=True)
        else:
            show(result)


if __name__ == "__main__":
    main()
