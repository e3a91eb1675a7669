"""Count the functions of the package that one further completion crosses.

    python benchmarks/trace_calls.py [--list] [--json] [--package FOLDER]

The ways are traced with sys.setprofile, each in a process of its own:
    score   one further completion in `gradeschool score` under the scorer openai/2021
    all     the same under all closed-form scorers
    judge   a second `judge()` with the scorer openai/2021
    prompt  the second prompt of `gradeschool eval` to its stored row, against a server on this
            machine that gets one request at a time
    after   what the same command does with a row once it is stored: score and show it, with the
            answer extractor as the scorer

For `score` and `all` a run of ROWS completions is compared with one of ROWS + 1, of the same
dataset: a function is crossed if it is called more often, in both of two repetitions.
`prompt` is all that runs from the moment in which the second request reaches the server to that in
which the third does, once round: the reply is read, the row is written, the next request is sent.
What a task of the event loop runs that also calls a scorer is not counted there but as `after`,
which counts every such task before the last request. What a run does once comes before or after.

Comprehensions and generator expressions belong to their function. Printed: distinct functions and
the distinct files that they are in, then the same without what reads an answer: the folders of
ANSWERING, whose depth is another matter.
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
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

ROWS = 100  # more than are looked at to find out how a file names its problems
FURTHER = 48  # the row that only the longer run has; it ends in "#### N"
PROMPTS = 6  # of `eval`; the second is looked at
REPLY_SECONDS = 0.05  # longer than a stored row waits to be scored
SCORER = "openai/2021"
ANSWERING = ("answers", "protocols")
FILES = ("score", "all")  # the ways that read a file
LOOP = f"asyncio{os.sep}events.py"
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


def package_folder() -> str:
    spec = find_spec("gradeschool")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).parent) + os.sep


def function_of(frame: FrameType, package: str) -> str:
    """Return a frame's function as FILE:NAME, "" for one of another package or of no function."""
    code = frame.f_code
    if not code.co_filename.startswith(package):
        return ""
    name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    function = name.split(".<locals>.<")[0]
    return (
        "" if function.startswith("<") else f"{code.co_filename.removeprefix(package)}:{function}"
    )


def task_of(frame: FrameType | None) -> str:
    """Return what the event loop runs: the outermost coroutine or callback above a frame."""
    outermost = ""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_run" and code.co_filename.endswith(LOOP):
            return outermost
        outermost = f"{code.co_filename}:{code.co_firstlineno}"
        frame = frame.f_back
    return ""


def traced(work: Callable[[], object], note: Callable[[str, FrameType], None]) -> None:
    """Run some work; give each call of a function of the package to `note`, with its frame."""
    package = package_folder()

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (function := function_of(frame, package)):
            note(function, frame)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def calls_of(work: Callable[[], object]) -> Counter[str]:
    """Return how often each function of the package is called."""
    calls: Counter[str] = Counter()
    traced(work, lambda function, _: calls.update((function,)))
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
    return calls_of(lambda: command("score", file, *options, "-d", dataset, "--json"))


def trace_eval(folder: Path, way: str) -> Counter[str]:
    """Return the calls that the second prompt needs up to its row, or those after it."""
    problems = [{"question": question, "answer": gold} for question, _, gold in rows(PROMPTS)]
    dataset = write(folder / "problems.jsonl", problems)
    arrived: list[str] = []
    calls: list[tuple[int, str, str]] = []  # requests that had arrived, the task, the function
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(rows(PROMPTS), arrived)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model = f"http://127.0.0.1:{server.server_port}/v1/m"
        words = ("eval", "-m", model, "-p", "zero-shot/chat", "-d", dataset, "--connections", "1")
        traced(
            lambda: command(*words, "-o", str(folder / "run"), "--json"),
            lambda name, frame: calls.append((len(arrived), task_of(frame), name)),
        )
        server.shutdown()
    stored = (folder / "run" / "completions.jsonl").read_text("utf-8").count("\n")
    assert stored == PROMPTS, f"{stored} of {PROMPTS} completions were stored"
    scoring = {task for count, task, name in calls if count and name.startswith(ANSWERING) and task}
    if way == "prompt":
        return Counter(name for count, task, name in calls if count == 2 and task not in scoring)
    return Counter(name for count, task, name in calls if 0 < count < PROMPTS and task in scoring)


def handler(
    problems: Sequence[tuple[str, str, str]], arrived: list[str]
) -> type[BaseHTTPRequestHandler]:
    """Return a server's answers to chat requests: the completion of the question in them.

    arrived: gets the question of each request when it arrives.
    """

    class Chat(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.reply({"data": [{"id": "m"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = json.dumps(body["messages"])
            question, text, _ = next(row for row in problems if row[0] in prompt)
            arrived.append(question)
            time.sleep(REPLY_SECONDS)
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
    return calls_of(lambda: judge("So 5 + 4 = 9.\n#### 9", "so\n#### 9", SCORER))


WAYS: dict[str, Callable[[int, Path], Counter[str]]] = {
    # Older commits know --scorer by its alias alone.
    "score": lambda count, folder: trace_score(count, folder, "--rule", SCORER),
    "all": trace_score,
    "judge": lambda count, folder: trace_judge(),
    "prompt": lambda count, folder: trace_eval(folder, "prompt"),
    "after": lambda count, folder: trace_eval(folder, "after"),
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
    if way not in FILES:
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
        print(f"{way:<7}{counted(names)}; without {', '.join(ANSWERING)}: {counted(others)}")
        if options.list:
            print(*(f"    {name}" for name in names), sep="\n")


if __name__ == "__main__":
    main()
