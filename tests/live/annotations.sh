#!/bin/bash
# Logs of a program that uses LTTng's tracef() and tracelog(): each message is in the span that it was made in, with its text and severity, as the program says.
. "$(dirname "$0")/lib.sh"
BLKTOP=$(realpath "${BLKTOP:-${BUILD:-$SRCDIR/build}/blktop}")
export LAB_APPS=0 LTTNG_UST_REGISTER_TIMEOUT=-1
cc -O2 -I"$LAB" -o "$work/logger" "$LAB/logger.c" "$LAB/work_tp.c" -llttng-ust -ldl -lpthread 2>"$work/cc.log" || skip_all "logger.c does not build"
chmod 755 "$work/logger"
lab_up
in_lab lttng --no-sessiond enable-event -u -s spans -c chan -a
"$LAB/lab-run" "$work/logger" 200 </dev/null | sed 's/^-1 /- /' | sort >"$work/said"
in_lab lttng --no-sessiond destroy spans
cat >"$work/rules" <<'END'
[job]
begin=app:work_start
end=app:work_end
name=${job}
[annotation tracef]
event=lttng_ust_tracef:event
text=${msg}
[annotation tracelog]
event=lttng_ust_tracelog:*
text=${msg}
severity=${1}
scale=lttng
END
read_it() { # read_it NAME OPTION...
	local name=$1
	shift
	timeout 120 "$BLKTOP" --spans "$work/rules" "$@" "$LAB_DIR/traces" >"$work/$name" 2>"$work/$name.err"
}
messages() { # messages FILE: as the program prints those within jobs
	python3 -c '
import json, sys
for span in (s for t in json.load(open(sys.argv[1], encoding="utf-8"))["traces"] for s in t["spans"]):
    for a in span["annotations"]:
        if a["event"] not in ("start", "end"):
            print(span["name"], a.get("severity", "-"), a["event"])' "$1" | sort
}
grep -v '^-' "$work/said" >"$work/within"
alone=$(grep -c '^-' "$work/said")
ok "the program logs within jobs and between them" [ "$alone" = 400 ]
for way in "-j 1" "-j 3 --slices 7"; do
	# shellcheck disable=SC2086 # words
	read_it spans $way --export-slowest 1000 --format json
	read_it rows -b $way --view spans --format csv
	messages "$work/spans" >"$work/out.spans"
	ok "each message is in its job, with its severity ($way)" cmp "$work/within" "$work/out.spans"
	ok "those between jobs are counted ($way)" grep -q "^blktop: $alone events of annotations belong to no span" "$work/rows.err"
done
read_it rows -b --view spans --format csv --columns name,severity --filter 'severity == error'
jobs_with() { awk -v s="$1" '$2 == s {print $1}' "$work/within" | sort; } # jobs_with SEVERITY
jobs_with error | comm -23 - <(jobs_with fatal) >"$work/errors"
ok "a filter finds the jobs whose most severe message is an error" cmp "$work/errors" <(tr -d '\r' <"$work/rows" | sed -n 's/,error$//p' | sort)
read_it rows -b --view spans --format csv --columns name --filter 'annotations =~ "timeout of 21$|timeout of 21 "'
ok "and a text" [ "$(tr -d "\r" <"$work/rows" | tail -n +2)" = 21 ]
done_testing
