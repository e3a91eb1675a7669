"""`--log`: a finished run in Weights & Biases or MLflow.

A logger gets the settings of run.json and the numbers of results.json when a session ends. Secrets
are masked first. A failing logger is reported, and the others go on.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradeschool.errors import require_packages
from gradeschool.formats.run_folder import manifest_of, results_of
from gradeschool.masking import masked, masked_values, register_secret, shown_address
from gradeschool.reports.measured import changed_settings

PROJECT = "gradeschool"  # unless the library's own variable names another
SECRETS = ("WANDB_API_KEY", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
UNLOGGED = ("schema", "created", "updated", "command", "status", "processes")
NO_METRIC_NAME = re.compile(r"[^\w. /:-]")  # characters that MLflow does not allow in names

Scalar = str | int | float | bool


class LoggedRun:
    """What a logger gets of a run folder, masked; the id is the same after a resume.

    whole: every sample is answered. parameters: nested names are joined by ".", in results by "/".
    """

    def __init__(self, folder: Path) -> None:
        fields, results, place = manifest_of(folder), results_of(folder), folder.resolve()
        settings = {name: value for name, value in fields.items() if name not in UNLOGGED}
        for name, score in results.pop("scorers", {}).items():
            interval = dict(zip(("low", "high"), score["ci95"] or (), strict=False))
            results[name] = {**score, **interval}
        self.name = masked(place.name)
        identity = f"{fields.get('created')} {place}"
        self.id = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self.whole = not (results.get("missing") or results.get("failed"))
        self.parameters: Mapping[str, Scalar] = masked_values(
            flat({**settings, "changed": changed_settings(fields)})
        )
        self.results: Mapping[str, float] = {
            name: value for name, value in masked_values(flat(results, "/")).items()
            if isinstance(value, int | float)
        }  # fmt: skip


def log_to_wandb(run: LoggedRun) -> str:
    """Log to Weights & Biases; WANDB_PROJECT, WANDB_MODE, WANDB_DIR and others apply.

    Console, command line, machine and code are not recorded: they may contain secrets.
    """
    import wandb

    settings = wandb.Settings(
        silent=True, console="off", save_code=False, disable_git=True, x_disable_meta=True,
        x_disable_stats=True, disable_job_creation=True,
    )  # fmt: skip
    session = wandb.init(
        project=os.environ.get("WANDB_PROJECT") or PROJECT,
        id=run.id, name=run.name, resume="allow", settings=settings,
    )  # fmt: skip
    session.config.update(dict(run.parameters), allow_val_change=True)
    session.summary.update(dict(run.results))
    offline = session.settings.mode == "offline"
    place = session.settings.sync_dir if offline else str(session.url)
    session.finish(exit_code=0 if run.whole else 1)
    return place


def log_to_mlflow(run: LoggedRun) -> str:
    """Log to MLflow; MLFLOW_TRACKING_URI and MLFLOW_EXPERIMENT_NAME apply."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    client = MlflowClient()
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    experiment = client.get_experiment_by_name(name)
    number = experiment.experiment_id if experiment else client.create_experiment(name)
    earlier = client.search_runs([number], f"tags.`gradeschool.id` = '{run.id}'", max_results=1)
    entry = earlier[0] if earlier else client.create_run(
        number, run_name=run.name, tags={"gradeschool.id": run.id}
    )  # fmt: skip
    id, now = entry.info.run_id, time.time_ns() // 1_000_000
    for key, value in run.parameters.items():
        if key not in entry.data.params:  # MLflow's parameters cannot be changed
            client.log_param(id, NO_METRIC_NAME.sub("_", key), value)
    named = ((NO_METRIC_NAME.sub("_", key), value) for key, value in run.results.items())
    client.log_batch(id, metrics=[Metric(key, value, now, 0) for key, value in named])
    client.set_terminated(id, "FINISHED" if run.whole else "KILLED")
    return f"{shown_address(client.tracking_uri)}, experiment {name}, run {id}"


# By the name of the package and the extra; each returns where the run can be seen.
LOGGERS: Mapping[str, Callable[[LoggedRun], str]] = {"wandb": log_to_wandb, "mlflow": log_to_mlflow}


def check_loggers(names: Sequence[str]) -> None:
    """Raise MissingExtraError for a logger without its package; mask their secrets from then on."""
    for name in SECRETS if names else ():
        register_secret(os.environ.get(name, ""))
    shown_address(os.environ.get("MLFLOW_TRACKING_URI", ""))  # registers its password
    for name in names:
        require_packages(f"--log {name}", name, name)


def log_run(
    names: Sequence[str], folder: Path, tell: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Log the settings and results of a run folder to the loggers of these names.

    tell: called with where each run can be seen. warn: called with the failure of a logger.
    """
    run = LoggedRun(folder)
    for name in dict.fromkeys(names):
        try:
            tell(f"{name} log: {masked(LOGGERS[name](run))}")
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a logger never fails a run)
            said = " ".join(masked(str(error)).split())[:200] or type(error).__name__
            warn(f"--log {name} failed: {said}")


def flat(fields: Mapping[str, Any], joint: str = ".") -> dict[str, Scalar]:
    """Return nested fields as "name.inner", lists as text; None and empty values are left out."""
    values: dict[str, Scalar] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            values |= {f"{name}{joint}{key}": inner for key, inner in flat(value, joint).items()}
        elif isinstance(value, list | tuple):
            values |= {name: ", ".join(map(str, value))} if value else {}
        elif value is not None:
            values[name] = value if isinstance(value, bool | int | float) else str(value)
    return values
