# Shared by the command line tests: TAP, and running blktop. Source it.
# shellcheck shell=bash
SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
BLKTOP=${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}
BLKTOP=$(realpath "$BLKTOP")
TRACES=$SRCDIR/tests/traces
export LC_ALL=C.UTF-8 TZ=UTC

work=$(mktemp -d "${TMPDIR:-/tmp}/blktop-cli.XXXXXX")
clean_work() {
	chmod -R u+rwX "$work" 2>/dev/null
	rm -rf "$work"
}
trap clean_work EXIT

n=0 failed=0

pass() {
	n=$((n + 1))
	echo "ok $n - $*"
}

fail() { # fail WHAT: with what was printed last
	n=$((n + 1)) failed=$((failed + 1))
	echo "not ok $n - $*"
	echo "# exit code ${code-}"
	head -n 20 "$work/err" 2>/dev/null | sed 's/^/# stderr: /'
	head -c 2000 "$work/out" 2>/dev/null | head -n 10 | sed 's/^/# stdout: /'
}

skip() { # skip WHAT, WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

ok() { # ok WHAT COMMAND...: does the command succeed?
	local what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what: $*"; fi
}

done_testing() {
	echo "1..$n"
	[ "$failed" -eq 0 ]
	exit
}

# run ARGUMENT...: blktop, with a time limit; $code, $work/out and $work/err tell.
run() {
	code=0
	timeout 120 "$BLKTOP" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
}

# refused CODE WORDS ARGUMENT...: exits with the code, says the words on stderr in one
# "blktop: " message, prints nothing on stdout.
refused() {
	local want=$1 words=$2
	shift 2
	run "$@"
	if [ "$code" -eq "$want" ] && grep -qF -- "$words" "$work/err" &&
		grep -q '^blktop: ' "$work/err" && [ ! -s "$work/out" ]; then
		pass "$* : exit $want, '$words'"
	else
		fail "$* : wanted exit $want, '$words', no output"
	fi
}

# succeeds CODE WHAT ARGUMENT...
succeeds() {
	local want=$1 what=$2
	shift 2
	run "$@"
	if [ "$code" -eq "$want" ] && [ -s "$work/out" ]; then
		pass "$what"
	else
		fail "$what: $* : wanted exit $want and output"
	fi
}

# json EXPRESSION: a Python expression over `lines`, the JSON objects printed, holds.
json() {
	python3 - "$work/out" "$1" <<-'PY'
		import json, sys
		lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}
