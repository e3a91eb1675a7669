"""`zero-shot/chat` and `zero-shot/cot`."""

from gradeschool.prompts import CHAT_SYSTEM
from gradeschool.protocols import Decoding, Protocol, Template
from gradeschool.scorer import DEFAULT_SCORER

# Kojima et al. 2022, arXiv 2205.11916, section 3: the reasoning trigger.
TRIGGER = "Let's think step by step."
SCORERS = ()
PROTOCOLS = (
    Protocol(
        name="zero-shot/chat",
        summary="an instruction as system message, the question as user message, greedy",
        source="gradeschool's own wording; the scorer reads every usual form",
        render=Template(question="{question}", form="message", system=CHAT_SYSTEM),
        decoding=Decoding(temperature=0.0, max_tokens=1024),
        scorers=(DEFAULT_SCORER,),
    ),
    Protocol(
        name="zero-shot/cot",
        summary='Q/A with "Let\'s think step by step.", greedy',
        source="Kojima et al. 2022, arXiv 2205.11916 (first of its two stages)",
        render=Template(question=f"Q: {{question}}\nA: {TRIGGER}"),
        decoding=Decoding(temperature=0.0, max_tokens=512, stop=("Q:", "</s>", "<|im_end|>")),
        scorers=(DEFAULT_SCORER,),
    ),
)
