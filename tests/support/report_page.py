"""The HTML page of a report, and its data."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from tests.support.command import Command


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
