"""The memory that is planned before a training, against what the allocator of torch gave out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.machine import machine_memory, memory_of_process  # noqa: E402
from gradeschool.verifier.finetune import Finetuning, finetune  # noqa: E402
from gradeschool.verifier.memory import (  # noqa: E402
    GB,
    MemoryPlan,
    beside_plan,
    memory_table,
    peak_memory,
    plans_of,
    sharded,
)
from gradeschool.verifier.parallel import ALONE, World  # noqa: E402
from gradeschool.verifier.session import Listener, Session  # noqa: E402
from gradeschool.verifier.train_verifier import VerifierTraining, train_verifier  # noqa: E402
from gradeschool.verifier.training import Optimizers  # noqa: E402
from tests.support.command import Command  # noqa: E402
from tests.support.command import gradeschool as gradeschool  # noqa: E402  # a fixture
from tests.support.trainees import (  # noqa: E402
    sums,
    tokenizer_of,
    trainee,
    write_problems,
)

PROBLEMS = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Problems, a generator, and right and wrong completions of each problem."""
    folder = tmp_path_factory.mktemp("memory")
    write_problems(folder / "sums.jsonl", PROBLEMS)
    tokenizer = tokenizer_of(sums(PROBLEMS))
    trainee(tokenizer).save_pretrained(folder / "generator")
    tokenizer.save_pretrained(folder / "generator")
    rows = [
        {"index": index, "sample": sample, "completion": text}
        for index, problem in enumerate(sums(PROBLEMS))
        for sample, text in enumerate((problem.solution, f"Bob has none.\n#### {index}00"))
    ]
    (folder / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def allocated(run: Callable[[], Any]) -> int:
    """The most bytes of tensors on the CPU that were allocated at a time while something ran."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    events = [event for event in profiler.profiler.kineto_results.events()
              if event.name() == "[memory]"]  # fmt: skip
    size = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        size += event.nbytes()
        peak = max(peak, size)
    return peak


def check(fields: dict[str, Any], measured: int) -> None:
    planned = fields["memory"]["peak"]
    assert abs(planned / measured - 1) < 0.2, (planned, measured)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"pass_tokens": 400},  # several passes: gradients are there while a pass is computed
        {"gradient_checkpointing": True},
        {"optimizer": "muon", "batch": 1},
        {"lora": 4},
        {"precision": "bfloat16"},
    ],
    ids=lambda changes: "-".join(changes) or "plain",
)
def test_the_plan_of_a_fine_tuning_is_what_it_takes(
    changes: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    if "lora" in changes:
        pytest.importorskip("peft")
    chosen: dict[str, Any] = {"batch": 20, "epochs": 1.5, "vocabulary": 300, **changes}
    settings = Finetuning(
        "new:0.2M", str(folder / "sums.jsonl"), limit=chosen["batch"] * 2, **chosen
    )
    fields: dict[str, Any] = {}
    check(fields, allocated(lambda: fields.update(finetune(settings, Session(tmp_path / "model")))))


@pytest.mark.parametrize(
    "changes",
    [{}, {"level": "likelihood"}, {"level": "likelihood", "objective": "preference"}],
    ids=lambda changes: "-".join(changes.values()) or "token",
)
def test_the_plan_of_a_verifier_is_what_it_takes(
    changes: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    settings = VerifierTraining(
        str(folder / "generator"), str(folder / "samples.jsonl"),
        dataset=str(folder / "sums.jsonl"), batch=20, epochs=1.5, **changes,
    )  # fmt: skip
    fields: dict[str, Any] = {}
    check(
        fields,
        allocated(lambda: fields.update(train_verifier(settings, Session(tmp_path / "model")))),
    )


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_weights_gradients_and_state_are_counted_exactly(
    kind: Any, folder: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM

    settings = Finetuning(str(folder / "generator"), str(folder / "sums.jsonl"), optimizer=kind)
    plan = finetune(settings, Session(tmp_path / "model", dry_run=True))["memory"]
    model: Any = AutoModelForCausalLM.from_pretrained(folder / "generator", dtype=torch.float32)
    optimizers = Optimizers(model, kind, 1e-3)
    model(input_ids=torch.tensor([[5, 6, 7]])).logits.sum().backward()
    gradients = sum(weight.grad.nbytes for weight in model.parameters())
    optimizers.step(1.0)
    assert plan["weights"] == sum(weight.nbytes for weight in model.parameters())
    assert plan["gradients"] == gradients
    assert plan["optimizer"] == sum(tensor.nbytes for _, tensor in optimizers.tensors())


def test_a_dry_run_prints_the_plan_and_writes_nothing(
    folder: Path, tmp_path: Path, gradeschool: Command
) -> None:
    result = gradeschool("finetune", "-m", "new:0.2M", "-d", folder / "sums.jsonl", "--vocabulary",
                         300, "-o", tmp_path / "model", "--dry-run", "--json")  # fmt: skip
    assert result.status == 0, result.err
    assert result.json()["status"] == "planned" and result.json()["updates"] == 50
    assert result.json()["memory"]["planned"] > result.json()["memory"]["peak"] > 0
    assert "each of 2, FSDP2" in result.err and "tokens in 24 GB" in result.err
    assert not (tmp_path / "model").exists()


def test_the_folder_says_what_was_planned_and_measured(folder: Path, tmp_path: Path) -> None:
    notes: list[str] = []
    settings = Finetuning("new:0.05M", str(folder / "sums.jsonl"), vocabulary=300, limit=8)
    finetune(settings, Session(tmp_path / "model", listener=Listener(note=notes.append)))
    memory = json.loads((tmp_path / "model" / "training.json").read_text())["memory"]
    assert memory["measured"] == pytest.approx(peak_memory("cpu"), rel=0.5)
    assert memory["planned"] == memory["peak"] + memory["beside"]
    assert any(
        "passes of up to" in note and "Python, torch, data and fragments" in note for note in notes
    )


def test_a_model_that_reads_its_tensors_is_trained_without_a_plan(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers.models.llama.modeling_llama import LlamaMLP

    forward = LlamaMLP.forward

    def reading(self: Any, states: Any) -> Any:
        assert states.sum().item() is not None
        return forward(self, states)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(LlamaMLP, "forward", reading)
    notes: list[str] = []
    settings = Finetuning("new:0.05M", str(folder / "sums.jsonl"), vocabulary=300, limit=8)
    fields = finetune(settings, Session(tmp_path / "model", listener=Listener(note=notes.append)))
    assert fields["status"] == "finished"
    assert any("could not be planned" in note for note in notes)


def test_processes_of_fsdp_share_all_but_what_a_pass_needs() -> None:
    model = trainee(tokenizer_of(sums(8)))
    plan = MemoryPlan(400, 300, 200, 1000, 1700, 64)
    weights = {name: weight.nbytes for name, weight in model.named_parameters()}
    layer = sum(size for name, size in weights.items() if ".layers.0." in name)
    outside = sum(size for name, size in weights.items() if ".layers." not in name)
    parts = sharded(plan, model, 4)
    assert parts[:3] == (100, 75, 50)
    assert parts.activations == 1000 + 2 * outside + 3 * layer
    plans = plans_of(plan, model, World(0, 4, "cpu", "fsdp"))
    assert plans["fsdp"] == parts and plans["ddp"].peak == 1900 and plans["alone"] == plan


def test_a_process_on_a_cpu_has_more_than_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = MemoryPlan(400, 300, 200, 1000, 1700, 64)
    monkeypatch.setattr("gradeschool.verifier.memory.memory_of_process", lambda: 900)
    assert beside_plan(plan, plan, ALONE) == 500 + 650
    assert beside_plan(plan, plan, World(0, 2, "cpu", "fsdp")) == 500 + 650 + 400
    assert beside_plan(plan, plan, World(device="cuda:0")) == 0
    monkeypatch.setattr("gradeschool.verifier.memory.memory_of_process", lambda: None)
    assert beside_plan(plan, plan, ALONE) == 0


def test_the_table_says_how_long_a_pass_may_be() -> None:
    plan = MemoryPlan(8 * GB, 8 * GB, 16 * GB, 16 * GB, 48 * GB, 1000)
    assert plan.largest_pass(80 * GB) == 1000 * (80 - 1 - 32) // 16
    assert plan.largest_pass(24 * GB) == 0
    lines = memory_table({"alone": plan}, ALONE).splitlines()
    assert [line.split()[-1] for line in lines] == ["GB", "2,937"]
    assert lines[1].split()[:7] == ["1", "process", "8.00", "8.00", "16.00", "16.00", "48.00"]


def test_the_system_says_what_there_is() -> None:
    memory, size = memory_of_process(), machine_memory("cpu")
    if memory is not None and size is not None:  # Linux
        assert 10**7 < memory <= peak_memory("cpu") < size  # type: ignore[operator]
