#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same seconds of one machine by LTTng's kernel modules and by the kernel's own ring buffer: events are paired one to one by name, CPU, thread and
time, their fields compared, and the views that blktop makes of both. Each difference that is expected is in a table here, with its reason."""
import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk  # noqa: E402  (beside this)
import btparse  # noqa: E402

MS = 10 ** 6
NEAR = 2 * MS           # ns: two callbacks of one tracepoint, in an emulator
FAR_APART = 8           # pairs of a recording that may be further apart: the emulator stopped between the two

# Only one of the tracers was asked for these.
ONLY_ONE = {
    "timer_hrtimer_expire_entry": "ring buffer only", "timer_hrtimer_expire_exit": "ring buffer only",
    "block_bio_backmerge": "ring buffer only", "napi_poll": "LTTng only",
}
# System calls that LTTng 2.13 has no description of: it writes syscall_entry_unknown.
UNKNOWN_TO_LTTNG_2_13 = {"arch_prctl", "clone3", "getrandom", "rseq", "rt_sigreturn", "vfork"}
# Names of files are compared apart: babeltrace2 prints the text of an earlier event where a text is empty.
TEXTS = {"filename", "pathname", "path", "name"}
# Fields of the recorded ring buffers, which a prototype wrote, that are not LTTng's: of connect to a socket in the file system, the bytes of its path as
# a port; the data that is written, of which LTTng has the address.
OTHER_FIELDS = {("syscall_entry_connect", "dport"), ("syscall_entry_write", "buf"), ("syscall_entry_pwrite64", "buf")}


def window(lttng, ring):
    """The events of both in their common time, without the state dumps."""
    lttng, ring = ([e for e in t if "statedump" not in e.name] for t in (lttng, ring))
    low, high = max(lttng[0].ns, ring[0].ns), min(lttng[-1].ns, ring[-1].ns)
    return [[e for e in t if low <= e.ns <= high] for t in (lttng, ring)]


def canonical(name, unknown):
    """The name under which events are compared."""
    for way in ("syscall_entry_", "syscall_exit_"):
        if unknown and name.startswith(way) and name[len(way):] in UNKNOWN_TO_LTTNG_2_13:
            return way + "unknown"
    return name


def own_calls(events):
    """Threads of what recorded the ring buffer: it leaves its own system calls out."""
    return {e.ctx["tid"] for e in events if e.ctx.get("procname") == "ftctf"}


def groups(events, own, unknown):
    found = collections.defaultdict(list)
    for e in events:
        if e.name in ONLY_ONE or (e.name.startswith("syscall_") and e.ctx["tid"] in own):
            continue
        found[canonical(e.name, unknown), e.cpu, e.ctx["tid"]].append(e)
    return found


def pair(lttng, ring):
    """Pairs in order; events of either that have none within the limit. A tracer records what a thread does on a CPU in order, so the nth event of the one
    is the nth of the other."""
    both = list(zip(lttng, ring))
    apart = [x for x, y in both if abs(x.ns - y.ns) > NEAR]
    return both, apart + lttng[len(both):] + ring[len(both):]


def is_same(x, y):
    """Also where one declares as unsigned, or in 8 bytes, what the other does not: lseek's offset, mmap's descriptor."""
    return x == y or (isinstance(x, int) and isinstance(y, int) and min(x, y) < 0 and (x - y) % (1 << 32) == 0)


def different(a, b):
    """Fields that both have with other values, and how many were compared."""
    texts = TEXTS if a.name.startswith("syscall_") else {"filename"}
    common = [f for f in a.payload if f in b.payload and f not in texts and (a.name, f) not in OTHER_FIELDS]
    return [(a.name, a.ns, f, a.payload[f], b.payload[f]) for f in common if not is_same(a.payload[f], b.payload[f])], len(common)


def check_events(tap, what, trace, ring_trace):
    lttng, ring = window(btparse.events(trace), btparse.events(ring_trace))
    own = own_calls(lttng)
    unknown = any(e.name == "syscall_entry_unknown" for e in lttng)
    a, b = groups(lttng, own, unknown), groups(ring, own, unknown)
    pairs, alone = [], []
    for key in sorted(set(a) | set(b)):
        some, rest = pair(a.get(key, []), b.get(key, []))
        pairs += some
        alone += rest
    counts = [collections.Counter(canonical(e.name, unknown) for e in t if e.name not in ONLY_ONE and not
                                  (e.name.startswith("syscall_") and e.ctx["tid"] in own)) for t in (lttng, ring)]
    tap.none([(n, counts[0][n], counts[1][n]) for n in sorted(set(counts[0]) | set(counts[1])) if counts[0][n] != counts[1][n]],
             f"{what}: as many events of each name ({len(counts[0])} names, {sum(counts[0].values())} events)")
    tap.ok(len(alone) <= FAR_APART and len(pairs) > 20000, f"{what}: events are paired one to one ({len(pairs)})", *[(e.name, e.ns, e.cpu) for e in alone])
    wrong, compared = [], 0
    for x, y in pairs:
        bad, n = different(x, y)
        wrong += bad
        compared += n
    tap.none(wrong, f"{what}: fields are equal ({compared})")
    gaps = sorted(abs(y.ns - x.ns) for x, y in pairs)
    tap.ok(gaps[len(gaps) // 2] < 20000, f"{what}: the two times of an event are close", gaps[len(gaps) // 2])


# ---- file names, by blktop's log ----

def log(trace):
    r = subprocess.run([blk.BLKTOP, "log", trace, "--format", "json"], capture_output=True, check=False)
    for line in r.stdout.decode("utf-8", "replace").splitlines():
        e = json.loads(line)
        if e["kind"] == "call" and "filename" in (e["args"] or {}) and e["entry_ns"]:
            yield e


def check_names(tap, what, traces, offsets):
    """Of each thread, the nth call of a name that both saw."""
    own = own_calls(btparse.events(traces[0]))
    calls = [collections.defaultdict(list) for _ in traces]
    both = window(*(btparse.events(t) for t in traces))
    low, high = max(t[0].ns for t in both), min(t[-1].ns for t in both)
    for found, trace, offset in zip(calls, traces, offsets):
        for e in log(trace):
            if low <= e["entry_ns"] - offset <= high and e["tid"] not in own:
                found[e["name"], e["tid"]].append((e["entry_ns"] - offset, e["args"]["filename"]))
    compared, cut, wrong = 0, 0, []
    with_names = {name for name, _ in calls[1]}     # before Linux 7, only calls that have a probe
    for key, some in calls[0].items():
        others = calls[1].get(key, [])
        if len(some) != len(others) and key[0] in with_names:
            wrong.append((key, len(some), len(others)))
        for (at, text), (_, other) in zip(some, others):
            if not text or not other:       # a page that was not there yet: unknown to one of them
                continue
            compared += 1
            if other.endswith("...") and text.startswith(other[:-3]) and len(text) > 60:
                cut += 1                    # Linux 7 cuts at 63 bytes, if it is not asked for more
            elif text != other:
                wrong.append((*key, at, text, other))
    tap.ok(not wrong and compared > 100, f"{what}: names of files are equal ({compared}, of which {cut} are cut by the kernel)", *wrong[:10], compared)


# ---- views ----

# Of each view: what identifies a row, and the columns that are sums of events. Times differ by microseconds.
VIEWS = {
    "syscalls": (["pid", "comm", "syscall"], ["count", "errors"]),
    "devices": (["kind", "device"], ["reads", "writes", "read_bytes", "write_bytes", "errors", "requeues"]),
    "interrupts": (["cpu", "irq"], ["count", "raise_count"]),
    "scheduler": (["pid", "comm"], ["switches", "preemptions", "voluntary", "migrations", "count", "preempted_count"]),
    # Who woke differs: LTTng was not asked for timers, so it names what ran instead of the timer.
    "wakers": (["pid", "comm"], ["count"]),
    # Names differ where a kernel cuts or cannot read them (compared above), and where a peer needs a probe.
    "files": (["pid", "comm"], ["reads", "writes", "read_bytes", "write_bytes", "errors", "syncs", "others"]),
    "processes": (["pid"], ["syscalls", "read_bytes", "write_bytes"]),
    "io": (["pid", "comm"], ["reads", "writes", "read_bytes", "write_bytes"]),
    "peers": (["peer"], ["packets", "bytes"]),
    "locks": (["lock", "pid"], ["waits"]),
    "cpus": (["cpu"], []),
}
# Time in ns that both measured: nearly equal.
TIMES = {"cpus": ["run_ns", "idle_ns"], "processes": ["cpu_ns"], "syscalls": ["total_ns"], "scheduler": ["total_ns"]}
OWN = re.compile("ftctf|lttng-")        # each tracer leaves out, or causes, what the other has
# What only one of them has: a view, and a text in the row's identity.
ONLY = (("interrupts", "hrtimer"),)     # LTTng was not asked for timers
# Calls that were entered before the later tracer began: it cannot count their end.
WAITS = {"wait4", "clock_nanosleep", "poll", "epoll_wait", "select", "pselect6", "futex", "read"}


def table(trace, view, times):
    identity, sums = VIEWS[view]
    r = subprocess.run([blk.BLKTOP, "-b", "--no-cache", "--view", view, "--format", "csv", *times, trace], capture_output=True, text=True, check=False,
                       env=dict(os.environ, TZ="UTC"))
    found = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(io.StringIO(r.stdout)):
        if OWN.search(row.get("comm") or "") or OWN.search(row.get("waker") or ""):
            continue
        for c in sums + TIMES.get(view, []):
            if row.get(c):
                found[tuple(row[i] for i in identity)][c] += int(row[c])
    return found


def is_listed(view, key):
    return any(view == v and text in " ".join(key) for v, text in ONLY)


def waited_before(view, key, x, y):
    """A call that one did not see the entry of."""
    calls = {"syscalls": "count", "processes": "syscalls"}.get(view)
    return calls and abs(x[calls] - y[calls]) <= 1 and (view == "processes" or key[-1] in WAITS)


def at_the_edge(view, x, y):
    """The two times of a raise lie on both sides of something."""
    return view == "interrupts" and x["count"] == y["count"] and abs(x["raise_count"] - y["raise_count"]) <= 1


def check_view(tap, what, view, traces, times):
    a, b = (table(t, view, times) for t in traces)
    columns = VIEWS[view][1]
    wrong, rows = [], 0
    for key in sorted(set(a) | set(b)):
        x, y = a.get(key), b.get(key)
        if is_listed(view, key):
            continue
        if x is None or y is None:
            left = x or y
            if any(left[c] for c in columns):
                wrong.append((key, "only LTTng" if y is None else "only ring buffer", dict(left)))
            continue
        rows += 1
        if any(x[c] != y[c] for c in columns) and not waited_before(view, key, x, y) and not at_the_edge(view, x, y):
            wrong.append((key, {c: (x[c], y[c]) for c in columns if x[c] != y[c]}))
    for c in TIMES.get(view, []):
        same = [k for k in set(a) & set(b) if all(a[k][x] == b[k][x] for x in columns)]
        both = [sum(t[k][c] for k in same) for t in (a, b)]
        if abs(both[0] - both[1]) > max(both) * 0.02 + MS:
            wrong.append((c, both))
    tap.none(wrong, f"{what}: view {view} is equal ({rows} rows)")


def seconds(trace, ring_trace):
    """--from and --to: whole seconds that both have."""
    begin, end = [], []
    for t in (trace, ring_trace):
        events = [e for e in btparse.events(t) if "statedump" not in e.name]
        begin.append(events[0].ns + btparse.offset(t))
        end.append(events[-1].ns + btparse.offset(t))
    clock = [time.strftime("%H:%M:%S", time.gmtime(ns // 10 ** 9)) for ns in (max(begin) + 2 * 10 ** 9, min(end) - 10 ** 9)]
    return ["--from", clock[0], "--to", clock[1]]


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    work = tempfile.mkdtemp(prefix="blktop-tracers.")
    try:
        for kernel in ("6.1", "7.2"):
            name = f"both-{kernel}"
            packed = os.path.join(blk.SHARED, "traces", "tracefs", name + ".tar.xz")
            if not os.path.exists(packed):
                tap.skip(name, "../shared/traces/tracefs is not beside this source tree")
                continue
            subprocess.run(["tar", "-xJf", packed, "-C", work], check=True)
            traces = [os.path.join(work, name, t) for t in ("trace", "ft")]
            check_events(tap, f"Linux {kernel}", *traces)
            check_names(tap, f"Linux {kernel}", traces, [btparse.offset(t) for t in traces])
            times = seconds(*traces)
            for view in VIEWS:
                check_view(tap, f"Linux {kernel}", view, traces, times)
    finally:
        shutil.rmtree(work)
    tap.done()


if __name__ == "__main__":
    main()
