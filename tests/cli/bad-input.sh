#!/bin/bash
# Bad input: each says what failed, on what, why; exit 1; no crash, no hang.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
small=$TRACES/kernel-small/trace
stream() { find "$1" -name 'k0_0' -size +0 | head -1; }

copy() { # copy NAME: a fresh copy of the small trace without its index
	rm -rf "${work:?}/$1"
	cp -r "$small" "$work/$1"
	find "$work/$1" -name index -exec rm -rf {} +
}

# failed_on WORDS NAME: batch, export and (without a terminal) the screen all say so
failed_on() {
	refused 1 "$1" -b --view processes "$work/$2"
	refused 1 "$1" --export-slowest 1 "$work/$2"
	refused 1 "$1" "$work/$2"
}

failed_on nowhere nowhere
ok "and why" grep -qi 'no such' "$work/err"
mkdir "$work/empty"
failed_on empty empty
echo x >"$work/file"
failed_on file file
mkdir "$work/listless" && cp -r "$small" "$work/listless/trace" && chmod 000 "$work/listless"
if [ "$(id -u)" -eq 0 ]; then
	if command -v setpriv >/dev/null; then
		chmod 755 "$work"
		code=0
		setpriv --reuid=39999 --regid=39999 --clear-groups "$BLKTOP" -b "$work/listless" \
			>"$work/out" 2>"$work/err" </dev/null || code=$?
		if [ "$code" -ge 126 ]; then
			skip "no permission" "the program can't be run by another user"
		else
			ok "no permission: exit 1" [ "$code" -eq 1 ]
			ok "no permission: told" grep -qi 'permission denied' "$work/err"
		fi
	else
		skip "no permission" "root may do everything, and there is no setpriv"
	fi
else
	failed_on listless listless
fi
chmod 755 "$work/listless"

refused 1 nowhere -b "$small" "$work/nowhere"

# A trace without any event.
copy no-events
find "$work/no-events" -name 'k0_*' -exec truncate -s 0 {} +
run -b "$work/no-events"
ok "empty streams: exit 1" [ "$code" -eq 1 ]
ok "empty streams: told" grep -q 'no-events' "$work/err"
run "$work/no-events"
ok "empty streams, without a terminal: exit 1" [ "$code" -eq 1 ]

# What can be read of a truncated stream is printed, and the exit code is 3.
copy truncated
s=$(stream "$work/truncated")
truncate -s $(($(stat -c %s "$s") - 1000)) "$s"
run -b --view processes --format json "$work/truncated"
ok "truncated: exit 3" [ "$code" -eq 3 ]
ok "truncated: told" grep -q '^blktop: ' "$work/err"
truncate -s 100 "$s"
run -b --view processes "$work/truncated"
ok "truncated to the head: exit 3" [ "$code" -eq 3 ]
ok "truncated to the head: told" grep -q '^blktop: ' "$work/err"

copy magic
s=$(stream "$work/magic")
printf 'XXXX' | dd of="$s" bs=1 conv=notrunc status=none
run -b "$work/magic"
ok "wrong magic: exit 3" [ "$code" -eq 3 ]
ok "wrong magic: told" grep -q '^blktop: ' "$work/err"

for how in zeros text cut none; do
	copy meta
	m=$(find "$work/meta" -type f -name metadata | head -1)
	case $how in
	zeros) dd if=/dev/zero of="$m" bs=1 seek=2000 count=500 conv=notrunc status=none ;;
	text) echo 'this is no metadata' >"$m" ;;
	cut) truncate -s 5000 "$m" ;;
	none) truncate -s 0 "$m" ;;
	esac
	run -b "$work/meta"
	ok "metadata: $how: exit 1" [ "$code" -eq 1 ]
	ok "metadata: $how: told" grep -q '^blktop: ' "$work/err"
done

# Noise in the packets: an error or a reading, never a crash.
for seed in 1 2 3 4 5 6; do
	copy noise
	python3 - "$(stream "$work/noise")" $seed <<-'PY'
		import os, random, sys
		random.seed(int(sys.argv[2]))
		size = os.path.getsize(sys.argv[1])
		with open(sys.argv[1], "r+b") as f:
		    for _ in range(20):
		        f.seek(random.randrange(64, size))
		        f.write(bytes([random.randrange(256)]))
	PY
	run -b --view syscalls "$work/noise"
	case $code in
	0 | 1 | 3) pass "noise $seed: exit $code" ;;
	*) fail "noise $seed" ;;
	esac
done

# Each error of reading names a next step.
mkdir "$work/cut" && cp -r "$small"/. "$work/cut"
find "$work/cut" -name metadata -exec truncate -s 700 {} +
for command in -b log --doctor; do
	refused 1 "cannot read metadata" "$command" "$work/cut"
	ok "$command, cut metadata: another reader, and the doctor" grep -q "babeltrace2 DIR.*blktop --doctor DIR" "$work/err"
done
for command in log --doctor; do
	refused 1 "Not a directory" "$command" "$work/file"
	ok "$command of a file: what it reads" grep -q "read CTF traces, which are directories" "$work/err"
done
refused 1 "no spans in" -b "$work/file"
ok "-b of a file: what it reads" grep -q "a CTF trace is a directory" "$work/err"

# Metadata without a stream class, though there are stream files: the other traces are read.
run -b --view processes "$small"
cp "$work/out" "$work/alone"
for quirk in "$SRCDIR/tests/quirks/no-stream-class-1.8" "$TRACES/ctf2/ust-without-stream-class/trace"; do
	name=${quirk#"$SRCDIR/tests/"}
	rm -rf "$work/classless" && cp -r "$small" "$work/classless" && cp -r "$quirk/ust" "$work/classless/"
	run -b --view processes "$work/classless"
	ok "$name: exit 3" [ "$code" -eq 3 ]
	ok "$name: the rest is read" cmp -s "$work/out" "$work/alone"
	ok "$name: told once" [ "$(grep -c 'no stream class' "$work/err")" -eq 1 ]
	ok "$name: cause and remedy" grep -q '2 stream files .*context pid or tid .*with vpid and vtid' "$work/err"
	refused 1 "no stream class" -b --view processes "$quirk"
	run --doctor "$work/classless"
	ok "$name: the doctor's exit status" [ "$code" -eq 3 ]
	ok "$name: the doctor says it once" [ "$(grep -c 'stream class' "$work/out")" -eq 1 ]
	ok "$name: the doctor's remedy" grep -q 'add-context --userspace .*--type vpid --type vtid' "$work/out"
done
find "$work/classless/ust" -name metadata -exec truncate -s 0 {} +
run -b --view processes "$work/classless"
ok "empty metadata: exit 3" [ "$code" -eq 3 ]
ok "empty metadata: the rest is read" cmp -s "$work/out" "$work/alone"
ok "empty metadata: told" grep -q 'no stream class, and there are 2 stream files: left out' "$work/err"

# Rules that cannot be read, or are none.
mkfifo "$work/rules.fifo"
: >"$work/no-rules"
printf '[job]\nbegin=app:start\nend=syscall_exit_openat\n' >"$work/rules"
for rules in "$work/nowhere" "$work" "$work/rules.fifo" "$work/no-rules"; do
	refused 1 "$rules" -b --view spans --spans "$rules" "$small"
done
run -b --view spans --spans "$work/rules" "$small"
ok "a rule whose event did not come is told" \
	grep -q '/rules:1: \[job\]: no app:start in this trace' "$work/err"

# A name with escapes reaches the terminal as text.
mkdir "$work/$(printf 'a\033[31mb')"
run -b "$work/$(printf 'a\033[31mb')"
ok "messages hold no escapes" sh -c "! grep -q '$(printf '\033')' '$work/err'"

# The screen without a terminal.
refused 1 "terminal" "$small"
refused 1 "terminal" --demo
if command -v script >/dev/null; then
	code=0
	env -u TERM timeout 60 script -qec "$BLKTOP $small" /dev/null >"$work/out" 2>&1 </dev/null || code=$?
	ok "no TERM: exit 1" [ "$code" -eq 1 ]
	ok "no TERM: told" grep -q 'TERM is not set' "$work/out"
fi
refused 1 "nowhere" -b --log "$work/nowhere/log" "$small"
echo 'root:x:0:0' >"$work/other"
refused 1 "not a log of blktop" -b --log "$work/other" "$small"
ok "and it is as it was" [ "$(cat "$work/other")" = 'root:x:0:0' ]
: >"$work/linked"
ln -s linked "$work/link"
refused 1 "it is a link" -b --log "$work/link" "$small"
ok "and nothing is behind it" [ ! -s "$work/linked" ]
succeeds 0 "an empty file is a log" -b --log "$work/linked" "$small"
succeeds 0 "which is appended to" -b --log "$work/linked" "$small"

done_testing
