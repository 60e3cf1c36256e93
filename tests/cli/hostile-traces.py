#!/usr/bin/env python3
"""Traces that broke blktop once (tests/hostile), and traces of two hosts of which one has a clock or a time at the
ends of what 64 bits hold: every command ends with a message or with the rest of the data, within time and memory, and
the sanitizers find nothing. A trace is given to one of the commands, in turn, of every third trace with the
sanitizers; with ALL=1 (make check-long) to each, with and without."""
import ast
import itertools
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

BUILD = os.environ.get("BUILD", "build")
PROGRAMS = {"release": os.environ.get("BLKTOP", BUILD + "/blktop"), "sanitizers": BUILD + "-asan/blktop"}
SECONDS = {"release": 10, "sanitizers": 60}     # generous: other tests run beside; 2 and 10 are the aims
MEMORY = 200 << 20                              # bytes that the release build may keep in memory
COMMANDS = [["-b", "--view", "events"], ["-b", "--view", "processes", "--each", "--format", "json"], ["-b", "--view", "losses"],
            ["-b", "--view", "counters", "--align-hosts"], ["--doctor"], ["log"], ["report"],
            ["save", "--from", "50%", "--to", "end", "-o", "OUT"]]
TURN, CHECKED = itertools.count(), itertools.count()


def run(program, arguments, seconds):
    """What is wrong with how the command ended: a list."""
    environment = dict(os.environ)
    if "babeltrace2" in arguments and os.environ.get("ALL"):
        # whole stacks, or the sanitizer does not see that it is that library that leaks: half a minute of CPU time
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0"
        seconds *= 5
    elif "babeltrace2" in arguments:
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    with subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env=environment) as process:
        try:
            said = process.communicate(timeout=seconds)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return [f"{' '.join(arguments)}: not ended after {seconds} s"]
    wrong = []
    if process.returncode not in (0, 1, 3):
        wrong.append(f"{' '.join(arguments)}: exit status {process.returncode}: {said[-300:]}")
    if process.returncode == 1 and not said:
        wrong.append(f"{' '.join(arguments)}: exit status {process.returncode}, and no message")
    wrong += [f"{' '.join(arguments)}: {line}" for line in said.splitlines()
              if "Sanitizer" in line or "runtime error" in line or "CRITICAL" in line][:3]
    return wrong


# What babeltrace2's library refuses without harm: one damaged chunk among several. It is not hardened against the rest.
BY_BABELTRACE2 = {"abort-709cff96", "abort-bd37a520"}


def commands(name, trace, work, shown_by):
    turn = next(TURN)
    some = COMMANDS if os.environ.get("ALL") else [COMMANDS[turn % len(COMMANDS)]]
    more = [["-b", "--reader", "babeltrace2", "--view", "events"]] if name in BY_BABELTRACE2 else []
    for number, command in enumerate(some + more + ([shown_by] if shown_by else [])):
        out = os.path.join(work, f"out.{number}")
        arguments = [out if a == "OUT" else a for a in command if a != "TRACE"]
        if command == shown_by and command[0] == "save":
            arguments = ["save", *command[1:command.index("-o") + 1], out]
        yield arguments + [trace]


def check(name, trace, work, shown_by=None):
    sanitized = next(CHECKED) % 3 == 0
    for kind, program in PROGRAMS.items():
        if not os.environ.get("ALL") and sanitized != (kind == "sanitizers"):
            continue
        if not os.access(program, os.X_OK):
            tap.skip(f"{name}, {kind}", f"{program} is not built")
            continue
        before = os.path.join(work, kind)
        os.makedirs(before)
        wrong = [w for c in commands(name, trace, before, shown_by) for w in run(program, c, SECONDS[kind])]
        tap.ok(f"{name}, {kind}", wrong)


# The clock of the second host; what one, or all, of its packets say of their begin and end, and of the bits of their
# content (None: as it was).
CLOCKS = {"offset 7e18": (10**9, 0, 7 * 10**18), "offset 9223372037 s": (10**9, 9223372037, 0),
          "offset -9223372037 s": (10**9, -9223372037, 0), "offset -2^63 s": (10**9, -2**63, 0), "offset 2^64 - 1": (10**9, 0, 2**64 - 1),
          "just before the bound": (10**9, 4611686017, 999999999), "frequency 1": (1, 4611686000, 0), "frequency 3": (3, 0, 2**63),
          "frequency 2^64 - 1": (2**64 - 1, 0, 1)}
STAMPS = {"begin 2^63": (2**63, None), "end 2^63": (None, 2**63), "begin and end 2^63": (2**63, 2**63 + 1000),
          "end 2^64 - 1": (None, 2**64 - 1), "begin 0": (0, None), "begin 2^63 - 1": (2**63 - 1, 2**63 - 1),
          "all of 64 bits": (0, 2**64 - 1), "empty, in forty years": (2**60, 2**61, 84 * 8)}


def plain(metadata):
    """The text of metadata in packets."""
    text, at = b"", 0
    while at < len(metadata):
        content, size = struct.unpack_from("<II", metadata, at + 24)
        text += metadata[at + 37:at + content // 8]
        at += size // 8
    return text


def set_clock(text, clock):
    """Another host's, with that clock (frequency, seconds, cycles), or as it was."""
    if text.startswith(b"\x1e"):
        text = text.replace(b'"hostname": "', b'"hostname": "x').replace(b'"uuid": "', b'"uuid": "f', 1)
        if clock:
            text = re.sub(rb'"frequency": \d+', b'"frequency": %d' % clock[0], text)
            text = re.sub(rb'"seconds": \d+', b'"seconds": %d' % clock[1], text)
            text = re.sub(rb'"cycles": \d+', b'"cycles": %d' % clock[2], text)
        return text
    head, tail = plain(text).split(b"clock {", 1)
    tail = re.sub(rb'uuid = "[0-9a-f]{8}', b'uuid = "357947b5', tail, count=1)
    if clock:
        tail = re.sub(rb"freq = \d+;", b"freq = %d; offset_s = %d;" % clock[:2], tail, count=1)
        tail = re.sub(rb"offset = \d+;", b"offset = %d;" % clock[2], tail, count=1)
    return head.replace(b'hostname = "', b'hostname = "x') + b"clock {" + tail


def set_stamps(data, stamps, which):
    data, at, number = bytearray(data), 0, 0
    while at + 84 <= len(data):
        for stamp, where in zip(stamps, (32, 40, 48)):
            if stamp is not None and which in (None, number):
                struct.pack_into("<Q", data, at + where, stamp)
        at += struct.unpack_from("<Q", data, at + 56)[0] // 8
        number += 1
    return bytes(data)


def two_hosts(recording, to, clock=None, stamps=(None, None), which=None):
    """A recording with a directory of each process, one of which is another host's."""
    for number, process in enumerate(sorted(p for p in pathlib.Path(recording).iterdir())):
        place = pathlib.Path(to, process.name)
        place.mkdir(parents=True)
        for path in (p for p in process.iterdir() if p.is_file()):
            data = path.read_bytes()
            if number and path.name == "metadata":
                data = set_clock(data, clock)
            elif number:
                data = set_stamps(data, stamps, which)
            (place / path.name).write_bytes(data)


def ends_of_time(work):
    """(name, directory, whether something of it cannot be placed in time) of each."""
    for form in ("lost", "ctf2/lost") if os.environ.get("ALL") else ("ctf2/lost",):
        recording = f"tests/traces/{form}/trace/ust/pid"
        for number, (name, clock) in enumerate(CLOCKS.items()):
            place = os.path.join(work, f"{form.replace('/', '-')}-clock-{number}")
            two_hosts(recording, os.path.join(place, "trace"), clock=clock)
            yield f"{form}, {name}", place, not name.startswith("frequency")
        for number, (name, stamps) in enumerate(STAMPS.items()):
            for which in (0, None):
                place = os.path.join(work, f"{form.replace('/', '-')}-stamps-{number}-{which}")
                two_hosts(recording, os.path.join(place, "trace"), stamps=stamps, which=which)
                yield f"{form}, {name}, {'all packets' if which is None else 'one packet'}", place, "2^6" in name or "64" in name


def check_reported(name, trace):
    """What cannot be placed in time is reported, however little it is."""
    status = subprocess.run([PROGRAMS["release"], "-b", "--view", "losses", trace], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    tap.ok(f"{name}: reported", [] if status == 3 else [f"exit status {status}"])


def main():
    here = pathlib.Path("tests/hostile")
    with tempfile.TemporaryDirectory() as work:
        for each in sorted(here.iterdir()):
            place = os.path.join(work, each.name)
            os.makedirs(place)
            if each.is_dir():
                check(each.name, str(each), place)
            elif each.name.endswith(".tar.xz"):
                with tarfile.open(each) as tar:
                    tar.extractall(place)
                inside = next(p for p in pathlib.Path(place).iterdir() if p.is_dir())
                words = (inside / "arguments").read_text(encoding="utf-8")
                check(each.name[:-7], str(inside / "trace"), place, ast.literal_eval(words[:words.index("]") + 1]))
        for name, place, is_reported in ends_of_time(work):
            check(name, os.path.join(place, "trace"), place)
            if is_reported:
                check_reported(name, os.path.join(place, "trace"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    if os.access(PROGRAMS["sanitizers"], os.X_OK):
        tap.skip("memory", "the sanitizers' is not the program's")
    else:
        tap.ok("memory stays below 200 MB", [] if peak < MEMORY else [f"{peak >> 20} MB"])
    tap.done()


main()
