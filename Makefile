# What a developer runs. `make help` lists it; CONTRIBUTING.md tells more.

SWIFT ?= swift
CC ?= cc
CLANG_FORMAT ?= clang-format
# `swift build` and `swift test` take these as they are: make test SWIFTFLAGS="--jobs 1"
SWIFTFLAGS ?=
# The tests' build is a debug build, but for the C code: without -O1 a suite of the key-value module takes 50 s instead of 4.
TESTFLAGS ?= -Xcc -O1

# A pipe fails where any of its commands fails.
SHELL = /bin/bash
.SHELLFLAGS = -o pipefail -c

# Debian packages that a build, the tests and the linters need.
PACKAGES = libsqlite3-dev liblmdb-dev lmdb-utils pkg-config sqlite3 gcc libc6-dev python3 clang-format

BUDGET ?= 80s
CONFORMANCE ?= ../shared/conformance
FUZZ_SECONDS ?= 20
CORRUPT_SECONDS ?= 20
THREADS_SECONDS ?= 60
LOCKS_SECONDS ?= 60
LIST_SECONDS ?= 60
SWEEP_SECONDS ?= 60
SWEEP_SEED ?=
SEALED_SECONDS ?= 60
LONG_SECONDS ?= 3600
SCAN_MEGABYTES ?= 200
TEST_SECONDS ?= 3
TEST_PROGRAMS ?= 300
TEST_SEED ?= 50000

EXTENSION = build/rootstock.so
# The C library: the plug, the built-in engines, module kv, the table layer.
C_TARGETS = RootstockEngine Engines/LMDB Engines/SQLiteBTree RootstockKV RootstockTable
C_SOURCES = $(sort $(shell find $(C_TARGETS:%=CShims/%) -name '*.c'))
C_INCLUDES = $(C_TARGETS:%=-I$(CURDIR)/CShims/%/include) $(patsubst %,-I$(CURDIR)/CShims/%,Engines/LMDB RootstockTable)
# Two words of each thread are looked at with every row: by their offset, not by a call of the loader's.
EXTENSION_FLAGS = -std=c11 -O2 -g -fPIC -ftls-model=initial-exec -fvisibility=hidden -Wall -Wextra -Werror -DROOTSTOCK_LOADABLE \
	$(C_INCLUDES)

PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help deps build install uninstall deb library test-install test test-swift test-programs test-clients test-report test-long results results-table results-chart engines-table first-hour first-hour-transcript conformance fuzz corrupt layout threads locks list-append sealed-pages snapshots prepare-cost row-cost change-cost schema-cost api-cost shapes sweep page-cost scan-memory interpose-cost grdb-tests sqlite-tests suites bindings compare extension interpose engines static layers prose lint format asan tsan ubsan \
	sanitized docs clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

deps: ## install the Debian packages that are missing, with apt
	@missing=$$(for package in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || echo $$package; done); \
	if [ -z "$$missing" ]; then echo "deps: all packages are there: $(PACKAGES)"; \
	elif ! command -v apt-get >/dev/null; then \
		echo "deps: no apt-get here; install what these Debian packages hold:" $$missing >&2; exit 1; \
	else \
		if [ "$$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi; \
		echo "deps: installing" $$missing; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq $$missing; \
	fi
	@command -v $(SWIFT) >/dev/null || { echo "deps: Swift 6.1 or later is needed: https://www.swift.org/install" >&2; exit 1; }
	@$(SWIFT) --version 2>&1 | head -n 1

build: ## the command, optimised, the loadable extension and the interposer
	$(SWIFT) build $(SWIFTFLAGS) -c release --product rootstock
	@$(MAKE) --no-print-directory extension interpose

# The random parts start from a fixed seed here, so that a red run means a change and not luck; test-long draws its own.
# The engine tests fork: alone in their process and one by one, so that no other thread holds a lock meanwhile.
# Runs a command whose temporary files go when it ends: SwiftPM leaves an empty folder or two each time.
SCRATCH = sh -c 'folder=$$(mktemp -d) && trap "rm -rf $$folder" EXIT && trap "exit 130" INT TERM && TMPDIR=$$folder "$$@"' scratch

# Of a test run how far it is, and what failed or was skipped. FULL=1 shows all.
BRIEF = 2>&1 $(if $(FULL),,| Tests/brief.py $(1))

test: deps extension interpose layers ## every test that ends in minutes, two at a time; FULL=1 prints each
	@echo "building the tests: two to four minutes"
	@$(SCRATCH) $(SWIFT) build $(SWIFTFLAGS) $(TESTFLAGS) $(if $(FULL),,--quiet) --build-tests
	@$(MAKE) --no-print-directory -j2 test-swift test-programs

# What follows is `make test` without its build. Two tests at once would wait for each other's lock of .build, which neither writes.
SWIFT_TEST = ROOTSTOCK_TEST_SEED=$(TEST_SEED) ROOTSTOCK_TEST_SECONDS=$(TEST_SECONDS) ROOTSTOCK_TEST_PROGRAMS=$(TEST_PROGRAMS) \
	$(SCRATCH) $(SWIFT) test $(SWIFTFLAGS) $(TESTFLAGS) --skip-build --ignore-lock

test-swift:
	@$(SWIFT_TEST) --skip RootstockEngineTests $(call BRIEF,tests)

# Scripts ask make for lists of sources; the jobserver is for what a recipe itself starts with $(MAKE).
test-programs: MAKEFLAGS := $(filter-out -j% --jobserver%,$(MAKEFLAGS))
test-programs:
	@$(SWIFT_TEST) --no-parallel --filter RootstockEngineTests $(call BRIEF,"engine tests")
	Tests/Clients/Extension/run.sh $(EXTENSION)
	Tests/Clients/DropIn/run.sh $(INTERPOSE)
	Tests/Clients/Prompt/run.py $$($(SWIFT) build $(SWIFTFLAGS) --ignore-lock --show-bin-path)/rootstock
	@$(MAKE) --no-print-directory first-hour prose
	Tests/Unit/Syntax/run.py
	Tests/Unit/Describe/run.py
	Tests/Unit/EngineMutants/run.sh
	Tests/Hostile/BitRot/run.py $(EXTENSION)
	Tests/Hostile/Corruption/run.sh $(TEST_SECONDS) $(TEST_SEED)
	Tests/Hostile/Limits/run.py $(EXTENSION)
	Tests/Hostile/Trees/run.sh
	Tests/Concurrency/Threads/run.sh $(EXTENSION) $(TEST_SECONDS) $(TEST_SEED)
	Tests/Concurrency/Locks/run.sh $(TEST_SECONDS) $(TEST_SEED) $(TEST_PROGRAMS)
	Tests/Concurrency/Snapshots/run.sh 3
	Tests/Concurrency/ListAppend/run.py $(EXTENSION) 8 $(TEST_SEED)
	Tests/Crash/SealedPages/run.sh 6 $(TEST_SEED)
	@$(MAKE) --no-print-directory conformance
	@ROOTSTOCK_ENGINE=lmdb:plain $(MAKE) --no-print-directory conformance

test-clients: extension docs ## programs of others that are built or fetched first: GRDB, PostgreSQL, an engine from outside; the site
	Tests/Clients/GRDBProgram/run.sh
	Tests/Clients/Engine/run.sh $(EXTENSION)
	Tests/Clients/Postgres/run.sh $(EXTENSION)

first-hour: ## the sessions of the README and of articles, as they are written
	Tests/FirstHour/run.py $$($(SWIFT) build $(SWIFTFLAGS) --ignore-lock --show-bin-path)/rootstock

first-hour-transcript: ## build/first-hour.txt: a clone, its tests and a comparison, the documents' sessions, a package of its own
	@mkdir -p build
	Tests/FirstHour/transcript.sh > build/first-hour.txt && tail -n 3 build/first-hour.txt

# Chromium (80 MB to download) is asked for here only; `make test` looks at the page where it is there, and says where not.
test-report: ## the HTML report in headless Chromium, with screenshots in build/page
	@$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) chromium"
	$(SWIFT) build $(SWIFTFLAGS) $(TESTFLAGS) --build-tests
	$(SWIFT) test $(SWIFTFLAGS) $(TESTFLAGS) --skip-build --filter PageTests
	@ls build/page/*.png

test-long: test test-clients ## the tests again, their random parts and the fuzzers for about an hour each
	ROOTSTOCK_TEST_SECONDS=$(LONG_SECONDS) $(SWIFT) test $(SWIFTFLAGS) $(TESTFLAGS) --skip-build --no-parallel --filter RootstockEngineTests
	ROOTSTOCK_TEST_SECONDS=$(LONG_SECONDS) $(SWIFT) test $(SWIFTFLAGS) $(TESTFLAGS) --skip-build --skip RootstockEngineTests
	CHECKS=1 Tests/Hostile/Corruption/run.sh $(LONG_SECONDS)
	@$(MAKE) --no-print-directory layout
	@$(MAKE) --no-print-directory list-append LIST_SECONDS=$(LONG_SECONDS)
	@$(MAKE) --no-print-directory sweep SWEEP_SECONDS=$(LONG_SECONDS)
	@$(MAKE) --no-print-directory sealed-pages SEALED_SECONDS=$(LONG_SECONDS)
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(LONG_SECONDS)
	@$(MAKE) --no-print-directory scan-memory
	Tests/Clients/Library/run.sh
	Tests/Clients/Logging/run.sh
	Tests/Clients/Traits/run.sh
	@$(MAKE) --no-print-directory grdb-tests
	@$(MAKE) --no-print-directory sqlite-tests
	@$(MAKE) --no-print-directory suites

conformance: extension ## SQLite's and Turso's test corpora on a store, where they are at hand
	Tests/Conformance/run.py $(EXTENSION) $(CONFORMANCE)

fuzz: ## the fuzzers of the C decoders, FUZZ_SECONDS each
	Tests/Hostile/Fuzz/run.sh $(FUZZ_SECONDS)

corrupt: ## a damaged store opened in thousands of processes, CORRUPT_SECONDS
	Tests/Hostile/Corruption/run.sh $(CORRUPT_SECONDS)

layout: extension ## stores on copies of liblmdb whose structs are others than engine lmdb edits: built from Debian's source
	Tests/Hostile/Layout/run.sh $(EXTENSION)

threads: ## threads on one store under ThreadSanitizer (gcc's), THREADS_SECONDS
	SANITIZE=thread Tests/Concurrency/Threads/run.sh "" $(THREADS_SECONDS)

locks: ## transactions of several connections against SQLite's WAL mode, step by step, LOCKS_SECONDS
	Tests/Concurrency/Locks/run.sh $(LOCKS_SECONDS)

sealed-pages: extension ## the pages that a commit's seal names, held against those that liblmdb wrote, SEALED_SECONDS
	Tests/Crash/SealedPages/run.sh $(SEALED_SECONDS)

list-append: extension ## processes that append to lists and read them, beside openers that are killed, LIST_SECONDS
	Tests/Concurrency/ListAppend/run.py $(EXTENSION) $(LIST_SECONDS)

snapshots: ## readers, writers and openers stopped at each instruction or system call while others go on
	Tests/Concurrency/Snapshots/run.sh

grdb-tests: interpose ## GRDB's own tests natively and on stores; the first build takes minutes
	Tests/Clients/DropIn/grdb.py --scratch .build-grdb/tests --log build/grdb-tests $(INTERPOSE)

sqlite-tests: interpose ## SQLite's own TCL tests natively and on stores, in 40 minutes: fetches Debian's source of sqlite3
	@$(MAKE) --no-print-directory deps PACKAGES="sqlite3 libsqlite3-dev libsqlite3-tcl tcl tcl8.6-dev zlib1g-dev make"
	Tests/Clients/DropIn/sqlite_tests.py $(INTERPOSE)

suites: interpose ## test suites of well-known Python projects from PyPI natively and on stores: 40 minutes at first
	Tests/Clients/DropIn/suites.py --scratch build/suites $(INTERPOSE)

bindings: interpose ## the tests of bindings for Perl, PHP, Python and Go, and sessions of programs, natively and on stores; installs them with apt
	Tests/Clients/DropIn/bindings.py --scratch build/bindings $(INTERPOSE)

drop-in-bench: interpose ## speedtest1 and LevelDB's db_bench_sqlite3 natively and on a store, three turns; wants a quiet machine
	Tests/Clients/DropIn/bench.py $(INTERPOSE)
	Tests/Clients/DropIn/bench.py $(INTERPOSE) --testset orm
	Tests/Clients/DropIn/bench.py $(INTERPOSE) db_bench

prepare-cost: ## instructions that the front door adds to a prepare (callgrind)
	Tests/Cost/Prepare/run.sh

interpose-cost: interpose ## instructions that the interposer adds to a point select and a prepare (callgrind)
	Tests/Cost/Interpose/run.sh $(INTERPOSE)

shapes: interpose ## shapes of queries on small tables, ms natively and on a store
	Tests/Cost/Shapes/shapes.py $(INTERPOSE)

sweep: interpose ## random shapes of queries, SWEEP_SECONDS from SWEEP_SEED: those whose rows differ, or that take over 20 times native
	Tests/Cost/Shapes/sweep.py $(INTERPOSE) $(SWEEP_SECONDS) $(SWEEP_SEED)

row-cost: ## instructions a row of scans, ranges, joins, point reads and inserts, native and on a store (callgrind)
	Tests/Cost/Row/run.sh

change-cost: interpose ## instructions a row of statements that change many rows, native and on a store (callgrind)
	Tests/Cost/Change/run.py $(INTERPOSE)

schema-cost: ## instructions of changes of the schema, openings and looks at it beside 50, 400 and 2,000 tables (callgrind)
	Tests/Cost/Schema/run.sh

scan-memory: extension engines ## a table of SCAN_MEGABYTES scanned on each engine in 200 MB of private memory: 2048 takes 20 minutes
	Tests/Cost/Scan/run.py --megabytes $(SCAN_MEGABYTES) $(EXTENSION) lmdb lmdb:plain sqlite-btree \
		$(foreach engine,reference log rocksdb wiredtiger,$(patsubst %,%=$(engine),$(wildcard build/engines/librootstock_$(engine).so)))

api-cost: ## the layer table: instructions of the Swift API over SQLite's C calls, and decoding beside GRDB (callgrind)
	Tests/Cost/API/run.sh

page-cost: ## instructions a row of puts at random keys, with option checkPages and without (callgrind)
	Tests/Cost/Pages/run.sh

compare: deps ## the microbenchmark and a case or two of each other suite, in BUDGET of time, with build/compare.html
	@mkdir -p build
	$(SWIFT) build $(SWIFTFLAGS) -c release --product rootstock
	$$($(SWIFT) build $(SWIFTFLAGS) -c release --show-bin-path)/rootstock compare headline --budget $(BUDGET) --repeat 4 --spare-slow \
		--html build/compare.html --json build/compare.json

results: ## every suite into Vendor-notes/results, in MINUTES=45; wants a quiet machine
	$(SWIFT) build $(SWIFTFLAGS) -c release --product rootstock
	ROOTSTOCK=$$($(SWIFT) build $(SWIFTFLAGS) -c release --show-bin-path)/rootstock Vendor-notes/results/run.sh

engines-table: engines ## the page of all engines over suites engine, queries and ycsb, in MINUTES=30; wants a quiet machine
	$(SWIFT) build $(SWIFTFLAGS) -c release --product rootstock
	ROOTSTOCK=$$($(SWIFT) build $(SWIFTFLAGS) -c release --show-bin-path)/rootstock Vendor-notes/results/engines.sh

# The newest of each name.
RESULTS = $(foreach name,engine-full engine queries objects,$(lastword $(sort $(wildcard Vendor-notes/results/????-??-??-$(name).json))))
results-table results-chart: results-%: ## what `make results` found for suites engine, queries and objects: a table, an SVG
	@[ -n "$(strip $(RESULTS))" ] || { echo "results-$*: no Vendor-notes/results/DATE-engine.json: make results" >&2; exit 1; }
	@$$($(SWIFT) build $(SWIFTFLAGS) -c release --show-bin-path)/rootstock report --$* $(RESULTS)

extension: $(EXTENSION) ## build/rootstock.so, for SQLite's .load

# An object a source, so that a change compiles what it touches; `make -j2 extension` compiles two at once.
EXTENSION_OBJECTS = $(C_SOURCES:%.c=build/objects/%.o) build/objects/CShims/Extension/extension.o

build/objects/CShims/RootstockInterpose/%.o: EXTENSION_FLAGS += -ICShims/RootstockSQLite

build/objects/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(EXTENSION_FLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(EXTENSION): $(EXTENSION_OBJECTS)
	@echo "linking $@"
	@$(CC) -shared $(CFLAGS) $(EXTENSION_OBJECTS) -o $@ $(LDFLAGS) -llmdb -lpthread

-include $(EXTENSION_OBJECTS:.o=.d)

# For scripts that compile the C library in their own way.
.PHONY: c-sources c-flags
c-sources:
	@echo $(C_SOURCES:%=$(CURDIR)/%)
c-flags:
	@echo $(C_INCLUDES)

# The product's C as the extension has it, and SQLite's functions in front of it: preloaded by `rootstock run`.
# Engines as shared libraries, for --load-engine: each folder here has a Makefile that needs the plug's header alone.
engines: ## build/engines: engines as shared libraries, for --load-engine
	@mkdir -p build/engines
	@$(MAKE) --no-print-directory -s -C CShims/Engines/Reference BUILD=$(CURDIR)/build/engines
	@$(MAKE) --no-print-directory -s -C CShims/Engines/Log BUILD=$(CURDIR)/build/engines
	@if [ -e /usr/include/rocksdb/c.h ]; then $(MAKE) --no-print-directory -s -C CShims/Engines/RocksDB BUILD=$(CURDIR)/build/engines; \
		else echo "engines: no rocksdb: install librocksdb-dev"; fi
	@if [ -e /usr/include/wiredtiger.h ]; then $(MAKE) --no-print-directory -s -C CShims/Engines/WiredTiger BUILD=$(CURDIR)/build/engines; \
		else echo "engines: no wiredtiger: install libwiredtiger-dev"; fi
	@if command -v pg_config > /dev/null; then $(MAKE) --no-print-directory -s -C CShims/Engines/Postgres BUILD=$(CURDIR)/build/engines; \
		else echo "engines: no postgres: install libpq-dev"; fi

# The C library for programs that call rootstock.h: the extension's objects, and SQLite's functions as the linker finds them.
LIBRARY = build/librootstock.so
LIBRARY_OBJECTS = $(C_SOURCES:%.c=build/library/%.o) build/library/CShims/RootstockSQLite/linked.o

library: $(LIBRARY) ## build/librootstock.so, for C programs

build/library/%.o: %.c Makefile
	@mkdir -p $(@D)
	@$(CC) $(filter-out -fvisibility=hidden,$(EXTENSION_FLAGS)) -ICShims/RootstockSQLite/include $(CFLAGS) -MMD -MP -c $< -o $@

PUBLIC_HEADERS = CShims/RootstockTable/include/rootstock.h CShims/RootstockEngine/include/rootstock_engine.h

# It exports what the public headers declare, and nothing else.
build/exports.map: $(PUBLIC_HEADERS)
	@(echo '{ global:'; sed -n 's/^[a-z].*[ *]\(rootstock_[a-z_]*\)(.*/\1;/p' $(PUBLIC_HEADERS) | sort -u; echo 'local: *; };') > $@

$(LIBRARY): $(LIBRARY_OBJECTS) build/exports.map
	@echo "linking $@"
	@$(CC) -shared -Wl,-soname,librootstock.so.0 -Wl,--version-script=build/exports.map $(CFLAGS) $(LIBRARY_OBJECTS) \
		-o $@ $(LDFLAGS) -lsqlite3 -llmdb -lpthread

-include $(LIBRARY_OBJECTS:.o=.d)

# A build of its own: the command carries Swift's runtime, so that it runs where no Swift is.
STATIC = --scratch-path .build-static -c release --static-swift-stdlib
STATIC_COMMAND = $$($(SWIFT) build $(SWIFTFLAGS) $(STATIC) --show-bin-path)/rootstock

static: extension interpose library
	$(SWIFT) build $(SWIFTFLAGS) $(STATIC) --product rootstock

install: static ## the command, the extension, the interposer, the C library, manual pages and completions below PREFIX
	CShims/Packaging/install.sh install "$(DESTDIR)" "$(PREFIX)" $(STATIC_COMMAND)

uninstall: ## remove what `make install` put below PREFIX
	CShims/Packaging/install.sh uninstall "$(DESTDIR)" "$(PREFIX)" "$(DESTDIR)$(PREFIX)/bin/rootstock"

deb: static ## build/rootstock_VERSION_ARCHITECTURE.deb, a Debian package
	CShims/Packaging/deb.sh $(STATIC_COMMAND)

test-install: static ## what `make install` and `make deb` make: used by a C and a Python program, and in a clean root
	Tests/Clients/Install/run.sh $(STATIC_COMMAND)

INTERPOSE = build/librootstock_interpose.so
INTERPOSE_OBJECTS = $(patsubst %.c,build/objects/%.o,$(wildcard CShims/RootstockInterpose/*.c)) \
	$(C_SOURCES:%.c=build/objects/%.o)

interpose: $(INTERPOSE) ## build/librootstock_interpose.so: any SQLite program on a store

$(INTERPOSE): $(INTERPOSE_OBJECTS)
	@echo "linking $@"
	@$(CC) -shared $(CFLAGS) $(INTERPOSE_OBJECTS) -o $@ $(LDFLAGS) -llmdb -lpthread -ldl

-include $(patsubst %.c,build/objects/%.d,$(wildcard CShims/RootstockInterpose/*.c))

# Files that git knows or would add: build products never count.
OURS = git ls-files --cached --others --exclude-standard --deduplicate --

layers: extension interpose ## what each layer of the C code includes and calls
	Tests/Layers/check.py --self-test
	Tests/Layers/check.py

prose: ## sentences of the documents, notes and comments that are too long to read
	Tests/Prose/check.py --self-test

lint: layers prose ## check the formatting of Swift and C, the layers, and the sentences of the documents
	$(OURS) '*.swift' | xargs $(SWIFT) format lint --strict
	$(OURS) '*.c' '*.h' | xargs $(CLANG_FORMAT) --dry-run -Werror
	@$(OURS) '*.c' '*.h' | xargs awk 'length > 120 || FNR == 501 {print FILENAME ":" FNR ": above 120 columns or 500 lines"; wide = 1} END {exit wide}'
	@echo "lint: clean"

format: ## format Swift and C in place
	$(OURS) '*.swift' | xargs $(SWIFT) format format --in-place
	$(OURS) '*.c' '*.h' | xargs $(CLANG_FORMAT) -i

asan: ## the tests under AddressSanitizer, with leaks
	LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/leaks.txt:print_suppressions=0 $(MAKE) --no-print-directory sanitized \
		SANITIZED="--scratch-path .build-asan --sanitize=address"

# The engine tests fork, and start threads in the child: ThreadSanitizer ends such a process unless it is told not to.
tsan: ## the tests under ThreadSanitizer
	@TSAN_OPTIONS=die_after_fork=0 $(MAKE) --no-print-directory sanitized SANITIZED="--scratch-path .build-tsan --sanitize=thread"

# SwiftPM has no switch for this one: the C code traps where its behaviour would be undefined.
ubsan: ## the tests with the C code checked for undefined behaviour
	@$(MAKE) --no-print-directory sanitized \
		SANITIZED="--scratch-path .build-ubsan -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined"

# As `make test`: the engine tests fork, alone in their process.
sanitized:
	$(SWIFT) build $(SWIFTFLAGS) $(SANITIZED) --build-tests
	ROOTSTOCK_TEST_SEED=$(TEST_SEED) ROOTSTOCK_TEST_SECONDS=$(TEST_SECONDS) ROOTSTOCK_TEST_PROGRAMS=$(TEST_PROGRAMS) \
		$(SWIFT) test $(SWIFTFLAGS) $(SANITIZED) --skip-build --no-parallel --filter RootstockEngineTests
	ROOTSTOCK_TEST_SEED=$(TEST_SEED) ROOTSTOCK_TEST_SECONDS=$(TEST_SECONDS) ROOTSTOCK_TEST_PROGRAMS=$(TEST_PROGRAMS) \
		$(SWIFT) test $(SWIFTFLAGS) $(SANITIZED) --skip-build --skip RootstockEngineTests

# Rootstock exports the protocols of an engine from RootstockPlug: its symbols are extracted by hand, so that both are one module's.
DOCS_MODULES = CShims/CSQLite/module.modulemap CShims/CLMDB/module.modulemap \
	$(foreach module, RootstockEngine RootstockTable RootstockSQLite, .build-docs/debug/$(module).build/module.modulemap)

docs: ## the documentation as a static site, into build/docs
	rm -rf build/docs .build-docs && mkdir -p build .build-docs/symbols
	$(SWIFT) build $(SWIFTFLAGS) --scratch-path .build-docs --target Rootstock
	$(SWIFT) symbolgraph-extract -module-name Rootstock -target "$$($(SWIFT) -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)",/\1/p' | head -1)" \
		-I .build-docs/debug/Modules $(DOCS_MODULES:%=-Xcc -fmodule-map-file=%) -minimum-access-level public \
		-experimental-allowed-reexported-modules=RootstockPlug -output-dir .build-docs/symbols
	docc convert Sources/Rootstock/Rootstock.docc --additional-symbol-graph-dir $(CURDIR)/.build-docs/symbols --output-path build/docs \
		--fallback-display-name Rootstock --fallback-bundle-identifier rootstock --warnings-as-errors --transform-for-static-hosting
	@echo '<meta http-equiv="refresh" content="0; url=documentation/rootstock/">' > build/docs/index.html
	Tests/Site/check.py --self-test build/docs
	@echo "docs: build/docs, for any web server: python3 -m http.server -d build/docs"

clean: ## remove what was built
	$(SWIFT) package clean
	rm -rf build .build-asan .build-tsan .build-ubsan .build-docs .build-grdb .build-static
