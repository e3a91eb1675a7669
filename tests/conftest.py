"""Fixtures that every test may use: the shared data, GSM8K, a clean environment."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.problem import Problem

pytest_plugins = ["tests.support.fixtures"]

DATA_VARIABLE = "GRADESCHOOL_DATA"
BESIDE = Path(__file__).parents[2] / "shared" / "data"
# What a developer's shell may hold and a test must not see.
AMBIENT = (
    *("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "XDG_CACHE_HOME", "NO_COLOR", "FORCE_COLOR"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
NOWHERE = "http://127.0.0.1:9"  # nothing listens on the port "discard"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the developer's keys and caches, and refuse the web; servers of a test are reached."""
    for name in AMBIENT:
        monkeypatch.delenv(name, raising=False)
    for name in PROXIES:
        monkeypatch.setenv(name, NOWHERE)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    monkeypatch.setenv("GRADESCHOOL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of shared data, which the code under test then finds by itself; else skip."""
    folder = Path(os.environ.get(DATA_VARIABLE) or BESIDE).resolve()
    if not (folder / "gsm8k" / "test.jsonl").is_file():
        pytest.skip(f"no shared data: {folder} has no gsm8k/test.jsonl; set {DATA_VARIABLE}")
    os.environ[DATA_VARIABLE] = str(folder)
    return folder


@pytest.fixture(scope="session")
def gsm8k_test(data: Path) -> Sequence[Problem]:
    """The 1,319 problems of the test split, in official order."""
    from gradeschool import load_gsm8k

    return tuple(load_gsm8k("test"))


@pytest.fixture(scope="session")
def gsm8k_train(data: Path) -> Sequence[Problem]:
    """The 7,473 problems of the train split, in official order."""
    from gradeschool import load_gsm8k

    return tuple(load_gsm8k("train"))
