"""Published reward models: score each step of a solution in the model's own training format.

Transformers reads them from a folder; code in the folder is not run. The forms:

- token: AutoModelForTokenClassification as TRL's PRMTrainer trains it (trl 0.24, trainer/
  prm_trainer.py, tokenize_row): every step ends in a line break, whose class 1 (True) counts. An
  exported verifier is one too, with its value at the end of each step.
- sequence: AutoModelForSequenceClassification; a step's score is that of the text up to it.
- math-shepherd: peiyi9979/math-shepherd-mistral-7b-prm (model card): a causal language model;
  after every step comes "ки", where the token "+" is compared with "-".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers.utils import logging

from gradeschool.errors import InputError
from gradeschool.formats.own_run import read_json
from gradeschool.models.local import from_folder, load_tokenizer, model_name
from gradeschool.process import best_device
from gradeschool.verifier.data import QuestionSolution, encode_pairs, step_ends
from gradeschool.verifier.head import batch_rows, pad_rows

SHEPHERD = ("ки", "+", "-")  # Math-Shepherd's tag of a step, and its two answers
MARKS = {"token": ("\n",), "math-shepherd": SHEPHERD}  # what the tokenizer must have
# Each form's class in transformers, and the end of its names in "architectures" of config.json.
FORMS = {
    "token": ("AutoModelForTokenClassification", "ForTokenClassification"),
    "sequence": ("AutoModelForSequenceClassification", "ForSequenceClassification"),
    "math-shepherd": ("AutoModelForCausalLM", None),
}


def reward_form(folder: Path) -> str | None:
    """Return the form of a folder's reward model by its config.json, None if it does not say."""
    names = (read_json(folder / "config.json") or {}).get("architectures") or ()
    return next((form for form, (_, end) in FORMS.items() for name in names
                 if end is not None and str(name).endswith(end)), None)  # fmt: skip


class RewardModel:
    """A reward model from a folder; form: one of FORMS.

    Raises InputError if the folder cannot be read in that form.
    """

    def __init__(self, folder: Path, form: str) -> None:
        if form not in FORMS:
            raise InputError(f"--form {form} is for a reward model on a server; serve it by vLLM")
        self.form, self.name = form, f"{model_name(folder)} ({form})"
        self.tokenizer, self._device = load_tokenizer(folder), best_device()
        self._model = _load(folder, form).to(self._device).eval()
        config = self._model.config
        self._is_export = form == "token" and config.problem_type == "regression"
        if form == "sequence" and (config.num_labels > 2 or not hasattr(self._model, "score")):
            raise InputError(
                f"the reward model in {str(folder)!r} has {config.num_labels} classes and "
                f"{'a' if hasattr(self._model, 'score') else 'no'} linear layer `score`; give one "
                "with a single score or two classes"
            )
        self._tokens: list[int] = []
        for word in MARKS.get(form, ()):
            ids = self._ids(word)
            if not ids or ids[-1] == self.tokenizer.unk_token_id:
                raise InputError(
                    f"the tokenizer of {self.name} does not know {word!r}, which the form {form!r} "
                    "needs; give another --form"
                )
            self._tokens.append(ids[-1])

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the model's probability that each step is right, of each solution."""
        is_sequence = self.form == "sequence"
        rows: list[tuple[list[int], list[int]]] = []
        owners: list[int] = []
        for owner, (question, steps) in enumerate(solutions):
            ends = range(1, len(steps) + 1) if is_sequence and not last_only else [len(steps)]
            rows += [self._encode(question, steps[:end]) for end in ends]
            owners += [owner] * len(ends)
        found: list[list[float]] = [[]] * len(rows)
        for part in batch_rows([len(ids) for ids, _ in rows], self._device):
            # Attention is causal, so that padding is never seen.
            ids = pad_rows([rows[number][0] for number in part], self._device)
            with torch.inference_mode():
                if is_sequence:
                    states = self._model.base_model(input_ids=ids, use_cache=False)
                    outputs = self._model.score(states.last_hidden_state)
                else:
                    outputs = self._model(input_ids=ids, use_cache=False).logits
                for row, number in enumerate(part):
                    found[number] = self._read(outputs[row, rows[number][1]]).tolist()
        results: list[list[float]] = [[] for _ in solutions]
        for owner, scores in zip(owners, found, strict=True):
            results[owner] += scores
        return results

    def _encode(self, question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the tokens of a question with its steps, and where each step is scored."""
        if self.form == "sequence" and self.tokenizer.chat_template:
            turns = [{"role": "user", "content": question},
                     {"role": "assistant", "content": "\n".join(steps)}]  # fmt: skip
            ids = self._ids(self.tokenizer.apply_chat_template(turns, tokenize=False))
            return ids, [len(ids) - 1]
        if self.form == "sequence" or self._is_export:  # the tokens of our own verifiers
            [text] = encode_pairs(self.tokenizer, [QuestionSolution(question, "\n".join(steps))])
            ends = step_ends(self.tokenizer, steps, text.solution)
            places = [len(text.question) + end - 1 for end in ends]
            ids = [*text.question, *text.solution]
            return ids, places[-1:] if self.form == "sequence" else places
        if self.form == "token":
            start, line_break = self.tokenizer.bos_token_id, self._ids("\n")
            ids = [*([] if start is None else [start]), *self._ids(question)]
            places = []
            for step in steps:
                ids += [*self._ids(step), *line_break]
                places.append(len(ids) - 1)
            return ids, places
        lines = [f"Step {number}: {step} {SHEPHERD[0]}" for number, step in enumerate(steps, 1)]
        ids = list(self.tokenizer(f"{question} " + "\n".join(lines))["input_ids"])
        places = [place for place, token in enumerate(ids) if token == self._tokens[0]]
        if len(places) != len(steps):
            raise InputError(
                f"{self.name} reads {len(places)} step tags in a solution of {len(steps)} steps: "
                "a step contains the tag itself, or the tokenizer joins it with the text; leave "
                "the row out"
            )
        return ids, places

    def _read(self, logits: Tensor) -> Tensor:
        """Return the scores of a model's logits [n, classes] at the steps' places."""
        logits = logits.float()
        if self._is_export:
            return logits[:, 0]
        if self.form == "math-shepherd":
            return logits[:, self._tokens[1:]].softmax(-1)[:, 0]
        return logits[:, 0].sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)[:, 1]

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def _load(folder: Path, form: str) -> Any:
    """Return the model in a folder as its form's class."""
    logging.disable_progress_bar()
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # missing weights are an error below
    kind, dtype = getattr(transformers, FORMS[form][0]), torch.float32
    if best_device() != "cpu":
        dtype = torch.bfloat16
    try:
        model, loading = from_folder(kind, folder, dtype=dtype, output_loading_info=True)
    finally:
        logging.set_verbosity(verbosity)
    if absent := sorted(loading["missing_keys"]):  # transformers would initialise them randomly
        raise InputError(
            f"the weights in {str(folder)!r} lack {', '.join(absent[:3])}, which the form {form!r} "
            "needs; give another --form"
        )
    return model
