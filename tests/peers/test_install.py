"""Environments made from nothing: what is lent is found, what changed is made again."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.peers import install

pytestmark = pytest.mark.peers


def wheel(folder: Path, name: str, says: str) -> Path:
    """Return a wheel of one module that holds one word."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.py", f"SAYS = {says!r}\n")
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which peers are described and installed; `common` is in two, not alike."""
    monkeypatch.setattr(install, "VENVS", tmp_path / "venvs")
    monkeypatch.setattr(install, "REQUIREMENTS", tmp_path)
    for peer, word in (("first", "lent"), ("second", "lent too"), ("borrower", "own")):
        (tmp_path / peer).mkdir()
        wheels = [wheel(tmp_path / peer, name, word) for name in (f"only_{peer}", "common")]
        lines = ["# install: --no-deps --no-index", *map(str, wheels)]
        if peer == "borrower":
            lines.insert(1, "# dependencies: first second")
        (tmp_path / f"{peer}.txt").write_text("\n".join(lines), "utf-8")
    return tmp_path


def imported_word(peer: str, module: str) -> str:
    """Return the word of a module in a peer's environment."""
    code = f"import {module}; print({module}.SAYS)"
    return subprocess.check_output([install.python_of(peer), "-c", code], text=True).strip()


def test_one_command_makes_a_borrower_and_its_lenders(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install.missing("borrower")
    assert install.main(["borrower"]) == 0
    assert not any(map(install.missing, install.names()))
    words = [imported_word("borrower", f"only_{peer}") for peer in ("first", "second", "borrower")]
    assert words == ["lent", "lent too", "own"]
    assert imported_word("borrower", "common") == "own"
    capsys.readouterr()
    assert install.main([]) == 0
    assert capsys.readouterr().out.count("already installed") == 3


def test_a_change_an_interruption_and_a_failure(folder: Path) -> None:
    assert install.install("first")
    described = folder / "first.txt"
    described.write_text(f"{described.read_text('utf-8')}\n# again", "utf-8")
    assert "other requirements" in install.missing("first")
    (install.VENVS / "first" / install.STAMP).unlink()
    assert "not installed" in install.missing("first")
    described.write_text(f"# install: --no-index --no-deps\n{folder / 'no.whl'}\n", "utf-8")
    assert install.main(["first"]) == 1
    assert install.missing("first")
    assert install.main(["nobody"]) == 2


def test_a_borrower_names_what_its_lenders_borrow() -> None:
    """What a lender borrows is not seen through it."""
    for peer in install.names():
        lenders = install.marked(peer, install.DEPENDENCIES)
        for lender in lenders:
            borrowed = install.marked(lender, install.DEPENDENCIES)
            assert set(borrowed) <= set(lenders), (peer, lender)
