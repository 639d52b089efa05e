# Every target does its own set-up. PYTHON chooses the interpreter, 3.9 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test check bench caffe schema docs fuzz clean

help:
	@echo "make demo    set everything up and show the main job"
	@echo "make test    run the tests, real Caffe's included where it can be had"
	@echo "make check   ruff, mypy, the import contracts"
	@echo "make bench   measure lint against protobuf, and how it scales"
	@echo "make caffe   build a root with real Caffe for the tests (once, about a minute, 1 GB)"
	@echo "make schema  write the tables from proto/       make docs   write the generated parts of the README"
	@echo "make fuzz    the long run: slow, random and property tests (half an hour)"
	@echo "make clean   remove what was built"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 9))' \
	  || { echo "caffe-guard needs Python 3.9 or later; name one with PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: apt install python3-venv"; rm -rf $(VENV); exit 1; }
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@tools/make_caffe_root.sh build/caffe-root || echo "going on without real Caffe"
	@$(BIN)/python tools/demo.py

test: $(STAMP)
	@tools/make_caffe_root.sh build/caffe-root || echo "going on without real Caffe"
	$(BIN)/python -m pytest -q

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

fuzz: $(STAMP)
	$(BIN)/python -m pytest -q -m slow
	CAFFE_GUARD_RANDOM_NETS=400 CAFFE_GUARD_RANDOM_TEXTS=4000 $(BIN)/python -m pytest -q -n auto \
	  --hypothesis-profile=thorough tests/prototxt tests/net/test_random_nets.py

caffe:
	@tools/make_caffe_root.sh build/caffe-root

schema: $(STAMP)
	$(BIN)/python tools/generate_schema.py

docs: $(STAMP)
	$(BIN)/python tools/update_docs.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
