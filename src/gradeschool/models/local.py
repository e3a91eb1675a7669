"""A Hugging Face model on this machine: its folder, files, tokenizer and end tokens."""

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gradeschool.calculator import LONGEST, annotation_end
from gradeschool.completion import Prompt, Usage, finish_of
from gradeschool.errors import InputError, ModelError, require_packages
from gradeschool.models.base import Model, Reply, Request

# Number of bytes at each end by which weight files are compared.
SAMPLE_BYTES = 1 << 20
FILES = ("*.safetensors", "*.bin", "config.json", "generation_config.json", "tokenizer*")
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.spm", "*.tiktoken", "tekken.json")
COPY_TOKENIZER = "copy tokenizer.json and tokenizer_config.json of its model into it"
# A training's settings and results, and what it keeps in its folder until it ends.
TRAINING_FILE, UNFINISHED = "training.json", "training"
VERIFIER_FILE = "verifier.json"  # of a verifier's folder: its head
GGUF = ".gguf"
SWITCH = re.compile(r"\b(?:enable_)?thinking\b(?!\s*[>|\]])")  # no tag <thinking>


# Ended requests, each with its reply or its error.
Results = list[tuple[Request, Reply | ModelError]]
# Returns up to this many collected requests without waiting; [] if there are none.
Take = Callable[[int], list[Request]]


class LocalModel(Model):
    """A model from a folder, or from the Hugging Face cache by name; nothing is downloaded.

    It collects the requests in flight, and writes many at a time in a thread. library: the one that
    runs it, which a subclass names. calculator: write the results of annotations. options: see
    `runs.job.model_options`. engine: what `load` loaded. Raises InputError if there is no such
    model or no such switch.
    """

    connections = 4096
    library: str
    engine: Any = None

    def __init__(self, spec: str, calculator: bool, options: Mapping[str, Any]) -> None:
        self.folder, self.calculator = model_folder(spec), calculator
        self.thinking: bool | None = options.get("thinking")
        _check_files(self.folder)
        self.name = spec.rstrip("/").rpartition("/")[2]
        self.identity = f"{self.library}/{self.name} {files_digest(self.folder)}"
        if self.thinking is not None:
            check_thinking(str(load_tokenizer(self.folder).chat_template or ""), self.name)
            self.identity += f" with thinking {'on' if self.thinking else 'off'}"
        if calculator:
            self.identity += " with the calculator"
            self.name += "+calculator"
        self._waiting: list[Request] = []
        self._ends: dict[int, asyncio.Future[Reply]] = {}  # by id of the request
        self._writing: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        # One thread: an engine may be bound to the thread that loaded it.
        self._thread = ThreadPoolExecutor(1)

    def load(self) -> None:
        """Load the engine; called in the thread before the first request."""
        raise NotImplementedError

    def write(self, take: Take) -> Generator[Results, None, None]:
        """Yield results in any order as they end; return when nothing is left to take or write.

        Each request that was taken ends once. The engine may take more requests between two
        results, and should yield an empty list from time to time: this is where it is closed if the
        run stops.
        """
        raise NotImplementedError

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request; raises ModelError."""
        end: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._ends[id(request)] = end
        self._waiting.append(request)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        try:
            return await end
        finally:
            del self._ends[id(request)]

    def stop(self) -> None:
        """Give up all requests in flight: `complete` raises CancelledError."""
        self._stopping.set()
        for end in self._ends.values():
            end.cancel()

    async def __aexit__(self, *exc: object) -> None:
        """Stop, wait for the thread, and release the engine."""
        self.stop()
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._thread.shutdown()
        self.engine = None

    async def _write(self) -> None:
        """Write the waiting requests and those that arrive meanwhile."""

        def take(most: int) -> list[Request]:
            taken, self._waiting = self._waiting[:most], self._waiting[most:]
            return taken

        await asyncio.sleep(0.01)  # requests are sent one after the other
        run = partial(asyncio.get_running_loop().run_in_executor, self._thread)
        try:
            if self.engine is None:
                await run(self.load)
            while self._waiting and not self._stopping.is_set():
                results = self.write(take)
                while (ended := await run(next, results, None)) is not None:
                    for request, reply in ended:
                        end = self._ends.get(id(request))
                        if end is None or end.done():
                            continue
                        if isinstance(reply, ModelError):
                            end.set_exception(reply)
                        else:
                            end.set_result(reply)
                    if self._stopping.is_set():
                        await run(results.close)
                        break
                    await asyncio.sleep(0)  # the next requests are sent
        except Exception as error:  # noqa: BLE001  (every request in flight ends with it)
            for end in self._ends.values():
                if not end.done():
                    end.set_exception(error)

    def check_chat(self, protocol: str) -> None:
        """Raise InputError if the model has no chat template, which the protocol needs."""
        if not load_tokenizer(self.folder).chat_template:
            words = f"the model in {str(self.folder)!r} has no chat template"
            advice = "use a completion protocol, or a chat model"
            raise InputError(f"{words}, which the protocol {protocol!r} needs; {advice}")

    async def facts(self) -> dict[str, str]:
        """Return the library, its version and the precision."""
        device = best_device()  # imports torch, which the run loads anyway
        precision = precision_on(device, count_weights(self.folder))
        if self.library == "vllm":
            precision = "bfloat16" if device == "cuda" else "float32"
        versions = []
        for name in (self.library, "torch"):
            with suppress(PackageNotFoundError):
                versions.append(f"{name} {version(name)}")
        return {"engine": self.library, "version": ", ".join(versions), "precision": precision}


# vLLM

# vLLM forms batches itself and takes a new request when another ends; this many are queued.
AHEAD = 4096
# Arguments of the engine that the user cannot set.
SET_HERE = {"model", "tokenizer", "generation_config", "trust_remote_code", "logits_processors"}
# By name: the engine runs in its own process.
CALCULATOR = "gradeschool.models.vllm_calculator:Calculator"


class VllmModel(LocalModel):
    """`vllm/PATH_OR_ID`: vLLM's offline engine; bfloat16 on a GPU, float32 on a CPU.

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

        on_gpu = best_device() == "cuda"
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
                        ids = encode_prompt(self.tokenizer, request.prompt, self.thinking)
                        limit = room_for(len(ids), decoding.max_tokens, self.positions)
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


# Folders of models


def needs_training_packages() -> None:
    """Raise MissingExtraError if a training package is not installed; does not import it."""
    require_packages("training", "train", "safetensors", "torch", "transformers")


def best_device() -> str:
    """Return the device for models, as torch names it: a GPU if there is one."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def precision_on(device: str, weights: int) -> str:
    """Return the precision for a model with this number of weights: "float32" or "bfloat16".

    It is bfloat16 on a GPU, and for a large model on a CPU that multiplies bfloat16 matrices (AMX,
    or AVX-512 with BF16); other CPUs may be many times slower in bfloat16.
    """
    import torch

    if device != "cpu":
        return "bfloat16"
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    multiplies = capabilities.get("amx_bf16") or capabilities.get("avx512_bf16")
    is_large = weights > 1 << 26  # a smaller model fits into the cache
    return "bfloat16" if is_large and multiplies else "float32"


def count_weights(folder: Path) -> int:
    """Return the approximate number of weights in a folder's files, at two bytes each."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors")) // 2


def _check_files(folder: Path) -> None:
    """Raise InputError for a folder that needs its own Python code, or has no tokenizer.

    This is before anything is written. transformers reads the configuration only if it names code.
    """
    path = folder / "config.json"
    if path.is_file() and b'"auto_map"' in path.read_bytes():
        from_folder("AutoConfig", folder, quiet=True)  # it warns about unknown model types
    if not any(path for pattern in TOKENIZERS for path in folder.glob(pattern)):
        raise InputError(f"the folder {str(folder)!r} contains no tokenizer; {COPY_TOKENIZER}")


def load_model(
    folder: Path,
    device: str = "cpu",
    precision: str | None = None,
    kind: str = "AutoModelForCausalLM",
) -> Any:
    """Load a causal language model from a folder; code in the folder is not run.

    precision: of its weights, None for that of `precision_on`. kind: its class in transformers.
    """
    check_model(folder)
    dtype = precision or precision_on(device, count_weights(folder))
    return from_folder(kind, folder, dtype=dtype).to(device).eval()


def check_model(folder: Path) -> None:
    """Raise InputError if a folder has no config.json."""
    if (folder / "config.json").is_file():
        return
    if (folder / UNFINISHED).is_dir():
        raise InputError(f"the training in {str(folder)!r} is not finished; run its command again")
    raise InputError(f"the folder {str(folder)!r} contains no model: it has no config.json")


def load_tokenizer(folder: Path | str) -> Any:
    """Load the tokenizer of a model's folder; raises InputError if it has none that works."""
    return from_folder("AutoTokenizer", folder)


def from_folder(kind: str, folder: Path | str, quiet: bool = False, **options: Any) -> Any:
    """Load an object of a transformers class ("AutoConfig") from a folder; nothing is fetched.

    Code in the folder is never run, and there is no prompt to allow it. quiet: without the warnings
    of transformers, as always for a model: what they say of missing weights is raised here. Raises
    InputError for a folder that needs its own code, that is damaged, or that lacks weights of the
    model, which would be random.
    """
    import transformers
    from safetensors import SafetensorError
    from transformers.utils import logging

    logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    is_model = kind.startswith("AutoModel")
    if quiet or is_model:
        logging.set_verbosity_error()
    options |= {"local_files_only": True, "trust_remote_code": False}
    if is_model:
        options["output_loading_info"] = True
    try:
        loaded = getattr(transformers, kind).from_pretrained(folder, **options)
    except (OSError, LookupError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        if "trust_remote_code" in str(error):
            raise InputError(
                f"the model in {str(folder)!r} needs its own Python code (auto_map in its files), "
                "which is not run; give a model of a type that transformers knows"
            ) from None
        what, advice = "model", "give a folder of that kind"
        if kind == "AutoTokenizer":
            what, advice = "tokenizer", COPY_TOKENIZER
        reason = str(error).split("\n")[0].rstrip(" :")
        words = f"the {what} in {str(folder)!r} cannot be loaded by {kind} ({reason})"
        raise InputError(f"{words}; {advice}") from error
    finally:
        logging.set_verbosity(verbosity)
    if is_model and (absent := sorted(loaded[1]["missing_keys"])):
        raise InputError(
            f"the weights in {str(folder)!r} lack {', '.join(absent[:3])}, which {kind} needs; "
            "give a whole model, or of a reward model another --form"
        )
    return loaded[0] if is_model else loaded


def untrained(kind: str, config: Any) -> Any:
    """Return a new model from a transformers class and a configuration; fetches and runs no code.

    Raises ValueError if transformers has no such model.
    """
    import transformers

    return getattr(transformers, kind).from_config(config, trust_remote_code=False)


def encode_prompt(tokenizer: Any, prompt: Prompt, thinking: bool | None = None) -> list[int]:
    """Return a prompt as tokens; a chat uses the model's template, with the prefix left open.

    thinking: what the template is told, under both names in use. Raises ModelError for a chat if
    the model has no template.
    """
    if prompt.text is not None:
        return list(tokenizer(prompt.text)["input_ids"])
    if not tokenizer.chat_template:
        raise ModelError(
            "no chat template", "the model has no chat template; use a completion protocol"
        )
    turns = [message._asdict() for message in prompt.messages]  # the template adds no prefix
    switch = {} if thinking is None else {"enable_thinking": thinking, "thinking": thinking}
    text = tokenizer.apply_chat_template(
        turns, tokenize=False, add_generation_prompt=True, **switch
    )
    # The template already has the first token.
    return list(tokenizer(text + (prompt.prefix or ""), add_special_tokens=False)["input_ids"])


def check_thinking(template: str | None, model: str) -> None:
    """Raise InputError if a chat template does not ask whether the model may think.

    Templates ignore arguments that they do not know, so that the option would change nothing.
    """
    if SWITCH.search(template or "") is None:
        words = f"the chat template of {model!r} has no switch for thinking (enable_thinking)"
        raise InputError(f"{words}; leave --thinking out")


def room_for(prompt: int, limit: int | None, context: int | None) -> int:
    """Return how many tokens a completion may have after a prompt of so many, at most `limit`.

    Raises ModelError if less than a quarter of the limit is left in the model's context.
    """
    limit = limit or 2048  # the length of a long chain of thought
    if context is None or prompt + max(1, limit // 4) <= context:
        return limit if context is None else min(limit, context - prompt)
    raise ModelError(
        "context length",
        f"a prompt of {prompt} tokens leaves less than a quarter of {limit} tokens of completion "
        f"in the model's context of {context}; use fewer shots or a smaller --max-tokens",
    )


def files_digest(folder: Path) -> str:
    """Return a short digest of a model's files: names, sizes, and a megabyte at each end."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in FILES for path in folder.glob(pattern)}):
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(SAMPLE_BYTES))
            file.seek(max(0, size - SAMPLE_BYTES))
            digest.update(file.read())
    return digest.hexdigest()[:16]


def model_name(folder: Path, *more: str) -> str:
    """Return the name of a model's folder with a digest of its files and `more` files."""
    digest = hashlib.sha256(files_digest(folder).encode())
    for file in (folder / name for name in more):
        if file.is_file():
            digest.update(file.read_bytes())
    return f"{folder.resolve().name}@{digest.hexdigest()[:12]}"


def model_folder(spec: str) -> Path:
    """Return a model's folder: a path, or a name in the Hugging Face cache."""
    folder = Path(spec).expanduser()
    if folder.is_dir():
        check_model(folder)
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        return Path(snapshot_download(spec, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError) as error:
        words = f"there is no folder {spec!r}, and no such model in the Hugging Face cache"
        raise InputError(
            f"{words}; give a folder, or fetch it first: hf download {spec}"
        ) from error


# The calculator of an engine: the tokens that it forces, the result of an open annotation and ">>"

# A byte-level vocabulary writes a space as "Ġ" and a line break as "Ċ", a SentencePiece one a space
# as "▁" and bytes as "<0x3D>".
SPACES = str.maketrans("Ġ▁Ċ", "  \n")
EQUALS_BYTE = "<0x3D>"


class Annotations:
    """Finds what follows in an open annotation, in the tokens of one tokenizer.

    A token that ends in "=" is followed by the result. A token that continues after "=" ("=2") is
    kept if the result begins with it (the rest is forced), and otherwise replaced by "=" and the
    whole result. watched: the tokens with "=".
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        """Set the tokenizer, and the number of the model's logits."""
        self.tokenizer = tokenizer
        known = tokenizer.convert_ids_to_tokens(range(min(size, len(tokenizer))))
        self.texts = [str(text or "").replace(EQUALS_BYTE, "=").translate(SPACES) for text in known]
        self.texts += [""] * (size - len(known))
        self.watched = {token for token, text in enumerate(self.texts) if "=" in text}
        self.encode: Callable[[str], tuple[int, ...]] = lru_cache(4096)(self._encode)

    def override(self, before: Sequence[int], token: int) -> tuple[tuple[int, ...], bool]:
        """Return the tokens that a watched token forces after the tokens before it.

        Also whether the first of them replaces the token; () and False outside of an annotation.
        """
        text, end = self.texts[token], self.texts[token].index("=") + 1
        head, rest = text[:end], text[end:]
        recent = before[-LONGEST:]
        tail = "".join([self.texts[member] for member in recent])
        if not tail.isascii():
            tail = str(self.tokenizer.decode(recent))
        result = annotation_end(tail + head)
        if not result or rest.startswith(result):
            return (), False
        if result.startswith(rest):
            return self.encode(result[len(rest) :]), False
        return self.encode(head + result), True

    def _encode(self, text: str) -> tuple[int, ...]:
        """Return a text's tokens as they would be in the middle of a text.

        A SentencePiece tokenizer puts a space before a text, so "=" is put first and cut off again.
        """
        plain = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if "".join([self.texts[token] for token in plain]) == text or (
            self.tokenizer.decode(plain) == text and self.texts[plain[0]][:1] != " "
        ):
            return tuple(plain)
        lead = self.tokenizer("=", add_special_tokens=False)["input_ids"]
        led = self.tokenizer("=" + text, add_special_tokens=False)["input_ids"]
        return tuple(led[len(lead) :] if led[: len(lead)] == lead else plain)
