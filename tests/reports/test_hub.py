"""`export --push`: what arrives at the hub, and what is said where nothing does."""

import shutil
from pathlib import Path

import pytest

from gradeschool import evaluate
from tests.support.command import Command, CommandResult
from tests.support.hub import READ_TOKEN, TOKEN, Hub
from tests.support.hub import hub as hub  # a fixture

pytest.importorskip("huggingface_hub", reason="needs huggingface_hub, the extra hub")

RUN = Path("runs/chat")
REPO = "me/gsm8k-runs"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, made once."""
    path = tmp_path_factory.mktemp("run") / RUN.name
    evaluate("recorded/sample#handwritten/chat", dataset="sample", output=path)
    return path


@pytest.fixture(autouse=True)
def folder(run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(run_folder, RUN)
    return tmp_path


def export(hub: Hub, *options: object, token: str = TOKEN) -> CommandResult:
    return hub.run("export", RUN, *options, home=Path(), token=token)


@pytest.mark.slow
def test_the_files_of_an_export_arrive_byte_by_byte(hub: Hub, folder: Path) -> None:
    pytest.importorskip("pyarrow")
    for form, output in (("lm-eval", Path("lm")), ("parquet", Path("pq/chat.parquet"))):
        repo = f"me/{form}"
        result = export(hub, "--to", form, "-o", output, "--push", repo, "--json")
        assert result.status == 0, result.err
        repository = hub.repositories[repo]
        assert (repository.kind, repository.private) == ("dataset", True)
        root = output.parent if output.suffix else output
        assert repository.files == {
            str(path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*") if path.is_file()
        }  # fmt: skip
        assert result.json()["commit"] == f"{hub.url}/datasets/{repo}/commit/abc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("token", "failing", "status", "words"),
    [
        ("hf_wrongTokenOfNobody000000", (), 2, "answers HTTP 401: Invalid username or password"),
        (READ_TOKEN, (), 2, "answers HTTP 403: You may not write here"),
        (TOKEN, ("/api/repos/create",), 3, "answers HTTP 503: the hub is in trouble"),
        (TOKEN, ("/commit/",), 3, "answers HTTP 503: the hub is in trouble"),
    ],
)
def test_a_refusal_is_one_sentence_and_the_export_stays(
    hub: Hub, token: str, failing: tuple[str, ...], status: int, words: str
) -> None:
    hub.failing = failing
    result = export(hub, "--to", "inspect", "-o", "a.eval", "--push", REPO, token=token)
    assert (result.status, result.out) == (status, "")
    assert words in result.err
    [line] = [line for line in result.err.splitlines() if line.startswith("gradeschool: ")]
    assert line.endswith("; nothing was uploaded, the export is in 'a.eval'")
    assert token not in line
    assert Path("a.eval").stat().st_size > 0
    assert not hub.repositories or not hub.repositories[REPO].files


@pytest.mark.parametrize("repo", ["only-a-name", "https://host/a/b"])
def test_a_bad_repository_name_is_refused_first(gradeschool: Command, repo: str) -> None:
    gradeschool.monkeypatch.setenv("HF_TOKEN", TOKEN)
    said = gradeschool.refused("export", RUN, "--to", "inspect", "-o", "a.eval", "--push", repo)
    assert f"{repo!r} is not a repository name; give --push OWNER/NAME" in said
    assert not Path("a.eval").exists()


@pytest.mark.slow
def test_without_a_token_nothing_is_written(hub: Hub) -> None:
    result = export(hub, "--to", "inspect", "-o", "a.eval", "--push", REPO, token="")
    assert result.status == 2
    assert "--push has no token for the Hugging Face hub; run `hf auth login`" in result.err
    assert not Path("a.eval").exists() and not hub.calls
