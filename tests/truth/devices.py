#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Block and network devices: blktop's devices view against a recount of babeltrace2's text.

Requests are told apart by device and start sector; a completion of less than what was issued
leaves the rest at the sectors behind it. Flushes (no sectors) are issued at sector 0 or -1 and complete at
sector -1; which of several ends is unknown. A write of no sectors is not sent to the device. Kernels before
4.0 do not say when a flush completes: from its issue to the next flush, or to the completion of the write
that asked for it (no sectors), what is at the device is unknown. The time at the device, in the queue, and the number of
requests there are computed from the list of intervals, afterwards. Of traces with lost events only
what each completion says itself is compared: how many there were, and their bytes."""
import collections
import ipaddress
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse

TRACES = ["kernel-small/trace", "kernel-ust/trace", "live/trace", "demo/trace", "rotation/trace", "block/trace", "net/trace",
          "ctf2/kernel-small/trace", "public/uneven-streams", "public/scp_src"]
LOSSY = ["lost/trace", "mix2/lossy"]
KINDS = ("reads", "writes", "others")


def kind(rwbs, size):
    return "writes" if rwbs & 1 else "reads" if rwbs & 4 else "others" if rwbs & 258 or not size else "reads"


class Request:
    def __init__(self, at, tid):
        self.inserted, self.issued, self.tid = at, None, tid
        self.sectors = self.size = 0
        self.kind = None


NO_SECTOR = 2**64 - 1


def is_flush(p):
    return not p["nr_sector"] and p["sector"] in (0, NO_SECTOR) and (p["rwbs"] & 256 or p["sector"] == NO_SECTOR)


class Device:
    """What became of all requests of one."""

    def __init__(self, silent=False):
        self.silent, self.since, self.unknown = silent, None, []    # silent: flushes do not complete
        self.flush_by = None
        self.open = {}
        self.flush_tid = None
        self.flushes, self.several = [], False  # when those at the device were issued
        self.at_device, self.in_queue = [], []   # intervals
        self.sums = collections.Counter()
        self.users = collections.defaultdict(collections.Counter)
        self.latencies, self.waits = [], []

    def gone(self, sector, now):
        r = self.open.pop(sector, None)
        if r:
            if r.issued is None:
                self.in_queue.append((r.inserted, now))
            else:
                self.at_device.append((r.issued, now))
        return r

    def insert(self, now, p):
        if is_flush(p):
            return
        self.gone(p["sector"], now)
        self.open[p["sector"]] = Request(now, p.get("tid"))

    def flush_ends(self, now):
        """Whichever ended: the time at the device is the same in sum."""
        if not self.flushes:
            return
        since = self.flushes.pop(0)
        self.at_device.append((since, now))
        for sums in (self.sums, self.users[self.flush_tid or None]):
            sums["others"] += 1
            if not self.several:
                sums["total"] += now - since
        if not self.several:
            self.latencies.append(now - since)

    def silence_ends(self, now):
        if self.since is not None:
            self.unknown.append((self.since, now))
            self.sums["others"] += 1
            self.users[self.flush_by or None]["others"] += 1
        self.since = None

    def issue(self, now, p):
        if is_flush(p) and self.silent:
            self.silence_ends(now)
            self.since, self.flush_by = now, p.get("tid")
            return
        if is_flush(p):
            self.several = bool(self.flushes)
            self.flush_tid = p.get("tid") if not self.flushes or self.flush_tid == p.get("tid") else None
            self.flushes.append(now)
            return
        r = self.open.get(p["sector"])
        if r is None or r.issued is not None:
            self.insert(now, p)
            r = self.open[p["sector"]]
            r.inserted = None
        else:
            self.in_queue.append((r.inserted, now))
            r.tid = r.tid or p.get("tid")
        r.issued, r.sectors = now, p["nr_sector"]
        r.size = p["bytes"] or p["nr_sector"] * 512
        r.kind = kind(p["rwbs"], r.size)

    def complete(self, now, p):
        sector, n = p["sector"], p["nr_sector"]
        if is_flush(p):
            self.flush_ends(now)
            return
        r = self.open.get(sector)
        if not n and p["rwbs"] & 1 and not (sector and r and r.issued):
            self.silence_ends(now)
            return
        if r is None or r.issued is None:
            self.gone(sector, now)
            return
        error = bool(p.get("error", p.get("errors", 0)))
        for sums in (self.sums, self.users[r.tid or None]):
            sums["errors"] += error
            sums[r.kind, "bytes"] += n * 512 if 0 < n < r.sectors else r.size
        if 0 < n < r.sectors:
            self.sums["partial"] += 1
            del self.open[sector]
            r.size -= n * 512
            r.sectors -= n
            self.gone(sector + n, now)
            self.open[sector + n] = r
            return
        self.gone(sector, now)
        latency = now - r.issued
        self.latencies.append(latency)
        if r.inserted is not None:
            self.waits.append(r.issued - r.inserted)
        for sums in (self.sums, self.users[r.tid or None]):
            sums[r.kind] += 1
            sums["total"] += latency

    def known(self, intervals, end):
        """What is left of the intervals outside the unknown ones."""
        for a, b in self.unknown + ([(self.since, end)] if self.since is not None else []):
            intervals = [piece for x, y in intervals
                         for piece in ((x, min(y, a)), (max(x, b), y)) if piece[0] < piece[1]]
        return intervals

    def depth(self, intervals, end):
        """(most at once, sum over time, time with any)"""
        intervals = self.known(intervals, end)
        steps = sorted([(a, 1) for a, b in intervals if b > a] + [(b, -1) for a, b in intervals if b > a])
        now = most = area = busy = 0
        last = None
        for at, step in steps:
            if last is not None:
                area += now * (at - last)
                busy += (at - last) if now else 0
            last, now = at, now + step
            most = max(most, now)
        return most, area, busy

    def row(self, end):
        still = [(r.issued, end) for r in self.open.values() if r.issued is not None]
        still += [(since, end) for since in self.flushes]
        most, area, busy = self.depth(self.at_device + still, end)
        waiting = [(r.inserted, end) for r in self.open.values() if r.issued is None]
        _, queued, _ = self.depth(self.in_queue + waiting, end)
        return {
            **{k: self.sums[k] for k in KINDS},
            "read_bytes": self.sums["reads", "bytes"], "write_bytes": self.sums["writes", "bytes"],
            "errors": self.sums["errors"], "partial": self.sums["partial"],
            "merges": self.sums["merges"], "total_ns": sum(self.latencies),
            "min_ns": min(self.latencies, default=None), "max_ns": max(self.latencies, default=None),
            "depth_ns": area, "busy_ns": busy,
            "queue_total_ns": sum(self.waits) if self.waits else None,
            "queue_max_ns": max(self.waits, default=None),
            "queued_ns": queued,
        }


def recount(events, silent=False):
    devices, names = collections.defaultdict(lambda: Device(silent)), {}
    net = collections.defaultdict(collections.Counter)
    known = {e.name for e in events}
    sent = "net_dev_xmit" if "net_dev_xmit" in known else "net_dev_queue"
    for e in events:
        if e.name in ("block_rq_insert", "block_rq_issue", "block_rq_complete"):
            p = e.payload
            getattr(devices[e.host, p["dev"]], e.name[9:])(e.ns, p)
        elif e.name in ("block_bio_backmerge", "block_rq_merge"):
            devices[e.host, e.payload["dev"]].sums["merges"] += 1
        elif e.name in ("block_rq_requeue", "block_bio_frontmerge"):
            raise RuntimeError(f"{e.name}: this referee does not know what it means")
        elif e.name == "lttng_statedump_block_device":
            names[e.host, e.payload["dev"]] = e.payload["diskname"]
        elif e.name in ("net_if_receive_skb", "netif_receive_skb"):
            net[e.host, e.payload["name"]].update(reads=1, read_bytes=e.payload["len"])
        elif e.name == sent:
            p = e.payload
            if p.get("rc", 0):
                net[e.host, p["name"]].update(errors=1)
            else:
                net[e.host, p["name"]].update(writes=1, write_bytes=p["len"])
    return devices, names, net


def address(p, text, side, port):
    """As blktop writes it; a fragment of IPv4 behind the first has no ports."""
    v4 = p["network_header_type"] == "_ipv4"
    numbers = btparse.elements(text, side)
    ip = ipaddress.ip_address(bytes(numbers) if v4 else b"".join(n.to_bytes(2, "big") for n in numbers))
    if port not in p or (v4 and p["frag_off"] & 0x1fff):
        return str(ip)
    return f"{ip}:{p[port]}" if v4 else f"[{ip}]:{p[port]}"


def flows(events):
    sums = collections.defaultdict(collections.Counter)
    for e in events:
        if e.name not in ("net_dev_queue", "net_if_receive_skb"):
            continue
        p = e.payload
        if p.get("network_header_type") not in ("_ipv4", "_ipv6"):
            continue
        ends = [address(p, e.text, "saddr", "source_port"), address(p, e.text, "daddr", "dest_port")]
        sent = e.name == "net_dev_queue"
        key = (p["name"], *(ends if sent else reversed(ends)))
        sums[key].update({"tx_packets" if sent else "rx_packets": 1, "tx_bytes" if sent else "rx_bytes": p["len"]})
    return sums


def peers(tap, name, trace, events):
    columns = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
    known = {e.name for e in events}
    if not {"net_dev_queue", "net_if_receive_skb"} <= known:
        return
    expected = {key: {c: sums[c] for c in columns} for key, sums in flows(events).items()}
    found = {(r["device"], r["local"], r["peer"]): r for r in blk.rows("peers", trace)}
    compare(tap, f"{name}: packets of {len(expected)} flows", expected, found)


MERGES = ("block_rq_merge", "block_bio_backmerge", "block_bio_frontmerge")


def compare(tap, what, expected, found):
    bad = [f"{key} {column}: {found.get(key, {}).get(column)} not {value}"
           for key in sorted(expected.keys() | found.keys(), key=str)
           for column, value in expected.get(key, {"row": None}).items()
           if key not in found or found[key].get(column) != value]
    tap.none(bad, what)


def one(tap, name, trace):
    events = btparse.events(trace)
    try:
        release = btparse.kernel_release(trace)
        devices, names, net = recount(events, (0, 0) < release < (4, 0))
    except RuntimeError as e:
        tap.skip(name, str(e))
        return
    peers(tap, name, trace, events)
    end = events[-1].ns
    expected = {}
    for (host, dev), d in devices.items():
        title = names.get((host, dev)) or f"{dev >> 20}:{dev & 0xfffff}"
        expected["block", title] = d.row(end)
        if not any(e.name == "block_rq_insert" for e in events):
            expected["block", title]["queued_ns"] = None
        if not any(e.name in MERGES for e in events):
            del expected["block", title]["merges"]      # null where they were not recorded
    for (host, dev), sums in net.items():
        expected["net", dev] = {k: sums[k] for k in ("reads", "writes", "errors", "read_bytes", "write_bytes")}
    n = sum(len(d.latencies) for d in devices.values())
    if not {"block_rq_issue", "block_rq_complete"} <= {e.name for e in events} and devices:
        tap.skip(name, "requests are not followed: unknown, see test-missing-events.c")
        return
    found = {(r["kind"], r["device"]): r for r in blk.rows("devices", trace)}
    compare(tap, f"{name}: {len(expected)} devices, {n} requests, "
                 f"{sum(s['reads'] + s['writes'] for s in net.values())} packets", expected, found)
    if any(e.name == "block_rq_issue" and "tid" not in e.payload for e in events):
        return                                      # old tracers do not say which thread
    users = {}
    for (host, dev), d in devices.items():
        for tid, sums in d.users.items():
            title = names.get((host, dev)) or f"{dev >> 20}:{dev & 0xfffff}"
            row = {k: sums[k] for k in KINDS}
            row.update(read_bytes=sums["reads", "bytes"], write_bytes=sums["writes", "bytes"],
                       total_ns=sums["total"])
            users[tid, title] = row
    found = {(r["tid"], r["device"]): r for r in blk.rows("devices", trace, "--by", "thread")}
    compare(tap, f"{name}: requests of {len(users)} threads", users, found)


def lossy(tap, name, trace):
    """Completions by second and device, which name how much they completed, whatever else was lost."""
    expected = collections.defaultdict(collections.Counter)
    offset = btparse.offset(trace)
    for e in btparse.events(trace):
        if e.name == "block_rq_complete":
            size = e.payload["nr_sector"] * 512
            if not size and (e.payload["rwbs"] & 257 == 1 if e.payload["sector"] == 0 else
                             e.payload["rwbs"] & 1 and e.payload["sector"] != NO_SECTOR):
                continue                        # it only asked for a flush
            of = expected[(e.ns + offset) // 10**9, e.payload["dev"]]
            what = kind(e.payload["rwbs"], size) if size else "others"      # a flush, whatever its flags
            of[what] += 1
            if what != "others":
                of[what[:-1] + "_bytes"] += size
    found = collections.defaultdict(collections.Counter)
    for o in blk.objects("devices", trace, "--each", lossy=True):
        for r in o["rows"]:
            if r["kind"] == "block":
                of = found[o["range"]["from_ns"] // 10**9]
                of.update({k: r[k] for k in KINDS} | {"read_bytes": r["read_bytes"],
                                                      "write_bytes": r["write_bytes"]})
    by_second = collections.defaultdict(collections.Counter)
    for (second, _), of in expected.items():
        by_second[second].update(of)
    bad = [(second, +found[second], +by_second[second]) for second in sorted(found.keys() | by_second.keys())
           if +found[second] != +by_second[second]]
    total = sum(of[k] for of in by_second.values() for k in KINDS)
    tap.none(bad, f"{name}: {total} completions in {len(by_second)} seconds, among losses")


def main():
    blk.need_babeltrace2()
    if not blk.have_blktop():
        blk.skip_all(f"no {blk.BLKTOP}")
    tap = blk.Tap()
    for name in TRACES:
        trace = btparse.recording(tap, name)
        if trace:
            one(tap, name, trace)
    for name in LOSSY:
        trace = btparse.recording(tap, name)
        if trace:
            lossy(tap, name, trace)
    tap.done()


if __name__ == "__main__":
    main()
