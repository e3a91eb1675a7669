"""`gradeschool eval`."""

import asyncio
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import click

from gradeschool.cli import options as cli
from gradeschool.cli.options import COUNT, FOLDER, FiniteRange, option, switch
from gradeschool.datasets.load import several_golds
from gradeschool.errors import GradeschoolError, InputError, UnknownNameError
from gradeschool.models.openai_api import TRANSIENT_STATUSES
from gradeschool.printable import bounds, count, percent, quoted, say
from gradeschool.reports.loggers import check_loggers, log_run
from gradeschool.reports.measured import changed_settings, measured, truncation_advice
from gradeschool.reports.pages import fill
from gradeschool.reports.progress import EvaluationDisplay
from gradeschool.reports.terminal import accuracy_text, curve_table, print_rows, print_scores
from gradeschool.runs.evaluate import Evaluation, estimate_run, evaluate, is_narrow
from gradeschool.runs.job import Job, PreparedJob, model_label, prepare
from gradeschool.scorer import DEFAULT_SCORER

# Requests to a model.
request_options = cli.with_options(
    option("--system", str, "System message instead of the protocol's, \"\" for none.",
           metavar="TEXT"),
    option("--shots", str, "Number of examples in the prompt, or a JSONL file of them.",
           metavar="N|FILE"),
    cli.marks_option,
    option("--temperature", FiniteRange(0, 2), "Temperature; by default that of the protocol."),
    option("--top-p", FiniteRange(0, 1), "Nucleus mass; by default that of the protocol."),
    option("--stop", str, "Stop string instead of the protocol's; may be repeated, \"\" for none.",
           multiple=True, metavar="TEXT",
           callback=lambda _context, _option, texts: tuple(filter(None, texts)) if texts else None),
    option("--max-tokens", COUNT, "Length limit; by default that of the protocol."),
    option("--seed", int, "Seed of the first sample; sample i has seed + i."),
    option("--calculator/--no-calculator", None, "Insert the results of annotations (<<48/2=24>>) "
           "while the model writes; on by default for tiny.", default=None),
    option("--connections", click.IntRange(1, 4096), "Requests in flight; by default 16, raised to "
           "up to 256 if that is faster."),
    switch("--batch", "Use the Batch API: half the price, within a day."),
    option("--timeout", FiniteRange(min=0.1), "Seconds to wait for one request.", default=600.0),
    option("--price", str, "Dollars per million tokens: 2.50/10, or a .json file of models.",
           metavar="IN/OUT"),
    option("--thinking", ("on", "off"), "Let the model think before its answer, or not; by default "
           "as the server.",
           callback=lambda _context, _option, word: None if word is None else word == "on"),
    option("--reasoning-effort", str, "How much the model thinks: none, minimal, low, medium, "
           "high, xhigh.", metavar="EFFORT"),
    option("--extra-body", str, "Further fields of each request, an object.", metavar="JSON"),
    option("--header headers", str, "Further header of each request, kept secret; may be repeated.",
           multiple=True, metavar="NAME=VALUE"),
    option("--engine-args", str, "Argument of an engine here, may be repeated: for vllm/ of its "
           "LLM, for llama.cpp/ context, threads, gpu_layers.", multiple=True,
           metavar="NAME=VALUE"),
    option("--max-cost", FiniteRange(min=0), "Stop before the run costs more; it can be resumed. "
           "Needs --price.", metavar="DOLLARS"),
)  # fmt: skip


def _read_config(context: click.Context, _option: click.Parameter, path: Path | None) -> None:
    """Use the values of a TOML file as defaults of a command's options.

    The keys are the names of the options without leading dashes; a list repeats an option. Values
    are checked like options.
    """
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r} as a TOML file: {error}") from error
    options = {
        name.removeprefix("--"): option for option in context.command.params
        if isinstance(option, click.Option) and option.name != "config" for name in option.opts
    }  # fmt: skip
    defaults = {}
    for key, value in values.items():
        option = options.get(key.replace("_", "-"))
        if option is None:
            raise UnknownNameError(f"option in {str(path)!r}", key, options)
        items = value if isinstance(value, list) and option.multiple else [value]
        kinds = (bool,) if option.is_flag else (str, int, float)
        if any(type(item) not in kinds for item in items):
            kind = "true or false" if option.is_flag else "a text or a number"
            raise InputError(f"{key} in {str(path)!r} is {value!r}; give {kind}")
        texts = items if option.is_flag else list(map(str, items))  # which the option's type checks
        defaults[option.name] = texts if option.multiple else texts[0]
    context.default_map = defaults


@click.command(cls=cli.Command)
@option("-m --model models", str, "openai/NAME, http://HOST:PORT/v1[/NAME], anthropic/NAME, "
        "gemini/NAME, transformers/FOLDER, vllm/FOLDER, llama.cpp/FILE.gguf, recorded/FILE; or "
        "tiny, which comes with the package. Repeat it for several models.", multiple=True,
        required=True, metavar="PROVIDER/NAME")  # fmt: skip
@option("-p --protocol protocols", str, "A name of `gradeschool protocols list`, or your own "
        "mine.toml or mine.py:NAME; by default zero-shot/chat, for tiny openai/2021. May be "
        "repeated.", multiple=True, metavar="NAME")  # fmt: skip
@cli.dataset_option
@option("-n --limit", COUNT, "Use only the first N problems; of GSM8K, the first are easier than "
        "the rest.")  # fmt: skip
@option("--random", COUNT, "Use a random sample of N problems, the same each time.", metavar="N")
@option("--problems", str, "Use these problems: ids with commas, or a file with one a line.",
        metavar="FILE|IDS")  # fmt: skip
@option("--until", FiniteRange(0.1, 100), "Use problems in random order, and stop when the "
        "headline scorer's interval is narrower than this.", metavar="POINTS")  # fmt: skip
@option("--judge", str, "Model that reads what no rule reads, and is counted apart; for its prompt "
        "see `gradeschool protocols show gradeschool/judge`.", metavar="PROVIDER/NAME")  # fmt: skip
@option("--columns", str, "Columns of the dataset: question, gold, id.", metavar="ROLE=COLUMN,...")
@option("--scorer scorers", str, "Scorer in place of the protocol's, such as a function of your "
        "own, mine.py:NAME; may be repeated, the headline first.", multiple=True,
        metavar="NAME")  # fmt: skip
@option("-k --samples", COUNT, "Completions for each problem; several are voted on.", default=1)
@option("-o --output", FOLDER, "Run folder; by default runs/MODEL_PROTOCOL[_DATASET]. With several "
        "models or protocols, the folder of the run folders.")  # fmt: skip
@request_options
@switch("--dry-run", "Print the number of requests and the cost; send nothing.")
@option("--config", cli.PATH, "Read options from a TOML file: model = \"tiny\", limit = 100. "
        "Options on the command line have precedence.", metavar="FILE.toml", is_eager=True,
        expose_value=False, callback=_read_config)  # fmt: skip
@option("--log loggers", ("wandb", "mlflow"), "Log the run to Weights & Biases or MLflow; may be "
        "repeated.", multiple=True)  # fmt: skip
@cli.quiet_option
@cli.json_option
def eval_command(
    models: tuple[str, ...],
    protocols: tuple[str, ...],
    dry_run: bool,
    loggers: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Evaluate models: store their completions and score them.

    Stores completions as they arrive. Running the same command again requests only what is missing,
    and with a larger -k or -n only what is new. Exit status 3: some samples or scorers failed, or
    --max-cost was reached.

    Several models or protocols make one leaderboard: every model under every protocol.

    Example: gradeschool eval -m http://localhost:8080/v1 -p lm-eval/gsm8k
    """
    if loggers:
        check_loggers(loggers)
    models, protocols = tuple(dict.fromkeys(models)), tuple(dict.fromkeys(protocols or ("",)))
    parent, is_one = settings.pop("output"), len(models) == len(protocols) == 1
    prepared: dict[Path, PreparedJob] = {}
    for model, protocol in product(models, protocols):
        job = prepare(Job(model, protocol, **settings, output=parent if is_one else None))
        folder = job.folder if is_one or parent is None else parent / job.folder.name
        if folder in prepared:
            raise InputError(
                f"{prepared[folder].job.model!r} and {model!r} would share the folder "
                f"{str(folder)!r}; evaluate them one at a time with -o"
            )
        prepared[folder] = replace(job, folder=folder)
    jobs = list(prepared.values())
    if dry_run:
        print_estimates(jobs, as_json)
        return
    if len(jobs) > 1:
        finished, status = run_all(jobs, quiet, loggers)
        if finished and as_json:
            _print_json(finished)
        elif finished:
            _print_leaderboard(finished)
        sys.exit(status)
    run = run_job(jobs[0], quiet, loggers)
    if as_json:
        _print_json([run])
    else:
        console, folder = cli.stdout_console(), jobs[0].folder
        for name, value in measured(run.manifest):
            say(f"{name:9}{value}")
        say()
        if run.answered or run.fatal is None:
            print_scores([run.score], console)
        if run.curve:
            curve_table(run.curve, f"maj@k and pass@k by {run.score.scorers[0].scorer}", console)
            say()
        for text in _remarks(run):
            say(f"{text}\n")
        cost = "" if run.cost is None else f" (${run.cost:,.4f})"
        then = "; to apply every scorer:" if run.answered else ""
        say(f"{run.answered} of {run.results['requested']} samples in {folder}{cost}{then}")
        if run.answered:
            say(f"  gradeschool score {quoted(str(folder))}")
    sys.exit(report_end(run))


STATUSES = (0, 3, 2, 130)  # of runs, the mildest first
# Causes that another try does not change.
REFUSALS = {f"http {status}" for status in {*range(400, 500)} - TRANSIENT_STATUSES}


def run_all(
    prepared: Sequence[PreparedJob], quiet: bool, loggers: Sequence[str] = ()
) -> tuple[list[Evaluation], int]:
    """Run jobs one after the other; return those that ended, and the exit status.

    A job that cannot run is reported, and the others continue; after an interruption, no further
    job starts. --max-cost limits the total cost.
    """
    finished, status, cost = [], 0, 0.0
    for each in prepared:
        if (most := each.job.max_cost) is not None:
            each = replace(each, job=replace(each.job, max_cost=max(0.0, most - cost)))
        model = each.model.name or each.job.model
        cli.warn(f"{model} under {each.plan.protocol.name} on {each.plan.dataset.name}")
        try:
            evaluation = run_job(each, quiet, loggers)
        except GradeschoolError as error:
            cli.warn(f"{each.folder}: {error}")
            status = max(status, 2, key=STATUSES.index)
            continue
        finished.append(evaluation)
        cost += evaluation.cost or 0.0
        status = max(status, report_end(evaluation, f"{each.folder}: "), key=STATUSES.index)
        if evaluation.interrupted:
            break
    return finished, status


def run_job(prepared: PreparedJob, quiet: bool, loggers: Sequence[str] = ()) -> Evaluation:
    """Run a job with a progress display, then log it; exits with 130 at a second Ctrl-C."""
    if text := several_golds(prepared.plan.problems):
        cli.warn(text)
    if prepared.model.sends_key_unencrypted:
        cli.warn(f"the API key goes to {prepared.model.identity} unencrypted; use https://")
    with EvaluationDisplay(quiet) as display:
        try:
            evaluation = asyncio.run(evaluate(prepared, display.show))
        except (KeyboardInterrupt, asyncio.CancelledError):
            cli.warn(f"stopped immediately; completions are kept in {prepared.folder}")
            sys.exit(130)
    if loggers:
        log_run(loggers, prepared.folder, display.message, cli.warn)
    return evaluation


def report_end(evaluation: Evaluation, run: str = "") -> int:
    """Warn if a run is not complete, or not as the protocol says; return its exit status.

    run: begins each message. A completion on which a scorer or the judge fails is no complete one.
    """
    results, texts = evaluation.results, list(evaluation.cautions)
    missing = results["requested"] - evaluation.answered
    status = 3 if missing or results.get("judge", {}).get("failed") else 0
    for result in evaluation.score.scorers:
        if failing := result.error - evaluation.score.failed:
            folder = quoted(str(evaluation.prepared.folder))
            why = f"explain {folder} --scorer {quoted(result.scorer)}"
            completions = count(failing, "completion")
            texts.append(f"{result.scorer} fails on {completions}; why: gradeschool {why}")
            status = 3
    causes = [*results["errors"], *([evaluation.fatal.cause] if evaluation.fatal else ())]
    again = "run the same command again"
    counted = ", ".join(f"{n} {cause}" for cause, n in results["errors"].items())
    if REFUSALS.intersection(causes):
        again = "change what the server names, then run the command again"
    if evaluation.fatal is not None:
        status = 2
        texts.append(f"the run stopped: {evaluation.fatal}; {again} to resume")
    elif evaluation.interrupted:
        status = 130
        parts = [f"{results['missing']} samples not asked yet"] if results["missing"] else []
        parts += [f"{results['failed']} failed ({counted})"] if results["failed"] else []
        texts.append(f"interrupted: {', '.join(parts)}; run the same command again to request them")
    elif evaluation.over_budget:
        texts.append(f"{missing} samples were not requested, because of --max-cost; run the same "
                     "command with a larger one to resume")  # fmt: skip
    elif failed := results["failed"]:
        text = (f"{count(failed, 'sample')} failed ({counted}), such as: {evaluation.example}; "
                f"{again} to request them")  # fmt: skip
        headline = evaluation.score.scorers[0]
        if headline.judged:
            low = percent(headline.correct / (headline.judged + headline.error))
            text += f". Accuracies leave them out; {low} of all would be right if they were wrong"
        texts.append(text)
    elif missing:
        texts.append(f"{missing} samples have no answer; {again} to request them")
    for text in texts:
        cli.warn(f"{run}{text}")
    return status


def _remarks(run: Evaluation) -> list[str]:
    """Return the remarks on a run: cut texts, the judge, the interim checks of --until."""
    forms = run.score.forms
    values = {"advice": truncation_advice(run.manifest, forms, run.cut_at) if forms else "",
              "judge": run.results.get("judge"), "until": run.results.get("until")}  # fmt: skip
    if not any(values.values()):
        return []
    return fill("remarks.txt", **values, is_narrow=is_narrow).splitlines()


def _print_json(finished: Sequence[Evaluation]) -> None:
    """Print results with what was measured."""
    cli.print_json({"runs": [{
        **run.score.as_json(),
        "folder": str(run.prepared.folder),
        "model": run.prepared.model.identity,
        "protocol": run.prepared.plan.protocol.name,
        "dataset": run.prepared.plan.dataset.name,
        "changes": changed_settings(run.manifest),
        "at_k": run.results["at_k"],
        "cost": run.cost,
        **{name: run.results[name] for name in ("judge", "until") if name in run.results},
    } for run in finished]})  # fmt: skip


def _print_leaderboard(finished: Sequence[Evaluation]) -> None:
    """Print one row per run, by its first scorer, the most accurate first.

    A count that is 0 in every row has no column.
    """
    jobs = [run.prepared for run in finished]
    names = {each.job.model: each.model.name for each in jobs}
    if len(set(names.values())) < len(names):  # one model at two addresses
        names = {model: model_label(model) for model in names}
    datasets = {each.plan.dataset.name for each in jobs}
    heads = ("model", "protocol", "dataset")[: 2 + (len(datasets) > 1)]
    figures = ("accuracy", "95 % interval", "n", "no answer", "truncated", "errors")
    rows: list[tuple[tuple[str, ...], tuple[str, ...]]] = [(heads, figures)]
    said = []
    for run in sorted(
        finished, key=lambda run: (not run.score.scorers[0].judged, -run.score.scorers[0].accuracy)
    ):
        plan, score, forms, first = (
            run.prepared.plan, run.score, run.score.forms, run.score.scorers[0],
        )  # fmt: skip
        cells = names[run.prepared.job.model], plan.protocol.name, plan.dataset.name
        cut = percent(forms.truncated / forms.n, 1) if forms and forms.truncated else "0"
        rows.append((cells[: len(heads)], (
            *(accuracy_text(first), bounds(first.ci95), str(score.n)),
            *(str(first.no_answer), cut, str(first.error)),
        )))  # fmt: skip
        texts = _remarks(run)
        if changes := changed_settings(run.manifest):
            texts.insert(0, f"changed {', '.join(changes)}")
        said += [f"{cells[0]} under {cells[1]}: {text}" for text in texts]
    if len(datasets) == 1:
        say(f"dataset  {datasets.pop()}\n")
    kept = [at for at in range(len(figures))
            if at < 3 or any(cells[at] != "0" for _, cells in rows[1:])]  # fmt: skip
    shown = [(name, tuple(cells[at] for at in kept)) for name, cells in rows]
    print_rows(shown, cli.stdout_console())
    say("\nEach run by the first scorer of its protocol; intervals: 95 %.")
    for text in said:
        say(text)
    if len(finished) > 1:
        folders = " ".join(quoted(str(each.folder)) for each in jobs)
        scorers = {run.score.scorers[0].scorer for run in finished}
        under = same = ""
        if len(scorers) > 1:
            under, same = " under one scorer", f" --scorer {DEFAULT_SCORER}"
            say(f"The scorers differ ({', '.join(sorted(scorers))}), and the same texts may have "
                "other accuracies under another one.")  # fmt: skip
        say(f"To compare them{under}: gradeschool compare {folders}{same}")


def print_estimates(prepared: Sequence[PreparedJob], as_json: bool) -> None:
    """Print the missing requests and their cost; requests at most a model's name."""
    runs = [estimate_run(each) for each in prepared]
    if as_json:
        cli.print_json(runs[0] if len(runs) == 1 else {"runs": runs})
    else:
        say(fill("estimate.txt", runs=runs), end="")
