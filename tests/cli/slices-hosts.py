#!/usr/bin/env python3
"""blktop map of each host apart, and blktop reduce of them together: every view and report prints the same bytes as of the traces read
together. Hosts are copies of recordings whose metadata names another host, boot and clock."""
import glob
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from views_of import TRACES, blktop, views  # noqa: E402

SEED = os.environ.get("SEED", str(random.randrange(10**6)))
VIEWS = ["events", "losses", "processes", "files", "cpus", "scheduler", "services", "spans", "slow", "wakers"]


def report(paths):
    """What each view prints, and its exit status; then the report, without names of what is read and by what."""
    printed = {v: (r.returncode, r.stdout) for v in VIEWS for r in [blktop("-b", "--utc", "--view", v, "--format", "csv", *paths)]}
    with tempfile.TemporaryDirectory() as work:
        r = blktop("report", "--utc", *paths, "-o", work + "/report.md")
        with open(work + "/report.md", encoding="utf-8") as f:
            printed["report"] = r.returncode, re.sub(r"(?m)^(# Slow requests in|\| Trace \||\| Read by \|).*", "", f.read())
    return printed


def renamed(metadata, host, boot, ns):
    """Metadata of another host, boot and clock. Its length stays."""
    metadata = re.sub(rb'(hostname = )"[^"]*"', lambda m: m[1] + b'"' + host.encode().ljust(len(m[0]) - len(m[1]) - 2, b"x") + b'"', metadata)
    at = metadata.index(b"clock {")
    clock = re.sub(rb'(uuid = )"[0-9a-f]{8}', rb'\1"' + boot.encode(), metadata[at:], count=1)
    offset = re.search(rb"offset = (\d+);", clock)[1]
    return metadata[:at] + clock.replace(offset, str(int(offset) + ns).encode(), 1)


def make_host(trace, path, host, boot, ns):
    """A copy as of another host, whose clock is ahead. Trace ids are others, too, in each packet."""
    shutil.copytree(trace, path)
    for name in glob.glob(path + "/**/metadata", recursive=True):
        folder = os.path.dirname(name)
        with open(name, "rb") as f:
            old = re.search(rb'trace \{.*?uuid = "([^"]*)"', f.read(), re.S)[1].decode()
        new = f"{int(old[:8], 16) ^ int(boot, 16):08x}{old[8:]}"
        for file in (os.path.join(folder, n) for n in os.listdir(folder)):
            if not os.path.isfile(file):
                continue
            os.chmod(file, 0o644)
            with open(file, "rb") as f:
                data = f.read().replace(uuid.UUID(old).bytes, uuid.UUID(new).bytes).replace(old.encode(), new.encode())
            with open(file, "wb") as f:
                f.write(renamed(data, host, boot, ns) if file == name else data)
    return path


class Pieces:
    """Slice files in a directory."""

    def __init__(self, work, rng):
        self.work, self.rng, self.n, self.problems = work, rng, 0, []

    def new(self, command, *arguments):
        self.n += 1
        path = os.path.join(self.work, f"{self.n}.blkslice")
        r = blktop(command, *arguments, "-o", path)
        if r.returncode or not r.stderr.startswith("wrote "):
            self.problems.append(r.stderr)
        return path

    def reduce(self, files):
        return self.new("reduce", *self.rng.sample(files, len(files)))

    def tree(self, files):
        """Merges neighbours, some at a time, until one is left."""
        while len(files) > 1:
            at = self.rng.randrange(len(files) - 1)
            some = files[at:at + self.rng.randrange(2, 4)]
            files = files[:at] + [self.reduce(some)] + files[at + len(some):]
        return files[0]


def compare(name, traces, pieces, **results):
    whole = report(traces)
    tap.ok(f"{name}: some views print something", [] if sum(len(out) > 200 for _, out in whole.values()) > 4 else ["nothing"])
    tap.ok(f"{name}: pieces are mapped and merged", pieces.problems)
    for how, paths in results.items():
        got = report(paths)
        tap.ok(f"{name}: {how.replace('_', ' ')} prints the same", [v for v in whole if whole[v] != got[v]])


def chunks(trace):
    return sorted(glob.glob(os.path.join(trace, "archives", "*")), key=lambda c: int(c.rsplit("-", 1)[1]))


def check_rotation(rng, work):
    """Two hosts with rotation chunks of other instants, and of the same names."""
    hosts = [make_host(f"{TRACES}/rotation/trace", f"{work}/{h}/trace", h, boot, ns)
             for h, boot, ns in (("left", "11111111", 0), ("right", "22222222", 1300000017))]
    pieces = Pieces(work, rng)
    files = [[pieces.new("map", chunk) for chunk in chunks(h)] for h in hosts]
    each = [pieces.tree(some) for some in files]
    both = pieces.reduce(each)
    compare("rotation chunks", hosts, pieces, each_host_then_both=[both], all_at_once=rng.sample(sum(files, []), len(sum(files, []))),
            hosts_opened_together=each)
    check_packets(hosts, both)
    check_wrong(files, each, pieces)


def check_packets(hosts, both):
    where = sum((["--chunks", h + "/archives"] for h in hosts), [])
    for what in (["log", "--from", "+2s", "--to", "+3s"], ["-b", "--metric", "call.latency", "--by", "errno"]):
        a, b = blktop(*what, "--utc", *hosts), blktop(*what, "--utc", *where, both)
        tap.ok(f"chunks of one name of both hosts: {' '.join(what)}",
               [] if a.returncode == b.returncode and a.stdout == b.stdout and len(a.stdout) > 100 else [b.stderr])
    r = blktop("log", *where[:2], both)
    name = os.path.basename(chunks(hosts[1])[0])
    tap.ok("without those of one host an error names them", [] if r.returncode == 1 and name in r.stderr else [r.stderr])


def check_wrong(files, each, pieces):
    out = os.path.join(pieces.work, "wrong.blkslice")
    for what, words, arguments in (
            ("chunks of other times", "different machines and of different times", [files[0][0], files[1][0]]),
            ("a host and a part of another one", "different machines and of different times", [each[0], *files[1][1:]]),
            ("a host twice", "they overlap, and are of one machine", [each[0], each[1], each[0]]),
            ("a missing chunk", "the piece between them is missing", [files[0][0], each[1], *files[0][2:]])):
        r = blktop("reduce", *arguments, "-o", out)
        tap.ok(f"{what}: refused", [] if r.returncode == 1 and words in r.stderr and not os.path.exists(out) else [r.stderr])


def check_ranges(rng, work):
    """Hosts that were cut at the same instants, merged by host and by time."""
    hosts = [make_host(f"{TRACES}/{t}", f"{work}/{h}", h, boot, ns)
             for t, h, boot, ns in (("lost/trace", "left", "11111111", 0), ("kernel-ust/trace", "right", "22222222", 94500000000),
                                    ("kernel-small/trace", "middle", "33333333", 121000000000))]
    first = 1795241377943014561
    cuts = sorted(rng.sample(range(first - 4 * 10**9, first + 6 * 10**9), rng.randrange(1, 4)))
    ends, pieces, files = [None, *cuts, None], Pieces(work, rng), []
    for h in hosts:
        files.append([pieces.new("map", "--with-spans", *(["--from", f"@{a}"] if a else []), *(["--to", f"@{b}"] if b else []), h)
                      for a, b in zip(ends, ends[1:])])
    by_time = [pieces.reduce([f[i] for f in files]) for i in range(len(ends) - 1)]
    by_pair = [pieces.reduce([f[i] for f in files[:2]]) for i in range(len(ends) - 1)]
    compare(f"ranges cut at {cuts}", hosts, pieces, by_time=[pieces.tree(by_time)], by_host=[pieces.reduce([pieces.tree(f) for f in files])],
            mixed=[pieces.reduce([pieces.tree(by_pair), *files[2]])], all_at_once=rng.sample(sum(files, []), len(sum(files, []))))


def check_spans(rng, work):
    """Spans that cross hosts: a client and its server; and a host without events of spans."""
    pid = f"{TRACES}/lost/trace/ust/pid"
    front, store = glob.glob(pid + "/thumbd-*")[0], glob.glob(pid + "/exe-*")[0]
    hosts = [make_host(front, f"{work}/front", "front", "11111111", 0), make_host(store, f"{work}/store", "store", "22222222", 70000),
             make_host(f"{TRACES}/kernel-small/trace", f"{work}/third", "third", "33333333", 126000000000)]
    pieces = Pieces(work, rng)
    files = [pieces.new("map", h) for h in hosts]
    two = pieces.reduce(files[:2])
    compare("spans of two hosts", hosts[:2], pieces, merged=[two])
    shared = [line for line in blktop("-b", "--view", "spans", "--format", "csv", two).stdout.split("\n") if ",client," in line]
    tap.ok("spans of two hosts: some cross them", [] if len(shared) > 5 else shared)
    compare("a third host without spans", hosts, pieces, merged=[pieces.reduce([files[2], two])])
    r = blktop("-b", "--align-hosts", two)
    tap.ok("clocks of slices are not moved", [] if r.returncode == 2 and "cannot be moved" in r.stderr and not r.stdout else [r.stderr])
    part = pieces.new("map", "--to", "50%", hosts[0]), pieces.new("map", "--to", "50%", hosts[2])
    r = blktop("reduce", *part, "-o", os.path.join(work, "wrong"))
    tap.ok("parts of them are of other times", [] if r.returncode == 1 and "different times" in r.stderr else [r.stderr])
    part = [pieces.new("map", "--to", "@1795241380000000000", h) for h in (hosts[0], hosts[2])]
    r = blktop("reduce", *part, "-o", os.path.join(work, "wrong"))
    tap.ok("of parts it must be known", [] if r.returncode == 1 and "--with-spans" in r.stderr else [r.stderr])


def main():
    global VIEWS
    VIEWS = views(VIEWS)
    print(f"# SEED={SEED}")
    rng = random.Random(SEED)
    for check in check_rotation, check_ranges, check_spans:
        with tempfile.TemporaryDirectory() as work:
            check(rng, work)
    tap.done()


main()
