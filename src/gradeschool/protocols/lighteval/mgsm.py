"""lighteval's MGSM in 11 languages: the whole completion must be the number.

https://github.com/huggingface/lighteval, PyPI 0.13.0: src/lighteval/tasks/tasks/mgsm.py,
metrics/metrics_sample.py lines 81-167 (`ExactMatches` with strip_strings).
"""

from __future__ import annotations

from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "lighteval 0.13.0, src/lighteval/tasks/tasks/mgsm.py"
# Strings that define the tasks, verbatim: the labels before the question and before answers.
LABELS = {
    "bn": ("প্রশ্ন:", "ধাপে ধাপে উত্তর:"),
    "de": ("Frage:", "Schritt-für-Schritt-Antwort:"),
    "en": ("Question:", "Step-by-Step Answer:"),
    "es": ("Pregunta:", "Respuesta paso a paso:"),
    "fr": ("Question:", "Réponse étape par étape :"),
    "ja": ("問題:", "ステップごとの答え:"),
    "ru": ("Задача:", "Пошаговоерешение:"),
    "sw": ("Swali:", "Jibu la Hatua kwa Hatua:"),
    "te": ("ప్రశ్న:", "దశలవారీగా సమాధానం:"),
    "th": ("โจทย์:", "คำตอบทีละขั้นตอน:"),
    "zh": ("问题:", "逐步解答:"),
}


def read_whole(text: str, reference: str) -> Answer | None:
    """Extract the whole completion without white space at its ends."""
    value = text.strip()
    if not value:
        return None
    start = text.find(value)
    return Answer(value, value, (start, start + len(value)), "the whole text")


MGSM_SCORER = Scorer(
    name="lighteval/mgsm",
    summary="the whole text without white space at its ends, equal as a string",
    source="lighteval 0.13.0, src/lighteval/metrics/metrics.py, Metrics.exact_match",
    reference=lambda problem: problem.gold.replace(",", "").strip(),
    extract=read_whole,
    compare=verbatim,
    dataset="mgsm",
)
MGSM = tuple(
    Protocol(
        name=f"lighteval/mgsm-{language}",
        summary="zero-shot, a label for step-by-step reasoning, the server's own length",
        source=f"{SOURCE} (mgsm:{language})",
        render=Template(question=f"{labels[0]} {{question}}\n{labels[1]}"),
        decoding=Decoding(temperature=0.0, top_p=None, max_tokens=None),
        scorers=("lighteval/mgsm",),
        dataset=f"mgsm:{language}",
    )
    for language, labels in LABELS.items()
)
