# SPDX-License-Identifier: GPL-2.0-only
"""Writes files of trace-cmd (versions 6 and 7) from given events: what blktop must find in them is known exactly.

Shares no code with blktop. Sources: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5), Documentation/trace/ring-buffer-design.rst.
"""
import struct
import subprocess
import zlib

# name -> (system, [(C type, field name, bytes, signed)]); char[N] is a text, "__data_loc char[]" one behind the event
EVENTS = {
    "sched_switch": ("sched", [("char", "prev_comm[16]", 16, 0), ("pid_t", "prev_pid", 4, 1), ("int", "prev_prio", 4, 1),
                               ("long", "prev_state", "long", 1), ("char", "next_comm[16]", 16, 0),
                               ("pid_t", "next_pid", 4, 1), ("int", "next_prio", 4, 1)]),
    "sched_waking": ("sched", [("char", "comm[16]", 16, 0), ("pid_t", "pid", 4, 1), ("int", "prio", 4, 1),
                               ("int", "target_cpu", 4, 1)]),
    "softirq_raise": ("irq", [("unsigned int", "vec", 4, 0)]),
    "irq_handler_entry": ("irq", [("int", "irq", 4, 1), ("__data_loc char[]", "name", 4, 0)]),
    "sys_enter_close": ("syscalls", [("int", "__syscall_nr", 4, 1), ("unsigned int", "fd", "long", 0)]),
    "sys_exit_close": ("syscalls", [("int", "__syscall_nr", 4, 1), ("long", "ret", "long", 1)]),
    "my_event": ("my_system", [("u64", "big", 8, 0), ("s16", "small", 2, 1), ("unsigned char", "bytes[4]", 4, 0)]),
    # of Linux 7.0, which stores the name
    "sys_enter_openat": ("syscalls", [("int", "__syscall_nr", 4, 1), ("int", "dfd", "long", 0), ("const char *", "filename", "long", 0),
                                      ("int", "flags", "long", 0), ("umode_t", "mode", "long", 0),
                                      ("__data_loc char[]", "__filename_val", 4, 0)]),
}
IDS = {name: 300 + i for i, name in enumerate(EVENTS)}


class File:
    def __init__(self, version=6, big=False, long_size=8, page_size=4096, compression="none", clock="mono",
                 uname="Linux box 6.1.0-test #1 SMP x86_64", offset=None, cmdlines=(), overrun=()):
        self.version, self.big, self.long_size, self.page_size = version, big, long_size, page_size
        self.compression, self.clock, self.uname, self.offset = compression, clock, uname, offset
        self.cmdlines, self.overrun = cmdlines, overrun
        self.cpus = {}
        self.order = ">" if big else "<"

    # ---- numbers ----

    def number(self, value, size, signed=False):
        letter = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
        return struct.pack(self.order + (letter if signed else letter.upper()), value)

    def size_of(self, size):
        return self.long_size if size == "long" else size

    def fields_of(self, name):
        """(type, name, offset, size, signed) with the alignment that C has."""
        at, out = 8, []
        for ctype, field, size, signed in EVENTS[name][1]:
            size = self.size_of(size)
            align = 1 if "[" in field and ctype in ("char", "unsigned char") else size
            at = (at + align - 1) // align * align
            out.append((ctype, field, at, size, signed))
            at += size
        return out, (at + 3) // 4 * 4

    def format_of(self, name):
        fields, _ = self.fields_of(name)
        text = f"name: {name}\nID: {IDS[name]}\nformat:\n"
        common = [("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0),
                  ("unsigned char", "common_preempt_count", 3, 1, 0), ("int", "common_pid", 4, 4, 1)]
        for i, (ctype, field, at, size, signed) in enumerate(common + fields):
            text += f"\tfield:{ctype} {field};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
            text += "\n" if i == 3 else ""
        return (text + f'\nprint fmt: "{name}"\n').encode()

    def payload(self, name, tid, values):
        fields, size = self.fields_of(name)
        data = bytearray(size)
        data[0:8] = self.number(IDS[name], 2) + b"\0\0" + self.number(tid, 4, True)
        for ctype, field, at, size, signed in fields:
            value = values.get(field.split("[")[0], 0)
            if ctype.startswith("__data_loc"):
                text = value.encode() + b"\0"
                where = len(data) if not self.big else len(data)
                data[at:at + 4] = self.number(len(text) << 16 | where, 4)
                data += text
            elif "[" in field:
                raw = value.encode() if isinstance(value, str) else bytes(value or b"")
                data[at:at + size] = raw[:size].ljust(size, b"\0")
            else:
                data[at:at + size] = self.number(value, size, bool(signed)) if value >= 0 or signed else \
                    self.number(value & (1 << 8 * size) - 1, size)
        return bytes(data) + b"\0" * (-len(data) % 4)

    # ---- pages ----

    def add(self, cpu, time, event, tid, **values):
        self.cpus.setdefault(cpu, []).append(("event", time, self.payload(event, tid, values)))

    def lose(self, cpu, n=None):
        """Events were overwritten here; n: stored in the page, else not."""
        self.cpus.setdefault(cpu, []).append(("loss", n, None))

    def word(self, kind, delta):
        return self.number(kind << 27 | delta if self.big else delta << 5 | kind, 4)

    def pages_of(self, cpu):
        header = 8 + self.long_size
        pages, data, start, last, flags, stored = [], b"", None, 0, 0, None

        def end():
            nonlocal data, start, flags, stored
            if start is None:
                return
            page = self.number(start, 8) + self.number(len(data) | flags, self.long_size) + data
            if stored is not None:
                page += self.number(stored, self.long_size)
            pages.append(page.ljust(self.page_size, b"\0"))
            data, start, flags, stored = b"", None, 0, None

        for kind, time, payload in self.cpus.get(cpu, []):
            if kind == "loss":
                end()
                flags, stored = (1 << 31 | (1 << 30 if time is not None else 0)), time
                continue
            if start is not None and len(data) + len(payload) + 24 + header > self.page_size:
                end()
            if start is None:
                start = last = time
            delta, entry = time - last, b""
            if delta >= 1 << 27:
                entry += self.word(30, delta & (1 << 27) - 1) + self.number(delta >> 27, 4)
                delta = 0
            if len(payload) <= 112:
                entry += self.word(len(payload) // 4, delta)
            else:
                entry += self.word(0, delta) + self.number(len(payload) + 4, 4)
            data += entry + payload
            last = time
        end()
        return pages

    # ---- the file ----

    def sized(self, text, size=8):
        return self.number(len(text), size) + text

    def header_info(self):
        n = self.long_size
        page = (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                f"\tfield: local_t commit;\toffset:8;\tsize:{n};\tsigned:1;\n"
                f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                f"\tfield: char data;\toffset:{8 + n};\tsize:{4096 - 8 - n};\tsigned:1;\n").encode()
        return b"header_page\0" + self.sized(page) + b"header_event\0" + self.sized(b"# compressed entry header\n")

    def event_formats(self):
        systems = sorted({system for system, _ in EVENTS.values()})
        out = self.number(len(systems), 4)
        for system in systems:
            names = [n for n in EVENTS if EVENTS[n][0] == system]
            out += system.encode() + b"\0" + self.number(len(names), 4)
            out += b"".join(self.sized(self.format_of(n)) for n in names)
        return out

    def lines(self):
        return self.sized("".join(f"{tid} {comm}\n" for tid, comm in self.cmdlines).encode())

    def options(self):
        out = [(4, f"local global [{self.clock}]\0".encode()), (5, self.uname.encode() + b"\0")]
        if self.offset is not None:
            out.append((7, str(self.offset).encode() + b"\0"))
        for cpu, n in enumerate(self.overrun):
            out.append((2, f"CPU: {cpu}\nentries: 0\noverrun: {n}\ncommit overrun: 0\n\0".encode()))
        return out

    def start(self):
        return b"\x17\x08\x44tracing" + str(self.version).encode() + b"\0" + bytes([self.big, self.long_size]) + \
            self.number(self.page_size, 4)

    def version_6(self, n_cpus):
        head = self.start() + self.header_info() + self.number(0, 4) + self.event_formats() + self.number(0, 4) + \
            self.number(0, 4) + self.lines() + self.number(n_cpus, 4) + b"options  \0"
        head += b"".join(self.number(i, 2) + self.sized(d, 4) for i, d in self.options()) + self.number(0, 2) + b"flyrecord\0"
        at = (len(head) + 16 * n_cpus + self.page_size - 1) // self.page_size * self.page_size
        table, body = b"", b""
        for cpu in range(n_cpus):
            data = b"".join(self.pages_of(cpu))
            table += self.number(at + len(body), 8) + self.number(len(data), 8)
            body += data
        return (head + table).ljust(at, b"\0") + body

    def pack(self, data):
        packed = zlib.compress(data) if self.compression == "zlib" else \
            subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
        return self.number(len(packed), 4) + self.number(len(data), 4) + packed

    def section(self, number, data, plain=False):
        packed = self.compression != "none" and not plain
        data = self.pack(data) if packed else data
        return self.number(number, 2) + self.number(int(packed), 2) + self.number(0, 4) + self.sized(data)

    def version_7(self, n_cpus):
        head = self.start() + self.compression.encode() + b"\0" + b"1\0"
        out, places = head + b"\0" * 8, {}
        for number, data in ((16, self.header_info()), (17, self.number(0, 4)), (18, self.event_formats()), (21, self.lines())):
            places[number] = len(out)
            out += self.section(number, data)
        table = b""
        for cpu in range(n_cpus):
            pages = self.pages_of(cpu)
            if self.compression == "none":
                data, size = b"".join(pages), None
            else:       # two pages a chunk
                chunks = [self.pack(b"".join(pages[i:i + 2])) for i in range(0, len(pages), 2)]
                data = self.number(len(chunks), 4) + b"".join(chunks)
                size = len(data) - 4
            table += self.number(cpu, 4) + self.number(len(out), 8) + self.number(size if size is not None else len(data), 8)
            out += data
        buffer = self.number(0, 8) + b"\0" + self.clock.encode() + b"\0" + self.number(self.page_size, 4) + \
            self.number(n_cpus, 4) + table
        options = self.options() + [(n, self.number(at, 8)) for n, at in places.items()] + [(3, buffer)]
        at = len(out)
        body = b"".join(self.number(i, 2) + self.sized(d, 4) for i, d in options)
        body += self.number(0, 2) + self.sized(self.number(0, 8), 4)
        out += self.section(0, body, plain=True)
        return out[:len(head)] + self.number(at, 8) + out[len(head) + 8:]

    def bytes(self):
        n_cpus = max(self.cpus, default=-1) + 1
        return self.version_7(n_cpus) if self.version == 7 else self.version_6(n_cpus)
