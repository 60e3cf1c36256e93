# Which unit tests make check runs with the sanitizers and which without, and one program of all of them. Part of the
# Makefile. A new test is a file test-NAME.c: nothing is to be added here.

# With the sanitizers, these take so long that they have them only in make check-long.
SLOW := correct cut every-view evicted forgotten import-pieces laws limits-here limits-locks limits-metadata \
	limits-model limits-packets limits-views logjob losses missing-events model narrowing native native-feed \
	parallel path paths plain processes reader-bt2 reader-corrupt screen-places screen-says slice-file slice-history \
	spans spare spool strings timeline unite window
# Without: the slow ones, and those that measure memory or read long recordings.
UNIT_PLAIN := $(sort $(SLOW) $(patsubst tests/unit/test-%.c,%,$(shell \
	grep -lE 'mallinfo|getrusage|__SANITIZE|rlimit|lib/cuts\.h' $(TEST_SRC))))
UNIT_SANITIZED := $(filter-out $(SLOW),$(TEST_SRC:tests/unit/test-%.c=%))
# Only in make check-long.
UNIT_LONG := limits-metadata limits-packets
SLOW_ASAN_TESTS := $(SLOW:%=$(BUILD)-asan/tests/test-%)
ASAN_TESTS := $(TESTS:$(BUILD)/%=$(BUILD)-asan/%)

# What make check runs of a build is one program, which saves linking each: it is the test by whose name it is called.
# Those that have functions instead of the program's stay programs of their own.
UNIT := $(BUILD)/unit
UNIT_HERE := $(if $(SANITIZE),$(UNIT_SANITIZED),$(filter-out $(UNIT_LONG),$(UNIT_PLAIN)))
UNIT_TESTS := $(UNIT_HERE:%=$(UNIT)/test-%)
OWN_PROGRAM := limits-live carbon limits-send process-ends limits-here
UNIT_NAMES := $(filter-out $(OWN_PROGRAM),$(UNIT_HERE))
UNIT_OBJ := $(UNIT_NAMES:%=$(UNIT)/test-%.o)

$(UNIT)/%.o: $(BUILD)/obj/unit/%.o
	@mkdir -p $(@D)
	@objcopy --redefine-sym main=main_$(subst -,_,$*) $< $@

$(BUILD)/unit-names: said = $(UNIT_NAMES)

$(UNIT)/all: tests/unit/all.c $(UNIT_OBJ) $(BUILD)/libtest.a $(BUILD)/libblktop.a $(BUILD)/unit-names $(READY)
	$(call say,LD)$(CC) $(ALL_CFLAGS) -DUNIT_TESTS='$(foreach n,$(subst -,_,$(UNIT_NAMES)),TEST($n))' $(ALL_LDFLAGS) \
		-o $@ $< $(UNIT_OBJ) $(BUILD)/libtest.a $(BUILD)/libblktop.a $(LIBS)

$(UNIT_NAMES:%=$(UNIT)/test-%): $(UNIT)/all
	@ln -f $< $@

$(OWN_PROGRAM:%=$(UNIT)/test-%): $(UNIT)/%: $(BUILD)/tests/%
	@mkdir -p $(@D)
	@ln -f $< $@

# Of the others, scripts run these: in a terminal, and to see what they test.
unit: $(UNIT_TESTS) $(if $(SANITIZE),,$(BUILD)/tests/test-loop $(UNIT_LONG:%=$(BUILD)/tests/test-%))
