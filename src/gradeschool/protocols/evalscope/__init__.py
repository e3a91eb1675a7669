"""EvalScope: GSM8K, MATH-500, AIME, MGSM, CMATH; prompts ask for a box, Math-Verify parses it."""
