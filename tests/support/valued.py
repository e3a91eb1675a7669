"""Problems and completions with a verifier's value of each token."""

from collections.abc import Sequence
from pathlib import Path

from gradeschool.scoring.at_k import text_key
from tests.support.files import jsonl


def valued_files(folder: Path, texts: Sequence[str], values: Sequence[float]) -> tuple[Path, Path]:
    """Write problems and completions, each text one token a character, all of the same value."""
    problems = jsonl(
        folder / "problems.jsonl",
        [{"question": f"{text} number {n}?", "answer": "5"} for n, text in enumerate(texts)],
    )
    answers = jsonl(
        folder / "answers.jsonl",
        [{"index": n, "completion": text, "run": "r"} for n, text in enumerate(texts)],
    )
    jsonl(
        folder / "answers.verifier-scores.jsonl",
        [
            {"key": text_key(f"{text} number {index}?", text), "verifier": "v</script>@1",
             "score": value, "tokens": [*text, "<eos>"], "values": [value] * (len(text) + 1)}
            for index, (text, value) in enumerate(zip(texts, values, strict=True))
        ],
    )  # fmt: skip
    return problems, answers
