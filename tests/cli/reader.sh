#!/bin/bash
# Readers, threads and slices: what is refused, what they say, and that they agree.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace

refused 2 "--jobs" -b -j 0 "$demo"
refused 2 "1 to 256" -b --jobs 257 "$demo"
refused 2 "--slices" -b --slices none "$demo"
refused 2 "'perf'" -b --reader perf "$demo"
refused 2 "recorded" -b --jobs 2 -r localhost

prints() { # prints WHAT ARGUMENT...: the same rows, exit code and messages as by babeltrace2
	local what=$1
	shift
	run -b --view processes --by thread --each --format csv "$@"
	if [ "$code" -eq "$want" ] && cmp -s "$work/out" "$work/want" && cmp -s "$work/err" "$work/want-err"; then
		pass "$what"
	else
		fail "$what: exit $code, wanted $want; $(diff "$work/want" "$work/out" | head -n 4 | tr '\n' ';')"
	fi
}

for trace in demo/trace lost/trace kernel-ust/trace; do
	run -b --view processes --by thread --each --format csv --reader babeltrace2 "$TRACES/$trace"
	want=$code
	mv "$work/out" "$work/want" && mv "$work/err" "$work/want-err"
	ok "$trace by babeltrace2" [ -s "$work/want" ]
	prints "$trace" "$TRACES/$trace"
	prints "$trace, native, one thread" --reader native -j 1 "$TRACES/$trace"
	prints "$trace, two threads, 8 slices" --reader native -j 2 --slices 8 "$TRACES/$trace"
	prints "$trace, one thread, 32 slices" -j 1 --slices 32 "$TRACES/$trace"
done

run -b --log "$work/log" "$demo"
ok "the log names the reader" grep -q 'read by native$' "$work/log"
run -b --reader babeltrace2 --log "$work/log" "$demo"
ok "at the level of notes nothing else" [ "$(grep -c ' reading: ' "$work/log")" -eq 0 ]
run -b --log "$work/log.debug" --log-level debug "$demo"
ok "at the level of debug how reading went" grep -q ' reading: done by native, [1-9][0-9]* events to @[0-9]*, final to the end' "$work/log.debug"
run -b --log "$work/log.error" --log-level error "$demo"
ok "at the level of errors not what goes well" [ -e "$work/log.error" -a ! -s "$work/log.error" ]
BLKTOP_DEBUG="$work/log.env" run -b "$demo"
ok "BLKTOP_DEBUG is the same" grep -q ' reading: done by native' "$work/log.env"
BLKTOP_DEBUG="" run -b "$demo"
ok "and nothing where it is empty" [ "$code" -eq 0 ]
refused 2 "--log-level takes" -b --log-level loud "$demo"
ok "and the other one" grep -q 'read by babeltrace2: as asked for' "$work/log"

# A trace that babeltrace2 alone can read.
if command -v babeltrace2 >/dev/null; then
	cp -r "$TRACES/kernel-small/trace" "$work/odd"
	metadata=$(find "$work/odd" -name metadata)
	{
		echo '/* CTF 1.8 */'
		babeltrace2 -o ctf-metadata "$(dirname "$metadata")"
		echo "env { odd = 'a'; };"
	} >"$work/metadata"
	cp "$work/metadata" "$metadata"
	chmod 711 "$work"		# run by root, babeltrace2's library reads as another user
	for reader in native auto; do
		refused 1 "a character constant" -b --reader $reader "$work/odd"
		ok "$reader says what may read it" grep -q -- '--reader babeltrace2 may read it; that library is not hardened' "$work/err"
	done
	succeeds 0 "babeltrace2 reads it where it is asked to" -b --reader babeltrace2 "$work/odd"
	cp -r "$TRACES/ust-fields" "$work/odd/other"
	succeeds 3 "the other traces of a directory are read" -b "$work/odd"
	ok "and this one is named" grep -q 'odd.*a character constant.*left out' "$work/err"
else
	skip "babeltrace2 reads it where it is asked to" "no babeltrace2 to show its metadata"
fi

# A part without its metadata, or with an empty one.
for damage in 'rm -f' 'truncate -s 0'; do
	rm -rf "$work/part"
	cp -r "$TRACES/kernel-ust/trace" "$work/part"
	$damage "$work/part/kernel/metadata"
	succeeds 3 "$damage metadata: the rest is read" -b --view events "$work/part"
	ok "$damage metadata: it is named" grep -q 'part/kernel.*left out' "$work/err"
	ok "$damage metadata: spans are there" grep -q 'zipkin:timestamp' "$work/out"
done

done_testing
