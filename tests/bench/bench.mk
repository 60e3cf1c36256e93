# Measuring: make bench, bench-big, bench-check (doc/testing.md, "Speed").

# A test makes long traces too.
tests: $(BUILD)/bench/amplify
