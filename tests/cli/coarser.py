#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where a packet lost events, babeltrace2's reader is coarser than the native reader, never finer. Of a trace that the
native reader refuses, it does not know where in a packet events were discarded. So each line of its log equals the
native reader's or has less, its losses cover the native ones, and it explains less time of each thread."""
import collections
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLKTOP = os.environ.get("BLKTOP") or os.path.join(os.environ.get("BUILD", ROOT / "build"), "blktop")
KNOWN = ["user_ns", "syscall_ns", "kernel_ns", "irq_ns", "runnable_ns", "blocked_ns"]
failed = number = 0


def ok(good, what, *why):
    global failed, number
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}", *(f"\n# {x}" for x in why if not good), sep="")


def run(*arguments):
    done = subprocess.run([BLKTOP, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout


def log(reader, trace):
    code, out = run("log", "--reader", reader, "--format", "json", trace)
    return code, [json.loads(line) for line in out.splitlines()]


def is_less(coarse, fine, without=()):
    """Is each value equal, unknown, or without members that the other has? A call's name is unknown without the machine."""
    if isinstance(coarse, dict) and isinstance(fine, dict):
        return all(k in without or is_less(v, fine.get(k)) for k, v in coarse.items())
    return coarse is None or coarse == fine or str(coarse).startswith("syscall_")


def finer(coarse, fine):
    """Lines of the coarse log that say more than the fine log."""
    ends = collections.defaultdict(list)
    for x in fine:
        if x["kind"] == "call":
            ends["entry", x["entry_ns"]].append(x)
            ends["exit", x["exit_ns"]].append(x)
        else:
            ends[x["kind"], x["time_ns"]].append(x)
    for x in coarse:
        if x["kind"] == "loss":
            continue
        if x["kind"] != "call":
            same, without = ends[x["kind"], x["time_ns"]], ()
        elif x["entry_ns"] is None:
            same, without = ends["exit", x["exit_ns"]], ("time_ns", "state", "lost", "cpu", "comm")
        else:
            same = ends["entry", x["entry_ns"]]
            without = () if x["exit_ns"] is not None else ("state", "lost")
        if not any(is_less(x, y, without) for y in same):
            yield x, same


def uncovered(coarse, fine):
    """Losses of the fine log that those of the coarse log do not cover."""
    covers = collections.defaultdict(list)
    for x in coarse:
        if x["kind"] == "loss":
            mine = covers[x["host"], x["cpu"]]
            if mine and mine[-1][1] == x["time_ns"]:
                mine[-1][1] = x["to_ns"]
            else:
                mine.append([x["time_ns"], x["to_ns"]])
    for x in fine:
        if x["kind"] == "loss" and not any(b <= x["time_ns"] and x["to_ns"] <= e for b, e in covers[x["host"], x["cpu"]]):
            yield x


def known(reader, trace):
    _, out = run("-b", "--no-cache", "--reader", reader, "--view", "processes", "--by", "thread", "--format", "csv", trace)
    sums = collections.Counter()
    for row in csv.DictReader(io.StringIO(out)):
        for key in KNOWN:
            sums[row["tid"], key] += int(row[key] or 0)
    return sums


def check(name, trace, odd):
    code, coarse = log("babeltrace2", odd)
    _, fine = log("native", trace)
    ok(code == 3 and coarse, f"{name}: babeltrace2 reads what the native reader refuses", code)
    more = list(finer(coarse, fine))
    ok(not more, f"{name}: no line says more than the native reader's", len(more), *more[:3])
    bare = list(uncovered(coarse, fine))
    ok(not bare, f"{name}: its losses cover the native ones", len(bare), *bare[:3])
    whole = [sum(x.get("state") == "whole" for x in lines) for lines in (coarse, fine)]
    ok(0 < whole[0] < whole[1], f"{name}: some calls are not paired, some are", whole)
    less, all_of = known("babeltrace2", odd), known("native", trace)
    wrong = {k: (v, all_of[k]) for k, v in less.items() if v > all_of[k]}
    ok(not wrong and sum(less.values()) < sum(all_of.values()), f"{name}: less time of each thread is known", wrong)
    _, counts = run("-b", "--no-cache", "--reader", "babeltrace2", "--view", "events", odd)
    _, same = run("-b", "--no-cache", "--view", "events", trace)
    ok(counts and counts == same, f"{name}: all events count")


def main():
    babeltrace2 = shutil.which("babeltrace2")
    if not babeltrace2:
        print("1..0 # SKIP no babeltrace2 to show a trace's metadata")
        return
    with tempfile.TemporaryDirectory(prefix="blktop-coarser-") as temp:
        os.chmod(temp, 0o711)       # run by root, babeltrace2's library reads as another user
        name = "lost/trace/kernel"
        trace, odd = ROOT / "tests/traces" / name, pathlib.Path(temp, "odd")
        shutil.copytree(trace, odd)
        text = subprocess.run([babeltrace2, "-o", "ctf-metadata", trace], capture_output=True, text=True, check=True).stdout
        (odd / "metadata").write_text(f"/* CTF 1.8 */\n{text}env {{ odd = 'a'; }};\n")
        ok(run("-b", "--reader", "native", odd)[0] == 1, f"{name}: the native reader refuses it")
        check(name, trace, odd)
    print(f"1..{number}")
    sys.exit(failed > 0)


main()
