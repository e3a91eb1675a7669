"""Finding a dataset's file: what the user holds, the cache, else its origin; verified by digest."""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, build_opener

from gradeschool.atomic import replacing
from gradeschool.datasets.sources import DatasetSource
from gradeschool.errors import DataError

DATA_VARIABLE = "GRADESCHOOL_DATA"
CACHE_VARIABLE = "GRADESCHOOL_CACHE"
OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
TIMEOUT_SECONDS = 60
LARGEST_BYTES = 64 * 2**20


class LocatedFile(NamedTuple):
    """A dataset's file on disk, how to read it, and where it was found."""

    path: Path
    layout: str
    where: str


def cache_folder() -> Path:
    """Return the folder for fetched data: GRADESCHOOL_CACHE, else the user's cache folder."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gradeschool"


def find_file(source: DatasetSource) -> LocatedFile | None:
    """Return the verified local file of a source, or None where it must be fetched.

    A file whose digest nobody has published is taken as it is: the number of its rows is checked.
    Raises DataError where a file is there but its digest is another.
    """
    if not source.url:
        return LocatedFile(Path(__file__).parent / source.path, source.layout, "shipped")
    candidates = [(cache_folder() / source.path, source.sha256, source.layout, "cache")]
    if folder := os.environ.get(DATA_VARIABLE):
        if not Path(folder).is_dir():
            raise DataError(
                f"{DATA_VARIABLE} is {folder!r}, which is no folder; correct or unset it"
            )
        files = [(source.path, source.sha256, source.layout)]
        files += [source.alternative] if source.alternative else []
        files_here = [
            (Path(folder) / path, digest, form, DATA_VARIABLE) for path, digest, form in files
        ]
        candidates = files_here + candidates
    for path, digest, layout, where in candidates:
        if path.is_file():
            if digest:
                verify(path, digest, source.name)
            return LocatedFile(path, layout, where)
    return None


def locate(source: DatasetSource) -> LocatedFile:
    """Return the verified local file of a source, fetched from its origin where it is missing."""
    return find_file(source) or LocatedFile(fetch(source), source.layout, "fetched")


def verify(path: Path, sha256: str, name: str) -> None:
    """Raise DataError unless the file's bytes have that digest."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if digest != sha256:
        raise DataError(
            f"{str(path)!r} is not the {name} dataset: its SHA-256 is {digest}, expected {sha256}; "
            "remove it, or give the official file"
        )


def fetch(source: DatasetSource) -> Path:
    """Fetch a source from its origin into the cache and return the file.

    Obeys proxies (HTTPS_PROXY ...) and HF_HUB_OFFLINE. Nothing appears in the cache unless its
    digest is right. Raises DataError.
    """
    for variable in OFFLINE_VARIABLES:
        if os.environ.get(variable, "").strip().lower() in {"1", "true", "yes", "on"}:
            raise DataError(
                f"the dataset {source.name!r} is not on this machine and {variable} forbids to "
                f"fetch it; put it at ${DATA_VARIABLE}/{source.path} or unset {variable}"
            )
    if not source.sha256:
        raise DataError(
            f"the dataset {source.name!r} is not fetched, because its digest is not known here; "
            f"get it from {source.url} and put it at ${DATA_VARIABLE}/{source.path}"
        )
    target = cache_folder() / source.path
    try:
        request = Request(source.url, headers={"User-Agent": "gradeschool"})  # noqa: S310 (pinned)
        # A new opener reads the proxies of the environment anew; `urlopen` keeps its first ones.
        with build_opener().open(request, timeout=TIMEOUT_SECONDS) as reply:
            body = reply.read(LARGEST_BYTES + 1)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error) or type(error).__name__
        raise DataError(
            f"cannot fetch the dataset {source.name!r} from {source.url}: {reason}; "
            f"put it at ${DATA_VARIABLE}/{source.path}, or fetch it where there is a network"
        ) from error
    digest = hashlib.sha256(body).hexdigest()
    if digest != source.sha256:
        raise DataError(
            f"{source.url} gave {len(body)} bytes with SHA-256 {digest}, expected {source.sha256}; "
            "nothing was kept"
        )
    _write_whole(target, body)
    return target


def _write_whole(target: Path, body: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            part.write_bytes(body)
    except OSError as error:
        raise DataError(
            f"cannot write {str(target)!r}: {error.strerror}; set {CACHE_VARIABLE} to a folder "
            "that can be written"
        ) from error
