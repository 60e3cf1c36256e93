#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A recording of Valkey 9.1.2 (Debian's source, built with USE_LTTNG=yes): its commands as spans, by the preset and by a rule of two events, against what the
server itself counted."""
import collections
import os
import re
import tempfile

import blk

# The server fires command_call when the command is done, and right after it its own event, with the same duration.
RULE = """[command]
begin=valkey_commands:command_call
end=valkey_server:*command
name=${name}
tags=duration, addr
"""
WAYS = [("whole", ["-j", "1"]), ("in pieces", ["-j", "3", "--slices", "13"]), ("babeltrace2", ["--reader", "babeltrace2"])]


def counted(path):
    """{command: [calls, us]} by INFO commandstats. The events of subcommands have the last part of the name."""
    found = collections.defaultdict(lambda: [0, 0])
    with open(path, encoding="ascii") as f:
        for name, calls, us in re.findall(r"cmdstat_(?:\w+\|)?(\w+):calls=(\d+),usec=(\d+)", f.read()):
            found[name][0] += int(calls)
            found[name][1] += int(us)
    return found


def main():
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    trace, wanted = blk.find("valkey", "trace"), counted(blk.find("valkey", "commandstats.txt"))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "rules")
        with open(path, "w", encoding="ascii") as f:
            f.write(RULE)
        for way, options in WAYS:
            rows = blk.rows("spans", trace, "--presets", "none", "--spans", path, *options)
            found = collections.defaultdict(lambda: [0, 0])
            for r in rows:
                found[r["name"]][0] += 1
                found[r["name"]][1] += int(re.search(r"duration=(\d+)", r["tags"])[1])
            own = found.pop("info", None)       # the command that printed the figures
            tap.equal(dict(found), dict(wanted), f"{way}: calls and time of each command")
            tap.ok(own and own[0] == 1 and all(r["state"] == "complete" for r in rows), f"{way}: all are complete")
    # The preset: each event is a span of its own, as long as it says.
    rows = [r for r in blk.rows("spans", trace) if "addr=" in (r["tags"] or "")]
    found = collections.defaultdict(lambda: [0, 0])
    for r in rows:
        found[r["name"]][0] += 1
        found[r["name"]][1] += int(r["duration_ns"])
    found.pop("info", None)
    tap.equal(dict(found), {name: [n, us * 1000] for name, (n, us) in wanted.items()}, "the preset: calls and time of each command")
    tap.ok(len(rows) > 200 and all(r["state"] == "complete" and int(r["end_ns"]) - int(r["begin_ns"]) == int(r["duration_ns"]) for r in rows),
           "the preset: all are complete")
    tap.done()


if __name__ == "__main__":
    main()
