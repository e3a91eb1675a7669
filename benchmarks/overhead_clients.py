"""The other clients of `overhead.py`, each a script for an interpreter that has its library.

Arguments: the server's base URL, the number of requests, of connections, the file of problems.
"""

BARE = """
import asyncio, json, sys, aiohttp
url, count, connections, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
questions = iter([json.loads(line)["question"] for line in open(path)])

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
PROTOCOL = """
import asyncio, json, sys
from urllib.parse import urlsplit
url, count, connections, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

def request(question):
    body = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": question}]}
    raw = json.dumps(body).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\\r\\nContent-Length: %d" % len(raw)
    return head + b"\\r\\n\\r\\n" + raw

requests = iter([request(json.loads(line)["question"]) for line in open(path)])
answers = []

class Worker(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.held = transport, b""
        self.ask()

    def ask(self):
        for one in requests:
            self.transport.write(one)
            break

    def data_received(self, data):
        self.held += data
        head, _, body = self.held.partition(b"\\r\\n\\r\\n")
        if len(body) == int(head.split(b"Content-Length: ")[1].split(b"\\r")[0]):
            self.held = b""
            self.ask()
            answers.append(json.loads(body)["choices"][0]["message"]["content"])
            if len(answers) == count:
                done.set_result(None)

async def main():
    global done
    loop, at = asyncio.get_running_loop(), urlsplit(url)
    done = loop.create_future()
    connect = (loop.create_connection(Worker, at.hostname, at.port) for _ in range(connections))
    await asyncio.gather(*connect)
    await done

asyncio.run(main())
"""
OPENAI = """
import asyncio, json, sys, openai
url, count, connections, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
questions = iter([json.loads(line)["question"] for line in open(path)])

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
import json, pathlib, sys
url, count, connections, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
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
import json, os, pathlib, sys
url, count, connections, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
os.environ["OPENAI_API_KEY"] = "none"
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import match
rows = [json.loads(line)["question"] for line in open(path)]
task = Task(dataset=MemoryDataset([Sample(input=row, target="42") for row in rows]),
            scorer=match(numeric=True))
found = eval(task, model="openai/m", model_base_url=url, max_connections=connections,
             max_samples=connections, log_dir=str(pathlib.Path(path).with_name("inspect")),
             display="none", model_args={"responses_api": False})
assert found[0].status == "success", found[0].error
"""
