"""Published reward models: score each step of a solution in the model's own training format.

Transformers reads them from a folder; code in the folder is not run. The forms:

- token: AutoModelForTokenClassification as TRL's PRMTrainer trains it (trl 0.24, trainer/
  prm_trainer.py, tokenize_row): every step ends in a line break, whose class 1 (True) counts. An
  exported verifier is one too, with its value at the end of each step.
- sequence: AutoModelForSequenceClassification; a step's score is that of the text up to it.
- math-shepherd: peiyi9979/math-shepherd-mistral-7b-prm (model card): a causal language model;
  after every step comes "ки", where the token "+" is compared with "-".
- qwen: Qwen/Qwen2.5-Math-PRM-7B (model card; modeling_qwen2_rm.py): after every step comes
  <extra_0>; two linear layers give the classes of the state there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn.functional import linear, relu
from transformers.utils import logging

from gradeschool.errors import InputError
from gradeschool.formats.own_run import read_json
from gradeschool.machine import best_device
from gradeschool.models.local import from_folder, load_tokenizer, model_name
from gradeschool.verifier.data import QuestionSolution, encode_pairs, step_ends
from gradeschool.verifier.head import batch_rows, pad_rows
from gradeschool.verifier.judges import QWEN_SEPARATOR, QWEN_SYSTEM

STEP_TAG, GOOD, BAD = "ки", "+", "-"  # of Math-Shepherd
HEAD = ("score.0.weight", "score.0.bias", "score.2.weight", "score.2.bias")  # of Qwen
# Each form's class in transformers, and the end of its names in "architectures" of config.json.
FORMS = {
    "token": ("AutoModelForTokenClassification", "ForTokenClassification"),
    "sequence": ("AutoModelForSequenceClassification", "ForSequenceClassification"),
    "qwen": ("AutoModel", "ForProcessRewardModel"),
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
        self.form, self.name = form, f"{model_name(folder)} ({form})"
        self.tokenizer = load_tokenizer(folder)
        self._folder, self._device = folder, best_device()
        self._model, self._head = self._load()
        config = self._model.config
        self._is_export = form == "token" and config.problem_type == "regression"
        if form == "sequence" and (config.num_labels > 2 or not hasattr(self._model, "score")):
            raise InputError(
                f"the reward model in {str(folder)!r} has {config.num_labels} classes and "
                f"{'a' if hasattr(self._model, 'score') else 'no'} linear layer `score`; give one "
                "with a single score or two classes"
            )
        if form == "qwen" and not self.tokenizer.chat_template:
            raise InputError(
                f"the tokenizer in {str(folder)!r} has no chat template, which the form 'qwen' "
                "needs; give the folder as it was published, or another --form"
            )
        words = {"math-shepherd": (STEP_TAG, GOOD, BAD), "qwen": (QWEN_SEPARATOR,)}
        self._tokens = [self._token(word) for word in words.get(form, ())]

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the model's probability that each step is right, of each solution."""
        rows: list[tuple[list[int], list[int]]] = []
        owners: list[int] = []
        for owner, (question, steps) in enumerate(solutions):
            ends = [len(steps)]
            if self.form == "sequence" and not last_only:
                ends = list(range(1, len(steps) + 1))
            rows += [self._encode(question, steps[:end]) for end in ends]
            owners += [owner] * len(ends)
        found: list[list[float]] = [[]] * len(rows)
        model = self._model.base_model if self.form == "sequence" else self._model
        for part in batch_rows([len(ids) for ids, _ in rows], self._device):
            # Attention is causal, so that padding is never seen.
            ids = pad_rows([rows[number][0] for number in part], self._device)
            with torch.inference_mode():
                output = model(input_ids=ids, use_cache=False)
                states = output.logits if hasattr(output, "logits") else output.last_hidden_state
                for row, number in enumerate(part):
                    found[number] = self._read(states[row, rows[number][1]]).tolist()
        results: list[list[float]] = [[] for _ in solutions]
        for owner, scores in zip(owners, found, strict=True):
            results[owner] += scores
        return results

    def _encode(self, question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the tokens of a question with its steps, and where each step is scored."""
        if self.form == "sequence" and self.tokenizer.chat_template:
            ids = self._chat(("user", question), ("assistant", "\n".join(steps)))
            return ids, [len(ids) - 1]
        if self.form == "sequence" or self._is_export:  # the tokens of our own verifiers
            pair = QuestionSolution(question, "\n".join(steps))
            [text] = encode_pairs(self.tokenizer, [pair])
            ends = step_ends(self.tokenizer, steps, text.solution)
            places = [len(text.question) + end - 1 for end in ends]
            return [*text.question, *text.solution], places[
                -1:
            ] if self.form == "sequence" else places
        if self.form == "token":
            line_break = self._ids("\n", add_special_tokens=False)
            start = self.tokenizer.bos_token_id
            ids = [] if start is None else [start]
            ids += self._ids(question, add_special_tokens=False)
            places = []
            for step in steps:
                ids += [*self._ids(step, add_special_tokens=False), *line_break]
                places.append(len(ids) - 1)
            return ids, places
        if self.form == "qwen":
            solution = QWEN_SEPARATOR.join([*steps, ""])
            ids = self._chat(("system", QWEN_SYSTEM), ("user", question), ("assistant", solution))
        else:
            lines = [f"Step {number}: {step} {STEP_TAG}" for number, step in enumerate(steps, 1)]
            ids = self._ids(f"{question} " + "\n".join(lines))
        places = [place for place, token in enumerate(ids) if token == self._tokens[0]]
        if len(places) != len(steps):
            raise InputError(
                f"{self.name} reads {len(places)} step tags in a solution of {len(steps)} steps: "
                "a step contains the tag itself, or the tokenizer joins it with the text; leave "
                "the row out"
            )
        return ids, places

    def _read(self, states: Tensor) -> Tensor:
        """Return the scores of a model's logits or states [n, width] at the steps' places."""
        states = states.float()
        if self._is_export:
            return states[:, 0]
        if self.form == "math-shepherd":
            return states[:, self._tokens[1:]].softmax(-1)[:, 0]
        if self.form == "qwen":
            first, bias, second, other = (self._head[name] for name in HEAD)
            states = linear(relu(linear(states, first, bias)), second, other)
        if self.form == "sequence":
            layer = self._model.score
            states = layer(states.to(layer.weight.dtype)).float()
        return states[:, 0].sigmoid() if states.shape[-1] == 1 else states.softmax(-1)[:, 1]

    def _load(self) -> tuple[Any, Mapping[str, Tensor]]:
        """Return the model in evaluation mode, and the tensors of a head that is not in its class.

        The code in Qwen's folder defines only the head, so the base model of its "model_type" is
        built without that code.
        """
        logging.disable_progress_bar()
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # missing weights are an error below
        head: dict[str, Tensor] = {}
        options: dict[str, Any] = {}
        try:
            if self.form == "qwen":
                fields = dict(read_json(self._folder / "config.json") or {})
                for name in ("auto_map", "architectures"):
                    fields.pop(name, None)
                kind = fields.pop("model_type", "")
                options["config"] = transformers.AutoConfig.for_model(kind, **fields)
                for file in sorted(self._folder.glob("*.safetensors")):
                    with safe_open(file, "pt") as opened:
                        names = set(HEAD) & set(opened.keys())
                        head |= {name: opened.get_tensor(name).float().to(self._device)
                                 for name in names}  # fmt: skip
            model, loading = from_folder(
                getattr(transformers, FORMS[self.form][0]),
                self._folder,
                dtype=torch.float32 if self._device == "cpu" else torch.bfloat16,
                output_loading_info=True,
                **options,
            )
        except InputError:
            raise
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            reason = str(error).split("\n")[0]
            raise InputError(
                f"the reward model in {str(self._folder)!r} cannot be loaded ({reason}); give a "
                f"folder of the form {self.form!r}, or another --form"
            ) from error
        finally:
            logging.set_verbosity(verbosity)
        absent = sorted(loading["missing_keys"])  # transformers would initialise them randomly
        if self.form == "qwen":
            absent += [name for name in HEAD if name not in head]
        if absent:
            raise InputError(
                f"the weights in {str(self._folder)!r} lack {', '.join(absent[:3])}, which the "
                f"form {self.form!r} needs; give another --form"
            )
        return model.to(self._device).eval(), head

    def _ids(self, text: str, **options: bool) -> list[int]:
        return list(self.tokenizer(text, **options)["input_ids"])

    def _token(self, text: str) -> int:
        """Return the last token of a text; raises InputError if it is unknown."""
        ids = self._ids(text, add_special_tokens=False)
        if not ids or ids[-1] == self.tokenizer.unk_token_id:
            raise InputError(
                f"the tokenizer of {self.name} does not know {text!r}, which the form "
                f"{self.form!r} needs; give another --form"
            )
        return ids[-1]

    def _chat(self, *turns: tuple[str, str]) -> list[int]:
        messages = [{"role": role, "content": content} for role, content in turns]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False)
        return self._ids(text, add_special_tokens=False)
