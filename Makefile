# Everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STORE  ?= ladybug
NAME   ?= ingest
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test soak lint types layers bench lock wheel-test clean

help: ## Show the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.ready ## Install everything into $(VENV).

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ontoloom needs Python 3.11 or later; run: make PYTHON=python3.11 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt --editable '.[cpu]' --group dev
	@touch $@

demo: setup ## Run the main job on the bundled example, with a real vLLM on the CPU.
	@$(BIN)/ontoloom demo --store $(STORE)

test: setup lint types layers ## Check style, types and layers, then run every test.
	@$(BIN)/pytest $(ARGS)

soak: setup ## Kill writers and servers at fifty random moments each.
	@ONTOLOOM_SOAK=50 $(BIN)/pytest tests/test_store_crash.py tests/test_pipeline_crash.py

lint: setup
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup
	@$(BIN)/mypy

layers: setup
	@PYTHONPATH=. $(BIN)/lint-imports --no-cache

bench: setup ## Run a benchmark: make bench NAME=ingest ARGS=--quick
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt --group peers
	@$(BIN)/python -m bench.bench_$(NAME) $(ARGS)

wheel-test: setup ## Build the wheel and use it from an empty folder.
	@.ci/wheel-test $(VENV)

lock: ## Pin the versions that `make` installs.
	@$(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --python-version 3.11 --extra cpu --extra sqlalchemy --extra postgres --extra rdf --group dev --group peers pyproject.toml -o constraints.txt

clean: ## Remove the environment and everything generated.
	rm -rf $(VENV) build dist .cache .ontoloom .hypothesis .mypy_cache .pytest_cache .ruff_cache
