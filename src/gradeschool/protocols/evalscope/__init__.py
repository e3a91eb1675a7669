r"""EvalScope: GSM8K, MATH-500, AIME, MGSM and CMATH; prompts ask for a box, Math-Verify parses it.

`evalscope/gsm8k`: Math-Verify parses the output, then parses the result again, boxes first; the
first four train rows are the examples. `evalscope/aime`: the same, but the answer must be written
as an integer.

evalscope/metrics/math/parser.py lines 60-100, 191-308; evalscope/metrics/nlp/metrics.py lines 27-60
(Accuracy, numeric=True); decoding: evalscope/config.py.
"""
