# make demo       train on CiteSeer by multiscope and by UGCL; compare both with the controls
# make test       run all tests, on all cores
# make test-fast  run the tests that are not marked slow
# make check      everything that CI runs: lint, wheel, test
# make format     let ruff fix what it can
# make bench      measure time and memory into results/bench.jsonl; ten minutes on an idle machine
# make lock       write requirements.txt anew, with the same versions where pyproject.toml allows them
# make notice     write NOTICE, the licences of all packages that pip may install with this one
# make audit      ask the advisory services of PyPI and OSV about the versions in requirements.txt
# make test-oldest  run the fast tests with the oldest versions that pyproject.toml allows
# make torture    kill, starve and run twice all commands that write; half an hour, needs Linux
# make fuzz       mutate files of all formats that are read; ten minutes, needs Linux, not part of check
# make mutants    change the formulas one operator at a time; hours, can be stopped and continued
# make clean      remove .venv/, builds and caches
# All but clean set up .venv/ first, once.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
PIP := $(BIN)/pip --quiet --disable-pip-version-check

# Versions in requirements.txt without their hashes, and that of PyTorch, which is a comment there.
PINS := sed -nE 's/^(\# )?([A-Za-z0-9._-]+==[^\]+).*/\2/p' requirements.txt
TORCH = $(shell $(PINS) | grep '^torch==')

# Tools that are not part of the tested environment.
TOOLS := build/tools
OLDEST_PYTHON ?= python3.11

# One process per core; tests/conftest.py limits each to one thread.
PYTEST := $(BIN)/pytest -n auto --dist worksteal

.PHONY: demo test test-fast test-cluster test-oldest check bench torture fuzz mutants lock notice audit lint wheel format clean

demo: $(INSTALLED)
	@rm -rf runs/demo runs/demo-ugcl
	@$(BIN)/ugcl train citeseer --out runs/demo
	@echo
	@$(BIN)/ugcl train citeseer --method ugcl --out runs/demo-ugcl
	@echo
	@$(BIN)/ugcl evaluate runs/demo --against runs/demo-ugcl
	@echo
	@echo "The runs are folders: row i of embeddings.npy is node i of nodes.parquet."
	@echo "Next:"
	@echo "  $(BIN)/ugcl report runs/demo --out page.html"
	@echo "  $(BIN)/ugcl evaluate runs/demo --against runs/demo-ugcl --splits 20"
	@echo "  $(BIN)/ugcl train --edges edges.csv --features features.csv --out runs/mine"

test: $(INSTALLED)
	$(PYTEST)

test-fast: $(INSTALLED)
	$(PYTEST) -m "not slow"

# Two hosts as network namespaces; needs Linux, root and iproute2.
test-cluster: $(INSTALLED)
	UGCL_CLUSTER=1 $(BIN)/pytest tests/test_cluster.py

check: lint wheel test

bench: $(INSTALLED)
	$(BIN)/ugcl bench suite --out build/bench
	$(BIN)/python tools/collect.py results/bench.jsonl build/bench/bench.json
	cp build/bench/bench.png docs/bench/bench.png

torture: $(INSTALLED)
	$(BIN)/python tools/torture.py --minutes 30

lock: $(TOOLS)/.installed
	PATH=$(TOOLS)/bin:$$PATH python tools/lock.py

notice:
	$(PYTHON) -m venv build/notice
	$(PINS) | sed 's/ *;.*//' > build/notice/pins.txt
	build/notice/bin/pip install --quiet --requirement build/notice/pins.txt ".[dev,peers,ray]"
	build/notice/bin/python tools/make_notice.py
	rm -rf build/notice

audit: $(TOOLS)/.installed
	$(PINS) > $(TOOLS)/pins.txt
	$(TOOLS)/bin/python tools/audit.py $(TOOLS)/pins.txt

# Only direct requirements are old; what they need themselves, and PyTorch, have newer versions, of
# whose deprecations the old ones do not know.
test-oldest: $(TOOLS)/.installed
	rm -rf build/oldest
	$(OLDEST_PYTHON) -m venv build/oldest
	echo "$(TORCH)" > build/oldest/torch.txt
	$(TOOLS)/bin/uv pip compile --quiet --python-version 3.11 --resolution lowest-direct \
	  --override build/oldest/torch.txt --extra dev --no-header --no-annotate pyproject.toml | \
	  grep -vE '^(cuda-|nvidia-|torch==|triton==)' > build/oldest/requirements.txt
	build/oldest/bin/pip install --quiet --requirement build/oldest/requirements.txt
	build/oldest/bin/pip install --quiet "$(TORCH)"
	build/oldest/bin/pip install --quiet --no-deps --no-build-isolation --editable .
	build/oldest/bin/pytest -m "not slow" -W ignore::DeprecationWarning

fuzz: $(INSTALLED)
	-$(PIP) install "atheris>=3.0,<4"
	$(BIN)/python tools/fuzz.py --minutes 10

mutants: $(INSTALLED)
	$(BIN)/python tools/mutate.py $(MUTATE)

lint: $(INSTALLED)
	$(BIN)/ruff check src tests tools examples
	$(BIN)/ruff format --check src tests tools examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Test the wheel in an environment with nothing but its own dependencies.
wheel: $(INSTALLED)
	rm -rf build/wheel
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(PINS) > build/wheel/pins.txt
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install --quiet --constraint build/wheel/pins.txt build/wheel/ugcl-*.whl
	cd build/wheel && venv/bin/python -c "import ugcl; print(ugcl.load_graph('citeseer'))"
	cd build/wheel && venv/bin/ugcl methods
	rm -rf build/wheel/venv

format: $(INSTALLED)
	$(BIN)/ruff check --fix src tests tools examples
	$(BIN)/ruff format src tests tools examples

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov

$(INSTALLED): pyproject.toml requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) install --require-hashes --requirement requirements.txt
	$(PIP) install "$(TORCH)"
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(TOOLS)/.installed:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check pip-audit uv
	touch $@
