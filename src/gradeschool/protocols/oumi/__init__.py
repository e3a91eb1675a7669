"""`oumi/gsm8k`: gsm8k_reward with its default method "strict"."""
