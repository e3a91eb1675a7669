"""`llama.cpp/FILE.gguf` and `tiny`: llama.cpp in this process, as a server on loopback.

llama.cpp renders a file's chat template in this process, when it loads the file and for each chat.
`check_template` refuses one that could hang or exhaust the process: it is first rendered in a child
process, with limits on time and memory, for chats such as llama.cpp's checks and a run have. What
could make the work grow beyond these chats is refused unseen: ranges, recursive loops and macros,
and loops in more than DEEPEST loops.
"""

import asyncio
import hashlib
import struct
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from gradeschool.errors import GradeschoolError, InputError, require_packages
from gradeschool.models.base import NO_OPTIONS
from gradeschool.models.endpoint import TOTAL_SECONDS, Endpoint
from gradeschool.models.local import check_thinking
from gradeschool.worker import CPU_SECONDS, Child, WorkerFailure, cores, limit

MAGIC = b"GGUF"
TINY = "tiny"
TINY_FOLDER = Path(__file__).with_name(TINY)
TINY_FILE, TINY_VERIFIER = TINY_FOLDER / "generator.gguf", TINY_FOLDER / "verifier.gguf"
HOST = "127.0.0.1"
MODEL_NAME = "model"
# Number of concurrent sequences, and the maximum number of tokens in each.
SLOTS, SLOT_TOKENS = 8, 4096
# Cache and attention settings; recorded in run.json, because llama-server's defaults differ.
KV_CACHE, FLASH_ATTENTION = "F32", "off"
SMALL_BYTES = 2**28
# Of --engine-args: tokens of each sequence, threads, layers on the GPU.
ENGINE_ARGUMENTS = ("context", "threads", "gpu_layers")
LONGEST = 2**17  # characters of a chat template
DEEPEST = 5  # loops in loops
MEGABYTES = 512  # that rendering may take
# Types of GGUF's header: bytes of the numbers, and those without a fixed size.
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
TEXT, ARRAY = 8, 9


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
        require_packages("a model run by llama.cpp (xllamacpp)", "llama-cpp", "xllamacpp")
        try:
            import xllamacpp  # noqa: F401
        except ImportError as error:
            raise GradeschoolError(
                f"llama.cpp cannot be loaded: {error}; install the library of the system that it "
                "names, libgomp.so.1 on Debian and Ubuntu by: apt-get install libgomp1"
            ) from error
        super().__init__(f"http://{HOST}/v1", MODEL_NAME, "", seconds, options, calculator)
        self.arguments = dict(options.get("engine_args", {}))
        for argument, value in self.arguments.items():
            if argument not in ENGINE_ARGUMENTS or type(value) is not int:
                words = f"llama.cpp takes whole numbers of {', '.join(ENGINE_ARGUMENTS)}"
                raise InputError(f"--engine-args {argument}={value!r}: {words}")
        self.file = file
        name = name or file.stem
        # Without the address, which is another each time.
        self._describe(name, f"llama.cpp/{name} {gguf_digest(file)}")
        if options.get("thinking") is not None:
            check_thinking(template_in(file), name)
        self._server: Any = None

    async def facts(self) -> dict[str, str]:
        """Return the facts of the engine, and the precision of the weights."""
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


def gguf_digest(file: Path) -> str:
    """Return the start of a file's SHA-256; raises InputError if it is not a GGUF file."""
    try:
        with file.open("rb") as opened:
            if opened.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{str(file)!r} is not a GGUF file; give one for llama.cpp")
            opened.seek(0)
            return hashlib.file_digest(opened, "sha256").hexdigest()[:16]
    except OSError as error:
        words = f"cannot read the model {str(file)!r}: {error.strerror}; give a GGUF file"
        raise InputError(words) from error


def check_template(file: Path) -> None:
    """Raise InputError if the chat template of a GGUF file could hang or exhaust a process.

    A file without a template, and one that cannot be read as GGUF, is left to llama.cpp.
    """
    template = template_in(file)
    if template is None:
        return
    child = Child()
    try:
        reason = child.call(f"{__name__}:find_fault", [template])
    except WorkerFailure as failure:
        reason = str(failure)
        if failure.end or "MemoryError" in reason:
            reason = f"it takes more than {CPU_SECONDS} s or {MEGABYTES} MB"
    finally:
        child.stop()
    if reason:
        words = f"the chat template of {str(file)!r} is not rendered: {reason}"
        raise InputError(f"{words}; use a file with another template")


def find_fault(template: str) -> str:
    """Return why a chat template may not be rendered, "" if it may; runs in a child process."""
    from jinja2 import nodes
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def depth(node: nodes.Node) -> int:
        inner = max(map(depth, node.iter_child_nodes()), default=0)
        return inner + isinstance(node, nodes.For)

    def refuse(message: object = "") -> None:
        raise TemplateError(str(message))

    limit("RLIMIT_AS", MEGABYTES << 20)
    if len(template) > LONGEST:
        return f"it has {len(template):,} characters"
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True,
        extensions=("jinja2.ext.do", "jinja2.ext.loopcontrols"),
    )  # fmt: skip
    try:
        tree = environment.parse(template)
    except TemplateError as error:
        return f"it cannot be read: {error}"
    if any(name.name == "range" and name.ctx == "load" for name in tree.find_all(nodes.Name)):
        return "it has a range"
    if any(loop.recursive for loop in tree.find_all(nodes.For)):
        return "it has a recursive loop"
    if depth(tree) > DEEPEST:
        return f"it has more than {DEEPEST} loops in loops"
    left = {macro.name: {call.node.name for call in macro.find_all(nodes.Call)
                         if isinstance(call.node, nodes.Name)}
            for macro in tree.find_all(nodes.Macro)}  # fmt: skip
    while done := [name for name, called in left.items() if not called & left.keys()]:
        left = {name: left[name] for name in left if name not in done}
    if left:
        return f"its macro {next(iter(left))} calls itself"
    usable = environment.from_string(tree)
    user, assistant = ({"role": role, "content": "Why? " * 400} for role in ("user", "assistant"))
    system = {"role": "system", "content": "Think."}
    given = {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "tools": None,
             "raise_exception": refuse, "strftime_now": lambda form: "2026"}  # fmt: skip
    for messages in ([user], [system, user], [user, assistant] * 8 + [user]):
        try:
            text = usable.render(messages=messages, **given)
        except (TemplateError, TypeError, ValueError, AttributeError, LookupError):
            continue  # the template refuses such messages
        if len(text) > 100 * sum(len(turn["content"]) for turn in messages) + 100_000:
            return "it writes far more than its messages"
    return ""


def template_in(file: Path) -> str | None:
    """Return the chat template in the header of a GGUF file, None if there is none."""
    with file.open("rb") as header:

        def number(form: str) -> int:
            return int(struct.unpack(f"<{form}", header.read(struct.calcsize(form)))[0])

        def skip(kind: int, values: int = 1) -> None:
            """Skip values of a type, each of a fixed size or after its number of bytes."""
            if kind in SIZES:
                header.seek(SIZES[kind] * values, 1)
                return
            for _ in range(values):
                if kind == ARRAY:
                    skip(number("I"), number("Q"))
                else:
                    header.seek(number("Q"), 1)

        try:
            if header.read(len(MAGIC)) != MAGIC:
                return None
            header.seek(12, 1)  # the version, the number of tensors
            for _ in range(number("Q")):
                length = number("Q")
                name = header.read(min(length, LONGEST))
                header.seek(length - len(name), 1)
                kind = number("I")
                if name == b"tokenizer.chat_template" and kind == TEXT:
                    return header.read(min(number("Q"), 8 * LONGEST)).decode("utf-8", "replace")
                skip(kind)
        except (struct.error, KeyError, RecursionError, OSError, OverflowError, ValueError):
            return None
    return None
