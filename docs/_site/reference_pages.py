"""The reference of the Python API: every public name, its text from its docstring."""

from __future__ import annotations

import ast
import inspect
from importlib.util import find_spec
from pathlib import Path

import gradeschool
from names import table

GROUPS = {
    "score": (
        "Scoring and asking",
        "One completion, many, or a model that is asked now.",
        (
            "judge",
            "score",
            "Scores",
            "compare",
            "evaluate",
            "evaluate_async",
            "GSM8KBenchmark",
            "audit",
            "AuditReport",
        ),
    ),
    "answers": (
        "Reading answers",
        "Functions on texts and numbers, without problems or scorers.",
        (
            *("parse_gsm8k_answer", "normalize", "answers_match", "majority_vote"),
            *("extract_answer", "is_correct", "detect_answer_failure", "Failure"),
        ),
    ),
    "records": (
        "Records",
        "The records that the packages exchange; all are frozen.",
        ("Problem", "Prompt", "Decoding", "Completion", "Answer", "Outcome", "Verdict"),
    ),
    "protocols": (
        "Protocols and scorers",
        "Finding them by name, and what they are made of.",
        (
            *("get_protocol", "all_protocols", "get_scorer", "all_scorers"),
            *("Protocol", "Scorer", "format_chat"),
        ),
    ),
    "data": ("Datasets", "Problems by name or from a file.", ("load_dataset", "load_gsm8k")),
}
INTEGRATIONS = (
    *("rewards", "trl", "verl", "openrlhf", "verifiers"),
    *("inspect_tasks", "inspect_scorers", "pytest_plugin"),
)
ERRORS = "gradeschool.errors"


def pages() -> dict[str, str]:
    """Return the Markdown of the pages by file."""
    grouped = {name for _, _, names in GROUPS.values() for name in names}
    others = tuple(
        name
        for name in gradeschool.__all__
        if name not in grouped and not name.startswith("_") and name != "GradeschoolError"
    )
    groups = dict(GROUPS)
    if others:
        groups["more"] = ("More", "Public names that belong to no group above.", others)
    found = {
        f"reference/{file}.md": _page(title, about, [f"gradeschool.{name}" for name in names])
        for file, (title, about, names) in groups.items()
    }
    modules = [f"gradeschool.integrations.{name}" for name in INTEGRATIONS]
    found["reference/integrations.md"] = _page(
        "Integrations", "What other tools call; the pages under Integrations show how.", modules
    )
    found["reference/errors.md"] = _page("Errors", "", [ERRORS])
    return found | {"reference/index.md": _index(groups)}


def titles() -> list[tuple[str, str]]:
    """Return (title, file) of each page that is not the index."""
    return [
        *((title, f"reference/{file}.md") for file, (title, _, _) in GROUPS.items()),
        ("Integrations", "reference/integrations.md"),
        ("Errors", "reference/errors.md"),
    ]


def _page(title: str, about: str, names: list[str]) -> str:
    sections = "\n\n".join(f"::: {name}" for name in names)
    return f"# {title}\n\n{about}\n\n{sections}\n"


def _index(groups: dict[str, tuple[str, str, tuple[str, ...]]]) -> str:
    parts = [
        "# Python",
        "`import gradeschool` loads the standard library alone; a name loads its module when it is "
        "first used. What is not named here is not public.",
    ]
    for file, (title, about, names) in groups.items():
        rows = [(f"[`{name}`]({file}.md#gradeschool.{name})", _first_line(name)) for name in names]
        parts += [f"## [{title}]({file}.md)", about, table(("name", "what it is"), rows)]
    rows = [(f"[`{name}`](integrations.md#gradeschool.integrations.{name})", _module_line(name))
            for name in INTEGRATIONS]  # fmt: skip
    parts += ["## [Integrations](integrations.md)", table(("module", "what it is"), rows)]
    parts += ["## [Errors](errors.md)", "Every error that is raised on purpose, in one tree."]
    return "\n\n".join(parts) + "\n"


def _first_line(name: str) -> str:
    doc = inspect.getdoc(getattr(gradeschool, name)) or ""
    return doc.split("\n")[0].replace("|", "&#124;")


def _module_line(name: str) -> str:
    """Return the first line of a module's docstring, without importing what the module needs."""
    spec = find_spec(f"gradeschool.integrations.{name}")
    if spec is None or spec.origin is None:
        raise ValueError(f"there is no integration {name!r}")
    doc = ast.get_docstring(ast.parse(Path(spec.origin).read_text("utf-8"))) or ""
    return doc.split("\n")[0].replace("|", "&#124;")
