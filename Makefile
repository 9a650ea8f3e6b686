# Everything runs from .venv, made from the lock file; see README.md.
PYTHON ?= python3
BIN := .venv/bin
# The tests start thousands of interpreters: each finds the compiled modules of the one before, whatever the caller's shell says.
export PYTHONDONTWRITEBYTECODE :=
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: kills wild mutants rates theorems broken setup demo matrix museum runtimes debian test quick slow check generate examples bench gate lock learn variants mutation site suites soak fuzz

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

# Every exhibit of tests/teeth/museum against every law, faulty and mended: some minutes. WRITE=--write writes down what is found;
# `make generate` makes the page of it.
museum: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python -m museum $(WRITE)

# The known runtimes, each in an environment of its own in the user's cache, and the server of docs/http.md.
runtimes: setup
	$(BIN)/turncheck targets --make all
	$(BIN)/python -c "from turncheck.adapters.targets.runtime_catalog import SERVER; SERVER.make(print)"

# Debian packages that the tests need, one a line: each gives a program of its name.
debian:
	@for name in $$(cat debian.txt); do command -v $$name > /dev/null || missing="$$missing $$name"; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; fi

# Every test: the quick ones first, and the slow ones where those pass.
test: quick slow

PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What breaks often, in two and a half minutes on two idle cores; without runtimes' environments, npm's and Debian's packages.
quick: setup
	$(PYTEST) -m "not slow"

# The rest; tests/slow_places.py says what is slow, and why.
slow: setup runtimes debian tests/ag_ui/node_modules tests/axe/node_modules tests/teeth/wild/node_modules
	$(PYTEST) -m slow

# Every static check, the cheapest first: formatter, linter, import contracts, generated files in step with their sources,
# two type checkers (each must see a planted error), and mermaid's own parser on its text.
check: setup
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/python tests/static/generated.py
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/python tests/static/planted_error.py
	$(MAKE) --no-print-directory tests/mermaid/node_modules
	node tests/mermaid/parse.mjs diagrams/*.mmd

tests/%/node_modules: tests/%/package-lock.json
	npm ci --prefix tests/$* --ignore-scripts --no-audit --no-fund --silent
	touch $@

# The machines that runtimes turn out to have, and where they differ: docs/learned. Ten minutes at most.
MESSAGES := -a 'user*' -a 'steer*' -a 'follow-up*' -a text -a model-stop -a fatal-failure -a abort
ONE_EACH := -a 'user red' -a 'steer red' -a 'follow-up blue' -a text -a model-stop -a fatal-failure -a abort
TOOLS := -a 'user red' -a text -a 'tool*' -a model-stop -a fatal-failure -a abort --calls 2
define learned
	$(BIN)/turncheck learn $(2) --timeout 20 --svg docs/learned/$(1).svg --json > docs/learned/$(1).json || test $$? -eq 1
endef
learn: setup runtimes
	mkdir -p docs/learned
	$(call learned,pi-tools,pi@0.73.1 --diff pi@0.87.1 $(TOOLS) --policy tools=serial)
	$(call learned,pi-messages,pi@0.73.1 --diff pi@0.87.1 $(MESSAGES))
	$(call learned,pi-reference,pi@0.87.1 --diff $(MESSAGES))
	$(call learned,pydantic-ai-messages,pydantic-ai@2.68.0 --diff $(ONE_EACH))
	$(call learned,pydantic-ai-tools,pydantic-ai@2.68.0 --diff $(TOOLS))
	$(call learned,reference-engine,reference:engine --rounds 2)
	$(call learned,reference-conversation,reference:conversation)
	$(call learned,reference-turn,reference:turn -a 'user*' -a text -a tool-call -a model-stop -a fatal-failure -a 'tool-*')

# The documentation as a site, in build/site; a warning is an error.
site: setup
	$(BIN)/python -m sphinx -c docs -q -W --keep-going -d build/doctrees . build/site
	@echo build/site/index.html

generate: setup
	$(BIN)/python tests/static/generated.py --write

# The examples of `turncheck explain`, from wrong implementations: half a minute. Tests hold them to their laws.
examples: setup
	$(BIN)/python tests/static/teaching_examples.py --write

bench: setup
	$(BIN)/python -m pytest tests/benchmarks --benchmark-only --benchmark-columns=median,rounds
	$(BIN)/python tests/benchmarks/table.py

# Has the hot path become slower than tests/benchmarks/baseline.json? On a quiet machine; `gate.py --update` writes it.
gate: setup
	$(BIN)/python tests/benchmarks/gate.py

# Every edited row of every machine, and what finds it: some nine minutes on two cores.
mutants: setup
	$(BIN)/turncheck mutants

# The same over several seeds, which writes docs/mutants.md. MACHINE=name for one (the others stay as they were), SEEDS=n, EVERY=n
# for one mutant in n: every mutant of `interaction` takes hours.
rates: setup
	$(BIN)/python tests/static/mutants.py --seeds $(or $(SEEDS),10) --every $(or $(EVERY),1) $(MACHINE)

# Every theorem of every machine, and the edited rows that they refute: writes docs/theorems.md in some five minutes.
# MACHINE=name for one; the others stay as they were.
theorems: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python tests/static/theorems.py $(MACHINE)

# Each clause broken once in a copy of the tree, and which test notices it: writes docs/broken.md in some ten minutes of the
# processor. CLAUSE="name name" for some; the others stay as they were. JOBS=1 for one process instead of two.
broken: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python -m broken -j $(or $(JOBS),2) $(CLAUSE)

# Every conforming variant against every law: no law may alarm at what the sources allow.
variants: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python -m variants

# Does anything grow while turncheck verifies again and again? A table of memory, descriptors, processes, threads, files.
MINUTES ?= 30
soak: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python -m soak --minutes $(MINUTES)

# The sizes and times of n-complete suites, in docs/suites.md: some five minutes.
suites: setup
	$(BIN)/python tests/static/suites_page.py $(MACHINE)

# Every mutant of the projector held to the laws alone; writes docs/mutation.md, which says what survives and why.
mutation: setup
	PYTHONPATH=tests:tests/teeth $(BIN)/python -W ignore -m mutation

# Each runtime that keeps its sessions on disk, killed at every point of 200 words: writes docs/kills.json and docs/kills.md in half an
# hour of a processor. KILLS="langgraph --words 20 --seed 1" for one runtime, fewer words, others.
kills: setup runtimes
	PYTHONPATH=tests:tests/teeth $(BIN)/python -m kills $(KILLS)

# Mutants of real runtimes' own loops, held to the laws: hours. It goes on where the last run ended, and writes docs/wild.json and
# docs/wild.md. WILD="pi@0.87.1 --observable 40" for one runtime, and fewer.
wild: setup runtimes tests/teeth/wild/node_modules
	PYTHONPATH=tests:tests/teeth $(BIN)/python -W ignore -m wild $(WILD)

# Coverage-guided fuzzing, one target after the other, each in a process of its own: docs/hardening.md. TARGET=name for
# one, RUNS=inputs to each, WRITE=--write to put what was learned into tests/fuzz/corpus.
RUNS ?= 1000000
fuzz: setup
	PYTHONPATH=tests $(BIN)/python -m fuzz --runs $(RUNS) $(WRITE) $(TARGET)

lock: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra all --group dev pyproject.toml -o requirements.lock
