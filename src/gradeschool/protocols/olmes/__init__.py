"""AI2 OLMES (oe_eval): gsm8k::tulu, the protocol of the Tulu-3 paper, gsm8k::olmes, variants."""

from gradeschool.protocols.olmes.gsm8k import (
    BASE,
    OLMO3_N8,
    OLMO3_N8_V2,
    OLMO3_N32,
    TULU,
    TULU_SCORER,
    ZERO_SHOT,
    ZERO_SHOT_R1,
)

SCORERS = (TULU_SCORER,)
PROTOCOLS = (TULU, BASE, ZERO_SHOT, ZERO_SHOT_R1, OLMO3_N8, OLMO3_N8_V2, OLMO3_N32)
