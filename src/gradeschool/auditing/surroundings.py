"""What stands around the answer of a completion: it must neither hide a right nor make a wrong one.

Every text says one thing to a careful reader: text behind a further question is not the answer,
a later revision is, thoughts and examples are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gradeschool.auditing.golds import plus
from gradeschool.auditing.kinds import Kind
from gradeschool.auditing.styles import BARE, Style

LEAD = "First she fills 3 boxes. Then she fills 4 more, so 3 + 4 = 7 boxes are full.\n"
TAIL = " She is happy with the result and tells all her friends about it." * 8
AGAIN = "\nWait, that is not right. I forgot the last step. Let me do it again.\n"
QUESTION = "Tom has 2 cats. He buys 2 more. How many cats does he have?"
RUN_ONS = (
    f"\n\nQuestion: {QUESTION}\nAnswer: 2 + 2 = 4\n",
    f"\n\nQ: {QUESTION}\nA: 2 + 2 = 4\n",
    f"<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n",
    f"\n\nUser: {QUESTION}\nAssistant: 2 + 2 = 4\n",
)
ENDS = ("<|im_end|>", "</s>", "<|eot_id|>", "<|endoftext|>", "\n\nQuestion:")
REMARKS = ("I hope this helps!", "This uses up 3 of her boxes.", "(That is step 2 of 2.)")

Around = Callable[[str], Iterable[str]]


def _unlike(gold: str) -> str:
    """Return a number that is not the gold, nor part of it."""
    return plus(gold, 3)


def _about(make: Around) -> Callable[[Style, str], Iterable[str]]:
    """Surround the plain completion."""
    return lambda style, gold: make(style.write(gold))


def _spaced(text: str) -> Iterable[str]:
    windows = f"{LEAD}{text}".replace("\n", "\r\n")
    return [f"{text} \n", f"\n\n {text}", f"{text}\n\n\n\n", f"\t{text}", windows]


def _run_ons(style: Style, gold: str) -> Iterator[str]:
    for between in RUN_ONS:
        yield f"{style.write(gold)}{between}{style.write('4')}"


def _thoughts(style: Style, gold: str) -> Iterator[str]:
    if "<think>" not in style.shape:
        other = _unlike(gold)
        yield f"<think>Maybe it is {other}. No.</think>\n{style.write(gold)}"
        yield f"<think>\n{style.write(other)}\nHmm, wait.\n</think>\n\n{style.write(gold)}"


def _revised(style: Style, gold: str) -> Iterator[str]:
    yield f"{style.write(_unlike(gold))}{AGAIN}{style.write(gold)}"


def _remarks(style: Style, gold: str) -> Iterator[str]:
    for remark in REMARKS[: 1 if style is BARE else None]:  # a bare number is not announced
        yield f"{style.write(gold)}\n{remark}"


def _marks(text: str) -> Iterable[str]:
    return [f"\ufeff{text}", f"{text}\u200b", f"{text}\u200e"]


def _steps(text: str) -> Iterable[str]:
    listed = f"1. Fill 3 boxes.\n2. Fill 4 more: 3 + 4 = 7.\n\n{text}"
    return [f"{LEAD}{text}", listed, f"3 + 4 = <<3+4=7>>7\n{text}"]


AROUND_RIGHT = (
    Kind("white space", True, "white space is no part of an answer", _about(_spaced)),
    Kind("reasoning before", True, "the answer comes after the reasoning", _about(_steps)),
    Kind("said twice", True, "the same answer is given twice",
         _about(lambda text: [f"{text}\n{text}"])),
    Kind("run-on question", True, "what the model asks itself next is another question", _run_ons),
    Kind("end marks", True, "marks of the chat format are no part of an answer",
         _about(lambda text: [f"{text}{end}" for end in ENDS])),
    Kind("thinking", True, "thoughts are not the answer, what stands behind them is", _thoughts),
    Kind("revision", True, "a revised answer replaces the first one", _revised),
    Kind("remark behind", True, "a remark behind the answer does not change it", _remarks),
    Kind("long remark behind", True, "an answer may stand far from the end",
         _about(lambda text: [f"{text}\n{TAIL.strip()}"])),
    Kind("invisible marks", True, "marks that nobody sees are no part of an answer",
         _about(_marks)),
)  # fmt: skip


def _plural(gold: str) -> bool:
    """Tell whether there can be so many boxes."""
    return not gold.startswith("-") and gold not in ("0", "1")


def _gold_before(style: Style, gold: str) -> Iterator[str]:
    other = style.write(_unlike(gold))
    if _plural(gold):
        yield f"There are {gold} boxes in the room.\n{other}"
    yield f"<think>Is it {gold}?</think>\n{other}"


def _gold_revised(style: Style, gold: str) -> Iterator[str]:
    yield f"{style.write(gold)}{AGAIN}{style.write(_unlike(gold))}"


def _gold_behind(style: Style, gold: str) -> Iterator[str]:
    if style is not BARE and _plural(gold):
        yield f"{style.write(_unlike(gold))}\nThis uses up {gold} of her boxes."


def _gold_in_run_on(style: Style, gold: str) -> Iterator[str]:
    for between in RUN_ONS:
        yield f"{style.write(_unlike(gold))}{between}{style.write(gold)}"


def _unfinished(style: Style, gold: str) -> Iterator[str]:
    if style is BARE and _plural(gold):
        yield f"She has {gold} boxes. She fills each of them with"
        yield f"<think>There are {gold} boxes. Each of them holds some, so we have to"


def _refused(style: Style, gold: str) -> Iterator[str]:
    if style is BARE and _plural(gold):
        yield f"I am sorry, but I cannot tell how many of the {gold} boxes are full."
        yield f"The question gives the number {gold}, but not what is asked for."


AROUND_WRONG = (
    Kind("gold in the reasoning", False, "the gold is a number on the way, the answer is another",
         _gold_before),
    Kind("gold revised away", False, "the gold is given first, and then taken back",
         _gold_revised),
    Kind("gold in a remark behind", False, "the answer is another number, the gold follows it",
         _gold_behind),
    Kind("gold in a run-on question", False, "the gold answers a question that was not asked",
         _gold_in_run_on),
    Kind("cut off", False, "the text ends before an answer; the gold is a number on the way",
         _unfinished),
    Kind("no answer given", False, "no answer is given; the gold is a number of the question",
         _refused),
)  # fmt: skip
UNREADABLE_GOLD = Kind(
    "gold that is no number", False, "nothing is equal to a gold that cannot be read",
    lambda style, gold: [style.write("18"), style.write("0")],
    loose=True,
)  # fmt: skip
