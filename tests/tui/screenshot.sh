#!/bin/bash
# Pictures of the screen (--screenshot, key D) and themes (F8) in a real terminal: a picture has the text that the
# terminal shows, and is well-formed XML.
# shellcheck disable=SC2154 # lib.sh sets work
set -u
cd "${SRCDIR:-$(dirname "$0")/../..}" || exit 1
. tests/tui/lib.sh
if [ ! -x "$BLKTOP" ]; then
	echo "1..0 # SKIP $BLKTOP is not built"
	exit 0
fi
program=$(realpath "$BLKTOP") trace=$(realpath tests/traces/demo/trace)

# text_of SVG: the text of each row, without blanks at the end; fails unless it is well-formed, plain SVG
text_of() {
	python3 - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg", root.tag
for element in root.iter():
    for key, value in element.attrib.items():
        assert "href" not in key and "url(" not in value and "//" not in value, (key, value)
for row in root.iter("{http://www.w3.org/2000/svg}text"):
    print("".join(row.itertext()).rstrip())
PYTHON
}

# open_at COLS ROWS OPTION...: the screen in a terminal of that size
open_at() {
	local cols=$1 rows=$2
	shift 2
	: >"$work/rc" # without one, a message says so
	t kill-session -t now 2>/dev/null
	t new-session -d -s now -x "$cols" -y "$rows" "cd '$work' && $program --config rc --utc $* '$trace'; sleep 3600"
}
# Without what depends on how fast it was read: memory in use, lines of the log around those shown, a message.
plain_text() { sed 's/mem [0-9.]*M/mem/; s/^Log: .*/Log:/; s/^all read; shown: .*//; s/^all was read$//; s/ *$//'; }
captured() { t capture-pane -p -t now | plain_text; }
same_text() { captured | cmp -s - "$work/svg.txt"; }

pictures() { # pictures COLS ROWS WORD OPTION...: a picture without a terminal, then the same screen in one
	local cols=$1 rows=$2 word=$3
	shift 3
	rm -f "$work/a.svg"
	(cd "$work" && "$program" --config none --utc --size "${cols}x$rows" --screenshot a.svg "$@" "$trace" </dev/null \
		>/dev/null 2>"$work/err") || return 1
	text_of "$work/a.svg" >"$work/whole.txt" || return 1
	plain_text <"$work/whole.txt" >"$work/svg.txt"
	[ "$(wc -l <"$work/svg.txt")" = "$rows" ] && grep -q "$word" "$work/whole.txt" || return 1
	open_at "$cols" "$rows" "$@"
	until_true same_text && return
	captured | diff "$work/svg.txt" - | sed 's/^/# /'
	return 1
}
for size in "80 24" "140 45" "200 50"; do
	read -r cols rows <<<"$size"
	pictures "$cols" "$rows" "REQUESTS"
	result $? "--screenshot at ${cols}x$rows has the text of the terminal"
done
calls=$("$program" -b --format csv --metric call.latency "$trace" |
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "count") at = i } NR == 2 { print $at }')
pictures 120 35 "call.latency: $calls calls" --metric call.latency --by process
result $? "--metric starts the screen with its heatmap: $calls calls"
pictures 100 30 "vda   in flight" --view waterfall --at 07:07:27
result $? "--screenshot --view waterfall, whose lanes know the name of the disk"
pictures 100 30 "07:07:12" --view processes --at 07:07:12
result $? "--screenshot --view processes --at"
pictures 120 40 "lines, " --view log --at 07:07:12
result $? "--screenshot --view log waits for the lines"
pictures 80 24 "REQUESTS" --ascii && ! grep -qP '[^\x00-\x7f]' "$work/svg.txt"
result $? "--screenshot --ascii is ASCII"

refused() { # refused STATUS WORDS OPTION...
	local status=$1 words=$2
	shift 2
	(cd "$work" && "$program" --config none "$@" </dev/null >/dev/null 2>"$work/err")
	[ $? = "$status" ] && grep -qF -e "$words" "$work/err"
}
echo mine >"$work/b.svg"
refused 1 "b.svg" --screenshot b.svg "$trace" && [ "$(cat "$work/b.svg")" = mine ]
result $? "an existing file is not overwritten"
refused 0 "wrote" --screenshot b.svg --force "$trace" && text_of "$work/b.svg" >/dev/null
result $? "unless --force says so"
refused 1 "No such file" --screenshot none/b.svg "$trace"
result $? "a missing directory is an error"
refused 2 "SVG" --screenshot b.png "$trace" && refused 2 "--size takes COLSxROWS" --screenshot c.svg --size 10x10 "$trace" &&
	refused 2 "--size takes COLSxROWS" --screenshot c.svg --size 120x40x3 "$trace" &&
	refused 2 "--size needs --screenshot" --size 80x24 "$trace" &&
	refused 2 "needs a recorded trace" --screenshot c.svg -r localhost && [ ! -e "$work/c.svg" ]
result $? "wrong names and sizes are wrong usage"
(cd "$work" && "$program" --config none --theme light --screenshot l.svg "$trace" && NO_COLOR=1 "$program" --config none \
	--screenshot n.svg "$trace") 2>/dev/null </dev/null
grep -q 'fill="#ffffff"' "$work/l.svg" && [ "$(grep -o 'fill="#[0-9a-f]*"' "$work/n.svg" | sort -u | wc -l)" = 2 ]
result $? "--theme light and NO_COLOR are respected"

open_at 80 24 --theme dark
wait_for "07:07:27 PAUSED" && captured >"$work/before.txt"
keys D
wait_for "save the screen as (.svg): blktop-overview-"
keys C-u "d.svg" Enter
until_true test -s "$work/d.svg" && wait_for "wrote " && text_of "$work/d.svg" | plain_text >"$work/svg.txt" &&
	cmp -s "$work/before.txt" "$work/svg.txt"
result $? "D saves the screen that was there"
keys D C-u "d.svg" Enter
wait_for "exists: Enter overwrites it" && cp "$work/d.svg" "$work/e.svg" && keys C-u "x.png" Enter && wait_for "name it .svg"
result $? "D asks before it overwrites, and writes SVG only"
keys C-u "d.svg" Enter Enter
wait_for "wrote "
result $? "a second Enter overwrites"

# colour CODE: does the terminal have it on the screen?
colour() { t capture-pane -e -p -t now | grep -qF -e "$1"; }
colour "38;5;117"
result $? "--theme dark has its colours"
keys F8
wait_for "theme light" && until_true colour "38;5;24m" && ! colour "38;5;117"
result $? "F8 changes to light"
keys W
until_true grep -qx "theme=light" "$work/rc"
result $? "W stores it"
keys F8
wait_for "theme mono" && until_true shows mono && ! colour "38;5;"
result $? "F8 changes to mono"
keys D C-u "m.svg" Enter
until_true test -s "$work/m.svg" && [ "$(grep -o 'fill="#[0-9a-f]*"' "$work/m.svg" | sort -u | wc -l)" = 2 ]
result $? "a picture in mono has two colours"
keys F8
wait_for "theme dark" && until_true colour "38;5;117"
result $? "F8 changes to dark again"
open_at 80 24 --color never
wait_for "REQUESTS" && keys F8 && wait_for "no colours: by NO_COLOR" && ! colour "38;5;"
result $? "F8 does not overrule --color never"

done_testing
