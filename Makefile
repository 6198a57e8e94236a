# Each target prepares .venv by itself when needed. Another Python: make PYTHON=/path/to/python3.11 test
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
CASES ?=
SCALE ?= 1
ENGINES ?= local resident-processes resident micro-batch

.DEFAULT_GOAL := help
.PHONY: help demo demo-kafka test test-engines soak lint format bench bench-kafka web setup clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/'

demo: setup  ## count page views on Spark and compare the totals with the truth
	@$(BIN)/penstock run examples/page_views.py

demo-kafka: setup  ## page views from Kafka to Kafka and PostgreSQL: both started, the job killed and resumed, results compared
	@$(BIN)/python scripts/demo_kafka.py

demo-ui: setup  ## a manager with three jobs to look at in a browser, until Ctrl-C
	@$(BIN)/python scripts/demo_ui.py

test: setup  ## ruff, mypy, import-linter and all tests (ARGS="-k name" goes to pytest)
	@$(BIN)/python scripts/check.py test $(ARGS)

test-engines: setup  ## tests of whole jobs and all PyFlink programs on every engine, for hours (ENGINES="micro-batch" ARGS="-k windows" choose)
	@PENSTOCK_TEST_ENGINES="$(ENGINES)" $(BIN)/python -m pytest tests/engine tests/acceptance/test_pyflink_programs.py $(ARGS)

soak: setup  ## kill jobs at every moment and at random, for hours (ARGS="-k random" chooses)
	@PENSTOCK_SOAK=1 $(BIN)/python -m pytest -m crash -s tests/crash $(ARGS)

lint: setup  ## the checks without the tests
	@$(BIN)/python scripts/check.py lint

format: setup  ## let ruff format and repair the code
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

bench: setup  ## beside PyFlink, Flink SQL and PySpark (CASES="keyed_count latency" SCALE=0.1 for parts and sizes)
	@$(BIN)/python -m benchmarks.prepare_environment
	@$(BIN)/python -m benchmarks.run --cases "$(CASES)" --scale $(SCALE) $(ARGS)

bench-kafka: setup  ## Kafka to Kafka beside a bare consume loop and PyFlink with Flink's connector
	@$(BIN)/python -m benchmarks.prepare_environment
	@$(BIN)/python -m benchmarks.run --cases "kafka kafka_few" --scale $(SCALE) $(ARGS)

web: setup  ## build the web page of the manager from web/ into the package (needs npm)
	@$(BIN)/python scripts/build_web.py

setup:  ## prepare .venv: locked packages, Penstock itself, Java
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) on this machine: install Python 3.11 or newer."; exit 1; }
	@$(PYTHON) scripts/bootstrap.py

clean:  ## remove .venv and what the tools leave behind
	rm -rf .venv .venv-flink benchmarks/data benchmarks/.packages .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	rm -rf web/node_modules spark-warehouse metastore_db derby.log artifacts src/penstock.egg-info
	find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
