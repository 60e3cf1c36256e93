#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own ring buffer against what the kernel counts in /proc, and against programs that know what they did. A program that blktop follows reads
/proc twice; the figures must lie between what it saw in the meantime and what was counted from before the start of blktop until after its end."""
import json
import os
import sys

import tracefs
import tap  # noqa: E402  (tracefs.py adds its folder)

MS = 10 ** 6
SECTOR = 512
ETHERNET = 14       # bytes of its header, which /proc does not count of the loopback device (drivers/net/loopback.c: eth_type_trans)

COUNTERS = r"""
def counters():
    seen = {}
    for line in open("/proc/stat"):
        if line.startswith("processes"):
            seen["forks"] = int(line.split()[1])
    for line in open("/proc/softirqs"):
        name, _, numbers = line.partition(":")
        if numbers:
            seen["softirq " + name.strip()] = sum(map(int, numbers.split()))
    for line in open("/proc/diskstats"):
        f = line.split()
        for at, what in ((3, "reads "), (5, "read_bytes "), (7, "writes "), (9, "write_bytes "), (18, "flushes ")):
            seen[what + f[2]] = int(f[at]) if at < len(f) else 0
    for line in open("/proc/net/dev"):
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            seen["lo bytes"], seen["lo packets"] = map(int, numbers.split()[8:10])
    return seen
"""
exec(COUNTERS)          # noqa: S102  (what the program below does, too)

PROGRAM = COUNTERS + r"""
import json, os, socket, sys
begin = counters()
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(20):
    os.pwrite(fd, bytes([i]) * 65536, i * 65536)
    os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
for i in range(20):
    os.pread(fd, 65536, i * 65536)
here, there = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
there.bind(("127.0.0.1", 0))
for i in range(300):
    here.sendto(b"x" * 1000, there.getsockname())
    there.recv(2000)
for i in range(50):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
json.dump([begin, counters()], open(sys.argv[2], "w"))
"""


def followed(program, view, *more):
    """Rows, and what the program wrote into its file."""
    said = os.path.join(tracefs.work, "said.json")
    r = tracefs.run("--format", "csv", "--view", view, *more, "--", sys.executable, "-c", program, os.path.join(tracefs.work, "file"), said)
    with open(said, encoding="ascii") as f:
        return tracefs.rows(r.stdout), json.load(f), r


def total(rows, column, **where):
    return sum(int(r[column] or 0) for r in rows if all(r[k] == v for k, v in where.items()))


def check_within(view, figures):
    """figures(rows): {name of the counter: the figure}."""
    before = counters()
    rows, (begin, end), r = followed(PROGRAM, view)
    after = counters()
    wrong = []
    found = figures(rows)
    for name, figure in found.items():
        low, high = end.get(name, 0) - begin.get(name, 0), after.get(name, 0) - before.get(name, 0)
        if name.startswith("writes "):      # the kernel counts an fsync that has nothing to write as a write; a flush can serve several
            flushes = name.replace("writes", "flushes")
            low -= 2 * (after[flushes] - before[flushes])
        if not low <= figure <= high:
            wrong.append((name, low, figure, high))
    tap.ok(f"{view}: {len(found)} figures are what /proc counts", wrong if r.returncode == 0 and found else [wrong, found, r.returncode, r.stderr])
    return found


def softirqs(rows):
    names = {r["irq"] for r in rows if r["irq"].startswith("softirq ")}
    return {n: total(rows, "count", irq=n) for n in sorted(names)}


def disks(rows):
    packets = total(rows, "writes", kind="net", device="lo")
    found = {"lo packets": packets, "lo bytes": total(rows, "write_bytes", kind="net", device="lo") - ETHERNET * packets}
    for d in {r["device"] for r in rows if r["kind"] == "block"}:
        for c in ("reads", "writes"):
            found[f"{c} {d}"] = total(rows, c, kind="block", device=d)
            found[f"{c[:-1]}_bytes {d}"] = total(rows, f"{c[:-1]}_bytes", kind="block", device=d) // SECTOR
    return found


# ---- a process that shares its CPU ----

SHARED = r"""
import json, os, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
other = os.fork()
end = time.monotonic() + 1.5
while time.monotonic() < end:
    pass
def schedstat():
    return list(map(int, open("/proc/self/schedstat").read().split()))
if not other:
    os._exit(0)
os.waitpid(other, 0)
with open(sys.argv[2], "w") as f:
    f.write(json.dumps(dict(pid=os.getpid(), stat=schedstat())))
os._exit(0)             # at once: what it does from here on is not in what it says
"""


def check_schedstat():
    rows, said, r = followed(SHARED, "processes")
    pid = str(said["pid"])
    run, wait, unknown = (total(rows, c, pid=pid) for c in ("cpu_ns", "runnable_ns", "unknown_ns"))
    # the ends: before it was the program it was a process of blktop; the kernel here leaves out some switches, so time can be unknown
    end = 60 * MS + unknown
    # behind what it says, it waits for its child and ends: it can wait for a busy CPU twice
    after = 400 * MS
    ran, waited = said["stat"][:2]
    bad = [] if abs(run - ran) <= end and -end <= wait - waited <= end + after and waited > 300 * MS else [run, wait, unknown, said, r.stderr]
    tap.ok("a process that shares a CPU ran and waited as /proc/PID/schedstat says", bad)


def main():
    reason = tracefs.unusable()
    if reason:
        print("1..0 # SKIP", reason)
        return
    with tracefs.mounted():
        check_within("events", lambda rows: {"forks": total(rows, "count", name="sched_process_fork")})
        check_within("interrupts", softirqs)
        check_within("devices", disks)
        check_schedstat()
    tap.done()


if __name__ == "__main__":
    main()
