"""gradeschool: evaluate models on grade-school math, extract their answers, verify them.

Importing this package loads only the standard library; each name loads its module on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradeschool.answers.failures import Failure as Failure
    from gradeschool.answers.failures import detect_answer_failure as detect_answer_failure
    from gradeschool.answers.numbers import answers_match as answers_match
    from gradeschool.answers.numbers import normalize as normalize
    from gradeschool.answers.parse import majority_vote as majority_vote
    from gradeschool.answers.parse import parse_gsm8k_answer as parse_gsm8k_answer
    from gradeschool.auditing.audit import AuditReport as AuditReport
    from gradeschool.auditing.audit import audit as audit
    from gradeschool.completion import Completion as Completion
    from gradeschool.completion import Decoding as Decoding
    from gradeschool.completion import Prompt as Prompt
    from gradeschool.datasets.load import load_dataset as load_dataset
    from gradeschool.datasets.load import load_gsm8k as load_gsm8k
    from gradeschool.errors import GradeschoolError as GradeschoolError
    from gradeschool.integrations.benchmark import GSM8KBenchmark as GSM8KBenchmark
    from gradeschool.integrations.callables import evaluate as evaluate
    from gradeschool.integrations.callables import evaluate_async as evaluate_async
    from gradeschool.integrations.scores import Scores as Scores
    from gradeschool.integrations.scores import compare as compare
    from gradeschool.integrations.scores import report as report
    from gradeschool.integrations.scores import score as score
    from gradeschool.problem import Problem as Problem
    from gradeschool.prompts import format_chat as format_chat
    from gradeschool.protocol import Protocol as Protocol
    from gradeschool.protocols.openai import extract_answer as extract_answer
    from gradeschool.protocols.openai import is_correct as is_correct
    from gradeschool.protocols.registry import all_protocols as all_protocols
    from gradeschool.protocols.registry import all_scorers as all_scorers
    from gradeschool.protocols.registry import get_protocol as get_protocol
    from gradeschool.protocols.registry import get_scorer as get_scorer
    from gradeschool.scorer import Scorer as Scorer
    from gradeschool.scoring.judge import judge as judge
    from gradeschool.verdict import Answer as Answer
    from gradeschool.verdict import Outcome as Outcome
    from gradeschool.verdict import Verdict as Verdict

__version__ = "0.1.0"

_HOMES = {
    "Answer": "verdict",
    "AuditReport": "auditing.audit",
    "Completion": "completion",
    "Decoding": "completion",
    "Failure": "answers.failures",
    "GSM8KBenchmark": "integrations.benchmark",
    "GradeschoolError": "errors",
    "Outcome": "verdict",
    "Problem": "problem",
    "Prompt": "completion",
    "Protocol": "protocol",
    "Scorer": "scorer",
    "Scores": "integrations.scores",
    "Verdict": "verdict",
    "all_protocols": "protocols.registry",
    "all_scorers": "protocols.registry",
    "answers_match": "answers.numbers",
    "audit": "auditing.audit",
    "compare": "integrations.scores",
    "detect_answer_failure": "answers.failures",
    "evaluate": "integrations.callables",
    "evaluate_async": "integrations.callables",
    "extract_answer": "protocols.openai",
    "format_chat": "prompts",
    "get_protocol": "protocols.registry",
    "get_scorer": "protocols.registry",
    "is_correct": "protocols.openai",
    "judge": "scoring.judge",
    "load_dataset": "datasets.load",
    "load_gsm8k": "datasets.load",
    "majority_vote": "answers.parse",
    "normalize": "answers.numbers",
    "parse_gsm8k_answer": "answers.parse",
    "report": "integrations.scores",
    "score": "integrations.scores",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    """Import the module that defines a public name, the first time the name is used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
