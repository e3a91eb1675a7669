"""Networks: new models, tokenizers, folders, dropout; heads, their items, losses and probe."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool import Problem  # noqa: E402
from gradeschool.errors import InputError, UnknownNameError  # noqa: E402
from gradeschool.scoring.at_k import (  # noqa: E402
    Candidate,
    CandidateRun,
    ProblemCandidates,
    count_labels,
    describe_labels,
)
from gradeschool.verifier.data import (  # noqa: E402
    Item,
    QuestionSolution,
    SolutionTokens,
    TrainingRow,
    encode_pairs,
    language_items,
    line_ends,
    step_ends,
    use_chat,
    verifier_items,
)
from gradeschool.verifier.networks import (  # noqa: E402
    BYTES,
    LIKELIHOOD,
    LOGIT,
    SPECIALS,
    BaseModel,
    Verifier,
    build_tokenizer,
    export_classifier,
    identify_model,
    load_folder,
    new_model,
    new_verifier,
    read_logprobs,
    read_values,
    save_folder,
    set_dropout,
    write_gguf,
)
from gradeschool.verifier.scores import load_rater, score_pairs  # noqa: E402
from gradeschool.verifier.train import TrainingModel  # noqa: E402
from tests.support.fixtures import skip_without  # noqa: E402
from tests.support.trainees import (  # noqa: E402
    SMALL,
    architecture,
    model_folder,
    save_verifier,
    sums,
    tokenizer_of,
    trainee,
)

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
    save_verifier(verifier, tmp_path / "verifier", TOKENIZER, level="pooled")
    export_classifier(tmp_path / "verifier", tmp_path / "classifier")
    model = AutoModelForTokenClassification.from_pretrained(tmp_path / "classifier")
    for text, values in zip(TEXTS, read_values(verifier.eval(), TEXTS), strict=True):
        ids = torch.tensor([text.question + text.solution])
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[0, len(text.question) :, 0]
        assert logits.tolist() == pytest.approx(values, abs=1e-5)
    pairs = [QuestionSolution("Tom has 3 apples and buys 4. How many?", "It is 3+4=7.\n\n#### 7"),
             QuestionSolution("How many?", "It is 3+4", finished=False)]  # fmt: skip
    (tmp_path / "classifier" / "verifier.json").rename(tmp_path / "head.json")
    with pytest.raises(InputError, match=r"has no verifier\.json; export the verifier again"):
        load_rater(str(tmp_path / "classifier"))
    (tmp_path / "head.json").rename(tmp_path / "classifier" / "verifier.json")
    raters = [load_rater(str(tmp_path / name)) for name in ("verifier", "classifier")]
    assert [rater.reduction for rater in raters] == ["tokens", "tokens"]
    for reduction in ("tokens", "last", "min"):
        trained, exported = ([score for _, score, _ in score_pairs(each.verifier, pairs, reduction)]
                             for each in raters)  # fmt: skip
        assert exported == pytest.approx(trained, abs=1e-5)


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


PROBLEMS = sums(3)


def run_of(*labels: str) -> CandidateRun:
    """A run with these completions of each problem: r for right, w for wrong."""
    answered = []
    for problem, marks in zip(PROBLEMS, labels, strict=False):
        candidates = [
            Candidate(f"{problem.id}-{place}", place, f"He has {mark}.\n#### 7", True, "7",
                      mark == "r")
            for place, mark in enumerate(marks)
        ]  # fmt: skip
        answered.append(ProblemCandidates(problem, candidates))
    return CandidateRun("run", Path("run"), {}, "openai/2021", answered, 0)


def encode(tokenizer: Any, question: str, solution: str) -> SolutionTokens:
    """The tokens of one pair."""
    return encode_pairs(tokenizer, [QuestionSolution(question, solution)])[0]


def test_a_text_is_question_line_break_solution_end() -> None:
    text = encode(TOKENIZER, "Why?", "So.\n#### 1")
    assert TOKENIZER.decode(text.question) == "Why?\n"
    assert TOKENIZER.decode(text.solution[:-1]) == "So.\n#### 1"
    assert text.solution[-1] == TOKENIZER.eos_token_id
    [unfinished] = encode_pairs(TOKENIZER, [QuestionSolution("Why?", "So.\n#### 1", False)])
    assert unfinished.solution == text.solution[:-1]


def test_a_chat_model_reads_the_question_as_a_turn() -> None:
    tokenizer = tokenizer_of(sums(20))
    with pytest.raises(InputError, match="has no chat template, which --chat needs"):
        use_chat(tokenizer, "folder")
    tokenizer.chat_template = "{% for turn in messages %}[{{ turn.content }}]{% endfor %}:"
    use_chat(tokenizer, "folder")
    question, solution = encode(tokenizer, "Why?", "So.")
    assert tokenizer.decode(question) == "[Why?]:"
    assert tokenizer.decode(solution[:-1]) == "So."


def test_steps_end_behind_their_line_breaks() -> None:
    solution = "He has 3+4=7.\n\n#### 7"
    text = encode(TOKENIZER, "Why?", solution)
    ends = line_ends(TOKENIZER, solution, text.solution)
    parts = [TOKENIZER.decode(text.solution[start:end], skip_special_tokens=True)
             for start, end in zip([0, *ends], ends, strict=False)]  # fmt: skip
    assert parts[0].startswith("He has 3+4=7.") and parts[-1].strip() == "#### 7"
    assert ends[-1] == len(text.solution)
    steps = ["One.\nMore.", "", "Two."]
    text = encode(TOKENIZER, "Why?", "\n".join(steps))
    ends = step_ends(TOKENIZER, steps, text.solution)
    assert TOKENIZER.decode(text.solution[: ends[0]]) == "One.\nMore.\n"
    assert ends[0] < ends[1] < ends[2] == len(text.solution)


def test_labels_are_counted_by_problem() -> None:
    labels = count_labels(run_of("rrw", "ww", "r").answered)
    names = ("completions", "right", "solved", "mixed", "different")
    assert [labels[name] for name in names] == [6, 3, 2, 1, 4]
    assert "6 completions of 3 problems, 4 of them different, 50.0 % right" in describe_labels(
        labels
    )


def test_each_distinct_solution_comes_with_the_reference() -> None:
    items, _ = verifier_items(run_of("rrw", "w"), TOKENIZER, 500)
    assert [len(item) for item in items] == [2, 2, 2]
    assert [item[0].weight for item in items] == [2, 1, 1]
    assert [item[0].is_right for item in items] == [True, False, False]
    assert all(item[1].language_start == item[1].start and not item[1].weight for item in items)
    by_right, _ = verifier_items(run_of("rw"), TOKENIZER, 500, language="right")
    assert [row.language_start is not None for (row,) in by_right] == [True, False]


def test_pairs_are_of_one_problem() -> None:
    items, _ = verifier_items(run_of("rw", "ww", "rrw"), TOKENIZER, 500, objective="pairwise")
    assert len(items) == 2
    assert all(right.is_right and not wrong.is_right for right, wrong in items)


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        (run_of("r", "rr"), {}, "are all right; a verifier learns from right and wrong ones"),
        (run_of("w"), {}, "are all wrong"),
        (run_of("rw"), {"context": 5}, "are all too long or undecided"),
        (run_of("r", "w"), {"objective": "pairwise"}, "are never both for one problem"),
        (run_of("rw"), {"supervision": "process"}, "is not a fresh problem"),
    ],
)
def test_labels_that_teach_nothing_are_refused(run: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        verifier_items(run, TOKENIZER, **{"context": 500, **options})


def test_problems_beyond_the_context_are_left_out() -> None:
    long = Problem.from_row("long", "Why? " * 300, "#### 1")
    items, left_out = language_items(TOKENIZER, [*PROBLEMS, long], 500, whole=True)
    assert (len(items), left_out) == (3, ["long"])
    assert all(item[0].language_start == 1 for item in items)
    with pytest.raises(InputError, match="no example to train on"):
        language_items(TOKENIZER, [long], 500, whole=False)


# A right solution drawn twice, a wrong one, one that is right up to its second token; references.
ITEMS: list[Item] = [
    (TrainingRow((5, 6, 7, 8, 9, 1), 2, 2, 4, (2, 4)),
     TrainingRow((5, 6, 9, 9, 1), 2, language_start=2)),
    (TrainingRow((5, 6, 7, 4, 1), 2, 1, 0, (1, 3)),
     TrainingRow((5, 6, 9, 9, 1), 2, language_start=2)),
    (TrainingRow((4, 7, 7, 8, 1), 1, 1, 2, (2, 4)), TrainingRow((4, 9, 1), 1, language_start=1)),
]  # fmt: skip


def made(level: Any = "token", objective: Any = "joint") -> TrainingModel:
    """A small verifier with random weights and its losses."""
    verifier = new_verifier(trainee(TOKENIZER), TOKENIZER, 3, level == "likelihood")
    return TrainingModel(verifier, level, objective)


def reference(trained: TrainingModel, items: list[Item]) -> Any:
    """The paper's joint loss, one row and one token at a time."""
    verifier: Verifier = trained.trained
    errors, values, words, tokens = torch.zeros(()), 0.0, torch.zeros(()), 0
    for row in (row for item in items for row in item):
        output = verifier.model(torch.tensor([row.ids]), output_hidden_states=True)
        states, logits = output.hidden_states[-1][0], output.logits[0].clone()
        logits[:, verifier.token_id] = float("-inf")
        last = len(row.ids) - 1
        for place in range(row.start, len(row.ids)):
            target = float(place - row.start < row.right_tokens)
            value = verifier.gain[0] * (states[place] @ verifier.row) + verifier.bias[0]
            used = {
                "token": True,
                "solution": place == last,
                "step": place - row.start + 1 in row.ends,
                "pooled": False,
            }[trained.level]
            if row.weight and used:
                errors = errors + row.weight * (value - target) ** 2
                values += row.weight
            if row.language_start is not None:
                words = words - torch.log_softmax(logits[place - 1], 0)[row.ids[place]]
                tokens += 1
        if row.weight and trained.level == "pooled":
            mean = (verifier.gain[0] * (states[row.start :] @ verifier.row)).mean()
            errors = errors + row.weight * (mean + verifier.bias[0] - float(row.is_right)) ** 2
            values += row.weight
    return errors / values + words / tokens


@pytest.mark.parametrize("level", ["token", "pooled", "step", "solution"])
def test_joint_loss_and_gradients_are_the_references(level: str) -> None:
    trained = made(level)
    batch = trained.collate(ITEMS)
    loss = (trained(**batch) / trained.counts(batch)).sum()
    loss.backward()
    gradients = {
        name: weight.grad.clone()
        for name, weight in trained.named_parameters()
        if weight.grad is not None
    }
    trained.zero_grad()
    expected = reference(trained, ITEMS)
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    for name, weight in trained.named_parameters():
        assert torch.allclose(gradients[name], weight.grad, rtol=1e-3, atol=1e-5), name


def test_passes_of_an_update_add_up_to_one_batch() -> None:
    trained = made()
    whole = trained.collate(ITEMS)
    parts = [trained.collate(ITEMS[:1]), trained.collate(ITEMS[1:])]
    counts = sum(trained.counts(part) for part in parts)
    assert torch.equal(counts, trained.counts(whole))
    summed = sum(trained(**part) for part in parts)
    assert torch.allclose(summed, trained(**whole), rtol=1e-5)


# A right and a wrong solution of a question.
PAIR: list[Item] = [(TrainingRow((5, 6, 7, 8, 1), 2, 1, 3), TrainingRow((5, 6, 7, 4, 1), 2, 1, 0))]


@pytest.mark.parametrize("level", ["token", "pooled", "solution"])
def test_pairwise_loss_compares_a_problems_solutions(level: str) -> None:
    trained = made(level, "pairwise")
    values = []
    for row in PAIR[0]:
        output = trained.model(torch.tensor([row.ids]), output_hidden_states=True)
        of_row = trained.trained.values(output.hidden_states[-1][0, row.start :])
        values.append(of_row.mean() if level == "pooled" else of_row[-1])
    expected = -torch.nn.functional.logsigmoid(values[0] - values[1])
    batch = trained.collate(PAIR)
    loss = trained(**batch)[0] / trained.counts(batch)[0]
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


def logprob(trained: TrainingModel, row: TrainingRow) -> Any:
    """The log-probability of a solution, without the reserved token."""
    logits = trained.model(torch.tensor([row.ids])).logits[0].clone()
    logits[:, trained.trained.token_id] = float("-inf")
    places = range(row.start, len(row.ids))
    logprobs = torch.log_softmax(logits, 1)
    return torch.stack([logprobs[place - 1, row.ids[place]] for place in places]).sum()


def test_likelihood_is_the_cross_entropy_of_the_label() -> None:
    trained = made("likelihood")
    rows = PAIR[0]
    logits = trained.trained.logits(torch.stack([logprob(trained, row) for row in rows]))
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, torch.tensor([1.0, 0.0]), reduction="sum"
    )
    found = trained(**trained.collate([(row,) for row in rows]))[0]
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=1e-4)


def test_a_new_model_depends_on_its_seed_alone() -> None:
    torch.manual_seed(5)
    drawn = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = (torch.nn.utils.parameters_to_vector(
        new_model(TOKENIZER, SMALL, seed).parameters()) for seed in (0, 0, 1))  # fmt: skip
    assert torch.equal(torch.rand(1), drawn)  # nothing was drawn from the process's own state
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_an_unknown_size_is_refused_with_those_nearest_to_it() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 5M or 1M"):
        identify_model("new:3M")


@given(text=st.text(max_size=40))
def test_any_text_is_encoded_and_decoded_exactly(text: str) -> None:
    assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_a_vocabulary_without_room_for_every_byte_is_refused() -> None:
    least = BYTES + len(SPECIALS)
    assert len(build_tokenizer(["eggs"], vocabulary=least)) == least
    with pytest.raises(InputError, match=f"give {least} at least"):
        build_tokenizer(["eggs"], vocabulary=least - 1)


def test_a_saved_folder_is_loaded_as_it_was(tmp_path: Path) -> None:
    """In its own number format, to end at the tokenizer's end token, readable by others."""
    model = trainee(TOKENIZER)
    model.generation_config.eos_token_id = 7
    model.generation_config.pad_token_id = None
    save_folder(BaseModel(model, TOKENIZER, torch.float32), tmp_path / "model")
    loaded = load_folder(tmp_path / "model")
    pairs = zip(model.parameters(), loaded.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    assert (loaded.stored, loaded.context) == (torch.float32, 1024)
    generation = json.loads((tmp_path / "model" / "generation_config.json").read_text())
    assert (generation["eos_token_id"], generation["pad_token_id"]) == ([1, 7], 0)
    modes = {file.stat().st_mode for file in (tmp_path / "model").iterdir()}
    assert len(modes) == 1
    save_folder(loaded._replace(stored=torch.bfloat16), tmp_path / "half")
    half = load_folder(tmp_path / "half")
    assert half.stored == torch.bfloat16
    assert {weight.dtype for weight in half.model.parameters()} == {torch.float32}


def test_a_folder_whose_files_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"cannot be loaded by AutoTokenizer \(.*copy tokenizer"):
        load_folder(tmp_path)
    ending = tokenizer_of(sums(8))
    ending.eos_token = None
    for part in (trainee(TOKENIZER), ending):
        part.save_pretrained(tmp_path / "endless")
    with pytest.raises(InputError, match="has no end token"):
        load_folder(tmp_path / "endless")


@pytest.mark.parametrize("kind", ["llama", "qwen3", "gemma", "phi3", "gpt2", "gpt_neox"])
def test_dropout_changes_training_and_not_evaluation(kind: str) -> None:
    model, ids = architecture(kind), torch.tensor([[5, 6, 7, 8]])
    plain = model(input_ids=ids).logits
    set_dropout(model, 0.5)
    assert torch.equal(model(input_ids=ids).logits, plain)
    model.train()
    torch.manual_seed(0)
    dropped, other = model(input_ids=ids).logits, model(input_ids=ids).logits
    assert not torch.allclose(dropped, plain) and not torch.allclose(dropped, other)


def test_dropout_in_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(InputError, match="'bloom' are; leave it out"):
        set_dropout(architecture("bloom"), 0.2)


def test_a_gguf_file_begins_a_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skip_without(("accelerate", "gguf"), "reading GGUF by transformers")
    folder = model_folder(tmp_path / "model")
    write_gguf(folder, tmp_path / "model.gguf")
    bases = [load_folder(folder), load_folder(tmp_path / "model.gguf")]
    assert "GGUF" not in capsys.readouterr().err
    ids = [torch.tensor([base.tokenizer("Tom has 3+4.\n")["input_ids"]]) for base in bases]
    assert torch.equal(*ids)
    with torch.no_grad():
        first, second = (base.model.eval()(input_ids=ids[0]).logits for base in bases)
    assert first.allclose(second, atol=1e-2)
    bases[1].model.save_pretrained(tmp_path / "again")
