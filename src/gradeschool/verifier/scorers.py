"""Who scores: a folder that transformers reads, a GGUF file that llama.cpp reads, or `tiny`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gradeschool.errors import InputError
from gradeschool.models.llama_cpp import TINY, TINY_FILE, TINY_VERIFIER
from gradeschool.verifier.solutions import Pair, Scored

GGUF = ".gguf"
FORMS = f"a folder, a FILE{GGUF} or {TINY}"


class Side(Protocol):
    """A model that reads solutions: as a verifier, or for their log-probabilities."""

    name: str

    def score(self, pairs: Sequence[Pair]) -> list[Scored]:
        """Return the verifier's values; raises InputError where the model is no verifier."""

    def logprobs(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Return the log-probability (nats) of each token of each solution."""

    def text(self, token: int) -> str:
        """Return the text of a token."""


class CandidateScorer(NamedTuple):
    """A verifier and the generator of log-probabilities; None where none are wanted."""

    verifier: Side
    generator: Side | None = None


def load_scorer(verifier: str | Path, generator: str | Path | None = None) -> CandidateScorer:
    """Load a verifier and a generator, on a GPU where there is one and transformers reads them.

    Each is a model's folder, a FILE.gguf or `tiny`. Raises InputError where there is none,
    MissingExtraError where what reads it is not installed.
    """
    head = _side(verifier, "verifier", TINY_VERIFIER)
    return CandidateScorer(
        head, None if generator is None else _side(generator, "generator", TINY_FILE)
    )


def is_model(spec: str) -> bool:
    """Tell whether a spec of a verifier is a model, not a file of scores or a name in one."""
    return spec == TINY or Path(spec).is_dir() or Path(spec).suffix == GGUF


def _side(spec: str | Path, what: str, shipped: Path) -> Side:
    if str(spec) == TINY:
        return _of_file(shipped, f"{TINY}-{what}")
    path = Path(spec)
    if path.suffix == GGUF and path.is_file():
        return _of_file(path)
    if not path.is_dir():
        raise InputError(f"there is no {what} {str(spec)!r}; give {FORMS}")
    from gradeschool.verifier.base_model import needs_training_packages

    needs_training_packages()
    return FolderSide(path, what == "verifier")


def _of_file(file: Path, name: str = "") -> Side:
    from gradeschool.verifier.gguf_side import GgufSide

    return GgufSide(file, name)


class FolderSide:
    """A model's folder, read by transformers."""

    def __init__(self, folder: Path, verifies: bool) -> None:
        import torch

        from gradeschool.verifier.head import Verifier, load_reader, load_tokenizer

        device = "cuda" if torch.cuda.is_available() else "cpu"
        load = Verifier.load if verifies else load_reader
        self.name = name_of(folder)
        self._model: Any = load(folder, device)
        self._tokenizer = load_tokenizer(folder)

    def score(self, pairs: Sequence[Pair]) -> list[Scored]:
        """Return the verifier's values of solutions."""
        from gradeschool.verifier.value import score

        return score(self._model, self._tokenizer, pairs)

    def logprobs(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Return the log-probability of each token of each solution."""
        from gradeschool.verifier.value import logprobs

        return logprobs(self._model, self._tokenizer, pairs)

    def text(self, token: int) -> str:
        """Return the text of a token."""
        return str(self._tokenizer.decode([token]))


def name_of(folder: Path) -> str:
    """Return the name of a model's folder with a digest of its files and of its head."""
    import hashlib

    from gradeschool.models.local import fingerprint
    from gradeschool.verifier.head import VERIFIER_FILE

    digest = hashlib.sha256(fingerprint(folder).encode())
    if (head := folder / VERIFIER_FILE).is_file():
        digest.update(head.read_bytes())
    return f"{folder.resolve().name}@{digest.hexdigest()[:12]}"
