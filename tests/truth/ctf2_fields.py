# SPDX-License-Identifier: GPL-2.0-only
"""Field classes of CTF 2 (CTF2-SPEC-2.0) for made-up traces: each writes its JSON and its bits.

write(w, r) puts a value that the random generator `r` chooses and returns it as a reader has to
show it:

    integer          12, or {"int": 12, "base": 16, "labels": ["a"]} with another base or mappings
    boolean          {"bool": true}
    bit array        {"bits": 12};  bit map: {"bits": 12, "flags": ["a"]}
    number           {"real": "0x1.8p+0"}
    string           "text";  BLOB: {"blob": "00ff"}
    structure        {"struct": [["name", value], ...]}
    array            [value, ...]
    optional         {"optional": value}, or null where it is absent
    variant          {"variant": [name of the option or null, value]}

Nothing here is shared with blktop."""
import json
import struct

ENCODINGS = {"utf-8": 1, "utf-16be": 2, "utf-16le": 2, "utf-32be": 4, "utf-32le": 4}
LITTLE, BIG = "little-endian", "big-endian"


class Bits:
    """A packet's bits. A change of byte order inside a byte is the maker's own mistake."""

    def __init__(self):
        self.data, self.pos, self.order = bytearray(), 0, None

    def align(self, bits):
        self.pos = (self.pos + bits - 1) // bits * bits

    def put(self, value, size, order, reverse=False):
        """`reverse`: not the bit order that this byte order has by default."""
        assert not self.pos % 8 or self.order == order, "byte order changes inside a byte"
        value &= (1 << size) - 1
        end = self.pos + size
        if len(self.data) * 8 < end:
            self.data.extend(bytes((end + 7) // 8 - len(self.data)))
        first_is_low = (order == LITTLE) != reverse
        if self.pos % 8 == 0 and size % 8 == 0 and not reverse:
            self.data[self.pos // 8:end // 8] = value.to_bytes(size // 8, "little" if order == LITTLE else "big")
        else:
            for i in range(size):
                bit = value >> (i if first_is_low else size - 1 - i) & 1
                at = self.pos + i
                mask = 1 << (at % 8 if order == LITTLE else 7 - at % 8)
                self.data[at // 8] = self.data[at // 8] & ~mask | (mask if bit else 0)
        self.pos, self.order = end, order

    def put_bytes(self, data):
        for b in data:
            self.put(b, 8, LITTLE)


class Class:
    """scope, path: where the field is; container: the path of the structure directly around it."""
    align = 1
    scope, path, container = None, (), ()

    def place(self, scope, path, container):
        self.scope, self.path, self.container = scope, path, container


def leb128(value, signed=False, least=1):
    """At least that many bytes."""
    out = bytearray()
    while True:
        byte = value & 127
        value >>= 7
        done = value == 0 if not signed else value == (-1 if byte & 64 else 0)
        if done and len(out) + 1 >= least:
            return bytes(out + bytes([byte]))
        out.append(byte | 128)


def in_ranges(ranges, value):
    return any(low <= value <= high for low, high in ranges)


class Fixed(Class):
    kind = "fixed-length-bit-array"

    def __init__(self, size, order, align=1, reverse=False):
        self.size, self.order, self.align, self.reverse = size, order, align, reverse

    def json(self, m):
        j = {"type": self.kind, "length": self.size, "byte-order": self.order}
        if self.align != 1 or m.r.random() < 0.3:
            j["alignment"] = self.align
        if self.reverse:
            j["bit-order"] = "last-to-first" if self.order == LITTLE else "first-to-last"
        elif m.r.random() < 0.1:
            j["bit-order"] = "first-to-last" if self.order == LITTLE else "last-to-first"
        return self.more(j, m)

    def more(self, j, m):
        return j

    def put(self, w, value):
        w.align(self.align)
        w.put(value, self.size, self.order, self.reverse)

    def write(self, w, r):
        value = r.choice([0, (1 << self.size) - 1, r.getrandbits(self.size), r.getrandbits(self.size)])
        self.put(w, value)
        return self.show(value)

    def show(self, value):
        return {"bits": value}


class BitMap(Fixed):
    kind = "fixed-length-bit-map"

    def __init__(self, size, order, flags, **more):
        super().__init__(size, order, **more)
        self.flags = flags

    def more(self, j, m):
        return dict(j, flags=self.flags)

    def show(self, value):
        on = [i for i in range(self.size) if value >> i & 1]
        return {"bits": value, "flags": sorted(n for n, rs in self.flags.items() if any(in_ranges(rs, i) for i in on))}


class Bool(Fixed):
    kind = "fixed-length-boolean"
    last = None

    def write(self, w, r):
        self.last = r.random() < 0.5
        self.put(w, r.randrange(1, 1 << self.size) if self.last else 0)
        return {"bool": self.last}


class Number:
    """What fixed and variable-length integers share. pool: the only values it takes, or None."""
    mappings, base, roles, pool, last = None, 10, (), None, None

    def more(self, j, m):
        if self.mappings is not None:
            j["mappings"] = self.mappings
        if self.base != 10 or m.r.random() < 0.1:
            j["preferred-display-base"] = self.base
        if self.roles:
            j["roles"] = list(self.roles)
        return j

    def show(self, value):
        if self.base == 10 and not self.mappings:
            return value
        shown = {"int": value, "base": self.base, "size": getattr(self, "size", 64)}
        if self.mappings:
            shown["labels"] = sorted(n for n, rs in self.mappings.items() if in_ranges(rs, value))
        return shown

    def choose(self, r, low, high):
        if self.pool:
            return r.choice(self.pool)
        values = [low, high, max(low, -1), min(high, 1), r.randint(low, high), r.randint(low, high)]
        for ranges in (self.mappings or {}).values():
            values += [v for x in ranges for v in (x[0], x[1]) if low <= v <= high]
        return r.choice(values)

    def write(self, w, r):
        return self.write_value(w, self.choose(r, *self.limits()))

    def write_value(self, w, value):
        self.last = value
        self.put(w, value)
        return self.show(value)


class Int(Number, Fixed):
    def __init__(self, size, order, signed=False, align=1, reverse=False):
        Fixed.__init__(self, size, order, align, reverse)
        self.signed = signed
        self.kind = "fixed-length-signed-integer" if signed else "fixed-length-unsigned-integer"

    def limits(self):
        return (-(1 << self.size - 1), (1 << self.size - 1) - 1) if self.signed else (0, (1 << self.size) - 1)


class Leb(Number, Class):
    """least: bytes that are always written."""
    align = 8

    def __init__(self, signed=False, least=1):
        self.signed, self.least = signed, least

    def json(self, m):
        return self.more({"type": f"variable-length-{'' if self.signed else 'un'}signed-integer"}, m)

    def limits(self):
        return (-(1 << 63), (1 << 63) - 1) if self.signed else (0, (1 << 64) - 1)

    def put(self, w, value):
        w.align(8)
        w.put_bytes(leb128(value, self.signed, self.least))


def binary128(value):
    """A double's value in 128 bits."""
    bits, = struct.unpack("<Q", struct.pack("<d", value))
    sign, exponent, mantissa = bits >> 63, bits >> 52 & 0x7ff, bits & (1 << 52) - 1
    if exponent == 0x7ff:
        exponent = 0x7fff
    elif exponent or mantissa:
        assert exponent, "subnormal"
        exponent += 16383 - 1023
    return sign << 127 | exponent << 112 | mantissa << 60


class Float(Fixed):
    kind = "fixed-length-floating-point-number"

    def write(self, w, r):
        value = r.choice([0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf"), 1024.0, r.gauss(0, 100)])
        if self.size == 128:
            bits = binary128(value)
        else:
            code, whole = {16: "eH", 32: "fI", 64: "dQ"}[self.size]
            bits, = struct.unpack("<" + whole, struct.pack("<" + code, value))
            value, = struct.unpack("<" + code, struct.pack("<" + code, value))
        self.put(w, bits)
        return {"real": value.hex()}


LETTERS = "abcxyz /.:_-09\"\\{}\té߀漢\U0001f642\u202e"


class Text(Class):
    align = 8

    def __init__(self, encoding="utf-8"):
        self.encoding = encoding

    def more(self, j, m):
        if self.encoding != "utf-8" or m.r.random() < 0.2:
            j["encoding"] = self.encoding
        return j

    def text(self, r, most):
        return "".join(r.choice(LETTERS) for _ in range(r.choice([0, 1, 3, r.randrange(most)])))


class NullString(Text):
    def json(self, m):
        return self.more({"type": "null-terminated-string"}, m)

    def write(self, w, r):
        text = self.text(r, 20)
        w.align(8)
        w.put_bytes(text.encode(self.encoding) + bytes(ENCODINGS[self.encoding]))
        return text


class SizedString(Text):
    """Static where `length` is set (bytes), else dynamic: `counter` has the length."""

    def __init__(self, encoding, length=None, counter=None):
        super().__init__(encoding)
        self.length, self.counter = length, counter

    def json(self, m):
        if self.counter is None:
            return self.more({"type": "static-length-string", "length": self.length}, m)
        return self.more({"type": "dynamic-length-string", "length-field-location": m.location(self, self.counter)}, m)

    def write(self, w, r):
        length = self.length if self.counter is None else self.counter.last
        unit = ENCODINGS[self.encoding]
        text = self.text(r, length + 1)
        while len(text.encode(self.encoding)) > length:
            text = text[:-1]
        data = text.encode(self.encoding)
        rest = length - len(data)
        if rest >= unit:
            data += bytes(unit) + bytes(r.randrange(256) for _ in range(rest - unit))
        else:           # less than a code unit is no text
            data += bytes(rest)
        w.align(8)
        w.put_bytes(data)
        return text


class Blob(Class):
    align = 8
    roles, fixed = (), None

    def __init__(self, length=None, counter=None, media=None):
        self.length, self.counter, self.media = length, counter, media

    def json(self, m):
        if self.counter is None:
            j = {"type": "static-length-blob", "length": self.length}
        else:
            j = {"type": "dynamic-length-blob", "length-field-location": m.location(self, self.counter)}
        if self.media:
            j["media-type"] = self.media
        if self.roles:
            j["roles"] = list(self.roles)
        return j

    def write(self, w, r):
        length = self.length if self.counter is None else self.counter.last
        data = self.fixed if self.fixed is not None else bytes(r.randrange(256) for _ in range(length))
        w.align(8)
        w.put_bytes(data)
        return {"blob": data.hex()}


class Struct(Class):
    def __init__(self, members, minimum=1):
        self.members, self.minimum = members, minimum
        self.align = max([minimum] + [c.align for _, c in members])

    def place(self, scope, path, container):
        super().place(scope, path, container)
        for name, c in self.members:
            c.place(scope, path + (name,), path)

    def json(self, m):
        j = {"type": "structure"}
        if self.minimum != 1 or m.r.random() < 0.1:
            j["minimum-alignment"] = self.minimum
        if self.members or m.r.random() < 0.5:
            j["member-classes"] = [m.attributes({"name": n, "field-class": m.reference(c)}) for n, c in self.members]
        return j

    def write(self, w, r):
        w.align(self.align)
        return {"struct": [[name, c.write(w, r)] for name, c in self.members]}


class Array(Class):
    """Static where `length` is set, else dynamic."""

    def __init__(self, element, length=None, counter=None, minimum=1):
        self.element, self.length, self.counter, self.minimum = element, length, counter, minimum
        self.align = max(minimum, element.align)

    def place(self, scope, path, container):
        super().place(scope, path, container)
        self.element.place(scope, path, container)

    def json(self, m):
        j = {"type": "static-length-array", "length": self.length} if self.counter is None else {
            "type": "dynamic-length-array", "length-field-location": m.location(self, self.counter)}
        if self.minimum != 1:
            j["minimum-alignment"] = self.minimum
        j["element-field-class"] = m.reference(self.element)
        return j

    def write(self, w, r):
        w.align(self.align)
        return [self.element.write(w, r) for _ in range(self.length if self.counter is None else self.counter.last)]


class Optional(Class):
    """ranges None: the selector is a boolean."""

    def __init__(self, inner, selector, ranges=None):
        self.inner, self.selector, self.ranges = inner, selector, ranges

    def place(self, scope, path, container):
        super().place(scope, path, container)
        self.inner.place(scope, path, container)

    def json(self, m):
        j = {"type": "optional", "field-class": m.reference(self.inner),
             "selector-field-location": m.location(self, self.selector)}
        if self.ranges is not None:
            j["selector-field-ranges"] = self.ranges
        return j

    def write(self, w, r):
        there = self.selector.last if self.ranges is None else in_ranges(self.ranges, self.selector.last)
        return {"optional": self.inner.write(w, r)} if there else None


class Variant(Class):
    """options: [(name or None, ranges, class)]"""

    def __init__(self, selector, options):
        self.selector, self.options = selector, options

    def place(self, scope, path, container):
        super().place(scope, path, container)
        for _, _, c in self.options:
            c.place(scope, path, container)

    def json(self, m):
        def option(name, ranges, c):
            j = {"field-class": m.reference(c), "selector-field-ranges": ranges}
            return m.attributes(j if name is None else dict(j, name=name))
        return {"type": "variant", "selector-field-location": m.location(self, self.selector),
                "options": [option(*o) for o in self.options]}

    def write(self, w, r):
        for name, ranges, c in self.options:
            if in_ranges(ranges, self.selector.last):
                return {"variant": [name, c.write(w, r)]}
        raise AssertionError("no option is selected")


def fragments(metadata):
    """The JSON objects of a metadata stream (RFC 7464)."""
    return [json.loads(text) for text in metadata.decode().split("\x1e")[1:]]
