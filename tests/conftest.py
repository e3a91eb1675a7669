"""Fixtures that every test may use: GSM8K or its stand-in, a clean environment."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from gradeschool import masking
from gradeschool.problem import Problem
from tests.support import stand_in

# Sums of several threads differ in their last bits, and trainings are compared byte by byte.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests state figures and bytes of a CPU; a GPU gives others.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# A busy machine is no failure, and the same commit passes or fails the same way each time; the
# night looks for new examples (HYPOTHESIS_PROFILE=random).
hypothesis.settings.register_profile("same", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("random", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
pytest_plugins = ["tests.support.fixtures"]

DATA_VARIABLE = "GRADESCHOOL_DATA"
BESIDE = Path(__file__).parents[2] / "shared" / "data"
# What a developer's shell may hold and a test must not see.
AMBIENT = (
    *("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "XDG_CACHE_HOME", "NO_COLOR", "FORCE_COLOR"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "PYTHONSAFEPATH"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
NOWHERE = "http://127.0.0.1:9"  # nothing listens on the port "discard"

SHARED = Path(os.environ.get(DATA_VARIABLE) or BESIDE).resolve()
HAS_GSM8K = (SHARED / "gsm8k" / "test.jsonl").is_file()
STAND_IN, GSM8K = "stand-in", "gsm8k"


@pytest.fixture(autouse=True)
def clean_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hide the developer's keys and caches, and refuse the web; servers of a test are reached.

    A test that does not ask for `data` finds none.
    """
    for name in AMBIENT:
        monkeypatch.delenv(name, raising=False)
    for name in PROXIES:
        if request.node.get_closest_marker("peers"):  # a peer may ask the package index
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, NOWHERE)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("GRADESCHOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(masking, "_forms", {})
    monkeypatch.setattr(masking, "_pattern", None)
    if "data" not in request.fixturenames:
        monkeypatch.delenv(DATA_VARIABLE, raising=False)
        stand_in.remove(monkeypatch)


# Fixtures that load torch or run a real model, open a browser, build the documentation.
SLOW = {"tiny_model", "chromium", "site", "smollm", "verifier"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a costly fixture or GSM8K; tests of its own words leave the stand-in out."""
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        if not SLOW.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
        data = getattr(getattr(item, "callspec", None), "params", {}).get("data")
        # A peer reads GSM8K from a place of its own; what is slow is run once.
        marks = ("official", "peers", *(["slow"] if HAS_GSM8K else []))
        is_official = any(map(item.get_closest_marker, marks))
        (others if data == STAND_IN and is_official else kept).append(item)
        if data == GSM8K:
            item.add_marker("official")
    config.hook.pytest_deselected(items=others)
    items[:] = kept


@pytest.fixture(scope="session", params=[STAND_IN, GSM8K] if HAS_GSM8K else [STAND_IN])
def data(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder in which the code under test finds GSM8K: our stand-in; then GSM8K, if here."""
    with ExitStack() as changes:
        folder = SHARED
        if request.param == STAND_IN:
            folder = tmp_path_factory.mktemp("stand-in")
            stand_in.write(folder)
            changes.enter_context(stand_in.installed(folder))
        changes.enter_context(pytest.MonkeyPatch.context()).setenv(DATA_VARIABLE, str(folder))
        yield folder


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
