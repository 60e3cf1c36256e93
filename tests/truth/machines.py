#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names of system calls that a trace has only by number, against the kernel's own lists, for traces made here of each
machine: x86-64 and i386 by <asm/unistd_64.h> and <asm/unistd_32.h>, the others by the small lists below.
- What tells the machine: event classes, the kernel's release, the size of long, --machine. No name is false: where the
  machine is not told, a number below 424 stays a number.
- The log, the view syscalls with both readers and any slicing agree.
- In the recordings of x86-64 no number is left that <asm/unistd_64.h> names."""
import collections
import glob
import json
import os
import re
import struct
import sys
import tempfile
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

BEGIN = 1700000000 * 10**9
COMMON = 424            # from here on a number is the same call on all machines

ARM = {
    1: "exit", 2: "fork", 3: "read", 4: "write", 5: "open", 11: "execve", 37: "kill", 54: "ioctl", 120: "clone",
    142: "_newselect", 145: "readv", 158: "sched_yield", 168: "poll", 173: "rt_sigreturn", 190: "vfork", 192: "mmap2",
    193: "truncate64", 194: "ftruncate64", 197: "fstat64", 217: "getdents64", 221: "fcntl64", 224: "gettid",
    240: "futex", 248: "exit_group", 252: "epoll_wait", 270: "arm_fadvise64_64", 281: "socket", 283: "connect",
    290: "sendto", 322: "openat", 334: "faccessat", 359: "pipe2", 384: "getrandom", 387: "execveat", 397: "statx",
    403: "clock_gettime64", 422: "futex_time64",
}
GENERIC = {
    17: "getcwd", 24: "dup3", 25: "fcntl", 29: "ioctl", 46: "ftruncate", 56: "openat", 57: "close", 59: "pipe2",
    63: "read", 64: "write", 72: "pselect6", 82: "fsync", 93: "exit", 94: "exit_group", 98: "futex", 101: "nanosleep",
    113: "clock_gettime", 115: "clock_nanosleep", 124: "sched_yield", 139: "rt_sigreturn", 194: "shmget", 198: "socket",
    203: "connect", 206: "sendto", 215: "munmap", 220: "clone", 221: "execve", 222: "mmap", 260: "wait4",
    278: "getrandom", 281: "execveat", 291: "statx",
}
RISCV64 = {**GENERIC, 258: "riscv_hwprobe", 259: "riscv_flush_icache"}
PPC64 = {
    1: "exit", 2: "fork", 3: "read", 4: "write", 5: "open", 11: "execve", 90: "mmap", 118: "fsync", 120: "clone",
    167: "poll", 172: "rt_sigreturn", 189: "vfork", 202: "getdents64", 207: "gettid", 221: "futex", 234: "exit_group",
    255: "rtas", 286: "openat", 326: "socket", 359: "getrandom", 362: "execveat", 383: "statx",
}
PPC = {**PPC64, 192: "mmap2", 194: "ftruncate64", 204: "fcntl64", 422: "futex_time64"}
S390X = {
    1: "exit", 2: "fork", 3: "read", 4: "write", 5: "open", 11: "execve", 90: "mmap", 118: "fsync", 120: "clone",
    168: "poll", 173: "rt_sigreturn", 190: "vfork", 220: "getdents64", 236: "gettid", 238: "futex", 248: "exit_group",
    288: "openat", 349: "getrandom", 353: "s390_pci_mmio_read", 354: "execveat", 359: "socket", 379: "statx",
}
S390 = {**S390X, 192: "mmap2", 194: "ftruncate64", 221: "fcntl64", 422: "futex_time64"}
NEW = {424: "pidfd_send_signal", 425: "io_uring_setup", 435: "clone3", 439: "faccessat2", 449: "futex_waitv",
       451: "cachestat", 462: "mseal", 466: "removexattrat"}
NO_RETURN = ("exit", "exit_group", "rt_sigreturn", "sigreturn")


def header(name):
    """{number: name} of the kernel's header for programs of this machine; {}: it is not here."""
    for path in glob.glob(f"/usr/include/x86_64-linux-gnu/asm/{name}") + glob.glob(f"/usr/include/asm/{name}"):
        with open(path) as f:
            return {int(m[2]): m[1] for m in re.finditer(r"#define __NR_(\w+)\s+(\d+)", f.read())}
    return {}


X86_64, I386 = header("unistd_64.h"), header("unistd_32.h")


class Trace:
    """A kernel trace of one CPU. classes: names of further event classes that have no event."""

    def __init__(self, bits=64, big=False, release="6.8.0-45-generic", classes=(), host="made"):
        self.bits, self.big, self.release, self.host = bits, big, release, host
        self.long = f"integer {{ size = {bits}; align = 8; signed = %d; base = 10; }}"
        self.classes = [(n, self.fields_of(n)) for n in
                        ["syscall_entry_unknown", "syscall_exit_unknown", "compat_syscall_entry_unknown",
                         "compat_syscall_exit_unknown", "sys_unknown", "exit_syscall", *classes]]
        self.data, self.now, self.begin = b"", 1000, 1000

    def fields_of(self, name):
        number = "integer { size = 32; align = 8; signed = 1; base = 10; } _id;"
        args = f"{self.long % 0} _args[6];"
        ret = f"{self.long % 1} _ret;"
        if name == "exit_syscall":
            return ret
        if name.endswith("_unknown"):
            return number + (ret if "exit" in name else "") + args
        return ret if "exit" in name else "integer { size = 32; align = 8; signed = 1; base = 10; } _x;"

    def pack(self, form, *values):
        return struct.pack((">" if self.big else "<") + form, *values)

    def longs(self, *values):
        mask = (1 << self.bits) - 1
        return self.pack(f"{len(values)}{'Q' if self.bits == 64 else 'I'}", *(v & mask for v in values))

    def event(self, name, payload, tid):
        number = [n for n, _ in self.classes].index(name)
        self.now += 10
        self.data += self.pack("IQi", number, self.now, tid) + payload

    def entry(self, number, args=(0, 0, 0), tid=7, compat=False, event=None):
        self.event(event or ("compat_" if compat else "") + "syscall_entry_unknown",
                   self.pack("i", number) + self.longs(*args, *[0] * (6 - len(args))), tid)

    def exit(self, number, ret=0, tid=7, compat=False):
        self.event(("compat_" if compat else "") + "syscall_exit_unknown",
                   self.pack("i", number) + self.longs(ret, *[0] * 6), tid)

    def calls(self, table, compat=False):
        """An entry and an exit of each number of the table."""
        for number, name in table.items():
            self.entry(number, (77, 0, 0), compat=compat)
            if name not in NO_RETURN:
                self.exit(number, -38, compat=compat)

    def metadata(self):
        size = "integer { size = 64; align = 8; signed = 0; }"
        stamp = "integer { size = 64; align = 8; signed = 0; map = clock.monotonic.value; }"
        word = "integer { size = 32; align = 8; signed = 0; }"
        text = (f"/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; uuid = \"{self.uuid}\"; "
                f"byte_order = {'be' if self.big else 'le'}; packet.header := struct {{ {word} magic; "
                f"integer {{ size = 8; align = 8; signed = 0; }} uuid[16]; {word} stream_id; }}; }};\n"
                f"env {{ hostname = \"{self.host}\"; domain = \"kernel\"; sysname = \"Linux\"; "
                f"kernel_release = \"{self.release}\"; tracer_name = \"lttng-modules\"; tracer_major = 2; "
                f"tracer_minor = 13; }};\n"
                f"clock {{ name = \"monotonic\"; uuid = \"{self.boot}\"; freq = 1000000000; offset_s = 1700000000; }};\n"
                f"stream {{ id = 0; packet.context := struct {{ {stamp} timestamp_begin; {stamp} timestamp_end; "
                f"{size} content_size; {size} packet_size; {size} events_discarded; {word} cpu_id; }}; "
                f"event.header := struct {{ {word} id; {stamp} timestamp; }}; "
                f"event.context := struct {{ integer {{ size = 32; align = 8; signed = 1; }} _tid; }}; }};\n")
        for i, (name, fields) in enumerate(self.classes):
            text += f"event {{ name = \"{name}\"; id = {i}; stream_id = 0; fields := struct {{ {fields} }}; }};\n"
        return text

    def write(self, where):
        self.uuid, self.boot = uuid.uuid5(uuid.NAMESPACE_URL, where), uuid.uuid5(uuid.NAMESPACE_OID, where)
        os.makedirs(where)
        with open(os.path.join(where, "metadata"), "w") as f:
            f.write(self.metadata())
        head = self.pack("I", 0xc1fc1fc1) + self.uuid.bytes + self.pack("I", 0)
        bits = (len(head) + 5 * 8 + 4 + len(self.data)) * 8
        with open(os.path.join(where, "channel0_0"), "wb") as f:
            f.write(head + self.pack("5QI", self.begin, self.now + 10, bits, bits, 0, 0) + self.data)
        return where


def logged(trace, *options):
    """[(name, state)] of the calls in the log."""
    status, out, err = blk.blktop("log", "--format", "json", *options, trace)
    if status != 0:
        raise blk.Failed(f"blktop log: status {status}: {err.strip()[:400]}")
    return [(line["name"], line.get("state"), line) for line in map(json.loads, out.splitlines())
            if line["kind"] == "call"]


def viewed(traces, *options):
    """{(host, name): calls} of the view syscalls."""
    found = collections.Counter()
    for row in blk.rows("syscalls", traces, *options):
        found[row["host"], row["syscall"]] += row["count"] + (row["unfinished"] or 0)
    return dict(found)


def judge(tap, what, where, table, expected, options=(), host="made"):
    names = [name for name, _, _ in logged(where, *options)]
    want = [expected.get(n, f"syscall_{n}") for n in table]
    tap.none([f"number {n}: {a}, expected {b}" for n, a, b in zip(table, names, want) if a != b]
             + ([f"{len(names)} calls, expected {len(want)}"] if len(names) != len(want) else []), f"{what}: log")
    counts = {(host, n): want.count(n) for n in want if n not in NO_RETURN}
    for how in (("--reader", "native"), ("--reader", "babeltrace2"), ("--slices", "5", "-j", "2")):
        found = {k: n for k, n in viewed(where, *options, *how).items() if k[1] not in NO_RETURN}
        tap.none([f"{k}: {found.get(k)} calls, expected {counts.get(k)}" for k in sorted(found | counts)
                  if found.get(k) != counts.get(k)], f"{what}: view syscalls, {' '.join(how)}")


# What: the trace's properties, options, the numbers' names, those of 32-bit programs.
def told():
    le64, le32 = {"bits": 64}, {"bits": 32}
    yield "x86-64 by release", {**le64, "release": "6.1.0-56-cloud-amd64"}, (), X86_64, I386
    yield "x86-64 by RPM's release", {**le64, "release": "6.5.6-300.fc39.x86_64"}, (), X86_64, I386
    yield "x86-64 by a compat call", {**le64, "classes": ["compat_syscall_entry_old_select"]}, (), X86_64, I386
    yield "x86-64 by its own call", {**le64, "classes": ["syscall_exit_arch_prctl"]}, (), X86_64, I386
    yield "x86-64 by interrupts", {**le64, "classes": ["x86_irq_vectors_local_timer_entry"]}, (), X86_64, I386
    yield "x86-64 by an old tracer's name", {**le64, "classes": ["compat_sys_old_select"]}, (), X86_64, I386
    yield "x86-64 by --machine", le64, ("--machine", "amd64"), X86_64, I386
    yield "i386 by interrupts", {**le32, "classes": ["x86_irq_vectors_local_timer_entry"]}, (), I386, {}
    yield "i386 by a call", {**le32, "classes": ["syscall_entry_old_select"]}, (), I386, {}
    yield "i386 by --machine", le32, ("--machine", "i686"), I386, {}
    yield "arm by a call", {**le32, "classes": ["syscall_entry_arm_fadvise64_64"]}, (), ARM, {}
    yield "arm by release", {**le32, "release": "6.1.0-18-armmp-lpae"}, (), ARM, {}
    yield "arm by --machine", le32, ("--machine", "arm"), ARM, {}
    yield "big endian arm by --machine", {**le32, "big": True}, ("--machine", "armv7l"), ARM, {}
    yield "arm64 by a compat call", {**le64, "classes": ["compat_syscall_exit_arm_fadvise64_64"]}, (), GENERIC, ARM
    yield "arm64 by release", {**le64, "release": "6.1.0-18-arm64"}, (), GENERIC, ARM
    yield "riscv64 by a call", {**le64, "classes": ["syscall_entry_riscv_flush_icache"]}, (), RISCV64, {}
    yield "riscv64 by --machine", le64, ("--machine", "riscv64"), RISCV64, {}
    yield "ppc64 by release", {**le64, "release": "6.1.0-18-powerpc64le"}, (), PPC64, PPC
    yield "big endian ppc64 by a call", {**le64, "big": True, "classes": ["syscall_entry_spu_run"]}, (), PPC64, PPC
    yield "ppc by a call", {**le32, "big": True, "classes": ["syscall_entry_spu_run"]}, (), PPC, {}
    yield "s390x by release", {**le64, "big": True, "release": "5.14.0-362.el9.s390x"}, (), S390X, S390
    yield "s390x by a call", {**le64, "big": True, "classes": ["syscall_entry_s390_runtime_instr"]}, (), S390X, S390
    yield "a release does not outweigh event classes", {
        **le32, "release": "6.1.0-18-amd64", "classes": ["syscall_entry_arm_fadvise64_64"]}, (), ARM, {}
    yield "--machine does not outweigh the trace", {
        **le64, "release": "6.1.0-56-cloud-amd64"}, ("--machine", "arm64"), X86_64, I386


def not_told():
    yield "64 bits, little endian", {}, ()
    yield "32 bits, little endian", {"bits": 32}, ()
    yield "64 bits, big endian", {"big": True}, ()
    yield "classes of two machines", {"classes": ["compat_syscall_entry_old_select", "syscall_entry_riscv_hwprobe"]}, ()
    yield "x86 and big endian", {"big": True, "classes": ["syscall_entry_arch_prctl"]}, ()
    yield "mips", {"bits": 32, "classes": ["syscall_entry_sysmips"]}, ("--machine", "arm")
    yield "--machine arm of 64 bits", {}, ("--machine", "arm")
    yield "--machine x86-64, big endian", {"big": True}, ("--machine", "x86-64")


def judge_made(tap, work):
    names = iter(range(1000))
    place = lambda: os.path.join(work, str(next(names)))
    for what, how, options, table, compat in told():
        table = {n: name for n, name in table.items() if n < 1000} | NEW
        t = Trace(**how)
        t.calls(table)
        judge(tap, what, t.write(place()), table, table, options)
        t = Trace(**how)
        asked = (compat or ARM) | NEW
        t.calls({n: (compat | NEW).get(n, "") for n in asked}, compat=True)
        judge(tap, f"{what}, 32-bit programs", t.write(place()), asked, compat | NEW, options)
    every = {n: "" for n in range(COMMON)} | NEW
    for what, how, options in not_told():
        for compat in (False, True):
            t = Trace(**how)
            t.calls(every, compat)
            judge(tap, f"{what}: numbers stay{', 32-bit programs' if compat else ''}", t.write(place()), every, NEW,
                  options)
    judge_hosts(tap, place)
    judge_programs(tap, place)


def judge_hosts(tap, place):
    """Each host has its own machine; the option is for those that do not tell theirs."""
    hosts = {"first": ({"release": "6.1.0-56-cloud-amd64"}, X86_64), "second": ({"bits": 32}, ARM),
             "third": ({"big": True, "release": "5.14.0-362.el9.s390x"}, S390X)}
    where, expected = place(), {}
    for host, (how, table) in hosts.items():
        t = Trace(host=host, **how)
        t.calls({n: table[n] for n in (3, 4, 5, 11) if n in table})
        t.write(os.path.join(where, host))
        expected.update({(host, table[n]): 1 for n in (3, 4, 5, 11)})
    for reader in ("native", "babeltrace2"):
        tap.equal(viewed(where, "--machine", "arm", "--reader", reader), expected, f"three hosts at once, {reader}")


def judge_programs(tap, place):
    """fork, vfork, exec and rt_sigreturn are known by name: no descriptor from a pid, nothing unfinished."""
    for what, how, native, compat in (("x86-64", {"release": "6.1.0-18-amd64"}, X86_64, I386),
                                      ("arm64", {"release": "6.1.0-18-arm64"}, GENERIC, ARM),
                                      ("s390x", {"big": True, "release": "6.1.0-18-s390x"}, S390X, S390)):
        by_name = {name: n for n, name in compat.items()}
        t = Trace(**how)
        for call in ("fork", "vfork", "clone"):
            t.entry(by_name[call], compat=True)
            t.exit(by_name[call], 0, tid=900, compat=True)          # in the child
            t.exit(by_name[call], 900, compat=True)
        t.entry(by_name["rt_sigreturn"], compat=True)
        t.entry(by_name["read"], (900, 0, 10), compat=True)         # no file has that descriptor
        t.exit(by_name["read"], 10, compat=True)
        where = t.write(place())
        states = [(name, state) for name, state, line in logged(where) if line["tid"] == 7]
        tap.equal([name for name, _ in states], ["fork", "vfork", "clone", "rt_sigreturn", "read"],
                  f"{what}: calls of a 32-bit program")
        tap.equal({state for name, state in states if name != "rt_sigreturn"}, {"whole"}, f"{what}: all of them end")
        paths = {row["path"] for row in blk.rows("files", where)}
        tap.none([p for p in paths if "open" in (p or "") or p not in ("fd 900", "?", None)],
                 f"{what}: a child's pid is no descriptor")
        t = Trace(**how)
        execve = {name: n for n, name in native.items()}["execve"]
        t.entry(execve)
        # x86 changes the number with the program, arm64 does not.
        t.exit(by_name["execve"] if what == "x86-64" else execve, 0, compat=True)
        t.entry(by_name["getpid"] if "getpid" in by_name else by_name["gettid"], compat=True)
        where = t.write(place())
        tap.equal([(n, s) for n, s, _ in logged(where)][0], ("execve", "whole"),
                  f"{what}: exec of a 32-bit program by a 64-bit one ends")


def judge_recordings(tap):
    """Numbers that the header names are names; both lists are of x86-64."""
    for directory in blk.trace_dirs():
        for path in sorted(glob.glob(os.path.join(directory, "*", "trace*")) + glob.glob(os.path.join(directory, "mix2", "lossy"))):
            if not glob.glob(os.path.join(path, "**", "kernel", "metadata"), recursive=True) or "ctf2" in path:
                continue
            o = blk.objects("syscalls", path, lossy=True)
            left = {row["syscall"] for x in o for row in x["rows"] if row["syscall"].startswith("syscall_")}
            bad = sorted(n for n in left if int(n[8:]) in X86_64 or int(n[8:]) in I386)
            tap.none(bad, f"{os.path.relpath(path, directory)}: numbers without a name")


def main():
    blk.need_babeltrace2()
    if not X86_64 or not I386:
        blk.skip_all("<asm/unistd_64.h> and <asm/unistd_32.h> are not installed")
    tap = blk.Tap()
    with tempfile.TemporaryDirectory() as work:
        judge_made(tap, work)
    judge_recordings(tap)
    tap.done()


if __name__ == "__main__":
    main()
