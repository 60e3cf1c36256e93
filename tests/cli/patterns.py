#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rules with patterns, on a trace with hundreds of event classes: the same spans as by one rule for each pair, and as this test pairs them; by both readers,
in slices, in two threads, and beside rules for single events."""
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

from made_calls import FIXED, NAMES, PATTERN, story, write

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
work = tempfile.mkdtemp(prefix="blktop-patterns.")


def run(*args):
    return subprocess.run([PROGRAM, "--config", "none", "--utc", *map(str, args)], capture_output=True, text=True, timeout=120, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME=work + "/cache", XDG_STATE_HOME=work + "/state"))


def spans(rules, *source):
    r = run("-b", "--view", "spans", "--format", "csv", *rules, *source)
    rows = [x for x in csv.DictReader(io.StringIO(r.stdout)) if x.get("span_id") != "span_id"]
    ids = {x["span_id"]: int(x["begin_ns"]) for x in rows}
    return {(int(x["begin_ns"]) - 1795241230 * 10**9, int(x["tid"])): (
        int(x["begin_ns"]) + int(x["duration_ns"]) - 1795241230 * 10**9, x["name"],
        ids.get(x["parent_id"], 1795241230 * 10**9) - 1795241230 * 10**9 or None, x["errors"] not in ("0", "")) for x in rows}, r


def check_suggested(trace, truth, events):
    """Many pairs whose names are alike are one rule, with the counts of its spans."""
    plain = {name: name.replace("_entry", "") for name in NAMES}
    for what, form, words, odd, pattern in (
            ("by their ends", "{}_{}", ("entry", "exit"), None, ["begin=api:*_entry", "end=api:${1}_exit"]),
            ("by their beginnings", "{1}_{0}", ("before", "after"), None, ["begin=api:before_*", "end=api:after_${1}"]),
            ("with an event that has no end", "{}_{}", ("entry", "exit"), "api:odd_entry", [])):
        named = [(*e[:2], plain[e[2]], *e[3:]) for e in events] if words[0] == "before" else events
        expected = {k: (v[0], plain[v[1]], *v[2:]) for k, v in truth.items()} if words[0] == "before" else truth
        write(trace, named, form, words, odd)
        r = run("-b", "--no-cache", "--suggest-rules", trace)
        path = os.path.join(work, "suggested")
        pathlib.Path(path).write_text(r.stdout, encoding="ascii")
        rules = r.stdout.count("\n[")
        good = rules == 1 and f"# {len(truth)} pairs, none open" in r.stdout and all(line in r.stdout for line in pattern) if pattern else rules > 250
        tap.ok(f"alike {what}: suggested as {'a pattern' if pattern else 'single rules'}", [] if good else [rules, r.stdout[:600], r.stderr])
        got, r = spans(["--no-cache", "--spans", path], trace)
        want = {k: v[:3 if pattern else 1] for k, v in expected.items()}
        got = {k: v for k, v in got.items() if k[1] != 99}
        tap.ok(f"alike {what}: the suggested rules make the spans", [] if {k: v[:3 if pattern else 1] for k, v in got.items()} == want else [len(got), r.stderr])


def main():
    trace = os.path.join(work, "trace")
    os.mkdir(trace)
    events, truth = story(42, 3000)
    write(trace, events)
    files = {}
    for name, text in (("pattern", PATTERN), ("fixed", FIXED), ("both", PATTERN + "[one]\nbegin=api:call5_entry\nend=api:call5_exit\nname=one\nnested=yes\n")):
        files[name] = os.path.join(work, name)
        pathlib.Path(files[name]).write_text(text, encoding="ascii")
    for what, args in (("read natively", []), ("read by babeltrace2", ["--reader", "babeltrace2"]), ("read by two threads", ["--jobs", "2"])):
        got, r = spans(["--no-cache", *args, "--spans", files["pattern"]], trace)
        tap.ok("a pattern makes the spans of all its pairs, " + what, [] if got == truth else
               [len(got), len(truth), sorted(set(got.items()) ^ set(truth.items()))[:4], r.stderr])
    fixed, r = spans(["--no-cache", "--spans", files["fixed"]], trace)
    tap.ok("as do rules for each pair", [] if fixed == truth else [len(fixed), r.stderr])
    for second in ("first", "second"):
        got, r = spans(["--slices", "5", "--spans", files["pattern"]], trace)
        tap.ok(f"so they are in slices, the {second} time", [] if got == truth else [len(got), r.stderr])
    r = run("-b", "--no-cache", "--view", "spans", "--format", "csv", "--spans", files["both"], trace)
    names = [x["name"] for x in csv.DictReader(io.StringIO(r.stdout))]
    tap.ok("a rule for one of the events makes its spans, too", [] if names.count("one") == names.count("call5") == sum(
        v[1] == "call5" for v in truth.values()) > 0 and names.count("span_id") == 0 else [names.count("one"), names.count("call5"), r.stderr])
    listed = run("--spans", files["pattern"], "--list-events").stdout
    tap.ok("the list of events has the patterns", [] if "api:*_entry " in listed and "api:*_exit " in listed else [listed[-500:]])
    lanes = run("-b", "--no-cache", "--view", "events", "--format", "csv", "--spans", files["pattern"], trace).stdout
    plain = run("-b", "--no-cache", "--view", "events", "--format", "csv", trace).stdout
    tap.ok("events are counted as without rules", [] if lanes == plain and "api:call0_entry_entry" in plain else [lanes[:300], plain[:300]])
    check_suggested(trace, truth, events)
    tap.done()


if __name__ == "__main__":
    main()
