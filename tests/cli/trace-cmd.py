#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files of trace-cmd: every version, byte order, size of a long, page size and compression shows the same events, times and losses, which are those
that were written; real files have what trace-cmd reports; damage is refused or a loss; nothing of the conversion stays."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE / "lint"), str(HERE / "lib")]
import tap  # noqa: E402  (goes to the source tree)
import trace_dat  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
SHARED = pathlib.Path(tap.ROOT, "../shared/traces/tracefs")
work = tempfile.mkdtemp(prefix="blktop-dat.")
ENV = dict(os.environ, HOME=work, XDG_CACHE_HOME=work + "/cache", TZ="UTC", LC_ALL="C.UTF-8")
LIMIT = 120
MS = 10 ** 6


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False)


def rows(path, view, *more):
    r = run("-b", "--config", "none", "--no-cache", "--format", "csv", "--view", view, *more, path)
    return list(csv.DictReader(io.StringIO(r.stdout))), r


def write(name, data):
    path = os.path.join(work, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- a story with known sums ----

def tell(f):
    """Threads 5 and 6 take turns on CPU 0 for 1 and 2 ms, 400 times; CPU 1 closes files. Returns what was written."""
    at, counts = 10 ** 12, {}

    def add(cpu, when, event, tid, **values):
        f.add(cpu, when, event, tid, **values)
        counts[event] = counts.get(event, 0) + 1

    for _ in range(400):
        for tid, other, ms in ((5, 6, 1), (6, 5, 2)):
            at += ms * MS
            add(0, at, "sched_switch", tid, prev_comm=f"turn-{tid}", prev_pid=tid, prev_prio=120, prev_state=0,
                next_comm=f"turn-{other}", next_pid=other, next_prio=120)
    for i in range(100):
        add(1, 10 ** 12 + i * MS, "sys_enter_close", 7, fd=i)
        add(1, 10 ** 12 + i * MS + 500, "sys_exit_close", 7, ret=-9 if i % 10 == 0 else 0)
        add(1, 10 ** 12 + i * MS + 600, "irq_handler_entry", 7, irq=9, name=f"dev{i % 3}")
    for n in (11, 5):
        at += 200 * MS          # longer than 2^27 ns: a time extend
        f.lose(0, n)
        add(0, at, "softirq_raise", 0, vec=1)
    return counts


FORMS = [(6, False, 8, 4096, "none"), (6, True, 8, 4096, "none"), (6, False, 4, 4096, "none"), (6, True, 4, 65536, "none"),
         (7, False, 8, 4096, "none"), (7, False, 8, 65536, "zlib"), (7, True, 4, 4096, "zlib")]
if shutil.which("zstd"):
    FORMS.append((7, False, 8, 4096, "zstd"))
LTTNG = {"sched_switch": "sched_switch", "sys_enter_close": "syscall_entry_close", "sys_exit_close": "syscall_exit_close",
         "irq_handler_entry": "irq_handler_entry", "softirq_raise": "irq_softirq_raise"}


def check_story():
    first = None
    for form in FORMS:
        name = "version {}, {} endian, long of {}, pages of {}, {}".format(form[0], "big" if form[1] else "little", *form[2:])
        f = trace_dat.File(*form, cmdlines=[(7, "closer")])
        counts = tell(f)
        path = write("story.dat", f.bytes())
        problems = []
        events, r = rows(path, "events")
        got = {e["name"]: int(e["count"]) for e in events if not e["name"].startswith("lttng_statedump")}
        if got != {LTTNG[k]: n for k, n in counts.items()}:
            problems.append(f"events {got}, written {counts}: {r.stderr}")
        by = {int(x["tid"]): x for x in rows(path, "processes", "--by", "thread")[0] if x["tid"]}
        # the first turn of 5 began before the recording
        if (by[5]["cpu_ns"], by[6]["cpu_ns"]) != (str(399 * MS), str(800 * MS)) or by[7]["comm"] != "closer":
            problems.append(f"threads {by[5]['cpu_ns']} {by[6]['cpu_ns']} {by[7]['comm']}")
        calls = [x for x in rows(path, "syscalls")[0] if x["syscall"] == "close"]
        if not calls or (calls[0]["count"], calls[0]["errors"], calls[0]["max_ns"]) != ("100", "10", "500"):
            problems.append(f"calls {calls}")
        losses = rows(path, "losses")[0]
        if [(x["cpu"], x["losses"], x["events"], x["lost_ns"]) for x in losses] != [("0", "2", "16", str(400 * MS))]:
            problems.append(f"losses {losses}")
        log = run("log", "--config", "none", path).stdout
        first = first or log
        if log != first or 'name = "dev2"' not in log or "close(fd 3) = 0" not in log.replace("fd = ", "fd "):
            problems.append("log: " + "\n".join(sorted(set(log.splitlines()) ^ set(first.splitlines()))[:5] or log.splitlines()[:8]))
        tap.ok(name, problems)


def check_losses():
    """A page that does not say how many are missing before it: the rest of the file's statistics; without them one at least."""
    for overrun, expected in (((100, 30), ["100", "30"]), ((), ["1", "1"]), ((7, 0), ["7", "1"])):
        f = trace_dat.File(overrun=overrun)
        for cpu in (0, 1):
            f.add(cpu, 1000, "softirq_raise", 1, vec=1)
            f.lose(cpu)
            f.add(cpu, 9000, "softirq_raise", 1, vec=1)
        losses = rows(write("lost.dat", f.bytes()), "losses")[0]
        tap.ok(f"losses that pages do not count, {overrun} by the statistics of each CPU",
               [] if [(x["events"], x["lost_ns"]) for x in losses] == [(n, "8000") for n in expected] else [losses])


def check_clock():
    f = trace_dat.File(offset=1700000000 * 10 ** 9)
    f.add(0, 1000, "softirq_raise", 1, vec=1)
    log = run("log", "--config", "none", "--utc", write("offset.dat", f.bytes())).stdout
    tap.ok("an offset to the time of day", [] if "22:13:20.000001" in log else [log])
    for clock, code, word in (("mono", 0, ""), ("local", 0, "not the same on all CPUs"), ("counter", 1, "does not count nanoseconds"),
                              ("x86-tsc", 1, "-C mono")):
        f = trace_dat.File(clock=clock)
        f.add(0, 1000, "softirq_raise", 1, vec=1)
        r = run("-b", "--config", "none", "--view", "events", write("clock.dat", f.bytes()))
        tap.ok(f"clock {clock}", [] if r.returncode == code and (word in r.stderr if word else not r.stderr) else [r.returncode, r.stderr])


def check_doctor():
    """What LTTng did not record, lttng commands do not repair."""
    def repairs(f):
        r = run("--doctor", "--format", "json", "--config", "none", write("doctor.dat", f.bytes()))
        return json.loads(r.stdout)["repairs"]

    f = trace_dat.File()
    tell(f)
    got = repairs(f)
    commands = [c for r in got for c in r["commands"]]
    problems = [c for c in commands if "lttng" in c]
    if commands.count("sudo blktop record -o DIR") != 1:
        problems.append(commands)
    whole = [r for r in got if r["commands"] == ["sudo blktop record -o DIR"]]
    if not whole or "block_rq_issue" not in whole[0]["problem"] or "sched_switch" in whole[0]["problem"] or "trace-cmd recorded" not in whole[0]["problem"]:
        problems.append(whole)
    if "sudo blktop record -o DIR --kernel-buffer 32M" not in commands:
        problems.append(commands)
    tap.ok("the doctor advises one new recording, and larger buffers", problems)
    f = trace_dat.File()
    f.add(0, 1000, "softirq_raise", 1, vec=1)
    f.lose(0, 3_000_000)
    f.add(0, 2000, "softirq_raise", 1, vec=1)
    large = [int(re.search(r"(\d+)M", c)[1]) for r in repairs(f) for c in r["commands"] if "--kernel-buffer" in c]
    cut = "/a" * 31 + "/" + "..."
    f = trace_dat.File()
    for name in ("/etc/short...", cut):
        f.add(0, 1000, "sys_enter_openat", 1, dfd=0, __filename_val=name)
    path = write("names.dat", f.bytes())
    log = run("log", "--config", "none", path).stdout
    tap.ok("names of files, the cut one is marked", [] if '"/etc/short..."' in log and f'"{cut}[cut]"' in log else [log])
    kernels = json.loads(run("--doctor", "--format", "json", "--config", "none", path).stdout)["kernels"]
    text = run("--doctor", "--config", "none", path).stdout
    line = "box: names of files from the kernel's events (Linux 7.0)"
    tap.ok("the doctor says how names of files came", [] if kernels == [line] and f"\nkernel of {line}\n" in text else [kernels, text])
    tap.ok("buffers that hold twice what was lost", [] if len(large) == 1 and large[0] >= 128 and large[0] & (large[0] - 1) == 0 else [large])


def check_real():
    """Recordings of trace-cmd 3.1 with its own report."""
    for version, events in ((6, 263), (7, 272)):
        packed = SHARED / f"trace-cmd-v{version}.dat.xz"
        if not packed.exists():
            tap.skip(f"a recording of version {version}", "../shared has no recordings of trace-cmd")
            continue
        path = write("real.dat", subprocess.run(["xz", "-dc", packed], capture_output=True, check=True).stdout)
        log = run("log", "--config", "none", path).stdout
        all_events = [x for x in rows(path, "events")[0] if not x["name"].startswith("lttng_statedump")]
        problems = [] if sum(int(x["count"]) for x in all_events) == events else [all_events]
        for line in (SHARED / f"trace-cmd-v{version}.txt").read_text().splitlines():
            m = re.match(r"\s*(\S+)-(\d+)\s+\[(\d+)\]\s+(\d+\.\d+): (\w+):\s+(.*)", line)
            if not m or not m[5].startswith("sched_"):
                continue
            pids = re.findall(r"(?<!prev_)(?:next_|\b)pid=(\d+)", m[6])
            found = [x for x in log.splitlines() if m[5] in x and re.search(rf"tid = {pids[-1]}\b", x) and
                     abs(float(x.split()[0].split(":")[-1]) - float(m[4])) <= 1e-6]       # trace-cmd rounds
            if len(found) != 1:
                problems.append(line)
        tap.ok(f"a recording of version {version} has what trace-cmd reports", problems)


def check_damage():
    f = trace_dat.File()
    tell(f)
    whole = f.bytes()
    problems = []
    for n in [0, 5, 10, 12, 20, 50, 200, 1000, 3000, len(whole) // 2, len(whole) - 1]:
        r = run("-b", "--config", "none", "--view", "events", write("cut.dat", whole[:n]))
        if r.returncode != 1 or "cut.dat" not in r.stderr:
            problems.append(f"{n} bytes: {r.returncode} {r.stderr}")
    tap.ok("files that end too early are refused by name", problems)
    for name, data, words in (("a later version", whole.replace(b"tracing6", b"tracing8"), "version '8'"),
                              ("a latency trace", whole.replace(b"flyrecord\0", b"latency  \0"), "trace-cmd record"),
                              ("an unknown compression", trace_dat.File(7, compression="none").bytes().replace(b"none\0", b"lzma\0"), "lzma"),
                              ("no events", trace_dat.File().bytes(), "no events")):
        r = run("-b", "--config", "none", "--view", "events", write("odd.dat", data))
        tap.ok(f"{name} is refused", [] if r.returncode == 1 and words in r.stderr and "odd.dat" in r.stderr else [r.returncode, r.stderr])
    # a damaged page in the middle: the rest is there, and that something is missing
    at = whole.index(b"turn-5\0", len(whole) // 2) // 4096 * 4096
    data = whole[:at + 8] + b"\xff\xff" + whole[at + 10:]
    losses, r = rows(write("page.dat", data), "losses")
    tap.ok("a damaged page is a loss", [] if any(int(x["events"] or 0) == 17 for x in losses) and r.returncode in (0, 3) else [losses, r.stderr])


def check_rest():
    cache = pathlib.Path(work, "cache", "blktop")
    f = trace_dat.File()
    tell(f)
    path = write("rest.dat", f.bytes())
    left = [str(p) for p in cache.glob("converted-*")]
    tap.ok("nothing of a conversion stays", left)
    both, r = rows(path, "events", path)
    tap.ok("two files at once", [] if len(both) > 5 else [r.stderr])
    out = os.path.join(work, "saved")
    r = run("save", "--config", "none", "-o", out, path)
    text = subprocess.run(["babeltrace2", out], capture_output=True, text=True, check=False).stdout
    tap.ok("saved as CTF, which babeltrace2 reads", [] if text.count("sched_switch") == 800 else [r.stderr, text[:500]])
    # Killed while it shows the file: the next one that converts removes what is left.
    p = subprocess.Popen([PROGRAM, "-b", "--config", "none", "--view", "processes", "--listen", "127.0.0.1:0", path], env=ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + LIMIT
    while not list(cache.glob("converted-*/0/rest.dat/metadata")) and p.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    stays = p.poll() is None
    p.send_signal(signal.SIGKILL)
    p.wait()
    if stays and list(cache.glob("converted-*")):
        run("-b", "--config", "none", "--view", "events", path)
        tap.ok("what a killed program left is removed", [str(x) for x in cache.glob("converted-*")])
    else:
        tap.skip("what a killed program left is removed", "it ended before it was killed")


try:
    check_story()
    check_losses()
    check_clock()
    check_doctor()
    check_real()
    check_damage()
    check_rest()
finally:
    shutil.rmtree(work)
tap.done()
