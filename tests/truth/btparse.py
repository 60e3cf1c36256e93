# SPDX-License-Identifier: GPL-2.0-only
"""Reads babeltrace2's text: the referees' only source of what a trace holds.

Event.ns is the raw clock of the trace (`--clock-cycles`): nanoseconds of CLOCK_MONOTONIC in
LTTng traces, one clock for the kernel's and the user-space events. The wall clock is
ns + offset(trace): blktop pins one offset a machine, the kernel trace's where there is one.

events() returns a list in order of (ns, kernel before user space, cpu, position in the text):
babeltrace2 itself orders by wall clock, and the two domains' offsets are microseconds apart.

Recordings in CTF 2 have the text of babeltrace2 2.1.2 beside them (trace.txt.xz, and trace.warnings
where something was lost), since older ones cannot read them.

A dozen referees need the events of the same recordings. The first one stores them in BUILD/referee, and the
others load them: see Stored.
"""
import fcntl
import functools
import glob
import hashlib
import json
import lzma
import marshal
import os
import re
import shutil
import subprocess
import sys

import blk

HEAD = re.compile(r"\[(\d+)\] (?:\(\S+\) )?(?:(\S+) )?(\S+): \{ ")
CPU = re.compile(r"cpu_id = (\d+) \}, \{ ?")
CONTEXT = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^"{}])*)\}, \{ ?')
FIELD = re.compile(r'(\w+) = (?:\( )?("(?:[^"\\]|\\.)*"|0x[0-9A-F]+|[-\w.+]+)')
ELEMENT = re.compile(r"\[(\d+)\] = (-?\d+)")


def value(text):
    if text[0] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1]) if "\\" in text else text[1:-1]
    try:
        if text.startswith("0x"):
            return int(text, 16)
        if len(text) > 1 and text[0] == "0" and text.isdigit():
            return int(text, 8)          # babeltrace2 writes octal fields with a leading 0
        return int(text)
    except ValueError:
        return text


def fields(text):
    """All `name = value` of the text, nested ones too; of equal names the first."""
    found = {}
    for name, what in FIELD.findall(text):
        if name not in found:
            found[sys.intern(name)] = value(what)
    return found


context_fields = functools.lru_cache(4096)(fields)      # few differ


def elements(text, array):
    """The integers of an array field, in order."""
    at = text.find(array + " = [ ")
    if at < 0:
        return []
    return [int(v) for _, v in ELEMENT.findall(text[at:text.find(" ]", at)])]


class Event:
    """ctx and payload are dicts, which equal events may share: read only."""
    __slots__ = ("ns", "host", "name", "cpu", "ctx", "payload", "text")

    def __init__(self, ns, host, name, cpu, ctx, payload, text):
        self.ns, self.host, self.name, self.cpu = ns, host, name, cpu
        self.ctx, self.payload, self.text = ctx, payload, text

    @property
    def user_space(self):
        """Is it an event of user space? (Those of LTTng's kernel tracer have no colon.)"""
        return ":" in self.name


def parse(line):
    head = HEAD.match(line)
    if not head:
        return None
    ns, host, name = int(head[1]), head[2], head[3]
    at, cpu, ctx = head.end(), None, ""
    m = CPU.match(line, at)
    if m:
        cpu, at = int(m[1]), m.end()
    m = CONTEXT.match(line, at)
    if m:
        ctx, at = m[1], m.end()
    rest = line[at:]
    return Event(ns, host, sys.intern(name), cpu, context_fields(ctx), fields(rest), rest)


def beside(trace, ending):
    """What lies beside a recording (DIR/trace.txt.xz of DIR/trace), or beside it in another folder of
    recordings: the text of a copy may be there only. None: it is nowhere."""
    trace = os.path.normpath(trace)
    folders = [os.path.normpath(d) + os.sep for d in blk.trace_dirs()]
    inside = [trace[len(d):] for d in folders if trace.startswith(d)]
    for path in [trace] + [d + inside[0] for d in folders if inside]:
        if os.path.exists(path + ending):
            return path + ending
    return None


def metadata(path):
    """(folder, bytes) of each metadata file below the path, sorted."""
    for folder, _, files in sorted(os.walk(path)):
        if "metadata" in files:
            with open(os.path.join(folder, "metadata"), "rb") as f:
                yield folder, f.read()


def is_ctf2(path):
    return any(text.startswith(b"\x1e") for _, text in metadata(path))


def fragments(text, kind):
    """The fragments of one type of CTF 2 metadata."""
    found = (json.loads(f) for f in text.decode().split("\x1e")[1:])
    return [f for f in found if f["type"] == kind]


@functools.lru_cache(None)
def version():
    """(major, minor) of the installed babeltrace2; (0, 0): there is none."""
    if not shutil.which("babeltrace2"):
        return 0, 0
    out = subprocess.run(["babeltrace2", "--version"], text=True, capture_output=True).stdout
    m = re.search(r"(\d+)\.(\d+)", out)
    return (int(m[1]), int(m[2])) if m else (0, 0)


def unreadable(trace):
    """Why there is no text of this trace; None: there is."""
    if not is_ctf2(trace) or version() >= (2, 1) or beside(trace, ".txt.xz"):
        return None
    return "it is in CTF 2, which babeltrace2 reads from 2.1 on, and its text is not beside it"


def recording(tap, name):
    """The recording of that name, if it is here and there is text of it; else None, and tap says why. None, too, of a
    long one without ALL=1."""
    if not blk.is_wanted(name):
        return None
    trace = blk.find(*name.split("/"))
    why = unreadable(trace) if trace else "the trace is not there"
    if why:
        tap.skip(name, why)
    return None if why else trace


def text_lines(trace):
    """babeltrace2's lines; raises RuntimeError where it gives up."""
    if is_ctf2(trace) and beside(trace, ".txt.xz"):
        with lzma.open(beside(trace, ".txt.xz"), "rt", encoding="utf-8", errors="replace") as f:
            yield from f
        return
    bt = subprocess.Popen(["babeltrace2", "--clock-cycles", trace], text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    yield from bt.stdout
    if bt.wait():
        raise RuntimeError(f"babeltrace2 ends with status {bt.returncode} on {trace}")


def streams(trace):
    return [f for f in glob.glob(os.path.join(trace, "**"), recursive=True)
            if os.path.isfile(f) and os.path.basename(f) != "metadata" and "/index/" not in f]


def without_muxer(trace):
    """The text of a trace of one stream, straight from the source."""
    bt = subprocess.run(
        ["babeltrace2", "run", "--component=src:source.ctf.fs", f'--params=inputs=["{trace}"]',
         "--component=out:sink.text.pretty", "--params=clock-cycles=yes", "--connect=src:out"],
        text=True, errors="replace", capture_output=True)
    if bt.returncode:
        raise RuntimeError(f"babeltrace2 fails without its muxer too: status {bt.returncode}")
    return bt.stdout.splitlines()


def lines(trace):
    """babeltrace2's text. Its muxer gives up where a packet begins before the last event of the
    one before it: a trace of one stream is printed without the muxer then."""
    try:
        return list(text_lines(trace))
    except RuntimeError as e:
        if len(streams(trace)) != 1:
            raise RuntimeError(f"{e}; the trace has several streams") from e
    return without_muxer(trace)


class Stored:
    """What was made of a recording, in BUILD/referee: a line that says of which files and by which code, and
    the value. Where it is missing or of something else it is made, by one process; the others wait."""
    FOLDER = os.path.join(os.path.dirname(blk.BLKTOP), "referee")

    def __init__(self, trace, what):
        self.path = os.path.join(self.FOLDER, hashlib.sha1(f"{what} {os.path.abspath(trace)}".encode()).hexdigest())
        stamp = hashlib.sha1(f"{sys.version} {version()}".encode())
        text = beside(trace, ".txt.xz")
        for path in [__file__] + [text] * bool(text) + sorted(
                os.path.join(d, f) for d, _, files in os.walk(trace) for f in files):
            s = os.stat(path)
            stamp.update(f"{path} {s.st_size} {s.st_mtime_ns} {s.st_ino}\n".encode())
        self.stamp = stamp.hexdigest().encode() + b"\n"

    def get(self, make):
        try:
            os.makedirs(self.FOLDER, exist_ok=True)
            with open(self.path + ".lock", "w", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                found = self.load()
                return self.store(make()) if found is None else found
        except OSError:         # no folder that can be written
            return make()

    def load(self):
        try:
            with open(self.path, "rb") as f:
                return marshal.loads(f.read()) if f.readline() == self.stamp else None
        except FileNotFoundError:
            return None

    def store(self, found):
        with open(self.path + ".new", "wb") as f:
            f.write(self.stamp + marshal.dumps(found))
        os.replace(self.path + ".new", self.path)
        return found


def parsed(trace):
    """The attributes of all events, in order."""
    found, bad = [], 0
    for line in lines(trace):
        e = parse(line)
        if e:
            found.append((e.ns, e.host, e.name, e.cpu, e.ctx, e.payload, e.text))
        else:
            bad += 1
    if bad:
        raise RuntimeError(f"{bad} lines of babeltrace2's text are not understood")
    found.sort(key=lambda e: (e[0], ":" in e[2], -1 if e[3] is None else e[3]))
    return found


def events(trace):
    return [Event(*e) for e in Stored(trace, "events").get(lambda: parsed(trace))]


LOSS = re.compile(r"Tracer discarded (\d+) (event|packet)s? between \[(\d+)\.(\d+)\] and "
                  r"\[(\d+)\.(\d+)\]")


CLOCK_LOSS = re.compile(r"Tracer discarded (\d+) (event|packet)s? between "
                        r"\[(\d+):(\d+):(\d+)\.(\d+)\] and \[(\d+):(\d+):(\d+)\.(\d+)\]")


def losses_beside(path):
    """As losses(), of the warnings beside the recording, which have the time of the day in UTC."""
    ns = 1000000000
    with open(beside(path, ".warnings"), encoding="utf-8") as f:
        text = f.read()
    start = events(path)[0].ns + offset(path)
    found = []
    for n, what, *at in CLOCK_LOSS.findall(text):
        h, m, s, part, h2, m2, s2, part2 = map(int, at)
        day = start // (86400 * ns) * 86400 * ns
        found.append((int(n), what, day + (h * 3600 + m * 60 + s) * ns + part,
                      day + (h2 * 3600 + m2 * 60 + s2) * ns + part2))
    return found


def losses(path):
    """[(how many, "event" or "packet", begin, end)] as babeltrace2 warns of them, wall clock."""
    if is_ctf2(path) and beside(path, ".txt.xz"):
        return losses_beside(path) if beside(path, ".warnings") else []
    return [(int(n), what, int(a) * 1000000000 + int(b), int(c) * 1000000000 + int(d))
            for n, what, a, b, c, d in LOSS.findall(warnings(path, "--clock-seconds"))]


def warnings(path, *options):
    """What babeltrace2 says on standard error."""
    if is_ctf2(path) and beside(path, ".txt.xz"):
        at = beside(path, ".warnings")
        if not at:
            return ""
        with open(at, encoding="utf-8") as f:
            return f.read()
    r = subprocess.run(["babeltrace2", *options, path], text=True, errors="replace",
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return r.stderr


STREAM_LOSS = re.compile(r"(\d+) (event|packet)s? .*within stream \"[^\"]*/[^/\"]*_(\d+)\"")


def losses_by_cpu(path):
    """{cpu of the stream (by its file's name): [losses, events, packets]}"""
    found = {}
    for n, what, cpu in STREAM_LOSS.findall(warnings(path)):
        row = found.setdefault(int(cpu), [0, 0, 0])
        row[0] += 1
        row[1 if what == "event" else 2] += int(n)
    return found


OFFSET = re.compile(rb"\boffset = (\d+);")
OFFSET_S = re.compile(rb"\boffset_s = (\d+);")


def offset_of(text):
    """The clock's offset that the metadata says, ns; None: it has no clock."""
    if text.startswith(b"\x1e"):
        for clock in fragments(text, "clock-class"):
            at = clock.get("offset-from-origin", {})
            return at.get("seconds", 0) * 1000000000 + at.get("cycles", 0) * 1000000000 // clock["frequency"]
        return None
    m, s = OFFSET.search(text), OFFSET_S.search(text)
    return int(m[1]) + (int(s[1]) * 1000000000 if s else 0) if m else None


def environment(text, name):
    """What the metadata's environment says, as text; None: nothing."""
    if text.startswith(b"\x1e"):
        for trace in fragments(text, "trace-class"):
            found = trace.get("environment", {}).get(name)
            return None if found is None else str(found)
        return None
    m = re.search(rb'\b' + name.encode() + rb' = "([^"]*)"', text)
    return m[1].decode() if m else None


def offset(path):
    """Wall clock minus raw clock, ns, as the kernel's metadata says it, else any."""
    best = None
    for _, text in metadata(path):
        found = offset_of(text)
        if found is None:
            continue
        if environment(text, "domain") == "kernel":
            return found
        if best is None:
            best = found
    return best


def kernel_release(path):
    """(major, minor) of the first kernel trace below the path; (0, 0) where none says."""
    for _, text in metadata(path):
        m = re.match(r"(\d+)\.(\d+)", environment(text, "kernel_release") or "")
        if m:
            return int(m[1]), int(m[2])
    return 0, 0


# System calls that lttng-modules 2.13 leaves unnamed (`unknown`, with their number).
X86_64 = {
    15: "rt_sigreturn", 56: "clone", 57: "fork", 58: "vfork", 158: "arch_prctl",
    313: "finit_module", 314: "sched_setattr", 315: "sched_getattr", 316: "renameat2",
    317: "seccomp", 318: "getrandom", 319: "memfd_create", 320: "kexec_file_load", 321: "bpf",
    322: "execveat", 323: "userfaultfd", 324: "membarrier", 325: "mlock2",
    326: "copy_file_range", 327: "preadv2", 328: "pwritev2", 329: "pkey_mprotect",
    330: "pkey_alloc", 331: "pkey_free", 332: "statx", 333: "io_pgetevents", 334: "rseq",
    424: "pidfd_send_signal", 425: "io_uring_setup", 426: "io_uring_enter",
    427: "io_uring_register", 428: "open_tree", 429: "move_mount", 430: "fsopen",
    431: "fsconfig", 432: "fsmount", 433: "fspick", 434: "pidfd_open", 435: "clone3",
    436: "close_range", 437: "openat2", 438: "pidfd_getfd", 439: "faccessat2",
    440: "process_madvise", 441: "epoll_pwait2", 442: "mount_setattr", 443: "quotactl_fd",
    444: "landlock_create_ruleset", 445: "landlock_add_rule", 446: "landlock_restrict_self",
    447: "memfd_secret", 448: "process_mrelease", 449: "futex_waitv",
    450: "set_mempolicy_home_node", 451: "cachestat", 452: "fchmodat2",
}


def syscall(e):
    """("entry" or "exit", the call's name), or None where the event is no system call."""
    name = e.name
    if name.startswith("syscall_entry_"):
        what, call = "entry", name[14:]
    elif name.startswith("syscall_exit_"):
        what, call = "exit", name[13:]
    elif name.startswith("sys_"):
        what, call = "entry", name[4:]
    elif name == "exit_syscall":
        return "exit", None
    else:
        return None
    if call == "unknown":
        number = e.payload.get("id")
        call = X86_64.get(number, f"syscall_{number}")
    return what, call
