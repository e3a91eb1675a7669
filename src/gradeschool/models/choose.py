"""Choose the model for `-m PROVIDER/NAME`, and ask it outside of a run."""

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError, ModelError, require_packages
from gradeschool.formats.read import read_samples
from gradeschool.formats.values import Sample
from gradeschool.masking import register_key, shown_address
from gradeschool.models.base import NO_OPTIONS, Model, Reply, Request
from gradeschool.problem import Problem
from gradeschool.scoring.matching import Matcher

# Provider -> its address, and the environment variables of another address and of the key.
PROVIDERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "openai": ("https://api.openai.com/v1", "OPENAI_BASE_URL", ("OPENAI_API_KEY",)),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_BASE_URL", ("ANTHROPIC_API_KEY",)),
    "gemini": (
        "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_BASE_URL",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}  # fmt: skip
CHAT_ONLY = ("anthropic", "gemini")
SERVERS = "openai/NAME, http://HOST:PORT/v1, http://HOST:PORT/v1/NAME"
MODEL_FORMS = (
    f"tiny, {SERVERS}, anthropic/NAME, gemini/NAME, transformers/FOLDER_OR_ID, "
    "vllm/FOLDER_OR_ID, llama.cpp/FILE.gguf, recorded/FILE"
)
# What is meant by PROVIDER/NAME for other providers, and by the names of well-known models.
MEANT = {**dict.fromkeys(("hf", "huggingface", "hf.co", "huggingface.co"), "transformers"),
         "ollama": "http://localhost:11434/v1", "google": "gemini"}  # fmt: skip
FAMILIES = {"gpt-": "openai", "claude": "anthropic", "gemini": "gemini"}
# Of GRADESCHOOL_API_KEY: a host with a dot or a port, or localhost, before the key.
KEY_OF_HOST = re.compile(r"(?:^|\s)(localhost|[\w-]+(?:\.[\w-]+)+|[\w.-]+:\d+)=(\S+)")
HOST_AND_PORT = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:]+\]):\d+(?:/.*)?\Z|localhost(?:/.*)?\Z")
# The fields of `runs.job.model_options` and their options on the command line.
OPTIONS = {
    "thinking": "--thinking",
    "reasoning_effort": "--reasoning-effort",
    "extra_body": "--extra-body",
    "headers": "--header",
    "engine_args": "--engine-args",
}
# What runs a folder here: the extra that installs it, and the modules.
LIBRARIES = {"transformers": ("local", "torch", "transformers"), "vllm": ("vllm", "vllm")}
# Those that each kind of model takes; "" are servers.
THINKING = ("thinking", "reasoning_effort")
ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "": (*THINKING, "extra_body", "headers"),
    **dict.fromkeys(("llama.cpp", "tiny"), (*THINKING, "extra_body", "engine_args")),
    "vllm": ("engine_args", "thinking"),
    "transformers": ("thinking",),
    "recorded": (),
}
# Paths under /v1 that are not names of models.
REQUEST_PATHS = ("chat/completions", "completions", "models")
SAMPLE = "sample"  # of recorded/FILE: the completions that the package ships
SAMPLE_FILE = Path(__file__).parents[1] / "datasets" / "sample" / "completions.jsonl"


def choose_model(
    spec: str,
    seconds: float = 600.0,
    calculator: bool = False,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Model:
    """Return the model named on the command line; raises InputError for an unknown form.

    `openai/NAME`, `anthropic/NAME` and `gemini/NAME` use the address and the key of PROVIDERS. A
    URL is used as the base address, with GRADESCHOOL_API_KEY if set, and with the only model that
    it serves unless a name follows. `transformers/FOLDER_OR_ID`, `vllm/FOLDER_OR_ID` and
    `llama.cpp/FILE.gguf` run a model on this machine; `tiny` is the model shipped with the package.
    seconds: timeout of one request. calculator: insert the results of annotations while the model
    writes. options: as in `runs.job.model_options`.
    """
    spec = spec.strip()
    provider, _, name = spec.partition("/")
    accepted = ACCEPTED.get(provider, ACCEPTED[""])
    for option in options:
        if option not in accepted:
            raise InputError(f"-m {shown_address(spec)} takes no {OPTIONS[option]}; leave it out")
    if calculator and name and provider in (*CHAT_ONLY, "recorded"):
        raise InputError(f"{provider}/ models cannot use the calculator; leave out --calculator")
    if spec == "tiny" or (provider == "llama.cpp" and name):
        from gradeschool.models.llama_cpp import TINY_FILE, LlamaCppModel

        file, label = (TINY_FILE, "tiny") if spec == "tiny" else (Path(name).expanduser(), "")
        return LlamaCppModel(file, label, seconds, options, calculator)
    if provider == "recorded" and name:
        return RecordedModel(name)
    if provider in LIBRARIES and name:
        extra, *packages = LIBRARIES[provider]
        require_packages(f"a model run here ({', '.join(packages)})", extra, *packages)
    if provider == "transformers" and name:
        from gradeschool.models.transformers_model import TransformersModel

        return TransformersModel(name, calculator, options)
    if provider == "vllm" and name:
        from gradeschool.models.local import VllmModel

        return VllmModel(name, calculator, options)
    from gradeschool.models.endpoint import AnthropicModel, Endpoint

    if provider == "anthropic" and name:
        return AnthropicModel(*find_server(spec), seconds, options)
    return Endpoint(*find_server(spec), seconds, options, calculator)


def ask_model(
    spec: str,
    prompts: Sequence[tuple[Problem, Prompt]],
    samples: int,
    decoding: Decoding,
    calculator: bool = False,
) -> list[list[str]]:
    """Return a model's replies to each prompt; spec: as for `-m`.

    A request that a retry may help is sent again, four times at most. Raises InputError if it still
    fails.
    """
    import asyncio

    from gradeschool.models.endpoint import STARTING_WAITS, with_retries

    model = choose_model(spec, calculator=calculator)
    turns = asyncio.Semaphore(model.connections or 16)

    async def ask(number: int, sample: int) -> str:
        request = Request(*prompts[number], decoding, f"prompt-{number}-{sample}", sample)
        async with turns:
            try:
                return (await with_retries(lambda: model.complete(request), STARTING_WAITS)).text
            except ModelError as error:
                words = f"the model {model.name!r} does not answer: {error}"
                raise InputError(words) from error

    async def ask_all() -> list[list[str]]:
        async with model:
            return await asyncio.gather(*(
                asyncio.gather(*(ask(number, sample) for sample in range(samples)))
                for number in range(len(prompts))
            ))  # fmt: skip

    return asyncio.run(ask_all())


def find_server(spec: str, compatible: bool = False) -> tuple[str, str, str]:
    """Return the base address, the model's name and the key of a server named on the command line.

    compatible: only servers of the OpenAI protocol. Raises InputError for an unknown form.
    """
    from gradeschool.models.endpoint import address_parts

    spec = spec.strip()
    provider, _, name = spec.partition("/")
    if spec.lower().startswith(("http://", "https://")):
        if "?" in spec or "#" in spec:
            address_parts(spec)  # raises: a key may be in it
        base, slash, name = spec.partition("/v1/")
        name = name.strip("/")
        if name in REQUEST_PATHS:
            shown = shown_address(base)
            raise InputError(
                f"{shown_address(spec)!r} is the address of requests; give {shown}/v1 or "
                f"{shown}/v1/NAME"
            )
        base = f"{base}/v1" if slash else spec.rstrip("/")
        # One key, or one for each server, as HOST=KEY or HOST:PORT=KEY with spaces between them.
        key, parts = os.environ.get("GRADESCHOOL_API_KEY", ""), address_parts(base)
        if keys := dict(KEY_OF_HOST.findall(key)):
            for each in keys.values():
                register_key(each)
            key = keys.get(parts.netloc) or keys.get(parts.hostname or "") or ""
        return base, name, key
    if name and provider in PROVIDERS and not (compatible and provider == "anthropic"):
        usual, base_variable, key_variables = PROVIDERS[provider]
        base = os.environ.get(base_variable, "").strip().rstrip("/")
        if base:
            address_parts(base, base_variable)
            if provider == "anthropic":  # by the provider's convention, without the version
                base = f"{base.removesuffix('/v1')}/v1"
        keys_set = (os.environ.get(variable, "").strip() for variable in key_variables)
        key = next(filter(None, keys_set), "")
        if not key and base in ("", usual):
            variables = " or ".join(key_variables)
            raise InputError(f"{variables} is not set; export it, or set {base_variable}")
        return base or usual, name, key
    hint = f"give {SERVERS if compatible else MODEL_FORMS}"
    if spec.endswith(".gguf"):
        hint = f"did you mean llama.cpp/{spec}?"
    elif Path(spec).exists():
        hint = f"did you mean {'transformers' if Path(spec).is_dir() else 'recorded'}/{spec}?"
    elif HOST_AND_PORT.match(spec):
        base, slash, model = shown_address(spec).rstrip("/").partition("/v1")
        hint = f"did you mean http://{base}/v1{model if slash else ''}?"
    elif name and provider in MEANT:
        hint = f"did you mean {MEANT[provider]}/{name}?"
    elif name and "/" not in name and ":" not in provider:
        hint = f"did you mean openai/{spec} or transformers/{spec}?"
    elif family := next((FAMILIES[each] for each in FAMILIES if spec.startswith(each)), ""):
        hint = f"did you mean {family}/{spec}?"
    raise InputError(f"the model {shown_address(spec)!r} has an unknown form; {hint}")


class RecordedModel(Model):
    """Answers with the completions of one run in a file; ignores `prompt` and `decoding`.

    spec: a path, or "sample" for the shipped sample; "#RUN" after it selects one of several runs.
    Raises InputError if the file or the run cannot be used.
    """

    def __init__(self, spec: str) -> None:
        path, _, run = spec.partition("#")
        file = SAMPLE_FILE if path == SAMPLE else Path(path)
        usable = [sample for sample in read_samples(file) if not sample.fault]
        runs = list(dict.fromkeys(recorded.run for recorded in usable))
        if not runs:
            raise InputError(f"no row of {path!r} can be used; `gradeschool score` says why")
        if run not in runs and (run or len(runs) > 1):
            names = ", ".join(f"recorded/{path}#{name}" for name in runs)
            raise InputError(f"recorded/{spec} is not one run; choose: {names}")
        run = run or runs[0]
        self.name = f"recorded-{run}"
        self.identity = f"recorded/{path}#{run}"
        self._recorded = [recorded for recorded in usable if recorded.run == run]
        self._answers: dict[str, dict[int, Sample]] = defaultdict(dict)

    def set_problems(self, problems: tuple[Problem, ...], dataset: str) -> None:
        """Find the problems of the completions among those of a dataset."""
        matcher = Matcher(problems, dataset)
        for recorded in self._recorded:
            with suppress(InputError):  # a problem outside this run
                samples = self._answers[matcher.find(recorded.reference).id]
                number = len(samples) if recorded.sample < 0 else recorded.sample
                samples.setdefault(number, recorded)

    async def complete(self, request: Request) -> Reply:
        """Return the recorded completion of a sample; raises ModelError for none."""
        recorded = self._answers.get(request.problem.id, {}).get(request.sample)
        if recorded is None:
            which = f"problem {request.problem.id!r}, sample {request.sample}"
            raise ModelError("not recorded", f"no completion of {which}, is recorded")
        if recorded.error:
            raise ModelError("recorded error", recorded.error)
        return Reply(recorded.text, recorded.finish, model=recorded.model)
