"""Reward models in the published forms: tiny random ones against what their model cards compute."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.verifier.networks import build_tokenizer  # noqa: E402
from gradeschool.verifier.scores import SHEPHERD, RewardModel, load_verifier  # noqa: E402
from tests.support.command import Command  # noqa: E402
from tests.support.trainees import SIZES  # noqa: E402

pytestmark = pytest.mark.slow

QUESTION = "Tom has 3 apples and buys 4. How many?"
STEP_TAG = SHEPHERD[0]
STEPS = ["He buys 4 + 3.", "That is 7 -", "The answer is 7."]
TEMPLATE = "{% for turn in messages %}<{{ turn['role'] }}>{{ turn['content'] }}{% endfor %}"


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    texts = [QUESTION, *STEPS, "system user assistant Please reason step by step"]
    words = build_tokenizer(texts, vocabulary=290)
    words.add_special_tokens({"additional_special_tokens": [STEP_TAG]})
    words.chat_template = TEMPLATE
    return words


def saved(kind: str, tokenizer: Any, folder: Path, **config: Any) -> Any:
    """A tiny random model of a transformers class, which its folder has too."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        fields = transformers.AutoConfig.for_model("llama", **{**SIZES, **config})
        model = getattr(transformers, kind)(fields).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


@pytest.mark.parametrize("with_space", [False, True])
def test_a_token_classifier_reads_as_trls(tokenizer: Any, with_space: bool, tmp_path: Path) -> None:
    from tokenizers.normalizers import Prepend

    if with_space:  # as SentencePiece: a line break alone is two tokens
        tokenizer = deepcopy(tokenizer)
        tokenizer.backend_tokenizer.normalizer = Prepend(" ")
        assert len(tokenizer.encode("\n", add_special_tokens=False)) == 2
    model = saved("LlamaForTokenClassification", tokenizer, tmp_path, num_labels=2)
    reward: Any = load_verifier(str(tmp_path))
    assert reward.form == "token"
    ids = list(tokenizer(QUESTION, add_special_tokens=False)["input_ids"])
    ends = []
    for step in STEPS:
        ids += tokenizer(step, add_special_tokens=False)["input_ids"]
        ids += tokenizer.encode("\n", add_special_tokens=False)
        ends.append(len(ids) - 1)
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0]
    expected = [float(logits[end].softmax(-1)[1]) for end in ends]
    assert reward.step_scores([(QUESTION, STEPS)])[0] == pytest.approx(expected, abs=1e-6)
    assert len({round(score, 5) for score in expected}) == 3
    several = reward.step_scores([(QUESTION, STEPS[:1]), (QUESTION, STEPS), ("Why?", STEPS)])
    assert several[1] == pytest.approx(expected, abs=1e-6)  # padding is not seen
    assert [len(scores) for scores in several] == [1, 3, 3]


def test_a_tokenizer_without_line_breaks_is_refused(tokenizer: Any, tmp_path: Path) -> None:
    from tokenizers.normalizers import Replace

    tokenizer = deepcopy(tokenizer)
    tokenizer.backend_tokenizer.normalizer = Replace("\n", "")
    saved("LlamaForTokenClassification", tokenizer, tmp_path, num_labels=2)
    with pytest.raises(InputError, match=r"does not know '\\n', which the form 'token' needs"):
        load_verifier(str(tmp_path))


def test_a_score_without_classes_goes_through_a_sigmoid(tokenizer: Any, tmp_path: Path) -> None:
    model = saved("LlamaForSequenceClassification", tokenizer, tmp_path, num_labels=1)
    reward: Any = load_verifier(str(tmp_path))
    assert reward.form == "sequence"
    expected = []
    for end in (1, 2, 3):
        answer = "\n".join(STEPS[:end])
        ids = tokenizer(f"<user>{QUESTION}<assistant>{answer}", add_special_tokens=False)
        with torch.no_grad():
            logits = model(torch.tensor([ids["input_ids"]])).logits
        expected.append(float(logits[0, 0].sigmoid()))
    assert reward.step_scores([(QUESTION, STEPS)])[0] == pytest.approx(expected, abs=1e-6)


def test_math_shepherds_tags_compare_plus_with_minus(tokenizer: Any, tmp_path: Path) -> None:
    model = saved("LlamaForCausalLM", tokenizer, tmp_path)
    with pytest.raises(InputError, match="or give the --form of a published reward model"):
        load_verifier(str(tmp_path))
    reward = RewardModel(tmp_path, "math-shepherd")
    # The model card: f"{question} {output}", "+" first, the softmax at every tag.
    output = "\n".join(f"Step {i}: {step} {STEP_TAG}" for i, step in enumerate(STEPS, start=1))
    ids = torch.tensor([tokenizer(f"{QUESTION} {output}")["input_ids"]])
    candidates = [tokenizer("+")["input_ids"][-1], tokenizer("-")["input_ids"][-1]]
    with torch.no_grad():
        scores = model(ids).logits[:, :, candidates].softmax(dim=-1)[:, :, 0]
    tag = tokenizer.convert_tokens_to_ids(STEP_TAG)
    expected = scores[ids == tag].tolist()
    assert reward.step_scores([(QUESTION, STEPS)])[0] == pytest.approx(expected, abs=1e-6)
    with pytest.raises(InputError, match="4 step tags in a solution of 3 steps"):
        reward.step_scores([(QUESTION, [f"A {STEP_TAG}", *STEPS[1:]])])


def test_a_head_that_is_not_there_is_not_drawn_at_random(tokenizer: Any, tmp_path: Path) -> None:
    saved("LlamaForCausalLM", tokenizer, tmp_path)
    with pytest.raises(InputError, match=r"lack score\.\w+.* another --form"):
        RewardModel(tmp_path, "token")
    with pytest.raises(InputError, match="is for a reward model on a server; serve it by vLLM"):
        RewardModel(tmp_path, "qwen")


def test_rank_takes_a_reward_model(tokenizer: Any, tmp_path: Path, gradeschool: Command) -> None:
    folder, test = tmp_path / "reward", tmp_path / "test.jsonl"
    saved("LlamaForTokenClassification", tokenizer, folder, num_labels=2)
    rows = [{"index": 0, "sample": number, "completion": f"{STEPS[0]}\n#### {number}"}
            for number in range(3)]  # fmt: skip
    test.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    arguments = (test, "-d", "sample", "--verifier", folder)
    ended = gradeschool("verifier", "rank", *arguments, "--reduce", "min", "--json")
    assert re.fullmatch(r"reward@[0-9a-f]{12} \(token\):min", ended.json()["verifier"])
    said = gradeschool.refused("verifier", "score", *arguments, "--tokens")
    assert "scores steps, not tokens" in said
