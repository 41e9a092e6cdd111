# Everything here needs Python 3.11 or newer, and nothing else. Another interpreter: make test PYTHON=python3.12
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))

BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# A stamp for each depth of set-up, so that the demo does not wait for the test tools.
RUNS := .venv/.ready-to-run
TESTS := .venv/.ready-to-test
LINTS := .venv/.ready-to-lint
INTEROP := .venv-interop/bin/python
SETUP := pyproject.toml hatch_build.py
CATALOGUES := $(patsubst %.po,%.mo,$(wildcard locales/*/LC_MESSAGES/messages.po))

.PHONY: help demo test lint format locales snapshots bench soak interop wheel clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(RUNS) $(CATALOGUES) ## talk to a built-in model while its tools change
	@$(BIN)/dsh-tui demo

test: $(TESTS) $(CATALOGUES) ## run the tests
	@$(PYTEST) -q -n 2

lint: $(LINTS) ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

format: $(LINTS) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

locales: $(TESTS) ## extract the messages, update the catalogues, compile them
	$(BIN)/python -m locales.update
	@for source in locales/*/LC_MESSAGES/messages.po; do \
		$(BIN)/pybabel --quiet compile --input-file $$source --output-file $${source%.po}.mo || exit 1; done

snapshots: $(TESTS) $(CATALOGUES) ## draw the goldens of the screens anew
	@$(PYTEST) -q -m snapshot --snapshot-update

bench: $(TESTS) $(CATALOGUES) ## measure speed and memory
	@$(BIN)/python -m tests.benchmarks

soak: $(TESTS) ## kill a writing process 200 times
	@DSH_TUI_KILLS=200 $(PYTEST) -q tests/session/test_crash.py tests/loop/test_killed.py

interop: $(TESTS) $(INTEROP) ## let the real dsh resume sessions that we wrote
	@DSH_TUI_INTEROP_PYTHON=$(abspath $(INTEROP)) $(PYTEST) -q -m interop tests/interop

wheel: $(TESTS) ## build the wheel into dist/
	$(BIN)/python -m hatchling build -t wheel

clean: ## remove what was built
	rm -rf .venv .venv-interop dist build
	find locales -name '*.mo' -delete

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found; name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv .venv

$(RUNS): $(SETUP) | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(TESTS): $(SETUP) | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $(RUNS) $@

$(LINTS): $(SETUP) | $(BIN)/python
	$(PIP) --editable '.[lint]'
	@touch $(RUNS) $(TESTS) $@

# In a folder of its own: dsh's packages pin versions that the program does not want.
$(INTEROP): | $(BIN)/python
	$(PYTHON) -m venv .venv-interop
	$(INTEROP) -m pip install --quiet --disable-pip-version-check \
		deepseek-harness-runtime-bin==0.2.1rc2 deepseek-harness-sdk==0.2.1rc2

%.mo: %.po | $(RUNS)
	@$(BIN)/pybabel --quiet compile --input-file $< --output-file $@
