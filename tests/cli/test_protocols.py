"""`gradeschool protocols`: lists, cards, differences, and prompts as bytes."""

import hashlib
import json
from pathlib import Path

import pytest

from gradeschool import all_protocols, all_scorers, load_dataset
from tests.support.command import Command, run_script
from tests.support.files import jsonl

SHOWN = sorted({"lm-eval/gsm8k", "inspect/gsm8k", "olmes/gsm8k-tulu", "helm/gsm", "openai/2021"})


@pytest.mark.parametrize("name", SHOWN)
def test_a_card_holds_everything(gradeschool: Command, data: Path, name: str) -> None:
    protocol = all_protocols()[name]
    results = gradeschool("protocols", "show", name, "--json").json()
    assert results["digest"] == protocol.digest()
    assert results["decoding"]["stop"] == list(protocol.decoding.stop)
    assert results["decoding"]["max_tokens"] == protocol.decoding.max_tokens
    assert [scorer["name"] for scorer in results["scorers"]] == list(protocol.scorers)
    assert all(scorer["quirks"] for scorer in results["scorers"])
    assert results["shots"]["count"] == len(results["shots"]["rows"]) == protocol.shot_count
    assert all(link.startswith("https://") for link in results["links"])
    example = results["example"]
    if not protocol.is_chat:
        assert hashlib.sha256(example["prompt"].encode()).hexdigest() == example["sha256"]
    shown = gradeschool("protocols", "show", name, columns=100).out
    for part in (
        protocol.digest(),
        protocol.summary,
        example["sha256"],
        *protocol.scorers,
    ):
        assert part in shown
    problem = load_dataset("gsm8k").problems[0]
    assert problem.question in shown
    for stop in protocol.decoding.stop:
        assert repr(stop) in shown


def test_a_scorer_is_shown_with_its_quirks(gradeschool: Command) -> None:
    results = gradeschool("protocols", "show", "multi-pattern", "--json").json()
    assert (results["kind"], results["protocols"]) == ("scorer", [])
    assert {"completion", "gold", "says", "shows", "scorer"} == set(results["quirks"][0])
    shown = gradeschool("protocols", "show", "lm-eval/gsm8k/strict-match").out
    assert "#### 18..              18    wrong      a second one stays" in shown
    assert "  part of   lm-eval/gsm8k " in shown
    assert "  verified  lm-eval 0.4.13 and 0.3.0" in shown
    library = gradeschool("protocols", "show", "evalscope/gsm8k", "--json").json()
    assert library["scorers"][0]["extra"] == "math-verify"


def test_a_vote_is_shown(gradeschool: Command) -> None:
    name = "lm-eval/gsm8k-cot-self-consistency/maj@8"
    results = gradeschool("protocols", "show", name, "--json").json()
    assert (results["kind"], results["voters"], len(results["protocols"])) == ("vote", 8, 6)
    shown = gradeschool("protocols", "show", name).out
    assert "votes '[invalid]', which may win" in shown


@pytest.mark.slow
def test_without_data_all_but_the_prompt_is_shown(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    gradeschool.monkeypatch.setenv("GRADESCHOOL_CACHE", str(tmp_path))
    gradeschool.monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = run_script("protocols", "show", "lm-eval/gsm8k", "--json")
    assert result.status == 0
    assert "no prompt is shown: gsm8k, gsm8k:train is not on this machine" in result.err
    results = json.loads(result.out)
    assert results["example"] is None
    assert results["prompt"]["shot"] == "Question: {question}\nAnswer: {solution}"
    target = run_script("protocols", "show", "lm-eval/gsm8k", "-d", "gsm8k")
    assert target.status == 2
    assert "HF_HUB_OFFLINE forbids" in target.err


@pytest.mark.slow
def test_the_list_is_narrowed_by_words(gradeschool: Command) -> None:
    results = gradeschool("protocols", "list", "verl", "strict", "--json").json()
    assert [scorer["name"] for scorer in results["scorers"]] == ["verl/gsm8k/strict"]
    assert (results["protocols"], results["votes"]) == ([], [])
    shown = gradeschool("protocols", "list", "zero").out
    assert "zero-shot/chat" in shown and "inspect/mgsm-de" not in shown
    assert "inspect/mgsm-de" in gradeschool("protocols", "list", "zero", "--all").out
    said = gradeschool.refused("protocols", "list", "no-such-word")
    assert "no protocol or scorer has 'no-such-word' in its line" in said


@pytest.mark.official
def test_the_fields_that_differ(gradeschool: Command, data: Path) -> None:
    results = gradeschool("protocols", "diff", "lm-eval/gsm8k-cot", "olmes/gsm8k", "--json").json()
    fields = {item["field"]: (item["first"], item["second"]) for item in results["fields"]}
    assert set(fields) == {
        *("scorers", "prompt: shot", "prompt: question", "decoding: max_tokens", "decoding: stop")
    }
    assert fields["decoding: max_tokens"] == (256, 512)
    assert fields["prompt: question"] == ("Q: {question}\nA:", "Question: {question}\nAnswer:")
    assert "-A: There are 15 trees originally." in "\n".join(results["prompt_diff"])
    assert len(set(results["prompt_sha256"])) == 2
    shown = gradeschool("protocols", "diff", "lm-eval/gsm8k-cot", "olmes/gsm8k").out
    assert "decoding: max_tokens  256 " in shown
    assert "\n-Q: Olivia has $23." in shown
    assert "\n+Question: Olivia has $23." in shown


def test_protocols_of_the_same_prompt(gradeschool: Command, data: Path) -> None:
    shown = gradeschool("protocols", "diff", "olmes/gsm8k", "olmo-eval/gsm8k").out
    assert "the prompts of problem 0 of gsm8k are the same" in shown
    assert "integers" not in shown  # summaries say in words what other fields say
    same = gradeschool("protocols", "diff", "olmes/gsm8k", "olmes/gsm8k")
    assert same.out.startswith("every field is the same\n")


def test_protocols_of_two_datasets_on_the_same_problem(gradeschool: Command, data: Path) -> None:
    names = ("lm-eval/gsm8k-cot", "lm-eval/gsm8k-platinum-cot")
    results = gradeschool("protocols", "diff", *names, "--json").json()
    assert [item["field"] for item in results["fields"]] == ["dataset"]
    assert results["prompt_diff"] == []
    shown = gradeschool("protocols", "diff", *names).out
    assert " dataset  gsm8k              gsm8k-platinum " in shown
    assert "the prompts of problem 0 of gsm8k are the same" in shown


def test_shots_are_said_to_be_drawn_anew(gradeschool: Command, data: Path) -> None:
    shown = gradeschool("protocols", "show", "lm-eval/gsm8k").out
    assert "5 of gsm8k:train, in the text before the question, drawn anew for each" in shown
    assert "rows of this problem 6374, 3610, 957, 61, 742" in shown
    fixed = gradeschool("protocols", "show", "inspect/gsm8k").out
    assert "10 of gsm8k:train, in the system message, the same for every problem" in fixed


def test_a_chat_is_shown_by_turns(gradeschool: Command, data: Path) -> None:
    shown = gradeschool("protocols", "show", "olmes/gsm8k-tulu", "-d", "sample").out
    assert shown.count("\n[user]\n") == 9
    assert "\n[assistant, to be continued]\nAnswer:\n" in shown
    assert "  answer begun  'Answer:'" in shown


# All 1,319 prompts, each followed by a NUL byte, as the real harness makes them.
DIGESTS = {
    "lm-eval/gsm8k": "90c166d5c3e3026061cfa63a694800e2cc31cdc12da84ff0fea81cccf9c93092",
    "lm-eval/gsm8k-cot": "531b35535c8ccd654e81497d889db7a41079b14c041ff938f598948279beb4d4",
}


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_names_everything(gradeschool: Command, columns: int) -> None:
    result = gradeschool("protocols", "list", "--all", columns=columns)
    words = {line.strip().partition("  ")[0] for line in result.out.splitlines()}
    assert result.status == 0
    assert max(map(len, result.out.splitlines())) <= columns
    for name in (*all_protocols(), *all_scorers()):
        assert name in words


def test_by_default_the_list_has_a_line_for_each_harness(gradeschool: Command) -> None:
    lines = gradeschool("protocols", "list", columns=80).out.splitlines()
    assert len(lines) < 48
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["harness", "protocols", "scorers", "datasets"]
    assert ["vllm", "2", "1", "gsm8k"] in [line.split() for line in lines]


@pytest.mark.official
@pytest.mark.parametrize("name", DIGESTS)
def test_prompts_to_the_byte(gradeschool: Command, data: Path, name: str) -> None:
    result = gradeschool("protocols", "prompts", name, "-d", "gsm8k")
    prompts = (json.loads(line)["prompt"] for line in result.out.splitlines())
    whole = "".join(f"{prompt}\0" for prompt in prompts)
    assert hashlib.sha256(whole.encode()).hexdigest() == DIGESTS[name]


def test_prompts_are_json_lines(gradeschool: Command, tmp_path: Path) -> None:
    questions = ["How many?\nTwo lines", "a\u2028b", "数 é", "\ud800"]
    rows = [
        {"id": f"p{place}", "question": text, "answer": "1"} for place, text in enumerate(questions)
    ]
    path = jsonl(tmp_path / "problems.jsonl", rows)
    lines = gradeschool("protocols", "prompts", "openai/2021", "-d", path).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": f"p{place}", "prompt": f"{text}\n"} for place, text in enumerate(questions)
    ]
