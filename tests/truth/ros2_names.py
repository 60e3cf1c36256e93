#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Callbacks of recordings of ROS 2: each has the name of its topic, service or timer, its node and its symbol, as a reader of babeltrace2's text finds them; and
each message that is taken is linked to its publication."""
import collections
import csv
import io
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
SHARED = pathlib.Path(tap.ROOT, "../shared")
EVENT = re.compile(r" ((?:ros2|dds):\w+): \{[^}]*\}, \{ (.*?) \}, \{ (.*) \}$")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|[^,\s\]]+)')


def fields(text):
    return {k: v[1:-1] if v.startswith('"') else v.lower() for k, v in FIELD.findall(text)}


def truth(trace):
    """How many callbacks ended of each (node, what, symbol); objects are of their process. And how many messages were taken that had been written, and others."""
    text = subprocess.run(["babeltrace2", trace], capture_output=True, text=True, check=True, timeout=120).stdout
    of = collections.defaultdict(dict)          # (kind, process) -> {handle: ...}
    open_, found, written, taken = {}, collections.Counter(), set(), collections.Counter()
    for line in text.splitlines():
        m = EVENT.search(line)
        if not m:
            continue
        name, c, f = m[1].partition(":")[2], fields(m[2]), fields(m[3])
        pid = c["vpid"]

        def put(kind, key, value, pid=pid):
            of[kind, pid][key] = value

        def get(kind, key, pid=pid):
            return of[kind, pid].get(key)
        if name == "write" or (name == "rmw_publish" and "timestamp" in f):
            written.add(f["timestamp"])
        elif name == "rmw_take" and f["taken"] == "1":
            taken[f["source_timestamp"] in written] += 1
        elif name == "rcl_node_init":
            put("node", f["node_handle"], f["node_name"])
        elif name in ("rcl_subscription_init", "rcl_service_init"):
            kind = "subscription" if "subscription" in name else "service"
            put("what", f[kind + "_handle"], f["topic_name" if kind == "subscription" else "service_name"])
            put("node of", f[kind + "_handle"], f["node_handle"])
        elif name == "rcl_timer_init":
            put("what", f["timer_handle"], f"timer {f['period']} ns")
        elif name == "rclcpp_timer_link_node":
            put("node of", f["timer_handle"], f["node_handle"])
        elif name == "rclcpp_subscription_init":
            put("handle", f["subscription"], f["subscription_handle"])
        elif name == "rclcpp_subscription_callback_added":
            put("callback", f["callback"], get("handle", f["subscription"]))
        elif name in ("rclcpp_service_callback_added", "rclcpp_timer_callback_added"):
            put("callback", f["callback"], f.get("service_handle") or f.get("timer_handle"))
        elif name == "rclcpp_callback_register":
            put("symbol", f["callback"], f["symbol"])
        elif name == "callback_start":
            handle = get("callback", f["callback"])
            symbol = get("symbol", f["callback"]) or "?"
            what = get("what", handle) or (symbol if symbol != "?" else f["callback"])
            open_[pid, c["vtid"], f["callback"]] = (get("node", get("node of", handle)) or c["procname"], what[:256], symbol[:256])
        elif name == "callback_end" and (pid, c["vtid"], f["callback"]) in open_:
            found[open_.pop((pid, c["vtid"], f["callback"]))] += 1
    return found, taken


def ours(trace):
    r = subprocess.run([PROGRAM, "--config", "none", "--no-cache", "-b", "--view", "spans", "--format", "csv", "--columns", "service,name,state,tags,linked_from,trace_id", trace],
                       capture_output=True, text=True, check=False, timeout=120)
    found, taken, traces = collections.Counter(), collections.Counter(), collections.Counter()
    for row in csv.DictReader(io.StringIO(r.stdout)):
        traces[row["trace_id"]] += 1
        if row["name"].startswith("take "):
            taken[bool(row["linked_from"])] += 1
        if row["state"] == "complete" and "symbol=" in row["tags"]:
            found[row["service"], row["name"], row["tags"].partition("symbol=")[2]] += 1
    return found, taken, traces, r.stderr


def main():
    for name, presets in (("traces/public/ros2", "preset ros2 is"), ("reports/ros2-ust-only", "presets caret, ros2 are")):
        trace = str(SHARED / name)
        if not os.path.isdir(trace):
            tap.skip(f"{name}: callbacks have their names", "it is not here")
            continue
        (want, sent), (got, taken, traces, said) = truth(trace), ours(trace)
        tap.ok(f"{name}: {sum(want.values())} callbacks have their node, topic and symbol", [] if want == got and sum(want.values()) > 400 else
               [sorted((want - got).items())[:3], sorted((got - want).items())[:3]])
        tap.ok(f"{name}: most are named by a topic, service or timer",
               [] if sum(n for k, n in got.items() if k[1].startswith(("/", "timer "))) > 0.9 * sum(got.values()) else [got.most_common(5)])
        tap.ok(f"{name}: {sent[True]} of {sum(sent.values())} messages are linked to their publication", [] if sent == taken else [sent, taken])
        if sent[True]:
            tap.ok(f"{name}: from the timer to the last callback is one trace", [] if traces.most_common(1)[0][1] == 8 and sum(
                n == 8 for n in traces.values()) > 1900 else [collections.Counter(traces.values()).most_common(5)])
        tap.ok(f"{name}: nothing is said but the presets", [] if said.count("\n") == 1 and f"{presets} used" in said else [said])
    tap.done()


if __name__ == "__main__":
    main()
