"""The examples of an OpenCompass configuration: literals are read, nothing is run."""

from pathlib import Path

import pytest

from gradeschool.datasets.load import config_shots
from gradeschool.errors import DataError

ASKED = "Question: {}\\nLet's think step by step\\nAnswer:"
CONFIG = f"""
from somewhere import PromptTemplate
raise SystemExit("a configuration that is run")
cfg = dict(type=PromptTemplate, template=dict(round=[
    dict(role='HUMAN', prompt="{ASKED.format("How many?")}"),
    dict(role='BOT', prompt='1 + 1 = 2.\\nThe answer is 1?\\nThe answer is 2\\n'),
    dict(role='HUMAN', prompt="{ASKED.format("And 'now'?")}"),
    dict(role='BOT', prompt="Three\\nThe answer is 1,003\\n"),
    dict(role='HUMAN', prompt="{ASKED.format("{question}")}"),
]), path='opencompass/gsm8k')
"""


def test_shots_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(CONFIG, "utf-8")
    assert [row.fields for row in config_shots(path)] == [
        {"question": "How many?", "rationale": "1 + 1 = 2.\nThe answer is 1?", "answer": "2"},
        {"question": "And 'now'?", "rationale": "Three", "answer": "1,003"},
    ]
    assert [row.number for row in config_shots(path)] == [1, 2]


def test_a_conclusion_may_stand_in_the_last_sentence(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(
        CONFIG.replace("\\nThe answer is 1,003\\n", ". The answer is 1,003.\\n"), "utf-8"
    )
    [_, second] = config_shots(path)
    assert (second.fields["rationale"], second.fields["answer"]) == ("Three.", "1,003")


def test_an_example_without_a_conclusion_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(CONFIG.replace("The answer is 1,003", "1,003"), "utf-8")
    with pytest.raises(DataError, match="example 2 does not end in 'The answer is N'"):
        config_shots(path)


@pytest.mark.parametrize("text", ["", "x = dict(role='BOT', prompt='?')", "dict(role='HUMAN')"])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.py"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match="does not alternate HUMAN and BOT"):
        config_shots(path)
