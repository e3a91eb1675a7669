"""`export --push`: upload an export to the Hugging Face hub, in one commit, with a card.

The files go to a dataset repository, which is created (private) if it does not exist.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradeschool import __version__
from gradeschool.errors import InputError, TransientError, require_packages
from gradeschool.masking import masked, register_secret
from gradeschool.percentages import accuracy_words, bounds
from gradeschool.reports.export import ExportedRun, storable
from gradeschool.reports.measured import measured
from gradeschool.reports.printable import markdown_table

CARD = "README.md"
LOGIN = "run `hf auth login`, or set HF_TOKEN to a token that may write"


def check_push(repo: str) -> None:
    """Raise MissingExtraError or InputError if an upload cannot begin.

    The token is that of huggingface_hub (HF_TOKEN, or from `hf auth login`).
    """
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


def push(repo: str, files: Mapping[str, Path], run: ExportedRun, replace_card: bool) -> str:
    """Upload files, by their path in the repository, in one commit; return its address.

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
    additions = [CommitOperationAdd(name, path) for name, path in files.items()]
    message = f"{storable(run.model)} under {run.task}, by gradeschool {__version__}"
    try:
        api.create_repo(repo, repo_type="dataset", private=True, exist_ok=True)
        if replace_card or not api.file_exists(repo, CARD, repo_type="dataset"):
            additions.append(CommitOperationAdd(CARD, card(run, tuple(files))))
        commit = api.create_commit(repo, additions, repo_type="dataset", commit_message=message)
    except hub.HfHubHTTPError as error:
        status, host = error.response.status_code, api.endpoint
        words = f"{host} answers HTTP {status}: {_first_line(error)}"
        if status == 429 or status >= 500:
            raise TransientError(f"http {status}", f"{words}; try again later") from error
        where = f"the dataset repository {repo!r} (HTTP {status})"
        refusals = {
            401: f"{host} refuses the token (HTTP 401); {LOGIN}",
            403: f"the token may not write to {where}; give one that may, or another repository",
            404: f"there is nothing at {where}; create it, or correct the name",
        }
        raise InputError(refusals.get(status, f"{words}; correct what it names")) from error
    except (hub.HTTPError, OSError) as error:  # type: ignore[attr-defined]
        raise TransientError(
            "cannot connect", f"cannot reach {api.endpoint}: {_first_line(error)}; try again later"
        ) from error
    except (ValueError, KeyError, RuntimeError) as error:  # no answer of a hub; Xet
        raise TransientError(
            "bad response", f"{api.endpoint} did not answer as a hub does: {_first_line(error)}"
        ) from error
    return str(commit.commit_url)


def _first_line(error: BaseException) -> str:
    lines = str(getattr(error, "server_message", None) or error).strip().split("\n")
    return masked(lines[0])[:200] or type(error).__name__


def card(run: ExportedRun, files: Sequence[str]) -> bytes:
    """Return the dataset card of an export: the measured settings, and the score by each scorer."""
    import yaml

    front: dict[str, Any] = {"tags": ["gradeschool", "evaluation", "gsm8k"]}
    if tables := [name for name in files if name.endswith(".parquet")]:
        front["configs"] = [{"config_name": "default", "data_files": tables[0]}]
    unknown = [("model", run.model), ("dataset", run.dataset)]
    settings = measured(run.manifest) or unknown
    scores = []
    for name, share, *_ in run.scores:
        accuracy = accuracy_words(share.accuracy, share.bounds) if share.judged else "–"
        interval = bounds(share.interval, between=" to ") if share.judged else "–"
        scores.append((name, accuracy, interval, f"{share.judged:,}"))
    lines = [
        f"---\n{yaml.safe_dump(front, sort_keys=False)}---",
        f"# {run.model} under {run.task}",
        "",
        *(f"- **{name}**: {value}" for name, value in settings if value),
        f"- **samples**: {run.answered:,} answered, {len(run.samples) - run.answered:,} failed",
        "",
        *markdown_table(("scorer", "accuracy", "95 % interval", "completions"), scores),
        "",
        f"Written by gradeschool {__version__}. `gradeschool score FILE` scores these files again:",
        "",
        *(f"- `{name}`" for name in files),
        "",
    ]
    return masked(storable("\n".join(lines))).encode()
