"""gradeschool: evaluate models on grade-school math, extract their answers, verify them.

Importing this package loads only the standard library; each name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradeschool.answers.failures import Failure, detect_answer_failure
    from gradeschool.answers.numbers import answers_match, normalize
    from gradeschool.answers.parse import majority_vote, parse_gsm8k_answer
    from gradeschool.auditing.audit import AuditReport, audit
    from gradeschool.completion import Completion, Decoding, Prompt
    from gradeschool.datasets.load import load_dataset, load_gsm8k
    from gradeschool.errors import GradeschoolError
    from gradeschool.integrations.benchmark import GSM8KBenchmark
    from gradeschool.integrations.python_api import (
        Scores,
        compare,
        evaluate,
        evaluate_async,
        report,
        score,
    )
    from gradeschool.problem import Problem
    from gradeschool.prompts import format_chat
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.extractions import extract_answer, is_correct
    from gradeschool.protocols.registry import all_protocols, all_scorers, get_protocol, get_scorer
    from gradeschool.scorer import Answer, Outcome, Scorer, Verdict
    from gradeschool.scoring.table import judge

__version__ = "0.1.0"
__all__ = [
    "Answer", "AuditReport", "Completion", "Decoding", "Failure", "GSM8KBenchmark",
    "GradeschoolError", "Outcome", "Problem", "Prompt", "Protocol", "Scorer", "Scores", "Verdict",
    "__version__", "all_protocols", "all_scorers", "answers_match", "audit", "compare",
    "detect_answer_failure", "evaluate", "evaluate_async", "extract_answer", "format_chat",
    "get_protocol", "get_scorer", "is_correct", "judge", "load_dataset", "load_gsm8k",
    "majority_vote", "normalize", "parse_gsm8k_answer", "report", "score",
]  # fmt: skip
_HOMES = {
    "answers.failures": "Failure detect_answer_failure",
    "answers.numbers": "answers_match normalize",
    "answers.parse": "majority_vote parse_gsm8k_answer",
    "auditing.audit": "AuditReport audit",
    "completion": "Completion Decoding Prompt",
    "datasets.load": "load_dataset load_gsm8k",
    "errors": "GradeschoolError",
    "integrations.benchmark": "GSM8KBenchmark",
    "integrations.python_api": "Scores compare evaluate evaluate_async report score",
    "problem": "Problem",
    "prompts": "format_chat",
    "protocol": "Protocol",
    "protocols.extractions": "extract_answer is_correct",
    "protocols.registry": "all_protocols all_scorers get_protocol get_scorer",
    "scorer": "Answer Outcome Scorer Verdict",
    "scoring.table": "judge",
}


def __getattr__(name: str) -> object:
    """Import the module that defines a public name, the first time the name is used."""
    for home, names in _HOMES.items():
        if name in names.split():
            value = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
