"""Tables of verdicts, shards of them joined again, and what goes wrong with either."""

from pathlib import Path

import pyarrow as arrow
import pytest
from pyarrow import parquet

from gradeschool.errors import InputError
from gradeschool.formats.samples import ReadOptions
from gradeschool.formats.tables import read_rows
from gradeschool.scoring.samples import digest
from gradeschool.scoring.shards import Shard
from gradeschool.scoring.sources import choose_scorers, open_sources
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.real_rows import NAMES, jsonl, real_rows


@pytest.mark.parametrize("text", ["", "0/4", "5/4", "1/0", "a/b", "1/4/4", "-1/4", "1", " 1/4"])
def test_a_shard_that_is_none(text: str) -> None:
    """The message says how shards are counted."""
    with pytest.raises(InputError, match="of four 1/4, 2/4, 3/4 and 4/4"):
        Shard.parse(text)


@pytest.fixture(scope="module")
def real(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two thousand real completions of several runs, with faults, repeats and further samples."""
    return jsonl(tmp_path_factory.mktemp("real") / "real.jsonl", real_rows(data))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_shards_join_to_the_whole(
    gradeschool: Command, real: Path, tmp_path: Path, ending: str
) -> None:
    """The same table on the terminal, messages included, and the same table of verdicts."""
    scorers = ("--scorer", *NAMES)
    whole = gradeschool("score", real, *scorers, "-o", tmp_path / f"whole.{ending}")
    tables = [tmp_path / f"{number}.{ending}" for number in (1, 2, 3)]
    for number, table in enumerate(tables, start=1):
        result = gradeschool(
            "score", real, *scorers, "--shard", f"{number}/3", "-o", table, "--jobs", 1
        )
        assert (result.status, result.out) == (0, "")
        assert f"shard {number}/3: 70{'0' if number == 3 else '1'} completions in" in result.err
    joined = gradeschool("score", "--merge", *tables[::-1], "-o", tmp_path / f"joined.{ending}")
    assert joined == whole
    assert whole.status == 3
    again = gradeschool("score", "--merge", tmp_path / f"whole.{ending}")
    assert again == whole
    read = [
        [row.fields for row in read_rows(tmp_path / f"{name}.{ending}")]
        for name in ("whole", "joined")
    ]
    assert read[0] == read[1]
    assert len(read[0]) == sum(1 for _ in read_rows(real))


def test_the_table_says_what_the_scorers_say(
    gradeschool: Command, real: Path, tmp_path: Path
) -> None:
    """A row for every completion with the outcome of each scorer by name, in both formats."""
    for ending in ("jsonl", "parquet"):
        assert gradeschool("score", real, "-o", tmp_path / f"t.{ending}").status == 3
    written = [[row.fields for row in read_rows(tmp_path / f"t.{e}")] for e in ("jsonl", "parquet")]
    for mine, theirs in zip(*written, strict=True):
        assert {**mine, "run": ""} == {**theirs, "run": ""}
    rows = list(read_rows(real))
    scorers = choose_scorers([])
    golds = {
        str(number): p
        for number, p in enumerate(
            open_sources([str(real)], ReadOptions(), print)[0].dataset.problems
        )
    }
    for row, verdicts in list(zip(rows, written[0], strict=True))[::97]:
        problem = golds[str(row.fields["index"])]
        assert (verdicts["problem"], verdicts["gold"]) == (problem.id, problem.gold)
        assert (verdicts["row"], verdicts["sample"]) == (row.number, row.fields["sample"])
        text = row.fields["completion"]
        assert verdicts["digest"] == f"{digest(text):016x}"
        for scorer in scorers:
            assert verdicts[scorer.name] == scorer.judge(text, problem).outcome.value
    faults = [row for row in written[0] if row["problem"] is None]
    assert [row["row"] for row in faults] == [5, 901]
    assert all(row[scorer.name] == "error" for row in faults for scorer in scorers)


# What goes wrong


SAMPLE = ("-d", "sample", "--scorer", *NAMES)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rows = [
        {"index": number, "completion": f"#### {number}", "run": "\ud800\n"} for number in range(9)
    ]
    return jsonl(tmp_path / "answers.jsonl", rows)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_names_that_are_no_unicode(
    gradeschool: Command, answers: Path, tmp_path: Path, ending: str
) -> None:
    """Lone surrogates stop no table; Parquet holds them as escapes."""
    table = tmp_path / f"t.{ending}"
    assert gradeschool("score", answers, *SAMPLE, "-o", table).status == 0
    run = next(row.fields["run"] for row in read_rows(table))
    assert run == ("\ud800\n" if ending == "jsonl" else "\\ud800\n")
    assert gradeschool("score", "--merge", table).status == 0


def test_nothing_is_overwritten(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A table that is there stays as it is."""
    table = tmp_path / "t.jsonl"
    table.write_text("mine")
    result = gradeschool("score", answers, *SAMPLE, "-o", table)
    assert (result.status, table.read_text()) == (2, "mine")
    assert "exists; remove it or give another -o" in result.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.csv", "ends in '.csv'; give a name that ends in .jsonl or .parquet"),
        ("t", "ends in ''"),
        ("none/t.jsonl", "No such file or directory"),
    ],
)
def test_a_table_that_cannot_be_written(
    gradeschool: Command, answers: Path, tmp_path: Path, name: str, message: str
) -> None:
    """One line, exit status 2, and no file."""
    result = gradeschool("score", answers, *SAMPLE, "-o", tmp_path / name)
    assert result.status == 2
    assert message in result.err
    assert not list(tmp_path.glob("t*"))


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_half_a_table_is_no_table(
    gradeschool: Command, answers: Path, tmp_path: Path, ending: str
) -> None:
    """Where the second file cannot be read, nothing is left that looks like a table."""
    (tmp_path / "empty.jsonl").write_text("")
    table = tmp_path / f"t.{ending}"
    result = gradeschool("score", answers, tmp_path / "empty.jsonl", *SAMPLE, "-o", table)
    assert result.status == 2
    assert not list(tmp_path.glob("t.*"))


def test_tables_that_do_not_join(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A missing shard, one twice, other scorers, another split, no table: each is said."""

    def table(name: str, shard: str, *scorers: str) -> Path:
        path = tmp_path / f"{name}.jsonl"
        words = ("--scorer", *scorers) if scorers else SAMPLE[2:]
        arguments = (answers, "-d", "sample", *words, "--shard", shard, "-o", path)
        assert gradeschool("score", *arguments).status == 0
        return path

    first, two, again = table("1", "1/3"), table("2", "2/3"), table("again", "1/3")
    other, split = table("other", "3/3", "openai/2021"), table("split", "3/4")
    for tables, message in [
        ((first, two), "shards are missing: 3/3; give their tables too"),
        ((first, two, again), "contain the same rows (shard 1/3)"),
        ((first, two, other), "contain the verdicts of different scorers"),
        ((first, two, split), "shards of different splits: 1/3, 2/3, 3/4"),
        ((first, answers), "is not a table of verdicts"),
        ((first, tmp_path / "none.jsonl"), "does not exist"),
    ]:
        result = gradeschool("score", "--merge", *tables)
        assert (result.status, result.out) == (2, "")
        assert message in result.err


def test_shards_of_one_file_in_different_folders_are_one_run(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Machines have their own paths; files of other names are refused."""
    row = '{{"id": "{0}", "question": "{0}?", "gold": 7, "completion": "7", "run": "r"}}\n'
    rows = "".join(row.format(number) for number in range(20))
    tables = []
    for number, name in enumerate(("x.jsonl", "x.jsonl", "y.jsonl"), start=1):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        path.write_text(rows)
        tables.append(tmp_path / f"{number}.jsonl")
        shard = f"{min(number, 2)}/2"
        assert gradeschool("score", path, "--shard", shard, "-o", tables[-1]).status == 0
    joined = gradeschool("score", "--merge", *tables[:2], "--json")
    assert [run["n"] for run in joined.json()["runs"]] == [20]
    other = gradeschool("score", "--merge", tables[0], tables[2])
    assert other.status == 2 and "are shards of different files" in other.err


def test_more_shards_than_rows(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A shard without a row has an empty table, which is no missing one."""
    tables = [tmp_path / f"{number}.jsonl" for number in range(1, 12)]
    for number, table in enumerate(tables, start=1):
        arguments = (answers, *SAMPLE, "--shard", f"{number}/11", "-o", table)
        assert gradeschool("score", *arguments).status == 0
    whole = gradeschool("score", answers, *SAMPLE, "--json")
    assert gradeschool("score", "--merge", *tables, "--json") == whole


@pytest.mark.parametrize(
    "options",
    [
        ("--shard", "1/2"),
        ("--merge", "--scorer", "openai/2021"),
        ("--merge", "--shard", "1/2"),
        ("--jobs", "-1"),
        ("--shard", "1/2", "-o", "t.jsonl", "--engine", "ray"),
    ],
)
def test_options_that_do_not_go_together(
    gradeschool: Command, answers: Path, options: tuple[str, ...]
) -> None:
    """Usage and exit status 2."""
    result = gradeschool("score", answers, *options)
    assert (result.status, result.out) == (2, "")
    assert "see `gradeschool score --help`" in result.err


def test_ray_that_is_not_installed(
    gradeschool: Command, answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the pip command; files that are no Parquet are told before."""
    result = gradeschool("score", answers, *SAMPLE, "--engine", "ray")
    assert result.status == 2
    assert "--engine ray reads Parquet files" in result.err
    parquet.write_table(arrow.table({"index": [1], "completion": ["1"]}), tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    result = gradeschool("score", tmp_path / "a.parquet", *SAMPLE, "--engine", "ray")
    assert result.status == 2
    assert "pip install 'gradeschool[cluster]'" in result.err
