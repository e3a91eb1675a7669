"""Scorers: GGUF files and folders, the shipped verifier, reductions, bad files."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.models.llama_cpp import TINY_FILE, TINY_FOLDER, TINY_VERIFIER
from gradeschool.verifier.data import QuestionSolution, encode_pairs
from gradeschool.verifier.scores import REDUCTIONS, TokenReader, load_rater, score_pairs
from tests.support.command import Command
from tests.support.fixtures import skip_without
from tests.support.gguf_verifier import NEEDS, PAIRS
from tests.support.gguf_verifier import verifier as verifier  # a fixture

SHA256 = re.compile(r"\| (\S+\.gguf) \| SHA-256 ([0-9a-f]{64}) \|")


@pytest.mark.slow
def test_a_gguf_file_scores_as_its_folder_does(verifier: Path) -> None:
    folder, file = str(verifier), str(verifier.with_suffix(".gguf"))
    here, there = load_rater(folder, folder), load_rater(file, file)
    both = zip(score_pairs(here.verifier, PAIRS), score_pairs(there.verifier, PAIRS), strict=True)
    for (values, score, tokens), (again, other, same) in both:
        assert tokens == same
        assert values == pytest.approx(again, abs=1e-4)
        assert score == pytest.approx(other, abs=1e-4)
    assert here.generator is not None and there.generator is not None
    texts = encode_pairs(here.generator.tokenizer, PAIRS)
    assert texts == encode_pairs(there.generator.tokenizer, PAIRS)
    logprobs = zip(here.generator.logprobs(texts), there.generator.logprobs(texts), strict=True)
    assert all(row == pytest.approx(other, abs=1e-3) for row, other in logprobs)


@pytest.mark.slow
def test_the_shipped_verifier_prefers_right_solutions() -> None:
    skip_without(NEEDS, "the built-in verifier")
    scorer = load_rater("tiny", "tiny")
    problems = [each for each in load_dataset("fresh:1").problems
                if each.meta["family"] == "harvest"][:12]  # fmt: skip
    assert len(problems) == 12
    right = [QuestionSolution(each.question, each.solution) for each in problems]
    wrong = [QuestionSolution(each.question, _spoiled(each.solution)) for each in problems]
    scores = [score for _, score, _ in score_pairs(scorer.verifier, [*right, *wrong])]
    assert sum(better > worse for better, worse in zip(scores, scores[12:], strict=False)) >= 11
    assert scorer.verifier.name.startswith("tiny-verifier@")


def _spoiled(solution: str) -> str:
    """Return a solution whose last result is another one."""
    start, _, answer = solution.rpartition("#### ")
    other = str(int(answer) + 7)
    return f"{start.replace(answer, other)}#### {other}"


@pytest.mark.slow
def test_what_is_no_verifier_is_an_error_in_words(tmp_path: Path) -> None:
    skip_without(NEEDS, "a verifier as a GGUF file")
    with pytest.raises(InputError, match=r"generator\.gguf' is not a verifier"):
        load_rater(str(TINY_FILE))
    with pytest.raises(InputError, match="there is no verifier 'nothing'; give a folder"):
        load_rater("nothing")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and no more")
    with pytest.raises(InputError, match=r"broken\.gguf"):
        load_rater(str(tmp_path / "broken.gguf"))
    with pytest.raises(InputError, match=r"has 3.* tokens, more than the 1024"):
        score_pairs(load_rater("tiny").verifier, [QuestionSolution("Why?", "7 " * 1500)])


def test_the_shipped_files_are_those_that_their_source_names() -> None:
    documented = dict(SHA256.findall((TINY_FOLDER / "SOURCE.md").read_text("utf-8")))
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
             for file in (TINY_FILE, TINY_VERIFIER)}  # fmt: skip
    assert documented == digests


# Reductions, log-probabilities and reward models in a verifier's place


class Lines:
    """A reward model whose number for a step is its length."""

    name = "lines"

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        return [[float(len(step)) for step in steps] for _, steps in solutions]


def test_a_reward_model_scores_lines() -> None:
    pairs = [QuestionSolution("Q", "four\n\nfives\n#3"), QuestionSolution("Q", "")]
    assert score_pairs(Lines(), pairs) == [([4.0, 5.0, 2.0], 2.0, ()), ([0.0], 0.0, ())]
    made = {name: score_pairs(Lines(), pairs, name)[0][1] for name in REDUCTIONS}
    assert made == {"last": 2.0, "min": 2.0, "product": 1.0, "mean": 11 / 3, "tokens": 11 / 3}


@pytest.mark.slow
def test_a_language_model_scores_by_log_probability(tmp_path: Path, gradeschool: Command) -> None:
    skip_without(NEEDS, "the built-in model")
    scorer = load_rater(None, "tiny")
    assert isinstance(scorer.verifier, TokenReader)
    [(_, score, _)] = score_pairs(scorer.verifier, PAIRS[:1])
    texts = encode_pairs(scorer.verifier.tokenizer, PAIRS[:1])
    [by_token] = scorer.verifier.logprobs(texts)
    assert score == pytest.approx(math.exp(sum(by_token) / len(by_token)))
    with pytest.raises(InputError, match="give a verifier or a generator"):
        load_rater(None)
    samples = tmp_path / "samples.jsonl"
    rows = [{"index": index % 4, "sample": index // 4, "completion": f"#### {index}"}
            for index in range(8)]  # fmt: skip
    samples.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    ended = gradeschool.done(
        "verifier", "rank", samples, "-d", "sample", "--generator", "tiny", "--json"
    )
    assert ended.json()["verifier"].startswith("log-probability tiny-generator@")
