# Everything a checkout needs. `make test` and `make demo` set up .venv first, on a machine that has
# only Python 3.11 to 3.13 and make.

PYTHON ?= python3
VENV ?= .venv
# Tests beside each other; COVERAGE= (empty) leaves the measuring out, FULL=1 generates more examples.
WORKERS ?= 2
COVERAGE ?= 1
FULL ?=
# More arguments for pytest, e.g. ARGS='-k rollback'.
ARGS ?=
PORT ?= 2024
# Folder with the data of `make bench`; without it the benchmarks that need none are run.
DATA ?=

BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
COV := $(if $(COVERAGE),--cov --cov-report=term-missing:skip-covered)
export HYPOTHESIS_PROFILE := $(if $(FULL),full,quick)

# Nothing is sent outside by the libraries underneath, unless the caller's environment asks for it.
export ANONYMIZED_TELEMETRY ?= False
export LANGSMITH_TRACING ?= false
export LANGGRAPH_CLI_NO_ANALYTICS ?= 1
export LANGGRAPH_NO_VERSION_CHECK ?= true

.DEFAULT_GOAL := help
.PHONY: help install demo test attack coverage lint format types imports wheel bench serve constraints clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## set up the environment in .venv (only when it is stale)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	    { echo "Taskloom needs Python 3.11 to 3.13: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: install  ## play a real dialogue and draw the task tree as it changes
	$(BIN)/taskloom demo

test: install  ## run the tests (FULL=1 for the full run, ARGS='-k name' for some)
	$(BIN)/python -m pytest -n $(WORKERS) $(COV) $(ARGS)

attack: install  ## the attack alone, in full, on this machine: kills, damage, full disks, faults, others' data, hostile text
	HYPOTHESIS_PROFILE=full timeout 3600 $(BIN)/python -m pytest -n $(WORKERS) -m attack $(ARGS)

coverage:  ## hold memory/ to all of its branches, after `make test`
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

bench: install  ## the tables of benchmarks/, with plots (DATA=folder for those that need data)
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
	build/resolve/bin/python -m pip install --quiet -e '.[dev]'
	{ sed '/^#/!d' constraints.txt; build/resolve/bin/python -m pip freeze --all --exclude pip --exclude-editable; } > build/constraints
	mv build/constraints constraints.txt
	rm -rf build/resolve

clean:  ## remove what was made, .venv included
	rm -rf $(VENV) build dist *.egg-info .coverage .coverage.* htmlcov .hypothesis .langgraph_api
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find agent benchmarks memory tests tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
