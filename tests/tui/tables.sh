#!/bin/bash
# Tables on a real terminal: columns chosen, rows tagged, sorted, saved, copied; the tree;
# facts of a view; and that print takes the same columns.
# shellcheck disable=SC2317 # functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
demo=$PWD/tests/traces/demo
if [ ! -x "$BLKTOP" ] || [ ! -d "$demo" ]; then
	echo "1..0 # SKIP $BLKTOP or $demo is missing"
	exit 0
fi
blktop=$(realpath "$BLKTOP")

# start [ARGUMENT...]: the processes of the demo, read to its end
start() {
	local end=$((SECONDS + 120))
	shell "XDG_CONFIG_HOME='$work/config'" "XDG_STATE_HOME='$work/state'" TERM=xterm-256color
	keys "'$blktop' --view processes --config none $* '$demo'; echo rc=\$?" Enter
	until shows "PAUSED" && ! shows "loading"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}
header() { t capture-pane -p -t now | sed -n 5p; }
header_has() { header | grep -qF -- "$1"; }
header_lacks() { ! header_has "$1"; }
row_marked() { t capture-pane -p -t now | grep -c '^●'; }

start
wait_for "Processes: " && wait_for "sort CPU%"
result $? "opens the view that was asked for"
header_has "SYSCALLS"
result $? "with the columns it comes with"

# ---- columns ----
keys f
wait_for "Columns of Processes" && wait_for "[x] PID" && wait_for "Space:show/hide"
result $? "f lists the columns, with units and meaning"
keys g
until shows "▶[x] SYSCALLS"; do keys j; sleep 0.05; done
keys Space
wait_for "[ ] SYSCALLS"
result $? "Space hides one"
keys Enter
wait_for "the same in batch mode: -b --view processes --columns" && until_true header_lacks "SYSCALLS"
result $? "Enter shows the table without it, and says what prints the same"
keys f r Enter
until_true header_has "SYSCALLS"
result $? "r is what the view comes with"

# ---- order ----
keys o
wait_for "Sort Processes by"
keys g j Enter
wait_for "sorted by PID, lowest first"
result $? "o sorts by a column of the list"
keys u
wait_for "sorted by CPU%, highest first"
result $? "u clears that"

# ---- tags ----
keys g Space Space
wait_for "2 tagged" && [ "$(row_marked)" = 2 ]
result $? "Space tags rows, which are summed"
keys T
wait_for "Processes: 2 rows" || wait_for "only tagged ones"
result $? "T shows only them"
keys y
wait_for "copied" && wait_for "2 of 2 tagged rows"
result $? "y copies them, and says where a terminal may not take it"

# ---- saved ----
keys s
wait_for ": blktop-processes-"
keys C-u "rows.csv" Enter
wait_for "wrote " && [ "$(wc -l <"$work/rows.csv")" = 3 ] &&
	head -1 "$work/rows.csv" | tr -d '\r' | grep -q '^host,pid,.*,cpu_ratio'
result $? "s saves the tagged rows, as the suffix says"
cp "$work/rows.csv" "$work/rows.before"
keys U s C-u "rows.csv" Enter
wait_for "exists: Enter overwrites it" && cmp -s "$work/rows.csv" "$work/rows.before"
result $? "an old file stays until one says so"
keys Enter
wait_for "wrote " && [ "$(wc -l <"$work/rows.csv")" -gt 3 ]
result $? "and is written over then"
keys s C-u "all.json" Enter
until_true grep -qs '^{"blktop":' "$work/all.json"
result $? "JSON"
keys s C-u "no/such/place.txt" Enter
wait_for "No such file"
result $? "what can't be written is told, and the line stays"
keys Escape

# ---- tree and threads ----
keys t
wait_for ", a tree"
result $? "t shows a tree"
keys H
wait_for "rows by thread, a tree"
result $? "H shows threads"
keys t
wait_for "no tree"
result $? "and t ends it"

# ---- facts ----
keys F7
wait_for "Facts: Processes" && wait_for "Events it needs" && wait_for "in this trace"
result $? "F7 tells what the view is about and needs"
keys G
wait_for "blktop -b --view processes --from"
result $? "and what prints the same"
keys Escape
keys Q
given_back 0
result $? "gives the terminal back"

# ---- from place to place ----
pick() { # pick TITLE: the view of this title from the list
	keys F2
	wait_for "Views: Enter opens one" || return 1
	keys Home
	until shows "▶$1" || shows "▶  $1"; do keys Down; sleep 0.05; done
	keys Enter
}
rows_of() { t capture-pane -p -t now | sed -n "s/^$1: \([0-9]*\) rows* .*/\1/p"; }
start
wait_for "Processes: "
pick "I/O"
wait_for "I/O: " && all=$(rows_of "I\/O") && [ "$all" -gt 0 ]
result $? "I/O is of the whole machine at the top"
keys 4 g Enter
wait_for "threads" && pick "I/O" && wait_for "› I/O: pid " && some=$(rows_of "I\/O") &&
	[ "$some" -gt 0 ] && [ "$some" -lt "$all" ]
result $? "from the page of a process it is of this process, and the breadcrumb says so"
pick "CPUs" && wait_for "› CPUs: all, not only pid "
result $? "what cannot be of a process says that it is of all"
keys Escape Escape
wait_for "Processes: "
keys F4 'cpu_ratio > 0' Enter
wait_for "filter cpu_ratio > 0"
selected() { t capture-pane -p -t now | grep '^▶' | cut -c2-20; }
row=$(selected)
is_elsewhere() { [ -n "$(selected)" ] && [ "$(selected)" != "$row" ]; }
keys G
until_true is_elsewhere
row=$(selected)
keys 5
wait_for "Syscalls: " && wait_for "filter none"
result $? "a filter is of its view"
keys 4
is_back() { [ "$(selected)" = "$row" ]; }
wait_for "Processes: " && wait_for "filter cpu_ratio > 0" && until_true is_back
result $? "and is still there, as is the selected row"
keys Q
given_back 0

# ---- the same from the command line ----
start --columns blocked_ns,comm,pid --sort -pid --csv-safe
until_true header_has "BLOCK NAME" && wait_for "sort PID"
result $? "--columns and --sort hold for the screen, too"
keys s C-u "safe.csv" Enter
wait_for "wrote " && grep -qE '^[0-9]*,"[^"]+",[0-9]+' "$work/safe.csv"
result $? "--csv-safe: what s saves is quoted"
keys Q
given_back 0

done_testing
