PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# workers that run tests side by side, each on one core
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS)

.PHONY: demo test test-fast lint types docs clean

demo: $(VENV)/.installed
	$(BIN)/gramshift demo

test: $(VENV)/.installed-test
	$(PYTEST)

test-fast: $(VENV)/.installed-test
	$(PYTEST) --hypothesis-profile fast -m "not data and not browser and not cluster and not process and not slow"

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-test
	$(BIN)/mypy

docs: $(VENV)/.installed-docs  # never --quiet: it keeps --strict from seeing warnings
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

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
