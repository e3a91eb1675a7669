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
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear, relu

from gradeschool.errors import InputError
from gradeschool.formats.settings import read_object
from gradeschool.machine import best_device
from gradeschool.models.local import from_folder, load_tokenizer, model_name
from gradeschool.verifier.data import encode_steps
from gradeschool.verifier.head import batch_rows, pad_rows
from gradeschool.verifier.judges import QWEN_SEPARATOR, QWEN_SYSTEM, YES_OR_NO

CONFIG = "config.json"
STEP_TAG, GOOD, BAD = "ки", "+", "-"  # of Math-Shepherd
NO_MODEL = "the folder contains no readable model; give the folder of a Hugging Face model"
# The end of a name in "architectures" of config.json, and its form.
ARCHITECTURES = {
    "ForTokenClassification": "token",
    "ForSequenceClassification": "sequence",
    "ForProcessRewardModel": "qwen",
    "ForPrmModel": "skywork",
}
FORMS = (*ARCHITECTURES.values(), "math-shepherd", "yes-no")
# The tokens of a question with its steps, and the position of each step's scoring token.
Encode = Callable[[str, Sequence[str]], tuple[list[int], list[int]]]
Read = Callable[[Tensor], Tensor]  # the scores of a row's output at those positions


def reward_form(folder: Path) -> str:
    """Return the form of a folder's reward model; raises InputError if it is unclear."""
    fields = read_object(folder / CONFIG, NO_MODEL)
    names = [str(name) for name in fields.get("architectures") or ()]
    forms = {form for name in names for end, form in ARCHITECTURES.items() if name.endswith(end)}
    if len(forms) != 1:
        shown = ", ".join(names) or "no architecture"
        raise InputError(
            f"the form of the reward model in {str(folder)!r} cannot be determined from "
            f"its config.json ({shown}); name it with --form: {', '.join(FORMS)}"
        )
    return forms.pop()


class RewardModel:
    """A reward model from a folder. form: None means the one in config.json.

    Raises InputError if the folder cannot be read in that form.
    """

    def __init__(self, folder: Path, form: str | None = None) -> None:
        self.form = form or reward_form(folder)
        self.name = f"{model_name(folder)} ({self.form})"
        self.tokenizer = load_tokenizer(folder)
        self._folder, self._device = folder, best_device()
        # `_model` gives logits or, without a head, states; `_read` makes scores of them.
        self._model: Any = None
        self._encode: Encode
        self._read: Read
        getattr(self, f"_prepare_{self.form.replace('-', '_')}")()

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
        for part in batch_rows([len(ids) for ids, _ in rows], self._device):
            # Attention is causal, so that padding is never seen.
            ids = pad_rows([rows[number][0] for number in part], self._device)
            with torch.inference_mode():
                output = self._model(input_ids=ids, use_cache=False)
                states = output.logits if hasattr(output, "logits") else output.last_hidden_state
                for row, number in enumerate(part):
                    found[number] = self._read(states[row, rows[number][1]].float()).tolist()
        results: list[list[float]] = [[] for _ in solutions]
        for owner, scores in zip(owners, found, strict=True):
            results[owner] += scores
        return results

    def _load(self, kind: Any, **options: Any) -> Any:
        """Load the folder's model as a transformers class, in evaluation mode."""
        from safetensors import SafetensorError
        from transformers.utils import logging

        logging.disable_progress_bar()
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # missing weights are an error below
        dtype = torch.float32 if self._device == "cpu" else torch.bfloat16
        try:
            model, loading = from_folder(
                kind, self._folder, dtype=dtype, output_loading_info=True, **options
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
        if absent := sorted(loading["missing_keys"]):  # transformers would initialise them randomly
            raise InputError(
                f"the weights in {str(self._folder)!r} lack {', '.join(absent[:3])}, which the "
                f"form {self.form!r} needs; give another --form"
            )
        return model.to(self._device).eval()

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

    def _chat(self, *turns: tuple[str, str], **options: bool) -> list[int]:
        messages = [{"role": role, "content": content} for role, content in turns]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, **options)
        return self._ids(text, add_special_tokens=False)

    def _tagged(self, ids: list[int], tag: int, count: int) -> tuple[list[int], list[int]]:
        """Return tokens with the positions of a tag, which must be once after each step."""
        places = [place for place, token in enumerate(ids) if token == tag]
        if len(places) != count:
            raise InputError(
                f"{self.name} reads {len(places)} step tags in a solution of {count} steps: a step "
                "contains the tag itself, or the tokenizer joins it with the text; leave the row "
                "out"
            )
        return ids, places

    def _prepare_token(self) -> None:
        from transformers import AutoModelForTokenClassification

        self._model = self._load(AutoModelForTokenClassification)
        if self._model.config.problem_type == "regression":  # an exported verifier
            self._read, self._encode = (lambda values: values[:, 0]), self._encode_steps
            return
        self._read = probability
        self._encode = lambda question, steps: self._encode_lines(question, steps, special=False)

    def _encode_lines(
        self, question: str, steps: Sequence[str], special: bool
    ) -> tuple[list[int], list[int]]:
        """Return the question with steps that each end in a line break, and the line breaks.

        special: the tokenizer adds its own tokens to each text, and a line break is one token
        (Skywork); otherwise all that the tokenizer writes for one, such as a space before it (TRL).
        """
        last = self._token("\n")
        line_break = [last] if special else self._ids("\n", add_special_tokens=False)
        ids, places = self._ids(question, add_special_tokens=special), []
        if not special and self.tokenizer.bos_token_id is not None:
            ids.insert(0, self.tokenizer.bos_token_id)
        for step in steps:
            ids += [*self._ids(step, add_special_tokens=special), *line_break]
            places.append(len(ids) - 1)
        return ids, places

    def _encode_steps(self, question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the tokens of gradeschool's own verifiers, and the last of each step."""
        text, ends = encode_steps(self.tokenizer, question, steps)
        places = [len(text.question) + max(end, 1) - 1 for end in ends]
        return [*text.question, *text.solution], places

    def _prepare_sequence(self) -> None:
        from transformers import AutoModelForSequenceClassification

        model = self._load(AutoModelForSequenceClassification)
        if model.config.num_labels > 2 or not hasattr(model, "score"):
            raise InputError(
                f"the reward model in {str(self._folder)!r} has {model.config.num_labels} classes "
                f"and {'a' if hasattr(model, 'score') else 'no'} linear layer `score`; give one "
                "with a single score or two classes"
            )
        self._model, head = model.base_model, model.score

        def encode(question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
            if self.tokenizer.chat_template:
                ids = self._chat(("user", question), ("assistant", "\n".join(steps)))
            else:
                ids, _ = self._encode_steps(question, steps)
            return ids, [len(ids) - 1]

        self._encode = encode
        self._read = lambda states: probability(head(states.to(head.weight.dtype)))

    def _prepare_math_shepherd(self) -> None:
        from transformers import AutoModelForCausalLM

        self._model = self._load(AutoModelForCausalLM)
        tag, good, bad = (self._token(text) for text in (STEP_TAG, GOOD, BAD))

        def encode(question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
            lines = [f"Step {number}: {step} {STEP_TAG}" for number, step in enumerate(steps, 1)]
            return self._tagged(self._ids(f"{question} " + "\n".join(lines)), tag, len(steps))

        self._encode = encode
        self._read = lambda logits: logits[:, [good, bad]].softmax(-1)[:, 0]

    def _prepare_qwen(self) -> None:
        tensors = self._load_base("score.")
        separator = self._token(QWEN_SEPARATOR)
        if not self.tokenizer.chat_template:
            raise InputError(
                f"the tokenizer in {str(self._folder)!r} has no chat template, which the form "
                "'qwen' needs; give the folder as it was published, or another --form"
            )

        def encode(question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
            solution = QWEN_SEPARATOR.join([*steps, ""])
            turns = (("system", QWEN_SYSTEM), ("user", question), ("assistant", solution))
            return self._tagged(self._chat(*turns), separator, len(steps))

        def read(states: Tensor) -> Tensor:
            hidden = relu(linear(states, tensors["score.0.weight"], tensors["score.0.bias"]))
            return probability(linear(hidden, tensors["score.2.weight"], tensors["score.2.bias"]))

        self._encode, self._read = encode, read

    def _prepare_skywork(self) -> None:
        tensors = self._load_base("v_head.")
        head = (tensors["v_head.summary.weight"], tensors["v_head.summary.bias"])

        def encode(question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
            start = f"{self.tokenizer.bos_token or ''}{question}\n"
            return self._encode_lines(start, steps, special=True)

        self._encode = encode
        self._read = lambda states: linear(states, *head)[:, 0].sigmoid()

    def _prepare_yes_no(self) -> None:
        from transformers import AutoModelForCausalLM

        self._model = self._load(AutoModelForCausalLM)
        words = []
        for word in ("yes", "no"):
            forms = [word, word.capitalize(), f" {word}", f" {word.capitalize()}"]
            tokens = [self._ids(form, add_special_tokens=False) for form in forms]
            words.append(sorted({ids[-1] for ids in tokens if len(ids) == 1}))
        yes, no = words
        if not yes or not no or yes == no:
            raise InputError(f"the tokenizer of {self.name} has no token for yes or no; give "
                             "--critiques 1 for its answers in words")  # fmt: skip

        def encode(question: str, steps: Sequence[str]) -> tuple[list[int], list[int]]:
            text = YES_OR_NO.format(question=question, solution="\n".join(steps))
            if self.tokenizer.chat_template:
                ids = self._chat(("user", text), add_generation_prompt=True)
            else:
                ids = self._ids(text)
            return ids, [len(ids) - 1]

        self._encode = encode
        self._read = lambda logits: (
            logits[:, yes].logsumexp(-1) - logits[:, no].logsumexp(-1)
        ).sigmoid()

    def _load_base(self, prefix: str) -> Mapping[str, Tensor]:
        """Load the model without a head; return the head's tensors by name.

        The folder's own code defines only the head, so the base model of its "model_type" can be
        built without that code.
        """
        from safetensors import SafetensorError, safe_open
        from transformers import AutoConfig, AutoModel

        fields = read_object(self._folder / CONFIG, NO_MODEL)
        fields = {name: value for name, value in fields.items()
                  if name not in ("auto_map", "architectures")}  # fmt: skip
        tensors = {}
        try:
            config = AutoConfig.for_model(fields.pop("model_type", ""), **fields)
            for file in sorted(self._folder.glob("*.safetensors")):
                with safe_open(file, "pt") as opened:
                    for name in opened.keys():  # noqa: SIM118
                        if name.startswith(prefix):
                            tensors[name] = opened.get_tensor(name).float().to(self._device)
        except (ValueError, OSError, SafetensorError) as error:
            raise InputError(
                f"the reward model in {str(self._folder)!r} cannot be read ({error}); give another "
                "folder"
            ) from error
        if not tensors:
            raise InputError(
                f"the safetensors files in {str(self._folder)!r} have no tensor {prefix + '*'!r}, "
                f"which the form {self.form!r} needs; give another --form"
            )
        self._model = self._load(AutoModel, config=config)
        return tensors


def probability(logits: Tensor) -> Tensor:
    """Return the probability of class 1 for logits [n, 2], the sigmoid of logits [n, 1]."""
    logits = logits.float()
    return logits[:, 0].sigmoid() if logits.shape[-1] == 1 else logits.softmax(-1)[:, 1]
