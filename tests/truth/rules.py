#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Spans by rules in recordings of real programs, against the referee's (pairing.py), however the trace is cut."""
import os
import tempfile

import blk
import pairing
import random_rules

RULES = os.path.join(blk.ROOT, "tests", "live", "lab", "programs.rules")
RECORDINGS = ("reports/ros2-ust-only", "public/ros2")
WAYS = [("whole", ["-j", "1"]), ("in pieces", ["-j", "3", "--slices", "13"]), ("babeltrace2", ["--reader", "babeltrace2"])]


def recording(name):
    """Some are among the reports of users, which are no recordings of ours."""
    path = os.path.join(blk.SHARED, name)
    return blk.find(name) or (path if os.path.isdir(path) else None)


def judge(tap, name, trace):
    its_events, _ = pairing.events(trace)
    rules = pairing.read_rules(RULES)
    tables = pairing.read_tables(RULES)
    presets, preset_tables = pairing.read_presets(os.path.join(blk.ROOT, "share", "blktop", "presets"))
    for way, options in WAYS if blk.ALL else WAYS[:2]:
        n, n_cut, differ = pairing.compare(presets, its_events, blk.rows("spans", trace, *options), preset_tables)
        tap.none(differ, f"{name}, {way}, by presets: {n} spans, and {n_cut} without an end")
        n, n_cut, differ = pairing.compare(rules, its_events, blk.rows("spans", trace, "--presets", "none", "--spans", RULES, *options), tables)
        tap.none(differ, f"{name}, {way}: {n} spans, and {n_cut} without an end")
        tap.ok(n > 100, f"{name}, {way}: there are spans")
    with tempfile.TemporaryDirectory() as scratch:
        random_rules.judge(tap, name, trace, its_events, range(12 if blk.ALL else 6), scratch)


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in filter(blk.is_wanted, RECORDINGS):
        trace = recording(name)
        if trace:
            judge(tap, name, trace)
        else:
            tap.skip(name, "the trace is not there")
    tap.done()


if __name__ == "__main__":
    main()
