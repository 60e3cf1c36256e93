# SPDX-License-Identifier: GPL-2.0-only
"""Writes a made-up trace, as LTTng on any machine could have: `python3 made_trace.py SEED DIR`.

The seed chooses byte order, alignment (packed as on x86, natural as on ARM), header form, clock,
fields of all kinds, packets of all sizes, losses, index files, packetised or plain metadata. What
recorded traces seldom have is what the readers' equality has to be held on."""
import os
import random
import struct
import sys
import uuid


class Bits:
    """A packet's bits: of a little endian one from the least significant of each byte."""

    def __init__(self, big):
        self.data, self.pos, self.big = bytearray(), 0, big

    def align(self, bits):
        self.pos = (self.pos + bits - 1) // bits * bits

    def put(self, value, size, big=None):
        big = self.big if big is None else big
        value &= (1 << size) - 1
        end = self.pos + size
        if len(self.data) * 8 < end:
            self.data.extend(bytes((end + 7) // 8 - len(self.data)))
        if self.pos % 8 == 0 and size % 8 == 0:
            self.data[self.pos // 8:end // 8] = value.to_bytes(size // 8, "big" if big else "little")
        else:
            for i in range(size):
                bit = (value >> (size - 1 - i if big else i)) & 1
                at = self.pos + i
                self.data[at // 8] |= bit << (7 - at % 8 if big else at % 8)
        self.pos = end


class Int:
    def __init__(self, size, align, signed=False, order=None, encoding="none", base=10):
        self.size, self.align, self.signed, self.order = size, align, signed, order
        self.encoding, self.base = encoding, base

    def text(self):
        order = f" byte_order = {self.order};" if self.order else ""
        return (f"integer {{ size = {self.size}; align = {self.align}; signed = {int(self.signed)}; "
                f"encoding = {self.encoding}; base = {self.base};{order} }}")

    def put(self, w, value):
        w.align(self.align)
        w.put(value, self.size, None if self.order is None else self.order in ("be", "network"))

    def value(self, r):
        low = -(1 << (self.size - 1)) if self.signed else 0
        high = (1 << (self.size - int(self.signed))) - 1
        return r.choice([low, high, 0, 1, r.randint(low, high), r.randint(low, high)])

    def write(self, w, r):
        self.put(w, self.value(r))


class Float:
    def __init__(self, size, align):
        self.size, self.align = size, align

    def text(self):
        exp, mant = (8, 24) if self.size == 32 else (11, 53)
        return f"floating_point {{ exp_dig = {exp}; mant_dig = {mant}; align = {self.align}; }}"

    def write(self, w, r):
        v = r.choice([0.0, -0.0, 1.5, -2.25, float("inf"), r.gauss(0, 1e6)])
        w.align(self.align)
        kind = ("I", "f") if self.size == 32 else ("Q", "d")
        w.put(struct.unpack("<" + kind[0], struct.pack("<" + kind[1], v))[0], self.size)


class String:
    align = 8

    def text(self):
        return "string"

    def write(self, w, r):
        w.align(8)
        for b in r.choice([b"", b"a", b"/usr/bin/x", bytes(r.randrange(1, 256) for _ in range(r.randrange(30)))]):
            w.put(b, 8)
        w.put(0, 8)


class Many:
    """Array (length set) or the elements of a sequence."""

    def __init__(self, element, length=None, counter=None):
        self.element, self.length, self.counter = element, length, counter
        self.align = element.align

    def text(self):
        return self.element.text()

    def suffix(self):
        return f"[{self.length if self.counter is None else self.counter}]"

    def write(self, w, r, n=None):
        w.align(self.align)
        for _ in range(self.length if n is None else n):
            self.element.write(w, r)


class Enum:
    def __init__(self, container, r):
        self.container, self.align = container, container.align
        lo = -5 if container.signed else 0
        self.ranges = [("zero", 0, 0), ("some", 1, 3), ("some", 9, 9), ("low", lo, lo), ("a b", 4, 100)]
        r.shuffle(self.ranges)

    def text(self):
        labels = ", ".join(f'"{n}" = {a}' if a == b else f'"{n}" = {a} ... {b}' for n, a, b in self.ranges)
        return f"enum : {self.container.text()} {{ {labels}, }}"

    def write(self, w, r):
        self.container.put(w, r.choice([0, 1, 2, 9, 50, 100, 101, -5 if self.container.signed else 120]))


class Struct:
    def __init__(self, fields, align=1):
        self.fields, self.forced = fields, align
        self.align = max([align] + [f.align for _, f in fields])

    def text(self):
        inner = "".join(declare(n, f) for n, f in self.fields)
        return f"struct {{ {inner} }}" + (f" align({self.forced})" if self.forced > 1 else "")

    def write(self, w, r):
        w.align(self.align)
        counts = {}
        for name, f in self.fields:
            if isinstance(f, Counter):
                counts[name] = f.write_count(w, r)
            elif isinstance(f, Many) and f.counter:
                f.write(w, r, counts[f.counter])
            elif isinstance(f, Variant):
                f.write_option(w, r, counts[f.tag])
            elif isinstance(f, Tag):
                counts[name] = f.write_tag(w, r)
            else:
                f.write(w, r)


class Counter(Int):
    def write_count(self, w, r):
        n = r.choice([0, 0, 1, 2, 3, 7, 20])
        self.put(w, n)
        return n


class Tag(Int):
    """Of a variant: an enumeration of its options."""

    def __init__(self, names, size, align):
        super().__init__(size, align)
        self.names = names

    def text(self):
        labels = ", ".join(f'"{n}" = {2 * i} ... {2 * i + 1}' for i, n in enumerate(self.names))
        return f"enum : {super().text()} {{ {labels} }}"

    def write_tag(self, w, r):
        i = r.randrange(len(self.names))
        self.put(w, 2 * i + r.randrange(2))
        return i


class Variant:
    align = 1

    def __init__(self, tag, options):
        self.tag, self.options = tag, options

    def text(self):
        return f"variant <{self.tag}> {{ " + "".join(declare(n, f) for n, f in self.options) + "}"

    def write_option(self, w, r, i):
        self.options[i][1].write(w, r)


def declare(name, f):
    return f"{f.text()} {name}{f.suffix() if isinstance(f, Many) else ''}; "


class Maker:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.big = r.random() < 0.4
        self.natural = r.choice([0, 0, 32, 64])     # alignment of 64-bit integers; 0: packed
        self.long = r.choice([32, 64])
        self.freq = r.choice([10**9, 10**9, 10**9, 10**6, 2399987000, 3 * 10**9])
        self.has_instance, self.has_seq = r.random() < 0.6, r.random() < 0.6
        self.uuid = uuid.UUID(int=r.getrandbits(128))
        self.crowded = r.random() < 0.3             # events of all streams at the same instants
        self.n = 0

    # -- types --

    def align_of(self, size):
        if not self.natural or size < 8:
            return 8 if size % 8 == 0 else 1
        return min(size, self.natural)

    def int(self, size=None, signed=None, **more):
        size = size or self.r.choice([8, 16, 32, 32, 64])
        signed = self.r.random() < 0.5 if signed is None else signed
        return Int(size, self.align_of(size), signed, base=self.r.choice([10, 10, 16, 8]), **more)

    def network(self):
        size = self.r.choice([16, 32, 64])
        return Int(size, self.align_of(size), self.r.random() < 0.3, order=self.r.choice(["be", "le", "network"]))

    def chars(self):
        return Int(8, 8, self.r.random() < 0.5, encoding=self.r.choice(["UTF8", "ASCII"]))

    def name(self):
        self.n += 1
        return self.r.choice(["_f", "_f", "__f", "f"]) + str(self.n)

    def flags(self):
        sizes = [self.r.randrange(1, 12) for _ in range(self.r.randrange(1, 6))]
        return Struct([(self.name(), Int(s, 1, self.r.random() < 0.3)) for s in sizes])

    def counted(self, element):
        counter = self.name() + "_length"
        return [(counter, Counter(self.r.choice([8, 16, 32, 64]), 8)), (self.name(), Many(element, counter=counter))]

    def variant(self, depth):
        n = self.r.randrange(1, 5)
        options = [(f"_o{i}", self.r.choice([self.int, String, lambda: Struct([]), lambda: Struct(self.fields(depth + 1, 2)),
                                             lambda: Float(64, self.align_of(64))])()) for i in range(n)]
        tag = self.name() + "_tag"
        return [(tag, Tag([o for o, _ in options], self.r.choice([8, 16, 32]), 8)), (self.name(), Variant(tag, options))]

    def fields(self, depth, most):
        """Fields of a structure; what belongs together (length, elements) may lie apart. Within an
        inner structure babeltrace2 2.0.4 aborts on lengths and tags; LTTng has none there."""
        r, all_of = self.r, []
        kinds = [lambda: self.int(), lambda: self.int(), lambda: self.int(), lambda: self.network(), String, String,
                 lambda: Many(self.chars(), r.randrange(1, 17)), lambda: Many(self.int(), r.randrange(1, 5)),
                 lambda: Float(32, self.align_of(32)), lambda: Float(64, self.align_of(64)),
                 lambda: Enum(Int(r.choice([8, 16, 32]), 8, r.random() < 0.5), r), lambda: self.flags()]
        pairs = [lambda: self.counted(self.int()), lambda: self.counted(self.chars()),
                 lambda: self.counted(self.network()), lambda: self.variant(depth)]
        if depth < 2:
            kinds.append(lambda: Struct(self.fields(depth + 1, 4)))
            pairs.append(lambda: self.counted(Struct([(self.name(), self.int())] + self.fields(depth + 1, 3))))
            pairs.append(lambda: self.counted(self.flags()))
        for _ in range(r.randrange(most + 1)):
            if depth == 0 and r.random() < 0.3:
                first, second = r.choice(pairs)()
                at = r.randrange(len(all_of) + 1)
                all_of.insert(at, first)
                all_of.insert(r.randrange(at + 1, len(all_of) + 1), second)
            else:
                all_of.append((self.name(), r.choice(kinds)()))
        return all_of

    # -- metadata --

    def typealiases(self, mapped):
        out = []
        names = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}
        if not mapped:
            for size, name in names.items():
                out.append(f"typealias integer {{ size = {size}; align = {self.align_of(size)}; signed = false; }} := {name};\n")
            out.append(f"typealias integer {{ size = {self.long}; align = {self.align_of(self.long)}; "
                       "signed = false; } := unsigned long;\n")
            for size in (5, 27):
                out.append(f"typealias integer {{ size = {size}; align = 1; signed = false; }} := uint{size}_t;\n")
            return "".join(out)
        for size in (27, 32, 64):
            align = 1 if size == 27 else self.align_of(size)
            out.append(f"typealias integer {{\n\tsize = {size}; align = {align}; signed = false;\n"
                       f"\tmap = clock.monotonic.value;\n}} := uint{size}_clock_monotonic_t;\n\n")
        return "".join(out)

    def metadata(self):
        order = "be" if self.big else "le"
        instance = "\t\tuint64_t stream_instance_id;\n" if self.has_instance else ""
        seq = "\tuint64_t packet_seq_num;\n" if self.has_seq else ""
        domain = self.r.choice(["kernel", "ust"])
        large_align = 16 if self.natural else 8
        compact_align = 32 if self.natural else 8
        offset = self.r.choice([f"offset = {1700000000 * self.freq + 12345};",
                                f"offset_s = 1700000000; offset = {self.freq // 3};"])
        headers = "".join(
            f"struct event_header_{kind} {{\n\tenum : {id_type} {{ compact = 0 ... {last - 1}, extended = {last} }} id;\n"
            f"\tvariant <id> {{\n\t\tstruct {{\n\t\t\t{ts}_clock_monotonic_t timestamp;\n\t\t}} compact;\n"
            f"\t\tstruct {{\n\t\t\tuint32_t id;\n\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t}} extended;\n\t}} v;\n"
            f"}} align({align});\n\n"
            for kind, id_type, last, ts, align in (("compact", "uint5_t", 31, "uint27", compact_align),
                                                   ("large", "uint16_t", 65535, "uint32", large_align)))
        out = [f"/* CTF 1.8 */\n\n{self.typealiases(False)}\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{self.uuid}\";\n"
               f"\tbyte_order = {order};\n\tpacket.header := struct {{\n\t\tuint32_t magic;\n\t\tuint8_t  uuid[16];\n"
               f"\t\tuint32_t stream_id;\n{instance}\t}};\n}};\n\nenv {{\n\thostname = \"made\\\"up\";\n\tdomain = \"{domain}\";\n"
               f"\ttracer_name = \"lttng-{'modules' if domain == 'kernel' else 'ust'}\";\n\ttracer_major = 2;\n\ttracer_minor = 9;\n"
               + ("\tvpid = 77;\n\tprocname = \"made\";\n" if domain == "ust" else "") +
               f"}};\n\nclock {{\n\tname = \"monotonic\";\n\tuuid = \"{uuid.UUID(int=self.r.getrandbits(128))}\";\n"
               f"\tdescription = \"Monotonic Clock\";\n\tfreq = {self.freq}; /* Frequency, in Hz */\n\t{offset}\n}};\n\n"
               f"{self.typealiases(True)}struct packet_context {{\n\tuint64_clock_monotonic_t timestamp_begin;\n"
               f"\tuint64_clock_monotonic_t timestamp_end;\n\tuint64_t content_size;\n\tuint64_t packet_size;\n{seq}"
               f"\tunsigned long events_discarded;\n\tuint32_t cpu_id;\n}};\n\n{headers}"]
        self.header_align = {"compact": compact_align, "large": large_align}
        self.classes = []
        for sc in range(self.r.randrange(1, 3)):
            self.classes.append(self.stream_class(sc, out))
        return "".join(out)

    def context(self):
        some = [("_tid", Int(32, self.align_of(32), True)), ("_vpid", Int(32, self.align_of(32), True)),
                ("_procname", Many(Int(8, 8, self.r.random() < 0.5, encoding="UTF8"), 16)),
                ("_app", Struct(self.fields(1, 3))), ("_perf_x", Int(64, self.align_of(64)))]
        return Struct([f for f in some if self.r.random() < 0.5])

    def stream_class(self, number, out):
        kind = self.r.choice(["compact", "large"])
        context = self.context() if self.r.random() < 0.7 else None
        out.append(f"stream {{\n\tid = {number};\n\tevent.header := struct event_header_{kind};\n"
                   "\tpacket.context := struct packet_context;\n"
                   + (f"\tevent.context := {context.text()};\n" if context else "") + "};\n\n")
        events = []
        for i in range(self.r.randrange(1, 12)):
            number_of = i if self.r.random() < 0.8 else i + self.r.choice([31, 100, 70000])
            if any(number_of == e[0] for e in events):
                continue
            own = Struct(self.fields(1, 2)) if self.r.random() < 0.2 else None
            payload = Struct(self.fields(0, 7))
            out.append(f"event {{\n\tname = \"made:e{number}_{i}\";\n\tid = {number_of};\n\tstream_id = {number};\n"
                       + (f"\tcontext := {own.text()};\n" if own else "") + f"\tfields := {payload.text()};\n}};\n\n")
            events.append((number_of, own, payload))
        return kind, context, events

    # -- packets --

    def begin_packet(self, w, sc, instance):
        big = self.big
        for value, size in ((0xc1fc1fc1, 32),):
            w.put(value, size, big)
        for b in self.uuid.bytes:
            w.put(b, 8)
        w.align(self.align_of(32))
        w.put(sc, 32)
        if self.has_instance:
            w.align(self.align_of(64))
            w.put(instance, 64)
        w.align(self.align_of(64))

    def put_context(self, w, p, cpu):
        for value in (p["begin"], p["end"], p["content"], p["size"]) + ((p["seq"],) if self.has_seq else ()):
            w.align(self.align_of(64))
            w.put(value, 64)
        w.align(self.align_of(self.long))
        w.put(p["discarded"], self.long)
        w.align(self.align_of(32))
        w.put(cpu, 32)

    def put_event(self, w, sc, clock, step):
        r = self.r
        kind, context, events = self.classes[sc]
        number, own, payload = r.choice(events)
        bits, last = (27, 31) if kind == "compact" else (32, 65535)
        now = clock + step
        w.align(self.header_align[kind])
        extended = number >= last or step >= 1 << bits or r.random() < 0.05
        w.put(last if extended else number, 5 if kind == "compact" else 16)
        if extended:
            w.align(self.align_of(64))      # of the structure
            w.put(number, 32)
            w.align(self.align_of(64))
            w.put(now, 64)
        else:
            w.align(1 if kind == "compact" else self.align_of(32))
            w.put(now, bits)
        for part in (context, own, payload):
            if part:
                part.write(w, r)
        return now

    def stream(self, sc, cpu, instance):
        """[(bytes, index entry)] of one stream."""
        r, packets, clock, discarded, seq = self.r, [], 1000 if self.crowded else self.r.randrange(1, 1 << 20), 0, 0
        fixed = r.choice([0, 0, 4096, 65536])
        for _ in range(r.randrange(1, 8)):
            seq += r.choice([1, 1, 1, 1, 3]) if packets else 0
            discarded += r.choice([0, 0, 0, 5])
            told = r.choice([0] + [discarded] * 7)      # of user space it is 0 for a packet now and then
            p = {"begin": clock, "discarded": told, "seq": seq, "offset": 0, "instance": instance, "class": sc}
            w = Bits(self.big)
            self.begin_packet(w, sc, instance)
            at = w.pos
            self.put_context(w, dict(p, end=0, content=0, size=0), cpu)
            for _ in range(r.choice([0, 1, 5, 60])):
                before = w.pos, bytes(w.data), clock
                step = r.choice([0, 1, 100, 10**6, 10**6, 1 << 26, (1 << 27) - 1, 1 << 27, (1 << 32) + 5, self.freq])
                clock = self.put_event(w, sc, clock, r.choice([0, 1, 1, 2]) if self.crowded else step)
                if fixed and w.pos > fixed * 8:
                    w.pos, w.data, clock = before[0], bytearray(before[1]), before[2]
                    break
            p["content"] = w.pos
            p["end"] = clock = clock + r.choice([0, 1, 1000, self.freq])
            size = fixed or (w.pos + 7) // 8 + r.choice([0, 0, 1, 500, 4096])
            p["size"] = size * 8
            w.pos = at
            # the fields' bits are zero so far
            self.put_context(w, p, cpu)
            packets.append((bytes(w.data) + bytes(size - len(w.data)), p))
            # Not in the same ns as this one began: babeltrace2 puts the packets of several
            # files in order by their begin alone.
            clock = max(clock + r.choice([0, 5, 10**5]), p["begin"] + 5)
        return packets

    def write(self, where):
        r = self.r
        os.makedirs(where)
        text = self.metadata().encode()
        with open(os.path.join(where, "metadata"), "wb") as f:
            f.write(self.packetised(text) if r.random() < 0.7 else text)
        index = r.choice([None, (1, 0, 56), (1, 1, 72)])
        if index:
            os.mkdir(os.path.join(where, "index"))
        for sc in range(len(self.classes)):
            for cpu in range(r.randrange(1, 4)):
                packets = self.stream(sc, cpu, cpu)
                pieces = [packets]
                if self.has_instance and len(packets) > 2 and r.random() < 0.3:
                    pieces = [packets[:2], packets[2:]]
                for i, piece in enumerate(pieces):
                    name = f"chan{sc}_{cpu}" + (f"_{i}" if len(pieces) > 1 else "")
                    self.write_file(where, name, piece, index)

    def write_file(self, where, name, packets, index):
        at, entries = 0, []
        with open(os.path.join(where, name), "wb") as f:
            for data, p in packets:
                f.write(data)
                e = struct.pack(">7Q", at, p["size"], p["content"], p["begin"], p["end"], p["discarded"], p["class"])
                entries.append(e + (struct.pack(">2Q", p["instance"], p["seq"]) if index and index[2] == 72 else b""))
                at += len(data)
        if index:
            with open(os.path.join(where, "index", name + ".idx"), "wb") as f:
                f.write(struct.pack(">4I", 0xc1f1dcc1, *index) + b"".join(entries))

    def packetised(self, text):
        out, order = b"", ">" if self.big else "<"
        for i in range(0, len(text), 4000):
            piece = text[i:i + 4000]
            size = self.r.choice([37 + len(piece), 4096])
            head = struct.pack(order + "I16sIII5B", 0x75d11d57, self.uuid.bytes, 0, (37 + len(piece)) * 8,
                               size * 8, 0, 0, 0, 1, 8)
            out += head + piece + bytes(size - 37 - len(piece))
        return out


if __name__ == "__main__":
    Maker(int(sys.argv[1])).write(sys.argv[2])
