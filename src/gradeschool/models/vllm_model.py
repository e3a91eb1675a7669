"""`vllm/PATH_OR_ID`: vLLM's offline engine."""

import json
import os
from collections.abc import Generator, Mapping
from typing import Any

from gradeschool.completion import Usage, finish_of
from gradeschool.errors import InputError, ModelError
from gradeschool.models import local
from gradeschool.models.base import Reply, Request
from gradeschool.models.local import LocalModel, Results, Take

# vLLM forms batches itself and takes a new request when another ends; this many are queued.
AHEAD = 4096
# Arguments of the engine that the user cannot set.
SET_HERE = {"model", "tokenizer", "generation_config", "trust_remote_code", "logits_processors"}
# By name: the engine runs in its own process.
CALCULATOR = "gradeschool.models.vllm_calculator:Calculator"


class VllmModel(LocalModel):
    """A causal language model under vLLM; bfloat16 on a GPU, float32 on a CPU.

    Each request has its own parameters, so all can be sent together. arguments: of vLLM's `LLM`.
    """

    library = "vllm"

    def __init__(self, spec: str, calculator: bool, options: Mapping[str, Any]) -> None:
        self.arguments = dict(options.get("engine_args", {}))
        if taken := self.arguments.keys() & SET_HERE:
            raise InputError(f"--engine-args {min(taken)} is set by eval; leave it out")
        super().__init__(spec, calculator, options)
        if self.arguments:
            self.identity += f" with {json.dumps(self.arguments, sort_keys=True)}"

    def load(self) -> None:
        """Load the folder's model; code in the folder is not run.

        `generation_config="vllm"` ignores the model's own sampling defaults. On a CPU nothing is
        compiled: that takes minutes before the first request.
        """
        if self.calculator:  # a processor for the first of vLLM's model runners
            os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"
        from vllm import LLM

        on_gpu = local.best_device() == "cuda"
        settings = {
            "dtype": "bfloat16" if on_gpu else "float32",
            "enforce_eager": not on_gpu,
            **self.arguments,
            "generation_config": "vllm",
            "trust_remote_code": False,
            "logits_processors": [CALCULATOR] if self.calculator else None,
        }
        llm = LLM(model=str(self.folder), **settings)
        self.engine, self.tokenizer = llm.llm_engine, llm.get_tokenizer()
        self.positions = int(self.engine.model_config.max_model_len)

    def write(self, take: Take) -> Generator[Results, None, None]:
        """Yield results as requests end; the engine always has up to `AHEAD` requests.

        Settings that the protocol leaves out are neutral.
        """
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        number = 0
        running: dict[str, tuple[Request, int]] = {}  # with the number of tokens of the prompt
        try:
            while True:
                ended: Results = []
                for request in take(AHEAD - len(running)):
                    decoding = request.decoding
                    try:
                        ids = local.encode_prompt(self.tokenizer, request.prompt, self.thinking)
                        limit = local.room_for(len(ids), decoding.max_tokens, self.positions)
                    except ModelError as error:
                        ended.append((request, error))
                        continue
                    sampling = SamplingParams(
                        temperature=1.0 if decoding.temperature is None else decoding.temperature,
                        top_p=1.0 if decoding.top_p is None else decoding.top_p,
                        top_k=0,
                        min_p=0.0,
                        repetition_penalty=1.0,
                        max_tokens=limit,
                        stop=list(decoding.stop) or None,
                        seed=None if decoding.seed is None else decoding.seed + request.sample,
                        output_kind=RequestOutputKind.FINAL_ONLY,
                    )
                    number += 1
                    name = f"{id(running)}-{number}"
                    self.engine.add_request(name, {"prompt_token_ids": ids}, sampling)
                    running[name] = (request, len(ids))
                if not ended and not running:
                    return
                for output in self.engine.step() if running else ():
                    if output.finished:
                        request, tokens = running.pop(output.request_id)
                        written = output.outputs[0]
                        usage = Usage(tokens, len(written.token_ids))
                        reply = Reply(written.text, finish_of(written.finish_reason), usage)
                        ended.append((request, reply))
                yield ended
        finally:
            if running:
                self.engine.abort_request(list(running))
