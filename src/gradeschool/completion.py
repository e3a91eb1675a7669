"""The request to a model and its result: decoding, prompt, completion."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

# Fields of a request by which vLLM and llama.cpp continue the last message of a chat.
CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
# Types of a content part that is the reply; others are thinking, images or calls of tools.
TEXT_PARTS = (None, "text", "output_text")


@dataclass(frozen=True, slots=True)
class Decoding:
    """The decoding settings of a request.

    temperature: 0 is greedy. top_p: nucleus mass. max_tokens: maximum length of the completion,
    None for the server's default. stop: strings that end the completion (not part of it). seed:
    sent only if set; sample i of a problem is requested with seed + i.
    """

    temperature: float | None = 0.0
    top_p: float | None = 1.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None


class Message(NamedTuple):
    """One turn of a chat; role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt: either one text (completion form) or messages (chat form).

    prefix: the start of the assistant's answer, which the model must continue; it is sent as a
    trailing assistant message with `continue_final_message`, and is not part of the completion.
    """

    text: str | None = None
    messages: tuple[Message, ...] = ()
    prefix: str | None = None

    @property
    def is_chat(self) -> bool:
        """True if the prompt is a list of messages."""
        return self.text is None

    def as_messages(self) -> list[dict[str, str]]:
        """Return the messages of a chat as they are sent; a prefix is the last of them."""
        turns = [message._asdict() for message in self.messages]
        if self.prefix is not None:
            turns.append({"role": "assistant", "content": self.prefix})
        return turns


def completion_text(completion: object) -> str | None:
    """Return a completion's text: itself, or that of the last assistant's message of a chat.

    Returns None if it is neither a text nor messages, or has no assistant message.
    """
    if isinstance(completion, list | tuple):
        roles = [_field(turn, "role") for turn in completion]
        role = "assistant" if "assistant" in roles else None
        turns = [turn for turn, each in zip(completion, roles, strict=True) if each == role]
        if completion and not turns:
            return None  # no message is from the model
        completion = turns[-1] if turns else ""
    if isinstance(completion, str):
        return completion
    if completion is None:
        return ""
    content = _field(completion, "content")
    if isinstance(content, list | tuple):
        texts = (_field(part, "text") for part in content if _field(part, "type") in TEXT_PARTS)
        return "".join(text for text in texts if isinstance(text, str))
    if content is None and _field(completion, "role") is not None:
        return ""
    return content if isinstance(content, str) else None


def _field(message: object, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def cut_at(text: str, stops: Iterable[str]) -> str:
    """Return a text up to the first stop string in it."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places)] if places else text


class Finish(StrEnum):
    """Why the model stopped: end token or stop string, length limit, content filter, or unknown."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "content_filter"
    UNKNOWN = "unknown"


# The finish reasons of servers, engines and logs, in lower case.
FINISH_REASONS = {
    reason: finish
    for finish, reasons in (
        (Finish.STOP, "stop eos eos_token end_turn stop_sequence stop_token complete"),
        (Finish.LENGTH, "length max_tokens model_length max_length max_output_tokens "
         "model_context_window_exceeded"),
        (Finish.FILTER, "content_filter"),
    )
    for reason in reasons.split()
}  # fmt: skip


def finish_of(reason: object) -> Finish:
    """Return the `Finish` for a finish reason in any tool's words, UNKNOWN for all others."""
    return FINISH_REASONS.get(str(reason).lower(), Finish.UNKNOWN)


class Usage(NamedTuple):
    """Token counts reported by the server; None if it did not report them.

    reasoning_tokens: those of the completion tokens that are thinking.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Completion:
    """The completion of one model for one sample of one problem.

    key: identity of the request (see `gradeschool.runs.job`), "" for imported completions.
    sample: 0-based index among the samples of the same problem.
    text: the answer alone: no prompt, no prefix, no stop string. reasoning: thinking that the
    server returned separately. error: why there is no completion ("" if there is one); an error is
    never scored as a wrong answer. run: the name under which results are grouped. requests: the
    number of requests it took. latency: seconds from the request to its answer, retries left out;
    None if it is not known.
    """

    key: str
    problem_id: str
    sample: int
    text: str
    finish: Finish = Finish.UNKNOWN
    usage: Usage = NO_USAGE
    model: str = ""
    reasoning: str = ""
    error: str = ""
    run: str = ""
    deviations: tuple[str, ...] = ()
    requests: int = 1
    latency: float | None = None

    @property
    def cause(self) -> str:
        """The cause of an error, the words before its colon: "http 400"."""
        return self.error.partition(":")[0]


# Why a completion is empty although the model wrote something, and what to do about it. The causes
# are among the deviations of a completion.
IN_THINKING = "no answer: the limit was reached while thinking"
IN_REASONING = "no answer: all text is in the reasoning field"
CUT_BY_STOP = "no answer: a stop string cut all of the text"
ENDED_AT_ONCE = "no answer: the model ended its turn at once"
REMEDIES = {
    IN_THINKING: "give a larger --max-tokens if the server allows so many, a lower "
    "--reasoning-effort, or --thinking off",
    IN_REASONING: "give --thinking off, or start the server without its reasoning parser",
    CUT_BY_STOP: 'give other stop strings with --stop, or --stop "" for none',
    ENDED_AT_ONCE: "give a chat protocol for a chat model, a completion protocol for a base model; "
    "`gradeschool doctor` checks the chat template",
}


def empty_cause(completion: Completion) -> tuple[str, str] | None:
    """Return why a stored completion is empty and what to do, None if it is not or unknown."""
    return next(
        ((cause, REMEDIES[cause]) for cause in completion.deviations if cause in REMEDIES), None
    )
