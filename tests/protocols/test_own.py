"""Own protocols: from TOML, Python and changes; what cannot be is said in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool import Problem, get_protocol, load_dataset
from gradeschool.errors import InputError
from gradeschool.protocols.registry import protocol_from
from gradeschool.runs.job import recorded_protocol
from tests.support.command import Command
from tests.support.files import jsonl

PROBLEMS = [Problem.from_row("0", "How many?", "1+1=2\n#### 2")]
EXAMPLES = [{"question": f"Q{row}?", "answer": f"So {row}.\n#### {row}"} for row in range(3)]
PYTHON = """
from gradeschool import get_protocol
PROTOCOL = get_protocol("lm-eval/gsm8k-cot").with_changes(shots=3, stop=["Q:"])
NUMBER = 5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    jsonl(tmp_path / "examples.jsonl", EXAMPLES)
    (tmp_path / "mine.py").write_text(PYTHON)
    toml = 'base = "lm-eval/gsm8k-cot"\nshots = 3\nstop = ["Q:"]\n'
    (tmp_path / "mine.toml").write_text(toml)
    return tmp_path


MODEL = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--quiet")


def test_toml_python_and_changes_are_one_protocol(folder: Path) -> None:
    changed = get_protocol("lm-eval/gsm8k-cot").with_changes(stop=["Q:"], shots=3)
    for name in ("mine.toml", "mine.py:PROTOCOL"):
        own = get_protocol(str(folder / name))
        assert own.digest() == changed.digest() != get_protocol("lm-eval/gsm8k-cot").digest()
        assert own.name == 'lm-eval/gsm8k-cot with shots 3, stop ["Q:"]'
        assert get_protocol(own.base).with_changes(**own.changes).digest() == own.digest()
    step = get_protocol("lm-eval/gsm8k-cot").with_changes(shots=3).with_changes(stop=["Q:"])
    assert (step.name, step.digest()) == (changed.name, changed.digest())
    base = get_protocol("lm-eval/gsm8k")
    assert base.with_changes(shots=5, temperature=0, max_tokens=256) is base


@pytest.mark.parametrize(
    ("base", "options", "toml"),
    [
        ("gradeschool/few-shot-cot", ("--shots", 3, "--stop", ""), {"shots": 3, "stop": []}),
        ("zero-shot/chat", ("--system", "Be kind.", "--stop", "Q:", "--stop", "B:"),
         {"system": "Be kind.", "stop": ["Q:", "B:"]}),
        ("zero-shot/chat", ("--temperature", 1, "--top-p", 0.9, "--max-tokens", 99),
         {"max_tokens": 99, "temperature": 1, "top_p": 0.9}),
        ("zero-shot/chat", ("--scorer", "openai/2021", "--stop", "Q:"),
         {"stop": "Q:", "scorers": "openai/2021"}),
        ("zero-shot/chat", ("--thinking-marks", "[a],[b]"), {"thinking_marks": [["[a]", "[b]"]]}),
    ],
)  # fmt: skip
def test_options_toml_and_python_are_one_protocol(
    gradeschool: Command, tmp_path: Path, base: str, options: tuple[object, ...],
    toml: dict[str, Any],
) -> None:  # fmt: skip
    """Name, digest, base, changes, decoding and the keys of the completions are the same."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in toml.items()]
    (tmp_path / "mine.toml").write_text("\n".join([f'base = "{base}"', *lines]))
    steps = get_protocol(base)
    for name, value in toml.items():
        steps = steps.with_changes(**{name: value})
    stored = []
    for way, words in {
        "option": ("-p", base, *options), "toml": ("-p", tmp_path / "mine.toml")
    }.items():  # fmt: skip
        run = tmp_path / way
        gradeschool.done("eval", *MODEL, "-n", 2, *words, "-o", run)
        manifest = json.loads((run / "run.json").read_text())
        manifest["protocol"].pop("file", None)
        rows = (run / "completions.jsonl").read_text().splitlines()
        keys = sorted(json.loads(row)["key"] for row in rows)
        stored.append((manifest["protocol"], manifest["decoding"], keys))
    assert stored[0] == stored[1]
    facts = stored[0][0]
    assert (facts["name"], facts["digest"], facts["base"]) == (steps.name, steps.digest(), base)
    assert recorded_protocol(facts).digest() == steps.digest() != get_protocol(base).digest()


def test_options_change_own_protocols_and_resume(gradeschool: Command, tmp_path: Path) -> None:
    """An option goes over what the file sets; what makes it the base again is no change."""
    base, whole = tmp_path / "changed.toml", tmp_path / "whole.toml"
    base.write_text('base = "zero-shot/chat"\ntemperature = 0.7\n')
    whole.write_text('name = "whole"\nprompt = "{question}"\n')
    for file, option, name in (
        (base, ("--temperature", 0), "zero-shot/chat"),
        (base, ("--top-p", 0.5), "zero-shot/chat with temperature 0.7, top p 0.5"),
        (whole, ("--max-tokens", 7), "whole with max tokens 7"),
    ):
        run = tmp_path / name.replace("/", "-")
        for limit in (1, 2):  # the second resumes the first
            words = (*MODEL, "-p", file, *option, "-n", limit, "-o", run, "--json")
            assert gradeschool("eval", *words).json()["runs"][0]["protocol"] == name
        manifest = json.loads((run / "run.json").read_text())
        assert len((run / "completions.jsonl").read_text().splitlines()) == 2
        assert recorded_protocol(manifest["protocol"]).digest() == manifest["protocol"]["digest"]
        gradeschool.done("runs", "verify", run)
        assert name in gradeschool("runs", "show", run).out


@pytest.mark.parametrize(
    ("base", "changes", "messages"),
    [
        ("zero-shot/chat", {"system": ""}, [("user", "How many?")]),
        ("zero-shot/chat", {"system": "Be kind."}, [("system", "Be kind."), ("user", "How many?")]),
        (
            "zero-shot/chat",
            {"system": "", "prompt": "{question}\nGo.", "assistant_prefix": "So"},
            [("user", "How many?\nGo."), ("assistant", "So")],
        ),
        (
            "zero-shot/chat",
            {"system": "", "shots": "examples.jsonl", "shot": "{question} A: {gold}!"},
            [
                *(turn for row in range(3)
                  for turn in (("user", f"Q{row}?"), ("assistant", f"A: {row}!"))),
                ("user", "How many?"),
            ],
        ),
        ("inspect/gsm8k", {"shots": 0, "prompt": "{question}"}, [("user", "How many?")]),
    ],
)  # fmt: skip
def test_changes_of_a_chat(
    folder: Path, base: str, changes: dict[str, Any], messages: list[tuple[str, str]]
) -> None:
    protocol = protocol_from({"base": base, **changes}, "mine", folder=folder)
    (prompt,) = protocol.render(PROBLEMS, ())
    assert [(turn["role"], turn["content"]) for turn in prompt.as_messages()] == messages
    assert protocol.name.startswith(f"{base} with ")
    assert len(protocol.digest()) == 12


def test_a_whole_protocol_in_toml(folder: Path) -> None:
    (folder / "whole.toml").write_text(
        'form = "text"\nprompt = "Q: {question}\\nA:"\nshots = "examples.jsonl"\n'
        'shot = "Q: {question}\\nA: {reasoning} [{gold}]"\nmax_tokens = 0\ntop_p = 0.9\n'
        'scorers = ["openai/2021"]\nthinking_marks = [["[T]", "[/T]"]]\n'
    )
    protocol = get_protocol(str(folder / "whole.toml"))
    (prompt,) = protocol.render(PROBLEMS, ())
    shots = [f"Q: Q{row}?\nA: So {row}. [{row}]" for row in range(3)]
    assert prompt.text == "\n\n".join([*shots, "Q: How many?\nA:"])
    assert (protocol.name, protocol.shot_count) == ("whole", 3)
    assert (protocol.decoding.max_tokens, protocol.decoding.top_p) == (None, 0.9)
    marked = 'gradeschool/reader with thinking marks [["[T]", "[/T]"]]'
    assert protocol.scorers == ("openai/2021", marked)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base": "lm-eval/gsm8k", "shot_s": 3}, "mine: 'shot_s' is not a setting of a protocol; "
         "did you mean shots?"),
        ({"base": "lm-eval/gsm9k"}, "no protocol is called 'lm-eval/gsm9k'"),
        ({"base": "lm-eval/gsm8k", "prompt": "Hello"}, "mine: prompt has no {question}: 'Hello'"),
        ({"base": "lm-eval/gsm8k-cot", "shots": 9}, "mine: shots is 9, but wei2022 gives "
         "lm-eval/gsm8k-cot 8; give at most 8"),
        ({"base": "zero-shot/chat", "shots": 2}, "mine: zero-shot/chat has no examples;"),
        ({"base": "zero-shot/chat", "shots": "no.jsonl"}, "mine: there is no file"),
        ({"base": "lm-eval/gsm8k", "system": "Hi"}, "mine: lm-eval/gsm8k sends one text"),
        ({"base": "inspect/gsm8k", "system": "Hi"}, "mine: the system message of inspect/gsm8k "
         "holds its examples"),
        ({"base": "lm-eval/gsm8k", "temperature": "hot"}, "mine: temperature is 'hot'; give a "
         "number from 0 to 2"),
        ({"base": "lm-eval/gsm8k", "top_p": 1.5}, "mine: top_p is 1.5"),
        ({"base": "lm-eval/gsm8k", "stop": 5}, "mine: stop is 5; give a list of texts"),
        ({"base": "lm-eval/gsm8k", "scorers": ["nope"]}, "no scorer is called 'nope'"),
        ({"base": "lm-eval/gsm8k", "thinking_marks": [["<t>"]]}, "mine: thinking_marks is"),
        ({"base": "lm-eval/gsm8k", "name": "x"}, "mine: 'name' is of a whole protocol"),
        ({"system": "Hi"}, "mine has neither base nor prompt"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(settings: dict[str, Any], message: str, folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        protocol_from(settings, "mine", folder=folder)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no.toml", "there is no file"),
        ("bad.toml", "'bad.toml' is not TOML"),
        ("mine.py:NUMBER", "'mine.py:NUMBER' is 5; name an object of the type Protocol"),
        ("raises.py:PROTOCOL", "'raises.py' raises ZeroDivisionError"),
    ],
)
def test_files_that_hold_no_protocol(
    name: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("bad.toml").write_text("shots = = 3")
    Path("raises.py").write_text("1 / 0")
    with pytest.raises(InputError, match=message):
        get_protocol(name)


def test_the_commands_take_own_protocols(gradeschool: Command, folder: Path, data: Path) -> None:
    mine = str(folder / "mine.toml")
    card = gradeschool("protocols", "show", mine, "--json").json()
    assert (card["base"], card["changes"]) == ("lm-eval/gsm8k-cot", {"shots": 3, "stop": ["Q:"]})
    assert card["shots"]["rows"] == [0, 1, 2]
    lines = gradeschool("protocols", "prompts", mine, "-d", "sample").out.splitlines()
    assert len(lines) == len(load_dataset("sample").problems)
    other = gradeschool("protocols", "diff", mine, "lm-eval/gsm8k-cot", "--json").json()
    assert {item["field"] for item in other["fields"]} == {
        "shots: count", "shots: rows", "decoding: stop"
    }  # fmt: skip
    bad = gradeschool("protocols", "show", str(folder / "mine.py:NUMBER"))
    assert (bad.status, bad.out) == (2, "")


@pytest.mark.parametrize(
    ("toml", "words", "message"),
    [
        ('base = "gradeschool/few-shot-cot"\nshots = 9', (), "shots is 9, but exemplars gives"),
        ('base = "openai/2021"\nstop = ["####"]', (), "the stop string '####' ends each text"),
        ('base = "openai/2021"', ("--stop", "####"), "the stop string '####' ends each text"),
    ],
)
def test_eval_refuses_a_bad_protocol_before_anything_is_sent(
    gradeschool: Command, tmp_path: Path, toml: str, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "bad.toml").write_text(toml)
    address = ("-m", "http://localhost:9/v1", "-d", "sample", "-o", tmp_path / "run")
    result = gradeschool("eval", *address, "-p", tmp_path / "bad.toml", *words)
    assert (result.status, (tmp_path / "run").exists()) == (2, False)
    assert message in result.err and len(result.err.splitlines()) == 1


THOUGHTS = ("<plan>So the answer is 2.</plan>Let us see.", "<plan>It is 3.</plan>It is 2.")
READER = 'gradeschool/reader with thinking marks [["<plan>", "</plan>"]]'
MARKS = ("--thinking-marks", "<plan>,</plan>")


@pytest.fixture
def thoughts(tmp_path: Path) -> Path:
    rows = [{"completion": text, "gold": "2", "question": f"Q{row}?"}
            for row, text in enumerate(THOUGHTS)]  # fmt: skip
    jsonl(tmp_path / "own.jsonl", ({"question": row["question"], "answer": "2"} for row in rows))
    return jsonl(tmp_path / "thoughts.jsonl", rows)


def test_every_command_takes_own_marks(gradeschool: Command, thoughts: Path) -> None:
    words = ("--scorer", "gradeschool/reader", "openai/2021", *MARKS)
    scorers = gradeschool("score", thoughts, *words, "--json").json()["runs"][0]["scorers"]
    assert list(scorers) == [READER, "openai/2021"]
    assert (scorers[READER]["correct"], scorers[READER]["no_answer"]) == (1, 1)
    assert gradeschool("explain", thoughts, *MARKS, "--json").json()["correct"] == 1
    met = gradeschool("compare", thoughts, *MARKS, "--at-least", "0.6", "--json")
    assert (met.status, met.json()["scorer"]) == (1, READER)
    said = gradeschool.refused("score", thoughts, "--thinking-marks", "<plan>")
    assert "write OPEN,CLOSE" in said
    run, problems = thoughts.with_name("run"), thoughts.with_name("own.jsonl")
    asked = ("-m", f"recorded/{thoughts}", "-d", problems, "-o", run)
    result = gradeschool("eval", *asked, *MARKS, "--json").json()["runs"][0]
    assert result["protocol"] == 'zero-shot/chat with thinking marks [["<plan>", "</plan>"]]'
    gradeschool.done("runs", "verify", run)
    assert gradeschool("score", run, "--json").json()["runs"][0]["scorers"][READER]["correct"] == 1


OWN_SCORER = """
def last(completion, gold):
    words = completion.split()
    return words[-1].strip(".") if words else None
"""


def test_own_prompt_and_scorer_from_show_to_compare(gradeschool: Command, thoughts: Path) -> None:
    gradeschool.monkeypatch.chdir(thoughts.parent)
    Path("mine.py").write_text(OWN_SCORER)
    Path("mine.toml").write_text('base = "zero-shot/chat"\nscorers = ["mine.py:last"]\n')
    shown = gradeschool("protocols", "show", "mine.toml", "-d", "sample")
    assert (shown.status, "a function of your own" in shown.out) == (0, True)
    words = ("-m", "recorded/thoughts.jsonl", "-p", "mine.toml", "-d", "own.jsonl", "--quiet")
    gradeschool.done("eval", *words)
    run = Path("runs/thoughts_mine_own")
    assert list(json.loads((run / "results.json").read_text())["scorers"]) == ["mine.py:last"]
    for command in (("score",), ("explain",), ("compare", "--at-least", 0.4)):
        said = gradeschool(command[0], run, *command[1:]).err
        assert "the run's own scorer is 'mine.py:last'; code that a run folder names" in said
    compared = gradeschool("compare", run, "--at-least", 0.4, "--scorer", "mine.py:last", "--json")
    assert (compared.status, compared.json()["scorer"]) == (0, "mine.py:last")
    assert "not recomputed" in gradeschool("runs", "verify", run).out
    gradeschool.done("eval", *words, "--system", "", "-o", "other")
    for scorer, is_said in (((), True), (("--scorer", "mine.py:last"), False)):
        for other in (("--expected-run", "other"), ("--expected", "50")):
            told = gradeschool("why", run, *other, *scorer)
            assert (told.status, "is not run, give --scorer" in told.err) == (0, is_said), told.err
