#!/bin/bash
# Every fuzz target: the corpus once with the sanitizers, then some mutated inputs (RUNS_EACH, 100). With GUIDED=1, as in
# make check-long, instead of these: fuzzing that follows coverage, where clang is there (SECONDS_EACH, 3).
SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
cd "$SRCDIR" || exit
# As the Makefile calls it, or everything would be compiled again.
build=$(realpath --relative-to=. "${BUILD:-build}")
seconds=${SECONDS_EACH:-3} runs=${RUNS_EACH:-100}
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS
work=$(mktemp -d "${TMPDIR:-/tmp}/blktop-fuzz.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0 failed=0

ok() { # ok WHAT COMMAND...
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		tail -n 30 "$work/out" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# Can the compiler link a fuzzer?
can_fuzz() {
	[ -n "${GUIDED:-}" ] || return
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' >"$work/t.c"
	clang -fsanitize=fuzzer,address,undefined -o "$work/t" "$work/t.c" 2>/dev/null
}

seeds() { # into $work/corpus, of the recordings
	make -s BUILD="$build" "$build/tools/make-seed" && BUILD="$build" tests/fuzz/make-corpus "$work/corpus"
}

replay() { # replay TARGET: corpus and what was found before
	if [ -d "tests/fuzz/seeds/$1" ]; then cp "tests/fuzz/seeds/$1"/* "$work/corpus/$1"; fi
	"$build-asan/fuzz/fuzz-$1" "$work/corpus/$1"
}

loop() { # loop TARGET: what broke it is kept
	"$build-asan/fuzz/fuzz-$1" -runs="$runs" -seed=1 "$work/corpus/$1" ||
		{ mkdir -p "$build-asan/findings" && mv crash-* "$build-asan/findings" && return 1; }
}

fuzz() { # fuzz TARGET
	make -s BUILD="$build" "$build-fuzz/fuzz-$1" && mkdir -p "$work/new" "$build-fuzz/findings" &&
		"$build-fuzz/fuzz-$1" -seed=1 -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
			-max_len=65536 -artifact_prefix="$build-fuzz/findings/$1-" "$work/new" "$work/corpus/$1"
}

programs() { # with the sanitizers; make check has built them
	make -s BUILD="$build-asan" SANITIZE=address,undefined fuzz-replays
}

programs
ok "corpus from the recordings" seeds
for source in tests/fuzz/fuzz-*.c; do
	target=$(basename "$source" .c)
	target=${target#fuzz-}
	mkdir -p "$work/corpus/$target"
	: >"$work/corpus/$target/empty"
	ok "$target: corpus" replay "$target"
	if can_fuzz; then
		ok "$target: $seconds s of fuzzing" fuzz "$target"
	else
		ok "$target: $runs mutated inputs" loop "$target"
	fi
done
echo "1..$n"
[ "$failed" -eq 0 ]
