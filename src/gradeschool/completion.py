"""What is sent to a model and what comes back: decoding, prompt, completion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a model is asked to write.

    temperature: 0 is greedy. top_p: nucleus mass. max_tokens: length limit of the completion, None
    for the server's own. stop: strings that end it (not part of the completion). seed: only sent
    where given; sample i of a problem is asked with seed + i.
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
    trailing assistant message with `continue_final_message`, and is no part of the completion.
    """

    text: str | None = None
    messages: tuple[Message, ...] = ()
    prefix: str | None = None

    @property
    def is_chat(self) -> bool:
        """Whether the prompt is a list of messages."""
        return self.text is None


class Finish(StrEnum):
    """Why the model stopped: by itself or at a stop string, at the limit, filtered, or unknown."""

    STOP = "stop"
    LENGTH = "length"
    FILTER = "content_filter"
    UNKNOWN = "unknown"


class Usage(NamedTuple):
    """Tokens that the server counted; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Completion:
    """What one model wrote for one sample of one problem.

    key: identity of the request (see `gradeschool.runs.plan`), "" for imported completions.
    sample: 0-based number among the samples of the same problem.
    text: the answer alone: no prompt, no prefix, no stop string. reasoning: thinking that the
    server returned apart from the answer. error: why there is no completion ("" where there is);
    an error is never scored as a wrong answer. run: the name under which results are grouped.
    requests: how many it took. logprob: the sum of the natural log-probabilities of its
    `usage.completion_tokens` tokens, the end token and those that a calculator forced included,
    under the model itself: at temperature 1, without top-p. None where it is not known.
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
    logprob: float | None = None
