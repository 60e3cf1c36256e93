#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A CPU goes offline and comes back while the kernel's own ring buffer is recorded, and one is offline when that begins: nothing is lost. While it is
away, nothing counts as its work. (Of one that is offline at the beginning, the first task that its events show counts as running since then.)"""
import os
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / where) for where in ("lint", "live")]
import tap  # noqa: E402  (goes to the source tree)
import tracefs  # noqa: E402

CPU = max(os.sched_getaffinity(0))
SWITCH = pathlib.Path(f"/sys/devices/system/cpu/cpu{CPU}/online")
# Works on the CPU, takes it offline, works elsewhere, and works there again; it says how long that took.
PROGRAM = f"""
import os, pathlib, time
def work(cpus, seconds):
    os.sched_setaffinity(0, cpus)
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
switch, cpu, others = pathlib.Path("{SWITCH}"), {CPU}, set(range({CPU}))
def turn(what): switch.write_text(what)
"""
AWAY = "work({cpu}, 0.5); work(others, 0.1); turn('0'); work(others, 1.0); turn('1'); work({cpu}, 0.5)\n"
LATER = "work(others, 1.0); turn('1'); work({cpu}, 0.5)\n"


def recorded(name, program):
    to = os.path.join(tracefs.work, name)
    r = subprocess.run([tracefs.PROGRAM, "record", "-o", to, "--kernel", "tracefs", "--", sys.executable, "-c", PROGRAM + program], env=tracefs.ENV,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=tracefs.LIMIT, check=False)
    b = subprocess.run([tracefs.PROGRAM, "-b", "--config", "none", "--no-cache", "--view", "cpus", "--format", "csv", to], env=tracefs.ENV, capture_output=True,
                       text=True, timeout=tracefs.LIMIT, check=False)
    row = next((x for x in tracefs.rows(b.stdout) if x["cpu"] == str(CPU)), {})
    tap.ok(f"{name}: all is recorded, and nothing lost", [] if r.returncode == 0 and b.returncode == 0 else [r.returncode, r.stderr, b.returncode, b.stderr])
    return {k: int(row.get(k) or 0) / 1e9 for k in ("run_ns", "idle_ns", "unknown_ns")}


def main():
    reason = tracefs.unusable() or (None if CPU and os.access(SWITCH, os.W_OK) else "no CPU that can go offline")
    if reason:
        print("1..0 # SKIP", reason)
        return
    with tracefs.mounted():
        try:
            was = recorded("away", AWAY)
            tap.ok("it worked before and after, and not meanwhile", [] if was["run_ns"] >= 0.9 and was["run_ns"] < 1.9 else [was])
            SWITCH.write_text("0", encoding="ascii")
            was = recorded("later", LATER)
            tap.ok("it works once it is there", [] if was["run_ns"] >= 0.45 else [was])
        finally:
            SWITCH.write_text("1", encoding="ascii")
    tap.done()


if __name__ == "__main__":
    main()
