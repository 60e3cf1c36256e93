#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A chain of ROS 2 with troubles that a program makes on purpose, recorded with this machine's kernel: WHY names each trouble. TICKS (220) is the number of
traces, of which nearly half are troubled; of these, 99 of 100 must be named right, and none of the others may be."""
import collections
import csv
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / where) for where in ("lint", "live")]
import tap  # noqa: E402  (goes to the source tree)
import tracefs  # noqa: E402

LAB = os.path.join(tap.ROOT, "tests", "live", "lab")
TICKS = os.environ.get("TICKS", "220")
# What WHY, or an annotation, says of each trouble.
SAID = {
    "hog": r"the message to take /scan \([^)]*\) was on its way for .*; listener/\d+ waited for a CPU for .* of it, behind hog/\d+",
    "sleep": r"^/scan in listener: slept 1\d",
    "compute": r"^/scan in listener: computed 1\d",
    "busy": r"the message to take /scan \([^)]*\) was on its way for .*; listener/\d+ was in housekeeping\(\), which slept, for",
    "late": r"(^|; )timer 20000000 ns began [\d.]+ms late; (talker|chain)/\d+ was in cleaning\(\), which slept, for",
    "drop": r"a message that was not taken is overwritten",
}


def build(to):
    """Why it cannot be built; None: it is."""
    src = os.path.join(tracefs.work, "src")
    os.mkdir(src)
    table = os.path.join(tracefs.work, "ros2.txt")
    with open(os.path.join(LAB, "providers.txt"), encoding="ascii") as f:
        pathlib.Path(table).write_text("".join(line for line in f if line.startswith("ros2:")), encoding="ascii")
    for command in ((os.path.join(LAB, "make-providers"), table, src),
                    ("cc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-I", src, "-I", LAB, "-o", to, LAB + "/chain.c", src + "/ros2_tp.c", "-llttng-ust", "-ldl", "-lpthread")):
        r = subprocess.run(command, capture_output=True, text=True, check=False)
        if r.returncode:
            return f"no program: {r.stderr.strip()[-200:]}"
    return None


def view(trace, *options):
    r = subprocess.run([tracefs.PROGRAM, "-b", "--config", "none", "--no-cache", "--format", "csv", *options, trace], env=tracefs.ENV, capture_output=True, text=True,
                       timeout=tracefs.LIMIT, check=False)
    if r.returncode:
        raise RuntimeError(f"{options}: {r.stderr}")
    return list(csv.DictReader(r.stdout.splitlines()))


def check(r, trace):
    kinds = [line.split()[1] for line in (r.stdout + r.stderr).splitlines() if line.startswith("tick ")]
    traces = sorted((t for t in view(trace, "--view", "traces") if t["name"].startswith("timer ")), key=lambda t: int(t["begin_ns"]))
    tap.ok("each tick is a trace", [] if len(kinds) == len(traces) == int(TICKS) else [len(kinds), len(traces), r.returncode, r.stderr])
    named, wrong = collections.Counter(), []
    for kind, t in zip(kinds, traces):
        said = " ".join((t["verdict"] or "", t["annotations"] or ""))
        if kind == "none":
            continue
        good = re.search(SAID[kind], said) is not None
        named[kind] += good
        wrong += [] if good else [(kind, t["to_last_ns"], said)]
    n = sum(kind != "none" for kind in kinds)
    tap.ok("99 of 100 troubles are named", [] if n and len(wrong) * 100 <= n else [n, dict(named), *wrong])
    false = [t["verdict"] for kind, t in zip(kinds, traces) if kind == "none" and any(re.search(SAID[k], f"{t['verdict']} {t['annotations']}") for k in SAID)]
    tap.ok("no other trace is said to have one", false)
    causes = [c for c in view(trace, "--view", "causes") if c["state"] == "slow"]
    found = {kind for kind in ("hog", "sleep", "compute", "busy") if any(re.search(SAID[kind], c["verdict"] or "") for c in causes)}
    tap.ok("causes has each of those that took long", [] if len(found) == 4 else [found, *(c["verdict"] for c in causes)])
    print(f"# {n} troubles: {dict(named)}")


def main():
    reason = tracefs.unusable() or (None if len(os.sched_getaffinity(0)) > 1 else "needs two CPUs")
    program = os.path.join(tracefs.work, "chain")
    reason = reason or build(program)
    if reason:
        print("1..0 # SKIP", reason)
        return
    trace = os.path.join(tracefs.work, "trace")
    with tracefs.mounted():
        r = subprocess.run([tracefs.PROGRAM, "record", "-o", trace, "--kernel", "tracefs", "--", program, TICKS], env=tracefs.ENV, stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=tracefs.LIMIT, check=False)
        check(r, trace)
    tap.done()


if __name__ == "__main__":
    main()
