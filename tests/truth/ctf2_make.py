# SPDX-License-Identifier: GPL-2.0-only
"""Writes a made-up CTF 2 trace and what a reader has to show of it:

    python3 ctf2_make.py SEED DIR [tame]     makes DIR/trace/ and DIR/expected.jsonl

`tame` leaves out what babeltrace2 2.1.2 refuses, aborts on or reads wrongly, so that it can judge the rest.

The seed chooses everything that CTF2-SPEC-2.0 leaves to the writer: field classes of all types,
nested, at odd bits, in both byte orders and bit orders; locations of all origins; aliases; roles;
headers and packet contexts of any shape; clocks; several data stream classes; the style of the JSON.

expected.jsonl: for each event {"ns", "class", "cpu", "stream", "common", "specific", "payload"}, by
stream; scopes as ctf2_fields.py says, null where there is none. The first line is {"clock": ..., "streams":
[{"name", "lost_events", "lost_packets"}], "fuzzy": how many ns a time may differ by rounding}."""
import json
import os
import random
import struct
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ctf2_fields import (BIG, ENCODINGS, LITTLE, Array, Bits, BitMap, Blob, Bool, Fixed, Float, Int, Leb, NullString,
                         Optional, SizedString, Struct, Variant)

MAGIC = 0xc1fc1fc1
NAMES = ["len", "x", "y", "_z", "tid", "$app.foo:bar", "id", "a b", "été", "漢", "\U0001f642", "a\"b", "back\\slash",
         "v", "type", "new\nline", "timestamp", "struct", "9", "a.b", "[0]"]
LEVELS = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug:system", "debug:program",
          "debug:process", "debug:module", "debug:unit", "debug:function", "debug:line", "debug"]
SCOPES = ["packet-header", "packet-context", "event-record-header", "event-record-common-context",
          "event-record-specific-context", "event-record-payload"]


class Metadata:
    """Fragments, in order, and the aliases that they need."""

    def __init__(self, r, tame):
        self.r, self.tame, self.fragments, self.aliases = r, tame, [], {}
        self.share = r.choice([0, 0.1, 0.5])

    def location(self, what, target):
        """Absolute, or relative where both are in the same structure of an event or packet."""
        if what.scope == target.scope and self.r.random() < 0.6:
            common = len(os.path.commonprefix([what.container, target.path[:-1]]))
            ups = self.r.randint(len(what.container) - common, len(what.container))
            if self.tame and ups > 1:       # babeltrace2: a second null takes back the first
                return {"origin": target.scope, "path": list(target.path)}
            return {"path": [None] * ups + list(target.path[len(what.container) - ups:])}
        return {"origin": target.scope, "path": list(target.path)}

    def reference(self, c):
        return self.alias(c.json(self))

    def alias(self, j):
        if self.r.random() >= self.share:
            return j
        text = json.dumps(j, sort_keys=True)
        if text not in self.aliases:
            self.aliases[text] = self.r.choice(["u32", "a.", "", "packet header", "é"]) + f"#{len(self.aliases)}"
            self.fragments.append({"type": "field-class-alias", "name": self.aliases[text], "field-class": j})
        return self.aliases[text]

    def attributes(self, j):
        if self.r.random() < 0.05:
            j["attributes"] = {"example.com,2026": {"a": [1, None, -1.5e3, {"b": "\x1d"}]}, "x": 1}
        if self.r.random() < 0.05:
            j["extensions"] = {}
        return j

    def add(self, kind, j):
        self.fragments.append(self.attributes(dict({"type": kind}, **{k: v for k, v in j.items() if v is not None})))

    def text(self):
        r, out = self.r, []
        indent, escape, feed = r.choice([None, None, 2]), r.random() < 0.5 and not self.tame, r.choice(["\n", "", "\r\n  \n"])
        for f in self.fragments:
            keys = list(f)
            r.shuffle(keys)
            j = json.dumps({k: f[k] for k in keys}, indent=indent, ensure_ascii=escape,
                           separators=r.choice([None, (",", ":")]))
            out.append("\x1e" + j + feed)
        return "".join(out).encode()


class Place:
    """Where in a scope classes are being made: what of before can be referred to from here."""

    def __init__(self, counters=(), selectors=()):
        self.counters, self.selectors = list(counters), list(selectors)

    def inner(self):
        return Place(self.counters, self.selectors)


class Classes:
    """Field classes, chosen by the seed."""

    def __init__(self, r, tame):
        self.r, self.tame = r, tame
        self.order = r.choice([LITTLE, LITTLE, BIG])
        self.natural = r.random() < 0.4             # integers aligned to their size
        self.odd = r.choice([0, 0.3, 0.7])          # of sizes that are no whole bytes
        self.reverse = r.choice([0, 0, 0.2])
        self.n = 0

    def other(self):
        return BIG if self.order == LITTLE else LITTLE

    def name(self):
        self.n += 1
        return self.r.choice(NAMES) + self.r.choice(["", "_"]) + str(self.n)

    def ranges(self, low, high):
        r, out = self.r, []
        for _ in range(r.choice([1, 1, 2, 5])):
            a = r.choice([low, high, 0, 1, r.randint(low, high)])
            out.append(sorted([min(max(a, low), high), r.choice([min(high, a + r.randrange(20)), r.randint(low, high)])]))
        return out

    def decorate(self, c):
        r = self.r
        c.base = r.choice([10, 10, 10, 16, 8, 2])
        if r.random() < 0.25:
            low, high = c.limits()
            c.mappings = {r.choice(["A", "B c", "", "漢", "zero"]) + (str(i) if i or self.tame else ""): self.ranges(low, high)
                          for i in range(r.choice([1, 2, 5, 30]))}
        return c

    def int(self, size=None, signed=None, plain=False):
        """At any bit, in the trace's order; or whole bytes of the other one."""
        r = self.r
        signed = r.random() < 0.4 if signed is None else signed
        size = size or (r.randint(1, 64) if r.random() < self.odd else r.choice([8, 16, 32, 64]))
        if size % 8 == 0 and r.random() < 0.15 and not plain:
            return Int(size, self.other(), signed, r.choice([8, 16]))
        return Int(size, self.order, signed, self.align_of(size), r.random() < self.reverse)

    def align_of(self, size):
        if self.r.random() < self.odd / 4:
            return self.r.choice([1, 2, 4, 8, 16, 64])
        return size if self.natural and size in (8, 16, 32, 64) else 8 if size % 8 == 0 else 1

    def foreign(self):
        """Whole bytes of bits of the other order, as network headers have them."""
        r, members = self.r, []
        left = r.choice([8, 16, 40])
        while left:
            size = r.randint(1, min(left, 13))
            left -= size
            members.append((self.name(), Int(size, self.other(), r.random() < 0.3)))
        return Struct(members, 8)

    def flags(self):
        return Struct([(self.name(), self.int(self.r.randint(1, 12))) for _ in range(self.r.randint(1, 6))])

    def bit_map(self):
        size = self.r.randint(1, 64)
        flags = {f"f{i}": self.ranges(0, size - 1) for i in range(self.r.randrange(1, 5))}
        return BitMap(size, self.order, flags, align=self.align_of(size), reverse=self.r.random() < self.reverse)

    def real(self):
        size = self.r.choice([32, 64] if self.tame else [16, 32, 32, 64, 64, 128])
        return Float(size, self.order, self.r.choice([1, 8, size]), self.r.random() < self.reverse)

    def scalar(self):
        r = self.r
        size = r.choice([1, 8, 8, r.randint(1, 64)])
        return r.choice([
            lambda: self.decorate(self.int()), lambda: self.decorate(self.int()), lambda: self.decorate(self.int()),
            lambda: self.decorate(Leb(r.random() < 0.5, r.choice([1, 1, 3]))),
            lambda: Bool(size, self.order, self.align_of(size), r.random() < self.reverse),
            lambda: Fixed(size, self.order, self.align_of(size), r.random() < self.reverse),
            self.bit_map, self.real, self.foreign, self.flags, lambda: NullString(r.choice(["utf-8"] + list(ENCODINGS))),
            lambda: SizedString(r.choice(["utf-8"] + list(ENCODINGS)), length=4 * r.randrange(6)),
            lambda: Blob(length=r.randrange(20), media=r.choice([None, "image/png"]))])()

    def counter(self):
        r = self.r
        c = Leb(False, r.choice([1, 2])) if r.random() < 0.3 else self.int(signed=False, plain=True)
        high = c.limits()[1]
        c.pool = [n for n in r.choice([[0, 1, 2, 3, 7], [0, 4, 8, 16], [0, 1]]) if n <= high]
        return c

    def selector(self):
        r = self.r
        c = Leb(r.random() < 0.5) if r.random() < 0.2 else self.int(plain=True)
        low, high = c.limits()
        c.pool = sorted({low, high, 0, min(high, 5), r.randint(low, high)})
        if r.random() < 0.3:
            self.decorate(c)
        return c

    def flag(self):
        size = self.r.choice([1, 8])
        return Bool(size, self.order, self.align_of(size))

    def sized(self, place, depth, c):
        """Of a length that is a field before."""
        r = self.r
        encodings = [e for e, unit in ENCODINGS.items() if all(n % unit == 0 for n in c.pool)]
        return r.choice([lambda: Array(self.scalar(), counter=c, minimum=r.choice([1, 1, 8, 32])),
                         lambda: Array(self.any(place.inner(), depth + 1), counter=c),
                         lambda: SizedString(r.choice(encodings), counter=c),
                         lambda: Blob(counter=c, media=r.choice([None, "text/plain"]))])()

    def selected(self, place, depth, c):
        r = self.r
        if isinstance(c, Bool):
            return Optional(self.any(place.inner(), depth + 1), c)
        if r.random() < 0.4:
            return Optional(self.any(place.inner(), depth + 1), c, self.ranges(*c.limits()))
        options, pool = [], list(c.pool)
        while pool:
            mine = pool[:r.randint(1, len(pool))]
            pool = pool[len(mine):]
            ranges = [[mine[0], mine[-1]]] if r.random() < 0.5 else [[v, v] for v in mine]
            inner = r.choice([Struct([]), self.any(place.inner(), depth + 1), self.any(place.inner(), depth + 1)])
            options.append((r.choice([None, self.name(), f"opt{len(options)}"]), ranges, inner))
        r.shuffle(options)
        return Variant(c, options)

    def any(self, place, depth):
        r = self.r
        if depth > 3 or r.random() < 0.5:
            return self.scalar()
        kinds = [lambda: self.structure(place.inner(), depth + 1),
                 lambda: Array(self.any(place.inner(), depth + 1), length=r.choice([0, 1, 3]), minimum=r.choice([1, 1, 16]))]
        if place.counters:
            kinds += [lambda: self.sized(place, depth, r.choice(place.counters))] * 2
        if place.selectors:
            kinds += [lambda: self.selected(place, depth, r.choice(place.selectors))] * 2
        return r.choice(kinds)()

    def members(self, place, depth, most):
        r, out = self.r, []
        for _ in range(r.randrange(most + 1)):
            if r.random() < 0.35:
                c, known = r.choice([(self.counter, place.counters), (self.selector, place.selectors),
                                     (self.flag, place.selectors)])
                c = c()
                known.append(c)
            elif r.random() < 0.2:          # what is in a structure that is no array's can be referred to
                c = Struct(self.members(place, depth + 1, 3))
            else:
                c = self.any(place, depth)
            out.append((self.name(), c))
        return out

    def structure(self, place, depth, most=5):
        return Struct(self.members(place, depth, most), self.r.choice([1, 1, 1, 8, 16, 64]))


class Header:
    """The event header. put() writes an event's id and time; step: how far the clock may go from
    one event to the next (None: the header has no time)."""

    def __init__(self, k, clock, ids, blind):
        r = self.r = k.r
        self.k, self.has_clock = k, clock
        kinds = ["plain", "plain", "leb", "compact", "large", "sink", "three", "optional"]
        self.kind = r.choice(kinds if clock else ["plain", "leb"])
        if blind:       # the packet does not say when it begins: each event says all of its time
            self.kind = "sink"
        elif ids == 0:
            self.kind = r.choice(["none", "time"]) if clock else "none"
        self.id, self.ts = [], []               # candidates, as the form needs them
        self.structure = getattr(self, "make_" + self.kind)()

    def is_id(self, c):
        c.roles = ("event-record-class-id",)
        self.id.append(c)
        return c

    def is_time(self, c):
        c.roles = ("default-clock-timestamp",)
        self.ts.append(c)
        return c

    def make_none(self):
        return None

    def make_time(self):
        """No id: there is one event class."""
        return Struct([("t", self.is_time(self.k.int(self.r.randint(20, 64), False, plain=True)))], self.r.choice([1, 8]))

    def make_plain(self):
        """Any sizes, any order, other fields between."""
        k, r = self.k, self.r
        members = [("id", self.is_id(k.int(r.randint(3, 64), False, plain=True)))]
        if self.has_clock:
            members.append(("timestamp", self.is_time(k.int(r.randint(4, 64), False, plain=True))))
        if r.random() < 0.3:
            members.append((k.name(), k.scalar()))
        r.shuffle(members)
        return Struct(members, r.choice([1, 8]))

    def make_leb(self):
        members = [("event", self.is_id(Leb(False, self.r.choice([1, 2]))))]
        if self.has_clock:
            # babeltrace2 counts one byte too few of a time's
            members.append(("time", self.is_time(Int(64, self.k.order, align=8) if self.k.tame else Leb(False))))
        return Struct(members)

    def make_sink(self):
        """As the CTF sink of babeltrace2 writes it."""
        return Struct([("id", self.is_id(Int(64, self.k.order, align=8))),
                       ("timestamp", self.is_time(Int(64, self.k.order, align=8)))], 8)

    def variant(self, tag, short, last):
        """As LTTng writes it; ids from `last` on are in the long form."""
        order = self.k.order
        self.last, tag = last, self.is_id(tag)
        small = Struct([("timestamp", self.is_time(short))])
        big = Struct([("id", self.is_id(Int(32, order, align=8))), ("timestamp", self.is_time(Int(64, order, align=8)))], 8)
        options = [("compact", [[0, last - 1]], small), ("extended", [[last, last]], big)]
        if self.r.random() < 0.5:
            options.reverse()
        return Struct([("id", tag), ("v", Variant(tag, options))], 8)

    def make_compact(self):
        return self.variant(Int(5, self.k.order), Int(27, self.k.order), 31)

    def make_large(self):
        return self.variant(Int(16, self.k.order, align=8), Int(32, self.k.order, align=8), 65535)

    def make_three(self):
        k = self.k
        tag = self.tag = Int(2, k.order)
        options = [(n, [[i, i]], Struct([("id", self.is_id(a)), ("ts", self.is_time(b))])) for i, (n, a, b) in enumerate((
            ("s", Int(6, k.order), Int(16, k.order)), ("m", Int(16, k.order, align=8), Int(32, k.order, align=8)),
            ("l", Leb(), Int(64, k.order, align=8))))]
        return Struct([("form", tag), ("v", Variant(tag, options))])

    def make_optional(self):
        k = self.k
        self.flag = Bool(8, k.order, 8)
        return Struct([("id", self.is_id(Int(8, k.order, align=8))), ("timed", self.flag),
                       ("t", Optional(self.is_time(Int(32, k.order, align=8)), self.flag))])

    def most_ids(self):
        return [min(c.limits()[1], 1 << 40) for c in self.id]

    def id_limit(self):
        return {"none": 0, "time": 0, "compact": 1 << 31, "large": 1 << 31}.get(self.kind, max(self.most_ids(), default=0))

    def forms(self, number, step):
        """Ways to write it: (pool of the fields)."""
        fits = [not self.ts or isinstance(t, Leb) or step < 1 << t.size for t in self.ts]
        if self.kind in ("compact", "large"):
            return [0] * (number < self.last and fits[0]) + [1]
        if self.kind == "three":
            return [i for i in range(3) if number <= self.most_ids()[i] and fits[i]]
        if self.kind == "optional":
            return [0] * (step == 0) + [1] * fits[0]
        return [0] if not self.ts or fits[0] else []

    def put(self, w, number, now, step):
        """False: the header has no way to say such a step."""
        forms = self.forms(number, step)
        if not self.structure or not forms:
            return bool(forms)
        form = self.r.choice(forms)
        if self.kind in ("compact", "large"):
            ids, times = [number if form == 0 else self.last, number], [now, now]
        else:
            ids, times = [number] * 3, [now] * 3
        if self.kind == "three":
            self.tag.pool = [form]
        if self.kind == "optional":
            self.flag.write = lambda w, r: self.put_flag(w, form)
        for c, value in list(zip(self.id, ids)) + list(zip(self.ts, times)):
            c.pool = [value & (c.limits()[1])]
        for c in self.ts:
            if isinstance(c, Leb):
                self.cut_leb(c, now, step)
        self.structure.write(w, self.r)
        return True

    def put_flag(self, w, form):
        self.flag.put(w, form)
        self.flag.last = bool(form)
        return {"bool": bool(form)}

    def cut_leb(self, c, now, step):
        """All of the time, or the low bits that suffice."""
        n = next(i for i in range(1, 11) if step < 1 << 7 * i)
        if n < 9 and self.r.random() < 0.7:
            c.pool, c.least = [now & ((1 << 7 * n) - 1)], n
        else:
            c.pool, c.least = [now], 1


class Stream:
    """A data stream class."""

    def __init__(self, maker, number):
        r, k = maker.r, maker.k
        self.m, self.r, self.id = maker, r, number
        self.clock = r.choice(maker.clocks) if maker.clocks else None
        self.exact = not maker.has_sizes        # the last event ends where the packet does
        self.blind = r.random() < 0.1 and not k.tame
        place = Place()
        self.make_context(place)
        self.header = Header(k, self.clock is not None, r.choice([0, 1, 1, 1, 1]), self.blind)
        self.common = k.structure(place, 1, 3) if r.random() < 0.5 else None
        self.events = {}
        for _ in range(1 if self.header.kind in ("none", "time") else r.randrange(1, 6)):
            here = place.inner()
            specific = k.structure(here, 1, 3) if r.random() < 0.3 else None
            payload = k.structure(here, 0, 8)
            if self.exact or not self.header.id_limit():        # no event is empty
                payload = Struct(payload.members + [("end", Int(8, k.order, align=8))], payload.minimum)
            number = r.choice([r.randrange(8), r.randint(0, self.header.id_limit())]) if self.header.id_limit() else 0
            number = min(number, self.header.id_limit())
            self.events[number] = (r.choice(["e", "sched_switch", "zipkin:timestamp", "é x"]) + f"_{len(self.events)}",
                                   specific, payload)

    def make_context(self, place):
        """The packet context: what it says of packets, in any order, and other fields."""
        r, k, m = self.r, self.m.k, self.m
        self.roles = {}
        members = []

        def add(role, c, name=None):
            self.roles[role] = c
            if not name:
                c.roles = (role,)
            members.append((name or role.replace("-", "_"), c))
        wide = lambda least: Leb(False, 9) if r.random() < 0.1 else k.int(r.choice([least, 64, 64]), False)
        if m.has_sizes or r.random() < 0.3:
            which = r.choice(["both", "total", "content"]) if self.exact else "both"
            if which != "content":
                add("packet-total-length", wide(32))
            if which != "total":
                add("packet-content-length", wide(32))
        if self.clock and not self.blind:
            add("default-clock-timestamp", wide(56))
            if r.random() < 0.8 or k.tame:
                add("packet-end-default-clock-timestamp", wide(56))
        if r.random() < 0.6:
            add("discarded-event-record-counter-snapshot", wide(32))
        if r.random() < 0.6:
            add("packet-sequence-number", wide(32))
        if r.random() < 0.7:
            add("cpu_id", k.int(r.choice([8, 32]), False), "cpu_id")
        r.shuffle(members)
        at = 0
        for member in k.members(place, 1, 2):   # in their order: they may refer to each other
            at = r.randint(at, len(members)) + 1
            members.insert(at - 1, member)
        self.context = Struct(members, r.choice([1, 8, 64])) if members else None

    def describe(self, meta):
        r, c = self.r, self.clock
        parent = self.id if self.id or r.random() < 0.5 else None
        for scope, s in (("packet-context", self.context), ("event-record-header", self.header.structure),
                         ("event-record-common-context", self.common)):
            if s:
                s.place(scope, (), ())
        j = {"id": parent, "name": r.choice([None, "chan", ""]), "namespace": r.choice([None, "example.com"]),
             "default-clock-class-id": c and c["id"],
             "packet-context-field-class": self.context and meta.reference(self.context),
             "event-record-header-field-class": self.header.structure and meta.reference(self.header.structure),
             "event-record-common-context-field-class": self.common and meta.reference(self.common)}
        meta.add("data-stream-class", j)
        for number, (name, specific, payload) in self.events.items():
            for scope, s in (("event-record-specific-context", specific), ("event-record-payload", payload)):
                if s:
                    s.place(scope, (), ())
            j = {"id": number if number or r.random() < 0.5 else None,
                 "data-stream-class-id": self.id if self.id or r.random() < 0.5 else None, "name": name,
                 "namespace": r.choice([None, "example.com"]), "uid": r.choice([None, "u1"]),
                 "specific-context-field-class": specific and meta.reference(specific),
                 "payload-field-class": meta.reference(payload)}
            if r.random() < 0.3:
                j["attributes"] = {"lttng.org,2009": {"log-level": r.choice(LEVELS)}}
            meta.add("event-record-class", j)

    # -- data --

    def ns(self, cycles):
        c = self.clock
        if not c:
            return None
        return c["s"] * 10**9 + (c["cycles"] + cycles) * 10**9 // c["frequency"]

    def put_packet(self, w, p, cpu):
        """Header and context. They are written twice: first without knowing how it ends."""
        values = dict(zip(("packet-total-length", "packet-content-length", "default-clock-timestamp",
                           "packet-end-default-clock-timestamp", "discarded-event-record-counter-snapshot",
                           "packet-sequence-number", "cpu_id"),
                          (p["total"], p["content"], p["begin"], p["end"], p["discarded"], p["seq"], cpu)))
        for role, c in self.roles.items():
            c.pool = [values[role]]
        choices = random.Random(p["choices"])
        self.m.put_packet_header(w, self.id, p["instance"], choices)
        if self.context:
            self.context.write(w, choices)

    def put_event(self, w, clock, cpu, expected):
        r = self.r
        number = r.choice(list(self.events))
        for step in (r.choice([0, 1, 100, 10**6, 1 << 26, (1 << 32) + 5, self.clock["frequency"]] if self.clock else [0]), 1, 0):
            before = w.pos, bytes(w.data), w.order
            if self.header.kind == "none":
                step = 0
            if self.header.put(w, number, clock + step, step):
                break
        else:
            w.pos, w.data, w.order = before[0], bytearray(before[1]), before[2]
            return clock
        name, specific, payload = self.events[number]
        shown = [s.write(w, r) if s else None for s in (self.common, specific, payload)]
        expected.append({"ns": self.ns(clock + step), "class": name, "cpu": cpu, "stream": None,
                         "common": shown[0], "specific": shown[1], "payload": shown[2]})
        return clock + step

    def write(self, instance, cpu, expected):
        """[(bytes, what the packet says)] of one stream."""
        r, packets, clock = self.r, [], self.r.randrange(1, 1 << 20)
        seq, discarded = r.choice([0, 0, 7]), 0
        for i in range(r.randrange(1, 6) if self.m.has_sizes or not self.exact else 1):
            if i:
                seq += r.choice([1, 1, 1, 3])
                discarded += r.choice([0, 0, 5])
            p = {"begin": clock, "discarded": discarded, "seq": seq, "instance": instance, "class": self.id,
                 "choices": r.getrandbits(64), "end": 0, "content": 0, "total": 0}
            w = Bits()
            self.put_packet(w, p, cpu)
            for _ in range(r.choice([1, 5, 30])):
                clock = self.put_event(w, clock, cpu, expected)
            p["content"], at, order = w.pos, w.pos, w.order
            p["end"] = clock = clock + r.choice([0, 1, 1000])
            size = (at + 7) // 8 + (0 if self.exact else r.choice([0, 0, 1, 500]))
            p["total"] = size * 8
            data = bytearray(w.data)
            w.pos = 0
            self.put_packet(w, p, cpu)
            data = bytes(w.data) + bytes(r.randrange(256) for _ in range(size - len(data)))
            packets.append((data, p))
            clock += r.choice([1, 5, 10**5])
        return packets


class Maker:
    def __init__(self, seed, tame=False):
        r = self.r = random.Random(seed)
        k = self.k = Classes(r, tame)
        self.uuid = uuid.UUID(int=r.getrandbits(128)) if r.random() < 0.8 else None
        self.has_sizes = r.random() < 0.8
        self.clocks = [self.make_clock(i) for i in range(r.choice([1, 1, 1, 2]))]
        numbers = [0] if r.random() < 0.5 else r.sample([0, 1, 2, 77, 1 << 31], r.choice([1, 2, 3]))
        self.make_packet_header(len(numbers) > 1 or numbers[0])
        self.streams = [Stream(self, n) for n in numbers]

    def make_clock(self, i):
        r = self.r
        freq = r.choice([10**9, 10**9, 10**9, 10**6, 3 * 10**9])
        return {"id": f"clock{i}", "frequency": freq, "s": r.choice([0, 1795242155, -5]),
                "cycles": r.choice([0, freq - 1, r.randrange(freq)])}

    def make_packet_header(self, needs_class):
        r, k = self.r, self.k
        self.head, members = {}, []
        if r.random() < 0.8:
            self.head["packet-magic-number"] = Int(32, k.order, align=8)
        if self.uuid and r.random() < 0.8:
            self.head["metadata-stream-uuid"] = Blob(length=16)
            self.head["metadata-stream-uuid"].fixed = self.uuid.bytes
        if needs_class or r.random() < 0.5:
            self.head["data-stream-class-id"] = r.choice([Leb(), k.int(32, False), k.int(64, False), k.int(33, False)])
        if r.random() < 0.6:
            self.head["data-stream-id"] = r.choice([Leb(), k.int(64, False), k.int(5, False)])
        for role, c in self.head.items():
            c.roles = (role,)
            members.append((role.replace("-", " "), c))
        rest = members[1:] if "packet-magic-number" in self.head else members
        r.shuffle(rest)
        members = members[:len(members) - len(rest)] + rest
        self.packet_header = Struct(members, r.choice([1, 8])) if members else None

    def put_packet_header(self, w, stream, instance, choices):
        values = {"packet-magic-number": MAGIC, "data-stream-class-id": stream, "data-stream-id": instance}
        for role, c in self.head.items():
            c.pool = [values.get(role)]
        if self.packet_header:
            self.packet_header.write(w, choices)

    def metadata(self):
        r, m = self.r, Metadata(self.r, self.k.tame)
        m.add("preamble", {"version": 2, "uuid": list(self.uuid.bytes) if self.uuid else None})
        if self.packet_header:
            self.packet_header.place("packet-header", (), ())
        if self.packet_header or r.random() < 0.5:
            env = {"hostname": "made-up", "n": -5, "big": (1 << 63) - 1, "tracer_name": "é\n"}
            if not self.k.tame:
                env[""] = ""
            m.add("trace-class", {"name": r.choice([None, "t"]), "uid": r.choice([None, "1"]),
                                  "environment": r.choice([None, {}, env]),
                                  "packet-header-field-class": self.packet_header and m.reference(self.packet_header)})
        for i, c in enumerate(self.clocks):
            offset = {"seconds": c["s"], "cycles": c["cycles"]}
            m.add("clock-class", {
                "id": c["id"], "frequency": c["frequency"],
                "name": r.choice([None, "monotonic"]), "uid": str(i), "namespace": r.choice([None, "example.com"]),
                "origin": "unix-epoch" if len(self.clocks) > 1 else r.choice(
                    ["unix-epoch", {"name": "o", "uid": "1"}, {"name": "o", "uid": "1", "namespace": "x"}, None]),
                "offset-from-origin": {k: v for k, v in offset.items() if v} if any(offset.values()) else
                r.choice([None, {}, {"seconds": 0}]),
                "precision": r.choice([None, 0, 100]), "accuracy": r.choice([None, 7]),
                "description": r.choice([None, "a clock"])})
        for s in self.streams:
            s.describe(m)
        return m.text()

    def write(self, where):
        trace = os.path.join(where, "trace")
        os.makedirs(trace)
        with open(os.path.join(trace, "metadata"), "wb") as f:
            f.write(self.metadata())
        events, streams = [], []
        for number, s in enumerate(self.streams):
            for instance in range(self.r.choice([1, 1, 2, 3])):
                cpu = self.r.randrange(8) if "cpu_id" in s.roles else None
                expected, name = [], f"chan{number}_{instance}"
                packets = s.write(instance, cpu, expected)
                self.write_file(trace, name, packets, s)
                for e in expected:
                    e["stream"] = len(streams)
                events += expected
                seqs = [p["seq"] for _, p in packets] if "packet-sequence-number" in s.roles else []
                lost = [p["discarded"] for _, p in packets] if "discarded-event-record-counter-snapshot" in s.roles else [0]
                streams.append({"name": name, "lost_events": lost[-1] - lost[0],
                                "lost_packets": sum(b - a - 1 for a, b in zip(seqs, seqs[1:]))})
        odd = max((0 if c["frequency"] == 10**9 else 2 for c in self.clocks), default=0)
        with open(os.path.join(where, "expected.jsonl"), "w", encoding="utf-8") as f:
            for j in [{"streams": streams, "fuzzy": odd}] + events:
                f.write(json.dumps(j) + "\n")

    def write_file(self, where, name, packets, s):
        with open(os.path.join(where, name), "wb") as f:
            f.write(b"".join(data for data, _ in packets))
        need = {"packet-total-length", "packet-content-length", "default-clock-timestamp",
                "packet-end-default-clock-timestamp"}
        if not need <= set(s.roles) or self.r.random() < 0.5:
            return
        minor, at, out = self.r.choice([0, 1]), 0, b""
        for data, p in packets:
            out += struct.pack(">7Q", at, p["total"], p["content"], p["begin"], p["end"], p["discarded"], p["class"])
            out += struct.pack(">2Q", p["instance"], p["seq"]) if minor else b""
            at += len(data)
        os.makedirs(os.path.join(where, "index"), exist_ok=True)
        with open(os.path.join(where, "index", name + ".idx"), "wb") as f:
            f.write(struct.pack(">4I", 0xc1f1dcc1, 1, minor, 72 if minor else 56) + out)


if __name__ == "__main__":
    Maker(int(sys.argv[1]), sys.argv[3:] == ["tame"]).write(sys.argv[2])
