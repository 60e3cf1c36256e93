#!/bin/bash
# What blktop says before it makes a session of this machine: what it will not see, what stays, and what cannot be
# followed. Nothing is made; no LTTng daemon is needed.
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ]; then
	echo "1..0 # SKIP $BLKTOP is not built"
	exit 0
fi
BLKTOP=$(realpath "$BLKTOP")
export XDG_STATE_HOME=$work/state
mkdir "$work/folder"
echo text >"$work/text"

# ask ARGUMENT...: until it asks, or has ended
ask() {
	shell
	t resize-window -t now -x 90 -y 40
	keys "clear; XDG_STATE_HOME='$XDG_STATE_HOME' '$BLKTOP' --config none $*; echo rc=\$?" Enter
	until_true asks_or_ended
}
asks_or_ended() { shows "Enter begin" || shows "rc=0" || shows "rc=1"; }
refuses() { shows "$1" && shows "rc=1" && ! shows "Enter begin"; }

ask -- ./nosuch
refuses "cannot run './nosuch': No such file or directory"
result $? "a program that does not exist: said before it asks"
ask -- nosuch-in-path -x
refuses "cannot run 'nosuch-in-path': no directory of PATH has such a program"
result $? "nor in PATH"
ask -- ./folder
refuses "cannot run './folder': it is a directory"
result $? "a directory"
ask -- ./text
refuses "cannot run './text': it is not executable"
result $? "a file that is no program"
ask -y -- ./nosuch
refuses "cannot run './nosuch'"
result $? "-y: likewise"
shows "after -- comes a program"
result $? "and what to do"
ask --pid 999999999
refuses "there is no process 999999999"
result $? "a process that does not exist"

ask -- sh -c true
shows "Enter begin" && shows "stored    received packets stay in" && shows "--no-spool stores none"
result $? "it says which files stay"
modules=$([ -d /sys/module/lttng_tracer ] || grep -qs lttng-tracer.ko "/lib/modules/$(uname -r)"/modules.* && echo yes)
by_ring_buffer() { [ ! "$modules" ] && [ "$(id -u)" -eq 0 ] && grep -q 'tracefs$' /proc/filesystems; }
if ! by_ring_buffer; then
	skip "without LTTng's modules: the kernel's own ring buffer" "there are modules, or there is no tracefs, or no root"
else
	shows "by its own ring buffer (tracefs)" && shows "not known" && ! shows "not seen"
	result $? "without LTTng's modules: the kernel's own ring buffer, and what it does not know"
fi
keys Escape
wait_for "rc=0"
result $? "Escape leaves"
if [ "$modules" ]; then
	skip "without a kernel tracer: what will not be seen" "this kernel has LTTng's modules"
else
	ask --kernel lttng -- sh -c true
	shows "the kernel is not traced" && shows "not seen  which thread ran on a CPU" && ! shows "tracepoints"
	result $? "without a kernel tracer: what will not be seen, and why"
	keys q
fi
ask --no-spool -- sh -c true
shows "Enter begin" && ! shows "stored    "
result $? "--no-spool: no file stays"
keys q
ask --spool "$work/mine" --spool-size 32M -- sh -c true
shows "received packets stay in" && shows "at most 32.0M"
result $? "--spool: its directory and its size"
keys q
wait_for "rc=0"
result $? "q leaves"
[ ! -e "$work/mine" ] && [ -z "$(find "$work/state" -type f 2>/dev/null)" ]
result $? "nothing was made"

if ! by_ring_buffer; then
	skip "P without LTTng's modules" "there are modules, or there is no tracefs, or no root"
else
	keys "clear; XDG_STATE_HOME='$XDG_STATE_HOME' '$BLKTOP' --config none -y --no-spool --kernel tracefs -- sleep 300" Enter
	wait_for "1Over"
	keys P
	wait_for "S saves what is stored"
	result $? "P without LTTng's modules: the kernel's events are in no session, and what has them"
	keys q
fi
done_testing
