"""`llama.cpp/FILE.gguf` and `tiny`: llama.cpp in this process, as a server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from gradeschool.errors import GradeschoolError, InputError, MissingExtraError
from gradeschool.machine import cores
from gradeschool.models.chat_template import check_template, check_thinking, template_in
from gradeschool.models.endpoint import NO_OPTIONS, TOTAL_SECONDS, Endpoint
from gradeschool.models.gguf_file import TINY_FILE, gguf_digest

HOST = "127.0.0.1"
MODEL_NAME = "model"
# Number of concurrent sequences, and the maximum number of tokens in each.
SLOTS, SLOT_TOKENS = 8, 4096
# Cache and attention settings; recorded in run.json, because llama-server's defaults differ.
KV_CACHE, FLASH_ATTENTION = "F32", "off"
SMALL_BYTES = 2**28
# Of --engine-args: tokens of each sequence, threads, layers on the GPU.
ENGINE_ARGUMENTS = ("context", "threads", "gpu_layers")


class LlamaCppModel(Endpoint):
    """A GGUF file that llama.cpp runs in this process; the server ends with the run.

    Cache and attention are in single precision. In llama-server's half precision, one greedy text
    in a hundred differs from the text that transformers writes with the same weights. Raises
    InputError if the file is not a GGUF file, MissingExtraError if llama.cpp (the package
    xllamacpp) is not installed, GradeschoolError if the system lacks a library that it needs.
    """

    def __init__(
        self,
        file: Path,
        name: str = "",
        seconds: float = TOTAL_SECONDS,
        options: Mapping[str, Any] = NO_OPTIONS,
        calculator: bool = False,
    ) -> None:
        try:
            import xllamacpp  # noqa: F401
        except ModuleNotFoundError:
            feature = "a model run by llama.cpp (xllamacpp)"
            raise MissingExtraError(feature, "llama-cpp") from None
        except ImportError as error:
            raise GradeschoolError(
                f"llama.cpp cannot be loaded: {error}; install the library of the system that it "
                "names, libgomp.so.1 on Debian and Ubuntu by: apt-get install libgomp1"
            ) from error
        super().__init__(f"http://{HOST}/v1", MODEL_NAME, "", seconds, options, calculator)
        self.arguments = dict(options.get("engine_args", {}))
        for argument, value in self.arguments.items():
            if argument not in ENGINE_ARGUMENTS or type(value) is not int:
                raise InputError(
                    f"--engine-args {argument}={value!r}: llama.cpp takes whole numbers of "
                    f"{', '.join(ENGINE_ARGUMENTS)}"
                )
        self.file = file
        name = name or file.stem
        # Without the address, which is another each time.
        self._describe(name, f"llama.cpp/{name} {gguf_digest(file)}")
        if options.get("thinking") is not None:
            check_thinking(template_in(file), name)
        self._server: Any = None

    async def facts(self) -> dict[str, str]:
        """Return the facts of the engine, and the precision of the weights."""
        from importlib.metadata import version

        return {
            **await super().facts(),
            "version": f"xllamacpp {version('xllamacpp')}",
            "kv_cache": KV_CACHE,
            "flash_attention": FLASH_ATTENTION,
        }

    async def __aenter__(self) -> Self:
        """Load the model and start its server."""
        self._server = await asyncio.to_thread(serve, self.file, self.arguments)
        self.base = f"{self._server.listening_address}/v1"
        await super().__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections and end the server."""
        await super().__aexit__(*exc)
        self._server = None  # ends the server


def serve(file: Path, arguments: Mapping[str, int] = NO_OPTIONS) -> Any:
    """Return a llama.cpp server in this process; it ends with the last reference to it.

    arguments: see ENGINE_ARGUMENTS. Raises InputError if the file cannot be loaded, or if its chat
    template could hang the process.
    """
    if file != TINY_FILE:
        check_template(file)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {MODEL_NAME}
    params.hostnames, params.port = [HOST], 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * arguments.get("context", SLOT_TOKENS)
    # One thread for a small model, because llama.cpp's threads spin.
    threads = arguments.get("threads") or (cores() if file.stat().st_size > SMALL_BYTES else 1)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    if "gpu_layers" in arguments:
        params.n_gpu_layers = arguments["gpu_layers"]
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    cache = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{KV_CACHE}")
    params.cache_type_k = params.cache_type_v = cache
    params.ui, params.warmup, params.verbosity = False, False, -1
    params.endpoint_metrics = True
    try:
        server = xllamacpp.Server(params)
        # Answered by the server's loop: a server that is stopped before its loop begins never ends.
        server.handle_metrics()
        return server
    except (RuntimeError, ValueError) as error:
        raise InputError(f"llama.cpp cannot load {str(file)!r}: {error}") from error
