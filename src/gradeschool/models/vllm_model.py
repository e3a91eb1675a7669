"""`vllm/PATH_OR_ID`: vLLM's offline engine."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding, Usage, finish_of
from gradeschool.errors import InputError, ModelError
from gradeschool.machine import best_device
from gradeschool.models.base import Reply, Request, Results, Take
from gradeschool.models.local import DEFAULT_TOKENS, LocalModel, encode_prompt, fits, too_long

# vLLM forms batches itself and takes a new request when another ends; this many are queued.
AHEAD = 4096
# Arguments of the engine that the user cannot set.
SET_HERE = {"model", "tokenizer", "generation_config", "trust_remote_code", "logits_processors"}
# By name: the engine runs in its own process.
CALCULATOR = "gradeschool.models.vllm_calculator:Calculator"


class VllmModel(LocalModel):
    """A causal language model under vLLM; bfloat16 on a GPU, float32 on a CPU."""

    def __init__(
        self,
        spec: str,
        calculator: bool = False,
        arguments: Mapping[str, Any] | None = None,
        thinking: bool | None = None,
    ) -> None:
        given = dict(arguments or {})
        if taken := given.keys() & SET_HERE:
            raise InputError(
                f"--engine-args {', '.join(sorted(taken))} is set by eval; leave it out"
            )
        starts = partial(load, calculator, arguments=given, thinking=thinking)
        super().__init__(spec, "vllm", ("vllm",), "vllm", starts, calculator, thinking)
        if given:
            self.identity += f" with {json.dumps(given, sort_keys=True)}"


def load(
    calculator: bool,
    folder: Path,
    arguments: Mapping[str, Any] | None = None,
    thinking: bool | None = None,
) -> VllmEngine:
    """Load a model from a folder; code in the folder is not run.

    `generation_config="vllm"` ignores the model's own sampling defaults. On a CPU nothing is
    compiled: that takes minutes before the first request.
    """
    from vllm import LLM

    device = best_device()
    processors = [CALCULATOR] if calculator else None
    dtype = "bfloat16" if device == "cuda" else "float32"
    usual = {"dtype": dtype, "enforce_eager": device == "cpu", **(arguments or {})}
    return VllmEngine(
        LLM(
            model=str(folder),
            generation_config="vllm",
            trust_remote_code=False,
            logits_processors=processors,
            **usual,
        ),
        thinking,
    )


class VllmEngine:
    """A loaded model. Each request has its own parameters, so all can be sent together."""

    def __init__(self, engine: Any, thinking: bool | None = None) -> None:
        self.engine, self.thinking = engine, thinking
        self.tokenizer = engine.get_tokenizer()
        self.positions = int(engine.llm_engine.model_config.max_model_len)

    def write(self, take: Take) -> Generator[Results, None, None]:
        """Yield results as requests end; the engine always has up to `AHEAD` requests."""
        engine = self.engine.llm_engine
        number = 0
        running: dict[str, tuple[Request, int]] = {}  # with the number of tokens of the prompt
        try:
            while True:
                refused: Results = []
                for request in take(AHEAD - len(running)):
                    number += 1
                    result = self._begin(f"{id(running)}-{number}", request)
                    if isinstance(result, int):
                        running[f"{id(running)}-{number}"] = (request, result)
                    else:
                        refused.append((request, result))
                if refused:
                    yield refused
                elif not running:
                    return
                ended = [output for output in engine.step() if output.finished] if running else []
                yield [_result(*running.pop(output.request_id), output) for output in ended]
        finally:
            if running:
                engine.abort_request(list(running))

    def _begin(self, name: str, request: Request) -> int | Reply | ModelError:
        """Send a request to the engine; return its number of prompt tokens, or the error."""
        limit = request.decoding.max_tokens or DEFAULT_TOKENS
        try:
            ids = encode_prompt(self.tokenizer, request.prompt, self.thinking)
        except ModelError as error:
            return error
        if not fits(len(ids), limit, self.positions):
            return too_long(len(ids), limit, self.positions)
        tokens = min(limit, self.positions - len(ids))
        sampling = parameters(request.decoding, request.sample, tokens)
        self.engine.llm_engine.add_request(name, {"prompt_token_ids": ids}, sampling)
        return len(ids)


def _result(request: Request, prompt_tokens: int, output: Any) -> tuple[Request, Reply]:
    written = output.outputs[0]
    usage = Usage(prompt_tokens, len(written.token_ids))
    return request, Reply(written.text, finish_of(written.finish_reason), usage)


def parameters(decoding: Decoding, sample: int, limit: int) -> Any:
    """Return vLLM's sampling parameters; settings that the protocol leaves out are neutral."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        temperature=1.0 if decoding.temperature is None else decoding.temperature,
        top_p=1.0 if decoding.top_p is None else decoding.top_p,
        top_k=0,
        min_p=0.0,
        repetition_penalty=1.0,
        max_tokens=limit,
        stop=list(decoding.stop) or None,
        seed=None if decoding.seed is None else decoding.seed + sample,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )
