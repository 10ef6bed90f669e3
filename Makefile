# `make run` and `make test` are all a fresh clone needs; everything else is for developers.
# PYTHON picks the interpreter, ARGS goes to kimi-tui (run) or pytest (test).
PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
UV     := $(shell command -v uv 2>/dev/null)

.PHONY: run test check format lint types imports bench screenshots clean install

install: $(STAMP)

OLD    := import sys; sys.exit(sys.version_info < (3, 11) and "kimi-tui needs Python 3.11 or newer: make PYTHON=…")
WHERE  := $(PYTHON) -c 'import sys; print(sys.executable)'
WHAT   := --constraint constraints.txt --group dev --editable '.[local,zstd,images]'
PIP    := $(BIN)/python -m pip install -qq --disable-pip-version-check

define WITH_PIP
$(PYTHON) -m venv --clear $(VENV) && $(PIP) --upgrade 'pip>=25.1' && $(PIP) $(WHAT)
endef

define WITH_UV
rm -rf $(VENV) && $(UV) venv --quiet --python "$$($(WHERE))" $(VENV) && \
VIRTUAL_ENV=$(abspath $(VENV)) $(UV) pip install --quiet --compile-bytecode $(WHAT)
endef

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c '$(OLD)'
	@echo 'installing into $(VENV), once …' >&2
	@$(if $(UV),{ $(WITH_UV); } || { echo 'uv could not do it; trying pip …' >&2; $(WITH_PIP); },$(WITH_PIP))
	@touch $@

run: $(STAMP)
	@$(BIN)/kimi-tui $(ARGS)

test: $(STAMP)
	@$(BIN)/python -m pytest -n auto $(ARGS)

check: $(STAMP) lint types test

format: $(STAMP)
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: $(STAMP)
	@$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(STAMP)
	@$(BIN)/mypy

imports: $(STAMP)
	@$(BIN)/python -m pytest tests/test_architecture.py

bench: $(STAMP)
	@$(BIN)/python -m benchmarks $(ARGS)

screenshots: $(STAMP)
	@$(BIN)/python -m screenshots.make $(ARGS)

clean:
	@rm -rf $(VENV) dist
