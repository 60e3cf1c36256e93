#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Spans of LTTng-UST and the kernel's own ring buffer together: each span has the thread that the program wrote down, and its parts sum to its duration."""
import collections
import json
import os
import pathlib
import subprocess
import sys

import tracefs
import tap  # noqa: E402  (tracefs.py adds its folder)

LAB = os.path.join(tap.ROOT, "tests", "live", "lab")
REQUESTS = 60
PARTS = ("user_ns", "syscall_ns", "kernel_ns", "irq_ns", "preempted_ns", "wakeup_ns", "disk_ns", "socket_ns", "pipe_ns", "futex_ns", "timer_ns", "poll_ns", "fault_ns",
         "handoff_ns", "other_ns", "unknown_ns", "writeback_ns", "stopped_ns", "file_ns")


def written(path):
    """{(trace, span): number of the thread}; ids as they are printed in hexadecimal."""
    found = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "span":
                found[tuple(int(w) & (1 << 64) - 1 for w in words[1:3])] = words[5]
    return found


def check_spans(program):
    truth = os.path.join(tracefs.work, "truth")
    r = tracefs.run("--view", "spans", "--format", "json", "--", program, "-t", "2", "-n", str(REQUESTS), "-r", "40", "--truth", truth)
    spans = {(int(s["trace_id"], 16), int(s["span_id"], 16), s["kind"]): s for line in r.stdout.splitlines() if line.startswith("{")
             for s in json.loads(line)["rows"] if s["state"] == "complete"}
    said, threads = written(truth), collections.defaultdict(set)
    for trace, span in said:
        threads[said[trace, span]].add(spans.get((trace, span, "server"), {}).get("tid"))
    good = len(said) >= 2 * REQUESTS * 3 and len(threads) == 2 and all(len(t) == 1 and None not in t for t in threads.values()) and len(set(map(min, threads.values()))) == 2
    tap.ok("each span has its thread", [] if good and r.returncode == 0 else [len(said), len(spans), dict(threads), r.returncode, r.stderr])
    tap.ok("the parts of each span sum to its duration", [(s["name"], s["duration_ns"]) for s in spans.values() if sum(s[p] or 0 for p in PARTS) != s["duration_ns"]])
    known = sum(s["duration_ns"] - (s["unknown_ns"] or 0) for s in spans.values())
    tap.ok("nearly all of their time is explained", [] if known > 0.9 * sum(s["duration_ns"] for s in spans.values()) else [known])


RULES = """[pair]
begin=app:work_start
end=app:work_end
key=job
[took]
end=app:work_took
duration=ns
"""
JOBS = 40


def check_durations():
    """What one event tells of at its end is explained as what two events tell of: the waits lie within both."""
    work, rules = (os.path.join(tracefs.work, name) for name in ("work", "rules"))
    built = subprocess.run(["cc", "-I", LAB, LAB + "/work.c", "-o", work, "-llttng-ust", "-ldl"], capture_output=True, text=True, check=False)
    pathlib.Path(rules).write_text(RULES, encoding="ascii")
    r = tracefs.run("--spans", rules, "--view", "spans", "--format", "json", "--", work, str(JOBS))
    spans = [s for line in r.stdout.splitlines() if line.startswith("{") for s in json.loads(line)["rows"] if s["name"] in ("pair", "took")]
    pairs, tooks = (sorted((s for s in spans if s["name"] == name), key=lambda s: s["begin_ns"]) for name in ("pair", "took"))
    tap.ok("events with durations are spans", [] if len(pairs) == len(tooks) == JOBS and all(
        t["begin_ns"] <= p["begin_ns"] < p["end_ns"] <= t["end_ns"] for p, t in zip(pairs, tooks)) else [len(pairs), len(tooks), built.stderr, r.stderr])
    tap.ok("they are explained back to their beginnings", [(p["begin_ns"], part, p[part], t[part]) for p, t in zip(pairs, tooks) for part in PARTS if (
        t[part] != p[part] if part == "timer_ns" else (t[part] or 0) < (p[part] or 0))] or ([] if sum(t["timer_ns"] for t in tooks) > JOBS * 4_000_000 else [tooks[:2]]))


def check_wait():
    """The user's own time stays; without one, a busy machine has more time than LTTng-UST's 3 s."""
    said, want = [], ["30000", "250"]
    for own in (None, "250"):
        path = os.path.join(tracefs.work, "waits")
        tracefs.ENV.pop("LTTNG_UST_REGISTER_TIMEOUT", None)
        tracefs.ENV.update({"LTTNG_UST_REGISTER_TIMEOUT": own} if own else {})
        tracefs.run("--view", "events", "--", "sh", "-c", f"echo $LTTNG_UST_REGISTER_TIMEOUT >{path}")
        said += pathlib.Path(path).read_text(encoding="ascii").split()
    tap.ok("a followed program waits until its events are enabled", [] if said == want else [said])


# Ends the session daemon of this mount namespace.
END_DAEMON = """for p in $(pgrep -x lttng-sessiond); do
	[ "$(readlink /proc/$p/ns/mnt)" = "$(readlink /proc/self/ns/mnt)" ] && kill "$p"
done
sleep 5"""


def check_daemon_ends():
    """As when another blktop, which had started it, is killed."""
    if not os.path.ismount("/run/lttng"):
        tap.skip("the session daemon ends", "not run by scripts/run-tests: the session daemon may be somebody's")
        return
    r = tracefs.run("--view", "events", "--", "bash", "-c", END_DAEMON)
    tap.ok("it is said when the session daemon ends", [] if r.stderr.count("the session daemon has ended") == 1 else [r.returncode, r.stderr])


def main():
    reason = tracefs.unusable()
    program = os.path.join(tracefs.work, "spangen")
    if not reason and subprocess.run(["cc", "-I", LAB, LAB + "/spangen.c", LAB + "/zipkin_tp.c", "-o", program, "-llttng-ust", "-ldl", "-lpthread"], capture_output=True,
                                     check=False).returncode:
        reason = "no compiler, or no liblttng-ust to build a program with"
    if reason:
        print("1..0 # SKIP", reason)
        return
    with tracefs.mounted():
        check_spans(program)
        check_durations()
        check_wait()
        check_daemon_ends()
    tap.done()


if __name__ == "__main__":
    main()
