"""Train a verifier on the labelled completions of a run.

There are two losses: squared errors of the verifier's values, and a language-modelling loss. Both
are sums over solution tokens with questions masked; the training loop divides each by its number of
tokens and adds them unweighted, like the paper's joint objective (arXiv 2110.14168, section 4.2 and
appendix B). The likelihood head is trained by cross-entropy instead of squared errors, or by
preference, as in V-STaR (arXiv 2402.06457).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from gradeschool.atomic import write_json
from gradeschool.errors import InputError
from gradeschool.formats.own_run import fingerprint
from gradeschool.models.gguf_file import VERIFIER_FILE
from gradeschool.models.local import files_digest
from gradeschool.verifier.adapters import ADAPTER, add_lora, take_lora
from gradeschool.verifier.base_model import drop_residuals, identity_of, load_folder, save_folder
from gradeschool.verifier.candidates import (
    CandidateRun,
    one_run,
    sampler_of,
)
from gradeschool.verifier.head import (
    LikelihoodVerifier,
    ReservedToken,
    Verifier,
    VerifierOutput,
    new_verifier,
)
from gradeschool.verifier.labels import (
    LabelledGroups,
    LabelledSolution,
    Language,
    SolutionGroup,
    Supervision,
    count_labels,
    groups_of,
    in_words,
)
from gradeschool.verifier.packing import (
    PASS_TOKENS,
    PackedRows,
    ShuffledBatches,
    divided,
    pack_solutions,
    take_packed,
)
from gradeschool.verifier.session import (
    Listener,
    PreparedTraining,
    Session,
    run,
)
from gradeschool.verifier.training import TrainingResult, TrainingSettings

JOINT, PREFERENCE = "joint", "preference"  # objectives
BETA = 0.1
VERIFICATION, LANGUAGE = "verification", "language"  # the names of the two losses
Objective = Literal["joint", "verification", "preference"]


REFERENCE_GROUPS = 64  # problems per batch when initial log-probabilities are computed


class Level(StrEnum):
    """What is learnt: a value at every solution token, or only at the last one, as in the paper.

    Other levels: the last token of each step, as in process reward models; or the likelihood of the
    whole solution, see `head.LikelihoodVerifier`.
    """

    TOKEN = "token"
    STEP = "step"
    SOLUTION = "solution"
    LIKELIHOOD = "likelihood"


@dataclass(frozen=True, slots=True)
class VerifierTraining(TrainingSettings):
    """The settings of a verifier's training.

    generator: the folder of the model that wrote the samples. init: the folder with the verifier's
    initial weights, None for the generator. samples: a run. batch: groups per update; a group is a
    problem with at most `group` of its distinct solutions. level, objective: the paper's are
    "token" and "joint". supervision: "process" uses the exact first wrong step of fresh problems as
    the label. language: the texts of the language loss in joint training; None means the reference
    solutions, or with the level "likelihood" the right samples.

    The objective "preference" is direct preference optimization (arXiv 2305.18290) on all pairs of
    a right and a wrong solution in a group, relative to the initial model; beta: its scale, None
    for `BETA`. Gain and bias of the head learn the labels without changing log-probabilities.
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
    epochs: float = 1.0
    batch: int = 8
    group: int = 8


def train_verifier(settings: VerifierTraining, session: Session) -> Mapping[str, Any]:
    """Train a verifier into the folder of a session, from its checkpoint if there is one.

    Returns training.json's fields; their "status" is "running" if a signal ended it early. A dry
    run plans updates and memory, and writes nothing. Raises InputError for models, samples or
    settings that cannot be used, StoreError for a folder that contains another training or cannot
    be written.
    """
    _check(settings)
    sampled = _samples(settings, session.listener)
    return run(
        session,
        lambda: verifier_facts(settings, sampled),
        lambda: _prepare(settings, sampled, session),
    )


def _check(settings: VerifierTraining) -> None:
    """Raise the errors of the settings themselves, before a dataset is fetched."""
    if settings.objective == PREFERENCE and settings.level != Level.LIKELIHOOD:
        raise InputError(
            f"--objective preference trains log-probabilities, not the level "
            f"{str(settings.level)!r}; give --level likelihood"
        )
    if settings.objective != PREFERENCE and settings.beta is not None:
        raise InputError(
            f"--beta {settings.beta} is the scale of --objective preference, not of "
            f"{settings.objective!r}; leave it out"
        )
    if settings.objective != JOINT and settings.language is not None:
        raise InputError(
            f"--language {settings.language} chooses the text of a loss that --objective "
            f"{settings.objective} does not have; leave it out"
        )
    for model in filter(None, (settings.generator, settings.init)):
        identity_of(model)


def _samples(settings: VerifierTraining, listener: Listener) -> CandidateRun:
    sampled = one_run(settings.samples, settings.dataset, listener.note)
    sampler = sampler_of(sampled.manifest)
    if sampler is None:
        listener.note(
            f"{settings.samples!r} does not say which model's files wrote it: it was not compared "
            f"with {settings.generator!r}"
        )
    elif sampler.fingerprint != files_digest(Path(settings.generator)):
        raise InputError(
            f"the samples in {settings.samples!r} were written by {sampler.name!r} "
            f"({sampler.fingerprint}), not "
            f"by the model in {settings.generator!r}; give that model with --generator, and with "
            "--init the one to start from"
        )
    return sampled.first(settings.limit)


def verifier_facts(settings: VerifierTraining, sampled: CandidateRun) -> dict[str, Any]:
    """Return everything that determines the verifier, for training.json."""
    facts = asdict(settings)
    del facts["beta"]
    if settings.objective == PREFERENCE:  # an earlier release has it only there
        facts["beta"] = beta_of(settings)
    facts["generator_files"] = identity_of(settings.generator)
    if settings.init is not None:
        facts["init_files"] = identity_of(settings.init)
    path = sampled.path / "completions.jsonl" if sampled.path.is_dir() else sampled.path
    facts["samples_file"] = fingerprint(path)
    facts["labels"] = count_labels(sampled.answered).as_json()
    facts["scorer"] = sampled.scorer
    return facts


def beta_of(settings: VerifierTraining) -> float:
    """Return the scale of direct preference optimization."""
    return BETA if settings.beta is None else settings.beta


def language_of(settings: VerifierTraining) -> Language | None:
    """Return the source of the language loss, None without that loss."""
    if settings.objective != JOINT:
        return None
    return settings.language or ("right" if settings.level == Level.LIKELIHOOD else "reference")


def _prepare(
    settings: VerifierTraining, sampled: CandidateRun, session: Session
) -> PreparedTraining:
    base = load_folder(Path(settings.init or settings.generator))
    if (Path(settings.generator) / VERIFIER_FILE).is_file():
        raise InputError(
            f"{settings.generator!r} is a verifier; give the model that wrote the samples"
        )
    level = Level(settings.level)
    verifier, reserved = new_verifier(
        base.model, base.tokenizer, settings.seed, level is Level.LIKELIHOOD
    )
    drop_residuals(base.model, settings.dropout)
    if settings.lora:
        add_lora(base.model, settings.lora, settings.seed)
    with suppress(InputError):  # if refused, rows are padded
        take_packed(base.model)
    data = groups_of(
        sampled, base.tokenizer, base.context, language_of(settings), settings.supervision
    )
    beta = None
    if settings.objective == PREFERENCE and isinstance(verifier, LikelihoodVerifier):
        data = _with_preferences(verifier, data, sampled, session)
        beta = beta_of(settings)
    batches = GroupBatches(
        data.groups, settings.epochs, settings.batch, settings.group, settings.seed,
        level=level, pass_tokens=settings.pass_tokens, beta=beta,
    )  # fmt: skip
    _announce(session, sampled, verifier, reserved, data, batches)
    if isinstance(verifier, LikelihoodVerifier):
        loss = _fit_start(verifier, batches, session.world.device)
        session.note(f"the likelihood head starts at {loss:.2f} nats")

    def save(trained: TrainingResult, files: Path) -> None:
        take_lora(trained.model.model, files / ADAPTER)
        save_folder(base, trained.model.model, files, settings.save_dtype)
        fields = {**trained.model.fields(), **_origin(settings, sampled, reserved, trained)}
        write_json(files / VERIFIER_FILE, fields)

    return PreparedTraining(verifier, batches, losses, settings, save, data.too_long)


def _with_preferences(
    verifier: LikelihoodVerifier, data: LabelledGroups, sampled: CandidateRun, session: Session
) -> LabelledGroups:
    """Return the problems with right and wrong solutions, with initial log-probabilities.

    Raises InputError if there is no such problem.
    """
    mixed = [group for group in data.groups if len({each.right for each in group.solutions}) == 2]
    if not mixed:
        raise InputError(
            f"no problem of {str(sampled.path)!r} has both right and wrong completions; "
            "--objective preference compares them: sample more of each problem (-k)"
        )
    session.note(
        f"{len(mixed):,} of {len(data.groups):,} problems have right and wrong completions"
    )
    device = session.world.device
    verifier.to(device).eval()
    groups = []
    for start in range(0, len(mixed), REFERENCE_GROUPS):
        part = mixed[start : start + REFERENCE_GROUPS]
        with torch.inference_mode():
            output = verifier(batch_of(part, Level.LIKELIHOOD).rows.to(device))
        logprobs = iter(output.logprobs.cpu().tolist())
        for group in part:
            solutions = [each._replace(logprob=next(logprobs)) for each in group.solutions]
            groups.append(group._replace(solutions=solutions))
    verifier.cpu().train()
    verifier.head_alone = True
    return data._replace(groups=groups)


def _fit_start(verifier: LikelihoodVerifier, batches: GroupBatches, device: str) -> float:
    """Fit the head to the first update's solutions; return the initial cross-entropy."""
    verifier.to(device).eval()
    sums, right, drawn = [], [], []
    with torch.inference_mode():
        for batch in batches.update(0, 1):
            counts = batch.weights.sum(1)
            logprobs = verifier.solution_logprobs(batch.rows.to(device)).sum(1).cpu()
            sums.append(logprobs[counts > 0])
            right.append((batch.targets * batch.weights).sum(1)[counts > 0] / counts[counts > 0])
            drawn.append(counts[counts > 0])
    loss = verifier.cpu().fit_start(torch.cat(sums), torch.cat(right), torch.cat(drawn))
    verifier.train()
    return loss


def _announce(
    session: Session,
    sampled: CandidateRun,
    verifier: Verifier,
    reserved: ReservedToken,
    data: LabelledGroups,
    batches: GroupBatches,
) -> None:
    weights = sum(weight.numel() for weight in verifier.parameters())
    token = f"token {reserved.id} {reserved.text!r}, {reserved.how}"
    session.note(
        f"{weights:,} weights, head on {token}; {in_words(count_labels(sampled.answered))}; "
        f"{len(batches):,} updates of {batches.batch} groups; {session.world.describe()}"
    )
    if data.undecided:
        session.note(
            f"{len(data.undecided)} problems have no solution whose first wrong step is decided, "
            "and are left out"
        )
    if data.too_long:
        session.note(
            f"{len(data.too_long)} problems have no solution that the model can read, and are "
            f"left out: {', '.join(data.too_long[:5])}"
        )


def _origin(
    settings: VerifierTraining,
    sampled: CandidateRun,
    reserved: ReservedToken,
    trained: TrainingResult,
) -> dict[str, Any]:
    """Return the fields of verifier.json beside the head."""
    manifest = sampled.manifest
    return {
        "token": reserved.text,
        "token_how": reserved.how,
        "level": str(settings.level),
        "objective": settings.objective,
        "language": language_of(settings),
        "supervision": settings.supervision,
        "generator": identity_of(settings.generator),
        "init": identity_of(settings.init) if settings.init else "generator",
        "samples": {
            "run": sampled.run,
            "model": manifest.get("model"),
            "dataset": manifest.get("dataset"),
            "decoding": manifest.get("decoding"),
            "scorer": sampled.scorer,
            **count_labels(sampled.answered).as_json(),
        },
        "updates": trained.updates,
        "losses": dict(trained.losses),
    }


class Preferences(NamedTuple):
    """Pairs of a right and a wrong solution of the same problem.

    right, wrong: [pairs], their rows. logprobs: [rows], under the initial model. beta: the scale of
    direct preference optimization.
    """

    right: Tensor
    wrong: Tensor
    logprobs: Tensor
    beta: float

    def to(self, device: Any) -> Preferences:
        """Return the pairs on a device."""
        right, wrong, logprobs = (each.to(device) for each in self[:3])
        return Preferences(right, wrong, logprobs, self.beta)

    def loss(self, logprobs: Tensor) -> Tensor:
        """Return the summed loss of solutions with these log-probabilities, [rows]."""
        gains = logprobs - self.logprobs
        return -logsigmoid(self.beta * (gains[self.right] - gains[self.wrong])).sum()


@dataclass(frozen=True, slots=True)
class GroupBatch:
    """Rows with their targets.

    weights: [rows, S], of each value: 0 at questions, padding and references, else how often the
    solution was drawn. targets: [rows, S], of the values. references: indexes of the rows in the
    language loss, possibly empty.
    """

    rows: PackedRows
    weights: Tensor
    targets: Tensor
    references: Tensor
    counts: Mapping[str, float]
    tokens: int
    preferences: Preferences | None = None

    def to(self, device: Any) -> GroupBatch:
        """Return the batch on a device."""
        return replace(
            self,
            rows=self.rows.to(device),
            weights=self.weights.to(device),
            targets=self.targets.to(device),
            references=self.references.to(device),
            preferences=self.preferences and self.preferences.to(device),
        )


def batch_of(
    groups: Sequence[SolutionGroup], level: Level = Level.TOKEN, beta: float | None = None
) -> GroupBatch:
    """Return the batch of groups; duplicates count as often as they were drawn.

    beta: for training by preference, where every pair of distinct solutions counts once.
    """
    solutions: list[tuple[int, Sequence[int]]] = []
    labelled: list[LabelledSolution] = []
    references: list[int] = []
    for index, group in enumerate(groups):
        for solution in group.solutions:
            if group.learn_right and solution.right:
                references.append(len(solutions))
            solutions.append((index, solution.ids))
            labelled.append(solution)
        if group.reference is not None:
            references.append(len(solutions))
            solutions.append((index, group.reference))
            labelled.append(LabelledSolution(group.reference, right=True, drawn=0))
    rows = pack_solutions([group.question for group in groups], solutions)
    mask = rows.solution_mask
    places = torch.arange(mask.shape[1])  # place t of a body has the solution's token t - 1
    if level is Level.STEP:
        at_ends = torch.zeros_like(mask)
        for row, solution in enumerate(labelled):
            at_ends[row, list(solution.ends)] = True
        mask &= at_ends
    elif level is not Level.TOKEN:
        mask &= places == rows.body_mask.sum(1, keepdim=True) - 1
    right_tokens = torch.tensor([solution.right_tokens for solution in labelled])
    targets = (places <= right_tokens[:, None]).float()
    drawn = torch.tensor([solution.drawn for solution in labelled], dtype=torch.float32)
    weights = mask * drawn[:, None]
    numbers = torch.tensor(references, dtype=torch.long)
    counts = {VERIFICATION: float(weights.sum())}
    if any(group.learn_right or group.reference is not None for group in groups):
        counts[LANGUAGE] = float(rows.solution_mask[numbers].sum())
    preferences = None
    if beta is not None:
        pairs = _pairs([index for index, _ in solutions], labelled)
        logprobs = torch.tensor([solution.logprob for solution in labelled])
        preferences = Preferences(pairs[:, 0], pairs[:, 1], logprobs, beta)
        counts[PREFERENCE] = float(len(pairs))
    tokens = int(rows.prefix_mask.sum() + rows.body_mask.sum())
    return GroupBatch(rows, weights, targets, numbers, counts, tokens, preferences)


def _pairs(questions: Sequence[int], labelled: Sequence[LabelledSolution]) -> Tensor:
    """Return the rows of all pairs of a right and a wrong solution of a question: [pairs, 2]."""
    by_question: dict[int, tuple[list[int], list[int]]] = {}
    for row, (question, solution) in enumerate(zip(questions, labelled, strict=True)):
        by_question.setdefault(question, ([], []))[int(solution.right)].append(row)
    pairs = [pair for wrong, right in by_question.values() for pair in product(right, wrong)]
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)


def losses(verifier: Any, batch: GroupBatch) -> dict[str, Tensor]:
    """Return the losses of a batch, each summed over the tokens in `batch.counts`."""
    references = batch.references if LANGUAGE in batch.counts else None
    output: VerifierOutput = verifier(batch.rows, references)
    if output.logits is None:
        errors = (output.values - batch.targets) ** 2
    else:
        errors = binary_cross_entropy_with_logits(output.logits, batch.targets, reduction="none")
    sums = {VERIFICATION: (errors * batch.weights).sum()}
    if output.language is not None:
        sums[LANGUAGE] = output.language.sum()
    if batch.preferences is not None and output.logprobs is not None:
        sums[PREFERENCE] = batch.preferences.loss(output.logprobs)
    return sums


class GroupBatches(ShuffledBatches[tuple[int, int]]):
    """Batches of groups.

    A problem with more than `most` solutions is split into groups of similar size, at random in
    every epoch. Each group includes the reference solution, so that language data and verifier data
    are mixed equally.
    """

    kind = "groups"

    def __init__(
        self,
        groups: Sequence[SolutionGroup],
        epochs: float,
        batch: int,
        most: int,
        seed: int = 0,
        *,
        level: Level = Level.TOKEN,
        pass_tokens: int = PASS_TOKENS,
        beta: float | None = None,
    ) -> None:
        parts = [
            (index, part)
            for index, group in enumerate(groups)
            for part in range(_parts(group, most))
        ]
        super().__init__(parts, epochs, batch, seed)
        self.groups = groups
        self.beta = beta
        self.most = most
        self.level = level
        self.pass_tokens = pass_tokens

    def update(self, number: int, processes: int) -> list[GroupBatch]:
        """Return the passes of an update; raises InputError if a process would get nothing."""
        chosen = self.parts(number, processes)
        lengths = [group_tokens(group) for group in chosen]
        parts = divided(lengths, processes, self.pass_tokens)
        return [
            batch_of([chosen[index] for index in part], self.level, self.beta) for part in parts
        ]

    def parts(self, number: int, processes: int) -> list[SolutionGroup]:
        """Return the groups of an update, split; raises InputError as `update`."""
        return [self._part(epoch, *item) for epoch, item in self.of_update(number, processes)]

    def _part(self, epoch: int, problem: int, part: int) -> SolutionGroup:
        """Return a part of a problem's group in an epoch."""
        group = self.groups[problem]
        count = _parts(group, self.most)
        if count == 1:
            return group
        solutions = list(group.solutions)
        Random(f"{self.seed}:{epoch}:{problem}").shuffle(solutions)  # noqa: S311
        return group._replace(solutions=solutions[part::count])


def group_tokens(group: SolutionGroup) -> int:
    """Return the number of tokens in a group's forward pass."""
    solutions = sum(len(solution.ids) for solution in group.solutions)
    return len(group.question) + solutions + len(group.reference or ())


def _parts(group: SolutionGroup, most: int) -> int:
    return -(-len(group.solutions) // most)
