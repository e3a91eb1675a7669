"""Install the peer harnesses, each in a virtual environment of its own: `.venvs/NAME`.

    python tests/peers/install.py [NAME ...]

NAME is a file of `requirements/` without ".txt", or some of these with "_newest" behind, which
installs the newest versions; all files of `requirements/` if none is given. An environment
whose requirements file is unchanged is left as it is. Standard library only; exit 0 done, 1 pip
failed, 2 no such name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENVS = HERE.parents[1] / ".venvs"
REQUIREMENTS = HERE / "requirements"
# Lines of a requirements file: further options for pip; a peer whose packages stand in for the
# dependencies that are not installed.
OPTIONS = "# install: "
DEPENDENCIES = "# dependencies: "
# NAME_newest holds these packages in their newest versions; it is made anew each time.
NEWEST = "_newest"
PACKAGES = "# newest: "
STAMP = "requirements-installed.txt"  # written last: an interrupted install is done again


def names() -> list[str]:
    """Return the peers that can be installed."""
    pinned = sorted(path.stem for path in REQUIREMENTS.glob("*.txt"))
    return pinned + [f"{name}{NEWEST}" for name in pinned if marked(name, PACKAGES)]


def python_of(name: str) -> Path:
    """Return the interpreter of a peer's environment, installed or not."""
    folder, program = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return VENVS / name / folder / program


def stamp_text(name: str) -> str:
    """Return what an environment must have been made from: requirements and Python version."""
    return f"# Python {sys.version.split()[0]}\n{text_of(name)}"


def text_of(name: str) -> str:
    """Return a peer's requirements file."""
    return (REQUIREMENTS / f"{name.removesuffix(NEWEST)}.txt").read_text("utf-8")


def marked(name: str, mark: str) -> list[str]:
    """Return the words behind a mark in a requirements file."""
    lines = text_of(name).splitlines()
    return [word for line in lines if line.startswith(mark) for word in line[len(mark) :].split()]


def packages(name: str) -> Path:
    """Return the folder of an environment's packages."""
    return next((VENVS / name).glob("[Ll]ib/**/site-packages"))


def missing(name: str) -> str:
    """Return why a peer cannot run, as the reason of a skipped test; "" where it can."""
    how = f"run `python tests/peers/install.py {name}`"
    stamp = VENVS / name / STAMP
    if not stamp.is_file() or not python_of(name).exists():
        return f"the peer {name} is not installed; {how}"
    pinned = stamp.read_text("utf-8").partition("\n")[2]
    if pinned != stamp_text(name).partition("\n")[2]:
        return f"the peer {name} was installed from other requirements; {how}"
    return ""


def install(name: str) -> bool:
    """Make a peer's environment; return False where it was already there. Raises what pip says."""
    stamp = VENVS / name / STAMP
    newest = marked(name, PACKAGES) if name.endswith(NEWEST) else []
    if not newest and stamp.is_file() and stamp.read_text("utf-8") == stamp_text(name):
        return False
    shutil.rmtree(VENVS / name, ignore_errors=True)
    venv.create(VENVS / name, with_pip=True, symlinks=os.name != "nt")
    wanted: list[str | Path] = [*newest] or ["-r", REQUIREMENTS / f"{name}.txt"]
    options, lenders = marked(name, OPTIONS), marked(name, DEPENDENCIES)
    subprocess.run(
        [python_of(name), "-m", "pip", "install", "-qq", "--no-compile", *options, *wanted],
        check=True,
    )
    if lenders:
        for lender in lenders:
            install(lender)
        lent = "".join(f"{packages(lender)}\n" for lender in lenders)
        (packages(name) / "dependencies.pth").write_text(lent, "utf-8")
    stamp.write_text(stamp_text(name), "utf-8")
    return True


def main(chosen: list[str]) -> int:
    """Install the chosen peers, or all."""
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        print(f"no such peer: {', '.join(unknown)}; there are {', '.join(names())}")
        return 2
    for name in chosen or [name for name in names() if not name.endswith(NEWEST)]:
        start = time.monotonic()
        try:
            installed = install(name)
        except subprocess.CalledProcessError as error:
            print(f"{name}: pip failed with exit code {error.returncode}")
            return 1
        print(
            f"{name}: {f'{time.monotonic() - start:.0f} s' if installed else 'already installed'}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
