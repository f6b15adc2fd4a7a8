# Needs Python 3.11 or newer, git and make; everything else goes into .venv.
# PYTHON=python3.12 chooses the interpreter of a new .venv; ARGS="..." is passed on to the tool a target runs.

IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c '$(IS_NEW_ENOUGH)' >/dev/null 2>&1 && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WORKERS ?= 2
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-whoosh3 lint format cases audit bench verify-package clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r name what; do printf '  make %-16s %s\n' "$$name" "$$what"; done

demo: $(VENV)/.installed  ## a guided tour on a throw-away copy of this project's own vault
	@$(BIN)/remvault demo $(ARGS)

test: lint  ## everything that has to pass
	$(BIN)/remvault --vault vault check
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

lint: $(VENV)/.installed-test  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-test  ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cases: $(VENV)/.installed-test  ## only the tests named after reported faults
	$(BIN)/python -m pytest -n $(WORKERS) -k "$$(for n in 0 1 2 3 4 5 6 7 8 9; do printf 'test_r%s or ' $$n; done) test_case" $(ARGS)

audit: $(VENV)/.installed-test  ## what an independent suite says of edits behind our back
	@$(BIN)/python -m tests.audit $(ARGS)

bench: $(VENV)/.installed-test  ## the figures, as ratios against peers in the same run
	$(BIN)/python -m tests.bench $(ARGS)

test-whoosh3: $(BIN)/python  ## the index tests with whoosh3 in place of Whoosh 2.7.4
	@$(BIN)/python -m venv .venv-whoosh3
	.venv-whoosh3/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	.venv-whoosh3/bin/python -m pip uninstall --quiet --yes whoosh
	.venv-whoosh3/bin/python -m pip install --quiet --disable-pip-version-check whoosh3==3.54.0
	.venv-whoosh3/bin/python -m pytest tests/index $(ARGS)

soak: $(VENV)/.installed-test  ## many writers at once, with the numbers of the reports
	REMVAULT_TEST_SOAK=1 $(BIN)/python -m pytest tests/surfaces/test_life_cycle.py tests/cases/test_concurrency_cases.py \
		tests/index/test_reconcile_machine.py tests/surfaces/test_killed.py tests/surfaces/test_scenes.py \
		--durations=5 $(ARGS)

verify-package: $(VENV)/.installed-test  ## build, install elsewhere, and try every verb from there
	$(BIN)/python tests/verify_package.py $(ARGS)

clean:  ## remove what the targets made, .venv too
	rm -rf $(VENV) .venv-whoosh3 build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find remvault tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then echo 'remvault needs Python 3.11 or newer; name one with make PYTHON=...' >&2; exit 1; fi
	@$(PYTHON) -c '$(IS_NEW_ENOUGH)' || { echo '$(PYTHON) is no Python 3.11 or newer' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo '$(PYTHON) cannot make environments: install its venv module (Debian, Ubuntu: apt install python3-venv)' >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.installed
