"""Settings that files of results record, under the same names."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.formats.settings import read_object


@pytest.mark.parametrize("text", ["[1]", "{", "", "[" * 100_000, "\udcff"])
def test_what_is_no_object_is_an_error_with_the_advice(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=r"run\.json' cannot be read .*; copy it again"):
        read_object(path, "copy it again")
    path.write_text('{"seed": 0}')
    assert read_object(path, "") == {"seed": 0}
