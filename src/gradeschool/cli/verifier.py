"""`gradeschool verifier`: fine-tune, sample, train, score, rank, bench, export, reproduce."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import click

from gradeschool.atomic import check_output, replacing, write_file
from gradeschool.cli import options as cli
from gradeschool.cli.options import COUNT, FOLDER, limit_option, option, quiet_option, switch
from gradeschool.errors import InputError
from gradeschool.formats.values import ReadOptions
from gradeschool.models.local import check_model, needs_training_packages
from gradeschool.printable import say
from gradeschool.reports.progress import ProgressDisplay
from gradeschool.scoring.at_k import count_labels, describe_labels, read_candidates
from gradeschool.scoring.sources import check_sources
from gradeschool.worker import cores

POSITIVE = cli.FiniteRange(min=0, min_open=True)
SEED = click.IntRange(0, cli.MOST_SEED)
FILE = click.Path(path_type=Path, dir_okay=False)
tell = partial(say, err=True)
MODEL_FORMS = "FOLDER|FILE.gguf|tiny"
TRACKERS = ("wandb", "mlflow", "tensorboard")
# Of a new model; an existing one gets the paper's settings, which the dataclass has.
NEW_MODEL: dict[str, Any] = {
    "epochs": 20.0, "optimizer": "muon", "lr": 5e-3, "warmup": 50, "batch": 16,
}  # fmt: skip
seed_option = option("--seed", SEED, "Random seed.", default=0)
form_option = option(
    "--form", ("token", "sequence", "math-shepherd", "qwen"),
    "Form of a published reward model; by default read from config.json. qwen is for a server.",
)  # fmt: skip
score_options = cli.with_options(
    option("--verifier", str, "Verifier, published reward model, or address of one behind vLLM. "
           "For rank also a FILE of scores, FILE#NAME, or how a name in the run's file begins.",
           metavar=f"{MODEL_FORMS}|URL"),
    option("--generator", str, "Add the log-probabilities under this model; without a verifier, "
           "they are the scores.", metavar=MODEL_FORMS),
    option("--critic", str, "Ask this model in place of a verifier whether a solution is right; "
           "the score is the share of yes.", metavar="PROVIDER/NAME"),
    option("--critiques", click.IntRange(min=0), "Answers of the critic for each solution; 0 takes "
           "the probability of yes.", show_default="1"),
    option("--reduce reduction", ("last", "tokens", "min", "product", "mean"),
           "Score of a solution: the last value, the mean over tokens, or of the ends of its lines "
           "the smallest, product or mean. By default last, with --level pooled tokens."),
    form_option,
)  # fmt: skip


def training_options(defaults: str, items: str) -> cli.Option:
    """Return a decorator that adds the options of every training.

    defaults: of epochs, optimizer, lr, warmup and batch, as --help shows them, with ";" between;
    the command gets None for an option that is not given. items: what --batch counts.
    """
    epochs, optimizer, lr, warmup, batch = defaults.split("; ")
    return cli.with_options(
        option("-o --output", FOLDER, "Folder for the trained model.", required=True,
               metavar="FOLDER"),
        limit_option,
        option("--epochs", POSITIVE, "Passes over the data.", show_default=epochs),
        option("--optimizer", ("adam", "muon"), "Adam, or Muon for the layers' matrices.",
               show_default=optimizer),
        option("--lr", POSITIVE, "Highest learning rate; it decays to 0.", show_default=lr),
        option("--warmup", click.IntRange(min=0), "Updates over which the learning rate rises.",
               show_default=warmup),
        option("--batch", COUNT, f"{items} in an update. The paper counts tokens: multiply by the "
               "mean length.", show_default=batch),
        option("--micro-batch", COUNT, "Of these in one pass; gradients of the passes add up.",
               show_default="8, of a small model all"),
        option("--lora", COUNT, "Train adapters of this rank; the folder gets the merged model and "
               "the adapter.", metavar="RANK"),
        switch("--chat", "Read the question as a user's turn; so do score and rank then."),
        switch("--gradient-checkpointing", "Save memory: compute activations again."),
        option("--dropout", cli.FiniteRange(0, 1, max_open=True), "Dropout on the residual paths; "
               "the paper uses 0.2."),
        seed_option,
        option("--save-every", COUNT, "Updates between checkpoints.", default=200),
        option("--log trackers", TRACKERS, "Log to a tracker of transformers' Trainer; may be "
               "repeated.", multiple=True),
        quiet_option,
        cli.json_option,
    )  # fmt: skip


def _train(
    run: Callable[[Any, Any], dict[str, Any]], settings: type, options: dict[str, Any],
    **reading: ReadOptions,
) -> None:  # fmt: skip
    """Train with the options of a command, and print the result; exits with 130 if interrupted."""
    from gradeschool.verifier.train import TrainingJob

    quiet, as_json = options.pop("quiet"), options.pop("as_json")
    is_first = os.environ.get("RANK", "0") == "0"  # of several processes
    job = TrainingJob(
        options.pop("output"), options.pop("save_every"), options.pop("trackers"),
        tell if is_first and not quiet else lambda _: None, **reading,
    )  # fmt: skip
    chosen = {name: value for name, value in options.items() if value is not None}
    fields = run(settings(**chosen), job)
    if as_json and is_first:
        cli.print_json({"folder": str(job.output), **fields})
    if fields["status"] == "running":
        if is_first:
            cli.warn(f"interrupted; the same command resumes from update {fields['updates']}")
        sys.exit(130)


@click.group(cls=cli.CommandGroup)
def verifier_command() -> None:
    """Fine-tune a generator, sample from it, train a verifier, select by it.

    The method of "Training Verifiers to Solve Math Word Problems" (arXiv 2110.14168).
    """


@verifier_command.command("finetune")
@option("-m --model", str, "Folder of a Hugging Face model, or new:0.2M, new:1M, new:5M for a new "
        "one.", required=True, metavar="FOLDER|FILE.gguf|new:SIZE")  # fmt: skip
@option("-d --dataset", str, "Problems with solutions: a name from `gradeschool data list`, or a "
        "file.", required=True)  # fmt: skip
@option("--loss-on", ("solution", "both", "answer"), "Compute the loss on the solution, or as the "
        "paper on the question too; or on the final answer alone, without steps.",
        default="both")  # fmt: skip
@option("--vocabulary", COUNT, "Vocabulary size of a new model.", show_default="1024")
@training_options("2, new:SIZE 20; adam, new:SIZE muon; 1e-5, new:SIZE 5e-3; 0, new:SIZE 50; "
                  "32, new:SIZE 16", items="Problems")  # fmt: skip
def finetune_command(**options: Any) -> None:
    """Fine-tune a language model on problems with solutions.

    Running the same command again resumes from the last checkpoint. The output folder is a Hugging
    Face model with training.json and losses.jsonl. For several processes, FSDP or DeepSpeed:
    `accelerate launch -m gradeschool verifier finetune ...`.

    Example: gradeschool verifier finetune -m new:0.2M -d fresh:1:train -o mine
    """
    needs_training_packages()
    from gradeschool.verifier.train import Finetuning, finetune

    is_new = options["model"].startswith("new:")
    if options["vocabulary"] is not None and not is_new:
        raise InputError(
            "--vocabulary is for a new model, and --model has a tokenizer; leave it out"
        )
    usual = NEW_MODEL if is_new else {"epochs": 2.0}
    given = {name: value for name, value in options.items() if value is not None}
    _train(finetune, Finetuning, {**options, **usual, **given})


@verifier_command.command("sample")
@option("-m --model", str, "transformers/FOLDER, or any other model as for `gradeschool eval`.",
        required=True, metavar="PROVIDER/NAME")  # fmt: skip
@cli.dataset_option
@option("-o --output", FOLDER, "Run folder.", required=True, metavar="RUN")
@option("-k --samples", COUNT, "Completions for each problem.", default=100)
@limit_option
@option("-p --protocol", str, "A name from `gradeschool protocols list`.", default="openai/2021")
@option("--temperature", cli.FiniteRange(0, 2), "Sampling temperature.", default=0.7)
@option("--max-tokens", COUNT, "Length limit; by default that of the protocol, 400.")
@option("--calculator/--no-calculator", None, "Insert the results of annotations (<<3*4=12>>) "
        "while the model writes.", default=True)  # fmt: skip
@option("--seed", SEED, "Seed; another one gives other samples.")
@quiet_option
@cli.json_option
def sample_command(quiet: bool, as_json: bool, output: Path, **settings: Any) -> None:
    """Sample many completions for each problem, and label them.

    Writes a run folder, which every command that takes a run reads, and prints how many are
    correct. Running the same command again samples only what is missing; a larger -k adds samples.
    For other options, such as those of a server, run `gradeschool eval` with the same protocol.

    Example: gradeschool verifier sample -m transformers/mine -d fresh:1 -o runs/mine
    """
    from gradeschool.cli.eval import report_end, run_job
    from gradeschool.runs.job import Job, prepare

    job = Job(output=output, **settings)
    evaluation = run_job(prepare(job), quiet, ())
    if evaluation.fatal is None:
        [candidates] = read_candidates(str(output), ReadOptions(), cli.warn)
        labels = count_labels(candidates.answered)
        if as_json:
            fields = {"scorer": candidates.scorer, "failed": candidates.failed, **labels}
            cli.print_json({"folder": str(output), **fields})
        else:
            say(f"{describe_labels(labels)}, by {candidates.scorer}")
    sys.exit(report_end(evaluation))


@verifier_command.command("train")
@option("--generator", str, "Model that wrote the samples.", required=True, metavar="FOLDER")
@option("--samples", str, "Run of `gradeschool verifier sample`, or any sample file.",
        required=True, metavar="RUN")  # fmt: skip
@option("--init", str, "Start from the weights of this model; by default the generator.",
        metavar="FOLDER")  # fmt: skip
@option("-d --dataset", str, cli.DATASET)
@cli.column_options
@option("--level", ("token", "pooled", "step", "solution", "likelihood"),
        "Learn a value at every token, as the paper; the mean over them; a value at each step's "
        "end; at the last token; or the solution's likelihood.", default="token")  # fmt: skip
@option("--supervision", ("outcome", "process"), "Learn the final answer's correctness, or the "
        "exact first wrong step of fresh problems.", default="outcome")  # fmt: skip
@option("--objective", ("joint", "verification", "pairwise"), "Train with or without the language "
        "loss; or to score right solutions above wrong ones of the same problem.",
        default="joint")  # fmt: skip
@option("--language", ("reference", "right"), "Text of the language loss: reference solutions or "
        "correct samples; by default reference, with --level likelihood right.")  # fmt: skip
@option("--head-lr", POSITIVE, "Learning rate of the head's gain and bias; a tenth of it, but at "
        "least --lr, is that of the token's row.",
        show_default="the larger of --lr and 1e-3")  # fmt: skip
@option("--init-row", ("random", "probe"), "Begin the head from random numbers, or from a ridge "
        "regression of the labels on mean states.", default="random")  # fmt: skip
@option("--dev", str, "Samples of other problems: keep the weights with the best AUC within "
        "problems, which is measured about ten times, and stop early.", metavar="RUN")  # fmt: skip
@training_options("1; adam; 1e-5; 0; 32", items="Solutions")
def train_command(**options: Any) -> None:
    """Train a verifier on labelled completions.

    The defaults are the paper's: the verifier starts as a copy of the generator and learns, at
    every token of a completion, whether the final answer will be correct, with a language loss on
    the reference solutions. Running the same command again resumes from the last checkpoint.

    Example: gradeschool verifier train --generator mine --samples runs/mine -o judge
    """
    needs_training_packages()
    from gradeschool.verifier.train import VerifierTraining, train_verifier

    _train(train_verifier, VerifierTraining, options, reading=cli.read_options())


def _check_folder(output: Path | None) -> None:
    """Raise InputError if the folder of a file to write is missing, before a model is loaded."""
    if output is not None and not output.parent.is_dir():
        raise InputError(f"there is no folder {str(output.parent)!r} for -o; make it first")


@verifier_command.command("score")
@click.argument("files", nargs=-1, required=True, metavar="RUN...")
@score_options
@option("-o --output", FILE, "File to write; by default verifier-scores.jsonl beside the samples.",
        metavar="FILE")  # fmt: skip
@switch("--tokens", "Write the value and the text of every token too.")
@cli.reading_options
def score_command(files: tuple[str, ...], output: Path | None, tokens: bool, **raters: Any) -> None:
    """Score completions from any source with a verifier.

    A RUN is a run folder or a sample file, as for `gradeschool score`. Skips completions that
    already have a score by this verifier, so an interrupted command resumes.

    Example: gradeschool verifier score --verifier judge runs/mine
    """
    from gradeschool.verifier.scores import add_scores, load_rater, other_prompt

    options = cli.read_options()
    check_sources(files, options)
    _check_folder(output)
    loaded = load_rater(**raters)
    for run in [
        run for spec in dict.fromkeys(files) for run in read_candidates(spec, options, cli.warn)
    ]:
        if caution := other_prompt(run, loaded):
            cli.warn(caution)
        with ProgressDisplay() as display:
            path, longer = add_scores(run, loaded, path=output, tokens=tokens, tell=display.scored)
        if longer:
            cli.warn(f"{longer} of {run.total} completions of {run.run} are longer than the model "
                     "reads, and get no score")  # fmt: skip
        say(f"{run.total - longer} completions of {run.run} are scored in {path}")


@verifier_command.command("export")
@click.argument("folder", type=FOLDER, metavar="FOLDER")
@option("-o --output", cli.PATH, "Folder or file to write.", required=True,
        metavar="FOLDER|FILE.gguf")  # fmt: skip
def export_command(folder: Path, output: Path) -> None:
    """Export a verifier for transformers, or a model as GGUF.

    A folder: transformers' AutoModelForTokenClassification.from_pretrained(FOLDER) gives the
    verifier's value at each token as its only logit, without code from gradeschool. A FILE.gguf: of
    a model that `finetune -m new:SIZE` trained, or a verifier trained from it, with its head; use
    it as llama.cpp/FILE.gguf, or as --verifier FILE.gguf.

    Example: gradeschool verifier export judge -o judge.gguf
    """
    check_model(folder)
    needs_training_packages()
    from gradeschool.verifier.networks import export_classifier, write_gguf

    if output.suffix == ".gguf":
        check_output(output)
        with replacing(output) as part:
            write_gguf(folder, part)
        say(str(output))
        return
    export_classifier(folder, output)
    say(f"the token classifier is in {output}")


@verifier_command.command("rank")
@click.argument("run", metavar="RUN")
@score_options
@option("--score column", str, "Column of RUN with the scores, in place of a verifier.",
        metavar="COLUMN")  # fmt: skip
@option("--baseline baselines", str, "Compare with another run on the same problems, such as a "
        "greedy one.", multiple=True, metavar="RUN")  # fmt: skip
@option("--voters", COUNT, "Number of voters: the verifier's top N completions.", default=5)
@seed_option
@cli.scorer_option("Scorer that labels the completions; by default that of the protocol.")
@cli.reading_options
@cli.json_option
def rank_command(
    run: str, baselines: tuple[str, ...], voters: int, seed: int, scorer: str | None,
    as_json: bool, **models: Any,
) -> None:  # fmt: skip
    """Select one of many completions, by a verifier or a vote.

    RUN is a run folder or a sample file (FILE#NAME: one run of several) with a verifier's scores.
    A model given with --verifier, --generator or --critic scores first what has no score by it, and
    stores the scores beside the completions, as `verifier score` does. Prints what to select by,
    the accuracy of each selection strategy, also over the number of completions, and the AUC of the
    scores; intervals are clustered by problem.

    Example: gradeschool verifier rank runs/mine --verifier judge
    """
    from gradeschool.reports.verifiers import print_ranking
    from gradeschool.verifier.rank import STRATEGIES, rank, read_baseline, read_scored

    options = cli.read_options()
    check_sources([run, *baselines], options)
    with ProgressDisplay() as display:
        candidates, found = read_scored(run, options, cli.warn, scorer, display.scored, **models)
    outcomes: dict[str, dict[str, tuple[int, int]]] = {}
    for spec in dict.fromkeys(baselines):
        name, result = read_baseline(candidates, spec, options, cli.warn)
        outcomes[f"{name} ({spec})" if name in {*outcomes, *STRATEGIES} else name] = result
    ranking = rank(found.problems, has_logprob=found.has_logprob, baselines=outcomes,
                   voters=voters, seed=seed)  # fmt: skip
    if as_json:
        cli.print_json({"run": candidates.run, "verifier": found.verifier,
                        "scorer": candidates.scorer, "failed": candidates.failed,
                        "unscored": found.unscored, **ranking})  # fmt: skip
        return
    say(f"{candidates.run} by {found.verifier}, scored by {candidates.scorer}")
    print_ranking(ranking, outcomes, cli.stdout_console())


@verifier_command.command("bench")
@click.argument("benchmark", metavar="processbench|FILE")
@option("--verifier verifiers", str, "Verifier, by its value at the end of each step, or published "
        "reward model; may be repeated.", multiple=True, metavar=f"{MODEL_FORMS}|URL")  # fmt: skip
@form_option
@option("--critic critics", str, "Run of `gradeschool eval -p processbench/gsm8k`; its critiques "
        "of a solution vote. May be repeated.", multiple=True, metavar="RUN")  # fmt: skip
@option("--threshold", cli.FiniteRange(), "Score below which a step is wrong; by default each half "
        "of the problems chooses for the other.")  # fmt: skip
@option("-n --limit", COUNT, "Use only N solutions, evenly spread over the file.")
@option("-o --output", FILE, "Write the scores and predictions of every solution as JSON lines.",
        metavar="FILE")  # fmt: skip
@cli.json_option
def bench_command(
    benchmark: str, threshold: float | None, limit: int | None, output: Path | None, as_json: bool,
    **sources: Any,
) -> None:  # fmt: skip
    """Measure how well scorers find the first wrong step.

    processbench: 400 solutions of GSM8K problems, labelled by people (Zheng et al. 2024). A FILE:
    another part of ProcessBench (JSON), or PRMBench (JSONL). Prints F1 as ProcessBench's paper
    defines it, with intervals over problems, and of PRMBench its PRMScore. The threshold of scores
    is never chosen on the solutions that it is reported on.

    Example: gradeschool verifier bench processbench --verifier judge
    """
    from gradeschool.reports.verifiers import HALVES, print_bench
    from gradeschool.verifier import step_bench

    check_output(output)
    _check_folder(output)
    rows = step_bench.load_solutions(benchmark, limit)
    with ProgressDisplay() as display:
        predictions = step_bench.predict_by_all(rows, threshold, display.scored, **sources)
    results = [step_bench.bench(rows, each) for each in predictions]
    if output is not None:
        write_file(output, "".join(step_bench.prediction_rows(rows, predictions)).encode())
    if as_json:
        problems = len({row.problem for row in rows})
        cli.print_json({"benchmark": benchmark, "solutions": len(rows), "problems": problems,
                        "threshold_split": HALVES, "resamples": step_bench.RESAMPLES,
                        "scorers": results})  # fmt: skip
    else:
        print_bench(rows, results, cli.stdout_console())


@verifier_command.command("reproduce")
@option("--preset", ("laptop", "pretrained", "gpu", "tiny"), "laptop: a new model on a CPU. "
        "pretrained: --model by LoRA. gpu: --model, all weights. tiny: the models that the package "
        "ships.", default="laptop")  # fmt: skip
@option("--model", str, "Pretrained model for the presets pretrained and gpu.",
        metavar="FOLDER|FILE.gguf")  # fmt: skip
@option("-o --output", FOLDER, "Output folder; by default reproduce-PRESET.")
@option("--figure figures", str, "Make only this figure of the paper: 2, 5, 6a, 6b, 6c, 7a, 7b, 8, "
        "or direct (answers without steps); may be repeated.", multiple=True,
        metavar="NAME")  # fmt: skip
@option("--seeds", COUNT, "Use only the first N training seeds.")
@option("--jobs", COUNT, "Stages to run at a time; by default one for each core.")
@switch("--dry-run", "Print the commands without running them.")
def reproduce_command(
    preset: str, model: str | None, output: Path | None, figures: tuple[str, ...],
    seeds: int | None, jobs: int | None, dry_run: bool,
) -> None:  # fmt: skip
    """Reproduce the paper from nothing, with a report.

    Generates problems, trains generators, verifiers and both controls, samples, scores, and writes
    report.md with the learning curve and every interval. Each stage is a gradeschool command;
    finished stages are skipped and interrupted ones resume. --figure makes one figure, for the
    first seed.

    Example: gradeschool verifier reproduce --preset laptop -o reproduction
    """
    from gradeschool.reports.verifiers import write_figure, write_report
    from gradeschool.verifier.reproduce import PRESETS, figure_recipe, run_stages, whole_recipe

    chosen = PRESETS[preset]
    if bool(chosen.base) == bool(model):
        raise InputError(
            f"--preset {preset} takes no --model; leave it out, or give --preset pretrained"
            if model else
            f"--preset {preset} needs --model: give a Hugging Face folder or a FILE.gguf"
        )  # fmt: skip
    if model is not None:
        needs_training_packages()
        from gradeschool.verifier.networks import identify_model

        identify_model(model)
        chosen = replace(chosen, base=str(Path(model).resolve()))
    if seeds is not None:
        chosen = replace(chosen, seeds=chosen.seeds[:seeds])
    plans = {name: figure_recipe(chosen, name) for name in figures}
    stages = {} if plans else whole_recipe(chosen)
    for more, _ in plans.values():
        stages |= more
    if dry_run:
        for command in stages.values():
            say(" ".join(["gradeschool", *(word if word == ">" else quote(word)
                                           for word in command)]))  # fmt: skip
        return
    needs_training_packages()
    root = output or Path(f"reproduce-{preset}")
    run_stages(stages, root, jobs or cores(), tell)
    for name, (_, points) in plans.items():
        say("\n".join(write_figure(root, name, points)))
    if not plans:
        say(write_report(chosen, root).read_text(encoding="utf-8"), end="")
