# Everything a checkout needs. `make test` and `make demo` set up .venv first, on a machine that has
# only Python 3.11 to 3.13 and make.

PYTHON ?= python3
VENV ?= .venv
# Tests beside each other (some wait, so two processors have work for three); COVERAGE=1 measures what they
# cover, and how many examples are generated is a profile of tests/conftest.py: quick (100 each), check (300),
# and full (10,000) with FULL=1.
WORKERS ?= 3
COVERAGE ?=
PROFILE ?= quick
FULL ?=
# More arguments for pytest, e.g. ARGS='-k rollback'. Without any, what is marked as slow is left to `make check`.
ARGS ?=
SLOW := $(if $(ARGS)$(FULL)$(filter-out quick,$(PROFILE)),,-m 'not slow')
PORT ?= 2024
# Folder with the data of `make bench`; without it the benchmarks that need none are run.
DATA ?=

COMMA := ,
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What `make check` and `make bench` need beside it: a browser to steer, plots, what trains the judge,
# what reads the text in pictures.
EXTRAS := $(VENV)/.installed-extras
COV := $(if $(COVERAGE),--cov --cov-report=term-missing:skip-covered)
export HYPOTHESIS_PROFILE := $(if $(FULL),full,$(PROFILE))

# Nothing is sent outside by the libraries underneath, unless the caller's environment asks for it.
export ANONYMIZED_TELEMETRY ?= False
export LANGSMITH_TRACING ?= false
export LANGGRAPH_CLI_NO_ANALYTICS ?= 1
export LANGGRAPH_NO_VERSION_CHECK ?= true
# What Python compiles is kept, whatever the caller's environment says: the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install demo test attack check coverage lint format types imports wheel bench serve constraints clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## set up the environment in .venv (only when it is stale)

# A line a package as it comes in; errors and warnings go by it. Nothing is compiled that may never be run, a
# third of the size and of the time; what every talk loads is, as an environment may forbid it later.
define pip_install
@echo "Setting up $(VENV) for $(1): some 170 packages, a few minutes the first time"
@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt pip
@PYTHONWARNINGS='ignore:Editable installation' $(BIN)/python -m pip install --disable-pip-version-check \
    --no-compile --progress-bar off -c constraints.txt -e '.[$(1)]' | awk '/^Collecting / { print "  " ++n, $$2; fflush() } \
    /^Installing collected/ { print "  unpacking"; fflush() } /^Successfully installed/ { done = 1 } \
    END { exit !done }'
endef

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	    { echo "Taskloom needs Python 3.11 to 3.13: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call pip_install,dev)
	@$(BIN)/python -c 'import taskloom.agent.cli.chat, taskloom.agent.cli.keyboard, taskloom.memory.store, chromadb'
	@touch $@

$(EXTRAS): $(STAMP)
	$(call pip_install,dev$(COMMA)browser$(COMMA)bench$(COMMA)ocr)
	@touch $@

demo: install  ## play a real dialogue and draw the task tree as it changes
	$(BIN)/taskloom demo

# The tests of a file run in one process: what they share is made once.
test: install  ## run the tests (ARGS='-k name' for some, COVERAGE=1 to measure, FULL=1 for the full run)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope $(SLOW) $(COV) $(ARGS)

attack: install  ## the attack alone, in full, on this machine: kills, damage, full disks, faults, others' data, hostile text
	HYPOTHESIS_PROFILE=full timeout 7200 $(BIN)/python -m pytest -n $(WORKERS) --timeout 1800 -m attack $(ARGS)

check: $(EXTRAS)  ## all that has to hold: tests with coverage and more examples, lint, types, imports, wheel
	$(MAKE) test COVERAGE=1 PROFILE=check WORKERS=2
	$(MAKE) coverage
	$(MAKE) lint types imports wheel

coverage:  ## hold memory/ to all of its branches, after `make test COVERAGE=1`
	$(BIN)/python -m coverage report --include='memory/*' --fail-under=100

lint: install  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: install  ## ruff: repair what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: install  ## mypy --strict
	$(BIN)/mypy

imports: install  ## who may import whom
	$(BIN)/lint-imports

wheel: install  ## build the wheel into dist/ and use it from outside, beside decoys
	rm -rf build dist
	$(BIN)/python -m build --no-isolation
	TASKLOOM_WHEEL="$$(echo dist/*.whl)" $(BIN)/python -m pytest -qq tests/test_packaging.py

bench: $(EXTRAS)  ## the tables of benchmarks/, with plots (DATA=folder for those that need data)
	$(BIN)/python benchmarks/turns.py
	$(BIN)/python benchmarks/recorded.py
	$(BIN)/python benchmarks/facts.py
	$(BIN)/python benchmarks/tools.py
	$(BIN)/python benchmarks/maze.py
	$(BIN)/python benchmarks/experiences.py --out build/figures
	$(if $(DATA),$(BIN)/python benchmarks/sessions.py --folder $(DATA))

serve: install  ## LangGraph development server on 127.0.0.1 (PORT=2024)
	$(BIN)/langgraph dev --no-browser --host 127.0.0.1 --port $(PORT)

constraints:  ## resolve anew and write constraints.txt
	rm -rf build/resolve
	$(PYTHON) -m venv build/resolve
	build/resolve/bin/python -m pip install --upgrade pip
	build/resolve/bin/python -m pip install -e '.[dev,browser,bench,ocr]'
	{ sed '/^#/!d' constraints.txt; build/resolve/bin/python -m pip freeze --all --exclude-editable; } > build/constraints
	mv build/constraints constraints.txt
	rm -rf build/resolve

clean:  ## remove what was made, .venv included
	rm -rf $(VENV) build dist *.egg-info .coverage .coverage.* htmlcov .hypothesis .langgraph_api
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find agent benchmarks memory tests tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
