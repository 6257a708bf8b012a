# make demo       train on CiteSeer by multiscope and by UGCL; compare both with the controls
# make test       run all tests, on all cores
# make test-fast  run the tests that are not marked slow
# make check      everything that CI runs: lint, wheel, test
# make format     let ruff fix what it can
# make bench      measure time and memory into results/bench.jsonl; ten minutes on an idle machine
# make torture    kill, starve and run twice all commands that write; half an hour, needs Linux
# make mutants    change the formulas one operator at a time; hours, can be stopped and continued
# make clean      remove .venv/, builds and caches
# All but clean set up .venv/ first, once.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

# One process per core; tests/conftest.py limits each to one thread.
PYTEST := $(BIN)/pytest -n auto --dist worksteal

.PHONY: demo test test-fast check bench torture mutants lint wheel format clean

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

check: lint wheel test

bench: $(INSTALLED)
	$(BIN)/ugcl bench suite --out build/bench
	$(BIN)/python tools/collect.py results/bench.jsonl build/bench/bench.json
	cp build/bench/bench.png docs/bench/bench.png

torture: $(INSTALLED)
	$(BIN)/python tools/torture.py --minutes 30

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
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install --quiet --constraint constraints.txt build/wheel/ugcl-*.whl
	cd build/wheel && venv/bin/python -c "import ugcl; print(ugcl.load_graph('citeseer'))"
	cd build/wheel && venv/bin/ugcl methods
	rm -rf build/wheel/venv

format: $(INSTALLED)
	$(BIN)/ruff check --fix src tests tools examples
	$(BIN)/ruff format src tests tools examples

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@
