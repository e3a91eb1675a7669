"""Measure what `gradeschool eval` costs beside other clients, on a server with a fixed latency.

    python benchmarks/eval.py [--requests 1319] [--latency 0.1] [--connections 64 256] [--repeats 3]
                              [--openai PYTHON] [--lm-eval PYTHON] [--inspect PYTHON]

Whole processes, in turn: ours with command line, store, progress and scores; a bare loop of aiohttp
that stores nothing; and with an interpreter that has them OpenAI's client, lm-eval, inspect_ai.
Prints medians of wall time, client CPU a request and peak memory.
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

from aiohttp import web

CONTENT = "So 6 * 7 = 42. " * 20 + "\n#### 42"

# Each client is a script; its arguments are the server's URL, connections and the file of problems.
START = """
import asyncio, json, os, pathlib, sys
url, connections, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
questions = iter([json.loads(line)["question"] for line in open(path)])
"""
BARE = """
import aiohttp

async def work(session):
    for question in questions:
        body = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": question}]}
        async with session.post(url + "/chat/completions", json=body) as reply:
            assert (await reply.json())["choices"][0]["message"]["content"]

async def main():
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work(session) for _ in range(connections)))

asyncio.run(main())
"""
OPENAI = """
import openai

async def work(client):
    for question in questions:
        messages = [{"role": "user", "content": question}]
        reply = await client.chat.completions.create(model="m", temperature=0, messages=messages)
        assert reply.choices[0].message.content

async def main():
    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        await asyncio.gather(*(work(client) for _ in range(connections)))

asyncio.run(main())
"""
LM_EVAL = """
folder = pathlib.Path(path).with_name("lm_eval")
folder.mkdir(exist_ok=True)
(folder / "task.yaml").write_text(json.dumps({
    "task": "local", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": path}},
    "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\\n\\n"], "do_sample": False},
    "filter_list": [{"name": "strict-match", "filter": [
        {"function": "regex", "regex_pattern": "#### (\\\\-?[0-9\\\\.\\\\,]+)"},
        {"function": "take_first"}]}],
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}))
from lm_eval.__main__ import cli_evaluate
model = f"model=m,base_url={url}/chat/completions,num_concurrent={connections},max_retries=3"
sys.argv = ["lm_eval", "run", "--include_path", str(folder), "--tasks", "local",
            "--model", "local-chat-completions", "--model_args", model, "--apply_chat_template",
            "--output_path", str(folder / "out"), "--log_samples"]
cli_evaluate()
"""
INSPECT = """
os.environ["OPENAI_API_KEY"] = "none"
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match
task = Task(dataset=MemoryDataset([Sample(input=row, target="42") for row in questions]),
            scorer=match(numeric=True))
found = eval(task, model="openai/m", model_base_url=url, max_connections=connections,
             max_samples=connections, log_dir=str(pathlib.Path(path).with_name("inspect")),
             display="none", model_args={"responses_api": False})
assert found[0].status == "success", found[0].error
"""


def serve(latency: float) -> None:
    """Print the port; answer chat requests after the latency, each with an id of its own."""
    count = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal count
        count += 1
        number = count
        await request.read()
        await asyncio.sleep(latency)
        message = {"role": "assistant", "content": CONTENT}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 120, "completion_tokens": 90, "total_tokens": 210}
        body = {"id": f"reply-{number}", "object": "chat.completion", "created": 0, "model": "m"}
        return web.json_response(body | {"choices": [choice], "usage": usage})

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


def measured(command: list[str]) -> tuple[float, float, float]:
    """Run a client; return its wall time, CPU seconds and peak memory in MB."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:3]} ended with {process.returncode}")
    wall = time.monotonic() - started
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(url: str, options: argparse.Namespace, connections: int, folder: Path) -> None:
    """Print the medians of each client with this many connections."""
    path = str(folder / "problems.jsonl")
    scripts = {"bare aiohttp": (sys.executable, BARE), "AsyncOpenAI": (options.openai, OPENAI),
               "lm-eval": (options.lm_eval, LM_EVAL),
               "inspect": (options.inspect, INSPECT)}  # fmt: skip
    rounds: dict[str, list[tuple[float, float, float]]] = {}
    for _ in range(options.repeats):
        run = ["-o", tempfile.mkdtemp(dir=folder), "--connections", str(connections)]
        ours = [sys.executable, "-m", "gradeschool", "eval", "-m", f"{url}/m", "-d", path]
        commands = {"gradeschool eval": [*ours, "-p", options.protocol, *run]}
        for name, (python, code) in scripts.items():
            if python:
                commands[name] = [python, "-c", START + code, url, str(connections), path]
        for name, command in commands.items():
            rounds.setdefault(name, []).append(measured(command))
    print(f"{options.requests} requests, {connections} connections")
    print("  client            wall s  CPU ms/request  peak MB")
    for name, several in rounds.items():
        wall, cpu, memory = map(median, zip(*several, strict=True))
        print(f"  {name:16} {wall:7.2f} {1000 * cpu / options.requests:15.2f} {memory:8.0f}")


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
        serve(options.latency)
        return
    command = [sys.executable, __file__, "--serve", "--latency", str(options.latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            question = "A farmer has {} hens that lay 6 eggs a week each. How many in 7 weeks? " * 3
            rows = [{"question": question.format(n, n, n), "answer": "#### 42"}
                    for n in range(options.requests)]  # fmt: skip
            (folder / "problems.jsonl").write_text("\n".join(map(json.dumps, rows)))
            for connections in options.connections:
                compare(url, options, connections, folder)
        server.terminate()


if __name__ == "__main__":
    main()
