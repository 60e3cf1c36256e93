# blktop: build, install, test. `make help` lists the targets.
#
#   make            build/blktop and what goes with it
#   make check      all tests (installs what is missing from Debian first)
#   make demo       blktop --demo on the bundled recording
#   make build/tests/test-hist && build/tests/test-hist    one test
#
# Variables: BUILD (build), CC, CFLAGS, SANITIZE (address,undefined | thread),
# DEVELOPER=1 (-Werror), PREFIX (/usr/local), DESTDIR.

BUILD ?= build
PREFIX ?= /usr/local
VERSION := 0.1.0
DEVELOPER ?= $(if $(wildcard .git),1,)

PACKAGES := glib-2.0 json-glib-1.0 ncursesw babeltrace2 lttng-ctl popt
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -DBLKTOP_VERSION='"$(VERSION)"' -DBLKTOP_DATADIR='"$(PREFIX)/share/blktop"' \
	-Isrc -I$(BUILD)/gen $(WARNINGS) $(if $(DEVELOPER),-Werror) -MMD -MP -fno-common \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -O1) $(PKG_CFLAGS) $(CFLAGS)
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
ALL_LDFLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(LDFLAGS)
LIBS = $(PKG_LIBS) -lm -lpthread

LAYERS := base trace live state run views export ui
LIB_SRC := $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)) $(filter-out src/main.c,$(wildcard src/*.c))
LIB_OBJ := $(LIB_SRC:src/%.c=$(BUILD)/obj/%.o)
TEST_SRC := $(wildcard tests/unit/test-*.c)
TESTS := $(TEST_SRC:tests/unit/%.c=$(BUILD)/tests/%)
TEST_LIB_SRC := $(wildcard tests/lib/*.c)
TEST_LIB_OBJ := $(TEST_LIB_SRC:tests/lib/%.c=$(BUILD)/obj/tests/%.o)

all: $(BUILD)/blktop

$(BUILD)/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/obj/tests/%.o: tests/lib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests -c -o $@ $<

$(BUILD)/libblktop.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/blktop: $(BUILD)/obj/main.o $(BUILD)/libblktop.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/%: tests/unit/%.c $(TEST_LIB_OBJ) $(BUILD)/libblktop.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< $(TEST_LIB_OBJ) $(BUILD)/libblktop.a $(LIBS)

tests: $(TESTS)

clean:
	rm -rf $(BUILD)

-include $(LIB_OBJ:.o=.d) $(BUILD)/obj/main.d $(TESTS:=.d) $(TEST_LIB_OBJ:.o=.d)

.PHONY: all tests clean
.SECONDARY:
