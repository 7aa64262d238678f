# make run     install, then search -> follow up -> deep research -> history against a real server process
# make test    install what the tests need, then run all of them
# make check   lint, format, types, import rules, file sizes
# make crash   kill servers at 200 random moments and look at what is left; CRASH_KILLS and CRASH_SEED choose another run
# make bench   measure against peers; prints the table that docs/benchmarks.md keeps
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help run test check crash bench format clean

help:
	@sed -n 's/^# //p' Makefile | head -5

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "conversation-mcp needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(VENV)/.installed
	@$(BIN)/python examples/main_job.py

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python tests/file_sizes.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The peers have an environment of their own; without them `bench` still measures the rest.
$(VENV)/.installed-peers: $(VENV)/.made tests/benchmarks/peers.txt
	@$(PYTHON) -m venv $(VENV)/peers && $(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/benchmarks/peers.txt && touch $@ || echo "bench: the peers cannot be installed; their rows will say so"

crash: $(VENV)/.installed-dev
	CRASH_KILLS=$${CRASH_KILLS:-200} $(BIN)/python -m pytest tests/e2e/test_crashes.py

bench: $(VENV)/.installed-dev $(VENV)/.installed-peers
	$(BIN)/python -m tests.benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
