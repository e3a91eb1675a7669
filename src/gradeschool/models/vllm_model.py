"""`vllm/PATH_OR_ID`: vLLM's offline engine."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding, Usage
from gradeschool.errors import ModelError
from gradeschool.formats.samples import finish_of
from gradeschool.models.base import Reply, Request, Results
from gradeschool.models.local import DEFAULT_TOKENS, LocalModel, fits, tokens_of, too_long

# vLLM schedules by itself; so many requests keep a GPU busy, and their answers come together.
ROWS = 512
# By name: the engine runs in a process of its own.
CALCULATOR = "gradeschool.models.vllm_calculator:Calculator"


class VllmModel(LocalModel):
    """A causal language model under vLLM; bfloat16 on a GPU, float32 on a CPU."""

    def __init__(self, spec: str, calculator: bool = False) -> None:
        super().__init__(spec, "vllm", ("vllm",), "vllm", partial(load, calculator), calculator)


def load(calculator: bool, folder: Path) -> VllmEngine:
    """Load a model from a folder; code that comes with it is not run.

    `generation_config="vllm"`: nothing is taken from the model's own sampling defaults.
    """
    import torch
    from vllm import LLM

    number = "bfloat16" if torch.cuda.is_available() else "float32"
    processors = [CALCULATOR] if calculator else None
    return VllmEngine(
        LLM(
            model=str(folder),
            dtype=number,
            generation_config="vllm",
            trust_remote_code=False,
            logits_processors=processors,
        )
    )


class VllmEngine:
    """A loaded model. Each request has its own parameters, so all go together."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.tokenizer = engine.get_tokenizer()
        self.positions = int(engine.llm_engine.model_config.max_model_len)

    def write(self, requests: Sequence[Request]) -> Generator[Results, None, None]:
        """Yield the results of some hundred requests at a time."""
        for start in range(0, len(requests), ROWS):
            chunk = requests[start : start + ROWS]
            yield list(zip(chunk, self._generate(chunk), strict=True))

    def _generate(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Return the reply to each request, or why there is none."""
        results: list[Reply | ModelError] = []
        fitting = []
        for index, request in enumerate(requests):
            limit = request.decoding.max_tokens or DEFAULT_TOKENS
            try:
                ids = tokens_of(self.tokenizer, request.prompt)
            except ModelError as error:
                results.append(error)
                continue
            results.append(too_long(len(ids), limit, self.positions))
            if fits(len(ids), limit, self.positions):
                tokens = min(limit, self.positions - len(ids))
                fitting.append((index, ids, parameters(request.decoding, request.sample, tokens)))
        if fitting:
            prompts = [{"prompt_token_ids": ids} for _, ids, _ in fitting]
            settings = [sampling for *_, sampling in fitting]
            outputs = self.engine.generate(prompts, settings, use_tqdm=False)
            for (index, ids, _), output in zip(fitting, outputs, strict=True):
                written = output.outputs[0]
                usage = Usage(len(ids), len(written.token_ids))
                results[index] = Reply(written.text, finish_of(written.finish_reason), usage)
        return results


def parameters(decoding: Decoding, sample: int, limit: int) -> Any:
    """Return vLLM's sampling parameters; what the protocol does not set is neutral."""
    from vllm import SamplingParams

    return SamplingParams(
        temperature=1.0 if decoding.temperature is None else decoding.temperature,
        top_p=1.0 if decoding.top_p is None else decoding.top_p,
        top_k=0,
        min_p=0.0,
        repetition_penalty=1.0,
        max_tokens=limit,
        stop=list(decoding.stop) or None,
        seed=None if decoding.seed is None else decoding.seed + sample,
    )
