#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Small recordings of one thing each, against what the programs and the kernel itself counted: page
faults, probes and calls of every family (faults), requests of a disk (block), packets (net), who is in
which container (containers)."""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

LIFE = 4            # faults of a process after it wrote how many it had


def told(name, kind):
    return [t for t in blk.truth(name) if t["kind"] == kind]


def differ(expected, found):
    return [f"{k}: {found.get(k)} not {v}" for k, v in expected.items() if found.get(k) != v]


# ---- faults ----

def counters(trace):
    found = collections.Counter()
    for r in blk.rows("counters", trace, "--by", "process"):
        found[r["pid"], r["counter"]] += r["value"]
    return found


def faults(tap, name, trace):
    found = counters(trace)
    bad = []
    for t in told(name, "faults"):
        minor = found[t["pid"], "minor_faults"]
        if not t["pages"] <= minor <= t["minor_of_life"] + LIFE:
            bad.append(f"{minor} minor faults, truth {t['pages']} to {t['minor_of_life']}")
    tap.none(bad, f"{name}: minor faults of new pages")
    tap.none(differ({(t["pid"], "major_faults"): t["major"] for t in told(name, "majors")}, found),
             f"{name}: major faults of a file that was not cached")
    hits = {(t["pid"], "uprobe_probed"): t["calls"] for t in told(name, "called")}
    hits.update({(t["pid"], "probe_unlink"): t["unlinks"] for t in told(name, "unlinks")})
    tap.none(differ(hits, found), f"{name}: hits of a uprobe and of a kprobe")
    families(tap, name, trace, found)


def families(tap, name, trace, found):
    all_of = told(name, "family")
    pid = all_of[0]["pid"]
    n = {{"sendfile": "sendfile64"}.get(t["call"], t["call"]): t["calls"] for t in all_of}
    n["pread64"] += 2           # the loader's
    calls = collections.Counter()
    for r in blk.rows("syscalls", trace, "--by", "process"):
        calls[r["syscall"]] += r["count"] if r["pid"] == pid else 0
    tap.none(differ(n, calls), f"{name}: calls of {len(n)} families")
    # The kernel has it inlined where fdatasync() calls it.
    tap.none(differ({(pid, f"function_fsync_{end}"): n["fsync"] for end in ("entry", "exit")}, found),
             f"{name}: hits of a kretprobe")
    size = {t["call"]: t["bytes"] for t in all_of}
    rows = {(r["path"], r["kind"]): r for r in blk.rows("files", trace, "--by", "process") if r["pid"] == pid}
    own = rows[f"/root/data/families-{pid}", "file"]
    moved = ("sendfile", "copy_file_range")         # and half of splice's bytes, over a pipe
    tap.equal(own["write_bytes"], sum(size[c] for c in ("pwrite64", "writev", "pwritev", "pwritev2")),
              f"{name}: bytes written to a file, by four calls")
    tap.equal(own["read_bytes"], sum(size[c] for c in ("pread64", "readv", "preadv", "preadv2", *moved)) +
              size["splice"] // 2, f"{name}: bytes read from it, by seven")
    tap.equal(rows[f"/root/data/families-{pid}-copy", "file"]["write_bytes"],
              sum(size[c] for c in moved) + size["splice"] // 2, f"{name}: bytes moved to a second one")
    ends = [r for (_, kind), r in rows.items() if kind == "socket"]
    # sendmmsg and recvmmsg return messages, no bytes.
    tap.equal(([r["write_bytes"] for r in ends if r["writes"]], [r["read_bytes"] for r in ends if r["reads"]]),
              ([None], [None]), f"{name}: bytes through a socketpair are unknown")


# ---- devices ----

def block(tap, name, trace):
    before, after = told(name, "disk-before")[0], told(name, "disk-after")[0]
    disk = {k: after[k] - before[k] for k in after if k != "kind"}
    row = next(r for r in blk.rows("devices", trace) if r["device"] == "vdd")
    # The kernel's statistics have flushes among the writes.
    tap.none(differ({"reads": disk["reads"], "writes": disk["writes"] - disk["flushes"], "merges":
                     disk["write_merges"] + disk["read_merges"], "read_bytes": disk["read_sectors"] * 512,
                     "write_bytes": disk["write_sectors"] * 512, "errors": 0}, row),
             f"{name}: requests, merges and bytes of a disk are the kernel's own statistics")


def net(tap, name, trace):
    before, after = ({t["name"]: t for t in told(name, f"device-{when}")} for when in ("before", "after"))
    lo = {k: after["lo"][k] - before["lo"][k] for k in ("tx_packets", "rx_packets", "rx_bytes")}
    row = next(r for r in blk.rows("devices", trace) if r["device"] == "lo")
    tap.none(differ({"writes": lo["tx_packets"], "reads": lo["rx_packets"], "read_bytes": lo["rx_bytes"]}, row),
             f"{name}: packets and bytes of the loopback are the kernel's own statistics")
    sent = collections.Counter()
    for r in blk.rows("files", trace, "--by", "process"):
        if r["kind"] == "socket":
            sent[r["pid"], "sent"] += r["write_bytes"]
            sent[r["pid"], "got"] += r["read_bytes"]
    expected = {}
    for t in told(name, "ping") + told(name, "pong"):
        expected.update({(t["pid"], "sent"): t["bytes"], (t["pid"], "got"): t["bytes"]})
    for t in told(name, "udp") + told(name, "tcp"):
        expected[t["pid"], "sent"] = t["bytes"]
    for t in told(name, "tcp-receiver"):
        expected[t["pid"], "got"] = t["bytes"]
    tap.none(differ(expected, sent), f"{name}: bytes through sockets of {len(expected)} ends")


# ---- containers ----

INSIDE = {"web-1": {"m-reads", "m-pingpong", "m-pong", "w-sleep"}, "db-1": {"w-io", "m-faults"}}


def containers(tap, name, trace):
    rows = blk.rows("processes", trace)
    of = {host: {r["container"] for r in rows if r["comm"] in inside} for host, inside in INSIDE.items()}
    tap.ok(all(len(names) == 1 for names in of.values()) and of["web-1"] != of["db-1"],
           f"{name}: each container's processes have its name", of)
    outside = {r["container"] for r in rows if r["comm"].startswith(("lttng", "kworker"))}
    tap.equal(outside, {"host"}, f"{name}: the rest is the host's")
    hogs = {r["container"] for r in rows if r["comm"] == "w-hog"}
    tap.equal(hogs, {"host"} | of["web-1"] | of["db-1"], f"{name}: one program in both and outside")
    sums = {r["container"]: r for r in blk.rows("processes", trace, "--by", "container")}
    for host, kind, column in (("web-1", "reads", "bytes"), ("db-1", "io", "bytes_read")):
        least = sum(t[column] for t in told(name, kind))
        got = sums.get(next(iter(of[host])), {}).get("read_bytes", 0)
        # The loader and the shell read, too.
        tap.ok(least <= got, f"{name}: {host} read {got} bytes, of which the program {least}")


def main():
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name, check in (("faults", faults), ("block", block), ("net", net), ("containers", containers)):
        trace = blk.find(name, "trace")
        if not trace:
            tap.skip(name, "the trace is not there")
            continue
        try:
            check(tap, name, trace)
        except (blk.Failed, KeyError, StopIteration, IndexError) as e:
            tap.ok(False, name, repr(e))
    tap.done()


if __name__ == "__main__":
    main()
