"""`export --push`: upload an export to the Hugging Face hub, in one commit, with a card.

Samples go to a dataset repository, which is created (private) if it does not exist; results for
`.eval_results/` go to the repository of the model, which must exist.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradeschool import __version__
from gradeschool.errors import InputError, TransientError, require_packages
from gradeschool.formats.export import ExportedFile, ExportedRun, storable
from gradeschool.masking import masked, register_secret
from gradeschool.percentages import bounds, percent
from gradeschool.reports.measured import measured
from gradeschool.reports.printable import markdown_table

if TYPE_CHECKING:
    from huggingface_hub import HfApi

CARD = "README.md"
RESULTS_FOLDER = ".eval_results"  # of a model repository: hub-docs, docs/hub/eval-results.md
LOGIN = "run `hf auth login`, or set HF_TOKEN to a token that may write"


@dataclass(frozen=True, slots=True)
class HubTarget:
    """A repository and the files to upload: the path in the repository, and the local path."""

    repo: str
    kind: str
    files: Mapping[str, Path]

    @property
    def card(self) -> bool:
        """Return whether a card is written: a model's own card is not changed."""
        return self.kind == "dataset"


def hub_target(repo: str, form: str, output: Path, files: Sequence[ExportedFile]) -> HubTarget:
    """Return the repository and paths for the files of an export."""
    if form == "eval-results":
        return HubTarget(repo, "model", {f"{RESULTS_FOLDER}/{output.name}": output})
    paths = {file.path or output.name: output / file.path for file in files}
    return HubTarget(repo, "dataset", paths)


def check_push(repo: str, form: str) -> None:
    """Raise MissingExtraError or InputError if an upload cannot begin.

    The token is that of huggingface_hub (HF_TOKEN, or from `hf auth login`).
    """
    if form == "model-index":
        raise InputError(
            "--push cannot merge model-index into the README of a model; export eval-results"
        )
    require_packages("--push", "hub", "huggingface_hub")
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
        named = "/" in repo
    except HFValidationError:
        named = False
    if not named:
        raise InputError(f"{masked(repo)!r} is not a repository name; give --push OWNER/NAME")
    token = get_token()
    if not token:
        raise InputError(f"--push has no token for the Hugging Face hub; {LOGIN}")
    register_secret(token)


def push(target: HubTarget, run: ExportedRun, replace_card: bool) -> str:
    """Upload the files in one commit and return its address.

    An existing card is kept, unless `replace_card` is set. Raises InputError if the hub refuses,
    TransientError if it cannot be reached or has a server error; in both cases nothing is
    committed.
    """
    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub import errors as hub
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not sys.stderr.isatty():
        disable_progress_bars()
    api = HfApi(library_name="gradeschool", library_version=__version__)
    additions = [CommitOperationAdd(name, path) for name, path in target.files.items()]
    try:
        if target.card:
            api.create_repo(target.repo, repo_type=target.kind, private=True, exist_ok=True)
            if replace_card or not api.file_exists(target.repo, CARD, repo_type=target.kind):
                additions.append(CommitOperationAdd(CARD, card(run, tuple(target.files))))
        commit = api.create_commit(
            target.repo,
            additions,
            repo_type=target.kind,
            commit_message=f"{storable(run.model)} under {run.task}, by gradeschool {__version__}",
        )
    except hub.HfHubHTTPError as error:
        raise _refusal(target, api, error) from error
    except (hub.HTTPError, OSError) as error:  # type: ignore[attr-defined]
        raise TransientError(
            "cannot connect", f"cannot reach {api.endpoint}: {_first_line(error)}; try again later"
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:  # no answer of a hub; Xet
        raise TransientError(
            "bad response", f"{api.endpoint} did not answer as a hub does: {_first_line(error)}"
        ) from error
    return str(commit.commit_url)


def _refusal(target: HubTarget, api: HfApi, error: Any) -> InputError | TransientError:
    """Return the error for an HTTP status of the hub."""
    status = error.response.status_code
    where = f"{target.kind} repository {target.repo!r}"
    if status == 401:
        return InputError(f"{api.endpoint} refuses the token (HTTP 401); {LOGIN}")
    if status == 403:
        return InputError(
            f"the token may not write to the {where} (HTTP 403); give one that may, or another "
            "repository"
        )
    if status == 404:
        return InputError(f"there is no {where} (HTTP 404); create it, or correct the name")
    words = f"{api.endpoint} answers HTTP {status}: {_first_line(error)}"
    if status == 429 or status >= 500:
        return TransientError(f"http {status}", f"{words}; try again later")
    return InputError(f"{words}; correct what it names")


def _first_line(error: BaseException) -> str:
    server = getattr(error, "server_message", None)
    lines = str(server or error).strip().split("\n")
    return masked(lines[0])[:200] or type(error).__name__


def card(run: ExportedRun, files: Sequence[str]) -> bytes:
    """Return the dataset card of an export: the measured settings, and the score by each scorer."""
    import yaml

    front: dict[str, Any] = {"tags": ["gradeschool", "evaluation", "gsm8k"]}
    tables = [name for name in files if name.endswith(".parquet")]
    if tables:
        front["configs"] = [{"config_name": "default", "data_files": tables[0]}]
    settings = measured(run.manifest).lines() if run.manifest else [
        ("model", run.model), ("dataset", run.dataset)
    ]  # fmt: skip
    answered = len(run.answered())
    scores = (
        (item.scorer.name, percent(item.accuracy), bounds(item.interval, between=" to "),
         f"{item.judged:,}") for item in run.scores
    )  # fmt: skip
    lines = [
        f"# {run.model} under {run.task}",
        "",
        *(f"- **{name}**: {value}" for name, value in settings if value),
        f"- **samples**: {answered:,} answered, {len(run.samples) - answered:,} failed",
        "",
        *markdown_table(("scorer", "accuracy", "95 % interval", "completions"), scores),
        "",
        f"Written by gradeschool {__version__}. `gradeschool score FILE` scores these files again:",
        "",
        *(f"- `{name}`" for name in files),
        "",
    ]
    head = yaml.safe_dump(front, sort_keys=False)
    return masked(storable(f"---\n{head}---\n" + "\n".join(lines))).encode()
