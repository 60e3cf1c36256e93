#!/bin/bash
# Every key of the program's own key table, pressed on a real terminal where the table says
# it works: the screen that it promises must come. A key without a promise here fails.
# With arguments only those commands: every-key.sh zoom-in up
# shellcheck disable=SC2154,SC2317 # lib.sh sets work; functions are called through until_true
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ] || [ ! -x "$BUILD/tests/test-loop" ]; then
	echo "1..0 # SKIP $BLKTOP or $BUILD/tests/test-loop is not built"
	exit 0
fi
story="$(realpath "$BUILD")/tests/test-loop --screen coach"

# CONTEXTS | COMMAND, or COMMAND:KEY | keys before it | what it promises:
#   TEXT     appears            -TEXT    goes           row:TEXT   is on the selected row
#   at:N     cursor's column    y:N      cursor's row   off:TEXT   is no more on that row
#   same     nothing changes    changed  something does left:CODE  the program has ended
#   mouse:N  asked for or not   stopped  and fg comes back         redrawn
promises=$(cat <<'PROMISES'
overview | view-1 | | Overview is shown already
table | view-1 | | REQS REQUESTS
waterfall | view-1 | | › Overview: all, not only 7f8
overview,table | view-2 | | Traces ›
overview | view-3 | | Phases: thumbnail
table | view-3 | | Phases ›
overview | view-4 | | Processes ›
table | view-4 | | Processes is shown already
overview,table | view-5 | | Syscalls ›
overview,table | view-6 | | Files ›
overview,table | view-7 | | Spans ›
overview,table | view-8 | | Services ›
overview,table | view-9 | | Events ›
waterfall | view-2 | | › Traces
waterfall | view-3 | | › Phases
waterfall | view-4 | | › Processes
waterfall | view-5 | | Syscalls inside of lock
waterfall | view-6 | | › Files
waterfall | view-7 | | › Spans
waterfall | view-8 | | › Services
waterfall | view-9 | | › Events
overview,table,waterfall | view-list | | Views: Enter opens one
overview,table,waterfall,heatmap,timeline,flame | more-keys | | 0:whole
overview,table,waterfall | explain | | Explain:
heatmap,timeline,flame | explain | | Explain:
overview,waterfall | view-log | | lines, 06:08
table | view-log | | Processes › log of 246
overview,table,waterfall,heatmap,flame | view-timeline | | Timeline of threads
timeline | heatmap | | Timeline has no durations
timeline | distribution | | Timeline has no durations
timeline | view-timeline | | Timeline is shown already
timeline | view-1 | | REQUESTS
timeline | view-2 | | › Traces
timeline | view-3 | | › Phases
timeline | view-4 | | › Processes
timeline | view-5 | | › Syscalls
timeline | view-6 | | › Files
timeline | view-7 | | › Spans
timeline | view-8 | | › Services
timeline | view-9 | | › Events
timeline | view-list | | Views: Enter opens one
timeline | view-log | | lines, 06:08
timeline | view-next | | Flame of
timeline | view-prev | | Distribution
timeline | drill | | lines, 06:08
timeline | back | | REQUESTS
timeline | compare | | select a trace or a span first
timeline | zoom-in | | a cell is 10.0ms
timeline | zoom-out | | a cell is 50.0ms
timeline | cursor-left | | changed
timeline | cursor-right | | changed
timeline | pan-left | | changed
timeline | pan-right | | changed
timeline | export | | cannot export: select a trace
timeline | export-as | | Export as
timeline | copy | | copied
timeline | save-trace | | save as trace ([statedump] DIR): blktop-trace-
timeline | save | | save as .txt
timeline | next | < < | 06:08:38 PAUSED
timeline | previous | > | 06:08:38 PAUSED
timeline | time-back | | 06:08:37 PAUSED
timeline | time-forward | | 06:08:39 PAUSED
timeline | time-back-10 | | 06:08:35 PAUSED
timeline | time-forward-10 | | 06:08:40 PAUSED
timeline | goto | | Enter:apply
timeline | pause | | playing one step a second
timeline | follow | | AT THE END
timeline | range-a | | the range begins at 06:08:38.
timeline | range-b | | the range ends at 06:08:38.
timeline | range-all | | the range is the whole trace
timeline | range-clear | A | no range: one step is shown
timeline | error-next | | no marked row below
timeline | error-previous | | no marked row above
timeline | up | j | row:CPU0
timeline | down | | row:CPU1
timeline | page-up | j j | row:CPU0
timeline | page-down | | off:CPU0
timeline | top | j | row:CPU0
timeline | bottom | | row:softirq NET_RX
timeline | search | | Enter:apply
timeline | filter | | filter:
timeline | by | | Timeline of CPUs
timeline | tag | | row:CPU1
timeline | untag | Space | 1 row untagged
timeline | only-tagged | Space | -CPU1
timeline | clear | \ thumb Enter | -filter thumb
timeline | facts | | Facts:
timeline | coach | | -z zoom
timeline | log | | Messages
timeline | mouse | | mouse:0
timeline | snapshot | | no snapshots here
timeline | align-hosts | | no clocks to move here
timeline | suggested-spans | | no rules are suggested here
timeline | write | | keeps the settings
timeline | redraw | | redrawn
timeline | suspend | | stopped
timeline | quit | | left:0
timeline | quit:Ctrl-C | | left:130
timeline | help | | Help:
flame | view-flame | | Flame is shown already
flame | heatmap,distribution | | Flame has no durations
flame | view-1 | | REQS REQUESTS
flame | view-2 | | Traces
flame | view-3 | | Phases
flame | view-4 | | Processes
flame | view-5 | | Syscalls
flame | view-6 | | Files
flame | view-7 | | Spans
flame | view-8 | | Services
flame | view-9 | | Events
flame | view-list | | Views: Enter opens one
flame | view-log | | lines, 06:08
flame | view-next,view-prev | | -Flame of
flame | drill | Down | zoomed to thumbnail
flame | back | | REQS REQUESTS
flame | cursor-left | Down Down Right | changed
flame | cursor-right | Down Down | changed
flame | by | | Flame of all threads
flame | copy | | copied
flame | save-trace | | save as trace ([statedump] DIR): blktop-trace-
flame | save | | save as .txt
flame | next | < < | 06:08:38 PAUSED
flame | previous | > | 06:08:38 PAUSED
flame | time-back | | 06:08:37 PAUSED
flame | time-forward | | 06:08:39 PAUSED
flame | time-back-10 | | 06:08:35 PAUSED
flame | time-forward-10 | | 06:08:40 PAUSED
flame | goto | | Enter:apply
flame | pause | | playing one step a second
flame | follow | | AT THE END
flame | range-a,range-b | | 06:08:38-06:08:39 PAUSED
flame | range-all | | the range is the whole trace
flame | range-clear | A | no range: one step is shown
flame | up | Down | row:all requests
flame | down | | row:thumbnail@thumbd
flame | page-up,top | Down | row:all requests
flame | page-down,bottom | | off:all requests
flame | untag | | no row is tagged
flame | facts | | Facts:
flame | coach | | -x hide
flame | log | | Messages
flame | mouse | | mouse:0
flame | snapshot | | no snapshots here
flame | align-hosts | | no clocks to move here
flame | suggested-spans | | no rules are suggested here
flame | write | | keeps the settings
flame | redraw | | redrawn
flame | suspend | | stopped
flame | quit | | left:0
flame | quit:Ctrl-C | | left:130
flame | help | | Help:
overview | view-next | | Traces ›
table | view-next | | Syscalls ›
waterfall | view-next | | › Traces
overview | go-back | | no place before
table,waterfall,heatmap,timeline,flame | go-back | | back to Overview
overview,table,waterfall,heatmap,timeline,flame | go-forth | | no place after
overview,table,waterfall,heatmap,timeline,flame | bookmark,bookmarks | | no bookmarks here
overview | view-prev | | -REQS REQUESTS
table | view-prev | | Phases ›
waterfall | view-prev | | -began 0
overview | drill | | began 0
table | drill | | Processes › thumbd
waterfall | drill | | -began 0
popup | drill | | -Help:
popup | explain | | Explain:
chooser | drill | | -Columns of
overview,table | back | | this is the top
overview,table | back:q | | left:0
waterfall | back | | REQS REQUESTS
popup | back | | -Help:
chooser | back | | -Columns of
overview,table,waterfall | heatmap | | a column is 1s
overview,table,waterfall,heatmap | distribution | | SHARE%
overview,table,waterfall,heatmap,timeline | view-flame | | Flame of
heatmap | cursor-left | | cell 06:08:37
heatmap | cursor-right | | cell 06:08:39
heatmap | select | | a rectangle begins here
heatmap | by | | letters and hues are the host
heatmap | drill | | Traces: 2 rows
heatmap | back | | REQS REQUESTS
heatmap | view-1,view-2,view-3,view-4,view-5,view-6,view-7,view-8,view-9 | | -a column is
heatmap | view-list | | Views: Enter opens one
heatmap | view-log | | lines, 06:08
heatmap | view-next,view-prev | | -a column is
heatmap | copy | | copied
heatmap | save-trace | | save as trace ([statedump] DIR): blktop-trace-
heatmap | save | | save as .txt
heatmap | next | Left Left | cell 06:08:38
heatmap | previous | Right | cell 06:08:38
heatmap | time-back | | cell 06:08:37
heatmap | time-forward | | cell 06:08:39
heatmap | time-back-10 | | cell 06:08:35
heatmap | time-forward-10 | | cell 06:08:40
heatmap | pause | | playing one step a second
heatmap | follow | | AT THE END
heatmap | range-a,range-b | | request.latency of thumbnail: 5 requests
heatmap | range-all | A | request.latency of thumbnail: 39 requests
heatmap | range-clear | A | request.latency of thumbnail: 39 requests
heatmap | up | Down | 83.9ms-101ms
heatmap | down | | 67.1ms-83.9ms
heatmap | page-up | NPage | 83.9ms-101ms
heatmap | page-down | | 41.9ms-50.3ms
heatmap | top | G | 83.9ms-101ms
heatmap | bottom | | 16.8ms-21.0ms
heatmap | untag | Space | -rectangle 06
heatmap | facts | | Facts:
heatmap | coach | | -Enter list the cell
heatmap | log | | Messages
heatmap | mouse | | mouse:0
heatmap | snapshot | | no snapshots here
heatmap | align-hosts | | no clocks to move here
heatmap | suggested-spans | | no rules are suggested here
heatmap | write | | keeps the settings
heatmap | redraw | | redrawn
heatmap | suspend | | stopped
heatmap | quit | | left:0
heatmap | quit:Ctrl-C | | left:130
heatmap | help | | Help:
waterfall | critical-path | | lock of thumbd
waterfall | waker | | 1e9873c2aa104f01
overview | waker | | no wakers: select
timeline | waker | | Wakers: tid 255
table | waker | | Wakers: pid
waterfall | longest | g | row:lock
overview,waterfall | compare | | against the usual
overview,table,waterfall,heatmap,timeline,flame | changed | | against the quiet time
table | compare | | select a trace or a span first
waterfall | states | | and thread states below them
waterfall | cursor-left,cursor-right | | cursor +
waterfall | pan-left | z z ] | changed
waterfall | pan-right | g z z | changed
waterfall | zoom-in | | zoom 2x
waterfall | zoom-out | z | zoom 1x
overview,waterfall | export | | exports
table | export | | cannot export: select a trace
overview,table,waterfall | export-as | | Export as
overview,table,waterfall | copy | | copied
overview,table,waterfall | save-trace | | save as trace ([statedump] DIR): blktop-trace-
overview,table,waterfall,heatmap,timeline,flame | screenshot | | save the screen as (.svg): blktop-
overview,table,waterfall,heatmap,timeline,flame | theme | | theme light: F8 shows the next
overview,table,waterfall | save | | save as .txt
overview,table | next | Left Left | 06:08:38 PAUSED
overview,table | previous | Right | 06:08:38 PAUSED
waterfall | next | | no second with another cause stands out
waterfall | previous | | no second with another cause stands out
overview,table | time-back | | 06:08:37 PAUSED
overview,table | time-forward | | 06:08:39 PAUSED
overview,table | time-back-10 | | 06:08:35 PAUSED
overview,table | time-forward-10 | | 06:08:40 PAUSED
waterfall | time-back | | at 06:08:37; the screen still shows this trace
waterfall | time-forward | | at 06:08:39; the screen still shows this trace
waterfall | time-back-10 | | at 06:08:35; the screen still shows this trace
waterfall | time-forward-10 | | at 06:08:40; the screen still shows this trace
overview,table,waterfall | goto | | Enter:apply
overview | graph | | graph: CPU in use
overview,table,waterfall | pause | | playing one step a second
overview,table,waterfall | follow | | AT THE END
overview,table | step-finer | Z | step 1s
overview,table | step-coarser | | step 10s
overview,table | range-a | | 06:08:38-06:08:39 PAUSED
overview,table | range-b | | 06:08:38-06:08:39 PAUSED
waterfall | range-a | | the range begins here
waterfall | range-b | | the range ends
overview,table,waterfall | range-all | | the range is the whole trace
overview,table,waterfall | range-clear | A | no range: one step is shown
overview | error-next | | row:96.3ms
overview | error-previous | Down | row:97.3ms
table,waterfall | error-next | | no marked row below
table,waterfall | error-previous | | no marked row above
overview | up | Down | row:97.3ms
table | up | j | row:246
waterfall | up | | row:▾ thumbnail
overview | down | | row:96.3ms
table | down | | row:253
waterfall | down | | row:open
overview | page-up | Down | row:97.3ms
table | page-up | j j | row:246
waterfall | page-up | G | off:store
overview | page-down | | row:68.4ms
table | page-down | | row:666
waterfall | page-down | | row:store
overview | top | | row:slow since
table | top | j | row:246
waterfall | top | | row:▾ thumbnail
overview,table | bottom | | row:ev
waterfall | bottom | | row:store
popup | up | j j | 2-22 of
popup | down | | 2-22 of
popup | page-up | NPage NPage | 21-41 of
popup | page-down | | 21-41 of
popup | top | G | 1-21 of
popup | bottom | | -1-21 of
chooser | up | j | row:[x] PID
chooser | down | | row:NAME
chooser | page-up | NPage | row:[x] PID
chooser | page-down | | off:[x] PID
chooser | top | j j | row:[x] PID
chooser | bottom | | off:[x] PID
overview,table,waterfall | search | | Enter:apply
overview,table | filter | | filter:
overview,table | sort-left | | sorted by
overview | sort-right | | sorted by REQS
table | pan-left | | from their beginning
table | pan-right | | 246 …mbd
table | sort-right | | sorted by RUNQ%
overview | invert | > | lowest first
table | invert | | lowest first
overview | by | | Overview has no rows by thread
table | by | | by thread
overview | tree | | no rows with parents
table | tree | | 246   thumbd
overview,table | tag | | 1 tagged
waterfall | tag | g | row:lock
overview,table | untag | Space | -1 tagged
waterfall | untag | Space | 1 row untagged
overview | only-tagged | Space | -96.3ms
table | only-tagged | Space | -stored
overview,table | hide | | kernel threads are hidden
overview,table | columns | | Columns of
overview,table | sort-menu | | Enter chooses
overview | clear | \ thumb Enter | -filter: thumb
table | clear | \ thumb Enter | filter none
overview,table,waterfall | facts | | Facts:
table | expand,expand-all | | all rows are shown: - folds those
table | collapse | | rows that are idle are one line
waterfall | expand | g - | *lock
waterfall | collapse | g | -*lock
waterfall | expand-all | | ▸ send
overview | coach | | -n next cause
table | coach | | -F7 what this means
waterfall | coach | | -C compare with the usual
overview,table,waterfall | log | | Messages
overview,table,waterfall | mouse | | mouse:0
overview,table,waterfall | snapshot | | no snapshots here
overview,table,waterfall | align-hosts | | no clocks to move here
overview,table,waterfall | suggested-spans | | no rules are suggested here
overview,table,waterfall | write | | keeps the settings
overview,table,waterfall,popup,chooser | redraw | | redrawn
overview,table,waterfall,popup,chooser | suspend | | stopped
overview,table,waterfall,popup,chooser | quit | | left:0
overview,table,waterfall,popup,chooser | quit:Ctrl-C | | left:130
overview,table,waterfall | help | | Help:
chooser | toggle | | [ ] PID
chooser | shift-up | j | y:2
chooser | shift-down | | y:3
chooser | reset | Space | [x] PID
prompt | accept,cancel | | -Enter:apply
prompt | cancel:Ctrl-C | | left:130
prompt | char-left | | at:2
prompt | char-right | Left | at:3
prompt | line-begin | | at:1
prompt | line-end | Home | at:3
prompt | erase | | at:2
prompt | erase-right | Home | -/ab
prompt | erase-word,erase-line | | -/ab
prompt | history | Enter / | /ab
prompt | history-newer | Enter / x Up | /x
prompt | complete | Enter 4 \ com | comm
PROMISES
)

# promise CONTEXT COMMAND KEY: its line, "KEYS BEFORE|WHAT"; a line of the key alone goes first
promise() {
	local contexts commands before what found=
	while IFS='|' read -r contexts commands before what; do
		contexts=,${contexts// /}, commands=${commands// /}
		[[ $contexts == *,$1,* ]] || continue
		before=${before# } what=${what# }
		[ "$commands" = "$2:$3" ] && echo "${before% }|$what" && return
		[[ ,$commands, == *,$2,* ]] && found="${before% }|$what"
	done <<<"$promises"
	[ -n "$found" ] && echo "$found"
}

tmux_key() { # the key's name in tmux
	case $1 in
	Ctrl-*) echo "C-${1#Ctrl-}" | tr '[:upper:]' '[:lower:]' | sed 's/^c/C/' ;;
	Esc) echo Escape ;;
	PgUp) echo PPage ;;
	PgDn) echo NPage ;;
	Backspace) echo BSpace ;;
	Del) echo DC ;;
	Shift-Tab) echo BTab ;;
	Alt-*) echo "M-${1#Alt-}" ;;
	Shift-*) echo "S-${1#Shift-}" ;;
	*) echo "$1" ;;
	esac
}

picture() { t capture-pane -p -t now \; display -p -t now '#{cursor_x} #{cursor_y}'; }
selected_has() { # selected_has TEXT: on the cursor's row
	local lines
	mapfile -t lines < <(t display -p -t now '#{cursor_y}' \; capture-pane -p -t now)
	[[ ${lines[lines[0] + 1]-} == *"$1"* ]]
}
selected_lacks() { ! selected_has "$1"; }
hides() { ! shows "$1"; }
differs() { [ "$(picture)" != "$before_key" ]; }
column_is() { [ "$(state '#{cursor_x}')" = "$1" ]; }
row_is() { [ "$(state '#{cursor_y}')" = "$1" ]; }
mouse_is() { [ "$(state '#{mouse_any_flag}')" = "$1" ]; }

# settle: until the picture is the same twice
is_settled() {
	local before=$last
	last=$(picture)
	[ "$last" = "$before" ]
}
settle() {
	last=
	until_true is_settled
}

declare -A pressed=()
declare -A go=([overview]="" [table]="4" [waterfall]="j j Enter" [popup]="?" [chooser]="4 f" [prompt]="/ ab" [heatmap]="i" [timeline]="v" [flame]="V")
declare -A there=([overview]="REQS REQUESTS" [table]="Processes ›" [waterfall]="began 0" [popup]="Help:"
	[chooser]="Columns of" [prompt]="/ab" [heatmap]="a column is" [timeline]="Timeline of" [flame]="Flame of")

begin() { # begin CONTEXT KEYS: the story from its begin, there
	local key
	t respawn-pane -k -t now "cd '$work' && $story; echo \"LEFT rc=\$?\"; sleep 3600"
	wait_for "usual" || return 1
	for key in ${go[$1]}; do keys "$key"; done
	wait_for "${there[$1]}" || return 1
	set -f # "*" is a key
	for key in $2; do keys "$key"; done
	set +f
	settle
}

stops() { # stops CONTEXT KEY: by job control, and comes back
	shell
	run "$story" || return 1
	for key in ${go[$1]}; do keys "$key"; done
	wait_for "${there[$1]}" || return 1
	keys "$2"
	until_true plain && wait_for "READY>" || return 1
	keys "clear; fg" Enter
	wait_for "${there[$1]}"
}

redraws() { # what was spoilt is whole again
	t send-keys -R -t now
	until_true hides "${there[$1]}" || return 1
	keys "$2"
	wait_for "${there[$1]}"
}

# kept CONTEXT KEY WHAT: press it, and look. What must come may not have been there before.
kept() {
	local context=$1 key=$2 what=$3
	before_key=$(picture)
	case $what in
	redrawn) redraws "$context" "$key" && return ;;
	row:* | off:* | at:* | y:* | same | changed | left:* | mouse:* | -*) ;;
	*) hides "$what" || { echo "# '$what' was there before" && return 1; } ;;
	esac
	case $what in
	row:*) selected_lacks "${what#row:}" || return 1 ;;
	off:*) selected_has "${what#off:}" || return 1 ;;
	at:*) ! column_is "${what#at:}" || return 1 ;;
	y:*) ! row_is "${what#y:}" || return 1 ;;
	-*) shows "${what#-}" || return 1 ;;
	esac
	keys "$key"
	case $what in
	row:*) until_true selected_has "${what#row:}" ;;
	off:*) until_true selected_lacks "${what#off:}" ;;
	at:*) until_true column_is "${what#at:}" ;;
	y:*) until_true row_is "${what#y:}" ;;
	same) settle && ! differs ;;
	changed) until_true differs ;;
	left:*) wait_for "LEFT rc=${what#left:}" && until_true plain ;;
	mouse:*) until_true mouse_is "${what#mouse:}" ;;
	-*) until_true hides "${what#-}" ;;
	*) wait_for "$what" ;;
	esac
}

t new-session -d -s now -x 80 -y 24 "sleep 3600"
bindings=$("$BLKTOP" --print-bindings)
[ "$(wc -l <<<"$bindings")" -gt 200 ]
result $? "the program tells its keys"
while IFS=$'\t' read -r context key command <&3; do
	[ $# -eq 0 ] || [[ " $* " == *" $command "* ]] || continue
	if ! line=$(promise "$context" "$command" "$key") || [ -z "${there[$context]-}" ]; then
		result 1 "$context: $key ($command) has no promise in tests/tui/every-key.sh"
		continue
	fi
	what=${line#*|} terminal_key=$(tmux_key "$key")
	# each second command, once; with ALL=1, as in make check-long, all, with each of their keys and wherever they work
	[ -n "${ALL-}" ] || [ -z "${pressed["$command"]-}" ] || continue
	pressed["$command"]=yes
	[ -n "${ALL-}" ] || [ $# -gt 0 ] || [ $((${#pressed[@]} % 2)) = 1 ] || continue
	if [ "$what" = stopped ]; then
		stops "$context" "$terminal_key"
		result $? "$context: $key ($command): stopped"
		t kill-session -t now
		t new-session -d -s now -x 80 -y 24 "sleep 3600"
		continue
	fi
	begin "$context" "${line%%|*}" && kept "$context" "$terminal_key" "$what"
	result $? "$context: $key ($command): $what"
done 3<<<"$bindings"

done_testing
