#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The overview recounted: causes against the traces they group, and the figures of the screen, read from a terminal,
against batch views. Nothing of the program's code is used.

Requests of a range are in exactly one row of view causes; a row's slowest request has the row's explanation; the parts
of all slow rows sum to the durations of their requests, as a critical path has no gaps."""
import os
import re
import shutil
import subprocess
import tempfile
import time

import blk

TRACES = ["demo/trace", "thumb/trace", "kernel-ust/trace"]
SCREENS = [("demo/trace", "140x45"), ("kernel-ust/trace", "200x50"), ("block/trace", "200x50"),
           ("mix1/trace", "140x45"), ("mix2/lossy", "140x45")]
MOST = 200              # requests that are examined (--list-limits: causes)
LEAVES_S = 20


def groups(rows, *fields):
    found = {}
    for r in rows:
        found.setdefault(tuple(r[f] for f in fields), []).append(r)
    return found


def phase_of(verdict):
    """("send", "stored") of "send in stored: slept 80ms ..."; None: of the root span itself."""
    m = re.match(r"(\S+?)(?: in (\S+?))?: ", verdict)
    return (m.group(1), m.group(2)) if m else None


def differences(causes, traces):
    bad = []
    total = sum(r["count"] for r in causes)
    if total != len(traces):
        bad.append(f"{total} requests in rows, {len(traces)} traces")
    by_id = {t["trace_id"]: t for t in traces}
    explained = [t for t in traces if t["verdict"] and t["state"] != "open"]
    slow = [r for r in causes if r["state"] in ("slow", None)]
    if len(explained) <= MOST and sum(r["count"] for r in slow if r["part"]) != len(explained):
        bad.append(f"{sum(r['count'] for r in slow if r['part'])} requests have a cause, not {len(explained)}")
    for r in causes:
        t = by_id.get(r["trace_id"])
        if not t or t["duration_ns"] != r["max_ns"] or (r["part"] and t["verdict"] != r["verdict"]):
            bad.append(f"slowest of {r['cause']}: {r['trace_id']} {r['max_ns']} is {t}")
        if r["state"] == "normal" and r["verdict"]:
            bad.append(f"a normal request is explained: {r['verdict']}")
    if len(explained) <= MOST:
        parts = sum(v for r in slow for k, v in r.items() if v and k.endswith("_ns") and k not in
                    ("min_ns", "max_ns", "p50_ns", "excess_ns", "lost_ns", "file_ns"))
        took = sum(t["duration_ns"] for t in explained)
        if parts != took:
            bad.append(f"parts sum to {parts}, durations to {took}")
        for (operation, phase), of in groups([r for r in slow if r["part"]], "operation", "phase").items():
            n = sum(1 for t in explained if t["name"] == operation and
                    (phase_of(t["verdict"]) or (operation,))[0] == phase)
            if phase != operation and n != sum(r["count"] for r in of):
                bad.append(f"{operation}, {phase}: {sum(r['count'] for r in of)}, not {n}")
    return bad


def compare(tap, name, trace):
    all_causes, all_traces = blk.objects("causes", trace, "--each"), blk.objects("traces", trace, "--each")
    tap.equal([o["range"] for o in all_causes], [o["range"] for o in all_traces], f"{name}: the same seconds")
    causes = [r for o in all_causes for r in o["rows"]]
    bad = [f"{c['range']['from_ns']}: {d}" for c, t in zip(all_causes, all_traces)
           for d in differences(c["rows"], t["rows"])]
    tap.none(bad, f"{name}: {len(causes)} rows of single seconds")
    whole = blk.rows("causes", trace)
    tap.none(differences(whole, blk.rows("traces", trace)), f"{name}: {len(whole)} rows of the whole trace")
    tap.ok(causes, f"{name}: there are causes")


# ---- the screen ----

def rows_of(view, trace, *more):
    return blk.rows(view, trace, *more, lossy=True)


class Screen:
    """blktop in a terminal of its own."""

    def __init__(self, trace, size):
        self.work = tempfile.mkdtemp(prefix="overview.")
        self.env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", TZ="UTC")
        cols, rows = size.split("x")
        self.tmux("new-session", "-d", "-x", cols, "-y", rows, f"{blk.BLKTOP} --config none --utc '{trace}'")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", os.path.join(self.work, "socket"), "-f", "/dev/null", *arguments],
                              env=self.env, capture_output=True, text=True, check=False).stdout

    def lines(self, wait):
        """The lines of the screen, once it holds `wait` and does not change any more."""
        before, until = None, time.monotonic() + LEAVES_S
        while time.monotonic() < until:
            now = self.tmux("capture-pane", "-p")
            if now == before and wait in now and "loading" not in now:
                break
            before = now
            time.sleep(0.1)
        return now.splitlines()

    def press(self, key, wait):
        self.tmux("send-keys", key)
        return self.lines(wait)

    def close(self):
        self.tmux("kill-server")
        shutil.rmtree(self.work, ignore_errors=True)


def second_of(trace, lines):
    """The JSON range whose clock time is in the first line."""
    clock = re.search(r"\d\d:\d\d:\d\d", lines[0]).group(0)
    for o in blk.objects("cpus", trace, "--each", lossy=True):
        if time.strftime("%H:%M:%S", time.gmtime(o["range"]["from_ns"] // 10**9)) == clock:
            return o["range"]
    raise blk.Failed(f"no second {clock}")


def judge_screen(tap, name, size):
    trace = blk.find(*name.split("/"))
    terminal = Screen(trace, size)
    try:
        terminal.lines("DATA")
        lines = terminal.press("1", "CPU0")
        judge_lines(tap, name, size, trace, lines)
        judge_graph(tap, name, size, trace, terminal)
    finally:
        terminal.close()


def judge_lines(tap, name, size, trace, lines):
    text = "\n".join(lines)
    r = second_of(trace, lines)
    part = ["--from", f"@{r['from_ns']}", "--to", f"@{r['to_ns']}"]
    bad = []
    cpus = {f"CPU{c['cpu']}": c["run_ratio"] for c in rows_of("cpus", trace, *part)}
    disks = {d["device"]: d["busy_ratio"] for d in rows_of("devices", trace, *part) if d["busy_ratio"] is not None}
    gauges = dict(re.findall(r"(\S+?)│[^│]*│(\d+)%", lines[1]))
    for known in (cpus, disks):
        if not any(k in gauges for k in known):
            bad.append(f"none of {known} is a gauge: {gauges}")
    for k, percent in gauges.items():
        exact = cpus.get(k, disks.get(k))
        if exact is None or abs(exact * 100 - int(percent)) > 0.51:
            bad.append(f"{k}: {percent} % on the screen, {exact}")
    processes = {}
    for p in rows_of("processes", trace, *part):
        processes.setdefault(p["comm"], []).append(p)
    seen = 0
    for line in lines:
        m = re.search(r"[ ▶†](\S+) +(\d+ +)?(\d+\.\d) [ ▁▂▃▄▅▆▇█]{20} +(\d+\.\d)", line)
        if not m or len(processes.get(m.group(1), [])) != 1:
            continue
        p = processes[m.group(1)][0]
        seen += 1
        if abs(p["cpu_ratio"] * 100 - float(m.group(3))) > 0.051:
            bad.append(f"{line}: CPU {p['cpu_ratio']}")
        if abs(p["runnable_ratio"] * 100 - float(m.group(4))) > 0.051:
            bad.append(f"{line}: run queue {p['runnable_ratio']}")
    if seen < 3:
        bad.append(f"only {seen} processes are seen")
    causes = rows_of("causes", trace, *part) if "REQUESTS" in text else []
    if causes:
        first = causes[0]
        why = re.sub(r"\s+", " ", " ".join(line for line in lines if line.startswith(("WHY ", "    "))))
        want = f"{first['count']} of {sum(c['count'] for c in causes)} requests took "
        if want not in why or first["verdict"].split(" (")[0] not in why:
            bad.append(f"WHY: '{why}' has no '{want}' or '{first['verdict']}'")
        for c in causes[:3]:
            if not any(re.search(rf"[▶! ] *{c['count']} {c['operation']} .*{re.escape(c['took'])}", line)
                       for line in lines):
                bad.append(f"no row of {c['count']} {c['operation']} {c['took']}")
    else:
        bad += outlier(trace, r, lines)
    tap.none(bad, f"{name}, {size}: {len(gauges)} gauges, {seen} processes, {len(causes)} causes on the screen")


def nanoseconds(text):
    number = re.match(r"([\d.]+)(ns|us|ms|s)$", text)
    return float(number.group(1)) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[number.group(2)]


def outlier(trace, r, lines):
    """Without slow requests WHY names a call on a file that took long, and its usual in the minute before."""
    first = next(i for i, line in enumerate(lines) if line.startswith("WHY "))
    why = re.sub(r"\s+", " ", " ".join([lines[first]] + [line for line in lines[first + 1:first + 3]
                                                         if line.startswith("    ")]))
    part = ["--from", f"@{r['from_ns']}", "--to", f"@{r['to_ns']}"]
    bad, why = waits(trace, part, r, why)
    if bad:
        return bad
    m = re.match(r"WHY (.+)/(\d+): (\w+) took up to (\S+), (\d+)x its usual (\S+), on (\S+)", why)
    if not m:
        return wait(trace, part, why)
    comm, tid, call, took, times, usual, path = m.groups()
    calls = [c for c in rows_of("slow", trace, *part) if (c["path"] or "").startswith("/")]
    found = [c for c in calls if (c["comm"], str(c["tid"]), c["syscall"]) == (comm, tid, call) and c["path"] == path and
             abs(c["duration_ns"] - nanoseconds(took)) <= c["duration_ns"] * 0.006]
    if not found:
        return [f"no such call: '{why}'"]
    if ("(events were lost" in why) != any(
            o["trust"]["lost_ns"] and o["range"]["to_ns"] > found[0]["begin_ns"] and
            o["range"]["from_ns"] <= found[0]["begin_ns"] + found[0]["duration_ns"]
            for o in blk.objects("losses", trace, "--each", lossy=True)):
        return [f"losses: '{why}'"]
    before = ["--from", f"@{max(r['from_ns'] - 60 * 10**9, min(c['begin_ns'] for c in rows_of('slow', trace)) // 10**9 * 10**9)}",
              "--to", f"@{r['to_ns']}"]
    rows = [c for c in rows_of("syscalls", trace, "--by", "process", *before)
            if c["pid"] == found[0]["pid"] and c["syscall"] == call and c["waited"] is None]
    if len(rows) != 1 or abs(rows[0]["p50_ns"] - nanoseconds(usual)) > rows[0]["p50_ns"] * 0.006:
        return [f"usual {usual}: {rows}"]
    if abs(found[0]["duration_ns"] / rows[0]["p50_ns"] - int(times)) > 0.51:
        return [f"{times}x: {found[0]['duration_ns']} of {rows[0]['p50_ns']}"]
    return []


def sums(trace, view, column):
    """The sum of a column for each second."""
    return {o["range"]["from_ns"]: sum(t[column] or 0 for t in o["rows"]) for o in blk.objects(view, trace, "--each", "--by", "thread", lossy=True)}


def waits(trace, part, r, why):
    """WHY begins with how long threads waited for CPUs and disks, whether that is the most of all seconds, and the thread that had a CPU longest. Also returns the rest."""
    m = re.match(r"WHY threads waited (\S+) for CPUs(?: and (\S+) for disks)?(, more than in any other second)?; (.+?)/(\d+) had a CPU longest, for ([\d.]+[a-z]+); ", why)
    if not m:
        return [f"WHY does not say who waited: '{why}'"], why
    cpus, disks, most, comm, tid, had = m.groups()
    threads = rows_of("processes", trace, "--by", "thread", *part)
    files = sum(t["file_ns"] or 0 for t in rows_of("timeline", trace, "--by", "thread", *part))
    here = sum(t["runnable_ns"] for t in threads)
    longest = max(threads, key=lambda t: t["cpu_ns"])
    bad = []
    if abs(here - nanoseconds(cpus)) > here * 0.006 or abs(files - nanoseconds(disks or "0ns")) > max(files * 0.006, 10**6 * (not disks)):
        bad.append(f"waited {here} ns for CPUs, {files} ns for files: '{why}'")
    if (longest["comm"], str(longest["tid"])) != (comm, tid) or abs(longest["cpu_ns"] - nanoseconds(had)) > longest["cpu_ns"] * 0.006:
        bad.append(f"had a CPU: {longest}: '{why}'")
    cpu, file = sums(trace, "processes", "runnable_ns"), sums(trace, "timeline", "file_ns")
    others = [ns + file.get(second, 0) for second, ns in cpu.items() if second != r["from_ns"]]
    if bool(most) != all(ns < here + files for ns in others):
        bad.append(f"more than in any other: {here + files}, {others}: '{why}'")
    return bad, "WHY " + why[m.end():]


def wait(trace, part, why):
    """WHY names the longest wait for a CPU of the second, and the other thread that ran there longest."""
    m = re.match(r"WHY (.+)/(\d+) ran longest on CPU (\d+), (\S+); (.+)/(\d+) waited up to (\S+) for that CPU,", why)
    if not m:
        return [f"WHY names no call and no wait: '{why}'"]
    comm, tid, cpu, ran, by, waiting, waited = m.groups()
    longest = max(rows_of("scheduler", trace, "--by", "thread", *part), key=lambda s: s["max_ns"] or 0)
    if (longest["comm"], str(longest["tid"])) != (by, waiting) or \
            abs(longest["max_ns"] - nanoseconds(waited)) > longest["max_ns"] * 0.006:
        return [f"waited: '{why}', {longest}"]
    most = max((t for t in rows_of("timeline", trace, "--by", "cpu", *part) if t["cpu"] == int(cpu)),
               key=lambda t: t["who_ns"] or 0)
    if (most["who"], str(most["who_tid"])) != (comm, tid) or \
            abs(most["who_ns"] - nanoseconds(ran)) > most["who_ns"] * 0.006:
        return [f"ran: '{why}', {most}"]
    return []


def judge_graph(tap, name, size, trace, terminal):
    """The scale of the graph of calls ends at the slowest call of the trace that waits for no one, or for a lock."""
    calls = rows_of("slow", trace)
    slowest = max(c["duration_ns"] for c in calls if c["waited"] is None)
    locks = [c["duration_ns"] for c in calls if c["syscall"] == "futex" and c["waited"] == "while working"]
    for _ in range(5):
        lines = terminal.press("a", "graph:")
        if any("graph: slowest call" in line for line in lines):
            break
    scales = [m for m in (re.match(r" *([\d.]+)(ns|us|ms|s)│", line) for line in lines) if m]
    ns = nanoseconds(scales[0].group(1) + scales[0].group(2)) if scales else 0
    tap.ok(any(abs(ns - x) <= x * 0.006 for x in [slowest] + [x for x in locks if x > slowest]), f"{name}, {size}: the graph of calls goes to the slowest call",
           f"scale {ns} ns, slowest {slowest} ns", *lines[:12])


def main():
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    if not shutil.which("tmux"):
        tap.skip("the screen", "tmux is not installed")
        tap.done()
    for name, size in SCREENS:
        if blk.find(*name.split("/")):
            judge_screen(tap, name, size)
        else:
            tap.skip(f"{name}, {size}", "the trace is not there")
    tap.done()


if __name__ == "__main__":
    main()
