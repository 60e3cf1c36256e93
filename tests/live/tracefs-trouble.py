#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own ring buffer in trouble: thousands of short processes (a hundred thousand with ALL=1, as in make check-long), others who change or unmount
what is in use, kills at any moment, no rights."""
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import tracefs
import tap  # noqa: E402  (tracefs.py adds its folder)

FORKS = int(os.environ.get("FORKS", "100000" if os.environ.get("ALL") else "5000"))
KILLS = int(os.environ.get("KILLS", "6"))
MOST_MB = 700           # of memory of blktop, whatever the number of processes that it saw
CHILDREN = f"""
import os
for i in range({FORKS}):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
"""


def peak_mb(pid):
    try:
        return int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii"))[1]) >> 10
    except (OSError, TypeError):
        return 0


def check_short_processes():
    """Of each, its fork by the program; and the memory that blktop needs for them."""
    out, most = os.path.join(tracefs.work, "out"), 0
    with open(out, "w", encoding="utf-8") as f:
        p = subprocess.Popen([*tracefs.BASE, "--format", "csv", "--view", "processes", "--", sys.executable, "-c", CHILDREN], env=tracefs.ENV,
                             stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.PIPE, text=True)
        while os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            most = max(most, peak_mb(p.pid))
            time.sleep(0.05)
        err = p.communicate()[1]
    with open(out, encoding="utf-8") as f:
        table = tracefs.rows(f.read())
    children = {}
    for r in table:
        if r["pid"] and r["ppid"] and r["comm"].startswith("python"):
            children.setdefault(r["ppid"], set()).add(r["pid"])
    found = max(map(len, children.values()), default=0)
    lost = "the tracer lost" in err     # a busy machine: then it is said
    ids = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))    # used again beyond
    all_found = found == FORKS if FORKS < ids // 2 else found > ids // 2
    tap.ok(f"{FORKS} short processes are seen, with their parent", [] if p.returncode == 0 and (all_found or (lost and found)) else [found, p.returncode, err])
    tap.ok("each thread belongs to a process", [r for r in table if not r["pid"] and r["comm"]])
    tap.ok(f"memory is bounded: {most} MB", [] if 0 < most < MOST_MB else [most])


def end(p, instance):
    """It ends by itself, after its seconds."""
    out, err = p.communicate(timeout=tracefs.LIMIT)
    return tracefs.gone(instance), len(out), err


def check_others():
    """Somebody else disables events in our instance, and tries to remove it."""
    p, instance = tracefs.start("--seconds", "4")
    there = pathlib.Path(tracefs.MOUNT, "instances", instance)
    tracefs.poll(lambda: tracefs.reads(p))
    (there / "events/sched/enable").write_text("0")
    try:
        there.rmdir()
        refused = False
    except OSError:
        refused = True
    alive = p.poll() is None
    removed, written, err = end(p, instance)
    tap.ok("events that others disable, an instance that others want to remove", [] if refused and alive and removed and written else [refused, alive, removed, written, err])


def check_unmounted():
    """tracefs is unmounted where blktop runs: what is open goes on, and nothing is left."""
    p = subprocess.Popen(["unshare", "-m", "--propagation", "private", *tracefs.BASE, "--seconds", "4", "--view", "processes"], env=tracefs.ENV,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    instance = f"blktop-{p.pid}"
    tracefs.poll(lambda: tracefs.reads(p))
    r = subprocess.run(["nsenter", "-t", str(p.pid), "-m", "umount", "-l", tracefs.MOUNT], capture_output=True, text=True, check=False)
    removed, written, err = end(p, instance)
    tap.ok("tracefs is unmounted meanwhile", [] if not r.returncode and removed and written else [r.stderr, removed, written, err])


def check_kills():
    """blktop or its helper is killed at any moment; after --sweep nothing is left."""
    left, seed = [], random.Random(41)
    for n in range(KILLS):
        p = subprocess.Popen([*tracefs.BASE, "--view", "processes"], env=tracefs.ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        until = time.monotonic() + seed.uniform(0, 1.5)
        while time.monotonic() < until and p.poll() is None:
            time.sleep(0.005)
        helper = tracefs.helper_of(p.pid)
        if n % 3 and helper:
            os.kill(helper, signal.SIGKILL)
        if n % 3 != 1:
            p.send_signal(signal.SIGKILL)
        else:
            p.send_signal(signal.SIGINT)
        p.wait(tracefs.LIMIT)
        instance = f"blktop-{p.pid}"

        def swept(name=instance):
            subprocess.run([tracefs.PROGRAM, "--sweep"], capture_output=True, env=tracefs.ENV, check=False)
            return name not in tracefs.instances()
        if not tracefs.poll(swept):
            left.append((n, instance))
    probes = pathlib.Path(tracefs.MOUNT, "dynamic_events")
    mine = [line for line in probes.read_text(encoding="ascii").splitlines() if "blktop" in line] if probes.exists() else []
    tap.ok(f"after {KILLS} kills, and --sweep, nothing is left", left + [m for m in mine if not os.path.exists("/proc/" + re.search(r"blktop_?(\d+)", m)[1])])


def check_no_rights():
    if not tap.others_run(tracefs.PROGRAM):
        tap.skip("without root", tap.NOT_OTHERS)
        return
    home = os.path.join(tracefs.work, "home")
    os.mkdir(home)
    os.chown(home, 39999, 39999)
    r = subprocess.run(["setpriv", "--reuid=39999", "--regid=39999", "--clear-groups", "env", "HOME=" + home, "XDG_STATE_HOME=" + home,
                        "XDG_CACHE_HOME=" + home, *tracefs.BASE, "--seconds", "1", "--view", "processes"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=tracefs.LIMIT, check=False)
    tap.ok("without root it says what is needed", [] if "it needs root (sudo blktop)" in r.stderr else [r.stderr])


def main():
    reason = tracefs.unusable()
    if reason:
        print("1..0 # SKIP", reason)
        return
    with tracefs.mounted():
        check_short_processes()
        check_others()
        check_unmounted()
        check_kills()
        check_no_rights()
    tap.done()


if __name__ == "__main__":
    main()
