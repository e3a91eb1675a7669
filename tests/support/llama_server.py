"""Run a real llama.cpp server with a GGUF file in its own process."""

import argparse
import http.client
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

MODEL_NAME = "tiny"
HOST = "127.0.0.1"
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
START_SECONDS = 30.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.02
LOG_TAIL = 2000


class LlamaServer:
    """A running server: its base `url`, which ends in `/v1`, and its `process`."""

    def __init__(
        self, gguf: Path, *, slots: int = SLOTS, context: int = CONTEXT, settings: str = ""
    ) -> None:
        """Start the server and wait until it is healthy; raises RuntimeError otherwise.

        Each of the `slots` takes prompts and answers of `context // slots` tokens together, and
        never more than the model has positions for. settings: DEFAULTS or SINGLE for a chat model's
        own template; by default TINY's template in single precision.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="llama-server-")
        self._address = Path(self._folder.name) / "address"
        self._log = Path(self._folder.name) / "log"
        command = [sys.executable, str(Path(__file__).resolve()), str(gguf), str(self._address)]
        command += ["--slots", str(slots), "--context", str(context), "--settings", settings]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            self.url = f"{self._wait_until_healthy()}/v1"
        except BaseException:
            self.kill()
            self.stop()
            raise

    def kill(self) -> None:
        """End the process immediately, like a crash."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the process in any state, and free its resources; may be repeated."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._folder.cleanup()

    def _wait_until_healthy(self) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"llama.cpp ended before it was ready:\n{self._log_tail()}")
            address = self._address.read_text() if self._address.is_file() else ""
            if address and _is_healthy(address):
                return address
            time.sleep(POLL_SECONDS)
        raise RuntimeError(
            f"llama.cpp was not ready after {START_SECONDS:.0f} seconds:\n{self._log_tail()}"
        )

    def _log_tail(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-LOG_TAIL:]


@contextmanager
def llama_server(
    gguf: Path, *, slots: int = SLOTS, context: int = CONTEXT, settings: str = ""
) -> Iterator[str]:
    """Serve for the block; yields the base URL, `http://127.0.0.1:PORT/v1`."""
    server = LlamaServer(gguf, slots=slots, context=context, settings=settings)
    try:
        yield server.url
    finally:
        server.stop()


def _is_healthy(address: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=1)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _serve(gguf: Path, address: Path, slots: int, context: int, settings: str) -> None:
    """Serve until standard input ends, which also happens when the parent dies."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.hostnames, params.port = [HOST], 0
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("address", type=Path, help="file that the server's address is written to")
    parser.add_argument("--slots", type=int, default=SLOTS)
    parser.add_argument("--context", type=int, default=CONTEXT)
    parser.add_argument("--settings", default="")
    options = parser.parse_args()
    _serve(options.gguf, options.address, options.slots, options.context, options.settings)
