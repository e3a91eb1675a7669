"""OpenCompass: the evaluators and prompts of its gsm8k configurations, and other sets."""

from gradeschool.protocols.opencompass.few_shot import FEW_SHOT, FEW_SHOT_STOP, GSM8K, SVAMP
from gradeschool.protocols.opencompass.other_sets import OTHER_PROTOCOLS, OTHER_SCORERS
from gradeschool.protocols.opencompass.zero_shot import (
    V2_SCORER,
    ZERO_SHOT,
    ZERO_SHOT_NOCOT,
    ZERO_SHOT_V2,
    ZERO_SHOT_V2_LONG,
)

SCORERS = (GSM8K, V2_SCORER, *OTHER_SCORERS)
PROTOCOLS = (
    FEW_SHOT,
    FEW_SHOT_STOP,
    SVAMP,
    ZERO_SHOT,
    ZERO_SHOT_V2,
    ZERO_SHOT_V2_LONG,
    ZERO_SHOT_NOCOT,
    *OTHER_PROTOCOLS,
)
