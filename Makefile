# Everything runs from .venv, made from the lock file; see README.md.
PYTHON ?= python3
BIN := .venv/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: setup demo matrix runtimes debian test check generate bench lock

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

# The main job on real input: judge recorded logs of real runtimes, and drive a live one. Findings are no failure here.
demo: setup
	$(BIN)/turncheck check tests/recordings/logs || echo "Each finding above was looked at: tests/recordings/FINDINGS.md"
	$(BIN)/turncheck verify pi@0.87.1 || echo "Each finding above was looked at: docs/matrix/FINDINGS.md"

# Every known runtime against every law; environments are made where they are missing (a minute each, once).
matrix: setup
	$(BIN)/turncheck matrix --out docs/matrix; test $$? -ne 2
	$(BIN)/python tests/static/generated.py --write

# The known runtimes, each in an environment of its own in the user's cache, and the server of docs/http.md.
runtimes: setup
	$(BIN)/turncheck targets --make all
	$(BIN)/python -c "from turncheck.adapters.known import SERVER; SERVER.make(print)"

# Debian packages that the tests need, one a line: each gives a program of its name.
debian:
	@for name in $$(cat debian.txt); do command -v $$name > /dev/null || missing="$$missing $$name"; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; fi

test: setup runtimes debian
	$(BIN)/python -m pytest

# Every static check: formatter, linter, two type checkers (each must see a planted error), import contracts, generated
# files in step with their sources, and mermaid's own parser on its text.
check: setup tests/mermaid/node_modules
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/python tests/static/planted_error.py
	$(BIN)/lint-imports
	$(BIN)/python tests/static/generated.py
	node tests/mermaid/parse.mjs diagrams/*.mmd

tests/mermaid/node_modules: tests/mermaid/package-lock.json
	npm ci --prefix tests/mermaid --ignore-scripts --no-audit --no-fund --silent
	touch $@

generate: setup
	$(BIN)/python tests/static/generated.py --write

bench: setup
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only --benchmark-columns=median,rounds
	$(BIN)/python tests/benchmarks/table.py

lock: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group dev pyproject.toml -o requirements.lock
