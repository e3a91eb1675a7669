"""Linear probes of a model's layers."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from gradeschool.reports.reproduction import layers  # noqa: E402
from gradeschool.verifier.candidates import CandidateRun  # noqa: E402
from gradeschool.verifier.examples import SolutionTokens  # noqa: E402
from gradeschool.verifier.packing import take_packed  # noqa: E402
from gradeschool.verifier.reproduce.presets import PRETRAINED, layer_results  # noqa: E402
from gradeschool.verifier.separability import _probe, last_states, separability  # noqa: E402
from tests.support.trainees import architecture, sums, tokenizer_of  # noqa: E402

TEXTS = [
    SolutionTokens((5, 9, 7), (8, 20, 1)),
    SolutionTokens((5, 9, 7), (6, 1)),
    SolutionTokens((3, 4), (30, 40, 50, 60, 1)),
]


def test_the_states_are_those_of_each_text_alone_at_its_last_token() -> None:
    model = architecture("llama")
    with torch.no_grad():
        alone = [
            torch.stack(model(torch.tensor([[*text.question, *text.solution]]),
                              output_hidden_states=True).hidden_states)[:, 0, -1]
            for text in TEXTS
        ]  # fmt: skip
    take_packed(model)
    for most in (8, 4096):
        states = last_states(model, TEXTS, most)
        assert torch.allclose(states, torch.stack(alone, 1), atol=1e-5)


def test_a_probe_finds_what_is_linear_and_nothing_in_noise() -> None:
    torch.manual_seed(0)
    owners = torch.arange(600) // 6
    noise = torch.randn(600, 8)
    labels = (noise[:, 3] > 0).double()
    plain = _probe(2, noise, owners, labels)
    assert plain.layer == 2
    assert plain.overall is not None and plain.overall > 0.95
    assert plain.within.auc is not None and plain.within.auc > 0.95
    shuffled = _probe(0, noise, owners, labels[torch.randperm(600)])
    assert shuffled.within.auc == pytest.approx(0.5, abs=0.1)


def test_a_probe_of_what_says_nothing_has_an_auc_of_one_half() -> None:
    """The folds differ in their shares of right samples; their means must not rank samples."""
    owners = torch.arange(60) // 6
    labels = torch.tensor([float(owner % 5 < 2 or not index % 6) for index, owner in
                           enumerate(owners.tolist())], dtype=torch.float64)  # fmt: skip
    probed = _probe(0, torch.ones(60, 4), owners, labels)
    assert (probed.overall, probed.within.auc) == (0.5, 0.5)


def test_samples_that_are_all_wrong_probe_no_layer(tmp_path: Path) -> None:
    tokenizer_of(sums(8)).save_pretrained(tmp_path)
    run = CandidateRun("run", Path("run"), {}, "openai/2021", [], 0)
    warnings: list[str] = []
    assert separability(run, tmp_path, warnings.append) == []
    assert "probes need 5 problems at least" in warnings[0]


def test_the_report_shows_the_layers(tmp_path: Path) -> None:
    assert list(layers(tmp_path, PRETRAINED)) == []
    file = tmp_path / layer_results("test", 0)
    file.parent.mkdir()
    file.write_text('{"layers": []}')
    assert list(layers(tmp_path, PRETRAINED)) == []
    file.write_text(
        '{"layers": [{"layer": 0, "auc": 0.6, "within": 0.55, "within_ci95": [0.5, 0.6],'
        ' "problems": 9}]}'
    )
    assert "| 0 | 0.600 | 0.550 | 0.500 to 0.600 |" in list(layers(tmp_path, PRETRAINED))
