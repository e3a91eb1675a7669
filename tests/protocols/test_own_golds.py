"""Golds of other sets, written in each protocol's own form, are right under its scorers.

Where one is not, the fault is the published code's.
"""

from contextlib import suppress

import pytest

from gradeschool import Problem, all_protocols, get_scorer
from gradeschool.prompts import rationale
from gradeschool.protocols import MGSM as LANGUAGES
from gradeschool.protocols.gradeschool import gold_and_question
from gradeschool.scorer import Outcome, ScorerFailure
from tests.peers.views import missing_extra
from tests.support.outcomes import outcomes_of

HASHES = "{reasoning}\n#### {answer}"
LAST_LINE = "{reasoning}\nANSWER: {answer}"
SENTENCE = "{reasoning} The answer is {answer}."
GSM8K = ("gsm8k", "gsm8k-platinum")
# The form that a protocol asks for on a set beside GSM8K, by the beginning of its name.
BOXED = "{reasoning}\n\\boxed{{answer}}"
OTHER_FORMS = {
    "evalscope/": BOXED,
    "lighteval/aime": "{reasoning}\nTherefore, the final answer is: $\\boxed{{answer}}$. "
    "I hope it is correct",
    "lighteval/math-500": "{reasoning}\nANSWER: ${answer}$",
    "lighteval/gsm-plus": "{reasoning}\nThe answer is {answer}",
    "lm-eval/minerva": "Final Answer: The final answer is ${answer}$. I hope it is correct.",
    "opencompass/aime": BOXED,
    "opencompass/gsm-hard": "The answer is {float}",
    "opencompass/svamp": SENTENCE,
    "opencompass/math-500": BOXED,
    "qwen2.5-math/": BOXED,
    "lighteval/mgsm": " {answer}",
    "inspect/aime": LAST_LINE,
    "lm-eval/aime": "{reasoning}\n\\boxed{{answer}}",
    "lm-eval/asdiv": "{reasoning}\nThe final answer is {answer}",
    "lm-eval/gsm-plus": HASHES,
    "lm-eval/hendrycks": "${answer}$",
    "lm-eval/mgsm-direct": " {answer}",
    "lm-eval/mgsm-en-cot": SENTENCE,
    **{
        f"lm-eval/mgsm-native-cot-{language}": "{reasoning} "
        + words["lm_eval_pattern"].replace(r"(\-?[0-9\.\,]+)", "{answer}")
        for language, words in LANGUAGES.items()
    },
    **{
        f"{harness}/mgsm-{language}": f"{{reasoning}}\n{words['label']}: {{answer}}"
        for language, words in LANGUAGES.items()
        for harness in ("inspect", "opencompass", "simple-evals")
    },
}


# Golds as the published sets write them, for a machine that has none of the sets.
STAND_INS = {
    "mgsm": ("18", "2,125"),
    "gsm-plus": ("18", "4.33", "1/2", "None"),
    "aime": ("204", "7"),
    "asdiv": ("18",),
    "cmath": ("18", "0.5", "1/2", "50%"),
    "math500": ("18", "\\frac{1}{2}", "(1,2)", "x+1", "\\text{Evelyn}", "\\frac43"),
    "mawps": ("18", "0.5"),
    "gsm-hard": ("18", "-18", "0.5", "4.33"),
    "svamp": ("18",),
}
# Golds that a published scorer misses in its own form.
MISSED_STAND_INS = {
    "lighteval/gsm-plus": {"None"},
    "lighteval/mgsm": {"2,125"},
    "lm-eval/gsm8k/flexible-extract": {"None", "1/2"},
    "lm-eval/gsm8k/strict-match": {"None", "1/2"},
    "opencompass/math-verify": {"\\frac43"},
    **{f"opencompass/mgsm-{language}": {"2,125"} for language in LANGUAGES},
}


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        pytest.param(name, scorer, id=f"{name}-{scorer}")
        for name, protocol in all_protocols().items()
        if protocol.dataset not in (*GSM8K, "processbench")  # golds are places of steps
        for scorer in protocol.scorers
    ],
)
def test_made_golds_in_a_protocols_own_form(name: str, scorer: str) -> None:
    if reason := missing_extra(get_scorer(scorer)):
        pytest.skip(reason)
    form = next(form for start, form in OTHER_FORMS.items() if name.startswith(start))
    family = all_protocols()[name].dataset.partition(":")[0]
    solution = "It is $\\boxed{{{0}}}$.\n#### {0}" if family == "math500" else "So.\n#### {0}"
    problems = [Problem(gold, "", gold, solution.format(gold)) for gold in STAND_INS[family]]
    own, pairs = get_scorer(scorer), dict[str, tuple[str, str]]()
    for problem in problems:
        text = form.replace("{reasoning}", rationale(problem)).replace("{answer}", problem.gold)
        if "{float}" in form:
            text = text.replace("{float}", str(float(problem.gold)))
        with suppress(ScorerFailure):
            pairs[problem.id] = (text, own.reference(problem))
    outcomes = dict(zip(pairs, outcomes_of(own, list(pairs.values())), strict=True))
    missed = {gold for gold in STAND_INS[family] if outcomes.get(gold) is not Outcome.CORRECT}
    assert missed == MISSED_STAND_INS.get(scorer, set())


UNANSWERABLE = Problem.from_gold("None")


@pytest.mark.parametrize(
    "text",
    [
        "#### None",
        "The answer is None.",
        "\\boxed{\\text{None}}",
        "We do not know how much she paid, so the total cannot be determined.",
        "There isn't enough information to solve this.",
        "The problem does not specify how many eggs were left, so I can't calculate it.",
        "It is impossible to find the answer: the price is missing.",
    ],
)
def test_a_completion_that_says_so_is_right(text: str) -> None:
    assert get_scorer("gradeschool/reader").judge(text, UNANSWERABLE).correct


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("She pays 5 + 3 = 8 dollars.\n#### 8", Outcome.WRONG),
        ("The price is not given, so we take 5. The answer is 8.", Outcome.WRONG),
        ("", Outcome.NO_ANSWER),
        ("Nobody said anything.", Outcome.NO_ANSWER),
    ],
)
def test_a_number_is_wrong_and_silence_no_answer(text: str, outcome: Outcome) -> None:
    assert get_scorer("gradeschool/reader").judge(text, UNANSWERABLE).outcome is outcome


def test_such_a_sentence_is_no_answer_where_there_is_one() -> None:
    text = "The total cannot be determined."
    verdict = get_scorer("gradeschool/reader").judge(text, Problem.from_gold("8"))
    assert verdict.outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize("gold", ["x+1", "\\frac{1}{2}x", "Evelyn", "(1,2)", "20 apples"])
def test_a_gold_that_is_no_number_is_refused(gold: str) -> None:
    problem = Problem("0", "", gold, f"#### {gold}")
    with pytest.raises(ScorerFailure, match="is not a number; use a scorer of expressions"):
        gold_and_question(problem)
    assert get_scorer("gradeschool/reader").judge(f"#### {gold}", problem).outcome is Outcome.ERROR


def test_the_sign_counts_and_commas_do_not() -> None:
    problem = Problem.from_gold("-1,250")
    for name in ("gradeschool/parse-answer", "gradeschool/reader"):
        assert get_scorer(name).judge("#### -1250", problem).correct
        assert get_scorer(name).judge("#### 1250", problem).outcome is Outcome.WRONG
