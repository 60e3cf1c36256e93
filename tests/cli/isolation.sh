#!/bin/bash
# What the program may do once it reads what others wrote: that the filters are there in every thread,
# that nothing else changes, and what is said where they are off.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/ctf2/demo/trace

run --version
can_calls=$(grep -c '^isolation: .*calls are filtered' "$work/out")
can_files=$(grep -c '^isolation: .*files are filtered' "$work/out")
ok "--version says how it is isolated" grep -q '^isolation: ' "$work/out"
cp "$work/out" "$work/version"
run -v
ok "-v is --version" cmp -s "$work/out" "$work/version"
run --doctor "$demo"
ok "--doctor says how it is isolated" grep -q "^isolation: $(sed -n 's/^isolation: //p' "$work/version" | sed 's/[()]/./g')" "$work/out"
run --doctor --format json "$demo"
ok "--doctor's object says it" python3 -c 'import json, sys; sys.exit(not json.load(open(sys.argv[1]))["isolation"])' "$work/out"
run --doctor --no-isolation "$demo"
ok "--doctor says that it is off" grep -qF 'isolation: off (--no-isolation)' "$work/out"

# The same bytes with and without.
same() { # same ARGUMENT...
	run "$@"
	mv "$work/out" "$work/with"
	run "$@" --no-isolation
	ok "the same: $*" test -s "$work/with"
	ok "the same, byte by byte: $*" cmp -s "$work/out" "$work/with"
}
same -b "$demo"
same -b --view spans --format json -j 2 --slices 5 "$demo"
same -b --view syscalls --reader babeltrace2 "$TRACES/kernel-small/trace"
same log --format json --from +1s --to +1100ms "$demo"
same report --worst 2 "$demo"

# What is written goes where options say, wherever that is.
mkdir "$work/far" "$work/far/away"
run --export-slowest 1 -o "$work/far/away/x.json" "$demo"
ok "an export to any directory" [ -s "$work/far/away/x.json" ]
run save --from +1s --to +2s -o "$work/far/saved" "$demo"
ok "a saved range in any directory" [ "$(find "$work/far/saved" -name metadata | wc -l)" = 2 ]
run report -o "$work/far/report.md" --log "$work/far/log" "$demo"
ok "a report and the log in any directory" [ -s "$work/far/report.md" -a -s "$work/far/log" ]
ln -s "$demo" "$work/link"
succeeds 0 "a trace through a link" -b "$work/link"
cp -r "$demo" "$work/copied"
(cd "$work/copied/kernel" && run -b . && [ "$code" = 0 ])
ok "a trace in the directory itself" [ $? = 0 ]
run --export-slowest 1 -o "$work/z.json" "$demo"
succeeds 0 "spans of a file" -b --view spans "$work/z.json"

# A relay that says nothing: all threads are there, and are looked at.
python3 "$SRCDIR/tests/lib/fake-server.py" silent "$work/port" &
server=$!
until [ -s "$work/port" ]; do kill -0 $server || break; done
filters() { # filters PID: "Seccomp NoNewPrivs" of all its threads, once each
	cat /proc/"$1"/task/*/status 2>/dev/null | awk '/^Seccomp:|^NoNewPrivs:/ { print $1, $2 }' | sort -u | tr '\n' ' '
}
watched() { # watched ARGUMENT...: blktop that waits for the relay; $viewer, $connector
	"$BLKTOP" -b --timeout 60 -r "net://127.0.0.1:$(cat "$work/port")/host/a/b" "$@" >/dev/null 2>&1 </dev/null &
	viewer=$!
	for _ in $(seq 500); do
		[ "$(find /proc/$viewer/task -maxdepth 1 2>/dev/null | wc -l)" -gt 3 ] && break
		sleep 0.02
	done
	connector=$(pgrep -P $viewer -x blk-connector)
}
gone() { # gone PID: within some seconds
	for _ in $(seq 250); do
		[ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" || return 0
		sleep 0.02
	done
	return 1
}
watched
ok "a process connects for it" [ -n "$connector" ]
if [ "$can_calls" = 1 ]; then
	ok "all threads are filtered" [ "$(filters $viewer)" = "NoNewPrivs: 1 Seccomp: 2 " ]
else
	skip "all threads are filtered" "the kernel can't"
fi
ok "the process that connects has no terminal, no file" \
	[ -z "$(find "/proc/$connector/fd" -type l -printf '%l\n' | grep -v '^/dev/null$\|^socket:')" ]
kill -9 $viewer 2>/dev/null
wait $viewer 2>/dev/null
ok "it ends with the program, however that ends" gone "$connector"
watched --no-isolation
ok "--no-isolation: no filter, no other process" [ "$(filters $viewer)$connector" = "NoNewPrivs: 0 Seccomp: 0 " ]
kill $viewer
wait $viewer 2>/dev/null
kill $server
wait $server 2>/dev/null

[ "$can_files" = 1 ] || skip "files" "the kernel has no Landlock"
done_testing
