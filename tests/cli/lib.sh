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

# peak LIMIT ARGUMENT...: as run, but it must take no more MiB than that.
peak() {
	local limit=$1
	shift
	code=0
	timeout 120 python3 - "$limit" "$work" "$BLKTOP" "$@" <<-'EOF' || code=$?
		import os, subprocess, sys
		limit, work, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
		with open(f"{work}/out", "wb") as out, open(f"{work}/err", "wb") as err:
		    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
		    _, status, usage = os.wait4(process.pid, 0)
		took = usage.ru_maxrss // 1024
		if took > limit:
		    with open(f"{work}/err", "a") as err:
		        print(f"{took} MiB at most, where {limit} were to be enough", file=err)
		sys.exit(99 if took > limit else os.waitstatus_to_exitcode(status))
	EOF
	ok "$* takes no more than $limit MiB" [ "$code" -eq 0 ]
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
