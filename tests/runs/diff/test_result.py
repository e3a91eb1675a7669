"""`gradeschool diff`: what is recorded of two results, and where their difference comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeschool import get_scorer
from gradeschool.completion import Message, Prompt
from gradeschool.formats.lm_eval import arguments_of, prompt_of
from gradeschool.formats.settings import RecordedRequest
from gradeschool.problem import Problem
from gradeschool.runs.diff.pairs import DiffSide, paired, prompt_differences
from gradeschool.runs.diff.result import RunDifference, run_difference
from gradeschool.runs.diff.steps import STEPS_OF_TEXTS
from gradeschool.scoring.samples import Run, Sample
from tests.support.archives import DEFLATED, write_archive
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

STRICT, FLEXIBLE = "lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"
GOLDS = ("5", "6", "7", "8")


def side(
    texts: Sequence[str],
    golds: Sequence[str] = GOLDS,
    finish: str = "unknown",
    requests: Sequence[RecordedRequest] = (),
    **settings: Any,
) -> DiffSide:
    """A result with one completion of each problem; a name with "_" is a setting with a space."""
    problems = [Problem.from_row(str(i), f"Q{i}?", f"#### {gold}") for i, gold in
                enumerate(golds)]  # fmt: skip
    samples = [
        Sample(problem, 0, text, "", row, finish)
        for row, (problem, text) in enumerate(zip(problems, texts, strict=False))
    ]
    named = {name.replace("_", " "): value for name, value in settings.items()}
    return DiffSide(Run("r", samples), "made up", named, dict(enumerate(requests)))


def diff(a: DiffSide, b: DiffSide, scorer_a: str = STRICT, scorer_b: str = "") -> RunDifference:
    return run_difference(a, b, (get_scorer(scorer_a), get_scorer(scorer_b or scorer_a)))


def steps(delta: RunDifference) -> dict[str, float]:
    return {
        entry.name: entry.points for entry in delta.account.steps if entry.points or entry.texts
    }


def field(delta: RunDifference, name: str) -> Any:
    return next((entry for entry in delta.fields if entry.name == name), None)


TEXTS = st.lists(
    st.sampled_from(["#### 5", "#### 6", "so 7", "7", "", "#### 8\nQ: 9", "#### 8", "So #### 8"]),
    min_size=4,
    max_size=4,
)
PROMPTS = st.lists(
    st.sampled_from(
        [RecordedRequest(), RecordedRequest(Prompt("x")), RecordedRequest(Prompt("y"))]
    ),
    min_size=4,
)
SETTINGS = st.fixed_dictionaries(
    {}, optional={"stop_strings": st.just(["Q:"]), "max_tokens": st.sampled_from([3, 9])}
)


@settings(deadline=None, max_examples=60)  # the first example loads every scorer
@given(TEXTS, TEXTS, PROMPTS, PROMPTS, SETTINGS, SETTINGS, st.permutations(GOLDS))
def test_the_points_of_the_steps_add_up_to_the_difference(
    ours: list[str],
    theirs: list[str],
    request_a: list[RecordedRequest],
    request_b: list[RecordedRequest],
    settings_a: dict[str, Any],
    settings_b: dict[str, Any],
    golds: list[str],
) -> None:
    delta = diff(
        side(ours[:3], requests=request_a, **settings_a),
        side(theirs, golds=golds, requests=request_b, **settings_b),
        STRICT,
        FLEXIBLE,
    )
    assert sum(entry.points for entry in delta.account.steps) == pytest.approx(delta.points)
    replaced = sum(entry.texts for entry in delta.account.steps[1:])
    assert replaced >= sum(a != b for a, b in zip(ours[:3], theirs, strict=False))


def test_a_result_against_itself_has_no_difference() -> None:
    texts = ["#### 5", "#### 5", "", "The answer is 8."]
    delta = diff(side(texts), side(texts))
    assert (delta.points, steps(delta), delta.counts.equal_texts) == (
        0.0,
        {},
        4,
    )


def test_the_scorer_alone_explains_what_it_turns() -> None:
    texts = ["#### 5", "so 6", "so 7 or 70", "#### 8."]
    delta = diff(side(texts), side(texts), STRICT, FLEXIBLE)
    assert steps(delta) == {"scorer": 25.0}
    assert (field(delta, "scorer").explains, delta.account.turned) == (
        1,
        ((1, 0), (0, 1)),
    )


def test_a_stop_string_explains_what_it_would_have_cut() -> None:
    """A has no stop string and runs on; B is the same, cut; the third is another text."""
    whole = ["so 5\nQ: 9", "so 6\nQ: 1", "so 7\nQ: 9", "so 8"]
    cut = ["so 5", "so 6", "so 70", "so 8"]
    delta = diff(side(whole, stop_strings=[]), side(cut, stop_strings=["\nQ:"]), FLEXIBLE)
    assert steps(delta) == {
        "stop strings": 75.0,
        "other texts, prompts not recorded": -25.0,
    }
    assert field(delta, "stop strings").explains == 3
    assert delta.unexplained == -25.0
    back = diff(side(cut, stop_strings=["\nQ:"]), side(whole, stop_strings=[]), FLEXIBLE)
    assert sum(entry.points for entry in back.account.steps) == -delta.points
    assert steps(back)["stop strings"] == -50.0


def test_a_smaller_limit_explains_texts_that_it_cut() -> None:
    short = side(["so #### ", "#### 6", "so 7", "9"], finish="length", max_tokens=4)
    long = side(["so #### 5", "#### 6", "so #### 7", "#### 8"], finish="stop", max_tokens=99)
    delta = diff(short, long)
    assert steps(delta) == {
        "texts cut short": 25.0,
        "other texts, prompts not recorded": 50.0,
    }
    assert field(delta, "max tokens").explains == 1
    assert "A's text is the start of B's 1" in field(delta, "max tokens").words


def test_other_golds_and_problems_of_one_alone_are_counted() -> None:
    texts = ["#### 5", "#### 6", "#### 7", "#### 8"]
    delta = diff(side(texts), side(texts[:3], golds=["5", "60", "7"]))
    assert steps(delta)["labels"] == pytest.approx(-100 / 3)
    assert field(delta, "labels").explains == 1
    assert (field(delta, "labels").state, delta.account.judged) == ("differs", 3)


def test_a_token_more_under_equal_prompts_is_named() -> None:
    """One tokenizer adds a BOS token, the other does not: the texts of the prompts are the same."""
    prompts = [Prompt(text=f"Q{i}?") for i in range(4)]
    ours = side(["a"] * 4, requests=[RecordedRequest(prompt, 10) for prompt in prompts])
    theirs = side(["b"] * 4, requests=[RecordedRequest(prompt, 11) for prompt in prompts])
    delta = diff(ours, theirs)
    assert field(delta, "prompt tokens").explains == 4
    assert "+1 tokens on 4; a BOS token" in field(delta, "prompt tokens").words
    assert delta.because == ("prompt tokens",)


@pytest.mark.parametrize(
    ("prompt", "words"), [(None, "the prompts cannot be compared"), ("Q!", "the prompts differ")]
)
def test_token_counts_of_prompts_that_are_not_equal_are_not_compared(
    prompt: str | None, words: str
) -> None:
    ours = side(["a"] * 4, requests=[RecordedRequest(Prompt(text="Q?"), 10)] * 4, prompt_tokens=10)
    theirs = RecordedRequest(None if prompt is None else Prompt(text=prompt), 815)
    delta = diff(ours, side(["b"] * 4, requests=[theirs] * 4, prompt_tokens=815))
    assert [pair.more_tokens for pair in paired(delta.a, delta.b).pairs] == [None] * 4
    assert (field(delta, "prompt tokens").explains, field(delta, "prompt tokens").words) == (
        None, words,
    )  # fmt: skip


def test_where_prompts_part_is_shown_by_kinds() -> None:
    ours = [RecordedRequest(Prompt(text=f"Für Q: {i}\nA:")) for i in range(4)]
    theirs = [RecordedRequest(Prompt(text=f"Für Q: {i}\nAnswer:")) for i in range(3)] + [ours[3]]
    delta = diff(side(["a"] * 4, requests=ours), side(["b"] * 4, requests=theirs))
    (kind,) = delta.prompts
    assert (kind.completions, kind.shared, kind.a, kind.b) == (3, 11, ":", "nswer:")
    assert field(delta, "prompt").explains == 3
    by_name = {
        entry.name: entry.texts for entry in delta.account.steps if entry.name in STEPS_OF_TEXTS
    }
    assert list(by_name.values()) == [3, 1, 0]


def test_a_system_message_of_one_alone_is_a_difference() -> None:
    user = Message("user", "Q?")
    ours = [RecordedRequest(Prompt(messages=(Message("system", "Be brief."), user)))] * 4
    delta = diff(
        side(["a"] * 4, requests=ours),
        side(["a"] * 4, requests=[RecordedRequest(Prompt("Q?"))] * 4),
    )
    assert delta.prompts[0].a.startswith("[system]")
    assert len(prompt_differences(paired(delta.a, delta.b).pairs)) == 1


def test_chat_messages_that_lm_eval_writes_as_json_are_messages() -> None:
    assert prompt_of('[{"role": "user", "content": "Q?"}]') == Prompt(messages=(("user", "Q?"),))  # type: ignore[arg-type]
    assert prompt_of("[1, 2] apples?") == Prompt(text="[1, 2] apples?")
    assert prompt_of([{"role": "user", "content": [{"type": "text", "text": "Q?"}]}]) is not None
    assert prompt_of(None) is None


def test_arguments_of_older_files_are_read() -> None:
    options = {"until": ["Q:"]}
    assert arguments_of([["Q?", options]]) == ("Q?", options)
    assert arguments_of({"gen_args_0": {"arg_0": "Q?", "arg_1": options}}) == ("Q?", options)
    unusable: list[Any] = [[], [[]], [3], None, "x", {"gen_args_0": 5}]
    for odd in unusable:
        assert arguments_of(odd) == (None, {})


# Real folders and files


def rows(path: Path, delta: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in delta))
    return path


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run folder under lm-eval's prompt, of eight problems, one of them wrong."""
    problems = rows(tmp_path / "problems.jsonl", [
        {"question": f"How many are {i} and {i}?", "answer": f"so\n#### {2 * i}"}
        for i in range(8)])  # fmt: skip
    answers = rows(tmp_path / "said.jsonl", [
        {"index": i, "completion": f" so\n#### {2 * i + (i == 7)}", "model": "m"}
        for i in range(8)])  # fmt: skip
    ended = gradeschool("eval", "-m", f"recorded/{answers}", "-d", problems, "-p", "zero-shot/cot",
                       "-o", tmp_path / "run", "--quiet")  # fmt: skip
    assert ended.status == 0, ended.err
    return tmp_path / "run"


def prompts_of(run: Path) -> list[str]:
    return [f"Q: How many are {i} and {i}?\nA: Let's think step by step." for i in range(8)]


def test_our_run_and_samples_of_lm_eval(run: Path, gradeschool: Command, tmp_path: Path) -> None:
    """The same prompts but for one space; two texts differ, one of them for a stop string."""
    folder = tmp_path / "lm"
    folder.mkdir()
    texts = [f" so\n#### {2 * i + (i == 7)}" for i in range(8)]
    texts[1], texts[2] = texts[1] + "\nQ: 3?", "no"
    samples = [
        {
            "doc_id": i,
            "doc": {"question": f"How many are {i} and {i}?", "answer": f"so\n#### {2 * i}"},
            "target": f"so\n#### {2 * i}",
            "arguments": {"gen_args_0": {"arg_0": prompt + (" " if i == 2 else ""), "arg_1": {
                "until": ["Question:"], "do_sample": False, "max_gen_toks": 256}}},
            "resps": [[texts[i]]],
            "filter": name,
        }
        for name in ("strict-match", "flexible-extract")
        for i, prompt in enumerate(prompts_of(run))
    ]  # fmt: skip
    path = rows(folder / "samples_gsm8k_2026.jsonl", samples)
    (folder / "results_2026.json").write_text(json.dumps({
        "model_name": "m", "lm_eval_version": "0.4.13", "n-shot": {"gsm8k": 0},
        "config": {"model": "hf", "model_args": "pretrained=m,add_bos_token=True,dtype=float16"},
        "configs": {"gsm8k": {"dataset_path": "gsm8k", "test_split": "test", "repeats": 1}},
        "chat_template_sha": None, "versions": {"gsm8k": 3.0}}))  # fmt: skip
    delta = gradeschool("diff", run, path, "-d", tmp_path / "problems.jsonl", "--json").json()
    by_name = {entry["name"]: entry for entry in delta["fields"]}
    assert (by_name["prompt"]["explains"], by_name["prompt"]["of"]) == (1, 8)
    assert by_name["stop strings"]["b"] == ["Question:"]
    assert by_name["BOS token"] | {"words": ""} == {
        "name": "BOS token", "a": None, "b": "True", "state": "not recorded", "explains": 1,
        "of": 8, "words": ""}  # fmt: skip
    assert by_name["scorer"]["b"] == STRICT
    assert (by_name["precision"]["b"], by_name["engine"]["b"]) == (
        "float16",
        "hf add_bos_token=True dtype=float16",
    )
    assert delta["prompts_part"][0]["b"] == " "
    assert delta["b"]["kind"] == "lm-eval samples"
    assert sum(entry["points"] for entry in delta["steps"]) == pytest.approx(delta["points"])
    assert {entry["name"]: entry["texts"] for entry in delta["steps"]}[
        "other texts, other prompts"
    ] == 1
    shown = gradeschool("diff", run, path, "-d", tmp_path / "problems.jsonl")
    assert "6 of 8 completions are identical" in shown.out
    assert "not recorded in A: engine, precision, chat template, BOS token" in shown.out


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_our_run_and_a_log_of_inspect(
    run: Path, gradeschool: Command, tmp_path: Path, name: str
) -> None:
    head = {
        "eval": {"model": "openai/m", "model_base_url": "http://h/v1", "task": "gsm8k",
                 "task_args": {"fewshot": 0}, "packages": {"inspect_ai": "0.3.260"},
                 "dataset": {"name": "gsm8k"}, "config": {"epochs": 1},
                 "scorers": [{"name": "match", "options": {"numeric": True}}]},
        "plan": {"config": {"temperature": 0.5, "max_tokens": 100}},
    }  # fmt: skip
    samples = [
        {
            "id": i, "epoch": 1, "input": f"How many are {i} and {i}?", "target": str(2 * i),
            "messages": [{"role": "system", "content": "Think."},
                         {"role": "user", "content": f"How many are {i} and {i}?"},
                         {"role": "assistant", "content": "x"}],
            "output": {"completion": f"It is {2 * i}.", "usage": {"input_tokens": 30},
                       "choices": [{"stop_reason": "stop"}]},
        }
        for i in range(8)
    ]  # fmt: skip
    if name.endswith(".json"):
        (tmp_path / name).write_text(json.dumps({**head, "samples": samples}))
    else:
        members = {"header.json": json.dumps(head).encode()}
        members |= {f"samples/{i}.json": json.dumps(entry).encode() for i, entry in
                    enumerate(samples)}  # fmt: skip
        write_archive(tmp_path / name, members, DEFLATED)
    delta = gradeschool("diff", run, tmp_path / name, "-d", tmp_path / "problems.jsonl", "--json")
    by_name = {entry["name"]: entry for entry in delta.json()["fields"]}
    assert by_name["scorer"]["b"] == "inspect/match-numeric@>=0.3.253"
    assert (by_name["system message"]["a"], by_name["system message"]["b"]) == ("none", "Think.")
    assert (by_name["temperature"]["a"], by_name["temperature"]["b"]) == (0.0, 0.5)
    assert by_name["prompt form"]["state"] == "differs"
    assert by_name["max tokens"]["b"] == 100
    assert delta.json()["points"] == pytest.approx(12.5)
    assert "temperature" in delta.json()["texts_may_differ_because_of"]


def test_a_prompt_counts_where_the_key_of_the_completion_proves_it(
    run: Path, gradeschool: Command
) -> None:
    """A manifest that tells of another decoding than the keys were made with proves no prompt."""
    whole = gradeschool("diff", run, run, "--json").json()
    assert whole["pairs"]["prompts_equal"] == 8
    manifest = json.loads((run / "run.json").read_text())
    manifest["decoding"]["max_tokens"] = 7
    (run / "run.json").write_text(json.dumps(manifest))
    assert gradeschool("diff", run, run, "--json").json()["pairs"]["prompts_equal"] == 0


def test_recorded_files_and_two_scorers_of_one_file(gradeschool: Command, tmp_path: Path) -> None:
    path = rows(tmp_path / "both.jsonl", [
        {"index": i, "run": run, "completion": f"It is {2 * i}{'.' if run == 'a' else ''}"}
        for run in ("a", "b\x1b[31m") for i in range(3)])  # fmt: skip
    problems = rows(tmp_path / "p.jsonl", [{"question": f"{i}?", "answer": str(2 * i)}
                                           for i in range(3)])  # fmt: skip
    ended = gradeschool("diff", f"{path}#a", f"{path}#a", "-d", problems, "--scorer-a", STRICT)
    assert "scorer" in ended.out
    assert "+100.00" in ended.out
    many = gradeschool("diff", path, path, "-d", problems)
    assert many.status == 0
    assert "\x1b[31m" not in many.out
    assert "no recorded setting differs" in many.out


def test_failed_samples_are_not_among_the_completions_of_an_accuracy(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Of golds 600 and 13, one is right in A, where the other failed, and both are in B."""
    right = {"index": 0, "completion": "#### 600"}
    a = rows(tmp_path / "a.jsonl", [right, {"index": 29, "error": "http 500"}])
    b = rows(tmp_path / "b.jsonl", [right, {"index": 29, "completion": "#### 13"}])
    shown = gradeschool("diff", a, b, "-d", "sample").out
    assert "A  a (recorded completions): 100.00 % of 1 completion by" in shown
    assert "B  b (recorded completions): 100.00 % of 2 completions by" in shown


def test_bad_input(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    other = rows(tmp_path / "o.jsonl", [{"index": 0, "completion": "5"}])
    problems = rows(tmp_path / "p.jsonl", [{"question": "another?", "answer": "5"}])
    nothing = gradeschool("diff", other, tmp_path / "absent.jsonl", "-d", problems)
    assert (nothing.status, "does not exist" in nothing.err) == (2, True)
    alone = gradeschool("diff", other, other.rename(tmp_path / "q.jsonl"), "-d", problems)
    assert alone.status == 2
    entry = rows(tmp_path / "one.jsonl", [{"index": 0, "completion": "5"}])
    three = rows(tmp_path / "three.jsonl", [
        {"index": 0, "run": name, "completion": "5"} for name in "xyz"])  # fmt: skip
    many = gradeschool("diff", entry, three, "-d", problems)
    assert (many.status, "these are 4" in many.err) == (2, True)
    scorer = gradeschool("diff", entry, entry, "-d", problems, "--scorer-a", "lm-eval/nothing")
    assert scorer.status == 2


def test_results_without_a_common_problem_are_refused() -> None:
    ours = side(["#### 5"])
    theirs = DiffSide(
        Run("r", [Sample(Problem.from_row("0", "Another?", "#### 5"), 0, "5", "", 1)]), "", {}
    )
    with pytest.raises(ValueError, match="no sample of the same problem"):
        diff(ours, theirs)


@pytest.mark.official
def test_real_completions_of_one_model_under_two_prompts(data: Path, gradeschool: Command) -> None:
    """gpt-4o-mini read once and twice: no text is the same, the scorer moves nothing."""
    path = data / "completions" / "re2_rereading.jsonl"
    name = "gpt-4o-mini-2024-07-18"
    ended = gradeschool("diff", f"{path}#{name}|read1|cot", f"{path}#{name}|read2|cot", "--json")
    delta = ended.json()
    assert (delta["judged_pairs"], delta["pairs"]["equal_texts"]) == (1319, 0)
    assert delta["points"] == pytest.approx(100 * (delta["b"]["accuracy"] - delta["a"]["accuracy"]))
    assert delta["unexplained_points"] == pytest.approx(delta["points"])
    assert "temperature" in delta["not_recorded_and_might"]
