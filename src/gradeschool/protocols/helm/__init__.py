"""Stanford CRFM HELM: the gsm scenario with its two exact-match metrics."""

from gradeschool.protocols.helm.gsm import EXACT_MATCH_INDICATOR, FINAL_NUMBER, GSM

SCORERS = (FINAL_NUMBER, EXACT_MATCH_INDICATOR)
PROTOCOLS = (GSM,)
