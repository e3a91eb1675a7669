"""The named datasets: origin at a pinned revision, SHA-256, number of rows."""

from __future__ import annotations

from dataclasses import dataclass

GSM8K_REPOSITORY = (
    "https://raw.githubusercontent.com/openai/grade-school-math/"
    "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data"
)
# The tag whose file the wheel of lm-eval 0.4.13 holds; the digest below was taken from that wheel.
LM_EVAL_REPOSITORY = (
    "https://raw.githubusercontent.com/EleutherAI/lm-evaluation-harness/v0.4.13/lm_eval/tasks/gsm8k"
)

# The digest below was taken from the wheel of opencompass 0.5.4.
OPENCOMPASS_REPOSITORY = (
    "https://raw.githubusercontent.com/open-compass/opencompass/"
    "b2e2a3342c64f79468c17f15ed0c33ec201601cd"
)


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset with a name.

    path: the file below GRADESCHOOL_DATA or the cache. sha256: of the file's bytes. rows: problems
    in it. url: the origin, "" for what the package ships. layout: "gsm8k" (question, answer),
    "platinum" (the same, then relabelled), "exemplars" (question, rationale, answer),
    "lm-eval-yaml" or "opencompass-config". alternative: another file with the same content that
    GRADESCHOOL_DATA may hold instead: (path, sha256, layout).
    """

    name: str
    summary: str
    path: str
    sha256: str
    rows: int
    url: str
    licence: str
    layout: str = "gsm8k"
    alternative: tuple[str, str, str] | None = None


SOURCES = {
    source.name: source
    for source in (
        DatasetSource(
            name="gsm8k",
            summary="the test split of GSM8K (Cobbe et al. 2021)",
            path="gsm8k/test.jsonl",
            sha256="3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
            rows=1319,
            url=f"{GSM8K_REPOSITORY}/test.jsonl",
            licence="MIT",
        ),
        DatasetSource(
            name="gsm8k:train",
            summary="the train split of GSM8K; few-shot examples are drawn from it",
            path="gsm8k/train.jsonl",
            sha256="17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
            rows=7473,
            url=f"{GSM8K_REPOSITORY}/train.jsonl",
            licence="MIT",
        ),
        DatasetSource(
            name="gsm8k-socratic",
            summary="the test split with Socratic sub-questions in its solutions",
            path="gsm8k/test_socratic.jsonl",
            sha256="c96673362fa7a699f4836a9b6474a067448f95fe58064727501ee63ba4c3fdb6",
            rows=1319,
            url=f"{GSM8K_REPOSITORY}/test_socratic.jsonl",
            licence="MIT",
        ),
        DatasetSource(
            name="wei2022",
            summary="the 8 chain-of-thought exemplars of Wei et al. 2022",
            path="exemplars/gsm8k-cot.yaml",
            sha256="7c9dd2561fe334a55f62bdc6a876f045e6dc7f53714c7a9db506b89c6de6bc96",
            rows=8,
            url=f"{LM_EVAL_REPOSITORY}/gsm8k-cot.yaml",
            licence="MIT",
            layout="lm-eval-yaml",
            alternative=(
                "exemplars/wei2022.jsonl",
                "03b0800331fff7d0af694c702842c6fbff232d4fc83d8c46e7d70f5957d300ad",
                "exemplars",
            ),
        ),
        DatasetSource(
            name="gsm8k-platinum",
            summary="the test split with the labels of GSM8K-Platinum (Vendrow et al. 2025)",
            path="gsm8k/test.jsonl",
            sha256="3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
            rows=1209,
            url=f"{GSM8K_REPOSITORY}/test.jsonl",
            licence="MIT",
            layout="platinum",
        ),
        DatasetSource(
            name="opencompass:shots",
            summary="the 4 examples of OpenCompass's gsm8k_gen_1d7fe4, rewritten train rows",
            path="exemplars/gsm8k_gen_1d7fe4.py",
            sha256="9c7da59940ec1dc481341f002095dafdb1357b2a17e25209b5748a839bbfb0ed",
            rows=4,
            url=f"{OPENCOMPASS_REPOSITORY}/configs/datasets/gsm8k/gsm8k_gen_1d7fe4.py",
            licence="Apache-2.0",
            layout="opencompass-config",
        ),
        DatasetSource(
            name="sample",
            summary="48 problems written for this package, shipped with it",
            path="sample/problems.jsonl",
            sha256="",
            rows=48,
            url="",
            licence="MIT",
        ),
        DatasetSource(
            name="exemplars",
            summary="8 chain-of-thought exemplars written for this package, shipped with it",
            path="sample/exemplars.jsonl",
            sha256="",
            rows=8,
            url="",
            licence="MIT",
            layout="exemplars",
        ),
    )
}
ALIASES = {
    "gsm8k:test": "gsm8k",
    "gsm8k-main": "gsm8k",
    "gsm8k-platinum:test": "gsm8k-platinum",
    "gsm8k-socratic:test": "gsm8k-socratic",
}
