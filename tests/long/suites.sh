#!/bin/bash
# README's two commands, as they are written there, in fresh root file systems of the Debian suites that it names, with
# git and make only. Each suite downloads some hundred MB and takes as long as `make check`.
#
#   SUITES (bookworm trixie sid)
#   COMMANDS (2)    how many of the commands: 1 is only the first one
# The output is in BUILD/suites.
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
maker=$SRCDIR/../shared/lab/suite-root
logs=${BUILD:-$SRCDIR/build}/suites
n=0 failed=0 root=''

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}
[ "$(id -u)" = 0 ] || skip_all "needs root, for chroot"
[ -x "$maker" ] || skip_all "../shared/lab/suite-root is not beside this source tree"
command -v debootstrap >/dev/null || skip_all "debootstrap is not installed"
git -c safe.directory='*' -C "$SRCDIR" rev-parse -q --verify HEAD >/dev/null || skip_all "this source tree is no git checkout"

# Not below /tmp, which may be in memory: a root takes some gigabytes.
work=$(mktemp -d /var/tmp/suites.XXXXXX)
remove_root() {
	[ -z "$root" ] || "$maker" --remove "$root"
	root=''
}
cleanup() {
	remove_root
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

readarray -t commands < <(awk '/two commands are enough:/ { on = 1; next }
	on && /^    / { sub(/ *#.*/, ""); sub(/^ */, ""); print; any = 1; next }
	on && any && /^[^ ]|^$/ { exit }' "$SRCDIR/README.md")
n=1
if [ "${#commands[@]}" = 2 ]; then
	echo "ok 1 - README.md has two commands: ${commands[0]}, ${commands[1]}"
else
	failed=1
	echo "not ok 1 - README.md has ${#commands[@]} commands instead of two"
fi

run() { # run SUITE COMMAND: in the root's clone, as a user types it
	local log=$logs/$1-$n.log
	n=$((n + 1))
	if chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 BLKTOP_TEST="${BLKTOP_TEST-}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		sh -c "cd /root/blktop && $2" </dev/null >"$log" 2>&1; then
		echo "ok $n - $1: $2 $(grep '^Files=' "$log" | tr '#' ' ')"
	else
		failed=$((failed + 1))
		echo "not ok $n - $1: $2 (all output: $log)"
		{ grep '^not ok\|^==== ' "$log" | head -n 20; tail -n 20 "$log"; } | cut -c 1-300 | sed 's/^/# /'
	fi
}

mkdir -p "$logs"
for suite in ${SUITES:-bookworm trixie sid}; do
	root=$work/$suite
	if ! "$maker" --bare "$suite" "$root" >"$work/out" 2>&1; then
		n=$((n + 1))
		echo "ok $n - $suite # SKIP no root file system of it: $(tail -n 1 "$work/out")"
	elif ! git -c safe.directory='*' clone -q "$SRCDIR" "$root/root/blktop" 2>"$work/out"; then
		n=$((n + 1)) failed=$((failed + 1))
		echo "not ok $n - $suite: git clone: $(tail -n 1 "$work/out")"
	else
		for command in "${commands[@]:0:${COMMANDS:-2}}"; do
			run "$suite" "$command"
		done
	fi
	remove_root
done
echo "1..$n"
exit $((failed > 0))
