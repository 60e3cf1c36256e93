# blktop: build, test, install. `make help` lists the targets.
#
#   make            build/blktop
#   make demo       install what the build needs, build, show the bundled recording
#   make check      install what the tests need, build, run all tests
#   make check-quick                                       the unit tests of what changed, and lints: within a minute
#   make check-hist                                        one test, or one folder of them
#   make build/tests/test-hist && build/tests/test-hist    the same by hand
#
# Variables: BUILD (build), CC, CFLAGS, SANITIZE (address,undefined | thread), JOBS, CCACHE (ccache, where it is installed),
# DEVELOPER=1 (-Werror, as CI has it), PREFIX (/usr/local), DESTDIR, V=1 (verbose).

BUILD ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0
CCACHE ?= $(shell command -v ccache 2>/dev/null)
DEVELOPER ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

DATADIR = $(PREFIX)/share/blktop
ZSHDIR = $(PREFIX)/share/zsh/site-functions
PACKAGES := glib-2.0 ncursesw babeltrace2 lttng-ctl popt libseccomp libsoup-3.0 libzstd
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DBLKTOP_VERSION='"$(VERSION)"' -DBLKTOP_DATADIR='"$(DATADIR)"' \
	-Isrc -I$(BUILD)/gen $(WARNINGS) $(if $(DEVELOPER),-Werror) -MMD -MP -fno-common \
	$(PKG_CFLAGS) $(CFLAGS) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer $(SANITIZE_CFLAGS))
# Reports have lines of the source; more for a debugger would cost a third of the time to compile. What may be uninitialized
# gcc guesses well only with -O2.
SANITIZE_CFLAGS = -Og -g1 -Wno-maybe-uninitialized
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
ALL_LDFLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(WRAPPED:%=-Wl,--wrap=%) $(WRAP_OBJ) $(LDFLAGS)
LIBS = $(PKG_LIBS) -lm -lpthread

LAYERS := base trace live state run views export send ui app cli cmd
LIB_SRC := $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c src/$(l)/*/*.c))
LIB_OBJ := $(LIB_SRC:src/%.c=$(BUILD)/obj/%.o)
ifeq ($(SANITIZE),thread)
WRAPPED := g_mutex_lock g_mutex_trylock g_mutex_unlock g_cond_wait g_cond_wait_until g_async_queue_push \
	g_async_queue_pop g_async_queue_try_pop g_atomic_ref_count_dec
WRAP_OBJ := $(BUILD)/obj/tests/tsan/glib.o
endif
TEST_SRC := $(wildcard tests/unit/test-*.c)
TESTS := $(TEST_SRC:tests/unit/%.c=$(BUILD)/tests/%)
TEST_LIB_SRC := $(wildcard tests/lib/*.c)
TEST_LIB_OBJ := $(TEST_LIB_SRC:tests/lib/%.c=$(BUILD)/obj/tests/%.o)
BENCH_SRC := $(wildcard tests/bench/*.c)
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(BUILD)/bench/%)
TOOL_SRC := $(wildcard tests/tools/*.c)
TOOLS := $(TOOL_SRC:tests/tools/%.c=$(BUILD)/tools/%)

all: $(BUILD)/blktop

# ---- build ----

# V=1 shows the commands whole.
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $@;)

# Objects depend on how they are compiled, and on the libraries being there at all:
# without them this stops with the list of packages instead of a page of errors.
FLAGS := $(BUILD)/flags
READY := $(FLAGS) | $(BUILD)/have-libraries

$(BUILD)/obj/%.o: src/%.c $(READY)
	@mkdir -p $(@D)
	$(call say,CC)$(CCACHE) $(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/tests/%.o: tests/lib/%.c $(READY)
	@mkdir -p $(@D)
	$(call say,CC)$(CCACHE) $(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

$(BUILD)/obj/tests/tsan/%.o: tests/tsan/%.c $(READY)
	@mkdir -p $(@D)
	$(call say,CC)$(CCACHE) $(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -c -o $@ $<

$(BUILD)/libblktop.a: $(LIB_OBJ) | $(WRAP_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BUILD)/libtest.a: $(TEST_LIB_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BUILD)/blktop: $(BUILD)/obj/main.o $(BUILD)/libblktop.a
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/obj/unit/%.o: tests/unit/%.c $(READY)
	@mkdir -p $(@D)
	$(call say,CC)$(CCACHE) $(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

$(BUILD)/tests/%: $(BUILD)/obj/unit/%.o $(BUILD)/libtest.a $(BUILD)/libblktop.a $(READY)
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libtest.a $(BUILD)/libblktop.a $(LIBS)

# Functions that a test has instead of the program's.
wraps = $(patsubst %,-Wl$(comma)--wrap=%,$(1))
comma := ,
$(BUILD)/tests/test-limits-live: private LDFLAGS += $(call wraps,net_connect net_read net_read_some net_write \
	net_sleep link_start g_get_monotonic_time g_thread_new g_thread_join)
$(BUILD)/tests/test-carbon: private LDFLAGS += $(call wraps,g_get_monotonic_time g_cond_wait_until net_sleep)
$(BUILD)/tests/test-limits-send: private LDFLAGS += $(call wraps,g_get_monotonic_time g_cond_wait_until)
$(BUILD)/tests/test-process-ends: private LDFLAGS += $(call wraps,net_connect net_read net_read_some net_write \
	net_sleep link_start g_get_monotonic_time)
$(BUILD)/tests/test-limits-here: private LDFLAGS += $(call wraps,control_track control_snapshot proc_each \
	proc_read_stat kill waitpid g_usleep g_get_monotonic_time pwrite)

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libtest.a $(BUILD)/libblktop.a $(READY)
	@mkdir -p $(@D)
	$(call say,CCLD)$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libtest.a $(BUILD)/libblktop.a $(LIBS)

$(BUILD)/tools/%: tests/tools/%.c $(BUILD)/libtest.a $(BUILD)/libblktop.a $(READY)
	@mkdir -p $(@D)
	$(call say,CCLD)$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< $(BUILD)/libtest.a $(BUILD)/libblktop.a $(LIBS)

# What tests load into blktop with LD_PRELOAD.
$(BUILD)/isolation-probe.so: tests/probe/isolation_probe.c $(READY)
	$(call say,CCLD)$(CC) $(filter-out -fsanitize=%,$(ALL_CFLAGS)) -Wno-missing-prototypes -fPIC -shared -o $@ $< -ldl -lpthread

# A file is written only when what it says has changed.
$(FLAGS): said = $(subst BLKTOP_DATADIR,,$(subst $(DATADIR),,$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LIBS)))
$(BUILD)/datadir: said = $(DATADIR)
$(FLAGS) $(BUILD)/datadir $(BUILD)/unit-names: FORCE
	@mkdir -p $(@D)
	@new='$(subst ','\'',$(said))'; \
	[ "$$new" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$new" >$@

# Another PREFIX is no reason to compile everything again.
$(BUILD)/obj/app/input.o: $(BUILD)/datadir

$(BUILD)/have-libraries:
	@mkdir -p $(@D)
	@CC='$(CC)' scripts/deps --no-install build
	@touch $@

# Tables of the program become the man page's sections.
$(BUILD)/blktop.1: doc/blktop.1 scripts/gen-man $(BUILD)/blktop
	$(call say,MAN)scripts/gen-man $(BUILD)/blktop doc/blktop.1 >$@.tmp
	@mv $@.tmp $@

man: $(BUILD)/blktop.1
# What scripts of tests run. Files of other folders add to it.
helpers: $(TOOLS) $(BUILD)/isolation-probe.so
tests: $(TESTS) helpers

-include $(LIB_OBJ:.o=.d) $(BUILD)/obj/main.d $(TEST_SRC:tests/%.c=$(BUILD)/obj/%.d) $(TEST_LIB_OBJ:.o=.d) $(BENCHES:=.d) $(TOOLS:=.d) $(BUILD)/isolation-probe.d

include src/blkin/blkin.mk

# ---- what the user types ----

# The libraries' flags are read when this file is: what deps installed is seen by
# a make that begins after it.
again = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

deps:
	@CC='$(CC)' scripts/deps build test

demo:
	@CC='$(CC)' scripts/deps build
	@+$(again) $(BUILD)/blktop
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BUILD)/blktop --demo; \
	else scripts/demo-batch $(BUILD)/blktop; fi

check: deps
	@+$(again) check-built

# Unit tests run with the sanitizers, in a tree of their own, and some without: see tests/unit/unit.mk.
SCRIPTS := $(shell find tests/cli tests/fuzz tests/live tests/lint tests/truth tests/tui -maxdepth 1 -type f -perm -u+x \
	\( -name '*.sh' -o -name '*.py' \) | sort)
LONG := $(shell find tests/long -type f -perm -u+x 2>/dev/null | sort)
# These do a part of their work, with ALL=1 all of it: blk.py and traces_too_long() leave out long recordings.
IN_PART := $(sort $(shell grep -l 'ALL=1' $(SCRIPTS)) $(filter tests/truth/%,$(SCRIPTS))) \
	$(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(shell grep -lE 'traces_too_long|"ALL"' $(TEST_SRC)))
include tests/unit/unit.mk
run = BUILD='$(BUILD)' CC='$(CC)' PACKAGES='$(PACKAGES)' scripts/run-tests

# These are left to make check-long whole: others in make check show most of what they show.
LONG_ONLY := tests/truth/apart.py tests/truth/machines.py tests/truth/native-only.py tests/truth/readers.py \
	tests/cli/hostile-names.py tests/cli/requests.sh tests/lint/package.sh tests/lint/sanitized.sh \
	$(patsubst %,tests/live/%.sh,bad-path blkin corrected files hosts late network outage processes quiet readers \
	rewind slow-path two-sessions) $(UNIT_LONG:%=$(BUILD)/tests/test-%)
CHECKED := $(UNIT_SANITIZED:%=$(BUILD)-asan/unit/test-%) $(UNIT_TESTS) $(filter-out $(LONG_ONLY),$(SCRIPTS))
# The longest first, so that none is left running alone; between them those that wait more than they compute.
WAITING = $(filter tests/tui/% tests/live/% tests/cli/live.sh %/forward.py %/graphite-peers.py %/frozen-relay.py %/service.py %/listen.py \
	%/run-one-test.sh %/user.py %/watch.py %/replay.py %/hostile-relay.py,$(CHECKED))
LONGEST = $(filter %-laws %-every-view %-screen-places %-screens %-plain tests/fuzz/% %/memory.sh %/memory-steps.sh %/memory-live.py \
	%/relay-churn.py %/headers.sh %/hostile-traces.py tests/truth/%,$(CHECKED))
COMPUTING = $(LONGEST) $(filter-out $(LONGEST) $(WAITING),$(CHECKED))
check-built: all man unit helpers asan-unit
	$(run) $(subst |, ,$(join $(addsuffix |,$(WAITING)),$(COMPUTING)))

# Unit tests of what changed since SINCE (where this branch left main), and the lints that take seconds.
QUICK_LINTS := $(patsubst %,tests/lint/%.py,docs folders layers spelling style unused)
check-quick: all man
	@+tests=$$(BUILD='$(BUILD)' SLOW='$(SLOW)' scripts/changed-tests $(SINCE)) && $(again) all $$tests && $(run) $(QUICK_LINTS) $$tests

check-unit: tests
	$(run) $(TESTS)

check-lint check-tui check-truth check-live: check-%: all man tests
	$(run) $(filter tests/$*/%,$(SCRIPTS))

check-%: all man FORCE
	@+found='$(strip $(filter %/test-$*,$(TESTS)) $(filter %/$*.sh %/$*.py %/test-$*.sh %/test-$*.py,$(SCRIPTS)))'; \
	[ -n "$$found" ] || { echo "no test '$*': see tests/, and make check-unit, -lint, -tui, -truth, -live, -long" >&2; exit 2; }; \
	$(again) $(or $(filter %/test-$*,$(TESTS)),tests) && VERBOSE=1 $(run) $$found

# What takes long, downloads, or needs root: skipped, with the reason, where something is missing.
check-long:
	@CC='$(CC)' scripts/deps build test long
	@+$(again) check-long-built

check-long-built: all tests asan-tests
	TEST_SECONDS=21600 TABLE=1 ALL=1 SEEDS=200 BLKTOP_CUTS_STRIDE=1 BLKTOP_LAWS_ROUNDS=8 $(run) $(SLOW_ASAN_TESTS) \
		$(IN_PART) $(filter-out $(IN_PART),$(LONG_ONLY)) $(LONG)

# README's two commands on a fresh machine of each Debian suite; also part of check-long.
check-suites:
	VERBOSE=1 TEST_SECONDS=21600 $(run) tests/long/suites.sh

lint: check-lint

asan-tests:
	@+$(MAKE) --no-print-directory BUILD=$(BUILD)-asan SANITIZE=address,undefined all tests

asan-unit:
	@+$(MAKE) --no-print-directory BUILD=$(BUILD)-asan SANITIZE=address,undefined all unit fuzz-replays

asan: asan-tests
	$(run) tests/lint/sanitized.sh $(ASAN_TESTS)

# The threads: jobs, the live connection, and the program over the recordings.
# The other live tests hold time limits, which the sanitizer breaks.
TSAN_LIVE := tests/live/outage.sh tests/live/processes.sh tests/live/relay.sh tests/live/session.sh tests/live/two-sessions.sh
TSAN_TESTS := $(filter %-job %-logjob %-window %-parallel %-loop %-timeline %-live-viewer %-native-feed,$(TESTS:$(BUILD)/%=$(BUILD)-tsan/%))
tsan:
	@+$(MAKE) --no-print-directory BUILD=$(BUILD)-tsan SANITIZE=thread all tests
	SANITIZED=$(BUILD)-tsan/blktop $(run) $(TSAN_TESTS) tests/lint/sanitized.sh
	LIVE_TIMEOUT_MS=20000 $(subst BUILD='$(BUILD)',BUILD='$(BUILD)-tsan',$(run)) $(filter $(TSAN_LIVE),$(SCRIPTS))

bench: all $(BENCHES)
	python3 tests/bench/bench.py --blktop $(BUILD)/blktop --build $(BUILD)

# Targets of their folders: fuzz-*, bench-*, BUILD/simulate.
-include tests/fuzz/fuzz.mk tests/bench/bench.mk tests/long/simulate/simulate.mk

install: all man
	install -D -m 755 $(BUILD)/blktop '$(DESTDIR)$(PREFIX)/bin/blktop'
	install -D -m 644 $(BUILD)/blktop.1 '$(DESTDIR)$(PREFIX)/share/man/man1/blktop.1'
	install -D -m 644 completions/blktop.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/blktop'
	install -D -m 644 completions/_blktop '$(DESTDIR)$(ZSHDIR)/_blktop'
	install -D -m 644 doc/blktop-forward.service '$(DESTDIR)$(PREFIX)/share/blktop/blktop-forward.service'
	install -D -m 644 -t '$(DESTDIR)$(PREFIX)/share/blktop/dashboards' doc/dashboards/*.json
	install -D -m 644 -t '$(DESTDIR)$(PREFIX)/share/blktop/presets' share/blktop/presets/*.preset
	cd tests/traces/ctf2 && find demo/trace -type f -exec install -D -m 644 '{}' '$(DESTDIR)$(PREFIX)/share/blktop/{}' ';'

uninstall: uninstall-blkin
	rm -f '$(DESTDIR)$(PREFIX)/bin/blktop' '$(DESTDIR)$(PREFIX)/share/man/man1/blktop.1' \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions/blktop' \
		'$(DESTDIR)$(ZSHDIR)/_blktop'
	rm -rf '$(DESTDIR)$(PREFIX)/share/blktop/demo' '$(DESTDIR)$(PREFIX)/share/blktop/dashboards' \
		'$(DESTDIR)$(PREFIX)/share/blktop/presets' \
		'$(DESTDIR)$(PREFIX)/share/blktop/blktop-forward.service'
	-rmdir '$(DESTDIR)$(PREFIX)/share/blktop' 2>/dev/null

clean:
	rm -rf $(BUILD)

# A tarball of what is committed, and a Debian package of it.
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar.gz --prefix=blktop-$(VERSION)/ -o $(BUILD)/blktop-$(VERSION).tar.gz HEAD

deb: dist
	@scripts/deps build package
	rm -rf $(BUILD)/deb
	@mkdir -p $(BUILD)/deb
	tar -xzf $(BUILD)/blktop-$(VERSION).tar.gz -C $(BUILD)/deb
	cd $(BUILD)/deb/blktop-$(VERSION) && DEB_BUILD_OPTIONS=parallel=$(JOBS) dpkg-buildpackage -us -uc -b
	lintian --fail-on error $(BUILD)/deb/*.changes

# Everything that a checkout does not have.
dist-free: clean
	rm -rf $(BUILD)-asan $(BUILD)-tsan

# The pictures of doc/guide.md, after a change of the screen.
pictures: all
	scripts/doc-pictures doc/pictures

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile
	@echo 'Targets: all demo check check-quick check-NAME check-unit check-lint check-tui check-truth check-live check-long check-suites'
	@echo '         asan tsan lint bench man pictures deps dist deb install uninstall clean dist-free help'

FORCE:

.PHONY: all man helpers tests deps demo check check-built check-quick check-unit check-lint check-tui check-truth check-live check-long check-long-built check-suites \
	lint asan asan-tests asan-unit unit tsan bench pictures dist deb install uninstall clean dist-free help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
