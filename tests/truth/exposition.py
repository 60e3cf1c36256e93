# SPDX-License-Identifier: GPL-2.0-only
"""Strict readers of Prometheus text 0.0.4 and OpenMetrics 1.0, and a blktop that serves them."""
import atexit
import re
import subprocess
import urllib.request
from decimal import Decimal

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"-?\d+(\.\d+)?|\+Inf")
ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}
SUFFIXES = {"histogram": {"_bucket", "_sum", "_count"}, "gauge": {""}, "counter": {"_total"}}


class Wrong(Exception):
    pass


def number(text):
    if not NUMBER.fullmatch(text):
        raise Wrong(f"no number: {text!r}")
    return Decimal("Infinity" if text == "+Inf" else text)


def labels(text, at):
    """Those in braces at a place, and the place behind them."""
    found = {}
    if text[at:at + 1] != "{":
        return found, at
    at += 1
    while True:
        m = LABEL.match(text, at)
        if not m or m[1] in found:
            raise Wrong(f"labels: {text!r}")
        found[m[1]] = re.sub(r'\\["\\n]', lambda e: ESCAPES[e[0]], m[2])
        at = m.end()
        if text[at:at + 1] == "}":
            return found, at + 1
        if text[at:at + 1] != ",":
            raise Wrong(f"labels: {text!r}")
        at += 1


class Family:
    def __init__(self, name, kind):
        self.name, self.kind, self.samples, self.exemplars, self.unit = name, kind, {}, {}, None

    def add(self, name, found, value):
        base = self.name[:-len("_total")] if self.kind == "counter" and self.name.endswith("_total") else self.name
        if not name.startswith(base) or name[len(base):] not in SUFFIXES[self.kind]:
            raise Wrong(f"{name} among {self.name}")
        key = name[len(base):], tuple(sorted(found.items()))
        if key in self.samples:
            raise Wrong(f"twice: {name} {found}")
        if self.kind != "gauge" and value < 0:
            raise Wrong(f"below 0: {name} {found}")
        self.samples[key] = value
        return key

    def check(self):
        """Of a histogram: buckets in their order and cumulated, the last one has all."""
        if self.kind != "histogram":
            return
        last = {}
        for (suffix, found), n in self.samples.items():
            if suffix != "_bucket":
                continue
            rest = tuple(pair for pair in found if pair[0] != "le")
            le = number(dict(found)["le"])
            if rest in last and (le <= last[rest][0] or n < last[rest][1]):
                raise Wrong(f"{self.name} {found}: not cumulated")
            last[rest] = le, n
        for rest, (le, n) in last.items():
            if le != Decimal("Infinity") or self.samples.get(("_count", rest)) != n or ("_sum", rest) not in self.samples:
                raise Wrong(f"{self.name} {rest}: +Inf, _count, _sum")


def sample(family, line, openmetrics):
    m = NAME.match(line)
    if not m or not family:
        raise Wrong(f"no sample: {line!r}")
    found, at = labels(line, m.end())
    rest = line[at:]
    if not rest.startswith(" "):
        raise Wrong(f"no value: {line!r}")
    value, mark, exemplar = rest[1:].partition(" # ")
    key = family.add(m[0], found, number(value))
    if mark:
        if not openmetrics or key[0] not in ("_bucket", "_total"):
            raise Wrong(f"an exemplar: {line!r}")
        of, at = labels(exemplar, 0)
        ns, instant = (number(word) for word in exemplar[at:].strip().split(" "))
        if sum(len(k) + len(v) for k, v in of.items()) > 128 or ns > number(found["le"]):
            raise Wrong(f"exemplar: {line!r}")
        family.exemplars[key] = of, ns, instant


def parse(text, openmetrics=False):
    """Families by name. Whatever the formats do not allow raises Wrong."""
    families, family = {}, None
    if not text.endswith("\n") or (openmetrics and not text.endswith("\n# EOF\n")):
        raise Wrong("the end")
    for line in text[:-1].split("\n")[:-1 if openmetrics else None]:
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            if words[2] in families:
                raise Wrong(f"interleaved: {words[2]}")
            helped = words[2]
        elif words[:2] == ["#", "TYPE"]:
            if words[2] != helped or (openmetrics and words[2].endswith("_total")):
                raise Wrong(line)
            family = families[words[2]] = Family(words[2], words[3])
        elif words[:2] == ["#", "UNIT"]:
            if not openmetrics or words[2] != family.name or not family.name.endswith("_" + words[3]):
                raise Wrong(line)
            family.unit = words[3]
        elif line.startswith("#"):
            raise Wrong(line)
        else:
            sample(family, line, openmetrics)
    for family in families.values():
        family.check()
    return families


class Served:
    """blktop -b --listen 127.0.0.1:0 ARGUMENT..., until it has counted everything."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, "-b", "--listen", "127.0.0.1:0", *arguments], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.messages = []
        for line in self.process.stderr:
            self.messages.append(line)
            m = re.search(r"serving (http://127\.0\.0\.1:(\d+)/metrics)", line)
            if m:
                self.url, self.port = m[1], int(m[2])
                break
        else:
            raise Wrong(f"it does not serve: {''.join(self.messages)}")

    def get(self, accept=None, url=None, method="GET"):
        """Its answer's status, type and text."""
        request = urllib.request.Request(url or self.url, headers={"Accept": accept} if accept else {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as r:
                return r.status, r.headers["Content-Type"], r.read().decode()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.headers["Content-Type"], e.read().decode()

    def until(self, holds):
        """Asks until what it answers holds, or it has ended."""
        while self.process.poll() is None:
            families = parse(self.get()[2])
            if holds(families):
                return families
        raise Wrong(f"it has ended: {self.process.stderr.read()}")

    def end(self):
        self.process.terminate()
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


def counted(families):
    """How many seconds are counted, and until when."""
    until = families.get("blktop_counted_until_timestamp_seconds")
    return (families["blktop_counted_seconds_total"].samples["_total", ()],
            until.samples["", ()] if until else None)
