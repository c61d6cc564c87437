# Every target sets up what it needs. Set-up is a stamp file that is newer than
# pyproject.toml and constraints.txt, so it is skipped when nothing has changed.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet --constraint constraints.txt
GROUND := pyproject.toml constraints.txt hatch_build.py $(wildcard src/simloss/loss/native/*.[ch])

.PHONY: demo test test-integrations check format bench docs coverage torture fuzz sanitize kernel audit clean

demo: .venv/demo.stamp  ## compare the losses on the two shipped tables
	$(BIN)/simloss compare

test: .venv/test.stamp  ## all tests and doctests
	$(BIN)/python -m pytest -n 2 $(ARGS)

# An environment of its own: these packages are heavy, and nothing else needs them.
test-integrations: .venv-integrations/test.stamp  ## boosted trees, Lightning, transformers, Keras, skorch: the real ones
	SIMLOSS_INTEGRATIONS=all KERAS_BACKEND=torch SCIPY_ARRAY_API=1 .venv-integrations/bin/python -m pytest -n 2 \
		tests/integrations src/simloss/integrations --ignore-glob='*sklearn.py' $(ARGS)

coverage: .venv/test.stamp  ## the same with line and branch coverage
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term $(ARGS)

check: .venv/check.stamp  ## format, lint, types; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/check.stamp  ## mend format and lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/test.stamp  ## time and memory against plain cross entropy
	$(BIN)/python -m benchmarks

torture: .venv/test.stamp  ## kills, full disks, damaged files, a long grid: under an hour on two cores
	$(BIN)/python -m torture

fuzz: .venv/test.stamp  ## only the damaged files, then hostile values: at least 10,000 for each reader
	$(BIN)/python -m torture fuzz
	$(BIN)/python -m torture values

sanitize: .venv/test.stamp  ## the kernel under the sanitizers; CALLS=20000 for more
	$(BIN)/python -m torture.kernel $(or $(CALLS),2000)

kernel: .venv/base.stamp  ## compile the kernel again, after a change in src/simloss/loss/native
	$(BIN)/python hatch_build.py

audit: .venv/check.stamp  ## known holes in what is installed; needs the network
	$(PIP) pip-audit
	$(BIN)/pip-audit --strict --skip-editable

docs: .venv/docs.stamp  ## the documentation site, without a single warning
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build
	@echo "Documentation: docs/_build/index.html"

.venv/base.stamp: $(GROUND)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet --upgrade pip
	$(PIP) --editable .
	touch $@

.venv/demo.stamp: .venv/base.stamp
	$(PIP) --editable '.[cli]'
	touch $@

.venv/test.stamp: .venv/demo.stamp
	$(PIP) --group test
	touch $@

.venv-integrations/test.stamp: $(GROUND)
	$(PYTHON) -m venv .venv-integrations
	.venv-integrations/bin/python -m pip --disable-pip-version-check install --quiet --quiet --upgrade pip
	.venv-integrations/bin/python -m pip --disable-pip-version-check install --quiet --quiet \
		--constraint constraints.txt --editable '.[catboost,cli,keras,lightning,skorch,transformers]' \
		--group integrations
	touch $@

.venv/check.stamp: .venv/test.stamp
	$(PIP) --group check
	touch $@

.venv/docs.stamp: .venv/demo.stamp
	$(PIP) --group docs
	touch $@

clean:  ## remove the environment and every cache
	rm -rf .venv .venv-integrations build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
