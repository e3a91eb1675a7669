"""Measure a verifier at test time: every strategy that picks one of N answers, by rank or vote.

It needs only recorded scores, not a model. Every problem counts once, whatever its number of
completions; intervals and tests are over problems. For fewer completions than a problem has, a
result is the mean over subsets: over all of them for the best by a score, which has a closed form,
and for votes over all orders of all of them if they are few, else over random ones.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from math import comb, exp, perm
from operator import attrgetter
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.run_folder import ScoreRow, choose_scores, scores_path
from gradeschool.formats.values import ReadOptions, mapping
from gradeschool.printable import gain
from gradeschool.scoring import statistics
from gradeschool.scoring.at_k import CandidateRun, curve_sizes, one_run, pass_at_k
from gradeschool.scoring.sources import Warn, split_run
from gradeschool.verifier.scores import add_scores, is_model, load_rater, other_prompt

LEAST_WEIGHT = 1e-300  # for a vote whose score is not above 0, below every other vote's
DRAWS = 20  # random subsets of a problem's completions, for votes among fewer than all
MOST_ORDERS = 64  # up to this many ordered subsets, all of them vote
BEYOND = 1.0  # from 0.5; a verifier has few values further outside 0 and 1
LEAST_ODDS = 1e-3  # a probability is at least this far from 0 and 1
MEAN, MAJORITY, COVERAGE, BEST = "mean", "majority", "coverage", "best"
TOP, ANSWER_SHARE, LOGPROB, VERIFIER = "top", "share", "logprob", "verifier"
SHARE_WEIGHT = 0.2  # of an answer's share of the completions, beside the score
# name -> its title, and its heading in narrow columns
STRATEGIES = {
    MEAN: ("one completion (mean test@1)", "one"),
    MAJORITY: ("majority vote", "majority"),
    BEST: ("best by verifier", "best"),
    TOP: ("vote of the verifier's top {k}", "top {k}"),  # as "top 5", for k = 5
    "weighted": ("verifier-weighted vote", "weighted"),
    "odds": ("odds-weighted vote, p/(1-p)", "odds"),
    ANSWER_SHARE: (f"score + {SHARE_WEIGHT} x answer's share", "+ share"),
    LOGPROB: ("best by mean logprob", "logprob"),
    "probable": ("vote weighted by exp(mean logprob)", "p vote"),
    COVERAGE: ("any right (coverage)", "any"),
}


class RankedCompletion(NamedTuple):
    """One completion of a problem.

    answer: as the scorer compares it; None if there is none, in which case the completion does not
    vote. score: of the verifier. logprob: the mean over its tokens under the generator.
    """

    answer: str | None
    right: bool
    score: float = 0.0
    logprob: float = 0.0
    text: str = ""


# What completions are ordered by.
SCORES: dict[str, Callable[[RankedCompletion], float]] = {
    VERIFIER: attrgetter("score"), LOGPROB: attrgetter("logprob"),
}  # fmt: skip
# The weight of a completion's vote, by its name in STRATEGIES.
WEIGHTS: dict[str, Callable[[RankedCompletion], float]] = {
    MAJORITY: lambda completion: 1.0,
    "weighted": lambda completion: completion.score if completion.score > 0 else LEAST_WEIGHT,
    "odds": lambda each: (p := min(max(each.score, LEAST_ODDS), 1 - LEAST_ODDS)) / (1 - p),
    "probable": lambda completion: exp(completion.logprob),
}
BY_LOGPROB = (LOGPROB, "probable")  # need log-probabilities


def title_of(strategy: str, short: bool = False) -> str:
    """Return the title of a strategy; short: for narrow columns."""
    name, _, k = strategy.partition(" ")
    return STRATEGIES[name][short].format(k=k)


class RankedProblem(NamedTuple):
    """A problem with its completions by number."""

    id: str
    completions: Sequence[RankedCompletion]


class ProblemResult(NamedTuple):
    """One problem: by strategy, the probability of a right answer for each number of completions.

    ns: those numbers; the last is all of its completions.
    """

    problem: RankedProblem
    ns: Sequence[int]
    by_strategy: Mapping[str, Sequence[float]]


def problem_result(
    problem: RankedProblem,
    has_logprob: bool,
    ns: Sequence[int],
    voters: Sequence[int] = (5,),
    seed: int = 0,
) -> ProblemResult:
    """Return the results of every strategy on one problem, for each number n of its completions.

    voters: numbers k of the verifier's best completions that vote; seed: of the random subsets.
    A vote goes to the answer with the largest sum of weights; a tie to the answer seen first, among
    the verifier's best k to the one with the highest score. All votes use the same random subsets.
    """
    completions, count = problem.completions, len(problem.completions)
    sizes = sorted({n for n in ns if n < count} | {count})
    source = Random(f"{seed} {problem.id}")  # noqa: S311  (statistics, no secret)
    everyone = list(range(count))
    orders = [source.sample(everyone, count) for _ in range(DRAWS)]
    answers = [completion.answer for completion in completions]
    right = {completion.answer: completion.right for completion in completions} | {None: False}
    votes = {
        name: partial(_elect, answers, [weigh(completion) for completion in completions])
        for name, weigh in WEIGHTS.items()
        if has_logprob or name not in BY_LOGPROB
    }
    by_rank = sorted(everyone, key=lambda index: -completions[index].score)
    ranks = {index: rank for rank, index in enumerate(by_rank)}
    correct = sum(completion.right for completion in completions)
    found: dict[str, list[float]] = {
        MEAN: [correct / count] * len(sizes),
        COVERAGE: [float(pass_at_k(count, correct, n)) for n in sizes],
    }
    for n in sizes:
        drawn: Sequence[Sequence[int]] = [order[:n] for order in orders]
        if n in (1, count):
            drawn = [everyone] if n == count else [[index] for index in everyone]
        elif perm(count, n) <= MOST_ORDERS:
            drawn = list(permutations(everyone, n))
        ranked = [sorted(chosen, key=ranks.__getitem__) for chosen in drawn]
        ballots = [
            *((name, elect, drawn) for name, elect in votes.items()),
            *((f"{TOP} {k}", votes[MAJORITY], [best[:k] for best in ranked]) for k in voters),
            (ANSWER_SHARE, partial(_elect_by_share, completions), drawn),
        ]
        for name, elect, chosen in ballots:
            elected = [elect(each) for each in chosen]
            accuracy = sum(right[answer] for answer in elected) / len(elected)
            found.setdefault(name, []).append(accuracy)
    for name, score in SCORES.items():
        if has_logprob or name not in BY_LOGPROB:
            scores = [score(completion) for completion in completions]
            by_score = BEST if name == VERIFIER else name
            found[by_score] = [best_of(completions, scores, n) for n in sizes]
    order = list(STRATEGIES)
    names = sorted(found, key=lambda name: order.index(name.partition(" ")[0]))
    return ProblemResult(problem, sizes, {name: found[name] for name in names})


def _elect(
    answers: Sequence[str | None], weights: Sequence[float], chosen: Sequence[int]
) -> str | None:
    """Return the answer with the largest sum of weights, the first of equals; None without any."""
    sums: dict[str, float] = {}
    for index in chosen:
        if (answer := answers[index]) is not None:
            sums[answer] = sums.get(answer, 0.0) + weights[index]
    return max(sums, key=sums.__getitem__, default=None)


def _elect_by_share(completions: Sequence[RankedCompletion], chosen: Sequence[int]) -> str | None:
    """Return the answer with the highest score + SHARE_WEIGHT x its share of the completions."""
    counts = Counter(completions[index].answer for index in chosen)
    counts[None] = 0
    best: dict[str | None, float] = {}
    for index in chosen:
        answer, score = completions[index].answer, completions[index].score
        best[answer] = max(best.get(answer, score), score)
    return max(best, key=lambda answer: best[answer] + SHARE_WEIGHT * counts[answer] / len(chosen))


def best_of(completions: Sequence[RankedCompletion], scores: Sequence[float], n: int) -> float:
    """Return the probability that the best by these scores is right, over all subsets of n.

    For equal scores, the earlier completion is the better one.
    """
    count = len(completions)
    order = sorted(range(count), key=lambda index: -scores[index])
    subsets = comb(count, n)
    return sum(comb(count - 1 - rank, n - 1) / subsets
               for rank, index in enumerate(order) if completions[index].right)  # fmt: skip


# AUC


class ScoreAuc(NamedTuple):
    """The AUC of a score: over all completions, and the mean within `problems` that have one."""

    overall: float | None
    within: float | None
    within_ci95: statistics.Interval | None
    problems: int


def auc(scores: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the probability that a right completion scores above a wrong one; ties count half.

    The Mann-Whitney statistic over the number of pairs; None if there are no pairs.
    """
    above = [score for score, is_right in zip(scores, right, strict=True) if is_right]
    below = sorted(score for score, is_right in zip(scores, right, strict=True) if not is_right)
    if not above or not below:
        return None
    wins = sum(bisect_left(below, score) + bisect_right(below, score) for score in above)
    return wins / (2 * len(above) * len(below))


def measure_auc(problems: Sequence[tuple[Sequence[float], Sequence[bool]]]) -> ScoreAuc:
    """Return the AUC of the scores of problems, each (scores, right)."""
    overall = auc([score for scores, _ in problems for score in scores],
                  [label for _, labels in problems for label in labels])  # fmt: skip
    aucs = [value for scores, right in problems if (value := auc(scores, right)) is not None]
    if not aucs:
        return ScoreAuc(overall, None, None, 0)
    mean = sum(aucs) / len(aucs)
    half = statistics.Z95 * statistics.standard_error(aucs) if len(aucs) > 1 else 1.0
    interval = statistics.Interval(max(0.0, mean - half), min(1.0, mean + half))
    return ScoreAuc(overall, mean, interval, len(aucs))


def auc_of(name: str, problems: Sequence[RankedProblem]) -> ScoreAuc:
    """Return the AUC of a score in SCORES."""
    score = SCORES[name]
    return measure_auc([([score(each) for each in problem.completions],
                         [each.right for each in problem.completions])
                        for problem in problems])  # fmt: skip


def break_even_auc(problems: Sequence[RankedProblem]) -> tuple[float, float] | None:
    """Return about which AUCs within problems make the best of all completions equal the majority.

    They are those of two selectors whose scores are normal, with one distance between right and
    wrong in all problems: one gives equal texts equal scores, the other equal answers. The lower
    one is first; the verifiers of docs/verifier.md were between. None if no selector is above it.
    """
    majority = 0.0
    # Problems by their numbers of right and of all different texts, and answers.
    by_text, by_answer = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for problem in problems:
        answers = {each.answer: each.right for each in problem.completions}
        texts = {each.text: each.right for each in problem.completions}
        voted = [each.answer for each in problem.completions]
        winner = _elect(voted, [1.0] * len(voted), range(len(voted)))
        majority += winner is not None and answers[winner]
        for counts, found in ((by_text, texts), (by_answer, answers)):
            counts[sum(found.values()), len(found)] += 1
    normal, step = NormalDist(), 0.1
    places = [step * place for place in range(-50, 130)]
    below = [normal.cdf(place) for place in places]

    def best(counts: Mapping[tuple[int, int], int], distance: float) -> float:
        shifted = [(normal.pdf(place - distance), normal.cdf(place - distance)) for place in places]
        total = 0.0
        for (right, size), number in counts.items():
            if right == size:
                total += number
            elif right:
                total += number * sum(
                    right * density * right_cdf ** (right - 1) * wrong_cdf ** (size - right) * step
                    for (density, right_cdf), wrong_cdf in zip(shifted, below, strict=True)
                )
        return total

    needed = []
    for counts in (by_text, by_answer):
        low, high = 0.0, 6.0
        if best(counts, high) <= majority:
            return None
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (low, middle) if best(counts, middle) >= majority else (middle, high)
        needed.append(normal.cdf(high / 2**0.5))
    return min(needed), max(needed)


# Curves


def measure_curves(results: Sequence[ProblemResult], most: int) -> dict[str, list[dict[str, Any]]]:
    """Return the points of every strategy over n, the number of completions.

    A problem counts up to its number of completions.
    """
    curves: dict[str, list[dict[str, Any]]] = {name: [] for name in results[0].by_strategy}
    for n in curve_sizes(most):
        enough = [(outcome, outcome.ns.index(n)) for outcome in results if n in outcome.ns]
        count = len(enough)
        for name, points in curves.items():
            values = [outcome.by_strategy[name][place] for outcome, place in enough]
            # Disjoint sets of completions over which a problem's value is a mean.
            groups = most if name == MEAN else max(1, most // n)
            interval = statistics.wilson_of_mean(values, count * groups)
            points.append({"n": n, "problems": count, "accuracy": sum(values) / count,
                           "ci95": interval})  # fmt: skip
    return curves


# The whole ranking

Outcomes = Mapping[str, tuple[int, int]]  # (right, completions) by problem


def rank(
    problems: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    baselines: Mapping[str, Outcomes] | None = None,
    voters: int = 5,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the results of every strategy on scored completions, of at least one problem.

    baselines: the outcomes of other runs, by name, which is none of STRATEGIES. voters, seed: see
    `problem_result`. The result has the conclusion (what to select by), counts (unique_: mean
    number of distinct ones per problem; mixed: problems with right and wrong completions),
    `strategies` by name (over: gains by the other's name), `auc` by name, and `curves`: a point for
    each number of completions.
    """
    most = max(len(problem.completions) for problem in problems)
    results = [problem_result(problem, has_logprob, curve_sizes(most), (voters,), seed)
               for problem in problems]  # fmt: skip
    others = {MAJORITY: count_outcomes(results, MAJORITY), **(baselines or {})}
    strategies = {}
    for name in results[0].by_strategy:
        mine = count_outcomes(results, name)
        clusters = list(mine.values())
        accuracy, interval = statistics.mean_share(clusters), statistics.clustered_wilson(clusters)
        if name == MEAN:
            accuracies = [right / size for right, size in clusters]
            interval = statistics.wilson_of_mean(accuracies, sum(size for _, size in clusters))
        over = {}
        for other, theirs in others.items():
            if name not in (other, MEAN) and mine.keys() & theirs.keys():
                difference, ci95 = paired_difference(theirs, mine)
                over[other] = {"difference": difference, "ci95": ci95}
        strategies[name] = {"title": title_of(name), "accuracy": accuracy, "ci95": interval,
                            "over": over}  # fmt: skip
    auc = {name: auc_of(name, problems)._asdict() for name in SCORES
           if name == VERIFIER or name in strategies}  # fmt: skip
    need = break_even_auc(problems)
    answers = [{each.answer for each in problem.completions} - {None} for problem in problems]
    texts = [{each.text for each in problem.completions} for problem in problems]
    return {
        "conclusion": _conclude(strategies, auc[VERIFIER]["within"], need, most),
        "problems": len(problems),
        "completions": sum(len(problem.completions) for problem in problems),
        "unique_solutions": sum(map(len, texts)) / len(problems),
        "unique_answers": sum(map(len, answers)) / len(problems),
        "mixed": sum(len({each.right for each in problem.completions}) > 1 for problem in problems),
        "strategies": strategies,
        "auc": auc,
        "break_even_auc": need,
        "curves": measure_curves(results, most),
        "most_completions": most,
    }


def count_outcomes(results: Iterable[ProblemResult], name: str) -> dict[str, tuple[int, int]]:
    """Return (right, tries) of a strategy by problem: of all samples for the mean, else of one."""
    if name == MEAN:
        every = [(each.problem.id, each.problem.completions) for each in results]
        return {id: (sum(each.right for each in tried), len(tried)) for id, tried in every}
    return {each.problem.id: (round(each.by_strategy[name][-1]), 1) for each in results}


def paired_difference(before: Outcomes, after: Outcomes) -> tuple[float, statistics.Interval]:
    """Return after minus before on common problems, and its 95 % interval."""
    pairs = [statistics.ProblemPair(*before[id], *after[id]) for id in after if id in before]
    return statistics.mean_difference(pairs), statistics.paired_interval(pairs)[0]


def _conclude(
    strategies: Mapping[str, Mapping[str, Any]],
    inside: float | None,
    need: tuple[float, float] | None,
    most: int,
) -> str:
    """Return in one or two sentences what to select by, and what the score would need."""
    known = "no problem has right and wrong completions"
    if inside is not None:
        needed = "no selector can be above the majority vote here"
        if need is not None:
            bounds = " to ".join(dict.fromkeys(f"{bound:.2f}" for bound in need))
            needed = f"to equal the majority vote, the best of {most} needs about {bounds}"
        known = f"AUC within problems {inside:.2f}; {needed}"
    gains = {name: each["over"][MAJORITY] for name, each in strategies.items()
             if name not in (MEAN, MAJORITY, COVERAGE)}  # fmt: skip
    words = {name: gain(each["difference"], each["ci95"]) for name, each in gains.items()}
    of_best = f"; {strategies[BEST]['title']}: {words[BEST]}"
    above = [name for name, each in gains.items() if each["ci95"].low > 0]
    if not above:
        return f"{known}. Use the majority vote: no choice by this score is above it{of_best}."
    name = max(above, key=lambda name: gains[name]["difference"])
    also = "" if name == BEST else of_best
    return f"{known}. Use the {strategies[name]['title']}: {words[name]} over the majority{also}."


# What is ranked

# The options of `load_rater`, without the verifier.
OF_MODELS = {"generator": "--generator", "critic": "--critic", "critiques": "--critiques",
             "reduction": "--reduce", "form": "--form"}  # fmt: skip


class RankInput(NamedTuple):
    """Problems to rank. unscored: completions without a score, which are left out."""

    problems: Sequence[RankedProblem]
    verifier: str
    has_logprob: bool
    unscored: int


def read_scored(
    spec: str,
    options: ReadOptions,
    warn: Warn,
    scorer: str | None,
    tell: Callable[[int, int], None],
    verifier: str | None = None,
    column: str | None = None,
    **models: Any,
) -> tuple[CandidateRun, RankInput]:
    """Return a run (FILE or FILE#RUN) with its scores, which a given model adds first.

    scorer: labels the completions. verifier, models: see `load_rater`; the verifier may also be a
    file of scores (FILE#NAME: of one verifier), the beginning of a verifier's name in the file
    beside the completions, or None for the only verifier in that file. column: of the run's own
    file, whose numbers are the scores. tell: see `add_scores`. Raises InputError.
    """
    generator = models.get("generator")
    given = [word for name, word in OF_MODELS.items() if models.get(name) is not None]
    if column is not None:
        if verifier or given:
            words = given[0] if given else "--verifier"
            raise InputError(f"--score and {words} are both given; give one")
        named = tuple({**names, "score": column} for names in options.columns or ({},))
        run = one_run(spec, replace(options, columns=named), warn, scorer)
        every = [each for answered in run.answered for each in answered.candidates]
        found = column, {each.key: ScoreRow(each.key, column, each.score) for each in every
                         if each.score is not None}  # fmt: skip
    elif models.get("critic") or (is_model(verifier) if verifier else generator):
        model = load_rater(verifier, **models)
        run = one_run(spec, options, warn, scorer)
        if caution := other_prompt(run, model):
            warn(caution)
        found = choose_scores(add_scores(run, model, tell=tell)[0], model.name)
    else:
        if given:
            raise InputError(
                f"{given[0]} needs the verifier itself, as recorded scores are used as they are; "
                "give its folder with --verifier"
            )
        file, name = scores_path(Path(split_run(spec)[0])), verifier
        if verifier is not None:
            written, mark, inside = verifier.partition("#")
            if Path(verifier).is_file():
                file, name = Path(verifier), None
            elif mark and Path(written).is_file():
                file, name = Path(written), inside
        found = choose_scores(file, name)
        run = one_run(spec, options, warn, scorer)
    ranked = rank_input(run, *found)
    scored = [each for problem in ranked.problems for each in problem.completions]
    if ranked.unscored:
        lost = len(run.answered) - len(ranked.problems)
        problems = f", {lost} of {len(run.answered)} problems among them" if lost else ""
        warn(f"{ranked.unscored} of {run.total} completions have no score and are left out, also "
             f"of the majority vote{problems}")  # fmt: skip
    if 0 < (known := sum(found[1][key].logprob is not None for key in found[1])) < len(found[1]):
        warn(f"{len(found[1]) - known} of {len(found[1])} scores have no log-probability, so that "
             "nothing is selected by it")  # fmt: skip
    low, high = (pick(each.score for each in scored) for pick in (min, max))
    if sum(abs(each.score - 0.5) > BEYOND for each in scored) > len(scored) / 10:
        warn(f"the scores are from {low:.4g} to {high:.4g}, and the weighted votes and score + "
             "share are made for probabilities; the best and the top's vote are not")  # fmt: skip
    return run, ranked


def rank_input(sampled: CandidateRun, verifier: str, scores: Mapping[str, ScoreRow]) -> RankInput:
    """Return the problems of a run with their scores; raises InputError if there are no scores."""
    problems, rows = [], []
    for answered in sampled.answered:
        scored = [(each, scores[each.key]) for each in answered.candidates if each.key in scores]
        if not scored:
            continue
        rows += [row for _, row in scored]
        completions = [RankedCompletion(each.answer, each.right, row.score, row.logprob or 0.0,
                                        each.text) for each, row in scored]  # fmt: skip
        problems.append(RankedProblem(answered.problem.id, completions))
    if not rows:
        raise InputError(
            f"{verifier!r} has a score for no completion of {str(sampled.path)!r}; give scores of "
            "this run, or the verifier's folder with --verifier"
        )
    has_logprob = all(row.logprob is not None for row in rows)
    return RankInput(problems, verifier, has_logprob, sampled.total - len(rows))


def read_baseline(
    sampled: CandidateRun, spec: str, options: ReadOptions, warn: Warn
) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return another run on the same problems: its name, and its outcomes by the same scorer.

    Raises InputError if it shares no problem with the run.
    """
    if options.dataset is None:
        own = mapping(sampled.manifest.get("dataset")).get("name")
        options = replace(options, dataset=str(own or "") or None)
    other = one_run(spec, options, warn, sampled.scorer)
    questions = {each.problem.id: each.problem.question for each in sampled.answered}
    outcomes = {each.problem.id: each.outcome for each in other.answered
                if questions.get(each.problem.id) == each.problem.question}  # fmt: skip
    if not outcomes:
        raise InputError(
            f"the baseline {spec!r} shares no problem with {str(sampled.path)!r}; "
            "give a run on the same dataset"
        )
    return other.run, outcomes
