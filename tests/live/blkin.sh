#!/bin/bash
# What libblkin records through a session daemon and a relay, read back by babeltrace2 and
# blktop, live and recorded: every annotation with its fields, of threads and forked
# children, and by level.
# shellcheck disable=SC2154 # viewer, work: from lib.sh
. "$(dirname "$0")/lib.sh"
bin=$(realpath "${BUILD:-$SRCDIR/build}")/blkin
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
[ -e "$bin/emit" ] || skip_all "libblkin is not built: lttng-ust 2.13 is not there"
command -v babeltrace2 >/dev/null || skip_all "babeltrace2 is not installed"
export LAB_LIVE_US=100000 LAB_APPS=0
lab_up

# The lab's user may not look into the tree.
mkdir "$LAB_DIR/blkin" && cp "$bin/emit" "$bin/bench-blkin" "$bin"/*.so* "$LAB_DIR/blkin/"
emit() { "$LAB/lab-run" "$LAB_DIR/blkin/emit" "$@"; }
ctl() { in_lab lttng --no-sessiond "$@"; }

# As emit prints it, from babeltrace2's text.
cat >"$work/read.py" <<'PY'
import re, sys
pattern = re.compile(
    r'zipkin:(\w+): .*?vpid = (\d+).*?trace_name = "(.*?)", service_name = "(.*?)", port_no = (-?\d+), '
    r'ip = "(.*?)", trace_id = (-?\d+), span_id = (-?\d+), parent_span_id = (-?\d+), '
    r'(?:event|key) = "(.*?)"(?:, val = (.*))? }')
for line in sys.stdin:
    m = pattern.search(line)
    if not m:
        continue
    ids = " ".join("%016x" % (int(n) & (1 << 64) - 1) for n in m.group(7, 8, 9))
    val = m.group(11)
    val = "" if val is None else "=[%s]" % val[1:-1] if val[0] == '"' else "=" + val
    print(m[2], m[1], f"[{m[3]}] [{m[4]}] {m[5]} [{m[6]}] {ids} [{m[10]}]{val}")
PY
read_back() { babeltrace2 "$1" 2>/dev/null | python3 "$work/read.py" | sort; }
# What was made: of the levels given, all fields but the level itself.
made() { # made FILE LEVELS
	awk -v levels=" $2 " 'index(levels, " " $3 " ")' "$1" | sed -E 's/^([0-9]+ [a-z_]+) [0-9]+ /\1 /' | sort
}

view all "$LAB_URL"
emit fork >"$work/made"
ok "emit made something" [ "$(wc -l <"$work/made")" -eq 132 ]
ctl destroy spans
wait "$viewer"
is "live: every annotation" "$(sum_of all)" "$(wc -l <"$work/made")"
recorded=$(find "$LAB_DIR/traces" -name metadata -exec dirname '{}' ';' | head -n 1)
read_back "$recorded" >"$work/got"
made "$work/made" "3 4 5 6 14" >"$work/wanted"
ok "all fields of all of them, of threads and a forked child" diff "$work/wanted" "$work/got"

"$BLKTOP" -b --view spans --format json "$recorded" >"$work/spans" 2>"$work/out.spans"
ok "blktop: the same spans" python3 - "$work/spans" "$work/made" <<'PY'
import json, sys
rows = {(r["trace_id"], r["span_id"], r["parent_id"] or "0" * 16, r["name"] or "", r["pid"])
        for r in json.load(open(sys.argv[1]))["rows"]}
made = set()
for line in open(sys.argv[2], encoding="utf-8"):
    pid, rest = line.split(" ", 1)
    name = rest[rest.index("[") + 1:rest.index("]")]
    ids = [w for w in rest.split() if len(w) == 16 and set(w) <= set("0123456789abcdef")][:3]
    made.add((*ids, name, int(pid)))
sys.exit(0 if len(made) == 12 and {m[:4] for m in made} == {r[:4] for r in rows} else
         f"made {sorted(made)}\nrows {sorted(rows)}")
PY

# Sessions that take only what is important to them; one event name, its own levels.
session() { # session NAME OPTION...
	ctl create "$1" --output="$LAB_DIR/$1"
	ctl enable-channel -u -s "$1" c
	ctl add-context -u -s "$1" -c c -t vpid
	ctl enable-event -u -s "$1" -c c 'zipkin:*' "${@:2}"
	ctl start "$1"
}
session important --loglevel=WARNING
session info --loglevel-only=INFO
emit >"$work/made"
LTTNG_UST_REGISTER_TIMEOUT=3000 BLKIN_LEVEL=err emit >"$work/made.err"
ctl destroy important
ctl destroy info
cat "$work/made" "$work/made.err" >"$work/both"
{ made "$work/made" "3 4"; made "$work/made.err" 3; } | sort >"$work/wanted"
ok "--loglevel=WARNING takes these and errors; BLKIN_LEVEL=err makes no others" \
	diff "$work/wanted" <(read_back "$LAB_DIR/important")
ok "--loglevel-only=INFO takes these" diff <(made "$work/made" 6) <(read_back "$LAB_DIR/info")

# liblttng-ust-fork does what libblkin does itself: both together are fine.
fork_so=$(find /usr/lib /usr/local/lib -name 'liblttng-ust-fork.so.1' 2>/dev/null | head -n 1)
if [ -n "$fork_so" ]; then
	session forks
	"$LAB/lab-run" env LD_PRELOAD="$fork_so" timeout 60 "$LAB_DIR/blkin/emit" fork >"$work/made"
	is "with liblttng-ust-fork: ends" $? 0
	ctl destroy forks
	ok "with liblttng-ust-fork: the child's, once" \
		diff <(made "$work/made" "3 4 5 6 14") <(read_back "$LAB_DIR/forks")
fi

# One of ten requests, whole.
session sampled
"$LAB/lab-run" env BLKIN_RATE=10 "$LAB_DIR/blkin/bench-blkin" 999 >/dev/null
ctl destroy sampled
babeltrace2 "$LAB_DIR/sampled" 2>/dev/null >"$work/text"
is "BLKIN_RATE=10: a tenth of 1000 requests, with all annotations" "$(grep -c zipkin: "$work/text")" 800
done_testing
