"""GSM8K as OLMES asks it (gsm8k::tulu), for both APIs of verifiers; gradeschool does the work."""

from gradeschool.integrations.verifiers import load_environment

try:
    from gradeschool.integrations.verifiers_v1 import Gsm8kOlmes
except ImportError:  # verifiers before 0.3 has no such version 1
    __all__ = ["load_environment"]
else:
    __all__ = ["Gsm8kOlmes", "load_environment"]
