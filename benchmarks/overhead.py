"""Measure the overhead of a whole `gradeschool eval` against a server with fixed latency.

    python benchmarks/overhead.py [--requests 1319] [--latency 0.1] [--connections 64 256]
                                  [--repeats 3] [--protocol NAME] [--openai PYTHON]
                                  [--lm-eval PYTHON] [--inspect PYTHON]

Compares gradeschool (including command line, store, progress and scores) on the same server, in
turn, with two clients that store nothing: a bare loop of aiohttp, and the minimum in Python, an
asyncio protocol that reads as little of HTTP as possible; and if PYTHON is an interpreter that has
them: OpenAI's AsyncOpenAI, lm-eval's `local-chat-completions`, inspect_ai. Each client and the
server have their own processes. Prints the wall time of the whole process, the share of the limit
(connections / latency) that it reached between first request and last answer, client CPU per
request, peak memory, and the actual latency of the server; medians of the repeats. If the
connections do not divide the requests, the last wave is not full: 1,319 requests take at least 21
latencies at 64 connections (98.1 % of the limit), and 6 at 256 (85.9 %).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.overhead_clients import BARE, INSPECT, LM_EVAL, OPENAI, PROTOCOL

BODY = {
    "id": "reply-0000000000",  # different in each reply, as in real servers
    "object": "chat.completion",
    "created": 0,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "So 6 * 7 = 42. " * 20 + "\n#### 42"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 120, "completion_tokens": 90, "total_tokens": 210},
}
# Compiled modules are kept, as on a user's machine.
ENV = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Figures(NamedTuple):
    """The figures of a client: seconds, share of the limit, CPU ms per request, megabytes.

    latency: of the server, in milliseconds; longer than set if the machine is busy.
    """

    wall: float
    share: float
    cpu_ms: float
    memory: float
    latency: float


class Server:
    """Answers every request after the latency; records the number, first and last of a client."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.before, _, self.behind = reply(json.dumps(BODY).encode()).partition(b"0000000000")
        self.replies = 0
        self.first = self.last = self.waited = 0.0
        self.count = 0

    def answer(self) -> bytes:
        """Return a reply with a new id."""
        self.replies += 1
        return b"%b%010d%b" % (self.before, self.replies, self.behind)

    def figures(self) -> bytes:
        """Return the figures, and reset them."""
        figures = [self.first, self.last, self.count, self.waited / max(1, self.count)]
        self.first = self.last = self.waited = 0.0
        self.count = 0
        return reply(json.dumps(figures).encode())

    async def serve(self) -> None:
        """Serve forever; print the port."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()


class Connection(asyncio.Protocol):
    """One connection: `POST` is answered after the latency, `GET /figures` with the figures.

    It does not use asyncio's streams, which cost as much as a client, because the client is
    measured.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request; a client sends the next one after the answer."""
        self.received += data
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return
        if head.startswith(b"GET ") and not head.startswith(b"GET /figures"):
            self.received = b""  # a client may request facts about the server
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        if head.startswith(b"GET /figures"):
            self.received = b""
            self.transport.write(self.server.figures())
            return
        self.server.first = self.server.first or time.monotonic()
        if len(body) == length_in(head):
            self.received = b""
            self.request_time = time.monotonic()
            asyncio.get_running_loop().call_later(self.server.latency, self.answer)

    def answer(self) -> None:
        """Answer, and record it."""
        self.transport.write(self.server.answer())
        self.server.last = time.monotonic()
        self.server.waited += self.server.last - self.request_time
        self.server.count += 1


def length_in(head: bytes) -> int:
    lines = head.split(b"\r\n")
    length_headers = (line for line in lines if line.lower().startswith(b"content-length:"))
    return int(next(length_headers).split(b":")[1])


def reply(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


def measured(command: list[str], url: str, requests: int, limit: float) -> Figures:
    """Run one client and read its figures from the system and from the server."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    assert process.stdout is not None and process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}: {errors.decode()[-500:]}")
    first, last, count, latency = figures(url)
    if count != requests:
        raise SystemExit(f"the server was asked {count} times, not {requests}")
    share = requests / (last - first) / limit
    cpu = 1000 * (usage.ru_utime + usage.ru_stime) / requests
    return Figures(wall, share, cpu, usage.ru_maxrss / 1024, 1000 * latency)


def figures(url: str) -> Any:
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url.replace("/v1", "/figures")) as reply:
        return json.loads(reply.read())


def clients(
    url: str, options: argparse.Namespace, connections: int, folder: Path
) -> dict[str, list[str]]:
    path = str(folder / "problems.jsonl")
    arguments = [url, str(options.requests), str(connections), path]
    run = tempfile.mkdtemp(dir=folder)
    ours = [sys.executable, "-m", "gradeschool", "eval", "-m", f"{url}/m", "-d", path, "-o", run]
    ours += ["-p", options.protocol]
    commands = {
        "gradeschool eval": [*ours, "--connections", str(connections)],
        "bare aiohttp": [sys.executable, "-c", BARE, *arguments],
        "asyncio.Protocol": [sys.executable, "-c", PROTOCOL, *arguments],
    }
    peers = {
        "AsyncOpenAI": (options.openai, OPENAI),
        "lm-eval": (options.lm_eval, LM_EVAL),
        "inspect": (options.inspect, INSPECT),
    }
    commands |= {
        name: [python, "-c", code, *arguments] for name, (python, code) in peers.items() if python
    }
    return commands


def compare(url: str, options: argparse.Namespace, connections: int, folder: Path) -> None:
    """Print the medians of each client with this many connections."""
    limit = connections / options.latency
    rounds: dict[str, list[Figures]] = {}
    for _ in range(options.repeats):
        for name, command in clients(url, options, connections, folder).items():
            client_figures = measured(command, url, options.requests, limit)
            rounds.setdefault(name, []).append(client_figures)
    bare = median(figures.cpu_ms for figures in rounds["bare aiohttp"])
    print(f"{options.requests} requests, {connections} connections, limit {limit:.0f}/s")
    print("  client            wall s  of limit  CPU ms/request  (of bare)  peak MB  server ms")
    for name, several in rounds.items():
        wall, share, cpu, memory, server = map(median, zip(*several, strict=True))
        ratio = f"{cpu / bare:.2f}"
        print(
            f"  {name:16} {wall:7.2f} {100 * share:7.1f} % {cpu:15.2f} {ratio:>10} {memory:8.0f}"
            f" {server:10.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what asking costs.")
    parser.add_argument("--requests", type=int, default=1319)
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--connections", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--protocol", default="zero-shot/chat", help="its scorers are paid for too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--openai", metavar="PYTHON", help="an interpreter that has openai")
    parser.add_argument("--lm-eval", metavar="PYTHON", help="an interpreter that has lm-eval[api]")
    parser.add_argument("--inspect", metavar="PYTHON", help="one that has inspect-ai and openai")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(Server(options.latency).serve())
        return
    serve = [sys.executable, __file__, "--serve", "--latency", str(options.latency)]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            question = "A farmer has {} hens that lay 6 eggs a week each. How many in 7 weeks? " * 3
            rows = (
                json.dumps({"question": question.format(n, n, n), "answer": "#### 42"})
                for n in range(options.requests)
            )
            (folder / "problems.jsonl").write_text("\n".join(rows))
            for connections in options.connections:
                compare(url, options, connections, folder)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
