"""The grid: every score on the samples of a generator, and on those of the self-trained one.

A round samples from a generator, trains it further on its own right samples, and trains verifiers
on all of these samples, right and wrong; all scores of a round use the same labels. The first
round's generator is the recipe's, the second's is the first round's control. All choices (the
reduction of token values to a score, the learning rate of a training by preference, the best sample
or the vote) are made on a development split.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log, tanh
from pathlib import Path
from typing import NamedTuple

from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.verifier.candidates import one_run
from gradeschool.verifier.rank import AccuracyGain, baseline, counted, paired_difference
from gradeschool.verifier.reproduce.findings import Outcomes, mean_share, quiet, summed
from gradeschool.verifier.reproduce.presets import GREEDY as RECIPES_GREEDY
from gradeschool.verifier.reproduce.presets import (
    LABELLED,
    SPLITS,
    Preset,
    control_scores,
    folder,
    kept_right,
    problems_stage,
)
from gradeschool.verifier.reproduce.stages import STAGES_FOLDER, Stage
from gradeschool.verifier.scores import SCORES_FILE, ScoreRow, choose_scores
from gradeschool.verifier.selection import (
    BEST,
    MAJORITY,
    Option,
    RankedProblem,
    SelectionSettings,
    pick,
)

WEIGHTED = "weighted"
OWN, SELF, LIKELIHOOD, TOKEN, PREFERENCE = "own", "self", "likelihood", "token", "preference"
FEW = "likelihood-few"
GREEDY, SELF_GREEDY = "greedy", "self-greedy"
# The paper's head: only from samples, with over 5,000 updates for the laptop's 30,000 labels.
TOKEN_HEAD = ("--level", "token", "--language", "right", "--optimizer", "muon", "--lr", "2e-3",
              "--warmup", "30", "--batch", "16", "--group", "1", "--epochs", "3")  # fmt: skip
# Pairs need several samples per problem: the same number of labels, from fewer problems.
FEW_SAMPLES = 8
FEW_HEAD = ("--level", "likelihood", "--optimizer", "muon", "--lr", "1e-3", "--warmup", "30",
            "--batch", "2", "--group", "8")  # fmt: skip
PREFERENCE_HEAD = ("--level", "likelihood", "--objective", "preference", "--beta", "0.1",
                   "--optimizer", "muon", "--warmup", "30", "--batch", "8", "--group", "8",
                   "--epochs", "3")  # fmt: skip
PREFERENCE_RATES = ("3e-4", "1e-3")
BY_PREFERENCE = tuple(f"{PREFERENCE}-{rate}" for rate in PREFERENCE_RATES)
SCORERS = (OWN, SELF, LIKELIHOOD, TOKEN, FEW, *BY_PREFERENCE)
# The development split: separate ordinary problems, with a seed that no other split has.
DEV, DEV_SEED = "dev", 4
LEAST = 1e-300  # replaces a score of 0 in logarithms


class Round(NamedTuple):
    """The names of a round's inputs and results; suffix: of the second round's results.

    self_trained: "" for a generator whose samples are selected only by its own log-probability.
    """

    number: int
    generator: str
    self_trained: str
    suffix: str

    def drawn(self, split: str) -> str:
        """Return the name of the run from which the scores select."""
        recipes_own = not self.suffix and split in SPLITS
        return split if recipes_own else f"{split}-samples{self.suffix}"

    def verifier(self, scorer: str) -> str:
        """Return the name of a verifier."""
        recipes_own = not self.suffix and scorer == LIKELIHOOD
        return "verifier" if recipes_own else f"verifier-{scorer}{self.suffix}"

    def scores(self, scorer: str, split: str, seed: int) -> str:
        """Return the file of a score's values for the samples of a split."""
        if not self.suffix and split in SPLITS and scorer == SELF:
            return control_scores(split, seed)
        if self._recipe_ranks(scorer, split):
            return f"{folder(split, seed)}/{SCORES_FILE}"
        return folder(f"scores-{split}-{scorer}{self.suffix}.jsonl", seed)

    def scoring(self, scorer: str, split: str, seed: int) -> str:
        """Return the name of the stage that writes these values."""
        if not self.suffix and split in SPLITS and scorer == SELF:
            return f"logprob-{split}-{seed}"
        if self._recipe_ranks(scorer, split):
            return f"rank-{split}-{seed}"
        return f"scores-{split}-{scorer}{self.suffix}-{seed}"

    def _recipe_ranks(self, scorer: str, split: str) -> bool:
        return not self.suffix and split in SPLITS and scorer in (OWN, LIKELIHOOD)

    @property
    def scorers(self) -> tuple[str, ...]:
        """Return the scores that select from this round's samples."""
        return SCORERS if self.self_trained else (OWN,)


ROUNDS = (
    Round(1, "generator", "control", ""),
    Round(2, "control", "control-second", "-control"),
    Round(3, "control-second", "", "-second"),
)


def grid_stages(preset: Preset) -> Iterator[Stage]:
    """Yield the stages of the grid, after those of the recipe."""
    yield problems_stage(preset, DEV, "test", DEV_SEED, min(preset.tested))
    for seed in preset.seeds:
        for each in ROUNDS:
            yield from _trained(preset, seed, each) if each.self_trained else ()
            for split in (*SPLITS, DEV):
                yield from _scored(preset, seed, each, split)


def _sampled(seed: int, model: str, run: str, problems: str, k: int, temperature: float,
             limit: int = 0) -> Stage:  # fmt: skip
    some = ("-n", str(limit)) if limit else ()
    drawn = ("-k", str(k), "--temperature", f"{temperature:g}", *some, "--seed", str(seed))
    path = LABELLED if problems == "labelled" else f"problems/{problems}.jsonl"
    command = ("sample", "-m", f"transformers/{folder(model, seed)}", "-d", path,
               "-o", folder(run, seed), *drawn)  # fmt: skip
    return Stage(f"{run}-{seed}", command, (f"{model}-{seed}", f"problems-{problems}"))


def _trained(preset: Preset, seed: int, each: Round) -> Iterator[Stage]:
    """Yield the samples of a round, its self-trained generator, and its verifiers."""
    of_seed = ("--seed", str(seed))
    samples = f"samples{each.suffix}"
    if each.suffix:
        yield _sampled(seed, each.generator, samples, "labelled", preset.k,
                       preset.temperature)  # fmt: skip
        right = f"right{each.suffix}"
        path = folder(f"{right}.jsonl", seed)
        kept = kept_right(preset, folder(samples, seed), LABELLED)
        yield Stage(f"{right}-{seed}", kept, (f"{samples}-{seed}", "problems-train"), path)
        command = ("finetune", "-m", folder(each.generator, seed), "-d", path,
                   "-o", folder(each.self_trained, seed), *preset.control, *of_seed)  # fmt: skip
        yield Stage(f"{each.self_trained}-{seed}", command, (f"{right}-{seed}",))
        yield _verifier(seed, each, LIKELIHOOD, samples, each.self_trained, preset.verifier)
    yield _verifier(seed, each, TOKEN, samples, each.self_trained, TOKEN_HEAD)
    few = f"samples-few{each.suffix}"
    count = preset.labelled * preset.k // FEW_SAMPLES
    yield _sampled(seed, each.generator, few, "labelled", FEW_SAMPLES, preset.temperature,
                   count)  # fmt: skip
    yield _verifier(seed, each, FEW, few, each.generator, FEW_HEAD)
    for rate in PREFERENCE_RATES:
        name = f"{PREFERENCE}-{rate}"
        yield _verifier(seed, each, name, few, each.generator, (*PREFERENCE_HEAD, "--lr", rate))


def _verifier(
    seed: int, each: Round, scorer: str, samples: str, init: str, options: Sequence[str]
) -> Stage:
    """Return a verifier's training; init: the model whose weights it starts with."""
    name = each.verifier(scorer)
    first = () if init == each.generator else ("--init", folder(init, seed))
    command = ("verifier", "train", "--generator", folder(each.generator, seed), *first,
               "--samples", folder(samples, seed), "-d", LABELLED, "-o", folder(name, seed),
               *options, "--seed", str(seed))  # fmt: skip
    return Stage(f"{name}-{seed}", command, (f"{samples}-{seed}", f"{init}-{seed}"))


def _scored(preset: Preset, seed: int, each: Round, split: str) -> Iterator[Stage]:
    """Yield the samples to select from, the greedy answers, and the scores."""
    run, problems = each.drawn(split), f"problems/{split}.jsonl"
    if run != split:
        yield _sampled(seed, each.generator, run, split, preset.n,
                       preset.test_temperature)  # fmt: skip
    if each.generator not in RECIPES_GREEDY or split not in SPLITS:
        greedy = f"{split}-{each.generator}"
        yield _sampled(seed, each.generator, greedy, split, 1, 0.0)
    for scorer in each.scorers:
        name = each.scoring(scorer, split, seed)
        if not name.startswith("scores-"):
            continue
        model, options = _reader(seed, each, scorer)
        command = ("verifier", "score", folder(run, seed), *options, "-d", problems,
                   "-o", each.scores(scorer, split, seed))  # fmt: skip
        yield Stage(name, command, (f"{run}-{seed}", f"{model}-{seed}"))


def _reader(seed: int, each: Round, scorer: str) -> tuple[str, tuple[str, ...]]:
    """Return the model behind a score, and the options for reading it."""
    if scorer in (OWN, SELF):
        model = each.generator if scorer == OWN else each.self_trained
        return model, ("--generator", folder(model, seed))
    model = each.verifier(scorer)
    options = ("--verifier", folder(model, seed))
    if scorer == TOKEN:
        return model, (*options, "--tokens")
    if scorer in BY_PREFERENCE:
        return model, (*options, "--generator", folder(model, seed))
    return model, options


class GridCell(NamedTuple):
    """One selection method, over the seeds that have it.

    scorer: "" for the majority vote and the greedy answers. reduction: from token values to the
    score. development: its accuracy on the development split, None if that was not run. over: the
    differences from other cells of the round, by name.
    """

    round: int
    scorer: str
    reduction: str
    strategy: str
    accuracy: float
    ci95: Interval
    by_seed: Sequence[float]
    development: float | None
    over: Mapping[str, AccuracyGain]


CellName = tuple[str, str, str]  # scorer, reduction, strategy


def grid(root: Path, preset: Preset, split: str) -> list[GridCell]:
    """Return the cells of a split for which a recipe's folder has results.

    For each score, the cells have the reduction that is best on the development split, or without a
    development run the first one.
    """
    cells = []
    for each in ROUNDS:
        by_seed = {seed: outcomes_by_cell(root, seed, each, split) for seed in preset.seeds}
        tuned = [outcomes_by_cell(root, seed, each, DEV) for seed in preset.seeds]
        development = {
            name: mean_share(summed([outcomes[name] for outcomes in tuned if name in outcomes]))
            for name in {name for outcomes in tuned for name in outcomes}
        }
        names = list(dict.fromkeys(name for outcomes in by_seed.values() for name in outcomes))
        chosen = _chosen(names, development)
        cells += [_cell(each, name, by_seed, development, chosen) for name in chosen]
    return cells


def _chosen(names: Sequence[CellName], development: Mapping[CellName, float]) -> list[CellName]:
    """Return the names of the cells, with the best reduction on the development split."""
    groups: dict[tuple[str, str], list[CellName]] = {}
    for name in names:
        scorer, _, strategy = name
        groups.setdefault((family_of_scorer(scorer), strategy), []).append(name)
    return [max(group, key=lambda name: development.get(name, 0.0)) for group in groups.values()]


def family_of_scorer(scorer: str) -> str:
    """Return the name of a score without its learning rate."""
    return PREFERENCE if scorer in BY_PREFERENCE else scorer


def _cell(
    each: Round,
    name: CellName,
    by_seed: Mapping[int, Mapping[CellName, Outcomes]],
    development: Mapping[CellName, float],
    others: Sequence[CellName],
) -> GridCell:
    """Return a cell; its differences are over the seeds with both cells."""
    scorer, reduction, strategy = name
    measured = [outcomes[name] for outcomes in by_seed.values() if name in outcomes]
    pooled = summed(measured)
    over = {}
    for other in others:
        both = [outcomes for outcomes in by_seed.values() if name in outcomes and other in outcomes]
        if both and other != name:
            before, after = (
                summed([outcomes[which] for outcomes in both]) for which in (other, name)
            )
            over[" ".join(filter(None, (other[0], other[2])))] = paired_difference(before, after)
    shares = [mean_share(outcomes) for outcomes in measured]
    interval = clustered_wilson(list(pooled.values()))
    return GridCell(each.number, scorer, reduction, strategy, mean_share(pooled), interval, shares,
                    development.get(name), over)  # fmt: skip


def outcomes_by_cell(root: Path, seed: int, each: Round, split: str) -> Mapping[CellName, Outcomes]:
    """Return the outcomes of every selection method with existing results."""
    problems = root / f"problems/{split}.jsonl"
    run = root / folder(each.drawn(split), seed)
    if not is_finished(root, f"{each.drawn(split)}-{seed}"):
        return {}
    sampled = one_run(str(run), str(problems), quiet)
    results: dict[CellName, dict[str, tuple[int, int]]] = {}
    for name, model in ((GREEDY, each.generator), (SELF_GREEDY, each.self_trained)):
        if is_finished(root, f"{split}-{model}-{seed}"):
            path = str(root / folder(f"{split}-{model}", seed))
            results["", "", name] = baseline(sampled, path, str(problems), quiet)[1]
    read = {}
    for scorer in each.scorers:
        if is_finished(root, each.scoring(scorer, split, seed)):
            read[scorer] = choose_scores(root / each.scores(scorer, split, seed), None)[1]
    for answered in sampled.answered:
        options = [Option(each.answer, each.right) for each in answered.candidates]
        keys = [candidate.key for candidate in answered.candidates]
        id = answered.problem.id
        results.setdefault(("", "", MAJORITY), {})[id] = _picked(id, options, MAJORITY)
        for scorer, rows in read.items():
            for reduction, weights in _weights(scorer, keys, rows, read.get(OWN, {})).items():
                weighted = [
                    option._replace(score=w) for option, w in zip(options, weights, strict=True)
                ]
                for strategy in (BEST, WEIGHTED):
                    cell = results.setdefault((scorer, reduction, strategy), {})
                    cell[id] = _picked(id, weighted, strategy)
    return results


def _picked(id: str, options: Sequence[Option], strategy: str) -> tuple[int, int]:
    result = pick(RankedProblem(id, "", options), False, SelectionSettings(draws=1), ())
    return counted(result, strategy)


def _weights(
    scorer: str, keys: Sequence[str], rows: Mapping[str, ScoreRow], own: Mapping[str, ScoreRow]
) -> dict[str, list[float]]:
    """Return the scores of a problem's solutions by reduction; scores for votes are above 0."""
    chosen = [rows[key] for key in keys]
    if scorer == TOKEN:
        values = [row.values or [row.score] for row in chosen]
        return {
            "last": [each[-1] for each in values],
            "mean": [sum(each) / len(each) for each in values],
            "min": [min(each) for each in values],
        }
    scores = [row.score for row in chosen]
    if scorer not in (OWN, SELF, *BY_PREFERENCE):
        return {"last": scores}
    means = [_mean_logprob(row) for row in chosen]
    sums = [mean * row.length for mean, row in zip(means, chosen, strict=True)]
    if scorer in (OWN, SELF):
        return {"mean": _exps(means), "sum": _exps(sums)}
    results = {"sum": scores, "mean": _exps(means)}
    if own:
        before = [_mean_logprob(own[key]) * own[key].length for key in keys]
        gains = [after - first for after, first in zip(sums, before, strict=True)]
        results["ratio"] = [0.5 + 0.5 * tanh(gain / 2) for gain in gains]
    return results


def _mean_logprob(row: ScoreRow) -> float:
    """Return a solution's mean log-probability: the recorded one, or the logarithm of its score."""
    return log(max(row.score, LEAST)) if row.logprob is None else row.logprob


def _exps(logprobs: Sequence[float]) -> list[float]:
    return [exp(value) for value in logprobs]


def is_finished(root: Path, stage: str) -> bool:
    """Return whether a stage in a recipe's folder is done."""
    return (root / STAGES_FOLDER / f"{stage}.json").is_file()
