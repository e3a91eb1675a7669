"""Measure how well each layer of a model separates right from wrong solutions, by linear probes.

The features are the layer's states at a solution's last token; the probe is a ridge regression on
the label, fitted and tested on different problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.models.local import load_tokenizer
from gradeschool.verifier.candidates import CandidateRun
from gradeschool.verifier.examples import QuestionSolution, SolutionTokens, texts_of
from gradeschool.verifier.rank import WithinAuc, auc, within

FOLDS = 5
# Ridge penalty in units of the number of solutions; features are standardised.
PENALTY = 1.0


class LayerSeparability(NamedTuple):
    """The probe of one layer; layer 0 is the embedding, the last layer includes the final norm."""

    layer: int
    overall: float | None
    within: WithinAuc


def separability(
    run: CandidateRun, folder: Path, warn: Callable[[str], None], limit: int | None = None
) -> list[LayerSeparability]:
    """Return the probes of all layers of a folder's model on a run's distinct solutions.

    limit: use only the first problems. With fewer problems than folds, or only one label, there is
    nothing to fit: it warns and returns no layers, so that a recipe continues. Raises InputError
    for an architecture that does not accept packed rows.
    """
    import torch

    from gradeschool.models.local import load_model
    from gradeschool.verifier.packing import take_packed

    tokenizer = load_tokenizer(folder)
    problems: list[int] = []
    pairs: list[QuestionSolution] = []
    right: list[bool] = []
    for number, answered in enumerate(run.first(limit).answered):
        texts = {(each.text, each.finished): each.right for each in answered.candidates}
        for (text, finished), is_right in texts.items():
            pairs.append(QuestionSolution(answered.problem.question, text, finished))
            problems.append(number)
            right.append(is_right)
    if len(set(problems)) < FOLDS or len(set(right)) < 2:
        warn(
            f"no layer was probed: probes need {FOLDS} problems at least, with right and wrong "
            f"completions; {str(run.path)!r} has {len(set(problems))}, {sum(right)} of "
            f"{len(right)} right"
        )
        return []
    model = load_model(folder)
    take_packed(model)
    states = last_states(model, texts_of(tokenizer, pairs))
    owners, labels = torch.tensor(problems), torch.tensor(right, dtype=torch.float64)
    return [_probe(layer, each, owners, labels) for layer, each in enumerate(states)]


def last_states(model: Any, texts: Sequence[SolutionTokens], most: int = 4096) -> Any:
    """Return every layer's state at the last token of each text: [layers + 1, texts, width].

    most: maximum number of tokens per pass. The model must accept packed rows.
    """
    import torch

    from gradeschool.verifier.packing import model_inputs, pack_texts

    kept: list[Any] = []
    with torch.inference_mode():
        for part in _parts(texts, most):
            rows = pack_texts(part)
            inputs = model_inputs(rows.line)
            states = model.base_model(**inputs, output_hidden_states=True).hidden_states
            ends = rows.line.ends.gather(1, rows.body_mask.sum(1, keepdim=True) - 1)[:, 0]
            kept.append(torch.stack([layer[0, ends].float() for layer in states]))
    return torch.cat(kept, 1)


def _parts(texts: Sequence[SolutionTokens], most: int) -> Iterator[list[SolutionTokens]]:
    part: list[SolutionTokens] = []
    size = 0
    for text in texts:
        tokens = len(text.question) + len(text.solution)
        if part and size + tokens > most:
            yield part
            part, size = [], 0
        part.append(text)
        size += tokens
    yield part


def _probe(layer: int, states: Any, owners: Any, labels: Any) -> LayerSeparability:
    import torch

    scores = torch.zeros(len(labels), dtype=torch.float64)
    for fold in range(FOLDS):
        tested = owners % FOLDS == fold
        scores[tested] = _ridge(states[~tested].double(), labels[~tested], states[tested].double())
    right = [bool(label) for label in labels]
    by_problem: dict[int, tuple[list[float], list[bool]]] = {}
    for owner, score, label in zip(owners.tolist(), scores.tolist(), right, strict=True):
        of_scores, of_labels = by_problem.setdefault(owner, ([], []))
        of_scores.append(score)
        of_labels.append(label)
    return LayerSeparability(layer, auc(scores.tolist(), right), within(list(by_problem.values())))


def _ridge(features: Any, labels: Any, tested: Any) -> Any:
    """Return the predictions for `tested` of a ridge regression on standardised features.

    They are relative to the mean label of the training fold, which is lower where that of `tested`
    is higher and would bias the AUC over all folds.
    """
    import torch

    mean, deviation = features.mean(0), features.std(0).clamp(min=1e-6)
    features, tested = (features - mean) / deviation, (tested - mean) / deviation
    gram = features.T @ features + PENALTY * len(features) * torch.eye(features.shape[1]).double()
    weights = torch.linalg.solve(gram, features.T @ (labels - labels.mean()))
    return tested @ weights


def as_json(layers: Sequence[LayerSeparability]) -> list[dict[str, Any]]:
    """Return rows for JSON: the layer, the AUC over all solutions, and within problems."""
    return [
        {
            "layer": each.layer,
            "auc": each.overall,
            "within": each.within.auc,
            "within_ci95": each.within.ci95,
            "problems": each.within.problems,
        }
        for each in layers
    ]
