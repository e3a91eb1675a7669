"""The package as a whole: what an import loads, public names, layers, cycles."""

import re
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import gradeschool
from gradeschool.errors import close_names

SOURCE = Path(gradeschool.__file__).parent
# A package imports itself and what stands before it; modules that are not named are at the bottom.
LAYERS = (
    {"answers", "arithmetic", "calculator", "latex"},
    {"protocols", "datasets", "formats"},
    {"scoring", "auditing", "user_function"},
    {"models"},
    {"runs"},
    {"verifier"},
    {"reports"},
    {"integrations"},
    {"cli"},
)
RANKS = {name: rank for rank, names in enumerate(LAYERS, 1) for name in names}
# Imported inside two functions: a protocol's examples (`with_changes`), and how many there are.
UPWARD = {"gradeschool.protocol": "gradeschool.datasets"}
IMPORT = re.compile(r"^\s*from (gradeschool[\w.]*) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
HEAVY = {"click", "aiohttp", "rich", "yaml", "jinja2", "pyarrow", "torch", "numpy"}


def loaded_by(code: str) -> set[str]:
    """Return the top packages that a fresh interpreter has loaded after the code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return set(result.stdout.splitlines()[-1].split())


def test_import_and_scoring_load_the_standard_library_only() -> None:
    before = loaded_by("")
    assert loaded_by("import gradeschool") - before <= sys.stdlib_module_names | {"gradeschool"}
    score = "gradeschool.judge('#### 18', 18, scorer='openai/2021').correct"
    code = f"import gradeschool\nassert {score}\nassert gradeschool.load_dataset('sample')"
    assert not HEAVY & loaded_by(code)


def test_help_loads_no_library_but_click() -> None:
    code = "import sys\nsys.argv = ['gradeschool', '--help']\nfrom gradeschool.cli import main\n"
    loaded = loaded_by(f"{code}try:\n    main()\nexcept SystemExit:\n    pass")
    assert loaded & HEAVY == {"click"}
    assert not {"asyncio", "multiprocessing", "ssl"} & loaded


def test_public_names_are_sorted_and_exist() -> None:
    names = gradeschool.__all__
    assert names == sorted(set(names)) == dir(gradeschool)
    for name in set(names) - {"__version__"}:
        (home,) = (home for home, names in gradeschool._HOMES.items() if name in names.split())
        assert getattr(gradeschool, name).__module__ == f"gradeschool.{home}", name
    with pytest.raises(AttributeError, match="no attribute 'gms8k'"):
        _ = gradeschool.gms8k


def test_the_version_is_that_of_the_installed_package() -> None:
    assert gradeschool.__version__ == version("gradeschool")
    assert (SOURCE / "py.typed").is_file()


@cache
def imports() -> dict[str, set[str]]:
    """Return what every module of ours imports of ours, in functions too."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("gradeschool", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        upward = UPWARD.get(name, "nothing")
        found[name] = {
            imported
            for module, several, one in IMPORT.findall(path.read_text("utf-8"))
            for word in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", several or one))
            if not (imported := f"{module}.{word}").startswith(upward)
        }
    del found["gradeschool"], found["gradeschool.__main__"]  # they start the package
    return found


def test_packages_import_only_what_is_below_them() -> None:
    assert [
        f"{name} imports {imported}"
        for name, names in imports().items()
        for imported in names
        if RANKS.get(imported.split(".")[1], 0) > RANKS.get(name.split(".")[1], 0)
    ] == []


def test_modules_import_each_other_in_no_cycle() -> None:
    modules = imports().keys()
    graph = {
        name: {each if each in modules else each.rpartition(".")[0] for each in names} - {name}
        for name, names in imports().items()
    }
    loaded: set[str] = set()
    while len(loaded) < len(graph):
        free = {name for name in graph.keys() - loaded if graph[name] & modules <= loaded}
        assert free, f"a cycle among {sorted(graph.keys() - loaded)}"
        loaded |= free


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("lm_eval", "lm-eval/gsm8k/strict-match"),
        ("strict", "lm-eval/gsm8k/strict-match"),
        ("inspekt", "inspect/match-numeric@>=0.3.261"),
        ("lm-eval/gsm8k", "lm-eval/gsm8k/strict-match"),
        ("lm-eval/gsm8k_cot", "lm-eval/gsm8k-cot/strict-match"),
        ("OpenAI/2020", "openai/2021"),
    ],
)
def test_the_likeliest_scorer_is_suggested_first(name: str, first: str) -> None:
    assert close_names(name, gradeschool.all_scorers())[0] == first
