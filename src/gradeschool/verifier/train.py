"""Trainings by transformers' Trainer: settings, optimizer, folder; and `verifier train`.

DDP, FSDP, DeepSpeed, accumulation, checkpoints, early stopping and trackers are the Trainer's and
accelerate's. Ours are the losses, a head with its own learning rate, and what the folder says.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Literal, NamedTuple

import torch
from transformers import (
    EarlyStoppingCallback,
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)
from transformers.trainer_pt_utils import LengthGroupedSampler

from gradeschool.atomic import FolderLock, append_lines, write_json
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.own_run import dataset_of, fingerprint, read_json
from gradeschool.formats.samples import ReadOptions
from gradeschool.models.gguf_file import LIKELIHOOD, VERIFIER_FILE
from gradeschool.models.local import TRAINING_FILE, UNFINISHED, files_digest, precision_on
from gradeschool.signals import stop_flag
from gradeschool.verifier.base_model import (
    BaseModel,
    add_lora,
    drop_residuals,
    identify_model,
    load_folder,
    save_folder,
)
from gradeschool.verifier.candidates import CandidateRun, one_run, read_sampler
from gradeschool.verifier.data import (
    Item,
    Language,
    Objective,
    QuestionSolution,
    Supervision,
    count_labels,
    encode_pairs,
    use_chat,
    verifier_items,
)
from gradeschool.verifier.head import (
    Verifier,
    new_verifier,
    read_logprobs,
    read_values,
)
from gradeschool.verifier.losses import LANGUAGE, VERIFICATION, Level, TrainedModel
from gradeschool.verifier.select import within

LOSSES, CURVES = "losses.jsonl", "curves.jsonl"
BETAS, MOMENTUM = (0.9, 0.95), 0.95
SAVE_SECONDS = 300.0  # between two checkpoints at most
SHOW_SECONDS = 10.0
PROBED = 4_000  # solutions from which --init-row probe fits the head
ROW_SHARE = 0.1  # of the head's learning rate, for the reserved token's row
EVALUATIONS = 10  # by --dev
AUC = "auc_within"
CONSTANT = 0.97  # of a constant's squared error; above, a verifier has learnt next to nothing
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The settings of every training; together with its files they determine the model.

    limit: use only the first problems. batch: items of an update. micro_batch: items of a pass;
    larger batches accumulate gradients. The learning rate `lr` rises over `warmup` updates and
    falls linearly to 0. head_lr: of a verifier's gain and bias; a tenth of it, but at least `lr`,
    is that of the reserved token's row. precision: of the passes, None for bfloat16 on a GPU and on
    CPUs that multiply it. save_dtype: of the saved weights, None for that of the base model. lora:
    the rank of adapters, None to train all weights. chat: the question is a user's turn, by the
    model's chat template. patience: evaluations by --dev without a better one after which the
    training ends.
    """

    limit: int | None = None
    epochs: float = 1.0
    batch: int = 32
    micro_batch: int | None = None
    optimizer: Literal["adam", "muon"] = "adam"
    lr: float = 1e-5
    head_lr: float = 1e-2
    warmup: int = 0
    weight_decay: float = 0.0
    dropout: float = 0.0
    clip: float = 1.0
    seed: int = 0
    precision: Literal["float32", "bfloat16"] | None = None
    save_dtype: Literal["float32", "bfloat16", "float16"] | None = None
    lora: int | None = None
    chat: bool = False
    gradient_checkpointing: bool = False
    patience: int = 3


class TrainingJob(NamedTuple):
    """Where and how a training runs; none of it changes the model.

    command: the command line, for training.json. trackers: of the Trainer ("wandb").
    """

    output: Path
    command: str = ""
    save_every: int = 200
    trackers: Sequence[str] = ()
    dry_run: bool = False
    note: Note = lambda _: None


class Prepared(NamedTuple):
    """A training ready to begin. evaluate: measures the model; returns numbers by name.

    best: the name of the number by which the best model is kept, "" to keep the last.
    """

    base: BaseModel
    model: TrainedModel
    items: Sequence[Item]
    save: Callable[[Path, Mapping[str, float]], None]
    left_out: Sequence[str] = ()
    evaluate: Callable[[], dict[str, float]] | None = None
    best: str = ""


def run_training(
    job: TrainingJob,
    settings: TrainingSettings,
    facts: Mapping[str, Any],
    prepare: Callable[[], Prepared],
) -> dict[str, Any]:
    """Train what `prepare` returns into the job's folder, from its last checkpoint if there is one.

    Returns the fields of training.json; their "status" is "running" if a signal ended the training
    early, "planned" for a dry run. Raises StoreError for a folder that holds another training.
    """
    output = job.output
    known = read_json(output / TRAINING_FILE)
    plain_facts = json.loads(json.dumps(facts, default=str))
    if known is not None and known.get("settings") != plain_facts:
        changed = sorted(name for name, value in plain_facts.items()
                         if (known.get("settings") or {}).get(name) != value)  # fmt: skip
        raise StoreError(
            f"{str(output)!r} holds another training (its {', '.join(changed)} differ); give "
            "another -o, or remove the folder"
        )
    if known is not None and known.get("status") == "finished":
        return known
    if known is None and output.is_dir() and any(output.iterdir()) and not job.dry_run:
        raise StoreError(f"{str(output)!r} holds other files; give a new folder with -o")
    prepared = prepare()
    torch.manual_seed(settings.seed)
    trainer = _trainer(job, settings, prepared)
    weights = sum(each.numel() for each in prepared.model.parameters())
    trained = sum(each.numel() for each in prepared.model.parameters() if each.requires_grad)
    updates = trainer.updates
    job.note(
        f"{weights:,} weights, {trained:,} of them trained; {len(prepared.items):,} items, "
        f"{updates:,} updates of {trainer.batch}; {trainer.args.world_size} processes on "
        f"{trainer.args.device}"
    )
    if prepared.left_out:
        job.note(
            f"{len(prepared.left_out)} problems are longer than the model's "
            f"{prepared.base.context} tokens and left out: {', '.join(prepared.left_out[:5])}"
        )
    fields: dict[str, Any] = {
        "status": "planned",
        "settings": plain_facts,
        "updates": updates,
        "weights": weights,
        "trained_weights": trained,
        "command": job.command,
    }
    if job.dry_run:
        return fields
    with ExitStack() as stack:
        stop = stack.enter_context(stop_flag())
        if trainer.is_world_process_zero():
            stack.enter_context(FolderLock(output))
        work = output / UNFINISHED
        work.mkdir(parents=True, exist_ok=True)
        if trainer.is_world_process_zero():
            write_json(output / TRAINING_FILE, {**fields, "status": "running"})
        trainer.add_callback(Watch(job, lambda: stop.requested))
        began = time.monotonic()
        trainer.train(resume_from_checkpoint=last_checkpoint(work))
        done = trainer.state.global_step
        losses = trainer.mean_losses()
        fields |= {"updates": done, "losses": losses, "seconds": time.monotonic() - began}
        if stop.requested and done < updates:
            return {**fields, "status": "running"}
        if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
            state = trainer.accelerator.get_state_dict(trainer.model_wrapped)
            if trainer.is_world_process_zero():
                prepared = prepare()
                prepared.model.load_state_dict(state, strict=False)
        if trainer.is_world_process_zero():
            prepared.save(output, losses)
            fields["status"] = "finished"
            write_json(output / TRAINING_FILE, fields)
            shutil.rmtree(work)
        return {**fields, "status": "finished"}


def last_checkpoint(work: Path) -> str | None:
    """Return the newest whole checkpoint; one that a kill cut short has no trainer_state.json."""
    whole = [path for path in work.glob("checkpoint-*") if read_json(path / "trainer_state.json")]
    newest = max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    return None if newest is None else str(newest)


def _trainer(job: TrainingJob, settings: TrainingSettings, prepared: Prepared) -> OwnTrainer:
    count = len(prepared.items)
    batch = min(settings.batch, count)
    size = sum(each.numel() for each in prepared.model.parameters())
    on_gpu = torch.cuda.is_available()
    device = "cuda" if on_gpu else "cpu"
    precision = settings.precision or precision_on(device, size)
    if settings.gradient_checkpointing:
        prepared.base.model.gradient_checkpointing_enable({"use_reentrant": False})
        prepared.base.model.enable_input_require_grads()
    work = Path(gettempdir()) if job.dry_run else job.output / UNFINISHED
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if batch < world:
        raise InputError(
            f"a batch of {batch} items is too small for {world} processes; give a larger --batch "
            "or fewer processes"
        )
    usual = batch if size < 10_000_000 else 8
    micro = max(1, min(settings.micro_batch or usual, batch // world))
    steps = max(1, round(batch / (micro * world)))
    updates = max(1, int(settings.epochs * count) // (micro * world * steps))
    evaluates = prepared.evaluate is not None
    every = job.save_every
    if evaluates:
        every = max(
            1, updates // EVALUATIONS if prepared.best else count // (micro * world * steps)
        )
    arguments = TrainingArguments(
        output_dir=str(work),
        max_steps=updates,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=steps,
        learning_rate=settings.lr,
        lr_scheduler_type="linear",
        warmup_steps=settings.warmup,
        max_grad_norm=settings.clip,
        bf16=precision == "bfloat16",
        use_cpu=not on_gpu,
        seed=settings.seed % 2**32,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        eval_strategy="steps" if evaluates else "no",
        eval_steps=every,
        load_best_model_at_end=bool(prepared.best),
        metric_for_best_model=f"eval_{prepared.best}" if prepared.best else None,
        greater_is_better=True,
        logging_steps=min(10, max(1, updates // 20)),
        logging_nan_inf_filter=False,
        report_to=list(job.trackers) or "none",
        run_name=job.output.name,
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=[],
        dataloader_pin_memory=on_gpu,
        ddp_find_unused_parameters=False,
    )
    callbacks: list[TrainerCallback] = []
    if prepared.best:
        callbacks.append(EarlyStoppingCallback(settings.patience))
    trainer = OwnTrainer(settings, prepared, job.output, arguments, callbacks)
    trainer.updates, trainer.batch = updates, micro * world * steps
    return trainer


class OwnTrainer(Trainer):
    """A Trainer with our sums of losses, length-grouped batches, and Muon beside Adam."""

    updates: int
    batch: int

    def __init__(
        self,
        settings: TrainingSettings,
        prepared: Prepared,
        output: Path,
        arguments: TrainingArguments,
        callbacks: list[TrainerCallback],
    ) -> None:
        self.settings, self.prepared, self.output = settings, prepared, output
        self.sums: list[tuple[float, float]] = []  # of each update
        self.rows: list[dict[str, Any]] = []
        items: Any = prepared.items
        super().__init__(
            model=prepared.model,
            args=arguments,
            data_collator=prepared.model.collate,
            train_dataset=items,
            eval_dataset=items[:1] if prepared.evaluate else None,
            callbacks=callbacks,
        )
        self.remove_callback(PrinterCallback)
        self.remove_callback(ProgressCallback)
        self.model_accepts_loss_kwargs = True

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        """Return batches of similar length, shuffled."""
        lengths = [sum(len(row.ids) for row in item) for item in self.prepared.items]
        generator = torch.Generator().manual_seed(self.args.seed)
        return LengthGroupedSampler(self.batch, lengths=lengths, generator=generator)

    def get_batch_samples(
        self, epoch_iterator: Any, num_batches: int, device: Any
    ) -> tuple[list[Any], Any]:
        """Return the passes of an update, and the counts of both losses over all processes."""
        batches = []
        for _ in range(num_batches):
            try:
                batches.append(next(epoch_iterator))
            except StopIteration:
                break
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
        del return_outputs
        shares = model(**inputs) / num_items_in_batch.clamp(min=1.0)
        first, second = shares.detach().tolist()
        self.sums[-1] = (self.sums[-1][0] + first, self.sums[-1][1] + second)
        if not (first + second < float("inf")):
            raise InputError(
                f"the loss is not finite at update {self.state.global_step + 1}; give a smaller "
                f"--lr than {self.settings.lr:g}"
            )
        return shares.sum() * self.args.world_size  # DDP takes the mean over processes

    def mean_losses(self, last: int | None = None) -> dict[str, float]:
        """Return the mean losses over the last updates, by default a fifth of them."""
        sums = self.sums[-(last or max(1, len(self.sums) // 5)) :]
        names = {VERIFICATION: 0, LANGUAGE: 1}
        means = {name: sum(each[place] for each in sums) / max(1, len(sums))
                 for name, place in names.items()}  # fmt: skip
        return {name: mean for name, mean in means.items() if mean}

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log to the trackers, with both losses, and to losses.jsonl."""
        if "loss" in logs:
            logs = {**logs, **self.mean_losses(int(self.args.logging_steps))}
            row: dict[str, float] = {"update": self.state.global_step}
            row |= {name: value for name, value in logs.items() if name != "epoch"}
            if self.is_world_process_zero():
                append_lines(self.output / LOSSES, [row])
        super().log(logs, start_time)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Measure the model on the development data; write a row of curves.jsonl."""
        del args, kwargs
        assert self.prepared.evaluate is not None  # noqa: S101
        self.prepared.model.eval()
        found = self.prepared.evaluate()
        self.prepared.model.train()
        if self.is_world_process_zero():
            step = self.state.global_step
            row = {"update": step, "epoch": round(step * self.batch / len(self.prepared.items), 3)}
            append_lines(self.output / CURVES, [{**row, **found}])
        metrics = {f"eval_{name}": value for name, value in found.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def create_optimizer(self, *_: Any) -> Any:
        """Return Adam, or Muon for the matrices of the layers beside it; see `TrainingSettings`."""
        if self.optimizer is not None:
            return self.optimizer
        settings, trained = self.settings, self.prepared.model.trained
        row_lr = max(settings.lr, ROW_SHARE * settings.head_lr)
        rates = {}
        if isinstance(trained, Verifier):
            rates = {id(trained.gain): settings.head_lr, id(trained.bias): settings.head_lr}
            if hasattr(trained, "row"):
                rates[id(trained.row)] = row_lr
        model = self.prepared.model.model
        outer = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
        by_rate: dict[tuple[float, float], list[Any]] = {}
        matrices = []
        for weight in self.prepared.model.parameters():
            if not weight.requires_grad:
                continue
            if settings.optimizer == "muon" and weight.ndim == 2 and id(weight) not in outer:
                matrices.append(weight)
                continue
            decay = settings.weight_decay if weight.ndim > 1 else 0.0
            key = (rates.get(id(weight), settings.lr), decay)
            by_rate.setdefault(key, []).append(weight)
        groups = [{"params": weights, "lr": rate, "weight_decay": decay}
                  for (rate, decay), weights in by_rate.items()]  # fmt: skip
        self.optimizer = torch.optim.AdamW(groups, settings.lr, BETAS)
        if matrices:
            muon = torch.optim.Muon(
                matrices, settings.lr, settings.weight_decay, MOMENTUM,
                adjust_lr_fn="match_rms_adamw",
            )  # fmt: skip
            self.optimizer = TwoOptimizers([self.optimizer, muon])
        return self.optimizer

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Write the weights of a checkpoint; tied ones once."""
        from safetensors.torch import save_model

        folder = Path(output_dir or self.args.output_dir or ".")
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self.prepared.model, str(folder / "model.safetensors"))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        from safetensors.torch import load_model

        if self.is_fsdp_enabled or self.is_deepspeed_enabled:
            super()._load_from_checkpoint(resume_from_checkpoint, model)
            return
        load_model(self.prepared.model, f"{resume_from_checkpoint}/model.safetensors")

    def _load_best_model(self) -> None:
        if self.state.best_model_checkpoint:
            self._load_from_checkpoint(self.state.best_model_checkpoint)


class TwoOptimizers(torch.optim.Optimizer):
    """Optimizers of different parameters, stepped together."""

    def __init__(self, parts: Sequence[torch.optim.Optimizer]) -> None:
        super().__init__([{"params": []}], {})
        self.parts = parts
        self.param_groups = [group for part in parts for group in part.param_groups]

    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update all parameters."""
        del closure
        for part in self.parts:
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """Return the states of all parts."""
        return {"parts": [part.state_dict() for part in self.parts]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the states of all parts."""
        for part, state in zip(self.parts, state_dict["parts"], strict=True):
            part.load_state_dict(state)
        self.param_groups = [group for part in self.parts for group in part.param_groups]


class Watch(TrainerCallback):
    """Shows progress, saves every five minutes, and ends a training that is interrupted."""

    def __init__(self, job: TrainingJob, stopped: Callable[[], bool]) -> None:
        self.note, self.stopped = job.note, stopped
        self.saved = self.shown = time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Save if it is time, or if the training was interrupted."""
        if self.stopped():
            control.should_save = control.should_training_stop = True
        elif time.monotonic() - self.saved > SAVE_SECONDS:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Remember when the last checkpoint was written."""
        self.saved = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kw: Any) -> None:
        """Show the losses from time to time, and every evaluation."""
        measured = any(name.startswith("eval_") for name in logs)
        if not measured and time.monotonic() - self.shown < SHOW_SECONDS:
            return
        self.shown = time.monotonic()
        names = (VERIFICATION, LANGUAGE, *(name for name in logs if name.startswith("eval_")))
        figures = [f"{name.removeprefix('eval_')} {logs[name]:.4f}" for name in names
                   if isinstance(logs.get(name), float)]  # fmt: skip
        if figures:
            self.note(" · ".join([f"{state.global_step}/{state.max_steps} updates", *figures]))


# A verifier


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierTraining(TrainingSettings):
    """The settings of a verifier's training.

    generator: the folder of the model that wrote the samples. samples: a run. init: the folder with
    the initial weights, None for the generator. batch: solutions of an update. level, objective:
    the paper's are "token" and "joint". language: the text of the language loss, see
    `verifier_items`; None for the reference solutions, with the level "likelihood" the right
    samples. init_row: "probe" begins the head from a ridge regression on mean states. dev: a run on
    other problems, by whose AUC within problems the best weights are kept.
    """

    generator: str
    samples: str
    init: str | None = None
    dataset: str | None = None
    level: Level = Level.TOKEN
    objective: Objective = "joint"
    beta: float | None = None
    language: Language | None = None
    supervision: Supervision = "outcome"
    init_row: Literal["random", "probe"] = "random"
    dev: str | None = None


def train_verifier(settings: VerifierTraining, job: TrainingJob) -> dict[str, Any]:
    """Train a verifier into the job's folder; see `run_training`.

    Raises InputError for models, samples or settings that cannot be used.
    """
    language = _check(settings)
    options = ReadOptions(dataset=settings.dataset)
    sampled = one_run(settings.samples, options, job.note)
    sampler = read_sampler(sampled.manifest)
    if sampler is None:
        job.note(
            f"{settings.samples!r} does not say which model's files wrote it: it was not compared "
            f"with {settings.generator!r}"
        )
    elif sampler.fingerprint != files_digest(Path(settings.generator)):
        raise InputError(
            f"the samples in {settings.samples!r} were written by {sampler.name!r} "
            f"({sampler.fingerprint}), not by the model in {settings.generator!r}; give that model "
            "with --generator, and with --init the one to start from"
        )
    sampled = sampled.first(settings.limit)
    dev = None
    if settings.dev is not None:
        if dataset_of(Path(settings.dev)):
            options = ReadOptions()
        dev = one_run(settings.dev, options, job.note, sampled.scorer)
    path = sampled.path / "completions.jsonl" if sampled.path.is_dir() else sampled.path
    labels = count_labels(sampled.answered)
    facts = {
        **asdict(settings),
        "generator_files": identify_model(settings.generator),
        "init_files": identify_model(settings.init) if settings.init else "generator",
        "samples_file": fingerprint(path),
        "labels": labels.as_json(),
        "scorer": sampled.scorer,
    }

    def prepare() -> Prepared:
        base = load_folder(Path(settings.init or settings.generator))
        if settings.chat:
            use_chat(base.tokenizer, settings.init or settings.generator)
        if (Path(settings.generator) / VERIFIER_FILE).is_file():
            raise InputError(
                f"{settings.generator!r} is a verifier; give the model that wrote the samples"
            )
        level = Level(settings.level)
        is_likelihood = level is Level.LIKELIHOOD
        verifier, reserved = new_verifier(base.model, base.tokenizer, settings.seed, is_likelihood)
        found = verifier_items(
            sampled, base.tokenizer, base.context, objective=settings.objective,
            language=language, supervision=settings.supervision, seed=settings.seed,
        )  # fmt: skip
        job.note(f"head on token {reserved.id} {reserved.text!r}, {reserved.how}; {labels}")
        if found.undecided:
            job.note(
                f"{len(found.undecided)} problems have no solution whose first wrong step is "
                "decided, and are left out"
            )
        items = _begin(verifier, found.items, settings, job)
        drop_residuals(base.model, settings.dropout)
        adapters = add_lora(base.model, settings.lora, settings.seed) if settings.lora else None

        def save(folder: Path, losses: Mapping[str, float]) -> None:
            _warn_of_constant(settings, items, losses, job.note)
            fields = verifier.save_fields()
            save_folder(base, folder, settings.save_dtype, adapters)
            write_json(folder / VERIFIER_FILE, {
                **fields, "token": reserved.text, "token_how": reserved.how,
                "level": str(level), "objective": settings.objective, "language": language,
                "supervision": settings.supervision, "samples": _origin(sampled),
                "generator": facts["generator_files"], "init": facts["init_files"],
                "losses": dict(losses),
            })  # fmt: skip

        return Prepared(
            base,
            TrainedModel(verifier, level, settings.objective, settings.beta),
            items,
            save,
            found.too_long,
            None if dev is None else lambda: _measure(verifier, base.tokenizer, dev, level),
            "" if dev is None else AUC,
        )

    return run_training(job, settings, facts, prepare)


def _check(settings: VerifierTraining) -> Language | None:
    """Return the text of the language loss; raise the errors of the settings themselves."""
    for model in filter(None, (settings.generator, settings.init)):
        identify_model(model)
    if settings.init_row == "probe" and settings.level == Level.LIKELIHOOD:
        raise InputError(
            "--init-row probe fits the row of a token, which --level likelihood does not use; "
            "leave it out"
        )
    if settings.objective != "pairwise" and settings.beta is not None:
        raise InputError(
            f"--beta {settings.beta:g} is the scale of --objective pairwise, not of "
            f"{settings.objective!r}; leave it out"
        )
    if settings.objective != "joint":
        if settings.language is not None:
            raise InputError(
                f"--language {settings.language} chooses the text of a loss that --objective "
                f"{settings.objective} does not have; leave it out"
            )
        return None
    return settings.language or ("right" if settings.level == Level.LIKELIHOOD else "reference")


def _begin(
    verifier: Verifier, items: list[Item], settings: VerifierTraining, job: TrainingJob
) -> list[Item]:
    """Fit the head's beginning; return the items, with initial log-probabilities if needed."""
    if job.dry_run:
        return items
    device = "cuda" if torch.cuda.is_available() else "cpu"
    verifier.to(device).eval()
    rows = list(dict.fromkeys(row for item in items for row in item if row.drawn))
    if settings.init_row == "probe":
        some = rows[:: max(1, len(rows) // PROBED)]
        owners = {row.text.question: number for number, row in enumerate(some)}
        measured = verifier.fit_row(
            [row.text for row in some],
            [row.is_right for row in some],
            [owners[row.text.question] for row in some],
        )
        shown = "not measured" if measured is None else f"{measured:.3f}"
        job.note(f"the head begins from a probe of {len(some):,} solutions, AUC within problems "
                 f"{shown} on problems that it was not fitted on")  # fmt: skip
    if verifier.kind == LIKELIHOOD:
        first = rows[: max(64, settings.batch)]
        used = rows if settings.objective == "pairwise" else first
        values = read_logprobs(verifier.model, [row.text for row in used], verifier.token_id)
        sums = {row: sum(each) for row, each in zip(used, values, strict=True)}
        loss = verifier.fit_start(
            torch.tensor([sums[row] for row in first], device=device),
            torch.tensor([float(row.is_right) for row in first], device=device),
            torch.tensor([float(row.drawn) for row in first], device=device),
        )
        job.note(f"the likelihood head starts at {loss:.2f} nats")
        if settings.objective == "pairwise":
            items = [tuple(row._replace(logprob=sums[row]) for row in item) for item in items]
    verifier.train()
    return items


def _warn_of_constant(
    settings: VerifierTraining, items: Sequence[Item], losses: Mapping[str, float], note: Note
) -> None:
    if settings.objective == "pairwise" or settings.level == Level.LIKELIHOOD:
        return
    rows = [row for item in items for row in item if row.drawn]
    sizes = [row.drawn * (len(row.ids) - row.start if settings.level == Level.TOKEN else 1)
             for row in rows]  # fmt: skip
    right = sum(size for row, size in zip(rows, sizes, strict=True) if row.is_right) / sum(sizes)
    constant = right * (1 - right)
    if losses.get(VERIFICATION, 0.0) > CONSTANT * constant:
        note(
            f"the squared error ends at {losses[VERIFICATION]:.3f}, and a constant scores "
            f"{constant:.3f}: the verifier learnt next to nothing; give --init-row probe, a higher "
            "--lr or --head-lr, more solutions, or more --epochs"
        )


def _measure(
    verifier: Verifier, tokenizer: Any, run: CandidateRun, level: Level
) -> dict[str, float]:
    """Return the AUC within problems on a development run."""
    pairs = [
        QuestionSolution(answered.problem.question, candidate.text, candidate.finished)
        for answered in run.answered
        for candidate in answered.candidates
    ]
    values = iter(read_values(verifier, encode_pairs(tokenizer, pairs)))
    by_problem = []
    for answered in run.answered:
        scores = [_score(next(values), level) for _ in answered.candidates]
        by_problem.append((scores, [candidate.right for candidate in answered.candidates]))
    found = within(by_problem)
    if found.auc is None:
        raise InputError(
            f"no problem of {str(run.path)!r} has right and wrong completions; give a --dev run "
            "with several completions of each problem (-k)"
        )
    return {AUC: found.auc, "problems": float(found.problems)}


def _score(values: Sequence[float], level: Level) -> float:
    return sum(values) / len(values) if level is Level.POOLED else values[-1]


def _origin(sampled: CandidateRun) -> dict[str, Any]:
    manifest = sampled.manifest
    names = ("model", "dataset", "decoding")
    return {
        "run": sampled.run,
        **{name: manifest.get(name) for name in names},
        "scorer": sampled.scorer,
        **count_labels(sampled.answered).as_json(),
    }
