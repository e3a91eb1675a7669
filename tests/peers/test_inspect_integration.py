"""Our tasks and scorers in the real inspect_ai: the pinned version, and the last old one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.peers.pages import run_python, why_not
from tests.support.inspect_scores import ROWS

pytestmark = pytest.mark.peers

# What runs in the peer: scores given completions with our scorers, prints one JSON line.
SCORING = """
import asyncio, json, sys
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
from inspect_ai.scorer import Score, Target
from inspect_ai.solver import TaskState
from inspect_ai._util.registry import registry_create, registry_info, registry_lookup

def scored(name, text, gold, stop, metadata=None):
    state = TaskState(ModelName("none/none"), 1, 1, "?", [ChatMessageUser(content="?")],
                      metadata=metadata or {})
    state.output = ModelOutput.from_content("none", text, stop_reason=stop)
    scorer = registry_create("scorer", name)
    score = asyncio.run(scorer(state, Target(gold)))
    return {"value": str(score.value), "answer": score.answer, "metadata": score.metadata,
            "reason": getattr(score, "reason", None), "explanation": score.explanation}
"""


def answers(peer: str, folder: Path, code: str) -> list[dict[str, object]]:
    if reason := why_not(peer):
        pytest.skip(reason)
    process = run_python(peer, folder, SCORING + code)
    assert process.returncode == 0, process.stderr[-3000:]
    rows: list[dict[str, object]] = json.loads(process.stdout.splitlines()[-1])
    return rows


@pytest.mark.parametrize("peer", ["inspect_ai", "inspect_ai_0_3_220"])
def test_scores_hold_value_answer_reason_and_explanation(peer: str, tmp_path: Path) -> None:
    calls = [(f"gradeschool/{name}", *row) for name, *row, _, _ in ROWS]
    code = f"print(json.dumps([scored(*call) for call in {calls!r}]))"
    scores = answers(peer, tmp_path, code)
    assert [score["value"] for score in scores] == [row[4] for row in ROWS]
    reasons = [row[5] if peer == "inspect_ai" else None for row in ROWS]
    assert [score["reason"] for score in scores] == reasons
    assert "'711' is not '11'" in str(scores[0]["explanation"])
    assert "(truncated)" in str(scores[8]["explanation"])
    assert scores[4]["answer"] == "1250"
    assert scores[4]["metadata"] == {
        "scorer": "numeric-equality",
        "outcome": "correct",
        "span": [6, 12],
    }


def test_every_scorer_has_a_scorer_that_inspect_finds_by_name(tmp_path: Path) -> None:
    code = """
from gradeschool import all_scorers
from gradeschool.reports.export import inspect_scorer_name
names = [inspect_scorer_name(scorer) for scorer in all_scorers()]
assert len(set(names)) == len(names)
assert not any("@" in name or "." in name for name in names)
found = [registry_info(registry_lookup("scorer", name)).name for name in names]
print(json.dumps([{"same": found == names, "count": len(names)}]))
"""
    (comparison,) = answers("inspect_ai", tmp_path, code)
    assert comparison["same"] is True
    assert isinstance(comparison["count"], int)
    assert comparison["count"] > 40


@pytest.mark.usefixtures("data")
def test_every_chat_protocol_is_a_task_with_our_prompts(tmp_path: Path) -> None:
    """Messages, decoding and scorers are the protocol's; others are refused in words."""
    code = """
from gradeschool import all_protocols, load_dataset
from gradeschool.datasets.load import is_here
from gradeschool.integrations.for_inspect import gsm8k
from gradeschool.protocols.registry import available, get_scorer
problems = load_dataset("sample").problems
rows = []
for name, protocol in all_protocols().items():
    if not protocol.is_chat or not all(available(get_scorer(scorer)) for scorer in
    protocol.scorers):
        continue
    if protocol.shots and not is_here(protocol.shots):
        continue
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    task = gsm8k(protocol=name, dataset="sample")
    same = []
    for sample, prompt in zip(task.dataset, protocol.render(problems, shots), strict=True):
        ours = [(turn.role, turn.content) for turn in prompt.messages]
        ours += [("assistant", prompt.prefix)] if prompt.prefix else []
        same.append([(turn.role, turn.text) for turn in sample.input] == ours)
    config, decoding = task.config, protocol.decoding
    same.append(config.temperature == decoding.temperature)
    same.append(config.max_tokens == decoding.max_tokens)
    same.append(len(task.scorer) == len(protocol.scorers))
    rows.append({"name": name, "same": all(same), "prompts": len(same) - 3})
try:
    gsm8k(protocol="lm-eval/gsm8k")
except ValueError as error:
    rows.append({"name": "", "same": "not a chat protocol" in str(error), "prompts": 48})
print(json.dumps(rows))
"""
    rows = answers("inspect_ai", tmp_path, code)
    assert [row["name"] for row in rows if row["same"] is not True] == []
    assert {row["prompts"] for row in rows} == {48}
    assert len(rows) > 20


def test_aime2025_is_scored_by_numeric_equality(tmp_path: Path) -> None:
    """The task reads a local file; 711 for 11 and 149 for 49 are wrong in the eval's own log."""
    rows = [
        {"id": "1", "problem": "One?", "answer": 11},
        {"id": "2", "problem": "Two?", "answer": "49"},
    ]
    (tmp_path / "aime.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    code = """
from inspect_ai import eval
from inspect_ai.model import ModelUsage, get_model
numbers = (711, 149, 11, 49)
outputs = [ModelOutput.from_content("mockllm", f"ANSWER: {number}") for number in numbers]
for output in outputs:
    output.usage = ModelUsage(total_tokens=1)
rows = []
for _ in range(2):
    model = get_model("mockllm/model", custom_outputs=outputs[2 * len(rows):], memoize=False)
    log, = eval("gradeschool/aime2025", model=model, task_args={"dataset": "aime.jsonl"},
                max_connections=1, display="none", log_dir="logs")
    assert log.status == "success", log.error
    rows.append({"values": [s.scores["numeric_equality"].value if "numeric_equality" in s.scores
                            else s.scores["numeric-equality"].value for s in log.samples],
                 "prompt": log.samples[0].input[-1].text})
print(json.dumps(rows))
"""
    wrong, right = answers("inspect_ai", tmp_path, code)
    assert (wrong["values"], right["values"]) == (["I", "I"], ["C", "C"])
    assert "One?" in str(wrong["prompt"])
