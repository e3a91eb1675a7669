"""The report without a browser: what is in the file, and what cannot get into it."""

import base64
import gzip
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.shared import BATCH
from gradeschool.models.recorded import SAMPLE_FILE
from gradeschool.reports.figures.records import lengths
from gradeschool.reports.page.gather import gather
from gradeschool.reports.page.sections import tokens_section
from gradeschool.reports.page.verdicts import judge_run
from gradeschool.reports.page.write import KEPT, _kept_span, _units
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.table import ERROR, ScorerSet
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.hostile_report import HOSTILE

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


def blocks(page: str) -> dict[str, bytes]:
    """Return the data of a page, unpacked."""
    matches = re.findall(
        r'<script type="application/gzip-base64" id="([^"]+)">([^<]*)</script>', page
    )
    return {id: gzip.decompress(base64.b64decode(body)) for id, body in matches}


def units(value: str, place: int) -> int:
    """Return a place in characters as one in UTF-16 units."""
    return len(value[:place].encode("utf-16-le", "surrogatepass")) // 2


@pytest.fixture
def run_folder(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of the shipped completions on the shipped problems."""
    folder = tmp_path / "run"
    result = gradeschool(
        "eval", "-m", "recorded/sample#handwritten/chat", "-d", "sample", "-o", folder
    )
    assert result.status == 0, result.err
    return folder


def report(gradeschool: Command, path: Path, *arguments: object) -> str:
    result = gradeschool("report", *arguments, "-o", path)
    assert result.status == 0, result.err
    return path.read_text(encoding="utf-8")


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


def test_the_page_and_the_terminal_set_the_same_scorers_aside(
    gradeschool: Command, tmp_path: Path
) -> None:
    """One number in both sentences: scorers that find nothing right are not counted."""
    run = f"{SAMPLE_FILE}#handwritten/cot"
    page = report(gradeschool, tmp_path / "page.html", run, "-d", "sample")
    table = gradeschool("score", SAMPLE_FILE, "-d", "sample", "--json").json()["runs"]
    [scorers] = [entry["scorers"] for entry in table if entry["run"] == "handwritten/cot"]
    shares = [
        100 * entry["accuracy"]
        for entry in scorers.values()
        if entry["correct"] and entry["correct"] + entry["wrong"] > entry["no_answer"]
    ]
    aside = f"{len(scorers) - len(shares)} of them find no answer in most, or nothing right."
    assert aside in page
    assert f"those that find answers are {max(shares) - min(shares):.1f} points apart" in page


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_and_the_terminal_count_the_same_guesses(
    gradeschool: Command, tmp_path: Path, ending: str
) -> None:
    """The page and the Markdown say of the reader what `score --causes` counts, in points too."""
    words = (SAMPLE_FILE, "-d", "sample", "--scorer", "gradeschool/reader", "--causes", "--json")
    for run in gradeschool("score", *words).json()["runs"]:
        score = run["scorers"]["gradeschool/reader"]
        guesses, correct = score["correct_by_guess"], score["correct"]
        points = f"{100 * guesses / (correct / score['accuracy']):.2f} points"
        sentence = f"{guesses} of {correct} correct verdicts rest on a guess ({points}), where"
        file = tmp_path / f"{run['run'].replace('/', '-')}.{ending}"
        source = (f"{SAMPLE_FILE}#{run['run']}", "-d", "sample", "--scorer")
        assert sentence in report(gradeschool, file, *source, "gradeschool/reader")
        assert "on a guess" not in report(gradeschool, file, *source, "openai/2021", "--force")


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


@pytest.mark.official
def test_platinum_labels_beside_the_official_ones(
    gradeschool: Command, data: Path, tmp_path: Path
) -> None:
    """Counted anew here: removed problems out, revised golds compared, by the same scorer."""
    from gradeschool import get_scorer, load_gsm8k
    from gradeschool.datasets.platinum import platinum_problems
    from gradeschool.scoring.sources import load_runs

    solutions = data / "gsm8k" / "example_model_solutions.jsonl"
    page = report(
        gradeschool, tmp_path / "page.html", f"{solutions}#6b_verification", "--scorer",
        "openai/example-solutions", "--scorer", "openai/2021",
    )  # fmt: skip
    kept = {problem.id: problem for problem in platinum_problems(load_gsm8k("test"))}
    (run,) = [
        run for run in load_runs(solutions, None, lambda _: None) if run.name == "6b_verification"
    ]
    scorer = get_scorer("openai/example-solutions")
    right = sum(
        scorer.judge(sample.text, kept[sample.problem.id]).correct
        for sample in run.samples
        if sample.problem is not None and sample.problem.id in kept
    )
    assert f"<strong>{100 * right / len(kept):.2f} %</strong>" in page
    assert "39.04" in page


def test_several_runs_stand_beside_each_other(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """A table with the paired difference, a part for each run, names that differ."""
    again = shutil.copytree(run_folder, tmp_path / "again")
    page = report(gradeschool, tmp_path / "page.html", run_folder, again)
    assert page.count('class="run"') == 2
    assert "exact McNemar test" in page
    assert "+0.00" in page
    names = json.loads(blocks(page)["problems"])["runs"]
    assert len(set(names)) == 2


def test_runs_keep_their_differences_from_the_first_if_two_others_have_none(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Only the first run's sample of problem 1 failed, and the third run has none at all."""
    right = {"index": 0, "completion": "#### 600"}
    runs = [
        written(tmp_path / "a.jsonl", right, {"index": 1, "error": "http 500"}),
        written(tmp_path / "b.jsonl", right, {"index": 1, "completion": "#### 5"}),
        written(tmp_path / "c.jsonl", right),
    ]
    page = report(gradeschool, tmp_path / "page.html", *runs, "-d", "sample")
    lines = report(gradeschool, tmp_path / "page.md", *runs, "-d", "sample")
    for shown in (page, lines):
        assert "Differences are from the first run" in shown
        assert "The runs are not compared" not in shown
    assert "Every pair:" not in page


def test_samples_have_a_curve(gradeschool: Command, tmp_path: Path) -> None:
    """maj@k and pass@k of four samples, as figure and as table."""
    rows = [
        {"index": p, "sample": s, "completion": f"#### {600 if s % 2 else 1}"}
        for p in (0, 1)
        for s in range(4)
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    assert "pass@k, %" in page
    assert 'class="curve maj"' in page


def test_a_file_is_not_overwritten_unasked(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Exit 2 and the file as it was; --force replaces it; a folder cannot be replaced."""
    path = tmp_path / "page.html"
    path.write_text("mine")
    refused = gradeschool("report", run_folder, "-o", path)
    assert refused.status == 2
    assert "--force" in refused.err
    assert path.read_text() == "mine"
    assert gradeschool("report", run_folder, "-o", path, "--force").status == 0
    assert gradeschool("report", run_folder, "-o", tmp_path).status == 2
    nowhere = gradeschool("report", run_folder, "-o", tmp_path / "no" / "page.html")
    assert nowhere.status == 2
    assert "cannot write" in nowhere.err


def test_rows_that_cannot_be_used_are_told(gradeschool: Command, tmp_path: Path) -> None:
    """The page is written, the fault is counted in it, the exit status is 3."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"index": 0, "completion": "600"}\n{"index": 99999, "completion": "1"}\n')
    result = gradeschool("report", answers, "-d", "sample", "-o", tmp_path / "page.html")
    assert result.status == 3
    assert "1 row could not be used" in result.err
    page = (tmp_path / "page.html").read_text()
    assert re.search(r"errors, not counted as wrong</dt><dd>1<", page)


def test_tokens_and_finish_reasons_of_a_run_are_shown(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Summed from the rows of the run; a limit that was hit is in the headline's rates."""
    path = run_folder / "completions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for index, row in enumerate(rows):
        finish = "length" if index < 3 else "stop"
        row |= {"prompt_tokens": 1000, "completion_tokens": index, "finish": finish}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert "<dt>completion tokens</dt><dd>1,128</dd>" in page
    assert "<dt>prompt tokens</dt><dd>48,000</dd>" in page
    assert "<dt>truncated</dt><dd>3<" in page
    assert "Tokens in a completion:" in page
    facts = blocks(page)["columns"]
    assert facts[3 * 4 * 48 :][: 4 * 48] == b"".join(
        index.to_bytes(4, "little") for index in range(48)
    )


def test_lengths_are_those_of_the_figure(tmp_path: Path) -> None:
    """In characters if no tokens are recorded; a completion that no scorer judged is left out."""
    texts = ("It is 4.", "No", "5")
    path = tmp_path / "answers.jsonl"
    rows = [{"question": "What is 2 + 2?", "gold": "4", "completion": text} for text in texts]
    written(path, *rows)
    [run] = gather([str(path)], None, lambda message: None)
    judged = judge_run(run, ScorerSet(choose_scorers(["gradeschool/reader"])))
    judged.completions[1] = judged.completions[1]._replace(outcomes=bytes([ERROR]))
    assert lengths(judged) == ("characters", (8,), (1,))
    table = tokens_section(judged)
    assert "Characters in a completion:" in table
    assert re.findall(r"<td[^>]*>([\d,]+)<", table) == ["1", "8", "8", "8", "1", "1", "1", "1"]


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


def test_the_answer_of_a_completion_is_extracted_once(tmp_path: Path) -> None:
    """The outcomes of all scorers and the causes of the first share what the extractor reads."""
    path = tmp_path / "answers.jsonl"
    rows = [
        {"question": f"What is {n} + {n}?", "gold": f"{2 * n}", "completion": f"It is {2 * n}."}
        for n in range(3 * BATCH)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    [run] = gather([str(path)], None, lambda message: None)
    scorers = ScorerSet(choose_scorers(["gradeschool/reader", "openai/2021"]))
    extract_final_answer.cache_clear()  # type: ignore[attr-defined]
    judge_run(run, scorers)
    assert extract_final_answer.cache_info().misses == len(rows)  # type: ignore[attr-defined]


def figures_of(page: str, title: str) -> list[list[str]]:
    """Return the cells of a table below "Where it is right", as text."""
    table = page.partition(f"<figcaption>{title}<")[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2])
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_errors_are_no_accuracy_of_0_and_count_no_problem(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Golds 600 (right), 13 and 5 (no completion)."""
    failed = [{"index": index, "error": "http 500"} for index in (29, 1)]
    answers = written(tmp_path / "a.jsonl", {"index": 0, "completion": "#### 600"}, *failed)
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    assert "1 of 1</span> correct over 1 problem, read by" in page
    shown = figures_of(page, "Size of the answer")
    assert ["100 to 999", "", "100.0", "1"] in shown
    assert [row[2:] for row in shown if row[0] != "100 to 999"] == [["–", "0"]]
    sizes = page.partition("<figcaption>Size of the answer<")[2].partition("</figure>")[0]
    assert sizes.count("<circle") == 1
    both = report(gradeschool, tmp_path / "both.html", answers,
                  written(tmp_path / "b.jsonl", *failed), "-d", "sample")  # fmt: skip
    table = both.partition('class="rows runs"')[2].partition("</table>")[0]
    assert table.count("<circle") == 1
    assert ">Errors<" in table


def rates_of_page(page: str) -> dict[str, str]:
    """Return the rates below the headline, as "number share"."""
    rates = page.partition('<dl class="rates">')[2].partition("</dl>")[0]
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)<small>(.*?)</small>", rates)
    return {name: f"{number} {share}" for name, number, share in pairs}


def test_rates_are_of_the_texts_and_errors_of_all_samples(
    gradeschool: Command, tmp_path: Path
) -> None:
    """One truncated text, one failed sample, two rows of unknown problems."""
    answers = written(
        tmp_path / "a.jsonl",
        {"index": 0, "completion": "It is", "finish_reason": "length"},
        {"index": 1, "error": "http 500"},
        *({"index": index, "completion": "1"} for index in (99998, 99999)),
    )
    path = tmp_path / "page.html"
    assert gradeschool("report", answers, "-d", "sample", "-o", path).status == 3
    page = path.read_text()
    assert rates_of_page(page) == {
        "truncated": "1 100.0 %",
        "empty": "0 0.0 %",
        "ran on into a next question": "0 0.0 %",
        "the scorer found no answer": "1 100.0 %",
        "errors, not counted as wrong": "3 75.0 %",
    }
    assert "<dd>1 truncated, 0 empty, 0 ran on, of 1</dd>" in page


def test_an_empty_truncated_completion_is_counted_once(
    gradeschool: Command, tmp_path: Path
) -> None:
    cut = {"completion": "", "finish_reason": "length"}
    runs = [
        written(tmp_path / "a.jsonl", {"index": 0, **cut}, {"index": 1, "completion": "#### 5"}),
        written(tmp_path / "b.jsonl", {"index": 0, **cut}, {"index": 1, **cut}),
    ]
    page = report(gradeschool, tmp_path / "page.html", *runs, "-d", "sample")
    table = page.partition('class="rows runs"')[2].partition("</table>")[0]
    place = re.findall(r"<th[^>]*>(.*?)</th>", table).index("Cut or empty")
    rows = [row.split("<td")[place] for row in table.partition("<tbody>")[2].split("<tr")[1:]]
    assert [re.sub(r".*>(\d+)</td>", r"\1", row) for row in rows] == ["1", "2"]


def test_changes_from_an_unknown_protocol_are_not_known(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    path = run_folder / "run.json"
    manifest = json.loads(path.read_bytes())
    manifest["protocol"]["name"] = "of-a-later/version"
    path.write_text(json.dumps(manifest))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert "<dt>Changed</dt><dd>not known: this version does not have the protocol</dd>" in page
    assert "as published" not in page


@pytest.mark.parametrize(
    ("temperature", "top_p", "words"),
    [
        (None, None, "the server&#x27;s default, no seed"),
        (0.7, None, "temperature 0.7, no seed"),
        (0, 1.0, "greedy, top-p 1.0, no seed"),
    ],
)
def test_decoding_that_the_server_chooses_is_its_default(
    gradeschool: Command,
    run_folder: Path,
    tmp_path: Path,
    temperature: float | None,
    top_p: float | None,
    words: str,
) -> None:
    path = run_folder / "run.json"
    manifest = json.loads(path.read_bytes())
    manifest["decoding"] |= {"temperature": temperature, "top_p": top_p}
    path.write_text(json.dumps(manifest))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert f"<dt>Decoding</dt><dd>{words}</dd>" in page


def test_problems_of_two_datasets_are_counted_apart(gradeschool: Command, tmp_path: Path) -> None:
    """They have the same ids, as the explorer knows."""
    rows = ({"index": index, "completion": "#### 1"} for index in range(5))
    model = f"recorded/{written(tmp_path / 'answers.jsonl', *rows)}"
    runs = [tmp_path / "one", tmp_path / "two"]
    for number, run in enumerate(runs, start=1):
        problems = ({"question": f"{n} + {number}?", "answer": f"#### {n}"} for n in range(5))
        dataset = written(tmp_path / f"problems-{number}.jsonl", *problems)
        words = ("eval", "-m", model, "-d", dataset, "-o", run, "--quiet")
        assert gradeschool(*words).status == 0
    page = report(gradeschool, tmp_path / "page.html", *runs)
    assert "2 runs over 10 problems, read by" in page
    assert len(json.loads(blocks(page)["problems"])["problems"]) == 10


def test_unequal_numbers_of_samples_have_a_curve_and_are_named(
    gradeschool: Command, tmp_path: Path
) -> None:
    rows = [{"index": 0, "sample": sample, "completion": "#### 600"} for sample in range(4)]
    rows += [{"index": index, "completion": "#### 1"} for index in range(1, 9)]
    page = report(
        gradeschool, tmp_path / "page.html", written(tmp_path / "a.jsonl", *rows), "-d", "sample"
    )
    assert "<dt>Samples a problem</dt><dd>1 to 4: accuracy is the mean" in page
    assert 'class="curve maj"' in page


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


def test_scorers_that_agree_have_no_distance(gradeschool: Command, tmp_path: Path) -> None:
    answers = written(tmp_path / "a.jsonl", {"index": 0, "completion": "#### 600"})
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample",
                  "--scorer", "gradeschool/reader", "--scorer", "openai/2021")  # fmt: skip
    assert "They come to the same verdicts." in page
    result = gradeschool("report", answers, "-d", "sample", "-o", tmp_path / "page.md")
    assert result.out.startswith("1 completion in ")
