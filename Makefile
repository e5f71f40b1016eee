PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# workers that run tests side by side, each on one core
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS)

# compiled code that checks every index, kept apart from the fast one
BOUNDS = NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/bounds
# what reads arrays that come from outside, and the leaves with random texts
GUARDED = tests/test_leaf.py tests/ngrams tests/kernels tests/learn tests/model/test_files.py tests/model/test_door.py

.PHONY: demo test test-fast test-bounds test-bounds-fast bench-smoke lint types docs clean

demo: $(VENV)/.installed
	$(BIN)/gramshift demo

test: $(VENV)/.installed-test
	$(PYTEST) -m "not bench"

test-fast: $(VENV)/.installed-test
	$(PYTEST) --hypothesis-profile fast -m "not data and not browser and not cluster and not process and not slow"

bench-smoke: $(VENV)/.installed-test  # every benchmark on a few texts of the demo corpus
	$(PYTEST) -m bench tests/test_bench.py

test-bounds: $(VENV)/.installed-test  # everything, with bounds checking: some times as long
	$(BOUNDS) $(PYTEST) -m "not bench"

test-bounds-fast: $(VENV)/.installed-test
	$(BOUNDS) $(PYTEST) --hypothesis-profile fast -m "not data and not cluster and not slow" $(GUARDED)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.installed-test
	$(BIN)/mypy

docs: $(VENV)/.installed-docs  # a warning is an error; all pages are read again each time
	rm -rf site
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --fresh-env --quiet docs site
	rm -r site/.doctrees

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name '*.nb[ic]' -delete
