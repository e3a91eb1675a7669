"""Extractions that several harnesses share, and those of harnesses of a function or two.

The harnesses' scorers.toml names them. A harness with more code has a package of its own.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter, methodcaller

from gradeschool.answers import search
from gradeschool.answers.numbers import parse_decimal
from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem
from gradeschool.prompts import draw_rows, rationale
from gradeschool.protocols import MGSM
from gradeschool.scorer import Answer, ScorerFailure, clip

# Applied once from left to right: "1,2,3" becomes "12,3".
COMMA = re.compile(r"(\d),(\d)")
LAST_NUMBER = "the last number"
# The pattern of the repository that released GSM8K, which other harnesses reuse.
MARKED = re.compile(r"#### (\-?[0-9\.\,]+)")
MARK, HASH = "#### ", "#"  # a search for one character takes a fifth of the time
Extract = Callable[[str, str], Answer | None]
Reference = Callable[[Problem], str]
without_commas: Callable[[str], str] = methodcaller("replace", ",", "")


def extraction(
    find: Callable[[str], re.Match[str] | None],
    how: str,
    clean: Callable[[str], str | None] = str,
    group: int = 1,
) -> Extract:
    """Return an extraction of a group of the match that `find` finds in a text.

    how: its description in an answer. clean: makes the value, None if the match is no answer.
    """

    def extract(text: str, reference: str = "") -> Answer | None:
        match = find(text)
        if match is None or (value := clean(match[group])) is None:
            return None
        return Answer(match[group], value, match.span(group), how)

    return extract


def first_group(
    pattern: re.Pattern[str], how: str, needs: str = "", clean: Callable[[str], str] = str
) -> Extract:
    """Return an extraction of the first match of a pattern; needs: text that every match has."""
    return extraction(lambda text: pattern.search(text) if needs in text else None, how, clean)


def last_match_behind(
    literal: str, pattern: re.Pattern[str], text: str, any_case: bool = False
) -> re.Match[str] | None:
    """Return the last match of a pattern that begins with a literal and overlaps no other match.

    The same as `last_match`, but searched from the end. any_case: of the literal, in lower case.
    """
    searched, index = search.lowered(text) if any_case else text, len(text)
    while (index := searched.rfind(literal, 0, index)) >= 0:
        if match := pattern.match(text, index):
            return match
    return None


def last_group(
    pattern: re.Pattern[str], how: str, literal: str, clean: Callable[[str], str] = str
) -> Extract:
    """Return an extraction of the last match of a pattern that begins with a literal."""
    return extraction(partial(last_match_behind, literal, pattern), how, clean)


def last_number(
    pattern: re.Pattern[str],
    how: str = LAST_NUMBER,
    clean: Callable[[str], str | None] = str,
    before: str = "",
) -> Extract:
    """Return an extraction of the last match of a pattern that matches no white space.

    before: a mark with which a further question begins; only the text before it counts.
    """

    def find(text: str) -> tuple[str, str | None, int, int] | None:
        match = search.last_match(pattern, text)
        return None if match is None else (match[0], clean(match[0]), *match.span())

    in_text = search.in_last_word(pattern, find)
    how += f" before {before!r}" if before else ""

    def extract(text: str, reference: str = "") -> Answer | None:
        start, found = in_text(text.partition(before)[0] if before else text)
        number, value, first, end = found or ("", None, 0, 0)
        return None if value is None else Answer(number, value, (start + first, start + end), how)

    return extract


def first_of(*extractions: Extract) -> Extract:
    """Return an extraction by the first of several that finds an answer."""

    def extract(text: str, reference: str = "") -> Answer | None:
        for each in extractions:
            if (answer := each(text, reference)) is not None:
                return answer
        return None

    return extract


def gold_as(form: Callable[[str], str]) -> Reference:
    """Return a reference: the gold in a form."""
    return lambda problem: form(problem.gold)


def solution_as(form: Callable[[str], str]) -> Reference:
    """Return a reference: the solution in a form."""
    return lambda problem: form(problem.solution)


def read_from_solution(extract: Extract, failure: str = "") -> Reference:
    """Return a reference: what an extraction finds in the solution.

    If that is nothing, the reference is "", or raises ScorerFailure with the words of `failure`.
    """

    def reference(problem: Problem) -> str:
        answer = extract(problem.solution, "")
        if answer is None and failure:
            raise ScorerFailure(failure)
        return "" if answer is None else answer.value

    return reference


def equal_as(form: Callable[[str], str]) -> Callable[[str, str], bool]:
    """Return a comparison of two strings in a form."""
    return lambda value, reference: form(value) == form(reference)


# Without commas; a trailing period stays.
first_marked = first_group(MARKED, "the first '#### N'", HASH, without_commas)
last_marked = last_group(MARKED, "the last '#### N'", MARK, without_commas)


def whole_text(clean: Callable[[str], str] = str) -> Extract:
    """Return an extraction of the whole text without white space at its ends."""

    def extract(text: str, reference: str = "") -> Answer | None:
        value = text.strip()
        span = search.last_place(text, value)
        return Answer(value, clean(value), span, "the whole text") if value else None

    return extract


def normalized(number: str) -> str:
    """Return a number without commas, trailing periods and zero decimals, by way of a float.

    Raises ScorerFailure past the range of floats, where the published code overflows.
    """
    cleaned = number.strip().replace(",", "").rstrip(".")
    try:
        value = float(cleaned)
        return str(int(value)) if value == int(value) else cleaned
    except OverflowError as error:
        raise ScorerFailure(f"OverflowError: {error}") from error
    except ValueError:
        return cleaned


normalized_gold = gold_as(normalized)


def last_number_without_commas(pattern: re.Pattern[str]) -> Extract:
    """Return an extraction of the last match after commas between digits are removed.

    pattern: as for `last_number`. The span is that of the number as it is compared, None if the
    text contains it only with commas.
    """

    def find(text: str) -> str | None:
        match = search.last_match(pattern, COMMA.sub(r"\1\2", text) if "," in text else text)
        return None if match is None else match[0]

    in_text = search.in_last_word(pattern, find)

    def extract(text: str, reference: str = "") -> Answer | None:
        _, number = in_text(text)
        if number is None:
            return None
        span = search.last_place(text, number)
        return Answer(number, number, span, "the last number, commas removed")

    return extract


# MGSM as simple-evals and OpenCompass read it: no sign, so that -10 is read as 10.
UNSIGNED = re.compile(r"\d+\.?\d*")


def last_number_behind(label: str, text: str, reference: str = "") -> Answer | None:
    """Extract the last number after the last label, without commas and a period at its end."""
    start = text.rfind(label) if label[0] in text else -1
    if start < 0:
        return None
    match = search.last_match(UNSIGNED, text[start + len(label) :].replace(",", ""))
    if match is None:
        return None
    number = match.group().rstrip(".")
    place = text.rfind(number)  # -1 for a number written with a comma
    span = (place, place + len(number)) if place > start else None
    return Answer(number, number, span, f"the last number after the last {label!r}")


after_label = {
    language: partial(last_number_behind, words["label"]) for language, words in MGSM.items()
}


def compare_without_zeros(value: str, reference: str) -> bool:
    """Compare as simple-evals: as strings; zero decimals are cut off the answer only."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference


gold_as_it_is: Reference = attrgetter("gold")
gold_without_commas = gold_as(without_commas)
marked_gold = read_from_solution(first_marked, "AssertionError: the solution has no '#### N'")


def hash_gold(problem: Problem) -> str:
    """Return the text between the first two "####" of a solution, as verifiers reads it."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold


# OpenAI's release of GSM8K: its scorer, and how example_model_solutions.jsonl was flagged. Those
# solutions end in a last line "A: N", which the released extractor ignores.


def extract_answer(completion: str) -> str:
    """Return the official extraction of an answer: the first "#### N" without commas.

    Returns "[invalid]" if there is none. Keeps the official quirks: "#### 18." gives "18.",
    "#### $18" gives "[invalid]".
    """
    answer = first_marked(completion, "")
    return "[invalid]" if answer is None else answer.value


official_gold = solution_as(extract_answer)


def is_correct(model_completion: str, gt_example: Mapping[str, str] | Problem) -> bool:
    """Return whether a completion is right by the official scorer: extractions are equal strings.

    gt_example: a GSM8K row (its "answer" is the reference solution) or a Problem. Raises InputError
    for anything else, and for a solution without "#### N", as the official code asserts.
    """
    try:
        solution = gt_example["answer"]
    except (TypeError, LookupError):
        raise InputError(
            f"the reference is not a GSM8K row: {clip(repr(gt_example))}; give one, or call "
            "gradeschool.judge(completion, gold, scorer='openai/2021').correct"
        ) from None
    gold = extract_answer(solution)
    if gold == "[invalid]":
        raise InputError(f"the reference has no '#### N': {solution[-60:]!r}; give a GSM8K row")
    return extract_answer(model_completion) == gold


def extract_last_line(text: str, reference: str) -> Answer | None:
    """Extract the text after "A: " at the start of the last line."""
    start = text.rfind("\n") + 1
    if not text.startswith("A: ", start):
        return None
    answer, span = text[start + 3 :], (start + 3, len(text))
    return Answer(answer, answer.replace(",", ""), span, "the last line after 'A: '")


# ai-benchmarks. The character class has no comma: the gold "2,125" is read as "2".
first_hashes = first_group(re.compile(r"####\s*([\d\.\-]+)"), "the first '####' and a number", HASH)
first_hashes_gold = read_from_solution(first_hashes)

# HELM. The "." is not escaped upstream: "16-18" and "3:30" are one number. A lone comma matches.
NUMBER_LIKE = re.compile(r"-?[\d,]+(?:.\d+)?")
APART = re.compile(r"[^\d,-]{2}")  # in no number


def sentence_fields(problem: Problem) -> dict[str, str]:
    """Return the fields of a prompt: an example has its solution as a sentence."""
    return {"question": problem.question, "sentence": as_sentence(problem.solution)}


def as_sentence(solution: str) -> str:
    """Return a solution as the scenario writes it: one line that ends "The answer is N."."""
    return solution.replace("####", "The answer is").replace("\n", " ") + "."


def last_number_like(text: str) -> re.Match[str] | None:
    """Return the last match of NUMBER_LIKE, found from the last digit on if no number is cut."""
    start, match = search.last_number_start(text), None
    if APART.match(text, max(start - 2, 0)):
        match = search.last_match(NUMBER_LIKE, text, start)
    return match or search.last_match(NUMBER_LIKE, text)


# A run of only commas is no answer.
extract_final_number = extraction(
    last_number_like, LAST_NUMBER, lambda number: without_commas(number) or None, 0
)


def extract_last_token(text: str, reference: str) -> Answer | None:
    """Extract the text after the last space; a line break does not count as a space."""
    token = text.strip().rpartition(" ")[2].strip()
    span = search.last_place(text, token)
    return Answer(token, token, span, "what follows the last space") if token else None


# The references: what the two extractions find in the solution as a sentence.
final_number = read_from_solution(lambda text, _: extract_final_number(as_sentence(text), ""))
last_token = solution_as(lambda text: as_sentence(text).rpartition(" ")[2].strip())
compare_stripped = equal_as(str.strip)

# nanochat. The gold follows the last tool call of the solution.
TOOL_CALL = re.compile(r"<<[^>]+>>")


def first_marked_or_none(text: str, reference: str) -> Answer | None:
    """Extract the first "#### N"; no answer is correct if the solution has no "#### N" either."""
    answer = first_marked(text, reference)
    if answer is None and not reference:  # upstream: None == None
        return Answer("", "", None, "no '#### N', as in the solution")
    return answer


gold_behind_calls = read_from_solution(
    lambda solution, _: first_marked(TOOL_CALL.split(solution)[-1], "")
)


# The harnesses of AI2. OLMES: only decimals keep their sign; integers lose it, on both sides, as in
# older versions of the others.
OLMES_NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
SIGNED_NUMBER = re.compile(r"[-+]?\d*\.\d+|[-+]?\d+")
olmes_number = last_number_without_commas(OLMES_NUMBER)
signed_number = last_number_without_commas(SIGNED_NUMBER)


def extracted_gold(extract: Extract, problem: Problem) -> str:
    """Return the number that an extraction finds in the gold, else the gold unchanged."""
    answer = extract(problem.gold, "")
    return problem.gold if answer is None else answer.value


olmes_gold = partial(extracted_gold, olmes_number)
olmo_eval_gold = partial(extracted_gold, signed_number)


compare_exact_match = equal_as(lambda text: text.strip().lower())  # olmo-eval's ExactMatchScorer
compare_without_case = equal_as(str.lower)


def extract_open_instruct(text: str, reference: str) -> Answer | None:
    """Extract the last number; a text without one counts only if it is the whole gold."""
    answer = signed_number(text, reference)
    if answer is None and compare_without_case(text, reference):
        return Answer(text, text, (0, len(text)), "the whole text")
    return answer


# The continuous integration of vLLM and SGLang: the last run of digits after all commas are
# removed. A sign and the digits after a decimal point are lost, in the gold too.
MOST_DIGITS = 4300  # `ast.literal_eval` rejects longer integers (sys.set_int_max_str_digits)


def integer(digits: str) -> str | None:
    """Return an integer literal without commas, None if Python rejects it."""
    digits = digits.replace(",", "")
    if not digits.strip("0"):
        return "0"
    is_literal = digits.isascii() and digits[0] != "0" and len(digits) <= MOST_DIGITS
    return digits if is_literal else None


last_integer = last_number(re.compile(r"\d+(?:,+\d+)*"), "the last run of digits", integer)
solution_integer = read_from_solution(  # upstream asserts that every gold can be read
    last_integer, "the reference solution contains no integer literal"
)

# PAL compares what the program of a model returns. Nothing is executed here: the scorer extracts
# the last number of the text, such as the printed output of such a program.
pal_number = last_number(re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?"))


def pal_gold(problem: Problem) -> str:
    """Return the gold without commas. Raises ScorerFailure if it is not a number."""
    gold = gold_without_commas(problem)
    try:
        float(gold)
    except ValueError:
        raise ScorerFailure(f"no number: {problem.gold[:60]!r}") from None
    return gold


def compare_within_a_thousandth(value: str, reference: str) -> bool:
    """Compare as floats within a thousandth."""
    return abs(float(value.replace(",", "")) - float(reference)) < 1e-3


# lighteval's scorers that call no library, and the texts from which the others read the gold.
DRAW_SHUFFLED = draw_rows(42, shuffled=True)  # also lm-eval's
stripped_text = whole_text()
spaced_solution = solution_as(" {}".format)  # as it follows the prompt
stripped_gold = gold_as(lambda gold: without_commas(gold).strip())


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


# numeric-equality: the number after "ANSWER:", else the last number; equal once normalised.
ANSWER = re.compile(r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)")
GROUPED_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def last_behind_answer(pattern: re.Pattern[str], how: str) -> Extract:
    """Return an extraction of the last match that begins with "answer" in any case and has ":"."""

    def find(text: str) -> re.Match[str] | None:
        is_there = ":" in text and search.mentions_answer(text)
        return last_match_behind("answer", pattern, text, any_case=True) if is_there else None

    return extraction(find, how, normalized)


extract_labelled = first_of(
    last_behind_answer(ANSWER, "the last 'ANSWER: N'"),
    last_number(GROUPED_NUMBER, clean=normalized),
)


def numeric_gold(problem: Problem) -> str:
    """Return the gold, normalised; raises ScorerFailure for a gold that is not a number."""
    gold = normalized_gold(problem)
    if parse_decimal(gold) is None:
        raise ScorerFailure(f"{clip(problem.gold)!r} is not a number")
    return gold


# multi-pattern: five patterns in order, the last match of the first that matches, as documented,
# faults included; `gradeschool.parse_gsm8k_answer` is the corrected form.
HASHES = re.compile(r"####\s*([\d,.\-]+)")
BOXED = re.compile(r"\\boxed\{([^}]+)\}")
ANSWER_IS = re.compile(r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)")
ANSWER_COLON = re.compile(r"(?i)answer\s*:\s*\$?([\d,.\-]+)")
LOOSE_NUMBER = re.compile(r"(-?[\d,]+\.?\d*)")
extract_by_patterns = first_of(
    last_group(HASHES, "the last '#### N'", "####", normalized),
    extraction(  # each box has its end: the search is linear
        lambda text: search.last_match(BOXED, text[: text.rfind("}") + 1]),
        r"the last \boxed{}",
        normalized,
    ),
    extraction(
        lambda text: search.last_match(ANSWER_IS, text) if search.mentions_answer(text) else None,
        "the last 'the answer is N'",
        normalized,
    ),
    last_behind_answer(ANSWER_COLON, "the last 'answer: N'"),
    last_number(LOOSE_NUMBER, clean=normalized),
)


def compare_within_a_millionth(value: str, reference: str) -> bool:
    """Compare as strings, then as floats within 1e-6."""
    try:
        return value == reference or abs(float(value) - float(reference)) < 1e-6
    except ValueError:
        return False


# ProcessBench (Zheng et al. 2024): a critic boxes the first wrong step of a solution.
BOX = "\\boxed{"  # it ends at the first brace: \\boxed\{([^}]*)\}


def extract_critic_box(text: str, reference: str = "") -> Answer | None:
    """Extract the content of the last box, without outer spaces."""
    span, end = None, -1
    while (start := text.find(BOX, end + 1)) >= 0:
        inside = start + len(BOX)
        end = text.find("}", inside)
        if end < 0:  # upstream's regular expression is quadratic here, and finds nothing
            break
        span = (inside, end)
    if span is None:
        return None
    content = text[slice(*span)]
    return Answer(content, content.strip(), span, "the last box")


def parse_index(value: str) -> int | None:
    """Return the integer in a box as Python's int() parses it, None if it is not an integer."""
    try:
        return int(value)
    except ValueError:
        return None


def compare_indices(value: str, reference: str) -> bool:
    """Compare as integers."""
    return parse_index(value) == parse_index(reference) is not None
