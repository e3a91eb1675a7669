"""Every error that gradeschool raises on purpose.

    GradeschoolError
    ├── InputError            the input of the user cannot be used (exit status 2)
    │   ├── UnknownNameError  no scorer, protocol or dataset has that name
    │   ├── DataError         a data file is missing, or is not what its digest promises
    │   └── StoreError        a run folder is locked, damaged or cannot be written
    ├── MissingExtraError     an optional dependency is not installed (exit status 2)
    └── ModelError            a model gave no completion
        ├── TransientError    a retry may help (429, 5xx, time-outs)
        └── FatalModelError   no request can succeed (bad key, unknown model): the run stops

A message says what was wrong, shows the value, and says what to do. A failed sample is data, not a
crash: `ModelError` is recorded with its sample, and only `FatalModelError` stops the run.
"""

from collections.abc import Iterable
from importlib.util import find_spec
from shlex import quote

MOST_NAMES = 16  # in a message; with more, it names the command that lists them
NAMED = "gradeschool protocols list --all"
LISTED_BY = {"scorer": NAMED, "protocol": NAMED, "protocol or scorer": NAMED,
             "dataset": "gradeschool data list"}  # fmt: skip


class GradeschoolError(Exception):
    """Root of the tree; the command line prints its message and exits with 2."""


class InputError(GradeschoolError, ValueError):
    """The input of the user cannot be used."""


class UnknownNameError(InputError, LookupError):
    """No scorer, protocol or dataset has that name."""

    def __init__(self, kind: str, name: str, existing: Iterable[str]) -> None:
        names = sorted(existing)
        if close := close_names(name, names):
            hint = f"did you mean {' or '.join(map(quote, close))}?"
        elif len(names) > MOST_NAMES and kind in LISTED_BY:
            hint = f"`{LISTED_BY[kind]}` prints all names"
        else:
            hint = f"known: {', '.join(names)}"
        super().__init__(f"no {kind} is called {name!r}; {hint}")

    def __str__(self) -> str:
        return str(self.args[0])  # LookupError would print the repr


def close_names(name: str, existing: Iterable[str]) -> list[str]:
    """Return up to three names that the user may have meant, the likeliest first.

    Capitals and underscores do not count. First the name that is longer or shorter by whole parts,
    then nearly equal ones, then those that begin with the name or a harness like it, or have it as
    a later part: of these GSM8K's first, then lm-eval's.
    """
    from difflib import get_close_matches

    spelled = {each.casefold().replace("_", "-"): each for each in sorted(existing)}
    typed = name.casefold().replace("_", "-")

    def rank(each: str) -> tuple[bool, bool, bool, int]:
        is_newest = "@>=" in each
        return (
            "/gsm8k" not in each and not is_newest,
            "@" in each and not is_newest,
            not each.startswith(("lm-eval", typed)),
            len(each),
        )

    parts = [each for each in spelled if each == typed or each.startswith(f"{typed}/")]
    parts += [each for each in spelled if typed.startswith(f"{each}/")]
    close = [] if len(parts) > 1 else get_close_matches(typed, spelled, n=1, cutoff=0.9)
    harnesses = {each.partition("/")[0] for each in spelled if "/" in each}
    alike = get_close_matches(typed.partition("/")[0], harnesses, n=1, cutoff=0.8)
    for start in (typed, *alike):
        longer = [each for each in spelled if start and f"/{start}" in f"/{each}"]
        found = [*sorted(parts, key=rank), *close, *sorted(longer, key=rank)]
        if found:
            return [spelled[each] for each in dict.fromkeys(found)][:3]
    similar = get_close_matches(typed, spelled, n=1, cutoff=0.8)
    return [spelled[each] for each in similar or get_close_matches(typed, spelled, cutoff=0.5)]


class DataError(InputError):
    """A data file is missing, cannot be fetched, or is not what its digest promises."""


class StoreError(InputError):
    """A run folder is locked, damaged or cannot be written."""


class MissingExtraError(GradeschoolError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'gradeschool[{extra}]'")


def is_installed(package: str) -> bool:
    """Return whether a package is installed; does not import it.

    A folder of its name in the current folder, such as the `wandb` of earlier runs, is no package.
    """
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # the package that contains it is not installed
        return False
    return spec is not None and spec.origin is not None


def require_packages(feature: str, extra: str, *packages: str) -> None:
    """Raise MissingExtraError unless all these packages of an extra are installed."""
    if not all(map(is_installed, packages)):
        raise MissingExtraError(feature, extra)


class ModelError(GradeschoolError):
    """A model gave no completion for one sample.

    `cause` is a short stable word for counting ("timeout", "http 500", "bad response"). `usage`:
    the tokens of a reply that is not a completion; they were paid for.
    """

    def __init__(self, cause: str, message: str) -> None:
        from gradeschool.completion import NO_USAGE  # not needed by most commands

        super().__init__(message)
        self.cause = cause
        self.usage = NO_USAGE


class TransientError(ModelError):
    """A retry may help. `retry_after`: the delay in seconds that the server asked for, if any."""

    def __init__(self, cause: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(cause, message)
        self.retry_after = retry_after


class FatalModelError(ModelError):
    """No request of this run can succeed; the run stops early and stays resumable."""
