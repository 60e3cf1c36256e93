#!/bin/bash
# Live sessions of other LTTngs: tests of tests/live with the daemons, programs and libraries of other Debian
# suites, in each trace format, with buffers per user and per process. blktop is this tree's.
#
#   SUITES (trixie sid)   Debian suites
#   LIVE_ROOT_<SUITE>     a root file system of it that is there already, and stays; else one is made, which
#                         takes a minute and downloads 200 MB
#   LIVE_TESTS            some of: exact session outage relay two-sessions stop files readers late corrected
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
maker=$SRCDIR/../shared/lab/suite-root
uid_tests=${LIVE_TESTS:-exact session outage relay two-sessions stop files readers late corrected}
pid_tests=${LIVE_TESTS:-exact session processes}
n=0 failed=0 made=''

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}
[ "$(id -u)" = 0 ] || skip_all "needs root, for chroot"
[ -x "$maker" ] || skip_all "../shared/lab/suite-root is not beside this source tree"
command -v debootstrap >/dev/null || skip_all "debootstrap is not installed"

# Not below /tmp, which may be in memory: a root takes a gigabyte.
work=$(mktemp -d /var/tmp/live-suites.XXXXXX)
cleanup() {
	local root
	for root in $made; do
		"$maker" --remove "$root"
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

find_root() { # find_root SUITE: in $root
	local given=LIVE_ROOT_$1
	root=${!given:-}
	[ -z "$root" ] || return 0
	root=$work/$1
	made="$made $root"
	"$maker" "$1" "$root" >"$work/$1.out" 2>&1
}
run() { # run TEST WHAT: in LAB_ROOT, as LAB_FORMAT and LAB_BUFFERS say
	n=$((n + 1))
	if timeout 600 "$SRCDIR/tests/live/$1.sh" </dev/null >"$work/out" 2>"$work/err" && grep -q '^1\.\.[1-9]' "$work/out"; then
		echo "ok $n - $2: $(grep -c '^ok' "$work/out") results of $1"
	elif grep -q '^1\.\.0' "$work/out"; then
		echo "ok $n - $2: $1 # SKIP $(sed -n 's/^1\.\.0 # SKIP //p' "$work/out")"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2: $1"
		{ grep -A 3 '^not ok' "$work/out"; tail -n 5 "$work/err"; } | head -n 30 | sed 's/^/# /'
	fi
}

for suite in ${SUITES:-trixie sid}; do
	if ! find_root "$suite"; then
		n=$((n + 1))
		echo "ok $n - $suite # SKIP no root file system of it: $(tail -n 1 "$work/$suite.out")"
		continue
	fi
	export LAB_ROOT=$root
	version=$(chroot "$root" lttng --version | sed 's/.*) \([0-9.]*\).*/\1/')
	formats=default
	! chroot "$root" lttng create --list-options | grep -q -- --trace-format || formats='ctf-1.8 ctf-2'
	for format in $formats; do
		export LAB_FORMAT=${format#default}
		for test in $uid_tests; do
			LAB_BUFFERS=uid run "$test" "LTTng $version, $format, buffers per user"
		done
		for test in $pid_tests; do
			LAB_BUFFERS=pid run "$test" "LTTng $version, $format, buffers per process"
		done
	done
done
echo "1..$n"
exit $((failed > 0))
