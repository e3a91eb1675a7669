"""Our prompts and decoding beside those that the harnesses themselves make, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Prompt
from gradeschool.datasets.load import cache_folder, is_here, load_dataset
from gradeschool.problem import Problem
from gradeschool.prompts import rationale
from gradeschool.protocol import Protocol
from gradeschool.protocols import MGSM as LANGUAGES
from gradeschool.protocols.registry import all_protocols, get_protocol
from tests.peers.compare import COMPARED, EVERY
from tests.peers.install import packages
from tests.peers.peer import Peer

pytestmark = pytest.mark.peers

Start = Callable[[str], Peer]


def sent(prompt: Prompt) -> Any:
    """Return a prompt as the workers write it: a text, or [[role, text], ...]."""
    if prompt.text is not None:
        return prompt.text
    return [[message.role, message.content] for message in prompt.messages]


def assert_same(ours: Sequence[Any], theirs: Sequence[Any], what: str) -> None:
    unequal = [at for at, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]]
    assert not unequal, (
        f"{len(unequal)} prompts differ, first {ours[unequal[0]]!r}, theirs {theirs[unequal[0]]!r}"
    )
    COMPARED[f"prompts of {what}"] += len(ours)


def rendered(protocol: Protocol, problems: Sequence[Problem]) -> list[Any]:
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return [sent(prompt) for prompt in protocol.render(problems, shots)]


def place_exemplars(
    environment: str, file: str, name: str, here: str = "", there: str = ""
) -> None:
    """Put a file of a wheel where a fetched one would be; its digest is that of the fetched one.

    here, there: what another commit of the file says otherwise.
    """
    target = cache_folder() / "exemplars" / name
    target.parent.mkdir(parents=True)
    text = (packages(environment) / file).read_text("utf-8")
    target.write_text(text.replace(here, there) if here else text, "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a dataset as the files train and test, and returns their folder."""

    def write(dataset: str) -> Path:
        for split, name in (("train", "gsm8k:train"), ("test", dataset)):
            rows = [
                {"question": p.question, "answer": p.solution} for p in load_dataset(name).problems
            ]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / f"{split}.jsonl").write_text(lines, "utf-8")
        return tmp_path

    return write


LM_EVAL = [
    name
    for name in all_protocols()
    if name.startswith("lm-eval/")
    and "@" not in name
    and (EVERY == 1 or "mgsm" not in name or name.endswith("zh"))
]
DEFAULT_MAX_TOKENS = 256  # of every model class of the harness, where a task sets none


@pytest.mark.parametrize("name", LM_EVAL)
def test_lm_eval(peers: Start, folder: Callable[[str], Path], data: Path, name: str) -> None:
    protocol = get_protocol(name)
    if not is_here(protocol.dataset):
        pytest.skip(f"{protocol.dataset} is not on this machine")
    if "minerva" in name:
        peers("lm_eval")
        file = "lm_eval/tasks/minerva_math/utils.py"
        place_exemplars("lm_eval", file, "minerva_math.py")
    plain, _, form = name.partition("+")
    answer = peers("lm_eval").answer(
        {
            "prompts": plain.removeprefix("lm-eval/"),
            "data": str(folder(protocol.dataset)),
            "form": form or "plain",
        }
    )
    problems = load_dataset(protocol.dataset).problems
    assert_same(rendered(protocol, problems), answer["prompts"], "lm_eval")
    generation, decoding = answer["generation"], protocol.decoding
    assert tuple(generation["until"]) == decoding.stop
    assert generation.get("temperature", 0.0) == decoding.temperature
    assert generation.get("max_gen_toks", DEFAULT_MAX_TOKENS) == decoding.max_tokens
    assert answer["repeats"] == protocol.samples


INSPECT = {
    name: f"inspect/{name}" for name in ("gsm8k", "gsm8k-5shot", "gsm8k-0shot", "aime2025")
} | {"mgsm": "inspect/mgsm-en"}


@pytest.mark.parametrize("task", INSPECT)
def test_inspect(peers: Start, data: Path, gsm8k_test: Sequence[Problem], task: str) -> None:
    answer = peers("inspect_ai").answer({"prompts": task, "data": str(data / "gsm8k")})
    assert_same(
        rendered(get_protocol(INSPECT[task]), gsm8k_test), answer["prompts"], "inspect_evals"
    )
    assert answer["targets"] == [problem.gold for problem in gsm8k_test]


def test_lighteval(peers: Start, data: Path, gsm8k_test: Sequence[Problem]) -> None:
    peer = peers("lighteval")
    answer = peer.answer({"prompts": len(gsm8k_test), "data": str(data / "gsm8k")})
    plain, turns = get_protocol("lighteval/gsm8k"), get_protocol("lighteval/gsm8k+multiturn")
    queries = [f"Question: {problem.question}\nAnswer:" for problem in gsm8k_test]
    # The peer's are in the order of evaluation, which is shuffled.
    assert answer["queries"] != queries
    texts = dict(zip(answer["queries"], answer["prompts"], strict=True))
    assert_same(rendered(plain, gsm8k_test), [texts[query] for query in queries], "lighteval")
    chats = dict(zip(answer["queries"], answer["messages"], strict=True))
    messages = [[[turn["role"], turn["content"]] for turn in chats[query]] for query in queries]
    assert_same(rendered(turns, gsm8k_test), messages, "lighteval")
    assert tuple(answer["stop"]) == plain.decoding.stop == turns.decoding.stop
    assert answer["max_tokens"] == plain.decoding.max_tokens == turns.decoding.max_tokens


# Protocol -> the benchmark of evalscope, its subset and the columns of its dataset.
BENCHMARKS = {
    "evalscope/gsm8k": ("gsm8k", "main", "question", "golden"),
    "evalscope/math-500": ("math_500", "Level 1", "problem", "answer"),
    "evalscope/aime24": ("aime24", "default", "problem", "answer"),
    "evalscope/aime25": ("aime25", "default", "problem", "answer"),
    "evalscope/cmath": ("cmath", "Grade 1", "question", "golden"),
    **{f"evalscope/mgsm-{code}": ("mgsm", code, "question", "answer_number") for code in LANGUAGES},
}


def evalscope_row(problem: Problem, question: str, gold: str) -> dict[str, object]:
    """Return a problem in the columns of a benchmark's dataset."""
    row = {"solution": "", "unique_id": problem.id, "level": 1, "equation_solution": ""}
    answer = problem.solution if gold == "golden" else rationale(problem)
    return row | {"answer": answer, question: problem.question, gold: problem.gold}


@pytest.mark.parametrize("name", [one for one in all_protocols() if one.startswith("evalscope/")])
def test_evalscope(peers: Start, data: Path, name: str) -> None:
    benchmark, subset, question, gold = BENCHMARKS[name]
    protocol = get_protocol(name)
    problems = load_dataset(protocol.dataset).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    rows, shot_rows = (
        [evalscope_row(problem, question, gold) for problem in group] for group in (problems, shots)
    )
    answer = peers("evalscope").answer(
        {"prompts": benchmark, "subset": subset, "rows": rows, "shots": shot_rows[:9]}
    )
    assert_same(rendered(protocol, problems), answer["prompts"], "evalscope")
    assert answer["shot_count"] == protocol.shot_count


# Folder of a configuration -> the variable that holds it, and the column of the question.
VARIABLES = {
    "math": {"variable": "math_infer_cfg", "column": "problem"},
    "aime2024": {"variable": "aime2024_infer_cfg"},
    "SVAMP": {"variable": "svamp_infer_cfg"},
    "gsm_hard": {"variable": "gsmhard_infer_cfg"},
}
SHOT_FILES = {
    "opencompass:shots": ("gsm8k/gsm8k_gen_1d7fe4.py",),
    "opencompass:svamp-shots": (
        "SVAMP/svamp_gen_fb25e4.py", "opencompass/SVAMP", "./data/svamp/test.jsonl"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [one for one in all_protocols() if one.startswith("opencompass/")])
def test_opencompass(peers: Start, gsm8k_test: Sequence[Problem], name: str) -> None:
    protocol, peer = get_protocol(name), peers("functions")
    *_, folder, config = protocol.source.removesuffix(".py").split("/")
    if protocol.shots in SHOT_FILES:
        file, *changed = SHOT_FILES[protocol.shots]
        path = f"opencompass/configs/datasets/{file}"
        place_exemplars("functions", path, Path(file).name, *changed)
    own_rows = protocol.shots == protocol.dataset
    problems = load_dataset(protocol.shots).problems if own_rows else gsm8k_test
    request = {
        "prompts": config,
        "folder": folder,
        "questions": [problem.question for problem in problems],
        "language": protocol.dataset.partition(":")[2],
        **VARIABLES.get(folder, {}),
    }
    if own_rows:
        request["answers"] = [str(float(problem.gold)) for problem in problems]
    answer = peer.answer(request)
    assert_same(rendered(protocol, problems), answer["prompts"], "opencompass")
    assert answer["options"].get("max_out_len") == protocol.decoding.max_tokens
    assert tuple(answer["options"].get("stopping_criteria", ())) == protocol.decoding.stop
