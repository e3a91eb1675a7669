"""How shots and chats are shown."""

from pathlib import Path

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


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
