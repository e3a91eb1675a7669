"""Completions, and the score that inspect_ai gets from a scorer of ours."""

ROWS: list[tuple[str, str, str | list[str], str, str, str | None]] = [
    # scorer, completion, gold, stop reason -> value, reason
    ("numeric_equality", "ANSWER: 711", "11", "stop", "I", "wrong value"),
    ("numeric_equality", "ANSWER: 149", "49", "stop", "I", "wrong value"),
    ("numeric_equality", "ANSWER: 131254", "131250", "stop", "I", "rounding"),
    ("numeric_equality", "first 7, ANSWER: 11 (of 12)", "11", "stop", "C", None),
    ("numeric_equality", "It is 1,250.", "1250", "stop", "C", None),
    ("numeric_equality", "no idea.", "11", "stop", "N", "invalid_response_format"),
    ("reader", "", "11", "stop", "N", "no_response"),
    ("reader", "I'm sorry, I cannot help with that.", "11", "stop", "N", "refusal"),
    ("reader", "Let us first", "11", "max_tokens", "N", "truncated"),
    ("reader", "#### -11", "11", "stop", "I", "sign lost"),
    ("inspect/match-numeric:<=0_3_220", "ANSWER: 711", "11", "stop", "C", None),
    ("inspect/match-numeric:>=0_3_261", "ANSWER: 711", "11", "stop", "I", "wrong value"),
    ("reader", "#### 19", ["18", "19"], "stop", "C", None),
    ("numeric_equality", "ANSWER: 19", ["18", "19"], "stop", "C", None),
    ("numeric_equality", "ANSWER: 1819", ["18", "19"], "stop", "I", "wrong value"),
    ("reader", "#### 11", "eleven", "stop", "nan", "scoring_failed"),
    ("numeric_equality", "ANSWER: 11", "eleven", "stop", "nan", "scoring_failed"),
    ("verl/gsm8k/strict", "#### 11", "eleven", "stop", "nan", "scoring_failed"),
]
