"""Measure how often each 95 % interval contains the true value, by simulation.

    python benchmarks/interval_coverage.py

Problems have a difficulty; both runs draw their samples with probabilities that depend on it, so
that runs agree on most problems, like real ones. The true value is the mean over the whole
population. Prints the share of intervals that contain it, and the standard deviation of that share.
"""

import argparse
import random
import time
from math import sqrt

from gradeschool.scoring.statistics import (
    Pair,
    clustered_wilson,
    mean_difference,
    paired_bootstrap,
    paired_interval,
    paired_test,
    unpaired,
    wilson,
)

TRUTHS = 400_000  # number of problems for the true accuracies
GAIN = 0.05  # share of problems on which the second run is better


def chances(source: random.Random) -> tuple[float, float]:
    """Return one problem's probability of a right sample in both runs: mostly easy or hard."""
    first = source.betavariate(0.6, 0.4)
    second = first if source.random() > GAIN else source.betavariate(2, 1)
    return first, second


def right(source: random.Random, chance: float, samples: int) -> int:
    return sum(source.random() < chance for _ in range(samples))


def simulate(problems: int, samples: int, runs: int, seed: int) -> dict[str, float]:
    """Return the coverage of each interval and the false alarms of each test."""
    source = random.Random(seed)
    drawn = [chances(source) for _ in range(TRUTHS)]
    mean = [sum(column) / TRUTHS for column in zip(*drawn, strict=True)]
    covered = dict.fromkeys(
        ("accuracy", "accuracy, samples taken for independent", "paired difference",
         "paired bootstrap alone", "unpaired difference, on pairs"), 0,
    )  # fmt: skip
    for _ in range(runs):
        drawn = [chances(source) for _ in range(problems)]
        pairs = [
            Pair(
                right(source, chance_a, samples), samples, right(source, chance_b, samples), samples
            )
            for chance_a, chance_b in drawn
        ]
        first = [(pair.right_a, samples) for pair in pairs]
        second = [(pair.right_b, samples) for pair in pairs]
        naive = wilson(sum(k for k, _ in first), problems * samples)
        gap = mean[1] - mean[0]
        for name, (low, high), truth in (
            ("accuracy", clustered_wilson(first), mean[0]),
            ("accuracy, samples taken for independent", naive, mean[0]),
            ("paired difference", paired_interval(pairs)[0], gap),
            ("paired bootstrap alone", paired_bootstrap(pairs, resamples=1000), gap),
            ("unpaired difference, on pairs", unpaired(first, second).interval, gap),
        ):
            covered[name] += low <= truth <= high
    return {name: count / runs for name, count in covered.items()}


def false_alarms(problems: int, samples: int, runs: int, seed: int) -> dict[str, float]:
    """Return how often each test at 5 % finds a difference that does not exist."""
    source = random.Random(seed)
    alarms = {"paired test": 0, "unpaired z test": 0}
    detections = {"paired test": 0, "unpaired z test": 0}
    for _ in range(runs):
        for better, counts in ((0.0, alarms), (0.4, detections)):
            pairs = []
            for _ in range(problems):
                chance = source.betavariate(0.6, 0.4)
                better_chance = chance + better * chance * (1 - chance)
                pairs.append(
                    Pair(right(source, chance, samples), samples,
                         right(source, better_chance, samples), samples)
                )  # fmt: skip
            counts["paired test"] += paired_test(pairs).p < 0.05
            alone = unpaired(
                [(p.right_a, p.n_a) for p in pairs], [(p.right_b, p.n_b) for p in pairs]
            )
            counts["unpaired z test"] += alone.p < 0.05
            assert -1 <= mean_difference(pairs) <= 1
    names = {f"{name}, no difference": count / runs for name, count in alarms.items()}
    return names | {f"{name}, a real one": count / runs for name, count in detections.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.process_time()
    error = 100 * sqrt(0.95 * 0.05 / options.runs)
    print(f"{options.runs} simulated runs of {options.problems} problems; shares +- {error:.1f}")
    for samples in (1, 4, 32):
        print(f"\nk = {samples}")
        for name, share in simulate(options.problems, samples, options.runs, options.seed).items():
            print(f"  {100 * share:5.1f} %  {name}")
        if samples == 1:
            for name, share in false_alarms(
                options.problems, samples, options.runs, options.seed
            ).items():
                print(f"  {100 * share:5.1f} %  found: {name}")
    print(f"\n{time.process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
