"""Everything that inspect_ai finds as `gradeschool/...` (entry-point group `inspect_ai`).

Tasks `gradeschool/gsm8k` and `gradeschool/aime2025`, every scorer, and
`gradeschool/numeric_equality`.
"""

from gradeschool.integrations.inspect_scorers import SCORERS, named_scorer, numeric_equality
from gradeschool.integrations.inspect_tasks import aime2025, gsm8k

__all__ = ["SCORERS", "aime2025", "gsm8k", "named_scorer", "numeric_equality"]
