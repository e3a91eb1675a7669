"""Heads: reading solutions, saving, the reserved token, the probe, the exported classifier."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.verifier.data import QuestionSolution, SolutionTokens, encode_pairs, step_ends  # noqa: E402
from gradeschool.verifier.networks import (  # noqa: E402  # noqa: E402
    LIKELIHOOD,
    LOGIT,
    Verifier,
    export_classifier,
    new_verifier,
    read_logprobs,
    read_values,
)
from gradeschool.verifier.scores import RewardModel  # noqa: E402
from tests.support.trainees import architecture, save_verifier, sums, tokenizer_of, trainee  # noqa: E402

pytestmark = pytest.mark.slow

TOKENIZER = tokenizer_of(sums(20))
TEXTS = [
    *[SolutionTokens((5, 6, 7), (8, 9, 10 + number, 1)[: 2 + number % 3]) for number in range(6)],
    SolutionTokens((7, 5), (9, 1)),
    SolutionTokens((4,), (9,)),
]


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2", "gemma"])
def test_a_shared_question_gives_the_values_of_whole_rows(kind: str) -> None:
    verifier = new_verifier(architecture(kind), TOKENIZER)
    read = zip(TEXTS, read_values(verifier, TEXTS), read_logprobs(verifier.model, TEXTS),
               strict=True)  # fmt: skip
    for text, values, logprobs in read:
        start, ids = len(text.question), torch.tensor([text.question + text.solution])
        with torch.no_grad():
            output = verifier.model(input_ids=ids, output_hidden_states=True)
            expected = verifier.values(output.hidden_states[-1][0, start:])
            chosen = output.logits[0].log_softmax(1)[
                range(start - 1, ids.shape[1] - 1), ids[0, start:]
            ]
        assert values == pytest.approx(expected.tolist(), abs=1e-5)
        assert logprobs == pytest.approx(chosen.tolist(), abs=1e-4)


@pytest.mark.parametrize("kind", [LOGIT, LIKELIHOOD])
def test_a_saved_verifier_gives_the_same_values(kind: str, tmp_path: Path) -> None:
    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER, 1, kind == LIKELIHOOD)
    save_verifier(verifier, tmp_path, TOKENIZER, level="pooled")
    loaded, _ = Verifier.load(tmp_path)
    assert loaded.kind == kind
    for values, again in zip(read_values(verifier.eval(), TEXTS), read_values(loaded, TEXTS),
                             strict=True):  # fmt: skip
        assert values == pytest.approx(again, abs=1e-6)
        assert kind == LOGIT or all(0 <= value <= 1 for value in values)


def test_a_folder_without_a_head_is_no_verifier(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a verifier: its head \(verifier\.json"):
        Verifier.load(tmp_path)
    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER)
    save_verifier(verifier, tmp_path, TOKENIZER)
    path = tmp_path / "verifier.json"
    path.write_text(path.read_text().replace('"token_id": 2', '"token_id": 3000'))
    with pytest.raises(InputError, match="names the token 3000, but the model knows"):
        Verifier.load(tmp_path)


def test_an_exported_classifier_scores_as_trained(tmp_path: Path) -> None:
    from transformers import AutoModelForTokenClassification

    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER)
    save_verifier(verifier, tmp_path / "verifier", TOKENIZER)
    export_classifier(tmp_path / "verifier", tmp_path / "classifier")
    model = AutoModelForTokenClassification.from_pretrained(tmp_path / "classifier")
    for text, values in zip(TEXTS, read_values(verifier.eval(), TEXTS), strict=True):
        ids = torch.tensor([text.question + text.solution])
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[0, len(text.question) :, 0]
        assert logits.tolist() == pytest.approx(values, abs=1e-5)
    question, steps = "Tom has 3 apples and buys 4. How many?", ["He has 3+4=7.", "#### 7"]
    [scores] = RewardModel(tmp_path / "classifier", "token").step_scores([(question, steps)])
    [text] = encode_pairs(TOKENIZER, [QuestionSolution(question, "\n".join(steps))])
    ends = step_ends(TOKENIZER, steps, text.solution)
    [values] = read_values(verifier, [text])
    assert scores == pytest.approx([values[end - 1] for end in ends], abs=1e-5)


def test_a_probe_begins_the_head_near_what_the_states_separate() -> None:
    """Solutions that hold the token 20 are right; the values before any training say so."""
    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER)
    source = torch.Generator().manual_seed(0)
    texts, right = [], []
    for number in range(60):
        tokens = torch.randint(30, 250, (5,), generator=source).tolist()
        is_right = number % 2 == 0
        tokens[2] = 20 if is_right else 21
        texts.append(SolutionTokens((5, 6 + number // 4), (*tokens, 1)))
        right.append(is_right)
    verifier.eval().fit_row(texts, right)
    scores = [sum(values) / len(values) for values in read_values(verifier, texts)]
    means = [sum(score for score, label in zip(scores, right, strict=True) if label is wanted) / 30
             for wanted in (True, False)]  # fmt: skip
    assert means[0] > means[1] + 0.15
    assert float(verifier.row.detach().norm()) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("padding", [0, 10])
def test_a_model_without_the_reserved_token_gets_it(padding: int) -> None:
    tokenizer, model = tokenizer_of(sums(20)), trainee(TOKENIZER)
    size = len(tokenizer)
    model.resize_token_embeddings(size + padding)
    fields = tokenizer.backend_tokenizer.to_str().replace("<ver>", "<other>")
    backend = type(tokenizer.backend_tokenizer).from_str(fields)
    bare = type(tokenizer)(tokenizer_object=backend)
    assert new_verifier(model, bare).token_id == size
    assert bare.decode([size]) == "<ver>"
    assert model.get_input_embeddings().weight.shape[0] == size + max(1, padding)
