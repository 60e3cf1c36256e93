# Fuzz targets, tests/fuzz/fuzz-*.c, found by wildcard. Part of the Makefile.
#
#   make fuzz-metadata TIME=600    one target, seconds; findings go to $(BUILD)-fuzz/findings
#   make fuzz TIME=60              each target, one after the other
#   make check-run-short           each for a few seconds, as `make check` does it
#   make build/fuzz/fuzz-metadata && build/fuzz/fuzz-metadata FILE...    without clang
#   build/fuzz/fuzz-trace -runs=100000 -seed=1 build-fuzz/corpus/trace   the same, mutated (replay.c)
#
# $(BUILD)-fuzz holds the library again, as clang's fuzzer and sanitizers want it.

FUZZ := $(BUILD)-fuzz
FUZZ_CC ?= clang
TIME ?= 60
# clang takes NULL + 0, where an empty array begins, for an overflow of a pointer.
FUZZ_FLAGS = $(filter-out -O% -fsanitize=%,$(ALL_CFLAGS)) -Itests -g -O1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-sanitize=pointer-overflow -Wno-missing-prototypes
FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz-*.c))
FUZZERS := $(FUZZ_NAMES:%=$(FUZZ)/%)
FUZZ_LIB := $(patsubst src/%.c,$(FUZZ)/obj/%.o,$(filter-out src/ui/%,$(LIB_SRC)))
FUZZ_TEST_LIB := $(patsubst tests/lib/%.c,$(FUZZ)/obj/tests/%.o,$(wildcard tests/lib/*.c))
FUZZ_CORPUS := $(FUZZ)/corpus
# Functions that a target has instead of the program's.
FUZZ_WRAP_viewer := net_connect net_read net_read_some net_write net_sleep link_start g_get_monotonic_time
FUZZ_WRAP_live := $(FUZZ_WRAP_viewer)
fuzz_wraps = $(FUZZ_WRAP_$(patsubst fuzz-%,%,$(1)):%=-Wl,--wrap=%)

$(FUZZ)/flags: said = $(FUZZ_CC) $(FUZZ_FLAGS)
$(FUZZ)/flags: FORCE
	@mkdir -p $(@D)
	@new='$(subst ','\'',$(said))'; \
	[ "$$new" = "$$(cat $@ 2>/dev/null)" ] || printf '%s\n' "$$new" >$@

$(FUZZ)/obj/%.o: src/%.c $(FUZZ)/flags
	@mkdir -p $(@D)
	$(call say,FUZZ)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(FUZZ)/obj/tests/%.o: tests/lib/%.c $(FUZZ)/flags
	@mkdir -p $(@D)
	$(call say,FUZZ)$(FUZZ_CC) $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ)/libblktop.a: $(FUZZ_LIB)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(FUZZ)/libtest.a: $(FUZZ_TEST_LIB)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(FUZZERS): $(FUZZ)/%: tests/fuzz/%.c $(FUZZ)/libtest.a $(FUZZ)/libblktop.a
	$(call say,FUZZ)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(call fuzz_wraps,$*) -o $@ $< \
		$(FUZZ)/libtest.a $(FUZZ)/libblktop.a $(LIBS)

# The same targets with a main() that reads files: any compiler, any sanitizer.
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(BUILD)/libtest.a $(BUILD)/libblktop.a $(READY)
	@mkdir -p $(@D)
	$(call say,CCLD)$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) $(call fuzz_wraps,$*) -o $@ $< tests/fuzz/replay.c \
		$(BUILD)/libtest.a $(BUILD)/libblktop.a $(LIBS)

fuzz-replays: $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)

$(FUZZ_CORPUS): tests/fuzz/make-corpus $(BUILD)/tools/make-seed
	@rm -rf $@
	$(call say,GEN)BUILD=$(BUILD) tests/fuzz/make-corpus $@

fuzzers: $(FUZZERS)

# What was found before is read again first; what is new is kept in corpus-new.
$(FUZZ_NAMES): fuzz-%: $(FUZZ)/fuzz-% $(FUZZ_CORPUS)
	@mkdir -p $(FUZZ)/findings $(FUZZ)/corpus-new/$* $(FUZZ_CORPUS)/$*
	cd $(FUZZ) && nice $(CURDIR)/$< -max_total_time=$(TIME) -timeout=20 -rss_limit_mb=2048 \
		-max_len=65536 -print_final_stats=1 $(FUZZ_OPTIONS) \
		$(if $(wildcard tests/fuzz/$*.dict),-dict=$(CURDIR)/tests/fuzz/$*.dict) \
		-artifact_prefix=findings/$*- corpus-new/$* corpus/$* \
		$(if $(wildcard tests/fuzz/seeds/$*),$(CURDIR)/tests/fuzz/seeds/$*)

fuzz:
	@+for target in $(FUZZ_NAMES); do $(MAKE) --no-print-directory $$target TIME=$(TIME) || exit; done

clean-fuzz:
	rm -rf $(FUZZ)

dist-free: clean-fuzz

-include $(FUZZ_LIB:.o=.d) $(FUZZ_TEST_LIB:.o=.d) $(FUZZERS:=.d)

.PHONY: fuzz fuzzers fuzz-replays clean-fuzz $(FUZZ_NAMES)
