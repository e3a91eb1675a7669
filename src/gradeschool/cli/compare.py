"""`gradeschool compare`: runs with each other; `gradeschool why`: a run with what was expected."""

import click

from gradeschool.answers.regions import parse_marks
from gradeschool.cli import options as cli
from gradeschool.cli.options import FiniteRange, option, switch
from gradeschool.errors import InputError
from gradeschool.formats.values import mapping
from gradeschool.printable import percent, quoted, say
from gradeschool.reports.measured import changed_settings
from gradeschool.reports.pages import fill
from gradeschool.reports.terminal import print_comparison
from gradeschool.runs.why import LEAST_POINTS, explain_difference, explain_gap, read_settings
from gradeschool.scorer import DEFAULT_SCORER, clip, with_marks
from gradeschool.scoring import compare as comparing
from gradeschool.scoring.sources import Run, choose_run, choose_runs, file_ids, once_each
from gradeschool.scoring.statistics import mean_share
from gradeschool.scoring.table import ScoredTable, choose_scorers

MARGIN = 1.0
LONG, LEAST_EQUAL = 60, 20  # characters of a text that is hardly equal by chance; such texts
ROUNDED = 0.051  # points; a published figure has one decimal


@click.command(cls=cli.Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@cli.scorer_option("Scorer for all runs; by default that of their protocol.")
@cli.marks_option
@switch("--common", "Compare only the problems that all runs have.")
@switch("--unpaired", "Treat the problems of the runs as different.")
@option("--at-least", FiniteRange(0, 1), "Exit with 1 if the accuracy of a run is below SHARE.",
        metavar="SHARE")  # fmt: skip
@option("--not-worse-than reference", str, "Exit with 1 unless the interval excludes a loss of "
        "more than the margin against RUN.", metavar="RUN")  # fmt: skip
@option("--gate good", str, "Exit with 1 if a run is significantly worse than RUN, the last good "
        "one of the same prompts, or has samples that failed.", metavar="RUN")  # fmt: skip
@option("--margin", FiniteRange(0, 100), "Largest loss that --not-worse-than accepts and that "
        "--gate reports on.", metavar="POINTS", show_default=str(MARGIN))  # fmt: skip
@option("--max-failures", click.IntRange(min=0), "Number of failed samples that --gate accepts.",
        show_default="0")  # fmt: skip
@cli.reading_options
@cli.json_option
def compare_command(
    runs: tuple[str, ...], scorer: str | None, thinking_marks: tuple[str, ...], common: bool,
    unpaired: bool, at_least: float | None, reference: str | None, good: str | None,
    margin: float | None, max_failures: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare runs with the first one, problem by problem.

    A RUN is a run folder or a sample file; FILE#NAME selects one run of several. The test is exact
    (McNemar; by problem if there are several samples), intervals are at 95 %, and several
    comparisons are corrected (Holm). Samples without a completion are excluded and counted; exit
    status 3: a problem has none in one run and is left out of the differences.

    Example: gradeschool compare runs/base runs/tuned

    Example: gradeschool compare runs/new --not-worse-than runs/old --margin 1

    Example: gradeschool compare runs/build-124 --gate runs/build-123
    """
    if common and unpaired:
        raise InputError("--common cannot be combined with --unpaired")
    if good is not None and (reference is not None or unpaired):
        raise InputError("--gate cannot be combined with --not-worse-than or --unpaired")
    first = reference or good
    if first is None and margin is not None:
        raise click.UsageError("--margin needs --not-worse-than or --gate")
    if good is None and max_failures is not None:
        raise click.UsageError("--max-failures needs --gate")
    margin = MARGIN if margin is None else margin
    specs = runs if first is None else (first, *runs)
    if thinking_marks:
        marks = list(map(parse_marks, thinking_marks))
        scorer = with_marks([scorer or DEFAULT_SCORER], marks)[-1]

    chosen = choose_runs(specs, cli.read_options(), cli.warn)
    if len(chosen) < 2 and at_least is None:
        if len(specs) > 1:
            raise InputError(f"the same file is given twice: {', '.join(map(repr, specs))}; give "
                             "another run, or --at-least")  # fmt: skip
        name = chosen[0].name
        raise InputError(f"only one run is given: {name!r}; give another, or --at-least")
    for run in chosen[1:]:
        _check_pair(chosen[0], run, is_gate=good is not None, is_paired=not unpaired)
    applied = cli.scorer_of_runs(chosen, scorer)
    names = [mapping(run.manifest.get("protocol")).get("name") for run in chosen]
    protocols = [str(name) for name in dict.fromkeys(names) if name]
    if len(protocols) > 1:
        cli.warn(f"the runs are under different protocols: {', '.join(protocols)}; "
             "`gradeschool why RUN --expected-run OTHER` says what differs")  # fmt: skip
    outcomes = [comparing.run_outcomes(ScoredTable(run, [applied])) for run in chosen]
    if common:
        for outcome in outcomes:
            if outcome.unjudged_problems:
                cli.warn(comparing.left_out_text(outcome.run, outcome.unjudged_problems))
        outcomes = comparing.shared_by_all(outcomes)
    shared = common or good is not None  # the gate counts failed samples itself
    comparisons = (
        comparing.compare_unpaired(outcomes) if unpaired else comparing.compare(outcomes, shared)
    )
    left_out = {id for comparison in comparisons for id in comparison.left_out}
    for outcome in [] if shared else outcomes:
        if ids := [id for id in outcome.unjudged_problems if id in left_out]:
            cli.warn(comparing.left_out_text(outcome.run, ids))
    thresholds = comparing.check(
        outcomes, comparisons, at_least, margin if reference is not None else None
    )
    if good is not None:
        thresholds += comparing.gate(outcomes, comparisons, margin, max_failures or 0)
    if as_json:
        cli.print_json({
            "scorer": applied.name,
            "runs": [run.as_json() | {"errors": run.failed_samples} for run in outcomes],
            "comparisons": [comparison.as_json() for comparison in comparisons],
            "thresholds": [threshold._asdict() for threshold in thresholds],
        })  # fmt: skip
    else:
        own_ids = file_ids(chosen[:1])
        print_comparison(outcomes, comparisons, applied.name, cli.stdout_console(), own_ids)
        for threshold in thresholds:
            say(f"{'met' if threshold.met else 'MISSED'}: {threshold.text}")
    failing = cli.warn_of_scorer_errors(outcomes, applied.name)
    status = 3 if failing or (left_out and not shared) else 0
    status = status if all(threshold.met for threshold in thresholds) else 1
    cli.exit_for_faults(sum(run.faults for run in chosen), status)


def _check_pair(first: Run, other: Run, is_gate: bool, is_paired: bool) -> None:
    """Warn of texts or seeds that two runs share; a gate refuses runs that record other prompts."""
    facts, seeds, texts = [], [], []
    for run in (first, other):
        protocol, data, decoding = (
            mapping(run.manifest.get(part)) for part in ("protocol", "dataset", "decoding")
        )
        facts.append({"protocol": protocol.get("digest"), "dataset": data.get("sha256"),
                      "model": run.manifest.get("model"),
                      "temperature": decoding.get("temperature")})  # fmt: skip
        seed, number = decoding.get("seed"), run.manifest.get("samples")
        if isinstance(seed, int) and isinstance(number, int):  # sample i has the seed + i
            seeds.append({*range(seed, seed + number)})
        texts.append({(each.problem.id, each.sample): each.text for each in run.samples
                      if each.problem and len(each.text) > LONG})  # fmt: skip
    for name in ("protocol", "dataset") if is_gate else ():
        before, after = (each[name] for each in facts)
        if None not in (before, after) and before != after:
            raise InputError(
                f"the {name} of {str(other.path)!r} has the digest {after!r}, that of "
                f"{str(first.path)!r} has {before!r}; a gate compares runs of the same prompts, "
                "decoding and scorers"
            )
    is_same_run = facts[0] == facts[1] and facts[0]["temperature"]
    if is_same_run and len(seeds) == 2 and seeds[0] != seeds[1] and (shared := seeds[0] & seeds[1]):
        apart = max(map(len, seeds))
        cli.warn(
            f"{first.name!r} and {other.name!r} have {len(shared)} of {apart} seeds in common, so "
            "those samples may be equal and the runs are not independent; evaluate one of them "
            f"again with a --seed that differs by at least {apart}"
        )
    both = texts[0].keys() & texts[1].keys()
    found = sum(texts[0][key] == texts[1][key] for key in both)
    if is_paired and not is_gate and found >= max(LEAST_EQUAL, 0.5 * len(both)):
        cli.warn(
            f"{found} of {len(both)} texts are equal in {first.name!r} and {other.name!r}: if they "
            "are of two models, one was copied over the other"
        )


@click.command(cls=cli.Command)
@click.argument("run")
@option("--expected", FiniteRange(0, 100), "Expected accuracy in percent, such as 54.6.",
        metavar="PERCENT")  # fmt: skip
@option("--expected-run", str, "Run folder or sample file with the expected score; explains more "
        "than a number.", metavar="FILE")  # fmt: skip
@cli.scorer_option("Scorer; by default that of the run, else gradeschool/reader.")
@cli.reading_options
@cli.json_option
def why_command(
    run: str, expected: float | None, expected_run: str | None, scorer: str | None, as_json: bool
) -> None:
    """Explain why a score is not the expected one.

    RUN is a run folder or a sample file; FILE#NAME selects one run of several. Lists the causes
    with the points that each accounts for, the evidence, and the command that tests or fixes it.
    Says whether the gap is within chance.

    Example: gradeschool why runs/mine --expected 54.6
    """
    if (expected is None) == (expected_run is None):
        raise InputError("give either --expected PERCENT or --expected-run FILE")
    options, test, here_named = cli.read_options(), "", quoted(run) + cli.options_as_typed()
    if expected_run is not None:
        if len(once_each((run, expected_run))) == 1:
            raise InputError("RUN and --expected-run are the same; give another run")
        here, there = choose_runs((run, expected_run), options, cli.warn)
        records = read_settings(here), read_settings(there)
        if scorer is None:
            cli.warn_of_own_scorer([here.manifest, there.manifest])
        own = ["" if cli.is_own_function(record.scorer) else record.scorer for record in records]
        usual = (own[0] or own[1] or DEFAULT_SCORER, own[1] or own[0] or DEFAULT_SCORER)
        first, second = (choose_scorers([scorer or name])[0] for name in usual)
        account = explain_difference((here, there), records, (first, second))
        faults = here.faults + there.faults
        test = f"gradeschool compare {quoted(expected_run)} {here_named}"
        test += "" if scorer is None else f" --scorer {quoted(scorer)}"
    else:
        assert expected is not None  # noqa: S101  (for the type checker)
        if 0 < expected <= 1:
            cli.warn(
                f"--expected is in percent: {expected:g} means {expected:g} %; "
                f"use {100 * expected:g} for {100 * expected:g} %"
            )
        chosen = choose_run(run, options, cli.warn)
        faults = chosen.faults
        account = explain_gap(chosen, cli.scorer_of_runs([chosen], scorer), expected / 100,
                              changed_settings(chosen.manifest), here_named)  # fmt: skip
        if not account.within_chance:  # the scorers nearest to the expected figure
            scorers = choose_scorers((), chosen.dataset)
            table = ScoredTable(chosen, scorers)
            shares = {
                each.name: 100 * mean_share(tallies.values())
                for place, each in enumerate(scorers) if (tallies := table.tallies(place))
            }  # fmt: skip
            nearest = min(shares.values(), key=lambda share: abs(share - expected), default=-1.0)
            if abs(nearest - expected) <= ROUNDED:
                names = sorted(name for name, share in shares.items() if share == nearest)
                account.notes.insert(0, (
                    f"{', '.join(names)} {'give' if names[1:] else 'gives'} "
                    f"{percent(nearest / 100)} on these texts; the expected figure may be by such "
                    "a scorer"
                ))  # fmt: skip
    rest, words, (low, high) = account.rest, "unexplained", account.interval
    if not any(cause.points and not cause.most for cause in account.causes):
        if most := sum(cause.points or 0 for cause in account.causes):
            words += ", even if the causes above account for all that they can"
        rest = max(0.0, rest - most)
    elif rest < 0:
        words = "the causes account for more than is missing"
    elif rest <= 100 * (high - low) / 2:
        words = "the rest, within chance"
    has_rest = account.missing > 0 and account.causes and abs(rest) >= LEAST_POINTS
    if as_json:
        cli.print_json(account.as_json())
    else:
        say(fill("gap.txt", account=account, test=test, rest=rest if has_rest else 0, words=words,
                 shown=lambda value: "not recorded" if value is None else clip(str(value), 80)),
            end="")  # fmt: skip
    cli.exit_for_faults(faults)
