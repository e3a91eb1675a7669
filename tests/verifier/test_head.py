"""The verifier's head, its objective and its values, against computations by hand."""

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from tokenizers import AddedToken  # noqa: E402

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.models.local import load_tokenizer  # noqa: E402
from gradeschool.verifier.examples import (  # noqa: E402
    QuestionSolution,
    SolutionScore,
    SolutionTokens,
    encode,
    encode_all,
    texts_of,
)
from gradeschool.verifier.head import (  # noqa: E402
    BIAS,
    GAIN,
    LIKELIHOOD_BIAS,
    LIKELIHOOD_GAIN,
    NO_TOKEN,
    LikelihoodVerifier,
    Verifier,
    batches,
    logits_of,
    logprobs_of,
    new_verifier,
    reserve,
    values_of,
)
from gradeschool.verifier.labels import LabelledSolution, SolutionGroup  # noqa: E402
from gradeschool.verifier.packing import (  # noqa: E402
    hidden_states,
    pack_solutions,
    take_packed,
)
from gradeschool.verifier.train_verifier import (  # noqa: E402
    GroupBatches,
    Level,
    batch_of,
    group_tokens,
    losses,
)
from tests.support.trainees import architecture, sums, tokenizer_of, trainee  # noqa: E402

QUESTIONS = [(5, 6, 7, 8), (9, 5), (7,)]
SOLUTIONS = [(0, (11, 12, 13)), (1, (11,)), (0, (14, 15, 16, 17, 1)), (2, (18, 1))]
VER = 2


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tokenizer_of(sums(40))


@pytest.fixture(scope="module")
def verifier(tokenizer: Any) -> Verifier:
    untrained, _ = new_verifier(trainee(tokenizer), tokenizer)
    take_packed(untrained.model)
    return untrained.eval()


def score(
    verifier: Verifier, tokenizer: Any, solutions: list[QuestionSolution], places: int | None = None
) -> list[SolutionScore]:
    """The verifier's values of solutions."""
    texts = texts_of(tokenizer, solutions)
    values = values_of(verifier, texts, places=places)
    return [
        SolutionScore(row, row[-1], list(text.solution))
        for text, row in zip(texts, values, strict=True)
    ]


def pairs() -> list[QuestionSolution]:
    """Solutions of different length, right and wrong, some twice, one unfinished."""
    solutions = []
    for problem in sums(12):
        solutions += [
            QuestionSolution(problem.question, problem.solution),
            QuestionSolution(problem.question, "#### 0"),
        ]
        solutions += [QuestionSolution(problem.question, problem.solution)] * 2
    return [*solutions, QuestionSolution(solutions[0].question, "Tom has 3+", False)]


# One question for many solutions


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2", "gpt_neox", "bloom"])
def test_solutions_that_share_a_question_have_the_states_they_have_alone(kind: str) -> None:
    model = architecture(kind)
    rows = pack_solutions(QUESTIONS, SOLUTIONS)
    whole = hidden_states(model, rows, share=False)
    with suppress(InputError):  # bloom cannot; its rows are padded
        take_packed(model)
    shared = hidden_states(model, rows)
    for row, (question, ids) in enumerate(SOLUTIONS):
        tokens = torch.tensor([[*QUESTIONS[question], *ids]])
        alone = model.base_model(input_ids=tokens).last_hidden_state[0, -len(ids) - 1 :]
        for states in (shared, whole):
            assert torch.allclose(states[row, : len(ids) + 1], alone, atol=1e-5)


def test_a_question_is_read_once_and_every_layer_runs_once() -> None:
    model = architecture("llama")
    take_packed(model)
    sizes: list[int] = []
    for layer in model.model.layers:
        layer.register_forward_hook(lambda module, inputs, output: sizes.append(inputs[0].shape[1]))
    many = [(0, (11, 12, 13)), (0, (11, 12, 14)), (0, (15,))]
    hidden_states(model, pack_solutions(QUESTIONS[:1], many))
    assert sizes == [3 + 4 + 4 + 2] * 2  # the question but its last token, and the bodies


def test_rows_longer_than_a_window_are_read_row_by_row() -> None:
    model = architecture("mistral")
    model.config.sliding_window = 6
    rows = pack_solutions(QUESTIONS, SOLUTIONS)
    expected = hidden_states(model, rows, share=False)
    take_packed(model)
    assert torch.equal(hidden_states(model, rows), expected)


@pytest.mark.parametrize("kind", ["llama", "gemma2", "granite", "cohere"])
def test_logits_are_those_of_the_models_own_forward(kind: str) -> None:
    model = architecture(kind)
    tokens = torch.tensor([[5, 6, 7, 8, 9]])
    states = model.base_model(input_ids=tokens).last_hidden_state
    assert torch.allclose(logits_of(model, states), model(input_ids=tokens).logits, atol=1e-6)


def test_a_value_is_a_gain_and_a_bias_on_the_reserved_tokens_logit(verifier: Verifier) -> None:
    rows = pack_solutions(QUESTIONS, SOLUTIONS)
    values = verifier(rows).values
    for row, (question, ids) in enumerate(SOLUTIONS):
        tokens = torch.tensor([[*QUESTIONS[question], *ids]])
        logits = verifier.model(input_ids=tokens).logits[0, -len(ids) - 1 :, VER]
        assert torch.allclose(values[row, : len(ids) + 1], GAIN * logits + BIAS, atol=1e-6)


# The objective, by hand


def by_hand(verifier: Verifier, groups: list[SolutionGroup], level: Level) -> dict[str, float]:
    """The summed losses, solution by solution from the model's own logits."""
    squared = language = 0.0
    for group in groups:
        for solution in group.solutions:
            tokens = torch.tensor([[*group.question, *solution.ids]])
            logits = verifier.model(input_ids=tokens).logits[0, -len(solution.ids) :, VER]
            values = verifier.gain * logits + verifier.bias
            values = values[-1:] if level is Level.SOLUTION else values
            squared += solution.drawn * ((values - float(solution.right)) ** 2).sum().item()
        if group.reference is not None:
            tokens = torch.tensor([[*group.question, *group.reference]])
            logits = verifier.model(input_ids=tokens).logits[0, -len(group.reference) - 1 : -1]
            logits[:, VER] = float("-inf")
            chosen = torch.log_softmax(logits, -1)[
                range(len(group.reference)), list(group.reference)
            ]
            language -= chosen.sum().item()
    return {"verification": squared, "language": language}


def groups() -> list[SolutionGroup]:
    right, wrong = LabelledSolution((11, 12, 1), True, 3), LabelledSolution((13, 1), False, 2)
    return [
        SolutionGroup((5, 6, 7), [right, wrong], (11, 12, 14, 1)),
        SolutionGroup((8, 9), [wrong], (15, 1)),
    ]


@pytest.mark.parametrize("level", [Level.TOKEN, Level.SOLUTION])
def test_the_joint_loss_is_the_one_computed_by_hand(verifier: Verifier, level: Level) -> None:
    batch = batch_of(groups(), level)
    computed = {name: loss.item() for name, loss in losses(verifier, batch).items()}
    assert computed == pytest.approx(by_hand(verifier, groups(), level), rel=1e-5)
    tokens = 3 * 3 + 2 * 2 + 2 * 2 if level is Level.TOKEN else 3 + 2 + 2
    assert batch.counts == {"verification": tokens, "language": 4 + 2}


def test_the_likelihood_head_scores_by_the_whole_solutions_likelihood(tokenizer: Any) -> None:
    likelihood, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=True)
    right = [group._replace(reference=None, learn_right=True) for group in groups()]
    batch = batch_of(right, Level.LIKELIHOOD)
    computed = {name: solution.item() for name, solution in losses(likelihood, batch).items()}
    entropy = language = 0.0
    for group in right:
        for solution in group.solutions:
            tokens = torch.tensor([[*group.question, *solution.ids]])
            logits = (
                likelihood.model(input_ids=tokens).logits[0, -len(solution.ids) - 1 : -1].detach()
            )
            logits[:, VER] = float("-inf")
            every = torch.log_softmax(logits, -1)[range(len(solution.ids)), list(solution.ids)]
            likely = torch.sigmoid(0.15 * every.sum() + 2.3).item()
            entropy -= solution.drawn * math.log(likely if solution.right else 1 - likely)
            language -= every.sum().item() if solution.right else 0.0
            values = (
                likelihood(pack_solutions([group.question], [(0, solution.ids)]))
                .values[0, 1:]
                .detach()
            )
            partial = torch.sigmoid(0.15 * every.double().cumsum(0) + 2.3)
            assert torch.allclose(values, partial, atol=1e-4)
    assert computed == pytest.approx({"verification": entropy, "language": language}, rel=1e-3)
    assert batch.counts == {"verification": 3 + 2 + 2, "language": 3}


def test_values_in_bfloat16_passes_are_not_rounded_to_bfloat16(tokenizer: Any) -> None:
    """bfloat16 has 63 values between 0.9 and 1.1: ranking would fall back to the sample order."""
    generator = torch.Generator().manual_seed(0)
    solutions = [(0, (*torch.randint(3, 299, (6,), generator=generator).tolist(), 1))
                 for _ in range(200)]  # fmt: skip
    for likelihood in (False, True):
        untrained, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=likelihood)
        if likelihood:  # as it would be for solutions that are all likely
            untrained.gain.data.fill_(-6.0)
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            values = untrained(pack_solutions(QUESTIONS[:1], solutions)).values[:, -1]
        assert values.dtype == (torch.float64 if likelihood else torch.float32)
        assert len(set(values.tolist())) > 190
        assert len(set(values.bfloat16().tolist())) < 100


def test_values_of_unlikely_texts_differ(tokenizer: Any) -> None:
    """In float32, the values of all prefixes below exp(-103) are 0."""
    verifier = likelihood_verifier(tokenizer)
    verifier.gain.data.fill_(2.5)
    [values] = values_of(verifier, [SolutionTokens(tuple(QUESTIONS[0]), tuple(range(5, 12)))])
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    assert 0 < values[-1] < 1e-45


def likelihood_verifier(tokenizer: Any) -> LikelihoodVerifier:
    untrained, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=True)
    assert isinstance(untrained, LikelihoodVerifier)
    return untrained


def test_the_likelihood_head_starts_near_a_coins_entropy_whatever_the_model(tokenizer: Any) -> None:
    """An untrained model gives solutions of 40 tokens a log-probability of about -230."""
    likelihood = likelihood_verifier(tokenizer)
    logprobs = torch.tensor([-230.0, -250.0, -180.0, -120.0, -300.0])
    right = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0])
    drawn = torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0])
    logits = 0.15 * logprobs + 2.3
    entropy = torch.nn.functional.softplus(logits) - right * logits
    assert float((drawn * entropy).sum() / drawn.sum()) > 10
    assert likelihood.fit_start(logprobs, right, drawn) < 1
    scaled = (likelihood.gain.exp() * logprobs + likelihood.bias).detach()
    assert float((drawn * scaled).sum()) == pytest.approx(0, abs=1e-4)
    assert float((drawn * scaled**2).sum() / drawn.sum()) == pytest.approx(1, abs=1e-4)


def test_the_likelihood_head_keeps_constants_that_suit_the_model(tokenizer: Any) -> None:
    likelihood = likelihood_verifier(tokenizer)
    logprobs = torch.tensor([-8.0, -15.0, -22.0])
    right, drawn = torch.tensor([1.0, 1.0, 0.0]), torch.ones(3)
    assert likelihood.fit_start(logprobs, right, drawn) < 1
    assert (likelihood.gain.item(), likelihood.bias.item()) == pytest.approx(
        (LIKELIHOOD_GAIN, LIKELIHOOD_BIAS)
    )


def test_equal_log_probabilities_give_a_finite_start(tokenizer: Any) -> None:
    likelihood = likelihood_verifier(tokenizer)
    same, right = torch.full((2,), -200.0), torch.tensor([1.0, 0.0])
    assert likelihood.fit_start(same, right, torch.ones(2)) == pytest.approx(math.log(2))


def test_language_data_may_be_missing_from_a_pass(tokenizer: Any) -> None:
    likelihood, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=True)
    wrong = SolutionGroup((8, 9), [LabelledSolution((13, 1), False)], learn_right=True)
    batch = batch_of([wrong], Level.LIKELIHOOD)
    computed = losses(likelihood, batch)
    assert batch.counts["language"] == computed["language"].item() == 0
    (computed["verification"] + computed["language"]).backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in likelihood.parameters())


def test_duplicates_count_as_often_as_they_were_drawn(verifier: Verifier) -> None:
    once = SolutionGroup(
        (5, 6, 7), [LabelledSolution((11, 12, 1), True), LabelledSolution((13, 1), False)]
    )
    twice = once._replace(solutions=[*once.solutions, once.solutions[0]])
    counted = once._replace(solutions=[once.solutions[0]._replace(drawn=2), once.solutions[1]])
    several, single = batch_of([twice]), batch_of([counted])
    assert several.counts == single.counts
    assert "language" not in single.counts
    expected = losses(verifier, several)["verification"].item()
    assert losses(verifier, single)["verification"].item() == pytest.approx(expected)


def test_the_question_is_asked_for_nothing(
    verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(groups())
    assert float(batch.weights[:, 0].abs().sum()) == 0
    verifier.zero_grad()
    states: list[Any] = []

    def read(*referenced: Any) -> Any:
        states.append(hidden_states(*referenced))
        return states[-1]

    monkeypatch.setattr("gradeschool.verifier.head.hidden_states", read)
    computed = losses(verifier, batch)
    states[-1].retain_grad()
    (computed["verification"] + computed["language"]).backward()
    bodies = states[-1].grad
    # The question's last token predicts the reference's first; of other rows it is not asked.
    for row in range(len(bodies)):
        referenced = row in batch.references.tolist()
        assert bool(bodies[row, 0].abs().sum() > 0) == referenced


def test_the_language_loss_does_not_touch_the_reserved_logit(tokenizer: Any) -> None:
    model = architecture("llama")  # its unembedding is its own
    untrained = Verifier(model, VER)
    batch = batch_of(groups())
    losses(untrained, batch)["language"].backward()
    gradient = model.get_output_embeddings().weight.grad
    assert float(gradient[VER].abs().sum()) == 0
    assert float(gradient[3].abs().sum()) > 0
    assert untrained.gain.grad is None


# The reserved token


def test_the_reserved_token_is_the_tokenizers_own(tokenizer: Any) -> None:
    assert reserve(trainee(tokenizer), tokenizer)[:2] == (VER, "<ver>")


class Words:
    """A tokenizer of so many words, the last of them special tokens."""

    bos_token_id = unk_token_id = pad_token_id = None
    eos_token_id = 1
    chat_template = ""

    def __init__(self, *words: str, special: int = 0) -> None:
        self.words = list(words)
        self.special = range(len(words) - special, len(words))

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        return {index: AddedToken(self.words[index], special=True) for index in self.special}

    def __len__(self) -> int:
        return len(self.words)

    def get_vocab(self) -> dict[str, int]:
        return {word: index for index, word in enumerate(self.words)}

    def add_special_tokens(self, added: dict[str, list[str]]) -> None:
        self.words += added["additional_special_tokens"]

    def convert_tokens_to_ids(self, word: str) -> int:
        return self.words.index(word)


def test_other_models_have_or_get_a_token_to_reserve() -> None:
    model = architecture("llama")
    size = model.config.vocab_size
    names = [f"w{index}" for index in range(size)]
    kept = Words(*names[:9], "<|reserved_special_token_0|>", *names[10:])
    assert reserve(model, kept)[:2] == (9, "<|reserved_special_token_0|>")
    assert reserve(model, Words(*names[:-4]))[:2] == (size - 1, "")
    chat = Words(*names, special=3)
    chat.pad_token_id, chat.chat_template = size - 1, f"... {names[-2]} ..."
    assert reserve(model, chat)[:2] == (size - 3, names[-3])
    assert reserve(model, Words(*names), needed=False) == NO_TOKEN
    assert model.get_output_embeddings().weight.shape[0] == size
    full = Words(*names)
    reserved = reserve(model, full)
    assert (reserved.id, reserved.text) == (size, "<ver>")
    assert model.get_output_embeddings().weight.shape[0] == size + 1


# Values


def test_values_do_not_depend_on_the_batch(verifier: Verifier, tokenizer: Any) -> None:
    together = score(verifier, tokenizer, pairs())
    alone = [score(verifier, tokenizer, [pair])[0] for pair in pairs()]
    small = score(verifier, tokenizer, pairs(), places=64)
    for result, other, third in zip(together, alone, small, strict=True):
        assert result.tokens == other.tokens
        assert result.values == pytest.approx(other.values, abs=1e-5)
        assert third.values == pytest.approx(other.values, abs=1e-5)
        assert result.score == result.values[-1]
    assert len({result.score for result in together}) > 12


def test_a_finished_solution_has_the_end_token(verifier: Verifier, tokenizer: Any) -> None:
    question = sums(1)[0].question
    finished, cut = score(
        verifier,
        tokenizer,
        [QuestionSolution(question, "#### 3"), QuestionSolution(question, "#### 3", False)],
    )
    assert finished.tokens == [*cut.tokens, tokenizer.eos_token_id]
    assert tokenizer.decode(cut.tokens) == "#### 3"


def test_logprobs_are_those_of_the_language_model(tokenizer: Any) -> None:
    model = trainee(tokenizer).eval()
    for pair, computed in zip(
        pairs(), logprobs_of(model, texts_of(tokenizer, pairs())), strict=True
    ):
        ids, start = encode(tokenizer, pair.question, pair.solution)
        ids = ids if pair.finished else ids[:-1]
        logits = model(input_ids=torch.tensor([ids])).logits[0]
        every = torch.log_softmax(logits.detach(), -1)
        expected = [float(every[place - 1, ids[place]]) for place in range(start, len(ids))]
        assert computed == pytest.approx(expected, abs=1e-5)


def test_the_tokens_are_those_that_a_generator_is_trained_on(tokenizer: Any) -> None:
    for problem in sums(8):
        texts = [problem.solution, "", " 4", "#### 5", problem.solution + "\n", "<eos>"]
        expected = [encode(tokenizer, problem.question, text) for text in texts]
        assert encode_all(tokenizer, problem.question, texts) == expected


def test_batches_hold_every_text_once_and_are_not_too_large() -> None:
    texts = [
        SolutionTokens((question, 4, 5), tuple(range(9, 9 + length)))
        for question in range(20)
        for length in (question % 5 + 1, 7, 30)
    ]
    divided = list(batches(texts, 200))
    assert sorted(text for batch in divided for text in batch) == sorted(texts)
    for batch in divided:
        width = max(len(text.solution) for text in batch) + 1
        questions = len({text.question for text in batch})
        assert width * len(batch) + 3 * questions <= 200
    assert len(divided) < 20


# The folder


def test_a_saved_verifier_gives_equal_values(
    verifier: Verifier, tokenizer: Any, tmp_path: Path
) -> None:
    verifier.save(tmp_path, tokenizer, {"level": "token"})
    assert (tmp_path / "model.safetensors").is_file()
    assert json.loads((tmp_path / "verifier.json").read_text())["level"] == "token"
    loaded = Verifier.load(tmp_path)
    before = score(verifier, tokenizer, pairs())
    after = score(loaded, load_tokenizer(tmp_path), pairs())
    for result, other in zip(before, after, strict=True):
        assert result.values == pytest.approx(other.values, abs=1e-5)
    again = Verifier.load(tmp_path)
    assert score(again, tokenizer, pairs()) == after


def test_a_saved_likelihood_head_is_one_again(tokenizer: Any, tmp_path: Path) -> None:
    likelihood, _ = new_verifier(trainee(tokenizer), tokenizer, likelihood=True)
    likelihood.eval().save(tmp_path, tokenizer)
    loaded = Verifier.load(tmp_path)
    assert isinstance(loaded, LikelihoodVerifier)
    before, after = (score(head, tokenizer, pairs()) for head in (likelihood, loaded))
    for result, other in zip(before, after, strict=True):
        assert result.values == pytest.approx(other.values, abs=1e-5)
        assert all(0 < value < 1 for value in result.values)


def test_a_folder_without_a_head_is_no_verifier(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a verifier"):
        Verifier.load(tmp_path)
    (tmp_path / "verifier.json").write_text('{"token_id": "x", "gain": 1, "bias": 0}')
    with pytest.raises(InputError, match="is not a verifier"):
        Verifier.load(tmp_path)


# The order of groups


def test_every_solution_is_seen_once_an_epoch_with_its_own_count() -> None:
    problems = [
        SolutionGroup(
            (5, number),
            [
                LabelledSolution((9, number, solution), solution % 2 == 0, solution + 1)
                for solution in range(number + 1)
            ],
        )
        for number in range(9)
    ]
    order = GroupBatches(problems, 1.0, 1, 4)
    parts = [group for number in range(len(order)) for group in order.parts(number, 1)]
    assert all(len(group.solutions) <= 4 for group in parts)
    every = sorted(
        (solution.ids, solution.drawn) for group in parts for solution in group.solutions
    )
    assert every == sorted(
        (solution.ids, solution.drawn) for group in problems for solution in group.solutions
    )
    again = GroupBatches(problems, 1.0, 1, 4)
    assert [again.parts(number, 1)[0] for number in reversed(range(len(order)))] == parts[::-1]
    later = [order.parts(number, 1)[0] for number in range(len(order), 2 * len(order))]
    assert later != parts


def test_an_update_is_the_same_however_it_is_divided(verifier: Verifier) -> None:
    problems = [
        SolutionGroup((5, 6 + number), groups()[0].solutions, (11, 1)) for number in range(4)
    ]
    sizes = sum(map(group_tokens, problems))
    results = []
    for processes, most in ((1, sizes), (2, sizes), (1, sizes // 3)):
        passes = GroupBatches(problems, 1.0, 4, 8, pass_tokens=most).update(0, processes)
        assert len(passes) % processes == 0
        counts = sum(batch.counts["verification"] for batch in passes)
        total = sum(losses(verifier, batch)["verification"].item() for batch in passes)
        results.append((counts, total / counts))
    assert results[1:] == [pytest.approx(results[0])] * 2
