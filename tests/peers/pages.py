"""Runs the examples of the documentation against the real packages.

A code block behind `<!-- runs in: NAME -->` is run in `.venvs/NAME`, in this process's own
environment for the name "here"; the blocks of a page share a folder. Python runs as a file, shell
commands with `bash -e`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import gradeschool
from tests.peers.install import VENVS, missing, python_of

PAGES = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"<!-- runs in: (\w+) -->\n```(python|sh)\n(.*?)```", re.DOTALL)
SECONDS = 600
HERE = "here"


class Example(NamedTuple):
    """A code block of a page."""

    peer: str
    language: str
    code: str


def examples(page: str) -> list[Example]:
    """Return the blocks of a page that are run."""
    return [Example(*match) for match in EXAMPLE.findall((PAGES / page).read_text("utf-8"))]


def sections(page: str) -> dict[str, list[Example]]:
    """Return the blocks of each section of a page, those without a block left out."""
    parts = re.split(r"^## ", (PAGES / page).read_text("utf-8"), flags=re.MULTILINE)
    found = {part.partition("\n")[0]: EXAMPLE.findall(part) for part in parts}
    return {name: [Example(*block) for block in blocks] for name, blocks in found.items() if blocks}


def why_not(peer: str) -> str:
    """Return why examples cannot run in a peer's environment; "" where they can."""
    return "" if peer == HERE else missing(peer)


def lent_package(folder: Path) -> Path:
    """Return a folder for PYTHONPATH that holds gradeschool as it is installed here, and no more.

    The peer's environments hold no gradeschool: they see the package under test, with the entry
    points of its metadata.
    """
    packages = folder / "lent" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "gradeschool").symlink_to(Path(gradeschool.__file__).parent)
    installed = distribution("gradeschool")
    metadata = packages / f"gradeschool-{installed.version}.dist-info"
    metadata.mkdir()
    for name in ("METADATA", "entry_points.txt"):
        (metadata / name).write_text(installed.read_text(name) or "", "utf-8")
    return packages


def environment(peer: str, folder: Path) -> dict[str, str]:
    """Return the environment variables of an example."""
    packages = folder / "lent" / "site-packages"
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]
    changes = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "NO_COLOR": "1"}
    changes |= dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
    if peer != HERE:
        path.insert(0, str(python_of(peer).parent))
        cache = str(VENVS / peer / "cache")
        changes |= dict.fromkeys(("HF_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), cache)
        changes["PYTHONPATH"] = str(packages if packages.is_dir() else lent_package(folder))
    return os.environ | changes | {"PATH": os.pathsep.join(path)}


def run(
    peer: str, folder: Path, *command: str | Path, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as an example is run; the caller looks at how it ended."""
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(peer, folder) | changes,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def run_python(
    peer: str, folder: Path, code: str, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run Python code from a file."""
    (folder / "example.py").write_text(code, "utf-8")
    python = sys.executable if peer == HERE else python_of(peer)
    return run(peer, folder, python, "example.py", **changes)


def run_example(example: Example, folder: Path, **changes: str) -> str:
    """Run one block and return what it printed; AssertionError shows the end of its errors."""
    if example.language == "python":
        process = run_python(example.peer, folder, example.code, **changes)
    else:
        process = run(example.peer, folder, "bash", "-ec", example.code, **changes)
    assert process.returncode == 0, (
        f"{example.code}\n{process.stdout[-2000:]}\n{process.stderr[-4000:]}"
    )
    return process.stdout
