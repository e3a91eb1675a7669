"""Trainings by transformers' Trainer: `verifier finetune` and `verifier train`.

DDP, FSDP, DeepSpeed, accumulation, checkpoints, early stopping and trackers are the Trainer's and
accelerate's. Ours are the losses, a head with its own learning rate, and what the folder says.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
import transformers
from safetensors.torch import load_model, save_model
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid

from gradeschool.atomic import LOCK_FILE, append_lines, locked_file, write_json
from gradeschool.datasets.load import load_dataset, sha256_of
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.run_folder import dataset_of, read_json, results_of
from gradeschool.formats.values import DEFAULTS, ReadOptions, mapping
from gradeschool.models import local
from gradeschool.problem import MARKER
from gradeschool.scoring.at_k import CandidateRun, count_labels, describe_labels, one_run
from gradeschool.verifier import data, networks
from gradeschool.verifier.rank import measure_auc
from gradeschool.worker import stop_flag

LOSSES, TENSORBOARD, STATE = "losses.jsonl", "runs", "trainer_state.json"
BETAS, MOMENTUM = (0.9, 0.95), 0.95
SMALL_MODEL = 10_000_000  # weights; a batch of a smaller model is one pass
SHOW_SECONDS = 10.0
PROBED = 4_000  # solutions from which --init-row probe fits the head
LEAST_HEAD_LR = 1e-3  # by default: at 1e-5 a head cannot move
ROW_SHARE = 0.1  # of the head's learning rate, for the reserved token's row
EVALUATIONS, PATIENCE = 10, 3  # by --dev: in all, and without a better one before the end
AUC = "auc_within"
LOGGED = {"loss", f"eval_{AUC}"}  # one of these is in each row of losses.jsonl
CONSTANT = 0.97  # of a constant's squared error; above, a verifier has learnt next to nothing
# The identity in run.json of a model that ran locally: engine, name and digest of its files.
SAMPLER = re.compile(r"(?:transformers|vllm)/(.+) ([0-9a-f]{16})(?: |\Z)")
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The settings of every training; together with its files they determine the model.

    limit: use only the first problems. batch: items of an update. micro_batch: items of a pass;
    larger batches accumulate gradients. The learning rate `lr` rises over `warmup` updates and
    falls linearly to 0. lora: the rank of adapters, None to train all weights. chat: the question
    is a user's turn, by the model's chat template.
    """

    limit: int | None = None
    epochs: float = 1.0
    batch: int = 32
    micro_batch: int | None = None
    optimizer: Literal["adam", "muon"] = "adam"
    lr: float = 1e-5
    warmup: int = 0
    dropout: float = 0.0
    seed: int = 0
    lora: int | None = None
    chat: bool = False
    gradient_checkpointing: bool = False


class TrainingJob(NamedTuple):
    """Where and how a training runs; trackers: of the Trainer ("wandb"); reading: of samples."""

    output: Path
    save_every: int = 200
    trackers: Sequence[str] = ()
    note: Note = lambda _: None
    reading: ReadOptions = DEFAULTS


# Losses: each is a sum; a training divides it by its count over the whole update and adds the two
# unweighted, as the paper's joint objective does (section 4.2 and appendix E).


VERIFICATION, LANGUAGE = "verification", "language"


class TrainingModel(torch.nn.Module):
    """The model that a training changes, a language model or a verifier, with its losses."""

    def __init__(
        self, trained: Any, level: data.Level = "token", objective: data.Objective = "joint"
    ) -> None:
        super().__init__()
        self.trained, self.level, self.objective = trained, level, objective

    @property
    def model(self) -> Any:
        """Return the language model."""
        return self.trained.model if isinstance(self.trained, networks.Verifier) else self.trained

    def collate(self, items: Sequence[data.Item]) -> dict[str, torch.Tensor]:
        """Return the rows of items as tensors, padded on the right.

        Attention is causal, so that no token sees the padding behind it. By token: whether the
        language loss covers it, whether it belongs to a labelled solution, whether its value is
        learnt, and the target. By row: the last token, and the weight of its verification loss.
        """
        rows = [row for item in items for row in item]
        ids = networks.pad_rows([row.ids for row in rows], "cpu")
        width = ids.shape[1]
        places = torch.arange(width)

        def column(numbers: Sequence[float]) -> torch.Tensor:
            return torch.tensor(numbers)[:, None]

        ends = column([len(row.ids) for row in rows])
        weights = column([float(row.weight) for row in rows])
        starts = [width if row.language_start is None else max(1, row.language_start)
                  for row in rows]  # fmt: skip
        solution = (places >= column([row.start for row in rows])) & (places < ends) & (weights > 0)
        valued = solution
        if self.level == "step":
            valued = torch.zeros_like(solution)
            for number, row in enumerate(rows):
                valued[number, [row.start + max(end, 1) - 1 for end in row.ends]] = row.weight > 0
        elif self.level in ("solution", "likelihood"):
            valued = solution & (places == ends - 1)
        return {
            "ids": ids,
            "language": (places >= column(starts)) & (places < ends),
            "solution": solution,
            "valued": valued,
            "targets": (places < column([row.start + row.right_tokens for row in rows])).float(),
            "last": ends - 1,
            "weight": weights[:, 0],
        }

    def counts(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the counts by which the verification and the language loss are divided."""
        weights = batch["weight"]
        if self.objective == "pairwise":
            values = weights.new_tensor(len(weights) / 2)
        elif self.level == "pooled":
            values = weights.sum()
        else:
            values = (batch["valued"] * weights[:, None]).sum()
        return torch.stack([values, batch["language"].sum().float()])

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Return the summed verification and language losses; see `collate`."""
        ids, covered, solution = batch["ids"], batch["language"], batch["solution"]
        states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        # Every parameter gets a gradient, as DDP expects.
        language = verification = (states.sum() * 0.0).float()
        if not covered.any():
            language = language + 0.0 * self.model.get_output_embeddings().weight.sum()
        banned = self.trained.token_id if isinstance(self.trained, networks.Verifier) else -1
        if covered.any():
            logits = networks.compute_logits(self.model, states[:, :-1][covered[:, 1:]], banned)
            language = cross_entropy(logits, ids[covered], reduction="sum")
        if solution.any():
            weights, labels = batch["weight"], batch["targets"].gather(1, batch["last"])[:, 0]
            with torch.autocast(states.device.type, enabled=False):
                if self.level == "likelihood":
                    tokens = states[:, :-1][solution[:, 1:]]
                    logits = networks.compute_logits(self.model, tokens, banned, exact=True)
                    chosen = -cross_entropy(logits, ids[solution], reduction="none")
                    by_token = chosen.new_zeros(solution.shape).masked_scatter(solution, chosen)
                    sums = self.trained.logits(by_token.sum(1))
                    losses = binary_cross_entropy_with_logits(sums, labels, reduction="none")
                    verification = (losses * weights).sum()
                else:
                    values = self.trained.values(states)
                    scores = values.gather(1, batch["last"])[:, 0]
                    if self.level == "pooled":
                        scores = (values * solution).sum(1) / solution.sum(1).clamp(min=1)
                    if self.objective == "pairwise":
                        verification = -logsigmoid(scores[0::2] - scores[1::2]).sum()
                    elif self.level == "pooled":
                        verification = (weights * (scores - labels) ** 2).sum()
                    else:
                        errors = (values - batch["targets"]) ** 2
                        verification = (errors * batch["valued"] * weights[:, None]).sum()
        return torch.stack([verification, language])


# Trainings


class Prepared(NamedTuple):
    """A training ready to begin.

    save: writes the trained model to a folder, given the final losses. evaluate: returns the AUC of
    the model, whose best weights are kept; the training ends after PATIENCE without a better one.
    begin: is called before the first update, not when a training goes on.
    """

    base: networks.BaseModel
    model: TrainingModel
    items: Sequence[data.Item]
    save: Callable[[Path, Mapping[str, float]], None]
    left_out: Sequence[str] = ()
    evaluate: Callable[[], float] | None = None
    begin: Callable[[], None] = lambda: None


def change_model(model: Any, settings: TrainingSettings) -> Any:
    """Give a model the dropout and the adapters of the settings; return peft's wrapper or None."""
    networks.set_dropout(model, settings.dropout)
    return networks.add_lora(model, settings.lora, settings.seed) if settings.lora else None


def run_training(
    job: TrainingJob,
    settings: TrainingSettings,
    facts: Mapping[str, Any],
    prepare: Callable[[], Prepared],
) -> dict[str, Any]:
    """Train what `prepare` returns into the job's folder, from its last checkpoint if there is one.

    facts: what determines the model; a folder continues only with the same facts. Returns the
    fields of training.json; their "status" is "running" if a signal ended the training early.
    Raises StoreError for a folder that holds something else.
    """
    output, work = job.output, job.output / local.UNFINISHED
    known = read_json(output / local.TRAINING_FILE)
    plain_facts = json.loads(json.dumps(facts, default=str))
    if known is not None:
        before = known.get("settings") or {}
        changed = sorted(name for name in plain_facts if before.get(name) != plain_facts[name])
        if changed:
            raise StoreError(
                f"{str(output)!r} holds another training (its {', '.join(changed)} differ); give "
                "another -o, or remove the folder"
            )
        if known.get("status") == "finished":
            return known
    elif output.is_dir() and {path.name for path in output.iterdir()} - {work.name, LOCK_FILE}:
        raise StoreError(f"{str(output)!r} holds other files; give a new folder with -o")
    prepared = prepare()
    # A checkpoint that a kill cut short has no trainer_state.json, or a part of one.
    whole = [path for path in work.glob("checkpoint-*") if results_of(path, STATE)]
    newest = max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    trainer = OwnTrainer(job, settings, prepared)  # moves the model to its device
    trained = sum(each.numel() for each in prepared.model.parameters() if each.requires_grad)
    updates = trainer.args.max_steps
    fields: dict[str, Any] = {"status": "running", "settings": plain_facts, "updates": updates,
                              "weights": trainer.weights, "trained_weights": trained}  # fmt: skip
    job.note(
        f"{trainer.weights:,} weights, {trained:,} of them trained; {len(prepared.items):,} items, "
        f"{updates:,} updates of {trainer.batch}; {trainer.args.world_size} processes on "
        f"{trainer.args.device}"
    )
    if prepared.left_out:
        job.note(
            f"{len(prepared.left_out)} problems are left out, as longer than the model's "
            f"{prepared.base.context} tokens, or undecided: {', '.join(prepared.left_out[:5])}"
        )
    is_first = trainer.is_world_process_zero()
    logged = [] if newest is None else results_of(newest, STATE).get("log_history") or []
    trainer.take_losses(logged)
    with ExitStack() as stack:
        work.mkdir(parents=True, exist_ok=True)
        if is_first:
            stack.enter_context(locked_file(output / LOCK_FILE))
            write_json(output / local.TRAINING_FILE, fields)
            (output / LOSSES).unlink(missing_ok=True)
            if logged:  # what was logged since the checkpoint is logged again
                append_lines(output / LOSSES, [loss_row(row) for row in logged if LOGGED & {*row}])
        if newest is None:  # may take long; the folder is known by now, so that it can be continued
            prepared.begin()
        stop = stack.enter_context(stop_flag())
        torch.manual_seed(settings.seed)
        trainer.add_callback(StopOnSignal(stop))
        trainer.train(resume_from_checkpoint=str(newest) if newest else None)
        done, losses = trainer.state.global_step, trainer.mean_losses()
        if stop.is_set() and done < updates:
            return {**fields, "updates": done}
        if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
            state = trainer.accelerator.get_state_dict(trainer.model_wrapped)
            if is_first:
                prepared = prepare()
                prepared.model.load_state_dict(state, strict=False)
        fields |= {"status": "finished", "updates": done, "losses": losses}
        if is_first:
            prepared.save(output, losses)
            write_json(output / local.TRAINING_FILE, fields)
            if (work / TENSORBOARD).is_dir():
                (work / TENSORBOARD).rename(output / TENSORBOARD)
            shutil.rmtree(work)
        return fields


def loss_row(logs: Mapping[str, float]) -> dict[str, float]:
    """Return the row of losses.jsonl for what the Trainer logs at a step."""
    rest = {name: value for name, value in logs.items() if name not in ("epoch", "step")}
    return {"update": logs["step"], **rest}


class StopOnSignal(transformers.TrainerCallback):
    """Ends a training that is interrupted, with a checkpoint."""

    def __init__(self, stop: Any) -> None:
        self.stop = stop

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save and stop if the training was interrupted."""
        if self.stop.is_set():
            control.should_save = control.should_training_stop = True


class OwnTrainer(transformers.Trainer):
    """A Trainer with our sums of losses, shuffled batches, and Muon beside Adam.

    batch: items of an update. weights: the number of the model's parameters.
    """

    def __init__(self, job: TrainingJob, settings: TrainingSettings, prepared: Prepared) -> None:
        self.settings: Any = settings
        self.prepared, self.job = prepared, job
        self.shown = time.monotonic()
        self.weights = sum(each.numel() for each in prepared.model.parameters())
        self.sums: list[tuple[float, float]] = []  # the losses of each update
        count, on_gpu = len(prepared.items), torch.cuda.is_available()
        if settings.gradient_checkpointing:
            prepared.base.model.gradient_checkpointing_enable({"use_reentrant": False})
            prepared.base.model.enable_input_require_grads()
        wanted, world = min(settings.batch, count), int(os.environ.get("WORLD_SIZE", "1"))
        micro = settings.micro_batch or (wanted if self.weights < SMALL_MODEL else 8)
        passes = ceil(wanted / (min(micro, ceil(wanted / world)) * world))
        micro = ceil(wanted / (passes * world))
        self.batch = micro * world * passes
        updates = max(1, int(settings.epochs * ceil(count / self.batch)))
        measures = prepared.evaluate is not None
        every = max(1, updates // EVALUATIONS) if measures else job.save_every
        arguments = transformers.TrainingArguments(
            output_dir=str(job.output / local.UNFINISHED),
            max_steps=updates,
            per_device_train_batch_size=micro,
            gradient_accumulation_steps=passes,
            learning_rate=settings.lr,
            warmup_steps=settings.warmup,
            bf16=local.precision_on("cuda" if on_gpu else "cpu", self.weights) == "bfloat16",
            use_cpu=not on_gpu,
            seed=settings.seed % 2**32,
            save_steps=every,
            save_total_limit=2,
            eval_strategy="steps" if measures else "no",
            eval_steps=every,
            load_best_model_at_end=measures,
            metric_for_best_model=f"eval_{AUC}" if measures else None,
            logging_steps=min(10, max(1, updates // 20)),
            logging_nan_inf_filter=False,
            report_to=list(job.trackers) or "none",
            run_name=job.output.name,
            disable_tqdm=True,
            remove_unused_columns=False,
            dataloader_pin_memory=on_gpu,
            ddp_find_unused_parameters=False,
            restore_callback_states_from_checkpoint=measures,  # patience
        )
        arguments._n_gpu = 1  # one process for each GPU, not DataParallel
        items: Any = prepared.items
        super().__init__(
            model=prepared.model,
            args=arguments,
            data_collator=prepared.model.collate,
            train_dataset=items,
            eval_dataset=items[:1] if measures else None,
            callbacks=[transformers.EarlyStoppingCallback(PATIENCE)] if measures else [],
        )
        self.remove_callback(transformers.PrinterCallback)
        self.model_accepts_loss_kwargs = True

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """Return a plain shuffle: batches of similar length, which save padding, learn worse."""
        generator = torch.Generator().manual_seed(self.args.seed)
        return torch.utils.data.RandomSampler(self.prepared.items, generator=generator)

    def get_batch_samples(
        self, epoch_iterator: Any, num_batches: int, device: Any
    ) -> tuple[list[Any], Any]:
        """Return the passes of an update, and the counts of both losses over all processes."""
        batches = list(islice(epoch_iterator, num_batches))
        counts = torch.zeros(2, device=device)
        for batch in batches:
            counts += self.prepared.model.counts(batch).to(device)
        if self.args.world_size > 1:
            counts = self.accelerator.reduce(counts, "sum")
        self.sums.append((0.0, 0.0))
        return batches, counts

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return this pass's share of the update's loss."""
        shares = model(**inputs) / num_items_in_batch.clamp(min=1.0)
        first, second = shares.detach().tolist()
        self.sums[-1] = (self.sums[-1][0] + first, self.sums[-1][1] + second)
        if not (first + second < float("inf")):
            raise InputError(
                f"the loss is not finite at update {self.state.global_step + 1}; give a smaller "
                f"--lr than {self.settings.lr:g}"
            )
        return shares.sum() * self.args.world_size  # DDP takes the mean over processes

    def take_losses(self, logged: Sequence[Mapping[str, float]]) -> None:
        """Begin with the losses of the updates before a checkpoint, from its log."""
        steps, world = int(self.args.logging_steps), self.args.world_size
        self.sums = [
            (row.get(VERIFICATION, 0.0) / world, row.get(LANGUAGE, 0.0) / world)
            for row in logged if "loss" in row for _ in range(steps)
        ]  # fmt: skip

    def mean_losses(self, last: int | None = None) -> dict[str, float]:
        """Return the mean losses over the last updates, by default a fifth of them."""
        sums = self.sums[-(last or max(1, len(self.sums) // 5)) :]
        if not sums:  # it goes on from its last update
            return {}
        means = torch.tensor(sums, device=self.args.device).mean(0)
        if self.args.world_size > 1:
            means = self.accelerator.reduce(means, "sum")
        named = zip((VERIFICATION, LANGUAGE), means.tolist(), strict=True)
        return {name: mean for name, mean in named if mean}

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log to the trackers and to losses.jsonl, with both losses; show them now and then."""
        if "loss" in logs:
            logs = {**logs, **self.mean_losses(int(self.args.logging_steps))}
        step = self.state.global_step
        if self.is_world_process_zero() and LOGGED & {*logs}:  # else a summary
            append_lines(self.job.output / LOSSES, [loss_row({**logs, "step": step})])
            if f"eval_{AUC}" in logs or time.monotonic() - self.shown > SHOW_SECONDS:
                self.shown = time.monotonic()
                names = (VERIFICATION, LANGUAGE, f"eval_{AUC}")
                figures = [f" · {name} {logs[name]:.4f}" for name in names if name in logs]
                self.job.note(f"{step}/{self.args.max_steps} updates{''.join(figures)}")
        super().log(logs, start_time)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Measure the model on the development run."""
        assert self.prepared.evaluate is not None  # noqa: S101
        self.prepared.model.eval()
        metrics = {f"eval_{AUC}": self.prepared.evaluate()}
        self.prepared.model.train()
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def create_optimizer(self, *_: Any) -> Any:
        """Return Adam, or Muon for the matrices of the layers beside it.

        A head has its own learning rate: gain and bias `head_lr`, the reserved token's row a tenth
        of it, but at least that of the other weights.
        """
        if self.optimizer is not None:
            return self.optimizer
        settings, trained = self.settings, self.prepared.model.trained
        rates: dict[int, float] = {}
        if isinstance(trained, networks.Verifier):
            head_lr = settings.head_lr or max(settings.lr, LEAST_HEAD_LR)
            rates = {id(trained.gain): head_lr, id(trained.bias): head_lr}
            if hasattr(trained, "row"):
                rates[id(trained.row)] = max(settings.lr, ROW_SHARE * head_lr)
        model = self.prepared.model.model
        outer = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
        by_rate: dict[float, list[Any]] = {}
        matrices = []
        for weight in self.prepared.model.parameters():
            if not weight.requires_grad:
                continue
            if settings.optimizer == "muon" and weight.ndim == 2 and id(weight) not in outer:
                matrices.append(weight)
            else:
                by_rate.setdefault(rates.get(id(weight), settings.lr), []).append(weight)
        groups: list[dict[str, Any]] = [
            {"params": weights, "lr": rate} for rate, weights in by_rate.items()
        ]
        if matrices:
            groups.append({"params": matrices, "muon": True})
        self.optimizer = AdamAndMuon(groups, settings.lr, BETAS, weight_decay=0.0)
        return self.optimizer

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Write the weights of a checkpoint; tied ones once."""
        if self.is_fsdp_enabled or self.is_deepspeed_enabled or not self.args.should_save:
            return  # accelerate writes the shards
        folder = Path(output_dir or str(self.args.output_dir))
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self.prepared.model, str(folder / "model.safetensors"))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        if self.is_fsdp_enabled or self.is_deepspeed_enabled:
            super()._load_from_checkpoint(resume_from_checkpoint, model)
        else:
            load_model(self.prepared.model, f"{resume_from_checkpoint}/model.safetensors")

    def _load_best_model(self) -> None:
        if self.state.best_model_checkpoint:
            self._load_from_checkpoint(self.state.best_model_checkpoint)


class AdamAndMuon(torch.optim.AdamW):
    """Adam, and Muon for the matrices of groups with `muon`.

    `torch.optim.Muon` computes in bfloat16, matrix by matrix, which on most CPUs takes as long as
    the model's passes. This one computes in float32, all matrices of a shape at once.
    Source: https://kellerjordan.github.io/posts/muon; the rate as `match_rms_adamw` of torch.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update all parameters."""
        for group in self.param_groups:
            by_shape: dict[Any, list[Any]] = {}
            for weight in group["params"] if group.get("muon") else ():
                if weight.grad is not None:
                    by_shape.setdefault(weight.shape, []).append(weight)
            for shape, weights in by_shape.items():
                gradients = torch.stack([weight.grad.float() for weight in weights])
                for weight, gradient in zip(weights, gradients, strict=True):
                    state = self.state[weight]
                    if not state:  # Adam expects a step in every state that it loads
                        state.update(step=torch.tensor(0.0), momentum=torch.zeros_like(gradient))
                    state["momentum"].lerp_(gradient, 1 - MOMENTUM)
                    gradient.lerp_(state["momentum"], MOMENTUM)
                    weight.grad = None  # Adam leaves the weight as it is
                rate = group["lr"] * 0.2 * max(shape) ** 0.5
                for weight, update in zip(weights, orthogonalize(gradients), strict=True):
                    weight.add_(update, alpha=-rate)
        super().step()


def orthogonalize(matrices: Any) -> Any:
    """Return matrices (number, rows, columns) with singular values near 1, by Newton-Schulz."""
    is_wide = matrices.shape[1] <= matrices.shape[2]
    wide = matrices if is_wide else matrices.mT
    wide = wide / wide.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(5):
        gram = wide @ wide.mT
        wide = 3.4445 * wide + (-4.775 * gram + 2.0315 * gram @ gram) @ wide
    return wide if is_wide else wide.mT


# Fine-tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class Finetuning(TrainingSettings):
    """The settings of a fine-tuning.

    model: a folder, a FILE.gguf or "new:SIZE". loss_on: "both", the paper's, learns the question
    too; "answer" replaces the solution by its final answer, for the ablation without steps.
    """

    model: str
    dataset: str
    loss_on: Literal["solution", "both", "answer"] = "both"
    vocabulary: int = networks.VOCABULARY


def finetune(settings: Finetuning, job: TrainingJob) -> dict[str, Any]:
    """Fine-tune a model into the job's folder; see `run_training`.

    Raises InputError for a model, dataset or setting that cannot be used.
    """
    # Raises its errors before a dataset is fetched.
    identity = networks.identify_model(settings.model)
    dataset = load_dataset(settings.dataset)
    problems = dataset.problems[: settings.limit]
    if settings.loss_on != "answer":
        data.refuse_bare(problems, "--loss-on answer")
    else:
        problems = tuple(replace(each, solution=f"{MARKER} {each.gold}") for each in problems)
    facts = {
        **asdict(settings),
        "model_files": identity,
        "dataset_sha256": dataset.sha256,
        "problems": len(problems),
    }

    def prepare() -> Prepared:
        if settings.model.startswith(networks.NEW_PREFIX):
            texts = [f"{problem.question}\n{problem.solution}" for problem in problems]
            tokenizer = networks.build_tokenizer(texts, settings.vocabulary)
            shape = networks.named_shape(settings.model)
            model = networks.new_model(tokenizer, shape, settings.seed)
            base = networks.BaseModel(model, tokenizer, torch.float32)
        else:
            base = networks.load_folder(Path(settings.model))
        if settings.chat:
            data.use_chat(base.tokenizer, settings.model)
        whole = settings.loss_on == "both"
        items, left_out = data.language_items(base.tokenizer, problems, base.context, whole)
        adapters = change_model(base.model, settings)
        return Prepared(base, TrainingModel(base.model), items,
                        lambda folder, _: networks.save_folder(base, folder, adapters),
                        left_out)  # fmt: skip

    return run_training(job, settings, facts, prepare)


# A verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierTraining(TrainingSettings):
    """The settings of a verifier's training.

    generator: the folder of the model that wrote the samples. samples: a run. init: the folder with
    the initial weights, None for the generator. batch: solutions of an update. level, objective:
    the paper's are "token" and "joint". language: the text of the language loss, see
    `verifier_items`; None for the reference solutions, with the level "likelihood" the right
    samples. head_lr: see `OwnTrainer.create_optimizer`; None for lr, but at least LEAST_HEAD_LR.
    init_row: "probe" begins the head from a ridge regression on mean states. dev: a run on other
    problems, by whose AUC within problems the best weights are kept.
    """

    generator: str
    samples: str
    init: str | None = None
    dataset: str | None = None
    level: data.Level = "token"
    objective: data.Objective = "joint"
    language: data.Language | None = None
    supervision: data.Supervision = "outcome"
    head_lr: float | None = None
    init_row: Literal["random", "probe"] = "random"
    dev: str | None = None


def train_verifier(settings: VerifierTraining, job: TrainingJob) -> dict[str, Any]:
    """Train a verifier into the job's folder; see `run_training`.

    Raises InputError for models, samples or settings that cannot be used.
    """
    generator_files = networks.identify_model(settings.generator)
    init_files = networks.identify_model(settings.init) if settings.init else "generator"
    is_likelihood = settings.level == "likelihood"
    if is_likelihood and (settings.init_row == "probe" or settings.objective == "pairwise"):
        raise InputError(
            "--level likelihood has no values, which --init-row probe fits and --objective "
            "pairwise compares; leave them out, or train by DPO (TRL) and rank with --generator"
        )
    usual: data.Language = "right" if is_likelihood else "reference"
    language: data.Language | None = settings.language or usual
    if settings.objective != "joint":
        if settings.language is not None:
            raise InputError(
                f"--language {settings.language} chooses the text of a loss that --objective "
                f"{settings.objective} does not have; leave it out"
            )
        language = None
    options = replace(job.reading, dataset=settings.dataset)
    sampled = one_run(settings.samples, options, job.note)
    sampled = sampled._replace(answered=sampled.answered[: settings.limit])
    sampler = SAMPLER.match(str(sampled.manifest.get("model") or ""))
    if sampler is not None and sampler[2] != local.files_digest(Path(settings.generator)):
        raise InputError(
            f"the samples in {settings.samples!r} were written by {sampler[1]!r} ({sampler[2]}), "
            f"not by the model in {settings.generator!r}; give that model with --generator, and "
            "with --init the one to start from"
        )
    dev = None
    if settings.dev is not None:
        other = ReadOptions() if dataset_of(Path(settings.dev)) else options
        dev = one_run(settings.dev, other, job.note, sampled.scorer)
        learnt = {each.problem.question for each in sampled.answered}
        if seen := sum(each.problem.question in learnt for each in dev.answered):
            raise InputError(
                f"{seen} problems of --dev {settings.dev!r} are also those of --samples; give a "
                "run on other problems"
            )
    labels = count_labels(sampled.answered)
    facts = {
        **asdict(settings),
        "generator_files": generator_files,
        "init_files": init_files,
        "samples_file": _file_facts(sampled),
        "dev_file": None if dev is None else _file_facts(dev),
        "labels": labels,
        "scorer": sampled.scorer,
    }

    start = settings.init or settings.generator
    before = mapping((read_json(Path(start) / local.TRAINING_FILE) or {}).get("settings"))
    if before.get("chat") and not settings.chat:
        raise InputError(f"the model in {start!r} was trained with --chat; give --chat here too")

    def prepare() -> Prepared:
        base, level = networks.load_folder(Path(start)), settings.level
        if settings.chat:
            data.use_chat(base.tokenizer, start)
        verifier = networks.new_verifier(base.model, base.tokenizer, settings.seed, is_likelihood)
        items, left_out = data.verifier_items(
            sampled, base.tokenizer, base.context, objective=settings.objective,
            language=language, supervision=settings.supervision,
            by_step=level == "step", seed=settings.seed,
        )  # fmt: skip
        job.note(describe_labels(labels))
        texts = [] if dev is None else _encode_run(dev, base)
        adapters = change_model(base.model, settings)

        def save(folder: Path, losses: Mapping[str, float]) -> None:
            _warn_of_heads(verifier, settings, items, losses, job.note)
            fields = {**verifier.save_fields(), "level": level, "chat": settings.chat}
            networks.save_folder(base, folder, adapters)
            write_json(folder / local.VERIFIER_FILE, fields)

        trained = TrainingModel(verifier, level, settings.objective)
        evaluate = None if dev is None else lambda: _measure(verifier, texts, dev, level)
        return Prepared(base, trained, items, save, left_out, evaluate,
                        lambda: _begin(verifier, items, settings, job.note))  # fmt: skip

    return run_training(job, settings, facts, prepare)


def _file_facts(run: CandidateRun) -> dict[str, Any]:
    path = run.path / "completions.jsonl" if run.path.is_dir() else run.path
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


def _begin(
    verifier: networks.Verifier, items: Sequence[data.Item], settings: VerifierTraining, note: Note
) -> None:
    """Fit the head before the first update."""
    verifier.eval()
    rows = list(dict.fromkeys(row for item in items for row in item if row.weight))
    if settings.init_row == "probe":
        some = rows[:: ceil(len(rows) / PROBED)]
        verifier.fit_row([row.text for row in some], [row.is_right for row in some])
        note(f"the head begins from a probe of {len(some):,} solutions")
    if verifier.kind == networks.LIKELIHOOD:
        texts = [row.text for row in rows[: max(64, settings.batch)]]
        values = networks.read_logprobs(verifier.model, texts, verifier.token_id)
        verifier.fit_start(list(map(sum, values)))
    verifier.train()


def _warn_of_heads(
    verifier: networks.Verifier,
    settings: VerifierTraining,
    items: Sequence[data.Item],
    losses: Mapping[str, float],
    note: Note,
) -> None:
    """Say that the gain changed its sign, or that the squared error ends at that of a constant."""
    if verifier.kind == networks.LOGIT and verifier.gain.item() < 0:
        note(
            "the head's gain changed its sign: its learning rate is too high for so few labels; "
            "give a lower --head-lr"
        )
    if settings.objective == "pairwise" or settings.level == "likelihood":
        return
    total = right = 0
    for row in (row for item in items for row in item if row.weight):
        length = len(row.ids) - row.start
        by_token = range(1, length + 1)
        places = {"token": by_token, "step": row.ends}.get(settings.level, (length,))
        total += row.weight * len(places)
        right += row.weight * sum(place <= row.right_tokens for place in places)
    constant = right / total * (1 - right / total)
    if losses.get(VERIFICATION, 0.0) > CONSTANT * constant:
        note(
            f"the squared error ends at {losses[VERIFICATION]:.3f}, and a constant scores "
            f"{constant:.3f}: the verifier learnt next to nothing; give --init-row probe, a higher "
            "--lr or --head-lr, more solutions, or more --epochs"
        )


def _encode_run(run: CandidateRun, base: networks.BaseModel) -> list[data.SolutionTokens]:
    """Return the tokens of a development run's completions, in their order."""
    pairs = [data.QuestionSolution(answered.problem.question, each.text, each.finished)
             for answered in run.answered for each in answered.candidates]  # fmt: skip
    texts = data.encode_pairs(base.tokenizer, pairs)
    longest = max((len(text.question) + len(text.solution) for text in texts), default=0)
    if base.context is not None and longest > base.context:
        raise InputError(
            f"a solution of --dev {str(run.path)!r} has {longest} tokens with its question, and "
            f"the model reads {base.context}; leave it out"
        )
    if not any(len({each.right for each in answered.candidates}) > 1 for answered in run.answered):
        raise InputError(
            f"no problem of {str(run.path)!r} has right and wrong completions; give a --dev run "
            "with several completions of each problem (-k)"
        )
    return texts


def _measure(
    verifier: networks.Verifier,
    texts: Sequence[data.SolutionTokens],
    run: CandidateRun,
    level: data.Level,
) -> float:
    """Return the AUC within problems on a development run."""
    values = iter(networks.read_values(verifier, texts))
    by_problem = []
    for answered in run.answered:
        each = [next(values) for _ in answered.candidates]
        scores = [sum(row) / len(row) if level == "pooled" else row[-1] for row in each]
        by_problem.append((scores, [candidate.right for candidate in answered.candidates]))
    return measure_auc(by_problem).within or 0.0
