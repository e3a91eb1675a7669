"""The HTML page of a report: its data, and rows that try to escape from their place in it."""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradeschool.scoring.at_k import text_key
from tests.support.command import Command
from tests.support.files import jsonl

# Completions that try to escape
HOSTILE = (
    "<script>document.title='owned'</script>#### 5",
    "</script><script>document.title='owned'</script>",
    "<!--<script>", "]]>", "${document.title='owned'}", "{{7*7}}",
    "<img src=x onerror=\"document.title='owned'\">", "<svg/onload=document.title='owned'>",
    "<a href=\"javascript:document.title='owned'\">click</a>",
    "![x](http://127.0.0.1:9/leak.png) [y](javascript:alert(1))",
    "<iframe src='http://127.0.0.1:9/'></iframe><link rel=stylesheet href=http://127.0.0.1:9/a.css>",
    "<style>*{display:none}</style><base href='http://127.0.0.1:9/'>",
    "\u202eabc\u202c \u2066x\u2069 \u200b\ufeff",  # bidi, zero width
    "\x1b[31mred\x1b[0m \x00 \x07 \x9b", "lone \ud800 surrogate #### 5",
    "=HYPERLINK(\"http://127.0.0.1:9\")", "+1+1", "@SUM(A1)", "-2+3",
    "emoji 😀😀 then #### 5", "Z" + "\u0301" * 400, "'\"`--></textarea></title>",
    "&lt;b&gt; &amp;amp; &#x3c;script&#x3e;",
)  # fmt: skip


def report(gradeschool: Command, path: Path, *arguments: object) -> str:
    result = gradeschool("report", *arguments, "-o", path)
    assert result.status == 0, result.err
    return path.read_text(encoding="utf-8")


def blocks(page: str) -> dict[str, Any]:
    """Return the data of a page, unpacked."""
    matches = re.findall(
        r'<script type="application/gzip-base64" id="([^"]+)">([^<]*)</script>', page
    )
    return {id: json.loads(gzip.decompress(base64.b64decode(body))) for id, body in matches}


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
