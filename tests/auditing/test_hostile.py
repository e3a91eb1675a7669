"""Hostile texts of the audit."""

import ast

from gradeschool.auditing.hostile import HostileText, rounds


def test_hostile_texts_are_what_their_recipes_say() -> None:
    for texts in rounds(300):
        for text in texts:
            assert ast.literal_eval(repr(text.text)) == text.text
            parts = text.recipe().split(" * ")
            assert len(parts) == 1 + (text.times > 1)
            assert len(text.text) < 500
    assert HostileText("", "ab", "<", ">", 3).text == "<ababab>"
    assert HostileText("", "ab", "<", ">", 3_000).recipe() == "'<' + 'ab' * 3_000 + '>'"
