"""Golds of other sets, written in each protocol's own form, are right under its scorers.

Where one is not, the fault is the published code's.
"""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from gradeschool import Problem, all_protocols, get_scorer
from gradeschool.problem import MARKER
from gradeschool.prompts import rationale
from gradeschool.protocols import MGSM as LANGUAGES
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Outcome
from tests.peers.views import missing_extra
from tests.support.outcomes import outcomes_of

Problems = Sequence[Problem]

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
    assert set(missed(scorer, form, problems)) == MISSED_STAND_INS.get(scorer, set())


def written(form: str, problem: Problem) -> str:
    """The reference solution in a form."""
    text = form.replace("{reasoning}", rationale(problem)).replace("{solution}", problem.solution)
    for name in ("{stripped solution}", "{steps}"):
        text = text.replace(name, problem.solution.rpartition(MARKER)[0].strip())
    text = text.replace("{answer}", problem.gold).replace("{gold}", problem.gold)
    text = text.replace("{sentence}", f"{rationale(problem)} The answer is {problem.gold}.")
    return text.replace("{float}", str(float(problem.gold))) if "{float}" in form else text


def missed(scorer_name: str, form: str, problems: Problems) -> list[str]:
    """The ids of the problems whose gold a scorer does not call right, or cannot use."""
    scorer, pairs = get_scorer(scorer_name), dict[str, tuple[str, str]]()
    for problem in problems:
        with suppress(ScorerFailure):
            pairs[problem.id] = (written(form, problem), scorer.reference(problem))
    distinct = list(dict.fromkeys(pairs.values()))
    outcomes = dict(zip(distinct, outcomes_of(scorer, distinct), strict=True))
    return [
        problem.id
        for problem in problems
        if problem.id not in pairs or outcomes[pairs[problem.id]] is not Outcome.CORRECT
    ]
