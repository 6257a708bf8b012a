# make demo   train on the embedded data set and score the result
# make test   run the tests
# make check  everything that CI runs
# make bench  measure time and memory into docs/bench/, about ten minutes on an idle machine
# Each sets up .venv/ first; a second run does not install again.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test check bench lint wheel format clean

demo: $(INSTALLED)
	@rm -rf runs/demo
	@$(BIN)/ugcl train citeseer --out runs/demo
	@echo
	@$(BIN)/ugcl evaluate runs/demo
	@echo
	@echo "The run is in runs/demo: embeddings.npy has a row for each node, in the order of nodes.parquet."
	@echo "Try next:"
	@echo "  $(BIN)/ugcl report runs/demo --out page.html"
	@echo "  $(BIN)/ugcl train citeseer --out runs/wide --scope 10 --hidden 2048"
	@echo "  $(BIN)/ugcl evaluate runs/wide --against runs/demo --splits 20"

test: $(INSTALLED)
	$(BIN)/pytest

check: lint wheel test

bench: $(INSTALLED)
	$(BIN)/ugcl bench suite --out docs/bench

lint: $(INSTALLED)
	$(BIN)/ruff check src tests tools
	$(BIN)/ruff format --check src tests tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The wheel must work where nothing but its own dependencies is installed.
wheel: $(INSTALLED)
	rm -rf build/wheel
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install --quiet --constraint constraints.txt build/wheel/ugcl-*.whl
	cd build/wheel && venv/bin/python -c "import ugcl; print(ugcl.load_graph('citeseer'))"
	cd build/wheel && venv/bin/ugcl methods
	rm -rf build/wheel/venv

format: $(INSTALLED)
	$(BIN)/ruff check --fix src tests tools
	$(BIN)/ruff format src tests tools

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $@
