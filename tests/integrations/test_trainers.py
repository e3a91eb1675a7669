"""The rewards for TRL, verl and OpenRLHF."""

import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from gradeschool.errors import InputError
from gradeschool.integrations import openrlhf, verl
from gradeschool.integrations.lm_eval_tasks import filters
from gradeschool.integrations.trl import RewardFunction, reward
from gradeschool.integrations.verifiers import exact_match, load_environment, rows, sampling


def test_trl_gets_a_float_or_none_for_each_completion() -> None:
    extra: dict[str, list[Any]] = {}
    values = reward(
        prompts=["?"] * 3,
        completions=[[{"role": "assistant", "content": "#### 1"}], "#### 2", "#### 3"],
        answer=["so\n#### 1", "9", ""],
        log_extra=extra.__setitem__,
    )
    assert values == [1.0, 0.0, None]
    assert extra["gradeschool_outcome"] == ["correct", "wrong", "error"]
    assert "'2' is not '9'" in extra["gradeschool_reason"][1]
    assert reward.__name__ == "gradeschool"


def test_trl_is_told_which_column_is_missing() -> None:
    with pytest.raises(InputError, match=r"no column 'gold' or 'answer'.*only \['label'\]"):
        reward(["#### 1"], label=["1"])
    assert RewardFunction(column="label")(["#### 1"], label=["1"]) == [1.0]


def test_trl_columns_are_lists() -> None:
    with pytest.raises(
        InputError, match="list of values in the column 'answer', not the text '18'"
    ):
        reward(["#### 1", "#### 8"], answer="18")
    with pytest.raises(InputError, match="2 completions but 1 values in the column 'answer'"):
        reward(["#### 1", "#### 8"], answer=["18"])


def test_trl_takes_the_first_gold_of_each_row() -> None:
    texts, golds = ["#### 1", "#### 2", "#### 3"], [None, "2", None]
    assert reward(texts, gold=golds, answer=["1", "9", None]) == [1.0, 1.0, None]
    assert RewardFunction(column="gold")(texts, gold=golds, answer=["1"] * 3) == [None, 1.0, None]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format_credits": 0.1}, "did you mean format_credit"),
        ({"format": "boxed"}, "no option of the reward is called 'format'"),
        ({"format_credit": [0.1]}, r"format_credit is \[0.1\]"),
        ({"scorer": ["openai/2021"]}, "the scorer is"),
    ],
)
def test_verl_options_that_cannot_be_used_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        verl.compute_score("", "#### 18", "18", **options)


def test_verl_gets_a_score_with_reasons_by_keyword() -> None:
    row = verl.compute_score(
        data_source="openai/gsm8k",
        solution_str="so\n#### 1,250",
        ground_truth="1250",
        extra_info={"num_turns": None},
        reward_router_address="passed over",
        format_credit=0.5,
    )
    assert {key: row[key] for key in ("score", "acc", "pred", "outcome")} == {
        "score": 1.5,
        "acc": True,
        "pred": "1250",
        "outcome": "correct",
    }


def test_verl_batches_have_the_same_keys_in_every_row() -> None:
    rows = verl.compute_scores(["x"] * 3, ["#### 1", "", "#### 1"], ["1", "1", ""])
    assert [row["score"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["outcome"] for row in rows] == ["correct", "no_answer", "error"]
    assert len({tuple(row) for row in rows}) == 1


@pytest.mark.parametrize(
    ("query", "prompt", "text"),
    [
        ("Q: 1?\nA: one", "Q: 1?\nA:", " one"),
        ("Q A 18<|im_end|>", "Q A", " 18<|im_end|>"),
        ("<s> Q: 1?\nA: 5 ", "Q: 1?\nA:", " 5 "),
        ("something else", "Q: 1?", None),
        ("</s>", "", "</s>"),
        ("Q: 1 + 1?\n#### 2\nQ: 9 * 2?\nA:", "Q: 1+1?\n#### 2\n\nQ: 9 * 2 ?\nA: ", ""),
        ("<s>Q: 9 * 2?\nA:  #### 18", "Q: 9 * 2 ?\nA: ", "  #### 18"),
        ("<s>" + 90 * "go on\n" + "18", 90 * "go on\n", "18"),
        ("<s>" + 90 * "go on\n" + "18", 90 * "go  on\n", "\n18"),
        (80 * "go on\n" + "18", 90 * "go on\n", None),
        (" ".join(map(str, range(5, 199))) + " so 18", " ".join(map(str, range(199))), " so 18"),
    ],
)
def test_openrlhf_reads_the_response_alone(query: str, prompt: str, text: str | None) -> None:
    assert openrlhf.response(query, prompt) == text


@pytest.mark.slow
def test_openrlhf_gives_nothing_for_a_query_without_its_prompt() -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    with pytest.warns(UserWarning, match="does not contain its prompt"):
        results = openrlhf.reward_func(["Q: 1?\n#### 18"], ["another prompt"], ["18"])
    assert results["rewards"].tolist() == [0.0]


@pytest.mark.slow
def test_openrlhf_gets_tensors() -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    results = openrlhf.reward_func(
        ["Q 18<|im_end|>\n<pad>", "Q 7", "Q none"], ["Q"] * 3, ["18", "#### 11", "1"]
    )
    assert results["rewards"].tolist() == results["scores"].tolist() == [1.0, 0.0, 0.0]
    assert results["extra_logs"]["answered"].tolist() == [1.0, 1.0, 0.0]


@pytest.mark.usefixtures("data")
def test_the_rows_of_gsm8k_olmes_are_our_prompts() -> None:
    first = rows("sample", system_prompt="Be brief.")[0]
    assert [turn["role"] for turn in first["prompt"]][:3] == ["system", "user", "assistant"]
    assert first["prompt"][-1] == {"role": "assistant", "content": "Answer:"}
    assert first["prompt"][1:] == rows("sample")[0]["prompt"]
    assert len(first["prompt"]) == 1 + 8 * 2 + 2


def test_its_decoding_is_that_of_olmes() -> None:
    assert sampling() == {
        "temperature": 0.0,
        "max_tokens": 512,
        "stop": ["Question:", "</s>", "<|im_end|>"],
        "extra_body": {"continue_final_message": True, "add_generation_prompt": False},
    }


@pytest.mark.parametrize(
    ("said", "answer", "value"),
    [
        ("<think>maybe 7</think> So the answer is 18.", "18", 1.0),
        ("<think>18</think> no", "18", 0.0),
        ("1,250 in all", "1250", 1.0),
        ("it is 10", "-10", 1.0),
        ("18.00", "18", 0.0),
        ("", "18", 0.0),
    ],
)
def test_its_reward_is_the_last_number(said: str, answer: str, value: float) -> None:
    assert exact_match(said, answer) == value
    assert exact_match([{"role": "assistant", "content": said}], answer, state={}) == value


def test_verifiers_without_environments_names_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("verifiers", "datasets"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setattr(sys.modules[name], "__spec__", ModuleSpec(name, None, origin="memory"))
    monkeypatch.setattr(sys.modules["verifiers"], "__version__", "0.4.0", raising=False)
    monkeypatch.setattr(sys.modules["datasets"], "Dataset", object, raising=False)
    with pytest.raises(InputError, match=r"0\.4\.0 .* pip install 'verifiers<0\.4'"):
        load_environment(dataset="sample")


def test_a_filter_gives_a_text_for_each_document() -> None:
    docs = [{"question": "?", "answer": f"so\n#### {gold}"} for gold in ("1,250", "11", "3")]
    resps = [["#### 1250.00", "ignored"], ["ANSWER: 711"], ["no idea"]]
    assert filters.reader(resps, docs) == ["1,250", "711", "[invalid]"]
    assert filters.numeric_equality(resps, docs) == ["1,250", "711", "[invalid]"]


@pytest.mark.parametrize(
    "answer", ["18", 18, "####18", "x = 18\n####18", "#### 18 ", "#### 18\n", "$18", "+18"]
)
def test_a_right_answer_is_the_gold_as_exact_match_compares_it(answer: object) -> None:
    (filtered,) = filters.reader([["#### 18.0"]], [{"answer": answer}])
    assert compared(filtered) == compared(str(answer))
    (wrong,) = filters.reader([["#### 19"]], [{"question": "?", "answer": answer}])
    assert compared(wrong) != compared(str(answer))


def compared(text: str) -> str:
    """What exact_match leaves of a text: `regexes_to_ignore` of the task."""
    for pattern in (",", r"\$", "(?s).*#### ", r"\.$"):
        text = re.sub(pattern, "", text)
    return text


@pytest.mark.parametrize("doc", [{"answer": "eighteen"}, {"answer": None}, {}, {"answer": "####"}])
def test_a_document_without_a_gold_is_invalid(doc: dict[str, object]) -> None:
    with pytest.warns(UserWarning, match="1 document scores 0: the gold"):
        assert filters.reader([["#### 18"]], [doc]) == ["[invalid]"]


def test_numeric_equality_reads_no_part_of_a_gold() -> None:
    with pytest.warns(UserWarning, match="the gold '#### 1,8xx' does not mark its answer"):
        assert filters.numeric_equality([["#### 18"]], [{"answer": "#### 1,8xx"}]) == ["[invalid]"]
