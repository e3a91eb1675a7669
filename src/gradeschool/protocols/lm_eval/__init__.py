"""EleutherAI lm-evaluation-harness 0.4: GSM8K, Platinum and other sets; GSM8K of 0.3.0."""

from gradeschool.protocols.lm_eval.hrm8k import HRM8K, HRM8K_SCORER
from gradeschool.protocols.lm_eval.mgsm import MGSM_PROTOCOLS, MGSM_SCORERS
from gradeschool.protocols.lm_eval.minerva import MINERVA, MINERVA_SCORERS
from gradeschool.protocols.lm_eval.other_sets import (
    AIME_SCORER,
    HENDRYCKS_SCORER,
    OTHER_PROTOCOLS,
)
from gradeschool.protocols.lm_eval.prompts import (
    CHAT_FORMS,
    COT_LLAMA,
    COT_LLAMA_3,
    COT_SELF_CONSISTENCY,
    COT_ZEROSHOT,
    GSM8K,
    GSM8K_COT,
    LLAMA,
    MULTITURN_FORMS,
    PLATINUM_FORMS,
)
from gradeschool.protocols.lm_eval.scorers import (
    COT_FLEXIBLE,
    COT_LLAMA_FLEXIBLE,
    COT_LLAMA_STRICT,
    COT_STRICT,
    FLEXIBLE,
    LLAMA_FLEXIBLE,
    LLAMA_STRICT,
    MAJ_8,
    MAJ_64,
    SCORE_FIRST,
    STRICT,
    ZEROSHOT_FLEXIBLE,
    ZEROSHOT_STRICT,
)
from gradeschool.protocols.lm_eval.version_0_3 import GSM8K_0_3, GSM8K_0_3_SCORER

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
    *MGSM_SCORERS,
    HENDRYCKS_SCORER,
    AIME_SCORER,
    *MINERVA_SCORERS,
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
    *MGSM_PROTOCOLS,
    *OTHER_PROTOCOLS,
    MINERVA,
)
