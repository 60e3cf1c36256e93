#!/bin/bash
# blktop report: a page about the worst requests.
# shellcheck disable=SC2154 # work, code: from lib.sh
. "$(dirname "$0")/lib.sh"
demo=$TRACES/demo/trace
ust=$TRACES/kernel-ust/trace

page() { # page EXPRESSION over `page` and `lines` of the file: does it hold?
	python3 - "$1" "$2" <<-'PY'
		import re, sys
		page = open(sys.argv[1], encoding="utf-8").read()
		lines = page.split("\n")
		sys.exit(0 if eval(sys.argv[2]) else 1)
	PY
}

succeeds 0 "report" report "$ust"
cp "$work/out" "$work/page.md"
ok "five requests" page "$work/page.md" "len(re.findall(r'^## \d+\. ', page, re.M)) == 5"
ok "verdict, phases, calls, waits of each" page "$work/page.md" \
	"all(page.count(w) == 5 for w in ['> **Why:** ', '### Critical path', '### Phases', '### System calls', '### Waits'])"
ok "bars of one width" page "$work/page.md" \
	"len({len(l) for b in re.findall(r'\`\`\`text\n(.*?)\`\`\`', page, re.S) for l in b.split('\n') if l.endswith('│')}) == 1"
ok "rows of a table have one number of cells" python3 - "$work/page.md" <<-'PY'
	import sys
	cells = 0
	for line in open(sys.argv[1], encoding="utf-8"):
	    if not line.startswith("|"):
	        cells = 0
	    elif cells and line.count("|") != cells:
	        sys.exit(line)
	    else:
	        cells = line.count("|")
PY

# As code hosting sites render it: the head, the summary, three tables each; nothing raw.
if command -v cmark-gfm >/dev/null; then
	cmark-gfm -e table -e autolink "$work/page.md" >"$work/out"
	ok "renders as tables" [ "$(grep -c '^<table>' "$work/out")" -eq 17 ]
	ok "and blocks" [ "$(grep -c '^<pre' "$work/out")" -eq 5 ]
	ok "links to nothing" sh -c "! grep -q 'href\|<img' '$work/out'"
else
	skip "renders as tables" "cmark-gfm is not installed"
fi

# The same requests as the view's, in its order.
run -b --view traces --sort duration_ns --columns trace_id --format csv "$ust"
tail -n +2 "$work/out" | head -n 5 | tr -d '\r' >"$work/wanted"
grep -o '^Trace `[0-9a-f]*' "$work/page.md" | cut -d '`' -f 2 >"$work/got"
ok "the slowest of the view traces" cmp -s "$work/wanted" "$work/got"

run report --reader babeltrace2 "$ust"
ok "the other reader is named" grep -q '^| Read by | babeltrace2' "$work/out"
ok "and makes the same page" diff <(grep -v '^| Read by' "$work/out") <(grep -v '^| Read by' "$work/page.md")
run report -j 2 --slices 7 "$ust"
ok "so do pieces" cmp -s "$work/out" "$work/page.md"

succeeds 0 "--worst, --sort, --filter" report --worst 2 --sort begin_ns --filter 'duration_ns > 1ms' "$ust"
ok "two requests" page "$work/out" "len(re.findall(r'^## \d+\. ', page, re.M)) == 2"
succeeds 0 "--from, --to" report --utc --from 20% --to 60% --worst 1 "$demo"
ok "that range" page "$work/out" "'| Time | 2026-11-21 07:07:11.' in page and ' UTC (10.2s) |' in page"
succeeds 0 "--ascii" report --ascii --worst 1 "$ust"
ok "is ASCII" sh -c "! LC_ALL=C grep -q '[^ -~]' '$work/out'"

cd "$work" || exit 1
run report -o out.md "$ust"
ok "-o FILE" cmp -s page.md out.md
ok "-o FILE says where it is" grep -qF "$work/out.md" err
echo old >out.md
refused 1 "out.md" report -o out.md "$ust"
ok "an old file stays" [ "$(cat out.md)" = old ]
run report -o out.md --force "$ust"
ok "--force" cmp -s page.md out.md
echo old >out.html
refused 1 "out.html" report --html out.html "$ust"
ok "--html: an old file stays" [ "$(cat out.html)" = old ]
run report --html out.html --force "$ust"
ok "--html --force" [ "$code" -eq 0 ]
ok "is a whole page" sh -c "head -n 1 out.html | grep -q '^<!DOCTYPE html>' && tail -n 1 out.html | grep -q '</html>$'"
succeeds 0 "--html -" report --html - "$ust"
ok "to stdout" cmp -s out out.html
# heat_fills THEME: the colours of the screen's heatmap
heat_fills() {
	"$BLKTOP" --config none --no-cache --view heatmap --theme "$1" --size 200x60 --screenshot "$1.svg" "$ust" 2>/dev/null
	# 64: the shown second, on the axis.
	grep -o '<rect x="[0-9]*" y="[0-9]*" width="[0-9]*" height="8" fill="#[0-9a-f]*"/>' "$1.svg" |
		grep -vE 'width="(1|64)"' | grep -v 'fill="#\(..\)\1\1"' | sed 's/.*fill="\(#.*\)".*/\1/' | sort -u
}
page_has_fills() {
	heat_fills "$1" >fills
	[ "$(wc -l <fills)" -ge 3 ] && while read -r fill; do grep -q "heat-[0-9]*{fill:$fill}" out.html || return 1; done <fills
}
ok "its heatmap has the screen's colours, light" page_has_fills light
ok "and dark" page_has_fills dark ""
run report --html kernel.html "$TRACES/kernel-small/trace"
ok "--html of a trace without requests" [ "$code" -eq 0 ]
refused 2 "cannot be combined" report --html x.html -o y.html "$ust"
refused 2 "needs report" -b --html x.html "$ust"
ok "--html leaves nothing behind" [ "$(find . -name '*.html*' | wc -l)" -eq 2 ]
ok "nothing is left behind" [ "$(find . -name '*out.md*' | wc -l)" -eq 1 ]

run report --worst 1 "$TRACES/lost/trace"
ok "a lossy trace: exit 3, and said so" [ "$code" -eq 3 ]
ok "on the page" grep -q '^| Completeness | \*\*the tracer lost [1-9]' out

"$BLKTOP" --export-slowest 3 -o "$work/spans.json" "$ust" 2>"$work/err"
"$BLKTOP" map -o "$work/ust.blkslice" "$ust" 2>"$work/err"
for file in spans.json ust.blkslice; do
	"$BLKTOP" report "$work/$file" >"$work/out" 2>"$work/err"
	ok "a file as source, $file: nothing is said about bookmarks below it" sh -c "[ -s '$work/out' ] && [ ! -s '$work/err' ]"
done

succeeds 0 "of a trace without requests" report "$TRACES/kernel-small/trace"
ok "it has the tables of the HTML page" page "$work/out" "page.startswith('# Report of ') and [h for h in ('## Processes', '## System calls', '## What this trace can tell') if h not in page] == []"
"$BLKTOP" report --html - "$TRACES/kernel-small/trace" >"$work/kernel.html" 2>"$work/err"
ok "with the same rows" python3 - "$work/out" "$work/kernel.html" <<'EOT'
import html, re, sys
page, other = (open(f).read() for f in sys.argv[1:])
def plain(s): return re.sub(r'[`\\]', '', html.unescape(re.sub(r'<[^>]*>', '', s))).strip()
def rows(s): return [[plain(c) for c in r] for r in s]
def markdown(title): return rows(l.strip('| ').split(' | ') for l in page.split('## ' + title)[1].split('\n## ')[0].splitlines()[4:] if l.startswith('|'))
def page2(title): return rows(re.findall(r'<td[^>]*>(.*?)</td>', r) for r in re.findall(r'<tr>(.*?)</tr>', re.sub(r'<thead>.*?</thead>', '', other.split('<h2>' + title)[1].split('</table>')[0], flags=re.S)))
for title in 'Processes', 'System calls', 'What this trace can tell':
    assert markdown(title) and markdown(title) == page2(title), (title, markdown(title), page2(title))
EOT
succeeds 0 "of a range without requests" report --to +1ms "$ust"
refused 1 "no requests of that kind" report --filter 'name == nothing' "$ust"
refused 1 "nowhere" report "$work/nowhere"
refused 2 "no trace directory" report
refused 2 "report needs a recorded trace" report -r localhost
refused 2 "report and --batch cannot be combined" report -b "$ust"
refused 2 "--view needs" report --view spans "$ust"
refused 2 "--worst takes 1 to 1000" report --worst 0 "$ust"
refused 2 "--worst needs report" -b --worst 3 "$ust"
refused 2 "no column" report --sort nonsense "$ust"

# What goes on after the root ended does not make the request longer.
t=1500000000000000
printf '[{"traceId":"1","id":"1","name":"get","timestamp":%s,"duration":10},{"traceId":"1","id":"2",
"parentId":"1","name":"later","timestamp":%s,"duration":900}]' $t $t >async.json
run report async.json
ok "the heading has the root's duration" grep -qF '## 1. `get`: 10.0us' out

mkdir report
cp -r "$ust" report/trace
succeeds 0 "a directory of that name" -b ./report
done_testing
