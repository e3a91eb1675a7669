"""The shipped model as files of Hugging Face and of llama.cpp, and a real llama.cpp server."""

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

GGUF_NAME = "tiny.gguf"
POSITIONS = 4096
MODEL_NAME = "tiny"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
SLOTS = 8
CONTEXT = 32768  # 4096 per slot: a 5-shot GSM8K prompt takes 1050 to 2000 tokens, 8 shots 2700
# Settings for chat models: llama.cpp's defaults, or single precision without flash attention.
DEFAULTS, SINGLE = "defaults", "single"
START_SECONDS, STOP_SECONDS, POLL_SECONDS = 30.0, 5.0, 0.02


@contextmanager
def llama_server(
    gguf: Path, *, slots: int = SLOTS, context: int = CONTEXT, settings: str = ""
) -> Iterator[str]:
    """Serve a model in its own process for the block; yields `http://127.0.0.1:PORT/v1`.

    Each of the `slots` takes prompts and answers of `context // slots` tokens together. settings:
    DEFAULTS or SINGLE for a chat model's own template; by default TINY's template in single
    precision. Raises RuntimeError if it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="llama-server-") as name:
        address, log = Path(name) / "address", Path(name) / "log"
        words = [gguf, address, slots, context, settings]
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, __file__, *map(str, words)],
                stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            deadline = time.monotonic() + START_SECONDS
            while not (address.is_file() and _is_healthy(address.read_text())):
                if process.poll() is not None or time.monotonic() > deadline:
                    tail = log.read_text("utf-8", "replace")[-2000:]
                    raise RuntimeError(f"llama.cpp did not start:\n{tail}")
                time.sleep(POLL_SECONDS)
            yield f"{address.read_text()}/v1"
        finally:
            assert process.stdin
            process.stdin.close()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _is_healthy(address: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _serve(gguf: str, address: Path, slots: int, context: int, settings: str) -> None:
    """Serve until standard input ends, which also happens when the parent dies."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx = slots, context
    if not settings:
        params.model_alias = {MODEL_NAME}
        params.chat_template = CHAT_TEMPLATE
    # More threads would compete with other processes on a small machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # Half precision, in the cache or in flash attention, changes log-probabilities by 1e-3 and one
    # greedy text in a hundred; without both, they equal Transformers' to 1e-5.
    if settings != DEFAULTS:
        flash = xllamacpp.llama_flash_attn_type
        params.flash_attn_type = flash.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.warmup = False
    server = xllamacpp.Server(params)
    unfinished = address.with_suffix(".part")
    unfinished.write_text(server.listening_address)
    unfinished.rename(address)
    sys.stdin.buffer.read()
    del server


def write_tiny_model(folder: Path) -> None:
    """Write the shipped model as transformers stores it and as GGUF, with 4,096 positions."""
    from tokenizers import Tokenizer
    from transformers import (
        AutoModelForCausalLM,
        AutoTokenizer,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    from gradeschool.models.llama_cpp import TINY_FILE, TINY_FOLDER
    from gradeschool.verifier.networks import write_gguf

    shipped = {"gguf_file": TINY_FILE.name}
    read: Any = AutoModelForCausalLM.from_pretrained(TINY_FOLDER, **shipped)
    config = read.config
    del config.quantization_config
    config.update({"max_position_embeddings": POSITIONS, "bos_token_id": None})
    model: Any = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    as_gpt2: Any = AutoTokenizer.from_pretrained(TINY_FOLDER, **shipped)
    parts = json.loads(as_gpt2.backend_tokenizer.to_str())
    parts["added_tokens"] = [
        token for token in parts["added_tokens"] if token["id"] < config.vocab_size
    ]
    make_fast: Any = PreTrainedTokenizerFast
    make_fast(
        tokenizer_object=Tokenizer.from_str(json.dumps(parts)),
        pad_token="<pad>",
        eos_token="<eos>",
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        model_max_length=POSITIONS,
    ).save_pretrained(folder)
    write_gguf(folder, folder / GGUF_NAME)


if __name__ == "__main__":
    gguf, address, slots, context, settings = sys.argv[1:]
    _serve(gguf, Path(address), int(slots), int(context), settings)
