"""The package as a whole: what an import loads, public names, layers, cycles."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import gradeschool

SOURCE = Path(gradeschool.__file__).parent
# A package imports itself and what stands before it; modules that are not named are at the bottom.
LAYERS = (
    {"answers", "calculator"},
    {"protocols", "datasets", "formats"},
    {"scoring", "auditing"},
    {"models"},
    {"runs"},
    {"verifier"},
    {"reports"},
    {"integrations"},
    {"cli"},
)
RANKS = {name: rank for rank, names in enumerate(LAYERS, 1) for name in names}
# Imported where one function is called: own protocols by `Protocol.with_changes` and by
# `get_protocol`.
UPWARD = {
    "gradeschool.protocol": "gradeschool.protocols.own",
    "gradeschool.protocols.registry": "gradeschool.protocols.own",
}
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
        home = gradeschool._HOMES[name]
        assert getattr(gradeschool, name).__module__ == f"gradeschool.{home}", name
    with pytest.raises(AttributeError, match="no attribute 'gms8k'"):
        _ = gradeschool.gms8k


def test_the_version_is_that_of_the_installed_package() -> None:
    assert gradeschool.__version__ == version("gradeschool")
    assert (SOURCE / "py.typed").is_file()


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of the package by its name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("gradeschool", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return found


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that a module imports, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("gradeschool."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gradeschool"):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def imports_of(name: str, tree: ast.Module) -> list[str]:
    """Return the imports of a module, without those that may go upward."""
    upward = UPWARD.get(name, "nothing")
    return [imported for imported in imports(tree) if not imported.startswith(upward)]


def test_packages_import_only_what_is_below_them() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, tree in modules().items()
        if name not in ("gradeschool", "gradeschool.__main__")  # they start the package
        for imported in imports_of(name, tree)
        if (other := imported.split(".")[1]) != "__version__"
        and RANKS.get(other, 0) > RANKS.get(name.split(".")[1], 0)
    ]  # fmt: skip
    assert wrong == []


def test_modules_import_each_other_in_no_cycle() -> None:
    trees = {name: tree for name, tree in modules().items() if name != "gradeschool"}
    graph = {
        name: {
            each if each in trees else each.rpartition(".")[0] for each in imports_of(name, tree)
        }
        - {name}
        for name, tree in trees.items()
    }
    loaded: set[str] = set()
    while len(loaded) < len(graph):
        free = {name for name in graph.keys() - loaded if graph[name] & graph.keys() <= loaded}
        assert free, f"a cycle among {sorted(graph.keys() - loaded)}"
        loaded |= free


def test_nothing_evaluates_or_unpickles_data() -> None:
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "os.system"), f"{name}:{node.lineno}"
                assert not called.startswith(("pickle.", "marshal.")), f"{name}:{node.lineno}"
