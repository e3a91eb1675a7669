"""MGSM of simple-evals in 11 languages: one instruction, the last number behind the last "Answer".

The English protocol asks any problems, GSM8K's first.

https://github.com/openai/simple-evals/blob/ee3b0318d8d1d9d72755a4120879be65f7c07e9e/mgsm_eval.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gradeschool.answers.search import last_match
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol, Render
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

SOURCE = "openai/simple-evals @ ee3b0318, mgsm_eval.py"
# No sign: -10 is read as 10.
NUMBER = re.compile(r"\d+\.?\d*")
# Texts that define the protocol, to the letter: what stands before the answer, the instruction.
LANGUAGES = {
    "en": (
        "Answer",
        (
            "Solve this math problem. Give the reasoning steps before giving the final "
            'answer on the last line by itself in the format of "Answer:". Do not add '
            'anything other than the integer answer after "Answer:".'
        ),
    ),
    "bn": (
        "উত্তর",
        (
            "এই গণিতের সমস্যাটি সমাধান করুন। চূড়ান্ত উত্তর দেওয়ার আগে যুক্তিসম্পন্ন পদক্ষেপ "
            'প্রদান করুন। চূড়ান্ত উত্তরটি একক সংখ্যা হিসাবে "উত্তর:" এর পরে শেষ লাইনে দিন। '
            '"উত্তর:" এর পরে অন্য কিছু যুক্ত করবেন না।.'
        ),
    ),
    "de": (
        "Antwort",
        (
            "Löse dieses Mathematikproblem. Gib die Schritte zur Begründung an, bevor du die "
            'endgültige Antwort in der letzten Zeile alleine im Format "Antwort:" gibst. '
            'Füge nichts anderes als die ganzzahlige Antwort nach "Antwort:" hinzu.'
        ),
    ),
    "es": (
        "Respuesta",
        (
            "Resuelve este problema matemático. Proporciona los pasos de razonamiento antes "
            "de dar la respuesta final en la última línea por sí misma en el formato de "
            '"Respuesta:". No añadas nada más que la respuesta entera después de '
            '"Respuesta:".'
        ),
    ),
    "fr": (
        "Réponse",
        (
            "Résolvez ce problème de mathématiques. Donnez les étapes de raisonnement avant "
            "de fournir la réponse finale sur la dernière ligne elle-même dans le format de "
            '"Réponse:". N\'ajoutez rien d\'autre que la réponse entière après "Réponse:".'
        ),
    ),
    "ja": (
        "答え",
        (
            "の数学の問題を解いてください。最終的な答えを出す前に、解答の推論過程を記"
            '述してください。そして最後の行には "答え:" '
            "の形式で答えを記述し、その後には整数の答え以外何も追加しないでください。"
        ),
    ),
    "ru": (
        "Ответ",
        (
            "Решите эту математическую задачу. Объясните шаги рассуждения перед тем, как "
            'дать окончательный ответ в последней строке сам по себе в формате "Ответ:". Не '
            'добавляйте ничего, кроме целочисленного ответа после "Ответ:".'
        ),
    ),
    "sw": (
        "Jibu",
        (
            "Suluhisha tatizo hili la hesabu. Toa hatua za mantiki kabla ya kutoa jibu la "
            'mwisho kwenye mstari wa mwisho peke yake katika muundo wa "Jibu:". Usiongeze '
            'chochote kingine isipokuwa jibu la integer baada ya "Jibu:".'
        ),
    ),
    "te": (
        "సమాధానం",
        (
            "ఈ గణిత సమస్యను పరిష్కరించండి. చివరి సమాధానాన్ని ఇవ్వదానికి ముందు తర్కాత్మక "
            "అదుగులను ఇవ్వండి. చివరి పంక్తిలో మాత్రమే 'సమాధానం:' అనే ఆకారంలో చివరి "
            "సమాధానాద్ని ఇవ్వండి సమాధానం: తర్వాత పూర్ణాంక సమాధానానికి తప్పించి ఎదేనా "
            "చేర్చవద్దు."
        ),
    ),
    "th": (
        "คำตอบ",
        (
            "แก้ปัญหาคณิตศาสตร์นี้ "
            "ให้ให้ขั้นตอนการใช้เหตุผลก่อนที่จะให้คำตอบสุดท้ายในบรรทัดสุดท้ายโดยอยู่ในรูปแบบ "
            '"คำตอบ:" ไม่ควรเพิ่มอะไรนอกจากคำตอบที่เป็นจำนวนเต็มหลังจาก "คำตอบ:"'
        ),
    ),
    "zh": (
        "答案",
        (
            "解决这个数学问题。在最后一行给出答案前，请提供推理步骤。最后一行应该以 "
            '"答案: " 的形式独立给出答案。在 "答案：" 后不要添加除整数答案之'
            "外的任何内容。"
        ),
    ),
}


def behind(label: str) -> Callable[[str, str], Answer | None]:
    """Return what reads the last number behind the last such label, whatever stands between."""

    def read(text: str, reference: str) -> Answer | None:
        start = text.rfind(label)
        if start < 0:
            return None
        match = last_match(NUMBER, text[start + len(label) :].replace(",", ""))
        if match is None:
            return None
        number = match.group().rstrip(".")
        place = text.rfind(number)  # with a comma inside it does not stand there literally
        span = (place, place + len(number)) if place > start else None
        return Answer(number, number, span, f"the last number behind the last {label!r}")

    return read


def same(value: str, reference: str) -> bool:
    """Compare as strings, zero decimals cut off the answer alone."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference


def instructed(language: str) -> Render:
    """Return what renders the instruction of a language and the question as one user message."""
    instruction = LANGUAGES[language][1]

    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for problem in problems:
            yield Prompt(messages=(Message("user", f"{instruction}\n\n{problem.question}"),))

    return prompts


def _scorer(language: str) -> Scorer:
    label = LANGUAGES[language][0]
    return Scorer(
        name=f"simple-evals/mgsm-{language}",
        summary=f"the last number (no sign) behind the last {label!r}, equal as a string",
        source=f"{SOURCE}, parse_answer and score_mgsm",
        reference=lambda problem: problem.gold.replace(",", ""),
        extract=behind(label),
        compare=same,
        dataset="" if language == "en" else f"mgsm:{language}",
    )


def _protocol(language: str) -> Protocol:
    label = LANGUAGES[language][0]
    return Protocol(
        name=f"simple-evals/mgsm-{language}",
        summary=f"zero-shot chat, '{label}:' on the last line, temperature 0.5, 1024 tokens",
        source=f"{SOURCE}; decoding: sampler/chat_completion_sampler.py",
        render=instructed(language),
        decoding=Decoding(temperature=0.5, top_p=None, max_tokens=1024),
        scorers=(f"simple-evals/mgsm-{language}",),
        is_chat=True,
        dataset="gsm8k" if language == "en" else f"mgsm:{language}",
    )


SCORERS = tuple(map(_scorer, LANGUAGES))
PROTOCOLS = tuple(map(_protocol, LANGUAGES))
