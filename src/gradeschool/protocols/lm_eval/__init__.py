"""EleutherAI lm-evaluation-harness: gsm8k and gsm8k_platinum of 0.4.2 to 0.4.13, gsm8k of 0.3.0."""

from gradeschool.protocols.lm_eval.chat import CHAT_FORMS, MULTITURN_FORMS
from gradeschool.protocols.lm_eval.cot_prompts import COT_SELF_CONSISTENCY, COT_ZEROSHOT
from gradeschool.protocols.lm_eval.cot_scorers import (
    COT_FLEXIBLE,
    SCORE_FIRST,
    ZEROSHOT_FLEXIBLE,
    ZEROSHOT_STRICT,
)
from gradeschool.protocols.lm_eval.hrm8k import HRM8K, HRM8K_SCORER
from gradeschool.protocols.lm_eval.llama_prompts import COT_LLAMA, COT_LLAMA_3, LLAMA
from gradeschool.protocols.lm_eval.llama_scorers import (
    COT_LLAMA_FLEXIBLE,
    COT_LLAMA_STRICT,
    LLAMA_FLEXIBLE,
    LLAMA_STRICT,
)
from gradeschool.protocols.lm_eval.platinum import PLATINUM_FORMS
from gradeschool.protocols.lm_eval.prompts import GSM8K, GSM8K_COT
from gradeschool.protocols.lm_eval.scorers import COT_STRICT, FLEXIBLE, STRICT
from gradeschool.protocols.lm_eval.version_0_3 import GSM8K_0_3, GSM8K_0_3_SCORER
from gradeschool.protocols.lm_eval.votes import MAJ_8, MAJ_64

SCORERS = (
    STRICT,
    FLEXIBLE,
    COT_STRICT,
    COT_FLEXIBLE,
    ZEROSHOT_STRICT,
    ZEROSHOT_FLEXIBLE,
    SCORE_FIRST,
    COT_LLAMA_STRICT,
    COT_LLAMA_FLEXIBLE,
    LLAMA_STRICT,
    LLAMA_FLEXIBLE,
    HRM8K_SCORER,
    GSM8K_0_3_SCORER,
)
VOTES = (MAJ_64, MAJ_8)
PROTOCOLS = (
    GSM8K,
    GSM8K_COT,
    COT_ZEROSHOT,
    COT_SELF_CONSISTENCY,
    COT_LLAMA,
    COT_LLAMA_3,
    LLAMA,
    *CHAT_FORMS,
    *MULTITURN_FORMS,
    *PLATINUM_FORMS,
    HRM8K,
    GSM8K_0_3,
)
