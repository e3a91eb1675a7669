"""Say what a result measured: model, engine, protocol, dataset, changed settings; with advice.

Everything is read from run.json (`runs/job.py`), so that terminal, page and leaderboard say the
same.
"""

from collections.abc import Mapping
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.datasets.load import DATASET_ALIASES, FRESH, OWN_PROBLEMS, SOURCES
from gradeschool.formats.values import mapping
from gradeschool.printable import count, percent
from gradeschool.protocol import overrides, shown_change
from gradeschool.runs.job import known_protocol
from gradeschool.scoring.score import Forms

MANY_TRUNCATED = 0.01  # share of truncated completions above which advice is given


def measured(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the model, protocol and dataset of a run, and its changed settings if there are any.

    Empty without a run.json, as for a plain file.
    """
    if not manifest:
        return []
    model, engine = str(manifest.get("model") or ""), engine_words(manifest)
    protocol, dataset = (
        str(mapping(manifest.get(name)).get("name") or "") for name in ("protocol", "dataset")
    )
    used, samples = manifest.get("problems"), manifest.get("samples")
    problems, total = dataset, manifest.get("dataset_problems")
    if isinstance(used, int):
        words = count(used, "problem")
        if isinstance(total, int) and used < total:
            first = "" if "problem_ids" in manifest else "the first "
            words = f"{first}{used:,} of {total:,} problems"
        several = isinstance(samples, int) and samples > 1
        problems += f", {words}{f', {samples} samples each' if several else ''}"
    rows = [("model", f"{model} ({engine})" if engine else model), ("protocol", protocol),
            ("dataset", problems)]  # fmt: skip
    changed = changed_settings(manifest)
    return [*rows, ("changed", ", ".join(changed))] if changed else rows


def changed_settings(manifest: Mapping[str, Any]) -> list[str]:
    """Return the settings of a run that differ from the published protocol's, in words."""
    protocol = known_protocol(manifest)
    usual = protocol and (protocol.original or protocol)
    changed = overrides(mapping(manifest.get("decoding")), usual) if usual else {}

    def shown(value: object) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return "none" if value in (None, "", []) else str(value)

    prompt = protocol.changes if protocol and protocol.original else {}
    words = [shown_change(name, value) for name, value in prompt.items()
             if name not in Decoding.__dataclass_fields__]  # fmt: skip
    words += [f"{name.replace('_', ' ')} {shown(value)} (the protocol: {shown(usual)})"
              for name, (value, usual) in changed.items()]  # fmt: skip
    options = mapping(manifest.get("options"))
    return words + [f"{name.replace('_', ' ')} {shown(value)}" for name, value in options.items()]


def engine_words(manifest: Mapping[str, Any]) -> str:
    """Return the engine with its versions and settings: "llama.cpp, xllamacpp 0.2, weights Q8"."""
    engine = mapping(manifest.get("engine"))
    parts = {"engine": "", "version": "", "kv_cache": "KV cache ",
             "flash_attention": "flash attention ", "precision": "weights "}  # fmt: skip
    return ", ".join(f"{name}{engine[key]}" for key, name in parts.items() if engine.get(key))


def temperature_words(temperature: object) -> str:
    """Return a temperature in words: "greedy", "temperature 0.7", or that the server chooses."""
    if temperature is None:
        return "the server's default"
    return "greedy" if temperature == 0 else f"temperature {temperature}"


def dataset_title(name: str) -> str:
    """Return a dataset's title for a heading: "the test split of GSM8K (Cobbe et al. 2021)"."""
    source = SOURCES.get(DATASET_ALIASES.get(name, name))
    if source is not None:
        return source.summary
    if name == FRESH or name.startswith(f"{FRESH}:"):
        return f"fresh problems, {name}"
    if name == OWN_PROBLEMS:
        return name
    return f"the problems of {name}" if name else "problems of an unnamed dataset"


def truncation_advice(manifest: Mapping[str, Any], forms: Forms, cut_at: int | None = None) -> str:
    """Return what to do about truncated completions, "" if there are only few.

    cut_at: see `run_folder.cut_by_server`.
    """
    if not forms.n or forms.truncated / forms.n < MANY_TRUNCATED:
        return ""
    limit, protocol = mapping(manifest.get("decoding")).get("max_tokens"), known_protocol(manifest)
    usual = (protocol.original or protocol).decoding.max_tokens if protocol else None
    what = f"{percent(forms.truncated / forms.n, 1)} of the completions are truncated"
    if cut_at is not None:
        return (
            f"{what}, the longest after {cut_at:,} of {limit:,} tokens: the server has a lower "
            "limit of its own, which --max-tokens does not raise; raise it there."
        )
    what += f" at {limit:,} tokens" if limit else ""
    if forms.run_on * 2 > forms.truncated:
        return (f"{what}, and {percent(forms.run_on / forms.n, 1)} ran on into a next question: "
                "the model did not stop after its answer. Use a chat protocol for a chat model, or "
                "one with stop strings.")  # fmt: skip
    if limit and usual and limit < usual:
        return f"{what}, where the protocol allows {usual:,}: leave out --max-tokens {limit}."
    advice = "Raise the server's limit on tokens."
    if limit:
        advice = (f"Give --max-tokens {2 * limit} and see whether the score changes; report the "
                  "changed limit with it.")  # fmt: skip
    return f"{what}: their answers may be missing. {advice}"
