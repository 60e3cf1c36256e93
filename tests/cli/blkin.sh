#!/bin/bash
# libblkin by itself: ids, forks, sampling, without a tracer, its symbols, installed, C++.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
bin=$(realpath "${BUILD:-$SRCDIR/build}")/blkin

[ -e "$bin/libblkin.so.0" ] || {
	echo '1..0 # SKIP libblkin is not built: lttng-ust 2.13 is not there'
	exit 0
}
export LTTNG_UST_REGISTER_TIMEOUT=0 LTTNG_HOME=$work

quiet() { "$@" >"$work/out" 2>"$work/err"; }
ok "its own tests" quiet "$bin/test-blkin"
ok "without a tracer, too" quiet env BLKIN_PROVIDER=none "$bin/test-blkin"
ok "and where it can't be loaded" quiet env BLKIN_PROVIDER=/nowhere/x.so "$bin/test-blkin"
ok "C++" quiet "$bin/test-ztracer"

says() { # says TEXT COMMAND...: its first line
	local want=$1
	shift
	quiet "$@"
	[ "$(head -n 1 "$work/out")" = "$want" ]
}
ok "blkin_init() finds the tracer" says 0 "$bin/test-blkin" init
ok "blkin_init() says where there is none" says -2 env BLKIN_PROVIDER=none "$bin/test-blkin" init

ok "all root spans" says 5000 "$bin/test-blkin" rate 5
ok "one of five" says 1000 env BLKIN_RATE=5 "$bin/test-blkin" rate 5
ok "one of five, as BlkKin says it" says 1000 env RATE=5 "$bin/test-blkin" rate 5
ok "BLKIN_RATE first" says 5000 env RATE=5 BLKIN_RATE=1 "$bin/test-blkin" rate 5
for rate in x 0 -5 5x '' 99999999999; do
	ok "'$rate' is no rate: all" says 5000 env "BLKIN_RATE=$rate" "$bin/test-blkin" rate 5
done

# Without the library it is only the C library's symbols that it needs.
symbols() { nm -D --defined-only "$1" | awk '$2 ~ /[TDRB]/ { sub(/@.*/, "", $3); print $3 }' | sort; }
declared() { grep -o '\bblkin_[a-z_]*(' "$SRCDIR/src/blkin/blkin.h" | tr -d '(' | sort -u; }
symbols "$bin/libblkin.so.0" >"$work/symbols"
declared | grep -vx 'blkin_is_sampled' >"$work/declared"
ok "exports what blkin.h declares, and nothing else" diff "$work/symbols" "$work/declared"
symbols "$bin/libblkin-lttng.so.0" >"$work/symbols"
ok "the tracer's part exports its table alone" [ "$(cat "$work/symbols")" = blkin_provider_0 ]
needed() { readelf -d "$1" | grep NEEDED | grep -o '\[.*\]'; }
ok "needs no tracer to be there" [ -z "$(needed "$bin/libblkin.so.0" | grep -v 'libc.so\|libdl\|libpthread\|ld-linux')" ]
ok "has a soname of its own" grep -q 'SONAME.*\[libblkin.so.0\]' <(readelf -d "$bin/libblkin.so.0")

# Installed, found by pkg-config, used as the README says.
make -s -C "$SRCDIR" BUILD="$(realpath "${BUILD:-$SRCDIR/build}")" PREFIX=/opt/b DESTDIR="$work/root" install-blkin \
	>"$work/out" 2>"$work/err"
lib=$work/root/opt/b/lib
ok "installs" [ -e "$lib/libblkin.so.0" ] && [ -e "$lib/libblkin-lttng.so.0" ]
flags() {
	PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --define-variable=prefix="$work/root/opt/b" \
		--define-variable=libdir="$lib" "$@" blkin
}
ok "pkg-config" [ -n "$(flags --cflags --libs)" ]
# shellcheck disable=SC2046 # several flags
ok "the example compiles" ${CC:-cc} -Wall -Wextra -Werror -o "$work/example" \
	"$SRCDIR/src/blkin/example.c" $(flags --cflags --libs)
ok "and runs" env LD_LIBRARY_PATH="$lib" "$work/example"
cp "$lib/libblkin.so.0" "$work/"
ok "also where its other half is missing" env LD_LIBRARY_PATH="$work" "$work/example"
printf '#include <blkin.h>\n#include <ztracer.hpp>\nint f(void) { return blkin_init(); }\n' >"$work/both.cpp"
for std in c++11 c++20; do
	# shellcheck disable=SC2046
	ok "both headers as $std" ${CXX:-c++} "-std=$std" -Wall -Wextra -pedantic -Werror -c -o "$work/both.o" \
		"$work/both.cpp" $(flags --cflags)
done
printf '#include <blkin.h>\nint f(void) { return blkin_init(); }\n' >"$work/one.c"
# shellcheck disable=SC2046
ok "blkin.h as C11" ${CC:-cc} -std=c11 -Wall -Wextra -pedantic -Werror -c -o "$work/one.o" "$work/one.c" $(flags --cflags)

done_testing
