"""Every gold of 8,792, written in each protocol's own form, is right under the protocol's scorers.

Where it is not, the fault is the published code's, and the package lists the problems by id.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from gradeschool import Problem, all_protocols, all_scorers, get_scorer
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.sources import SOURCES
from gradeschool.problem import MARKER
from gradeschool.prompts.mgsm import LANGUAGES
from gradeschool.prompts.rendering import rationale
from gradeschool.prompts.shape import shape
from gradeschool.protocols.card import package_of, source_text
from gradeschool.protocols.lm_eval.mgsm import TASKS
from gradeschool.scorer import ScorerFailure
from gradeschool.verdict import Outcome
from tests.conftest import SHARED
from tests.peers.views import missing_extra
from tests.support.outcomes import outcomes_of

Problems = Sequence[Problem]

HASHES = "{reasoning}\n#### {answer}"
BOX = "{reasoning}\nThe answer is \\boxed{{answer}}."
LAST_LINE = "{reasoning}\nANSWER: {answer}"
SENTENCE = "{reasoning} The answer is {answer}."
# What protocols without examples ask for, or teach; those with examples show it.
ASKED = {
    "ai-benchmarks/gsm8k": HASHES,
    "deepseek-math/zero-shot": BOX,
    "evalscope/gsm8k": "{reasoning}\n\nANSWER: \\boxed{{answer}}",
    "inspect/aime2025": LAST_LINE,
    "inspect/gsm8k": LAST_LINE,
    "inspect/gsm8k-0shot": LAST_LINE,
    "inspect/gsm8k-5shot": LAST_LINE,
    "inspect/mgsm-en": "{reasoning}\nAnswer: {answer}",
    "lighteval/gsm8k-inspect": LAST_LINE,
    "lm-eval/gsm8k-cot-zeroshot": SENTENCE,
    "lm-eval/gsm8k-platinum-cot-zeroshot": SENTENCE,
    "lm-eval/hrm8k-gsm8k-en": "{reasoning}\n$\\boxed{{answer}}$.",
    "nanochat/gsm8k": HASHES,
    "olmes/gsm8k-zs-cot": SENTENCE,
    "olmes/gsm8k-zs-cot-r1": SENTENCE,
    "openai/2021": HASHES,
    "opencompass/gsm8k-0shot": BOX,
    "opencompass/gsm8k-0shot-nocot": BOX,
    "opencompass/gsm8k-0shot-v2": BOX,
    "opencompass/gsm8k-0shot-v2-2048": BOX,
    "oumi/gsm8k": HASHES,
    "qwen2.5-math/gsm8k": BOX,
    "qwen2.5-math/gsm8k-qwen-boxed": BOX,
    "simple-evals/mgsm-en": "{reasoning}\nAnswer: {answer}",
    "verifiers/gsm8k-v1": HASHES,
    "verifiers/gsm8k@<=0.3.0": BOX,
    "verl/gsm8k": HASHES,
    "zero-shot/chat": HASHES,
    "zero-shot/cot": SENTENCE,
}
PROBES = [Problem(str(number), "", "", "") for number in range(3)]
BY_WORDS = "lighteval/gsm8k-inspect"  # what it misses hangs on the words of the solutions
EVERY = 12  # rows of train for each that a library scorer reads; all were read once
MISSED = re.compile(
    r"`(?P<scorer>[^`]+)` calls (?P<count>\d+) of the 8,792 golds wrong in its own form, "
    r"(?P<why>[^:]+): test (?P<test>none|[\d ]+); train (?P<train>[\d ]+)\."
)


def own_form(name: str) -> str:
    """How a protocol writes an answer in its examples, or what it asks for."""
    parts = shape(all_protocols()[name], PROBES, (), 0)
    if parts.shot.startswith(parts.question) and parts.shot:
        return parts.shot.removeprefix(parts.question).lstrip(" ")
    if parts.place == "turns":
        return parts.shot.partition("\nassistant: ")[2].removeprefix(parts.prefix or "").lstrip(" ")
    return ASKED[name.partition("+")[0]]


GSM8K = ("gsm8k", "gsm8k-platinum")
FORMS = sorted(
    {
        (scorer, own_form(name))
        for name, protocol in all_protocols().items()
        if protocol.dataset in GSM8K
        for scorer in protocol.scorers
    }
)
CLOSED = [(scorer, form) for scorer, form in FORMS if not all_scorers()[scorer].extra]
LIBRARY = [
    pytest.param(scorer, form, marks=[pytest.mark.official] * (scorer == BY_WORDS))
    for scorer, form in FORMS
    if all_scorers()[scorer].extra
]


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
    "processbench/": BOX,
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
        + pattern.replace(r"(\-?[0-9\.\,]+)", "{answer}")
        for language, (*_, pattern) in TASKS.items()
    },
    **{
        f"{harness}/mgsm-{language}": f"{{reasoning}}\n{label}: {{answer}}"
        for language, (label, _) in LANGUAGES.items()
        for harness in ("inspect", "opencompass", "simple-evals")
    },
}
OTHERS = [
    pytest.param(name, scorer, id=f"{name}-{scorer}")
    for name, protocol in all_protocols().items()
    if protocol.dataset not in GSM8K and (SHARED / SOURCES[protocol.dataset].path).is_file()
    for scorer in protocol.scorers
]
COUNTED = re.compile(
    r"`(?P<scorer>[^`]+)` calls (?P<count>\d+) of the [\d,]+ golds of (?P<dataset>\S+) wrong in "
    r"its own form"
)


@pytest.mark.official
@pytest.mark.parametrize(("name", "scorer"), OTHERS)
def test_golds_of_other_sets_in_a_protocols_own_form(name: str, scorer: str, data: object) -> None:
    """Every gold is right, or the package says how many are not."""
    dataset = all_protocols()[name].dataset
    if reason := missing_extra(get_scorer(scorer)):
        pytest.skip(reason)
    form = next(form for start, form in OTHER_FORMS.items() if name.startswith(start))
    wrong = missed(scorer, form, load_dataset(dataset).problems)
    text = " ".join(source_text(package_of(scorer)).split())
    counts = {
        (match["scorer"], match["dataset"]): int(match["count"]) for match in COUNTED.finditer(text)
    }
    family, _, language = dataset.partition(":")
    each = scorer.removesuffix(f"-{language}") + "-LANG" * scorer.endswith(f"-{language}")
    in_all = counts.get((each, f"{family}:LANG"), 0)  # in each language
    assert len(wrong) == counts.get((scorer, dataset), in_all), wrong[:9]


SETS = [
    name for name, source in SOURCES.items()
    if name not in ("math500", "processbench") and (SHARED / source.path).is_file()
]  # fmt: skip


@pytest.mark.official
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("form", [HASHES, BOX, SENTENCE])
def test_the_extractor_reads_the_golds_of_every_set(name: str, form: str, data: object) -> None:
    assert missed("gradeschool/reader", form, load_dataset(name).problems) == []


# Sets of grade-school problems, which people ask under the protocols of GSM8K as well.
# Of MGSM and MSVAMP one language stands for all: the golds are the same, no row has a solution.
TRANSLATED = ("mgsm", "msvamp")
GRADE_SCHOOL = [
    name for name in SETS
    if not name.startswith(("aime", "gsm8k:")) and name != "gsm8k" and "exemplars" not in name
    and (not name.startswith(TRANSLATED) or name.endswith(":en"))
]  # fmt: skip
# Scorers of no protocol, and the form that their harness asks for.
ALONE = {
    "gradeschool/parse-answer": HASHES,
    "inspect/match-numeric@0.3.221-0.3.252": LAST_LINE,
    "inspect/match-numeric@0.3.253-0.3.260": LAST_LINE,
    "inspect/match-numeric@<=0.3.220": LAST_LINE,
    "math-verify/boxed-gold": BOX,
    "math-verify/default": BOX,
    "multi-pattern": BOX,
    "numeric-equality": HASHES,
    "open-instruct/gsm8k": SENTENCE,
    "openai/example-solutions": "A: {answer}",
    "pal/gsm-hard": SENTENCE,
    "trl/accuracy-reward": BOX,
    "verifiers/math-rubric-lenient": BOX,
}
IN_THE_SAME_FORM = re.compile(
    r"Golds of other sets wrong in the same form: (?P<lists>.+?)\.(?: |$)"
)


@pytest.mark.official
@pytest.mark.parametrize(("scorer", "form"), [*FORMS, *ALONE.items()])
def test_golds_of_all_sets_in_the_form_of_a_gsm8k_protocol(
    scorer: str, form: str, data: object
) -> None:
    """Every gold is right, or the package says of how many of which set it is not."""
    if reason := missing_extra(get_scorer(scorer)):
        pytest.skip(reason)
    sets = [load_dataset(name).problems for name in GRADE_SCHOOL]
    missed = missed_of_sets(scorer, form, sets)
    counts = {name: len(ids) for name, ids in zip(GRADE_SCHOOL, missed, strict=True) if ids}
    several = len([form for name, form in FORMS if name == scorer]) > 1
    assert counts == wrong_of_sets(scorer) or (several and not counts)


def wrong_of_sets(scorer: str) -> dict[str, int]:
    """How many golds of each set a scorer's package says are wrong in the form of GSM8K's."""
    text = " ".join(source_text(package_of(scorer)).split())
    parts = [
        part for match in IN_THE_SAME_FORM.finditer(text) for part in match["lists"].split(";")
    ]
    counts = next((part for part in parts if f"`{scorer}`" in part), "").rpartition("`: ")[2]
    return {
        dataset: int(count)
        for name, count in re.findall(r"(\S+) (\d+)", counts)
        for dataset in GRADE_SCHOOL
        if dataset == name or f"{dataset.partition(':')[0]}:LANG" == name
    }


@pytest.mark.official
@pytest.mark.parametrize("family", TRANSLATED)
def test_the_golds_of_a_translated_set_are_the_same_in_all_languages(
    family: str, data: object
) -> None:
    sets = [load_dataset(name).problems for name in SETS
            if name.startswith(f"{family}:") and "exemplars" not in name]  # fmt: skip
    solutions = {tuple(problem.solution for problem in problems) for problems in sets}
    assert len(sets) >= 10
    assert len(solutions) == 1
    assert all(solution.startswith(MARKER) for solution in solutions.pop())


def test_every_scorer_of_gsm8k_has_a_form() -> None:
    of_protocols = {scorer for protocol in all_protocols().values() for scorer in protocol.scorers}
    assert set(ALONE) == set(all_scorers()) - of_protocols


@pytest.mark.parametrize("gold", ["18", "-3", "2,125", "4.33", "1/2", "None", "50%", "12\\%"])
@pytest.mark.parametrize("form", [HASHES, BOX, SENTENCE])
def test_the_extractor_reads_made_golds(gold: str, form: str) -> None:
    assert missed("gradeschool/reader", form, [Problem("0", "", gold, f"#### {gold}")]) == []


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
    text = form.replace("{reasoning}", rationale(problem)).replace("{answer}", problem.gold)
    return text.replace("{float}", str(float(problem.gold))) if "{float}" in form else text


def missed(scorer_name: str, form: str, problems: Problems) -> list[str]:
    """The ids of the problems whose gold a scorer does not call right, or cannot use."""
    return missed_of_sets(scorer_name, form, [problems])[0]


def missed_of_sets(scorer_name: str, form: str, sets: Sequence[Problems]) -> list[list[str]]:
    """The same for several sets; what several problems share is judged once."""
    scorer = get_scorer(scorer_name)
    pairs: list[dict[str, tuple[str, str]]] = [{} for _ in sets]
    for problems, of_set in zip(sets, pairs, strict=True):
        for problem in problems:
            with suppress(ScorerFailure):
                of_set[problem.id] = (written(form, problem), scorer.reference(problem))
    distinct = list(dict.fromkeys(pair for of_set in pairs for pair in of_set.values()))
    outcomes = dict(zip(distinct, outcomes_of(scorer, distinct), strict=True))
    right = {pair for pair, outcome in outcomes.items() if outcome is Outcome.CORRECT}
    return [
        [problem.id for problem in problems if of_set.get(problem.id) not in right]
        for problems, of_set in zip(sets, pairs, strict=True)
    ]


def listed(scorer: str) -> tuple[list[str], list[str]]:
    """The ids that a scorer's package lists as missed: of test, of train."""
    text = " ".join(source_text(package_of(scorer)).split())
    for match in MISSED.finditer(text):
        if match["scorer"] == scorer:
            ids = match["test"].replace("none", "").split(), match["train"].split()
            assert int(match["count"]) == len(ids[0]) + len(ids[1])
            return ids
    return [], []


@pytest.mark.parametrize(("scorer", "form"), CLOSED)
def test_golds_in_a_protocols_own_form(
    scorer: str, form: str, gsm8k_test: Problems, gsm8k_train: Problems
) -> None:
    assert (missed(scorer, form, gsm8k_test), missed(scorer, form, gsm8k_train)) == listed(scorer)


@pytest.mark.parametrize(("scorer", "form"), LIBRARY)
def test_golds_under_library_scorers(
    scorer: str, form: str, gsm8k_test: Problems, gsm8k_train: Problems
) -> None:
    """All of test; of train, half a minute a scorer, a part and what is listed."""
    if reason := missing_extra(get_scorer(scorer)):
        pytest.skip(reason)
    test, train = listed(scorer)
    some = [
        problem for problem in gsm8k_train if int(problem.id) % EVERY == 0 or problem.id in train
    ]
    ids = missed(scorer, form, gsm8k_test), missed(scorer, form, some)
    assert ids in ((test, train), ([], []))  # a scorer's list is of the form that it fails on
    assert ids == (test, train) or len([form for name, form in FORMS if name == scorer]) > 1


@pytest.mark.parametrize(
    ("scorer", "is_missed", "right"),
    [
        ("opencompass/gsm8k", lambda problem: "," in problem.gold, 1305),
        ("deepseek-math/few-shot-cot", lambda problem: "," in problem.gold, 1305),
        ("verl/gsm8k/flexible", lambda problem: "," in problem.gold, 1305),
        ("simple-evals/mgsm-en", lambda problem: "-" in problem.gold, 1317),
        ("lm-eval/hrm8k-gsm8k-en", lambda problem: {",", "-"} & set(problem.gold), 1303),
    ],
)
def test_what_the_lists_hold(
    scorer: str, is_missed: Callable[[Problem], bool], right: int, gsm8k_test: Problems,
    gsm8k_train: Problems,
) -> None:  # fmt: skip
    """Every gold of that kind and no other: 14 golds of test have a comma, 2 a sign."""
    kinds = tuple(
        [p.id for p in problems if is_missed(p)] for problems in (gsm8k_test, gsm8k_train)
    )
    assert listed(scorer) == kinds
    assert 1319 - len(listed(scorer)[0]) == right


def test_every_form_that_is_asked_for_belongs_to_a_protocol() -> None:
    assert set(ASKED) <= set(all_protocols())
    assert len(FORMS) > 35
