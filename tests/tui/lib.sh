# Shared by the tests of the screen: TAP, and a shell in a terminal of tmux. Source it.
# shellcheck shell=bash
# shellcheck disable=SC2317 # functions are called through until_true
BUILD=${BUILD:-build}
BLKTOP=${BLKTOP:-$BUILD/blktop}
if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP tmux is not installed"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/tui.XXXXXX")
n=0 failed=0 most_seconds=60

. "$(dirname "${BASH_SOURCE[0]}")/../lib/poll.sh"
. "$(dirname "${BASH_SOURCE[0]}")/terminal.sh"
trap 't kill-server 2>/dev/null; rm -rf "$work"' EXIT

result() { # result STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		t capture-pane -t now -p 2>/dev/null | sed 's/^/# /'
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

done_testing() {
	echo "1..$n"
	exit "$failed"
}
