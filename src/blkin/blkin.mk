# libblkin: a library of its own, which programs that are traced link with. It does not
# depend on blktop, nor blktop on it. Included by the Makefile.
#
# libblkin.so.0 needs nothing but the C library; libblkin-lttng.so.0 is loaded by it and
# needs liblttng-ust.so.1.

LIBDIR ?= $(PREFIX)/lib
BLKIN_CFLAGS = -std=c11 -D_GNU_SOURCE -fPIC -Wall -Wextra -Wshadow \
	$(if $(DEVELOPER),-Werror) -MMD -MP $(CFLAGS) $(BLKIN_SANITIZE)
BLKIN_SANITIZE = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
BLKIN_SO = -shared -Wl,-soname,$(@F) -Wl,--version-script,$< $(LDFLAGS) \
	$(if $(SANITIZE),$(BLKIN_SANITIZE),-Wl,-z,defs)
BLKIN_HEADERS := blkin.h ztracer.hpp
BLKIN := $(BUILD)/blkin/libblkin.so.0
BLKIN_LTTNG := $(BUILD)/blkin/libblkin-lttng.so.0
HAVE_UST := $(shell pkg-config --exists 'lttng-ust >= 2.13' 2>/dev/null && echo 1)

ifdef HAVE_UST
all: libblkin
install: install-blkin
else
all: no-libblkin
endif

libblkin: $(BLKIN) $(BLKIN_LTTNG) $(BUILD)/blkin/libblkin.so

no-libblkin:
	@[ -e $(BUILD)/no-libblkin ] || { echo '  libblkin is not built: lttng-ust 2.13 is not there (liblttng-ust-dev)'; \
		mkdir -p $(BUILD); touch $(BUILD)/no-libblkin; }

$(BUILD)/blkin/%.o: src/blkin/%.c $(FLAGS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(BLKIN_CFLAGS) -Isrc/blkin -c -o $@ $<

# What LTTng's headers make of themselves is theirs.
$(BUILD)/blkin/calls.o $(BUILD)/blkin/probes.o: BLKIN_CFLAGS += -Wno-unused-parameter -Wno-shadow

$(BLKIN): src/blkin/libblkin.map $(BUILD)/blkin/blkin.o $(BUILD)/blkin/ids.o
	$(call say,LD)$(CC) $(BLKIN_SO) -o $@ $(filter %.o,$^) -ldl -lpthread

$(BLKIN_LTTNG): src/blkin/libblkin-lttng.map $(BUILD)/blkin/calls.o $(BUILD)/blkin/probes.o
	$(call say,LD)$(CC) $(BLKIN_SO) -o $@ $(filter %.o,$^) $$(pkg-config --libs lttng-ust) -ldl -lpthread

$(BUILD)/blkin/libblkin.so: $(BLKIN)
	@ln -sf $(<F) $@

-include $(wildcard $(BUILD)/blkin/*.d)

install-blkin: libblkin
	install -D -m 644 $(BLKIN) '$(DESTDIR)$(LIBDIR)/libblkin.so.0'
	install -D -m 644 $(BLKIN_LTTNG) '$(DESTDIR)$(LIBDIR)/libblkin-lttng.so.0'
	ln -sf libblkin.so.0 '$(DESTDIR)$(LIBDIR)/libblkin.so'
	for h in $(BLKIN_HEADERS); do install -D -m 644 src/blkin/$$h '$(DESTDIR)$(PREFIX)/include/'$$h || exit; done
	@mkdir -p '$(DESTDIR)$(LIBDIR)/pkgconfig'
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/blkin/blkin.pc.in \
		>'$(DESTDIR)$(LIBDIR)/pkgconfig/blkin.pc'
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || echo '  ldconfig makes libblkin known, as root'

uninstall-blkin:
	rm -f '$(DESTDIR)$(LIBDIR)/libblkin.so' '$(DESTDIR)$(LIBDIR)/libblkin.so.0' \
		'$(DESTDIR)$(LIBDIR)/libblkin-lttng.so.0' '$(DESTDIR)$(LIBDIR)/pkgconfig/blkin.pc' \
		$(BLKIN_HEADERS:%='$(DESTDIR)$(PREFIX)/include/%')

.PHONY: libblkin no-libblkin install-blkin uninstall-blkin

# ---- tests, and what it costs ----

BLKIN_TESTS := $(addprefix $(BUILD)/blkin/,test-blkin test-ztracer emit bench-blkin)
ifdef HAVE_UST
helpers: $(BLKIN_TESTS)
endif

BLKIN_LINK = -L$(BUILD)/blkin -Wl,-rpath,'$$ORIGIN' -lblkin -lpthread $(BLKIN_SANITIZE)

$(BUILD)/blkin/%: tests/blkin/%.c src/blkin/blkin.h | libblkin
	$(call say,CCLD)$(CC) $(filter-out -fPIC,$(BLKIN_CFLAGS)) -Isrc/blkin -o $@ $< $(BLKIN_LINK)

$(BUILD)/blkin/%: tests/blkin/%.cpp src/blkin/blkin.h src/blkin/ztracer.hpp | libblkin
	$(call say,CCLD)$(CXX) -std=c++11 -Wall -Wextra -Werror -Isrc/blkin $(CFLAGS) -o $@ $< $(BLKIN_LINK)

bench-blkin: $(BLKIN_TESTS)
	BUILD='$(BUILD)' tests/blkin/bench.sh

.PHONY: bench-blkin
