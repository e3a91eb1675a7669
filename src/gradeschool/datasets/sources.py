"""The named datasets: origin at a pinned revision, SHA-256, number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FRESH = "fresh"  # the generated problems; fresh:SEED are others
OWN_PROBLEMS = "the file's own problems"
GSM8K_REPOSITORY = (
    "https://raw.githubusercontent.com/openai/grade-school-math/"
    "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data"
)
# The tag with the same files as the wheel of lm-eval 0.4.13; the digests below are the wheel's.
LM_EVAL_TASKS = (
    "https://raw.githubusercontent.com/EleutherAI/lm-evaluation-harness/v0.4.13/lm_eval/tasks"
)

# The digest below was taken from the wheel of opencompass 0.5.4.
OPENCOMPASS_REPOSITORY = (
    "https://raw.githubusercontent.com/open-compass/opencompass/"
    "b2e2a3342c64f79468c17f15ed0c33ec201601cd"
)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file from which a problem is built.

    question: columns that are joined with a space. gold: the final answer; "" if the solution ends
    in it ("#### N"). solution: the reference solution, "" for none. id: the problem's id, "" for
    the row number. seed: the column that identifies the varied problem of GSM8K's test split, kept
    in `Problem.meta["seed"]`: by its row (from 0), its question, or a program that quotes the
    question; ROW if it has the same row number. meta: other columns to keep, and the names to keep
    them under. writes_floats: the golds are integers written as "8.0".
    """

    question: tuple[str, ...] = ("question",)
    gold: str = ""
    solution: str = ""
    id: str = ""
    seed: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    writes_floats: bool = False


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset with a name.

    path: the file below GRADESCHOOL_DATA or the cache. sha256: of the file's bytes; "" for a file
    that the package ships, and if no digest is published: it is then recorded at the first fetch,
    from a commit, and every later copy must match.
    rows: number of problems. url: the origin, "" if the package ships it. layout: "gsm8k"
    (question,
    answer), "columns" (rows of JSON or tab-separated values, see `columns`), "platinum" (GSM8K's
    rows, then relabelled), "exemplars" (question, rationale, answer), "lm-eval-yaml",
    "lm-eval-samples", "opencompass-config", "mgsm-exemplars" or "step-labels"
    (datasets/step_labels.py). columns: for the layout "columns"; numbers if the file has no column
    names. alternative: another file with the same content that GRADESCHOOL_DATA may contain
    instead: (path, sha256, layout). language: ISO 639-1 code of the problems. golds: the kinds of
    golds, with counts.
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
    columns: Columns = field(default_factory=Columns)
    language: str = "en"
    golds: str = "integers"


RAW = "https://raw.githubusercontent.com"
ROW = "row"
LANGUAGES = {
    "bn": "Bengali",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "ja": "Japanese",
    "ko": "Korean",
    "ru": "Russian",
    "sw": "Swahili",
    "te": "Telugu",
    "th": "Thai",
    "zh": "Chinese",
}

# MGSM (Shi et al. 2022): the first 250 problems of GSM8K's test split, translated by people.
MGSM_ORIGIN = f"{RAW}/google-research/url-nlp/452a21ad3dae5668c06ceeac21ff073e1e40f9be/mgsm"
MGSM_SHA256 = {
    "bn": "6b00bc7cc635547e866989284afa924d789b5affa2eb8de623c385dd943ad977",
    "de": "4dfea30fede44b813e2e496f5f0534049e83c7cc8aed6e00600b30ec62053626",
    "en": "50021d0f28cc957edcb44e7806425b1c7fbd648ddcb9e0a8ec689d10e57d40fa",
    "es": "5bd27ebdf00140cec845c5298dc17715f5cd57d8edda6df1976db40bf3f0750a",
    "fr": "36207c1c03fd7cd3ea491441eb755408199f94e4a647851df531bbaedc99d606",
    "ja": "59a2b50debe77981fd784cb3b2bef1505e3abf2a37116dc9d7a366ab029b4637",
    "ru": "6bd30fd2e80c5bac23f566fb4ae0e6a55a19578401fbf9a01fb21beb3645fef8",
    "sw": "2bac828d77229e65d7c7197b1ad4a2cb5b1fe99b163f2cbdd66501de6a2115c4",
    "te": "dd6b1452c244bb2e4ba254c01ea84137f80c1cefc57d69c23b0ed88b9c0f36b7",
    "th": "f3932dc5ad8e9d0ea82b017adc1e1461dd647af861e7166d6741986602a0cfd6",
    "zh": "b2fa63151022370a0de1f4211c8c284eae74b0f5a3b003b1d5982c0d4a73f661",
}
MGSM_EXEMPLARS_SHA256 = "239dda1557bb2ba76b71e5ef744ddd0b454da0b453e5f8b909498ceff690a919"
# MSVAMP (Chen et al. 2023): 1,000 problems of SVAMP, translated by machine and corrected.
MSVAMP_ORIGIN = (
    f"{RAW}/microsoft/MathOctopus/4d385db696c420b212ccf861fcfab13c1499a576/"
    "step1_supervised_finetuning/data/msvamp"
)
MSVAMP_SHA256 = {
    "bn": "d1c0bb8e3a93127bdffab516ef9bb739ae5007f9071ae97c447c294b1fd65e82",
    "de": "f5b854da48da762163fb3ccf60307bb9a97e0efac2fd44fdb5ba0969ee1464aa",
    "en": "9431a24e993a8f83fd602393ffbb368e1d91fa36b2110ad8f1e0ec319792eed0",
    "es": "0aecc731e945d196c8eb38ddb5ad683821e5fd72c55273db1f2233d559495275",
    "fr": "3a756d228f3d9ee219b673f9dda091b6d64f7c4d0e71045d6a6dbf315539e0ea",
    "ja": "04f89b370bb22a6a78de99fc36e30658186149858172abf8e68665890e81322b",
    "ru": "05d2d317c24f1180c0839d7813f6bebcaeeb57d919cd2d748a0b9964fd77a1c0",
    "sw": "15f863a79b7e4adf820d76b61044f4e4489f7710d14128ad7b4e915e133a2c16",
    "th": "60b81f4458f584f637a35e57e85f503173ef67434a83a449c6ee6670a730e9f8",
    "zh": "31e136303b56ed1734d3e9fbcdcff4499f974a0857298816c41e1c5c0be6b4bd",
}
PAL_ORIGIN = f"{RAW}/reasoning-machines/pal/f81ca2a9777f002f98a6b4d0f10b61bd5c8feb02/datasets"
INPUT_TARGET = Columns(question=("input",), gold="target")
# name -> (digest, problems, kinds of golds)
MAWPS = {
    "addsub": (
        "2fae2c92530cdf1ac0487db9a90e68d6af84049d755c07c4486411c1d7f43e75",
        395,
        "integers, 126 decimals",
    ),
    "multiarith": (
        "12e8295088364af21fb6591dbdbd1dda452aade57227f63d725677471ded2951",
        600,
        "integers",
    ),
    "singleeq": (
        "07bec92bae226dd5231a966e907a0f097ba3170a1557c73ceeb135caad8d09f8",
        508,
        "integers, 134 decimals",
    ),
    "singleop": (
        "feb012e7ed5503cdb96fd127d539692b033000e9134655acaf4f4e0091328e94",
        562,
        "integers, 15 decimals",
    ),
}
# GSM-Symbolic (Mirzadeh et al. 2024): 50 instances of each template.
SYMBOLIC_ORIGIN = (
    f"{RAW}/apple/ml-gsm-symbolic/b6a1625025fc857300203bac9f617e5d8ec99f65/generated_data"
)
SYMBOLIC_COLUMNS = Columns(
    solution="answer",
    seed="original_id",
    meta={"template": "id", "instance": "instance"},
)
PLUS_ORIGIN = f"{RAW}/qtli/GSM-Plus/3474129ec12fcd3e8ac08cb037aca1928efca98c/dataset"
# This digest and that of GSM-Symbolic's main file are those by which other public repositories pin
# these commits: neither file was available when this was written.
PLUS_WHOLE_ORIGIN = (
    "https://huggingface.co/datasets/qintongli/GSM-Plus/resolve/"
    "3b708db57b96a16e8e3368ed2956990c0809440e"
)
PLUS_COLUMNS = Columns(
    gold="answer",
    solution="solution",
    seed="seed_question",
    meta={"perturbation": "perturbation_type"},
)
AIME_ORIGIN = (
    f"{RAW}/NVIDIA-NeMo/Skills/8b18f3992854bcb668095228a146e214c567b370/nemo_skills/dataset"
)
# year -> digest
AIME_SHA256 = {
    "2024": "e428f83ec735201c9db2a232727f4c20dbce87079ed386b6e3fb7f756d078756",
    "2025": "b672f9c6660b68dd42f5fc705b17405f24eaa9991c98991d63463c6b683468a8",
}


def _mgsm(language: str) -> tuple[DatasetSource, DatasetSource]:
    """Return MGSM's problems in one language and its 8 exemplars."""
    problems = DatasetSource(
        name=f"mgsm:{language}",
        summary=f"MGSM in {LANGUAGES[language]}: the first 250 problems of GSM8K's test split",
        path=f"family/mgsm/mgsm_{language}.tsv",
        sha256=MGSM_SHA256[language],
        rows=250,
        url=f"{MGSM_ORIGIN}/mgsm_{language}.tsv",
        licence="CC-BY-4.0",
        layout="columns",
        columns=Columns(question=("0",), gold="1", seed=ROW),
        language=language,
        golds="integers, 4 with commas",
    )
    exemplars = DatasetSource(
        name=f"mgsm:{language}:exemplars",
        summary=f"the 8 exemplars of MGSM in {LANGUAGES[language]}",
        path="family/mgsm/exemplars.py",
        sha256=MGSM_EXEMPLARS_SHA256,
        rows=8,
        url=f"{MGSM_ORIGIN}/exemplars.py",
        licence="CC-BY-4.0",
        layout="mgsm-exemplars",
        language=language,
    )
    return problems, exemplars


def _msvamp(language: str) -> DatasetSource:
    file = f"test_{LANGUAGES[language]}.json"
    return DatasetSource(
        name=f"msvamp:{language}",
        summary=f"MSVAMP in {LANGUAGES[language]}: SVAMP translated (Chen et al. 2023)",
        path=f"family/msvamp/{file}",
        sha256=MSVAMP_SHA256[language],
        rows=1000,
        url=f"{MSVAMP_ORIGIN}/{file}",
        licence="MIT",
        layout="columns",
        columns=Columns(question=("m_query",), gold="response", writes_floats=True),
        language=language,
    )


def _mawps(name: str) -> DatasetSource:
    sha256, rows, golds = MAWPS[name]
    return DatasetSource(
        name=f"mawps:{name}",
        summary=f"{name} of MAWPS (Koncel-Kedziorski et al. 2016), as PAL published it",
        path=f"family/mawps/mawps{name}.jsonl",
        sha256=sha256,
        rows=rows,
        url=f"{PAL_ORIGIN}/mawps{name}.jsonl",
        licence="Apache-2.0",
        layout="columns",
        columns=INPUT_TARGET,
        golds=golds,
    )


def _symbolic(name: str, file: str, sha256: str, rows: int, summary: str) -> DatasetSource:
    return DatasetSource(
        name=name,
        summary=f"GSM-Symbolic{summary} (Mirzadeh et al. 2024)",
        path=f"family/gsm_symbolic/{file}",
        sha256=sha256,
        rows=rows,
        url=f"{SYMBOLIC_ORIGIN}/{file}",
        licence="CC-BY-NC-ND-4.0",
        layout="columns",
        columns=SYMBOLIC_COLUMNS,
        golds="integers and decimals, some written 45.0",
    )


def _aime(year: str) -> DatasetSource:
    short = year[2:]
    return DatasetSource(
        name=f"aime:{year}",
        summary=f"the American Invitational Mathematics Examinations I and II of {year}",
        path=f"family/aime/nemo-aime{short}.jsonl",
        sha256=AIME_SHA256[year],
        rows=30,
        url=f"{AIME_ORIGIN}/aime{short}/test.txt",
        licence="Apache-2.0",
        layout="columns",
        columns=Columns(
            question=("problem",), gold="expected_answer", solution="reference_solution", id="id"
        ),
        golds="integers from 0 to 999",
    )


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
            url=f"{LM_EVAL_TASKS}/gsm8k/gsm8k-cot.yaml",
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
            name="opencompass:svamp-shots",
            summary="the 4 examples of OpenCompass's svamp_gen_fb25e4",
            path="exemplars/svamp_gen_fb25e4.py",
            sha256="fbc3b0981f8dc87f8fe357d88488659b505a33a65dcef0f33368341112001fe9",
            rows=4,
            url=(
                f"{RAW}/open-compass/opencompass/46cc7894e1cf05d80b7d34b35a07355433d8fce5/"
                "opencompass/configs/datasets/SVAMP/svamp_gen_fb25e4.py"
            ),
            licence="Apache-2.0",
            layout="opencompass-config",
        ),
        DatasetSource(
            name="minerva:shots",
            summary="the 4 examples for MATH of Lewkowycz et al. 2022, as lm-eval has them",
            path="exemplars/minerva_math.py",
            sha256="e6b10f05b1990d3e82a4414bbf8c04a9f6b7e029c00dfe336a040ecf78acdab0",
            rows=4,
            url=f"{LM_EVAL_TASKS}/minerva_math/utils.py",
            licence="MIT",
            layout="lm-eval-samples",
            golds="an interval, 2 integers, a fraction (LaTeX)",
        ),
        *(source for language in MGSM_SHA256 for source in _mgsm(language)),
        *map(_msvamp, MSVAMP_SHA256),
        DatasetSource(
            name="svamp",
            summary="1,000 variations of simple problems (Patel et al. 2021)",
            path="family/svamp/SVAMP.json",
            sha256="5be77703a6d891ae476d7c082787ad361392aa02453b132516cdd5f4e7934e3e",
            rows=1000,
            url=f"{RAW}/arkilpatel/SVAMP/689d7ccac74b9983a2ac7cc3b264f441b99e7c53/SVAMP.json",
            licence="MIT",
            layout="columns",
            columns=Columns(
                question=("Body", "Question"),
                gold="Answer",
                id="ID",
                meta={"type": "Type", "body": "Body"},
            ),
        ),
        DatasetSource(
            name="gsm-hard",
            summary="GSM8K's test problems with larger numbers (Gao et al. 2022)",
            path="family/gsm_hard/gsmhardv2.jsonl",
            sha256="2032b0188a49ac0ec38cbe1e695e7d62d6dddc44bbb64f920728aca710e9ddef",
            rows=1319,
            url=f"{PAL_ORIGIN}/gsmhardv2.jsonl",
            licence="Apache-2.0",
            layout="columns",
            columns=Columns(question=("input",), gold="target", solution="code", seed="code"),
            golds="integers, 146 negative, 303 decimals",
        ),
        *map(_mawps, MAWPS),
        DatasetSource(
            name="asdiv",
            summary="ASDiv (Miao et al. 2020): the 2,096 problems with an integer as the answer",
            path="family/mawps/asdiv.jsonl",
            sha256="6fb7347f20b2393e5f877573b0adacb7ac8f4ea15e52e39ed60803ed6ecd3cb6",
            rows=2096,
            url=f"{PAL_ORIGIN}/asdiv.jsonl",
            licence="CC-BY-NC-4.0",
            layout="columns",
            columns=INPUT_TARGET,
        ),
        DatasetSource(
            name="gsm-plus",
            summary="8 perturbations of each of GSM8K's 1,319 test problems (Li et al. 2024)",
            path="family/gsm_plus/gsmplus_test.jsonl",
            sha256="885c279bfa9cde767ea23f79fd462d566fa0dbf6af9f2dcf30c75aa94f3d4041",
            rows=10552,
            url=f"{PLUS_WHOLE_ORIGIN}/data/test-00000-of-00001.jsonl",
            licence="CC-BY-SA-4.0",
            layout="columns",
            columns=PLUS_COLUMNS,
            golds="integers, decimals, fractions; None for 1,319 that cannot be answered",
        ),
        DatasetSource(
            name="gsm-plus:mini",
            summary="8 perturbations of each of 300 of GSM8K's test problems (Li et al. 2024)",
            path="family/gsm_plus/gsmplus_testmini.jsonl",
            sha256="6653b4b941956da12ba0af2eae660800db13a901123553b163b77be2d20eb7d5",
            rows=2400,
            url=f"{PLUS_ORIGIN}/gsmplus_testmini.jsonl",
            licence="CC-BY-SA-4.0",
            layout="columns",
            columns=PLUS_COLUMNS,
            golds="integers, 154 decimals, 7 fractions; None for 300 that cannot be answered",
        ),
        _symbolic(
            "gsm-symbolic",
            "GSM_symbolic.jsonl",
            "945055837b232bd9b56827b1e3a5aa019075f29e8ba4669d9a9df8b4439a291f",
            5000,
            ": 100 templates of GSM8K problems",
        ),
        _symbolic("gsm-symbolic:p1", "GSM_p1.jsonl", "", 5000, ", one clause more"),
        _symbolic(
            "gsm-symbolic:p2",
            "GSM_p2.jsonl",
            "f7d6701619f824f4fedd0a914b1cfbc0fd31f61617887aa7fe318d018dda3f29",
            2500,
            ", two clauses more: 50 templates",
        ),
        DatasetSource(
            name="gsm8k-ko",
            summary="GSM8K's test split in Korean; 8 questions give their answer away",
            path="family/kor_gsm8k/kor-gsm8k-test.jsonl",
            sha256="840c32ffe348f65b0bb64410fc56396254a861ab1eea5931701272bf5d7388c0",
            rows=1319,
            url=(
                f"{RAW}/xfactlab/kt-ai-challenge/60c24033b65fefb70f632c0dc1e7cf41f8d0c3fb/"
                "data/reasoning-data/kor-gsm8k/kor-gsm8k-test.jsonl"
            ),
            licence="Apache-2.0",
            layout="columns",
            columns=Columns(
                question=("kor_question",), gold="answer_s", solution="kor_answer", seed=ROW
            ),
            language="ko",
            golds="integers, 14 with commas, 2 negative",
        ),
        DatasetSource(
            name="cmath",
            summary="Chinese elementary school problems of grades 1 to 6 (Wei et al. 2023)",
            path="family/cmath/cmath_dev.jsonl",
            sha256="b9c6333a31fd740e7f5b5a71022bd59e00748798a3377364346d280549b25e3b",
            rows=600,
            url=f"{RAW}/XiaoMi/cmath/9fa13ef0b2d03f5a18c1ace7001248d3981d65ea/datasets/cmath_dev.jsonl",
            licence="CC-BY-4.0",
            layout="columns",
            columns=Columns(
                question=("input",),
                gold="golden",
                meta={"grade": "grade", "steps": "reasoning_step", "digits": "num_digits"},
            ),
            language="zh",
            golds="integers, 52 decimals, 28 fractions, 3 percentages",
        ),
        *map(_aime, AIME_SHA256),
        DatasetSource(
            name="math500",
            summary="500 test problems of MATH (Hendrycks et al. 2021; Lightman et al. 2023)",
            path="family/math500/math500.jsonl",
            sha256="35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132",
            rows=500,
            url=(
                f"{RAW}/ZubinGou/math-evaluation-harness/db77bc6bb2a17c90ed2d63e88ebd8c40a82858c5/"
                "data/math_oai/test.jsonl"
            ),
            licence="MIT",
            layout="columns",
            columns=Columns(
                question=("problem",),
                gold="answer",
                solution="solution",
                meta={"subject": "subject", "level": "level"},
            ),
            golds="312 integers, 188 other numbers and expressions (LaTeX)",
        ),
        DatasetSource(
            name="processbench",
            summary="400 solutions of GSM8K problems, their first wrong step marked by people "
            "(Zheng et al. 2024)",
            path="step_labels/processbench_gsm8k.json",
            sha256="fb1c59dfd1e83e1c5a48dbe598db27e4bc0b8bc524a09445f2d4b69178f61349",
            rows=400,
            url=(
                f"{RAW}/QwenLM/ProcessBench/ee5ae00f2d32205df00655cf9ebbc3caddce0646/"
                "dataset/gsm8k.json"
            ),
            licence="Apache-2.0",
            layout="step-labels",
            golds="the number of the first wrong step, counted from 0; -1 for none",
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
    "gsm-symbolic:main": "gsm-symbolic",
    "aime24": "aime:2024",
    "aime25": "aime:2025",
    "math-500": "math500",
}
