# Measuring: make bench, bench-big, bench-check (doc/testing.md, "Speed").

# Tests make long traces with some of them; the others are built so that they stay correct.
helpers: $(BENCHES)

bench_py = python3 tests/bench/bench.py --blktop $(BUILD)/blktop --build $(BUILD)

# What a trace of 10 GB takes: minutes, 13 GB of disk.
bench-big: all $(BENCHES)
	$(bench_py) --sizes 10G

# Instructions an event against what is recorded; bench-record: this is what it is now.
bench-check bench-record: bench-%: $(BUILD)/bench/bench-native
	$(bench_py) --$*

# CTF 2 against CTF 1.8; records the pair of traces first, where that is possible.
bench-pair: $(BUILD)/bench/bench-native
	$(bench_py) --formats

.PHONY: bench-big bench-check bench-record bench-pair

# Live sessions of a relay daemon of its own: following, draining, lags, memory. Three minutes.
bench-live: $(BUILD)/blktop $(BUILD)/bench/bench-live $(BUILD)/bench/amplify
	python3 tests/bench/bench_live.py --blktop $(BUILD)/blktop --build $(BUILD)

# The kernel's own ring buffer (root): the rows of make bench, and what recording costs in the traced code. A minute.
bench-tracefs: $(BUILD)/blktop $(BUILD)/bench/bench-ring $(BUILD)/bench/bench-capture
	$(bench_py) --tracefs
	python3 tests/bench/tracefs.py --build $(BUILD)

.PHONY: bench-live bench-tracefs
