"""Published reward models: score each step of a solution in the model's own training format.

Transformers reads them from a folder; code in the folder is not run. The forms:

- token: AutoModelForTokenClassification as TRL's PRMTrainer trains it (trl 0.24, trainer/
  prm_trainer.py, tokenize_row): every step ends in a line break, whose class 1 (True) counts.
- sequence: AutoModelForSequenceClassification; a step's score is that of the text up to it.
- math-shepherd: peiyi9979/math-shepherd-mistral-7b-prm (model card): a causal language model;
  after every step comes "ки", where the token "+" is compared with "-".
- qwen: Qwen/Qwen2.5-Math-PRM-7B (model card; modeling_qwen2_rm.py): after every step comes
  <extra_0>; two linear layers give the classes of the state there.
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
from gradeschool.verifier.examples import encode_steps
from gradeschool.verifier.process_labels import BAD, GOOD, STEP_TAG

QWEN_SEPARATOR = "<extra_0>"
QWEN_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
CONFIG = "config.json"
NO_MODEL = "the folder contains no readable model; give the folder of a Hugging Face model"


class RewardForm(StrEnum):
    """How a reward model reads a solution; see the module."""

    TOKEN = "token"
    SEQUENCE = "sequence"
    MATH_SHEPHERD = "math-shepherd"
    QWEN = "qwen"
    SKYWORK = "skywork"


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


class RewardModel:
    """A reward model from a folder. form: None means the one in config.json.

    Raises InputError if the folder cannot be read in that form.
    """

    def __init__(self, folder: Path, form: RewardForm | None = None) -> None:
        self.form = form or reward_form(folder)
        self.name = f"{model_name(folder)} ({self.form})"
        self.tokenizer = load_tokenizer(folder)
        self._device = best_device()
        self._read = READERS[self.form](self, folder)

    def step_scores(self, question: str, steps: Sequence[str]) -> list[float]:
        """Return the model's probability that each step is right."""
        with torch.inference_mode():
            return [float(score) for score in self._read(question, steps)]

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

    def forward(self, model: Any, ids: Sequence[int]) -> Any:
        """Return a model's output for one row of tokens."""
        return model(input_ids=torch.tensor([list(ids)], device=self._device), use_cache=False)

    def token(self, text: str) -> int:
        """Return the last token of a text; raises InputError if it is unknown."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if not ids or ids[-1] == self.tokenizer.unk_token_id:
            raise InputError(
                f"the tokenizer of {self.name} does not know {text!r}, which the form "
                f"'{self.form}' needs; give another --form"
            )
        return int(ids[-1])


StepScores = Callable[[str, Sequence[str]], Any]  # returns a score for each step


def _token_reader(reward: RewardModel, folder: Path) -> StepScores:
    from transformers import AutoModelForTokenClassification

    model = reward.load(AutoModelForTokenClassification, folder)

    def read(question: str, steps: Sequence[str]) -> Any:
        marked = lines_marked(reward.tokenizer, question, steps)
        logits = reward.forward(model, marked.ids).logits[0, marked.places]
        if model.config.problem_type == "regression":  # an exported verifier: values, not logits
            return logits[:, 0].float()
        return probability(logits)

    return read


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


def _sequence_reader(reward: RewardModel, folder: Path) -> StepScores:
    from transformers import AutoModelForSequenceClassification

    model = reward.load(AutoModelForSequenceClassification, folder)
    if model.config.num_labels > 2:
        raise InputError(
            f"the reward model in {str(folder)!r} has {model.config.num_labels} classes; give one "
            "with a single score or two classes"
        )

    def read(question: str, steps: Sequence[str]) -> list[float]:
        scores = []
        for end in range(1, len(steps) + 1):
            ids = _prompted(reward.tokenizer, question, steps[:end])
            scores.append(float(probability(reward.forward(model, ids).logits)[0]))
        return scores

    return read


def _prompted(tokenizer: Any, question: str, steps: Sequence[str]) -> list[int]:
    """Return a chat if the tokenizer has a template, else question and steps as lines."""
    if not tokenizer.chat_template:
        text = encode_steps(tokenizer, question, steps).text
        return [*text.question, *text.solution]
    turns = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": "\n".join(steps)},
    ]
    chat = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=False)
    return list(tokenizer(chat, add_special_tokens=False)["input_ids"])


def _shepherd_reader(reward: RewardModel, folder: Path) -> StepScores:
    from transformers import AutoModelForCausalLM

    model = reward.load(AutoModelForCausalLM, folder)
    tag, good, bad = (reward.token(text) for text in (STEP_TAG, GOOD, BAD))

    def read(question: str, steps: Sequence[str]) -> Any:
        lines = [f"Step {number}: {step} {STEP_TAG}" for number, step in enumerate(steps, 1)]
        ids = list(reward.tokenizer(f"{question} " + "\n".join(lines))["input_ids"])
        places = places_of_tag(ids, tag, len(steps), reward.name)
        logits = reward.forward(model, ids).logits[0, places].float()
        return logits[:, [good, bad]].softmax(-1)[:, 0]

    return read


def places_of_tag(ids: Sequence[int], tag: int, count: int, name: str) -> list[int]:
    """Return the positions of a tag; raises InputError unless it is once after each step."""
    places = [place for place, token in enumerate(ids) if token == tag]
    if len(places) != count:
        raise InputError(
            f"{name} reads {len(places)} step tags in a solution of {count} steps: a step contains "
            "the tag itself, or the tokenizer joins it with the text; leave the row out"
        )
    return places


def _qwen_reader(reward: RewardModel, folder: Path) -> StepScores:
    base, tensors = _base_and_head(reward, folder, "score.")
    separator = reward.token(QWEN_SEPARATOR)
    if not reward.tokenizer.chat_template:
        raise InputError(
            f"the tokenizer in {str(folder)!r} has no chat template, which the form 'qwen' needs; "
            "give the folder as it was published, or another --form"
        )

    def read(question: str, steps: Sequence[str]) -> Tensor:
        turns = [
            {"role": "system", "content": QWEN_SYSTEM},
            {"role": "user", "content": question},
            {"role": "assistant", "content": QWEN_SEPARATOR.join(steps) + QWEN_SEPARATOR},
        ]
        chat = reward.tokenizer.apply_chat_template(turns, tokenize=False)
        ids = list(reward.tokenizer(chat, add_special_tokens=False)["input_ids"])
        places = places_of_tag(ids, separator, len(steps), reward.name)
        states = reward.forward(base, ids).last_hidden_state[0, places].float()
        hidden = relu(linear(states, tensors["score.0.weight"], tensors["score.0.bias"]))
        return probability(linear(hidden, tensors["score.2.weight"], tensors["score.2.bias"]))

    return read


def _skywork_reader(reward: RewardModel, folder: Path) -> StepScores:
    base, tensors = _base_and_head(reward, folder, "v_head.")

    def read(question: str, steps: Sequence[str]) -> Tensor:
        tokenizer = reward.tokenizer
        line_break = reward.token("\n")
        ids = list(tokenizer(f"{tokenizer.bos_token or ''}{question}\n")["input_ids"])
        places = []
        for step in steps:
            ids += [*tokenizer(step)["input_ids"], line_break]
            places.append(len(ids) - 1)
        states = reward.forward(base, ids).last_hidden_state[0, places].float()
        head = (tensors["v_head.summary.weight"], tensors["v_head.summary.bias"])
        return linear(states, *head)[:, 0].sigmoid()

    return read


def _base_and_head(
    reward: RewardModel, folder: Path, prefix: str
) -> tuple[Any, Mapping[str, Tensor]]:
    """Return the model without a head, and the head's tensors by name.

    The folder's own code defines only the head, so the base model of its "model_type" can be built
    without that code.
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
                        tensors[name] = opened.get_tensor(name).float().to(reward._device)
    except (ValueError, OSError, SafetensorError) as error:
        raise InputError(
            f"the reward model in {str(folder)!r} cannot be read ({error}); give another folder"
        ) from error
    if not tensors:
        raise InputError(
            f"the safetensors files in {str(folder)!r} have no tensor {prefix + '*'!r}, which the "
            f"form '{reward.form}' needs; give another --form"
        )
    return reward.load(AutoModel, folder, config=config), tensors


READERS: Mapping[RewardForm, Callable[[RewardModel, Path], StepScores]] = {
    RewardForm.TOKEN: _token_reader,
    RewardForm.SEQUENCE: _sequence_reader,
    RewardForm.MATH_SHEPHERD: _shepherd_reader,
    RewardForm.QWEN: _qwen_reader,
    RewardForm.SKYWORK: _skywork_reader,
}
