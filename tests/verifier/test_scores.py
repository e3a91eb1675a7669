"""What scores solutions: GGUF files and folders, the shipped verifier, reward servers, critics."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.models.llama_cpp import TINY_FILE, TINY_FOLDER, TINY_VERIFIER
from gradeschool.scoring.at_k import CandidateRun
from gradeschool.verifier.data import QuestionSolution, encode_pairs
from gradeschool.verifier.scores import (
    JUDGEMENT,
    REDUCTIONS,
    RewardServer,
    TokenModel,
    load_rater,
    other_prompt,
    score_pairs,
)
from tests.support.command import Command
from tests.support.files import jsonl
from tests.support.fixtures import VERIFIER_NEEDS, skip_without
from tests.support.http_server import serve

SHA256 = re.compile(r"\| (\S+\.gguf) \| SHA-256 ([0-9a-f]{64}) \|")
PAIRS = [
    QuestionSolution("Tom has 3 apples and buys 4. How many?", "He has 3+4=<<3+4=7>>7.\n#### 7"),
    QuestionSolution(
        "Tom has 3 apples and buys 4. How many?", "He has 12.\n#### 12", finished=False
    ),
    QuestionSolution("Tom has 3 apples and buys 4. How many?", "He has 3+4=<<3+4=7>>7.\n#### 7"),
    QuestionSolution("Wie viel sind 1.234 €?", "é\u2028½ <eos> <ver> 12\t\n#### -3"),
    QuestionSolution("Nothing?", ""),
]


@pytest.fixture(scope="module", params=["logit", "likelihood"])
def verifier(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a verifier with random weights, and beside it its GGUF file."""
    skip_without(VERIFIER_NEEDS, "a verifier as a GGUF file")
    from gradeschool.verifier.networks import (
        SHAPES,
        Verifier,
        build_tokenizer,
        new_model,
        write_gguf,
    )
    from tests.support.trainees import save_verifier

    folder: Path = tmp_path_factory.mktemp(request.param) / "model"
    tokenizer = build_tokenizer([pair.question + pair.solution for pair in PAIRS], vocabulary=300)
    model = new_model(tokenizer, SHAPES["0.05M"], seed=3)
    for layer in model.model.layers:  # zero in a new model, which would leave attention out
        layer.self_attn.o_proj.weight.data.normal_(std=0.1)
        layer.mlp.down_proj.weight.data.normal_(std=0.1)
    save_verifier(Verifier(model, 2, -1.5, 0.7, request.param), folder, tokenizer)
    write_gguf(folder, folder.with_suffix(".gguf"))
    return folder


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
    skip_without(VERIFIER_NEEDS, "the built-in verifier")
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
    skip_without(VERIFIER_NEEDS, "a verifier as a GGUF file")
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
    skip_without(VERIFIER_NEEDS, "the built-in model")
    scorer = load_rater(None, "tiny")
    assert isinstance(scorer.verifier, TokenModel)
    [(_, score, _)] = score_pairs(scorer.verifier, PAIRS[:1])
    texts = encode_pairs(scorer.verifier.tokenizer, PAIRS[:1])
    [by_token] = scorer.verifier.logprobs(texts)
    assert score == pytest.approx(math.exp(sum(by_token) / len(by_token)))
    with pytest.raises(InputError, match="no model is given"):
        load_rater(None)
    rows = [{"index": index % 4, "sample": index // 4, "completion": f"#### {index}"}
            for index in range(8)]  # fmt: skip
    samples = jsonl(tmp_path / "samples.jsonl", rows)
    ended = gradeschool.done(
        "verifier", "rank", samples, "-d", "sample", "--generator", "tiny", "--json"
    )
    assert ended.json()["verifier"].startswith("log-probability tiny-generator@")


@pytest.mark.slow
def test_what_cannot_be_scored_is_said(tmp_path: Path, gradeschool: Command) -> None:
    skip_without(VERIFIER_NEEDS, "the built-in verifier")
    rows = [{"question": f"What is {n}?", "gold": "7", "sample": n, "response": f"{'7 ' * size}"}
            for n, size in enumerate((1, 2, 1500))]  # fmt: skip
    file, other = jsonl(tmp_path / "a.jsonl", rows), tmp_path / "notes.txt"
    words = ("verifier", "score", file, "--verifier", "tiny")
    ended = gradeschool.done(*words)
    assert "1 of 3 completions of a are longer than the model reads, and get no score" in ended.err
    assert ended.out.startswith("2 completions of a are scored in")
    other.write_text("Do not lose me.\n")
    assert "holds something else than scores" in gradeschool.refused(*words, "-o", other)
    assert other.read_text() == "Do not lose me.\n"
    said = gradeschool.refused(*words, "-o", tmp_path / "absent" / "scores.jsonl")
    assert "there is no folder" in said and "for -o; make it first" in said
    bare = jsonl(tmp_path / "bare.jsonl", [{**row, "id": "a", "question": ""} for row in rows])
    said = gradeschool.refused("verifier", "score", bare, "--verifier", "tiny")
    assert "have no question, which a verifier reads; name its column" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--verifier", "tiny", "--critiques", 3), "--critiques 3 needs --critic"),
        (("--verifier", "tiny", "--form", "token"), "which 'tiny' is not; leave it out"),
        (("--generator", "tiny", "--form", "token"), "--verifier is not given"),
        (("--critic", "tiny", "--reduce", "min"), "changes nothing: a critic gives one score"),
    ],
)
def test_an_option_that_changes_nothing_is_refused(
    options: tuple[str, ...], said: str, tmp_path: Path, gradeschool: Command
) -> None:
    file = jsonl(tmp_path / "a.jsonl", [{"question": "7?", "gold": "7", "response": "7"}])
    assert said in gradeschool.refused("verifier", "score", file, *options)


@pytest.mark.slow
def test_other_prompts_than_the_sampled_are_warned_of() -> None:
    skip_without(VERIFIER_NEEDS, "the built-in verifier")

    def caution(protocol: str, spec: str | None = None) -> str:
        run = CandidateRun("a", Path(), {"protocol": {"name": protocol}}, "", [], 0)
        return other_prompt(run, load_rater(spec, "tiny"))

    assert "was sampled from chats (processbench/gsm8k)" in caution("processbench/gsm8k", "tiny")
    assert caution("openai/2021") == caution("mine.py:PROTOCOL") == caution("unknown") == ""


PATHS: set[str] = set()  # that the server has
ASKED: list[dict[str, Any]] = []  # what it was asked, with the key


async def answer(request: web.Request) -> web.Response:
    """The answer of a reward model that likes long steps, and of a critic that likes sevens."""
    if request.path == "/v1/models":
        listed = [{"id": "reward"}]
        return web.json_response(listed if "/refused" in PATHS else {"data": listed})
    body = await request.json()
    ASKED.append({"key": request.headers.get("Authorization"), **body})
    if request.path not in PATHS:
        raise web.HTTPNotFound
    if request.path == "/score":
        return web.json_response({"data": [{"score": len(body["text_2"]) / 100}]})
    text = body["messages"][-1]["content"]
    if request.path == "/pooling":
        steps = text.split("<extra_0>")[:-1] or text.split("\n")
        classes = [[1 - len(step) / 100, len(step) / 100] for step in steps]
        return web.json_response({"data": [{"data": classes}]})
    said = "yes" if "7" in text.split("Solution:")[1] else "no"
    message = {"role": "assistant", "content": f"So it is.\nCorrect: {said}"}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs"):
        shares = {" Yes": 0.6, "yes": 0.15, "No": 0.05, "So": 0.1}
        tokens: list[dict[str, Any]] = [
            {"token": word, "logprob": log(share)} for word, share in shares.items()
        ]
        choice["logprobs"] = {"content": [{"top_logprobs": tokens}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    return web.json_response({"model": "reward", "usage": usage, "choices": [choice]})


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a running server."""
    ASKED.clear()
    PATHS.clear()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    with serve(app) as base:
        yield base


SOLUTIONS = [("Why?", ["One.", "So 7."]), ("How?", ["Twelve."])]


def test_pooling_gives_a_score_to_each_step(url: str) -> None:
    PATHS.add("/pooling")
    assert RewardServer(url).step_scores(SOLUTIONS) == [[0.04, 0.05], [0.07]]
    assert ASKED[0]["model"] == "reward"
    url = url.removesuffix("/v1")
    assert RewardServer(url, "qwen").step_scores(SOLUTIONS[:1]) == [[0.04, 0.05]]
    assert "<extra_0>" in ASKED[-1]["messages"][-1]["content"]
    assert RewardServer(url, "qwen").name == f"{RewardServer(url).name} (qwen)"  # other scores


def test_score_is_asked_where_there_is_no_pooling(url: str) -> None:
    PATHS.add("/score")
    assert RewardServer(f"{url}/reward").step_scores(SOLUTIONS) == [[0.1], [0.07]]
    PATHS.clear()
    with pytest.raises(InputError, match="neither /pooling nor /score"):
        RewardServer(url).step_scores(SOLUTIONS)
    PATHS.add("/refused")
    with pytest.raises(InputError, match="does not serve exactly one model"):
        RewardServer(url)


def test_a_critic_here_is_not_loaded_every_few_completions(url: str) -> None:
    skip_without(("xllamacpp",), "the built-in model")
    critics: list[Any] = [load_rater(critic=spec).verifier for spec in ("tiny", f"{url}/reward")]
    assert [critic.is_here for critic in critics] == [True, False]


def test_a_critic_gives_the_probability_of_yes(url: str) -> None:
    PATHS.add("/v1/chat/completions")
    critic: Any = load_rater(critic=f"{url}/reward", critiques=0).verifier
    assert critic.step_scores(SOLUTIONS) == [[pytest.approx(0.75 / 0.8)]] * 2
    assert ASKED[-1]["max_tokens"] == 1
    with pytest.raises(InputError, match="has an unknown form"):
        load_rater(critic="transformers/model", critiques=0)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Step 2 is right: yes.\n**Correct: No**", ["no"]),
        ("Correct: yes\nThere is no other error.", ["yes"]),
        ("No, 3 + 4 is not 8.", ["no"]),
        ("**Correct**: _No_", ["no"]),
        ("This is incorrect: no doubt.", []),
        ("The solution is correct. No errors were found.", []),
    ],
)
def test_a_critiques_judgement_is_its_last_line(reply: str, said: list[str]) -> None:
    assert JUDGEMENT.findall(reply.lower())[-1:] == said


def test_a_server_gets_its_own_key_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PATHS.add("/pooling")
    host = url.removeprefix("http://").removesuffix("/v1")
    monkeypatch.setenv("GRADESCHOOL_API_KEY", f"other.example=no-1 {host}=yes-2")
    RewardServer(f"{url}/reward").step_scores(SOLUTIONS[:1])
    assert ASKED[-1]["key"] == "Bearer yes-2"


def test_rank_takes_an_address_and_a_critic(url: str, tmp_path: Path, gradeschool: Command) -> None:
    PATHS.update(("/pooling", "/v1/chat/completions"))
    rows = [{"index": index, "sample": sample, "completion": f"So\n#### {sample + 6}"}
            for index in range(3) for sample in range(3)]  # fmt: skip
    file = jsonl(tmp_path / "samples.jsonl", rows)
    ended = gradeschool.done("verifier", "rank", file, "-d", "sample", "--verifier", url, "--json")
    assert ended.json()["verifier"].startswith("reward at 127.0.0.1:")
    critic = gradeschool.done("verifier", "rank", file, "-d", "sample", "--critic", f"{url}/reward",
                         "--json")  # fmt: skip
    name = critic.json()["verifier"]  # another server's critic has other scores
    assert name.startswith("critic ") and url.removesuffix("/v1") in name
    both = ("--critic", url, "--verifier", "tiny")  # before a dataset is looked for
    assert "are both given; give one" in gradeschool.refused("verifier", "rank", file, *both)
    written = (tmp_path / "samples.verifier-scores.jsonl").read_text().splitlines()
    scores = {json.loads(line)["score"] for line in written if "critic" in line}
    assert scores == {0.0, 1.0}
