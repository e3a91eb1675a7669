"""The report without a browser: what is in the file, and what cannot get into it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.reports.page.write import KEPT, _kept_span, _units
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.hostile_report import HOSTILE
from tests.support.report_page import blocks, report
from tests.support.report_page import run_folder as run_folder  # a fixture

TEXTS = st.text(st.characters(), max_size=40)  # lone surrogates too


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and the texts of some."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.path: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.path.append(tag)

    def handle_data(self, data: str) -> None:
        if self.path:
            self.texts.setdefault(self.path[-1], []).append(data)


def units(value: str, place: int) -> int:
    """Return a place in characters as one in UTF-16 units."""
    return len(value[:place].encode("utf-16-le", "surrogatepass")) // 2


def test_a_run_folder_fills_the_page(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Headline, protocol with its hash, and the checklist from run.json; the rest marked."""
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    manifest = json.loads((run_folder / "run.json").read_bytes())
    plain = " ".join("".join(Elements(page).texts[tag]) for tag in ("span", "p", "code", "dd"))
    scorer = json.loads((run_folder / "results.json").read_bytes())["scorers"]
    accuracy = next(iter(scorer.values()))["accuracy"]
    assert f"{100 * accuracy:.2f}" in plain
    assert manifest["protocol"]["digest"] in plain
    assert manifest["dataset"]["sha256"] in plain
    assert "greedy, top-p 1.0, no seed" in plain
    assert "none (0-shot)" in plain
    assert "not recorded" in plain  # precision, cost, latency


def test_the_policy_names_the_one_script_and_style(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """default-src 'none', and hashes of exactly what stands in the file; no address anywhere."""
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = policy.group(1).replace("&#x27;", "'")
    assert allowed.startswith("default-src 'none'; ")
    for tag, inline in (("script", r"<script>(.*?)</script>"), ("style", r"<style>(.*?)</style>")):
        (content,) = re.findall(inline, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed
    for _, attributes in Elements(page).elements:
        assert not {"src", "srcset", "style", "action", "data", "poster"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)


def test_the_data_is_every_completion(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Texts, outcomes and readings come back from the blocks as the scorers gave them."""
    from gradeschool import get_scorer, load_dataset

    data_blocks = blocks(report(gradeschool, tmp_path / "page.html", run_folder))
    facts = json.loads(data_blocks["problems"])
    texts = json.loads(data_blocks["texts-0"])
    stored = [
        json.loads(line) for line in (run_folder / "completions.jsonl").read_text().splitlines()
    ]
    assert [row[0] for row in texts] == [row["completion"] for row in stored]
    assert [problem[0] for problem in facts["problems"]] == [row["problem_id"] for row in stored]
    count, scorers = len(stored), facts["scorers"]
    codes = data_blocks["columns"][count * 18 :]
    assert len(codes) == count * len(scorers)
    problems = {problem.id: problem for problem in load_dataset("sample").problems}
    outcomes = ("correct", "wrong", "no_answer", "error")
    for scorer_index, name in enumerate(scorers):
        for number, row in enumerate(stored):
            verdict = get_scorer(name).judge(row["completion"], problems[row["problem_id"]])
            assert outcomes[codes[scorer_index * count + number]] == verdict.outcome.value
            if verdict.answer and verdict.answer.span:
                marked = facts["marked"].index(scorer_index)
                readings = [r for r in texts[number][1] if marked in r[3]]
                places = [units(row["completion"], place) for place in verdict.answer.span]
                assert [r[:2] for r in readings] == [places]


def test_hostile_names_stay_text(gradeschool: Command, tmp_path: Path) -> None:
    """Runs, models and problems may be called anything; elements are only ours."""
    rows = [
        {"index": index % 48, "run": name, "completion": name} for index, name in enumerate(HOSTILE)
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    tags = {tag for tag, _ in Elements(page).elements}
    assert not tags & {"img", "iframe", "object", "embed", "base", "video", "textarea"}
    scripts = [attributes for tag, attributes in Elements(page).elements if tag == "script"]
    assert [attributes.get("type") for attributes in scripts[-2:]] == [
        "application/gzip-base64",
        None,
    ]
    assert sum(attributes.get("type") is None for attributes in scripts) == 1


@given(TEXTS, st.data())
def test_places_in_utf16(value: str, data: Any) -> None:
    """A place in characters becomes the place that a script counts."""
    place = data.draw(st.integers(0, len(value)))
    assert _units(value)(place) == units(value, place)
    assert _units(value)(-1) == -1


@pytest.mark.parametrize("span", [(0, 5), (KEPT, KEPT + 5), (3 * KEPT - 5, 3 * KEPT - 1), None])
def test_a_long_text_keeps_both_ends(span: tuple[int, int] | None) -> None:
    """Places move with what is left out of the middle, and are gone where they were in it."""
    length = 3 * KEPT
    whole = "".join(chr(97 + index % 26) for index in range(length))
    kept = whole[:KEPT] + whole[-KEPT:]
    start, end = _kept_span(span, length, length - 2 * KEPT)
    if span is None or KEPT <= span[0] < 2 * KEPT:
        assert (start, end) == (-1, -1)
    else:
        assert kept[start:end] == whole[slice(*span)]


def test_a_run_of_errors_has_no_accuracy(gradeschool: Command, tmp_path: Path) -> None:
    """What never came is no zero: the page says that nothing could be judged, and shows why."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"index": 0, "error": "http 500: <b>boom</b>"}\n{"index": 1, "error": "x"}\n'
    )
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    assert "No completion of this run could be judged" in page
    assert 'class="figure"' not in page
    texts = json.loads(blocks(page)["texts-0"])
    assert [row[3] for row in texts] == ["http 500: <b>boom</b>", "x"]


@pytest.mark.parametrize("ending", ["html", "md"])
def test_an_unfinished_run_says_so(
    gradeschool: Command, run_folder: Path, tmp_path: Path, ending: str
) -> None:
    stored = run_folder / "completions.jsonl"
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[:-1]))
    page = report(gradeschool, tmp_path / f"page.{ending}", run_folder)
    assert "1 of 48 samples is missing; repeat the run" in page


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_run_with_a_changed_row_says_so(
    gradeschool: Command, run_folder: Path, tmp_path: Path, ending: str
) -> None:
    stored = run_folder / "completions.jsonl"
    rows = stored.read_bytes().splitlines(keepends=True)
    rows[0] = rows[0].replace(b'"completion": "', b'"completion": "Or: ')
    stored.write_bytes(b"".join(rows))
    page = report(gradeschool, tmp_path / f"page.{ending}", run_folder)
    assert "1 row was changed after it was stored" in page
