# make demo        set up, and evaluate what the package ships
# make test        set up, and run lint, types and tests on the built wheel
# make test-peers  compare with the real harnesses, each in an environment of its own
# make test-peers-heavy  the same for those that bring torch (gigabytes)
# make docs        write the documentation to build/docs (make test builds it too, strictly)
# make bench       time scoring and requests beside peers

PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check --quiet
PEERS = lm_eval inspect_ai inspect_ai_0_3_220 inspect_ai_0_3_252 inspect_ai_0_3_260 opencompass \
        functions inspect_ai_server lm_eval_api verifiers_0_4_0 every_eval_ever
HEAVY_PEERS = lighteval evalscope trl trl_train verifiers verl openrlhf ray transformers_serve vllm_cpu \
	llama_cpp_server
SOURCES := pyproject.toml README.md $(shell find src -type f -not -name '*.pyc')
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-peers test-peers-heavy docs bench clean

demo: .venv/installed
	.venv/bin/gradeschool eval -m 'recorded/sample#handwritten/chat' -d sample
	.venv/bin/gradeschool score runs/recorded_sample_handwritten_chat-zero-shot_chat-sample

test: .venv/installed .venv/tools
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/python -m pytest -m 'not peers'

test-peers: .venv/installed .venv/tools
	.venv/bin/python tests/peers/install.py $(PEERS)
	.venv/bin/python -m pytest -m peers tests/peers

test-peers-heavy: .venv/installed .venv/tools
	.venv/bin/python tests/peers/install.py $(HEAVY_PEERS)
	.venv/bin/python -m pytest -m peers tests/peers

docs: .venv/installed .venv/tools
	NO_MKDOCS_2_WARNING=1 .venv/bin/python -W error -m mkdocs build --strict

bench: .venv/installed .venv/tools
	.venv/bin/python benchmarks/scoring.py

# The wheel is what users get, so the wheel is what is tested.
.venv/installed: .venv/bin/python constraints.txt $(SOURCES)
	rm -rf dist
	$(PIP) wheel --no-deps --wheel-dir dist .
	$(PIP) install --constraint constraints.txt dist/*.whl
	$(PIP) install --no-deps --force-reinstall dist/*.whl
	touch $@

# torch first and by its exact version: a range would take a build of several gigabytes.
.venv/tools: .venv/bin/python constraints.txt pyproject.toml
	$(PIP) install torch==2.13.0
	$(PIP) install --constraint constraints.txt --group all
	touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(PIP) install 'pip>=25.1'

clean:
	rm -rf .venv .venvs .cache dist build
