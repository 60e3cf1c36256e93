#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The native reader on CTF 2.

- Recordings: every event with all its fields is that of babeltrace2's text beside them (2.1.2; made
  once, so that no babeltrace2 is needed here), and what was lost is what it warned of.
- One run recorded by two sessions, in CTF 1.8 and in CTF 2: the same spans, and the data of the one
  read with the metadata of the other.
- Traces made up from seeds 1 to SEEDS (60), of all that the specification allows: what they say; and the
  compiled programs end where the plain walker does."""
import collections
import glob
import json
import lzma
import multiprocessing.pool
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import ctf2_events
import ctf2_make

OWN = os.path.join(blk.ROOT, "tests", "traces", "ctf2")
THEIRS = os.path.join(blk.SHARED, "traces", "ctf2")
WARNING = re.compile(r'Tracer discarded (\d+) (event|packet)s? between \[(\d+):(\d+):(\d+)\.(\d+)\] and '
                     r'\[(\d+):(\d+):(\d+)\.(\d+)\].*? within stream "[^"]*?/((?:kernel|ust)/[^"]*)_(\d+)"')
DAY = 86400 * 10**9
PROGRAMS = os.path.join(os.path.dirname(ctf2_events.TOOL), "compare-readers")
CLOCKS_APART = 50000            # ns, of kernel and user space: each metadata file has an offset of its own


def recordings():
    """{name: path of the text}, ours first."""
    found = {}
    for root in (OWN, THEIRS):
        for path in sorted(glob.glob(os.path.join(root, "*", "*.txt.xz"))):
            found.setdefault(os.path.relpath(path, root)[:-len(".txt.xz")], path)
    return found


def read_text(path):
    with lzma.open(path, "rt", encoding="utf-8", errors="surrogateescape") as f:
        return [line.rstrip("\n") for line in f]


def pinned_offset(events, lines, trace):
    """Of all clocks of one boot the reader takes one offset: which one, by the first event."""
    first = min(e["ns"] for e in events) - min(int(line[1:line.index("]")]) for line in lines)
    known = ctf2_events.metadata_offsets(trace)
    if known and first not in known:
        raise blk.Failed(f"the first event is {first} ns after the clock's 0; the metadata says {sorted(known)}")
    return first


def judge_events(tap, name, trace, text):
    events, losses, streams = ctf2_events.events(trace)
    lines = read_text(text)
    offset = pinned_offset(events, lines, trace)
    variants = ctf2_events.variant_names(trace)
    ours = [ctf2_events.to_line(e, streams[e["stream"]], offset, variants) for e in events]
    tap.none(ctf2_events.differences(ours, [ctf2_events.normal(line) for line in lines]),
             f"{name}: {len(lines)} events are babeltrace2's")
    backwards = [(a["ns"], b["ns"]) for a, b in zip(events, events[1:]) if a["ns"] > b["ns"]]
    tap.none(backwards, f"{name}: in order of time")
    return losses, streams


def warned(path):
    """[(how many, of what, cpu, user space?, end in its day)]"""
    found = []
    with open(path, encoding="utf-8") as f:
        for m in WARNING.finditer(f.read()):
            end = (int(m[7]) * 3600 + int(m[8]) * 60 + int(m[9])) * 10**9 + int(m[10])
            found.append((int(m[1]), m[2], int(m[12]), m[11].startswith("ust"), end))
    return sorted(found)


def judge_losses(tap, name, text, losses, streams):
    """What was lost, by stream: counts, and when it was known."""
    found = []
    for l in losses:
        s = streams[l["stream"]]
        found += [(l[what + "s"], what, s["cpu"], s["domain"] == 1, l["end"] % DAY)
                  for what in ("event", "packet") if l[what + "s"]]
    path = text[:-len(".txt.xz")] + ".warnings"
    expected = warned(path) if os.path.exists(path) else []
    found.sort()
    same = [a[:4] for a in found] == [b[:4] for b in expected] and \
        all(abs(a[4] - b[4]) <= CLOCKS_APART * a[3] for a, b in zip(found, expected))
    tap.ok(same, f"{name}: {len(expected)} losses, {sum(e[0] for e in expected)} events and packets in all",
           *[f"native {a}" for a in found if a not in expected], *[f"babeltrace2 {b}" for b in expected if b not in found])


def unpacked(path, temp):
    """The recording, from PATH.tar.xz where it is kept so."""
    if not os.path.isdir(path) and os.path.exists(path + ".tar.xz"):
        subprocess.run(["tar", "-C", temp, "-xf", path + ".tar.xz"], check=True)
        return os.path.join(temp, os.path.basename(path))
    return path


def judge_recording(tap, name, text, temp):
    trace = unpacked(text[:-len(".txt.xz")], temp)
    try:
        losses, streams = judge_events(tap, name, trace, text)
        judge_losses(tap, name, text, losses, streams)
        listed = os.path.join(os.path.dirname(trace), "session-list.txt")
        if os.path.exists(listed):
            with open(listed, encoding="utf-8") as f:
                said = re.findall(r"(?:Discarded|Lost)[^:\n]*: (\d+)", f.read())
            kind = [l["events"] + l["packets"] for l in losses]
            tap.equal(sum(kind), sum(map(int, said)), f"{name}: as many lost as `lttng list` said, {len(said)} channels")
    except (ctf2_events.Refused, blk.Failed, ValueError) as e:
        tap.ok(False, f"{name}: read", e)


# -- one run, two formats ------------------------------------------------------------------------

def by_thread(trace):
    events, _, _ = ctf2_events.events(trace)
    found = collections.defaultdict(list)
    for e in events:
        found[dict(e["common"]["struct"])["vtid"]].append((e["class"], e["common"], e["payload"]))
    return found


def span_rows(trace):
    """Who, what and how, by thread in order of time; not when."""
    keys = ("trace_id", "span_id", "parent_id", "kind", "service", "name", "host", "pid", "tid", "state", "errors",
            "tags", "annotations", "container")
    rows = blk.rows("spans", trace, "--reader", "native")
    return [[r[k] for k in keys] for r in sorted(rows, key=lambda r: (r["tid"], r["begin_ns"], r["span_id"]))]


def with_metadata(temp, data, metadata):
    """The data of one trace with the other's metadata, which gets the data's uuid."""
    to = os.path.join(temp, "exchanged")
    shutil.copytree(data, to)
    old = next(os.path.join(d, "metadata") for d, _, files in os.walk(to) if "metadata" in files)
    with open(next(p for p in glob.glob(os.path.join(os.path.dirname(old), "*_0"))), "rb") as f:
        uuid = f.read(20)[4:]
    fragments = ctf2_events.metadata_fragments(metadata)
    os.chmod(old, 0o600)
    os.remove(old)
    with open(old, "w", encoding="utf-8") as f:
        for j in fragments:
            if j["type"] == "preamble":
                j["uuid"] = list(uuid)
            f.write("\x1e" + json.dumps(j))
    return to


def judge_both(tap, folder, temp):
    a, b = unpacked(os.path.join(folder, "ctf-1.8"), temp), os.path.join(folder, "ctf-2")
    one, two = by_thread(a), by_thread(b)
    n = sum(map(len, one.values()))
    tap.none([t for t in set(one) | set(two) if one[t] != two[t]],
             f"ust-both: {n} events of {len(one)} threads are the same in CTF 1.8 and CTF 2")
    spans = span_rows(a)
    tap.ok(spans and spans == span_rows(b), f"ust-both: {len(spans)} spans are the same in CTF 1.8 and CTF 2")
    mixed = by_thread(with_metadata(temp, a, b))
    tap.ok(mixed == one, f"ust-both: {sum(map(len, mixed.values()))} events of CTF 1.8 by the metadata of CTF 2")


# -- made up -------------------------------------------------------------------------------------

def same_number(want, got):
    plain = {"int": want, "base": 10} if isinstance(want, int) else want
    have = {"int": got, "base": 10} if isinstance(got, int) else got
    if not isinstance(have, dict) or have.get("int") != plain["int"] or have["base"] != plain["base"]:
        return False
    labels = plain.get("labels", [])
    return have["label"] in labels if "label" in have else not labels


def nothing(v):
    """An optional that is absent: print-events says nothing of it."""
    return v is None or (isinstance(v, dict) and "optional" in v and nothing(v["optional"]))


def same_members(want, got):
    want = [(n, v) for n, v in want if not nothing(v)]
    return len(want) == len(got) and all(n == m and same(v, w) for (n, v), (m, w) in zip(want, got))


def same(want, got):
    """Does print-events say of a value what ctf2_fields.py says?"""
    if isinstance(want, str) or want is None:
        return want == got
    if isinstance(want, int) or "int" in want:
        return same_number(want, got)
    if isinstance(want, list):
        want = [v for v in want if not nothing(v)]
        return isinstance(got, list) and len(want) == len(got) and all(map(same, want, got))
    if "optional" in want:
        return same(want["optional"], got)
    if "bool" in want:
        return got == int(want["bool"])
    if "bits" in want:
        flags = "|".join(want.get("flags", []))
        return same_number({"int": want["bits"], "base": 16, "labels": [flags] if flags else []}, got)
    if not isinstance(got, dict):
        return "blob" in want and got == [{"int": b, "base": 16} for b in bytes.fromhex(want["blob"])]
    if "real" in want:
        return float.fromhex(got.get("real", "nan")) == float.fromhex(want["real"])
    if "variant" in want:
        name, value = want["variant"]
        inside = got.get("struct")
        if nothing(value) or not inside:
            return nothing(value) and inside == []
        # An option without a name is shown by its number.
        return len(inside) == 1 and same(value, inside[0][1]) and (inside[0][0] == name if name else inside[0][0].isdigit())
    return "struct" in got and same_members(want["struct"], got["struct"])


def same_scope(want, got):
    """An empty scope and none are the same to print-events."""
    if got is None:
        return not want or all(nothing(v) for _, v in want["struct"])
    return want is not None and same(want, got)


def same_event(want, got):
    return want["class"] == got["class"] and want["cpu"] == got["cpu"] and \
        all(same_scope(want[s], got[s]) for s in ("common", "specific", "payload"))


def match(expected, events, fuzzy):
    """What is expected and did not come. Events of one instant may be in any order."""
    at = collections.defaultdict(list)
    for e in events:
        at[e["ns"]].append(e)
    missing = []
    for want in expected:
        near = [n for n in range(want["ns"] - fuzzy, want["ns"] + fuzzy + 1) if n in at]
        for ns in near:
            found = next((e for e in at[ns] if same_event(want, e)), None)
            if found:
                at[ns].remove(found)
                break
        else:
            missing.append((want, [e for n in near for e in at[n]]))
    return missing, sum(map(len, at.values()))


def judge_seed(seed):
    """(problems, events)"""
    with tempfile.TemporaryDirectory(prefix="blktop-ctf2.") as temp:
        ctf2_make.Maker(seed).write(temp)
        with open(os.path.join(temp, "expected.jsonl"), encoding="utf-8") as f:
            head, *expected = map(json.loads, f)
        programs = subprocess.run([PROGRAMS, "-p", os.path.join(temp, "trace")], capture_output=True, text=True)
        try:
            events, losses, _ = ctf2_events.events(os.path.join(temp, "trace"))
        except (ctf2_events.Refused, ValueError) as e:
            return [f"ctf2_make.py {seed}: {e}"], 0
    missing, more = match(expected, events, head["fuzzy"])
    problems = []
    if programs.returncode or f": {len(expected)} events," not in programs.stdout:
        problems.append(f"ctf2_make.py {seed}: compare-readers -p: {programs.stdout}")
    if missing or more:
        want, near = missing[0] if missing else ("none", [])
        problems.append(f"ctf2_make.py {seed}: {len(missing)} of {len(expected)} events are not there, {more} are too much: "
                        f"{json.dumps(want)[:1500]}\n  {json.dumps(near)[:1500]}")
    lost = sum(s["lost_events"] for s in head["streams"]), sum(s["lost_packets"] for s in head["streams"])
    told = sum(l["events"] for l in losses), sum(l["packets"] for l in losses)
    if lost != told:
        problems.append(f"ctf2_make.py {seed}: lost {told} events and packets, expected {lost}")
    return problems, len(expected)


def judge_made_up(tap):
    seeds = range(1, 1 + int(os.environ.get("SEEDS", "60")))
    with multiprocessing.pool.Pool(2) as pool:
        results = pool.map(judge_seed, seeds)
    problems = [p for found, _ in results for p in found]
    tap.ok(not problems, f"{sum(n for _, n in results)} events of {len(seeds)} made-up traces, {len(problems)} problems", *problems)


def main():
    tap = blk.Tap()
    if not os.access(ctf2_events.TOOL, os.X_OK):
        blk.skip_all(f"{ctf2_events.TOOL} is not built (make tests)")
    judge_made_up(tap)
    with tempfile.TemporaryDirectory(prefix="blktop-ctf2.") as temp:
        for name, text in recordings().items():
            if blk.is_wanted(f"ctf2/{name}/"):
                judge_recording(tap, name, text, temp)
        try:
            judge_both(tap, os.path.join(OWN, "ust-both"), temp)
        except (ctf2_events.Refused, blk.Failed) as e:
            tap.ok(False, "ust-both: compared", e)
    if not os.path.isdir(THEIRS):
        tap.skip("the other recordings", f"there is no {os.path.relpath(THEIRS, blk.ROOT)}")
    tap.done()


if __name__ == "__main__":
    main()
