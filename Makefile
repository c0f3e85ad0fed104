# Tyto's front door: short names for what Meson, ninja and the scripts do.
#
#   build/           release build (gcc or whatever CC names)
#   build-sanitize/  clang, with the address and undefined-behaviour sanitizers, one level of the host's instruction set, and
#                    fuzz targets for some seconds; PTX and CUDA programs of its tests are build/'s
#   build-threads/   clang, with the thread sanitizer
#   build-fuzz/      clang, instrumented for libFuzzer
#   build-mutants/   a copy of the sources, and its build
#   build-compare/   revisions whose speed was compared, and their builds

RUN          ?= compare --machine ccws --schedulers lrr,two-level,gto,pro,ccws spmv
PREFIX       ?= /usr/local
# (where Debian's loader looks, whether dpkg-dev is there to tell the build of another folder or not)
LIBDIR       ?= lib
FUZZ_SECONDS ?= 30

# (Lines are all that reports show, and other facts for debuggers take long to compile and to link.)
SANITIZE = -Dbuildtype=debug -Doptimization=1 -Db_lundef=false -Db_sanitize=address,undefined \
           "-Dc_args=-fno-sanitize-recover=undefined -gline-tables-only"
# Hundreds of test programs are linked; lld takes a fraction of the time for each, where it is installed.
FAST_LINKER = $(if $(shell command -v ld.lld),CC_LD=lld)
# Tests of what several threads do, which the nightly run has clang's thread sanitizer watch.
THREADED = tests/base/test_base_thread_pool tests/noc/test_noc_interface tests/engine/test_threads

.DEFAULT_GOAL = help
.PHONY: help run running test build sanitize setup setup-run setup-tests bench bench-record bench-compare bench-history fidelity bless mutate nightly fuzz fuzz-targets \
        sanitize-threads install dist format clean

help: ## show this list
	@echo "Tyto, a cycle-level GPU simulator. Targets:"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

run: setup-run build/build.ninja ## set up, build, and run the main job (RUN="..." for another one)
ifeq ($(origin RUN),file)
	@ninja -C build first
	build/tyto $(RUN)
	@echo 'The other workloads and CUDA libraries are being built now.'
	@ninja -C build running
else
	@ninja -C build running
	build/tyto $(RUN)
endif

test: setup-tests build sanitize ## set up, build, and run every test, with sanitizers too
	@scripts/test

build: setup build/with-tests ## set up and build for release, tests too, into build/
	@ninja -C build

setup: ## install the Debian packages that are missing (says which first)
	@scripts/setup

setup-run:
	@scripts/setup run

setup-tests: setup
	@scripts/setup tests

bench: build ## measure the speed of the simulator itself
	meson test -C build --benchmark --verbose
	bench/speed build

bench-record: build ## measure and profile, record that, and write docs/performance.md (wants a quiet machine)
	bench/speed build --record
	bench/performance_page

bench-compare: setup ## compare the speed of two builds or revisions, OLD and NEW (main and the files as they are); fails on a loss
	bench/compare $(or $(OLD),main) $(NEW)

bench-history: setup ## show the history of the speed, after measuring REVISIONS="..." and recording them, if there are any
	$(if $(REVISIONS),bench/history $(REVISIONS) && bench/performance_page)
	bench/history

fidelity: build ## compare machines with the peer simulator's figures: writes docs/fidelity.md, docs/fidelity-modern.md
	TYTO_BLESS=1 build/tests/fidelity/fidelity fidelity .
	TYTO_BLESS=1 build/tests/fidelity/fidelity fidelity-modern .

bless: build ## store anew what golden tests compare with, and show what changed
	TYTO_BLESS=1 meson test -C build --verbose shipped_ptx golden pages documents driver_page cli fidelity fidelity_modern

mutate: setup ## plant faults in a copy, one at a time, and see that a test finds each
	scripts/mutate

nightly: build sanitize fuzz-targets sanitize-threads ## every test, the long ones too, planted faults, 90 minutes of fuzzing and ten of chaos
	@scripts/nightly

fuzz: fuzz-targets ## fuzz every reader of user input for FUZZ_SECONDS (30) each
	@scripts/fuzz $(FUZZ_SECONDS)

install: running ## install under PREFIX (/usr/local); DESTDIR is honoured
	meson configure build --prefix $(PREFIX) --libdir $(LIBDIR) -Dlevels=all
	@ninja -C build running
	meson install -C build --no-rebuild
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

dist: setup-tests ## make the archive, the Debian package and the wheel of a release, in dist/
	@scripts/dist

format: setup ## lay out the C sources by .clang-format
	git ls-files '*.c' '*.h' | xargs clang-format-19 -i

clean: ## remove the build folders and dist/
	rm -rf dist build build-sanitize build-threads build-fuzz build-mutants build-compare

running: setup-run build/build.ninja
	@ninja -C build running

sanitize: build build-sanitize/build.ninja
	@ninja -C build-sanitize

sanitize-threads: setup build-threads/build.ninja
	@ninja -C build-threads $(THREADED)

fuzz-targets: setup build-fuzz/build.ninja
	@ninja -C build-fuzz fuzz-targets

# Meson takes a folder that it was interrupted in for one that is set up.
FRESH = rm -rf $(@D)/meson-private

# A first run leaves the tests out, and what other hosts would need; whoever wants them has them added.
build/build.ninja: | setup-run
	@$(FRESH)
	meson setup build --prefix $(PREFIX) --libdir $(LIBDIR) -Dtests=false -Dlevels=host

build/with-tests: build/build.ninja | setup
	meson setup --reconfigure build -Dtests=true
	@touch $@

build-sanitize/build.ninja: | setup
	@$(FRESH)
	CC=clang-19 $(FAST_LINKER) meson setup build-sanitize $(SANITIZE) -Dmade=$(CURDIR)/build -Dlevels=base -Dfuzz=readers

build-threads/build.ninja: | setup
	@$(FRESH)
	CC=clang-19 meson setup build-threads -Dbuildtype=debug -Doptimization=1 -Db_lundef=false -Db_sanitize=thread

build-fuzz/build.ninja: | setup
	@$(FRESH)
	CC=clang-19 meson setup build-fuzz $(SANITIZE) -Dfuzz=all
