"""`zero-shot/chat`, and `zero-shot/cot` with the trigger of Kojima et al. 2022 (section 3)."""
