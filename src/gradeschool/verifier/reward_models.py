"""Published reward models: score each step of a solution in the model's own training format.

Transformers reads them from a folder; code in the folder is not run. The forms:

- token: AutoModelForTokenClassification as TRL's PRMTrainer trains it (trl 0.24, trainer/
  prm_trainer.py, tokenize_row): every step ends in a line break, whose class 1 (True) counts.
- sequence: AutoModelForSequenceClassification; a step's score is that of the text up to it.
- math-shepherd: peiyi9979/math-shepherd-mistral-7b-prm (model card): a causal language model;
  after every step comes "ки", where the token "+" is compared with "-".
- qwen: Qwen/Qwen2.5-Math-PRM-7B (model card; modeling_qwen2_rm.py): after every step comes
  <extra_0>; two linear layers give the classes of the state there.
- yes-no: any causal language model; the probability that its answer to "is the solution correct?"
  is yes, of yes and no.
- skywork: Skywork/Skywork-o1-Open-PRM (SkyworkAI/skywork-o1-prm-inference,
  model_utils/io_utils.py): every step ends in a line break; a value head reads the state there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import linear, relu

from gradeschool.errors import InputError
from gradeschool.formats.settings import read_object
from gradeschool.machine import best_device
from gradeschool.models.local import from_folder, load_tokenizer, model_name
from gradeschool.verifier.data import encode_steps
from gradeschool.verifier.head import PLACES_ON_CPU, PLACES_ON_GPU
from gradeschool.verifier.judges import QWEN_SEPARATOR, QWEN_SYSTEM, YES_OR_NO

CONFIG = "config.json"
STEP_TAG, GOOD, BAD = "ки", "+", "-"  # of Math-Shepherd
NO_MODEL = "the folder contains no readable model; give the folder of a Hugging Face model"


class RewardForm(StrEnum):
    """How a reward model reads a solution; see the module."""

    TOKEN = "token"
    SEQUENCE = "sequence"
    MATH_SHEPHERD = "math-shepherd"
    QWEN = "qwen"
    SKYWORK = "skywork"
    YES_NO = "yes-no"


# The end of a name in "architectures" of config.json, and its form.
ARCHITECTURES = {
    "ForTokenClassification": RewardForm.TOKEN,
    "ForSequenceClassification": RewardForm.SEQUENCE,
    "ForProcessRewardModel": RewardForm.QWEN,
    "ForPrmModel": RewardForm.SKYWORK,
}


class MarkedSteps(NamedTuple):
    """The tokens of a question and its steps, and the position of each step's scoring token."""

    ids: list[int]
    places: list[int]


def reward_form(folder: Path) -> RewardForm:
    """Return the form of a folder's reward model; raises InputError if it is unclear."""
    fields = read_object(folder / CONFIG, NO_MODEL)
    names = [str(name) for name in fields.get("architectures") or ()]
    forms = {form for name in names for end, form in ARCHITECTURES.items() if name.endswith(end)}
    if len(forms) != 1:
        shown = ", ".join(names) or "no architecture"
        raise InputError(
            f"the form of the reward model in {str(folder)!r} cannot be determined from "
            f"its config.json ({shown}); name it with --form: {', '.join(RewardForm)}"
        )
    return forms.pop()


# Encodes a question with steps, and reads the scores of a row's output at the marked places.
Encode = Callable[[str, Sequence[str]], MarkedSteps]
Read = Callable[[Tensor], Tensor]


class RewardModel:
    """A reward model from a folder. form: None means the one in config.json.

    Raises InputError if the folder cannot be read in that form.
    """

    def __init__(self, folder: Path, form: RewardForm | None = None) -> None:
        self.form = form or reward_form(folder)
        self.name = f"{model_name(folder)} ({self.form})"
        self.tokenizer = load_tokenizer(folder)
        self._device = best_device()
        prepare = {
            RewardForm.TOKEN: self._prepare_token,
            RewardForm.SEQUENCE: self._prepare_sequence,
            RewardForm.MATH_SHEPHERD: self._prepare_shepherd,
            RewardForm.QWEN: self._prepare_qwen,
            RewardForm.SKYWORK: self._prepare_skywork,
            RewardForm.YES_NO: self._prepare_yes_no,
        }[self.form]
        # `_model` gives logits or, without a head, states; `_read` makes scores of them.
        self._model: Any = None
        self._encode, self._read = prepare(folder)

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return the model's probability that each step is right, of each solution."""
        rows: list[MarkedSteps] = []
        owners: list[int] = []
        for number, (question, steps) in enumerate(solutions):
            if self.form is not RewardForm.SEQUENCE:
                rows.append(self._encode(question, steps))
                owners.append(number)
                continue
            for end in [len(steps)] if last_only else range(1, len(steps) + 1):
                rows.append(self._encode(question, steps[:end]))
                owners.append(number)
        found: dict[int, list[float]] = {}
        for part in self._parts(rows):
            width = max(len(rows[place].ids) for place in part)
            ids = torch.tensor(
                [[*rows[place].ids, *[0] * (width - len(rows[place].ids))] for place in part],
                device=self._device,
            )
            with torch.inference_mode():
                output = self._model(input_ids=ids, use_cache=False)
                states = output.logits if hasattr(output, "logits") else output.last_hidden_state
                for row, place in enumerate(part):
                    scores = self._read(states[row, rows[place].places].float())
                    found[place] = [float(score) for score in scores]
        results: list[list[float]] = [[] for _ in solutions]
        for place, owner in enumerate(owners):
            results[owner] += found[place]
        return results

    def _parts(self, rows: Sequence[MarkedSteps]) -> list[list[int]]:
        """Return the places of rows by passes; attention is causal, so padding is never seen."""
        most = PLACES_ON_CPU if self._device == "cpu" else PLACES_ON_GPU
        parts: list[list[int]] = []
        for place in sorted(range(len(rows)), key=lambda place: len(rows[place].ids)):
            if not parts or len(rows[place].ids) * (len(parts[-1]) + 1) > most:
                parts.append([])
            parts[-1].append(place)
        return parts

    def load(self, kind: Any, folder: Path, **options: Any) -> Any:
        """Load a folder's model as a transformers class, in evaluation mode."""
        from safetensors import SafetensorError
        from transformers.utils import logging

        logging.disable_progress_bar()
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # missing weights are an error below
        dtype = torch.float32 if self._device == "cpu" else torch.bfloat16
        try:
            model, loading = from_folder(
                kind, folder, dtype=dtype, output_loading_info=True, **options
            )
        except InputError:
            raise
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            reason = str(error).split("\n")[0]
            raise InputError(
                f"the reward model in {str(folder)!r} cannot be loaded ({reason}); give a folder "
                f"of the form '{self.form}', or another --form"
            ) from error
        finally:
            logging.set_verbosity(verbosity)
        if absent := sorted(loading["missing_keys"]):  # transformers would initialise them randomly
            raise InputError(
                f"the weights in {str(folder)!r} lack {absent[0]!r}"
                f"{f' and {len(absent) - 1} more' if len(absent) > 1 else ''}, which the form "
                f"'{self.form}' needs; give another --form"
            )
        return model.to(self._device).eval()

    def token(self, text: str) -> int:
        """Return the last token of a text; raises InputError if it is unknown."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids or ids[-1] == self.tokenizer.unk_token_id:
            raise InputError(
                f"the tokenizer of {self.name} does not know {text!r}, which the form "
                f"'{self.form}' needs; give another --form"
            )
        return int(ids[-1])

    def _prepare_token(self, folder: Path) -> tuple[Encode, Read]:
        from transformers import AutoModelForTokenClassification

        self._model = self.load(AutoModelForTokenClassification, folder)
        if self._model.config.problem_type == "regression":  # an exported verifier

            def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
                text, ends = encode_steps(self.tokenizer, question, steps)
                places = [len(text.question) + max(end, 1) - 1 for end in ends]
                return MarkedSteps([*text.question, *text.solution], places)

            return encode, lambda values: values[:, 0]
        return lambda question, steps: lines_marked(self.tokenizer, question, steps), probability

    def _prepare_sequence(self, folder: Path) -> tuple[Encode, Read]:
        from transformers import AutoModelForSequenceClassification

        model = self.load(AutoModelForSequenceClassification, folder)
        if model.config.num_labels > 2 or not hasattr(model, "score"):
            raise InputError(
                f"the reward model in {str(folder)!r} has {model.config.num_labels} classes and "
                f"{'a' if hasattr(model, 'score') else 'no'} linear layer `score`; give one with a "
                "single score or two classes"
            )
        self._model = model.base_model
        weight = model.score

        def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
            if self.tokenizer.chat_template:
                turns = [{"role": "user", "content": question},
                         {"role": "assistant", "content": "\n".join(steps)}]  # fmt: skip
                ids = self._chat(turns)
            else:
                text = encode_steps(self.tokenizer, question, steps).text
                ids = [*text.question, *text.solution]
            return MarkedSteps(ids, [len(ids) - 1])

        return encode, lambda states: probability(weight(states.to(weight.weight.dtype)))

    def _chat(self, turns: Sequence[Mapping[str, str]], **options: bool) -> list[int]:
        text = self.tokenizer.apply_chat_template(turns, tokenize=False, **options)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _prepare_shepherd(self, folder: Path) -> tuple[Encode, Read]:
        from transformers import AutoModelForCausalLM

        self._model = self.load(AutoModelForCausalLM, folder)
        tag, good, bad = (self.token(text) for text in (STEP_TAG, GOOD, BAD))

        def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
            lines = [f"Step {number}: {step} {STEP_TAG}" for number, step in enumerate(steps, 1)]
            ids = list(self.tokenizer(f"{question} " + "\n".join(lines))["input_ids"])
            return MarkedSteps(ids, find_tags(ids, tag, len(steps), self.name))

        return encode, lambda logits: logits[:, [good, bad]].softmax(-1)[:, 0]

    def _prepare_qwen(self, folder: Path) -> tuple[Encode, Read]:
        self._model, tensors = self._base_and_head(folder, "score.")
        separator = self.token(QWEN_SEPARATOR)
        if not self.tokenizer.chat_template:
            raise InputError(
                f"the tokenizer in {str(folder)!r} has no chat template, which the form 'qwen' "
                "needs; give the folder as it was published, or another --form"
            )

        def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
            ids = self._chat([
                {"role": "system", "content": QWEN_SYSTEM},
                {"role": "user", "content": question},
                {"role": "assistant", "content": QWEN_SEPARATOR.join([*steps, ""])},
            ])  # fmt: skip
            return MarkedSteps(ids, find_tags(ids, separator, len(steps), self.name))

        def read(states: Tensor) -> Tensor:
            hidden = relu(linear(states, tensors["score.0.weight"], tensors["score.0.bias"]))
            return probability(linear(hidden, tensors["score.2.weight"], tensors["score.2.bias"]))

        return encode, read

    def _prepare_skywork(self, folder: Path) -> tuple[Encode, Read]:
        self._model, tensors = self._base_and_head(folder, "v_head.")
        line_break = self.token("\n")

        def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
            start = f"{self.tokenizer.bos_token or ''}{question}\n"
            ids, places = list(self.tokenizer(start)["input_ids"]), []
            for step in steps:
                ids += [*self.tokenizer(step)["input_ids"], line_break]
                places.append(len(ids) - 1)
            return MarkedSteps(ids, places)

        head = (tensors["v_head.summary.weight"], tensors["v_head.summary.bias"])
        return encode, lambda states: linear(states, *head)[:, 0].sigmoid()

    def _prepare_yes_no(self, folder: Path) -> tuple[Encode, Read]:
        from transformers import AutoModelForCausalLM

        self._model = self.load(AutoModelForCausalLM, folder)
        words = {}
        for word in ("yes", "no"):
            forms = [word, word.capitalize(), f" {word}", f" {word.capitalize()}"]
            tokens = [self.tokenizer(form, add_special_tokens=False)["input_ids"] for form in forms]
            words[word] = sorted({ids[-1] for ids in tokens if len(ids) == 1})
        if not all(words.values()) or words["yes"] == words["no"]:
            raise InputError(f"the tokenizer of {self.name} has no token for yes or no; give "
                             "--critiques 1 for its answers in words")  # fmt: skip

        def encode(question: str, steps: Sequence[str]) -> MarkedSteps:
            text = YES_OR_NO.format(question=question, solution="\n".join(steps))
            if self.tokenizer.chat_template:
                ids = self._chat([{"role": "user", "content": text}], add_generation_prompt=True)
            else:
                ids = list(self.tokenizer(text)["input_ids"])
            return MarkedSteps(ids, [len(ids) - 1])

        def read(logits: Tensor) -> Tensor:
            yes, no = (logits[:, words[word]].logsumexp(-1) for word in ("yes", "no"))
            return (yes - no).sigmoid()

        return encode, read

    def _base_and_head(self, folder: Path, prefix: str) -> tuple[Any, Mapping[str, Tensor]]:
        """Return the model without a head, and the head's tensors by name.

        The folder's own code defines only the head, so the base model of its "model_type" can be
        built without that code.
        """
        from safetensors import SafetensorError, safe_open
        from transformers import AutoConfig, AutoModel

        fields = read_object(folder / CONFIG, NO_MODEL)
        fields.pop("auto_map", None)
        fields.pop("architectures", None)
        try:
            config = AutoConfig.for_model(fields.pop("model_type", ""), **fields)
            tensors = {}
            for file in sorted(folder.glob("*.safetensors")):
                with safe_open(file, "pt") as opened:
                    for name in opened.keys():  # noqa: SIM118
                        if name.startswith(prefix):
                            tensors[name] = opened.get_tensor(name).float().to(self._device)
        except (ValueError, OSError, SafetensorError) as error:
            raise InputError(
                f"the reward model in {str(folder)!r} cannot be read ({error}); give another folder"
            ) from error
        if not tensors:
            raise InputError(
                f"the safetensors files in {str(folder)!r} have no tensor {prefix + '*'!r}, which "
                f"the form '{self.form}' needs; give another --form"
            )
        return self.load(AutoModel, folder, config=config), tensors


def lines_marked(tokenizer: Any, question: str, steps: Sequence[str]) -> MarkedSteps:
    """Return the tokens joined as in TRL: the question, then steps that end in a line break."""
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]

    def tokens(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    ids, places, separator = [*begin, *tokens(question)], [], tokens("\n")
    if not separator:
        raise InputError(
            "the tokenizer has no token for a line break, which ends every step; give a reward "
            "model whose tokenizer has one"
        )
    for step in steps:
        ids += [*tokens(step), *separator]
        places.append(len(ids) - 1)
    return MarkedSteps(ids, places)


def probability(logits: Tensor) -> Tensor:
    """Return the probability of class 1 for logits [n, 2], the sigmoid of logits [n, 1]."""
    logits = logits.float()
    return logits[:, 0].sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)[:, 1]


def find_tags(ids: Sequence[int], tag: int, count: int, name: str) -> list[int]:
    """Return the positions of a tag; raises InputError unless it is once after each step."""
    places = [place for place, token in enumerate(ids) if token == tag]
    if len(places) != count:
        raise InputError(
            f"{name} reads {len(places)} step tags in a solution of {count} steps: a step contains "
            "the tag itself, or the tokenizer joins it with the text; leave the row out"
        )
    return places
