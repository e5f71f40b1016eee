PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# test processes side by side, each on one core
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile
# tests that need more than Python: the reviews of the paper, a browser, Dask workers, minutes
MORE = data or browser or cluster or altered or bench

# compiled code that checks every index, kept apart from the fast one
BOUNDS = NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath $(VENV))/bounds
# compiled code with random texts, and the readers of model files
GUARDED = tests/test_compiling.py tests/ngrams tests/kernels tests/learn tests/model/test_files.py tests/model/test_door.py

.PHONY: demo test test-fast test-all test-bounds lint types docs clean

demo: $(VENV)/.installed
	$(BIN)/gramshift demo

test: $(VENV)/.installed-test
	$(PYTEST) -m "not ($(MORE))"

test-fast: $(VENV)/.installed-test  # within a minute, also without make on Windows: see ci.yml
	$(PYTEST) --hypothesis-profile fast -m "not ($(MORE) or process or slow)"

test-all: test  # GRAMSHIFT_DATA names the folder with sorted_data_acl
	$(PYTEST) -m "$(MORE)"

test-bounds: $(VENV)/.installed-test
	$(BOUNDS) $(PYTEST) --hypothesis-profile fast -m "not ($(MORE) or slow)" $(GUARDED)

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
