# Two commands do everything on a machine with Python 3.11+ and make: `make demo` and `make test`.
# For work on the code: `make quick` (minutes), `make check` (lint, types, floors), `make proofs` (simulations at full length),
# `make docs` (the documentation site).

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PACKAGES = auditor anonymizers attacks scenarios reports
unexport PYTHONDONTWRITEBYTECODE # tests start many processes, which should find compiled modules
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test quick proofs check docs format clean

demo: $(VENV)/.installed
	$(BIN)/auditor demo -o demo

test: $(VENV)/.installed-test
	$(PYTEST) --cov --cov-report=term --durations=25

quick: $(VENV)/.installed-test
	$(PYTEST) --examples 6 -m "not slow and not browser"

proofs: $(VENV)/.installed-test
	$(PYTEST) --dist load -m "proof or hypothesis" --full --durations=25

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict $(addprefix -p ,$(PACKAGES))
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html."

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo site build dist *.egg-info

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed.") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --editable

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(INSTALL) .
	touch $@

$(VENV)/.installed-test: $(VENV)/bin/python pyproject.toml
	$(INSTALL) '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(INSTALL) '.[dev]'
	touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml
	$(INSTALL) '.[docs]'
	touch $@ $(VENV)/.installed
