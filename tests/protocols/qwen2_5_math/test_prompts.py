"""Tests the prompts of Qwen2.5-Math's evaluation."""

import pytest

from gradeschool import Problem, get_protocol


@pytest.mark.parametrize(
    ("body", "question", "sent"),
    [
        ("Ann has 3 nuts", "Ann has 3 nuts How many?", "Ann has 3 nuts. How many?"),
        ("Ann has 3 nuts.", "Ann has 3 nuts. How many?", "Ann has 3 nuts. How many?"),
        ("", "Ann has 3 nuts How many?", "Ann has 3 nuts How many?"),
    ],
)
def test_svamp_of_qwen_puts_a_period_behind_the_body(body: str, question: str, sent: str) -> None:
    problem = Problem.from_row("0", question, "#### 3", {"body": body})
    [prompt] = get_protocol("qwen2.5-math/svamp+chat").render([problem], ())
    assert prompt.messages[-1].content == sent


def test_the_text_form_is_the_chat_form_with_qwens_marks() -> None:
    """Qwen's template writes a turn between <|im_start|> and <|im_end|>."""
    problem = Problem.from_row("0", " How many? ", "#### 3")
    for name in ("gsm8k", "gsm8k-qwen-boxed"):
        [text] = get_protocol(f"qwen2.5-math/{name}").render([problem], ())
        [chat] = get_protocol(f"qwen2.5-math/{name}+chat").render([problem], ())
        turns = [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in chat.messages]
        assert text.text == "".join(turns) + "<|im_start|>assistant\n"


def test_the_request_for_a_box_is_the_system_message_of_the_later_models_alone() -> None:
    problem = Problem.from_row("0", "How many?", "#### 3")
    [later] = get_protocol("qwen2.5-math/gsm8k+chat").render([problem], ())
    [earlier] = get_protocol("qwen2.5-math/gsm8k-qwen-boxed+chat").render([problem], ())
    assert ["\\boxed{}" in message.content for message in later.messages] == [True, False]
    assert ["\\boxed{}" in message.content for message in earlier.messages] == [False, True]


def test_exemplars_of_base_models_stand_two_blank_lines_apart() -> None:
    shot = Problem.from_row("0", "How many?", "1 + 1 = 2.\n#### 2")
    [prompt] = get_protocol("qwen2.5-math/gsm8k-cot").render([shot], [shot, shot])
    example = "Question: How many?\nAnswer: 1 + 1 = 2. The answer is 2.\n\n\n"
    assert prompt.text == 2 * example + "Question: How many?\nAnswer:"
