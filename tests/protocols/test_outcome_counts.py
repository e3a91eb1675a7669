"""How many of the 1,319 test problems each scorer takes for right, in nine forms of answer.

The figures were got by running the real scorers. Three forms are wrong answers, so a figure above
zero there is a fault that is kept: a gold that the answer ends with, five digits compared, percent.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from tests.support.outcomes import FORMS

# scorer, then the figures in the order of the forms
FIGURES = """
ai-benchmarks/gsm8k                             1319 1319    0    0    0    0    0    0    0
deepseek-math/few-shot-cot                      1305 1305 1305 1305 1305   14    0    0 1319
deepseek-math/zero-shot                         1319 1319 1319 1319 1319   14    0    0 1319
helm/gsm/exact-match-indicator                     0    0 1319    0    0    0    0    0    0
helm/gsm/final-number                           1319 1319 1319 1319 1319   14    0    0    0
inspect/aime2025                                1319 1319 1319 1319 1319   14   18    0    0
inspect/match-numeric@<=0.3.220                 1319 1319 1319 1319   16    0   15 1266    0
inspect/match-numeric@>=0.3.253                 1319 1319 1319 1319    0   14   18    0    0
lm-eval/gsm8k-cot-llama/flexible-extract        1319 1319 1319 1319 1319   14    0    0    0
lm-eval/gsm8k-cot-llama/strict-match               0    0    0    0    0    0    0    0    0
lm-eval/gsm8k-cot-self-consistency/score-first     0    0 1319    0    0    0    0    0    0
lm-eval/gsm8k-cot-zeroshot/flexible-extract     1319 1319 1319 1319 1319   14    0    0    0
lm-eval/gsm8k-cot-zeroshot/strict-match            0    0 1319    0    0    0    0    0    0
lm-eval/gsm8k-cot/flexible-extract              1319 1319 1319 1319 1319   14    0    0    0
lm-eval/gsm8k-cot/strict-match                     0    0 1319    0    0    0    0    0    0
lm-eval/gsm8k-llama/flexible-extract            1319 1319 1319 1319 1319   14    0    0    0
lm-eval/gsm8k-llama/strict-match                   0    0    0    0    0    0    0    0    0
lm-eval/gsm8k/flexible-extract                  1319 1319 1319 1319 1319   14    0    0    0
lm-eval/gsm8k/strict-match                      1319 1319    0    0    0   14    0    0    0
lm-eval/gsm8k@0.3                               1319 1319    0    0    0   14    0    0    0
lm-eval/hrm8k-gsm8k-en                             0 1305 1305 1305 1303   14    0    0    0
multi-pattern                                   1319 1319 1319 1319 1319   14    0    0    0
nanochat/gsm8k                                  1319 1319    0    0    0   14    0    0    0
numeric-equality                                1319 1319 1319 1319 1319   14    0    0    0
olmes/gsm8k-tulu                                1319 1319 1319 1319 1319   14    0    0    0
olmo-eval/gsm8k                                 1319 1319 1319 1319 1319   14    0    0    0
open-instruct/gsm8k                             1319 1319 1319 1319 1319   14    0    0    0
openai/2021                                     1319 1319    0    0    0   14    0    0    0
opencompass/gsm8k                               1305 1305 1305 1305 1305   14    0    0    0
opencompass/gsm8k-0shot-v2                         0    0 1319    0 1319    0    0    0    0
oumi/gsm8k                                      1319 1319    0    0    0   14    0    0    0
simple-evals/mgsm-en                               0    0    0    0    0    0    0    0    0
verl/gsm8k/flexible                             1305 1305    0 1305 1305   14    0    0    0
verl/gsm8k/strict                               1319 1319    0    0    0   14    0    0    0
"""
EXPECTED = {
    row.split()[0]: dict(zip(FORMS, map(int, row.split()[1:]), strict=True))
    for row in FIGURES.strip().split("\n")
}


# What this one takes for right depends on the digits of GSM8K's own golds, not on their form.
OFFICIAL = {"inspect/match-numeric@<=0.3.220": pytest.mark.official}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=OFFICIAL.get(name, ())) for name in sorted(EXPECTED)]
)
def test_figures_of_the_real_scorers(name: str, gsm8k_test: Sequence[Problem]) -> None:
    scorer = get_scorer(name)
    right = dict.fromkeys(FORMS, 0)
    for problem in gsm8k_test:
        gold = int(problem.gold.replace(",", ""))
        for form, write in FORMS.items():
            if form != "no comma" or "," in problem.gold:
                right[form] += scorer.judge(write(problem, gold), problem).correct
    assert right == EXPECTED[name]
