"""Count the functions of the package that one further completion crosses.

    python benchmarks/trace_calls.py [--list] [--json] [--package FOLDER]

Three ways are traced with sys.setprofile, each in a process of its own:
    score   one further completion in `gradeschool score` under the scorer openai/2021
    all     the same under all closed-form scorers
    eval    one further prompt to its stored and scored row in `gradeschool eval`, against a
            server on this machine, with the answer extractor as the scorer
    judge   a second `judge()` with the scorer openai/2021

For the commands a run of ROWS completions is compared with one of ROWS + 1, of the same dataset: a
function is crossed if it is called more often, in both of two repetitions. Comprehensions and
generator expressions belong to their function. Printed: distinct functions and the distinct files
that they are in, then the same without what reads an answer: the folders of ANSWERING, whose depth
is another matter.
--list prints their names. --package: the folder that holds another copy of gradeschool, such as
the `src` of an older commit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

ROWS = 100  # more than are looked at to find out how a file names its problems
FURTHER = 48  # the row that only the longer run has; it ends in "#### N"
SCORER = "openai/2021"
ANSWERING = ("answers", "protocols")
# Every way that a completion may end; the last row of a run is always of the first kind.
ENDINGS = ("#### {}", "So the answer is {}.", "That makes {} in all", "\\boxed{{{}}}")


def texts(index: int, kind: int) -> tuple[str, str, str]:
    """Return a question, a completion that answers it, and the reference solution."""
    total = index + 7
    question = f"Mia has {index} pears and buys 7. How many pears has she now?"
    reasoning = f"Mia has {index} + 7 = {total} pears."
    ending = ENDINGS[kind % len(ENDINGS)].format(total)
    return question, f"{reasoning}\n{ending}", f"{reasoning}\n#### {total}"


def rows(count: int) -> list[tuple[str, str, str]]:
    return [texts(index, (count - 1 - index)) for index in range(count)]


def traced(work: Callable[[], object]) -> Counter[str]:
    """Return how often each function of the package is called, as FILE:LINE:NAME."""
    spec = find_spec("gradeschool")
    assert spec is not None and spec.origin is not None
    package = str(Path(spec.origin).parent) + os.sep
    calls: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
            function = name.split(".<locals>.<")[0]
            if not function.startswith("<"):
                file = code.co_filename.removeprefix(package)
                calls[f"{file}:{function}"] += 1

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def command(*words: str) -> None:
    """Run a command line of the package in this process, its output thrown away."""
    from gradeschool.cli import main

    sys.argv = ["gradeschool", *words]
    with (
        Path(os.devnull).open("w") as sink,
        redirect_stdout(sink),
        redirect_stderr(sink),
        suppress(SystemExit),
    ):
        main()


def write(path: Path, objects: Iterable[object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in objects), encoding="utf-8")
    return str(path)


def trace_score(count: int, folder: Path, *options: str) -> Counter[str]:
    problems = [{"question": question, "answer": gold} for question, _, gold in rows(ROWS + 1)]
    completions = [
        {"index": index, "completion": text}
        for index, (_, text, _) in enumerate(rows(ROWS + 1))
        if index != FURTHER or count > ROWS
    ]
    dataset = write(folder / "problems.jsonl", problems)
    file = write(folder / "completions.jsonl", completions)
    return traced(lambda: command("score", file, *options, "-d", dataset, "--json"))


def trace_eval(count: int, folder: Path) -> Counter[str]:
    problems = [{"question": question, "answer": gold} for question, _, gold in rows(count)]
    dataset = write(folder / "problems.jsonl", problems)
    answers = {question: text for question, text, _ in rows(count)}
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(answers)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model = f"http://127.0.0.1:{server.server_port}/v1/m"
        words = ("eval", "-m", model, "-p", "zero-shot/chat", "-d", dataset, "--connections", "2")
        calls = traced(lambda: command(*words, "-o", str(folder / "run"), "--json"))
        server.shutdown()
    stored = (folder / "run" / "completions.jsonl").read_text("utf-8").count("\n")
    assert stored == count, f"{stored} of {count} completions were stored"
    return calls


def handler(answers: dict[str, str]) -> type[BaseHTTPRequestHandler]:
    """Return a server's answers to chat requests: the completion of the question in them."""

    class Chat(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply({"data": [{"id": "m"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = json.dumps(body["messages"])
            text = next(text for question, text in answers.items() if question in prompt)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
            self.reply({"model": "m", "choices": [choice], "usage": usage})

        def reply(self, body: dict[str, object]) -> None:
            payload = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None: ...

    return Chat


def trace_judge() -> Counter[str]:
    from gradeschool import judge

    judge("So 3 + 4 = 7.\n#### 7", "so\n#### 7", SCORER)
    return traced(lambda: judge("So 5 + 4 = 9.\n#### 9", "so\n#### 9", SCORER))


WAYS: dict[str, Callable[[int, Path], Counter[str]]] = {
    # Older commits know --scorer by its alias alone.
    "score": lambda count, folder: trace_score(count, folder, "--rule", SCORER),
    "all": trace_score,
    "eval": trace_eval,
    "judge": lambda count, folder: trace_judge(),
}


def measured(way: str, count: int, package: str | None) -> Counter[str]:
    """Return the calls of one way, traced in another process."""
    environment = os.environ | ({"PYTHONPATH": package} if package else {})
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, __file__, "--worker", way, str(count)],
            env=environment,
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return Counter(json.loads(process.stdout))


def crossed(way: str, package: str | None) -> set[str]:
    """Return the functions that one further completion crosses."""
    if way == "judge":
        return set(measured(way, 1, package))
    repetitions = [
        set(measured(way, ROWS + 1, package) - measured(way, ROWS, package)) for _ in range(2)
    ]
    return set.intersection(*repetitions)


def counted(names: list[str]) -> str:
    files = {name.partition(":")[0] for name in names}
    return f"{len(names)} functions in {len(files)} files"


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the functions that a completion crosses.")
    parser.add_argument("--list", action="store_true", help="print the functions")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--package", metavar="FOLDER", help="where another gradeschool lies")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        way, count = options.worker
        print(json.dumps(WAYS[way](int(count), Path.cwd())))
        return
    functions = {way: sorted(crossed(way, options.package)) for way in WAYS}
    if options.json:
        print(json.dumps(functions))
        return
    for way, names in functions.items():
        others = [name for name in names if name.partition("/")[0] not in ANSWERING]
        print(f"{way:<6} {counted(names)}; without {', '.join(ANSWERING)}: {counted(others)}")
        if options.list:
            print(*(f"    {name}" for name in names), sep="\n")


if __name__ == "__main__":
    main()
