#!/usr/bin/env python3
"""Traces that broke blktop once (tests/hostile): every command ends with a message or with the rest of
the data, within time and memory, and the sanitizers find nothing."""
import ast
import os
import pathlib
import resource
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


def run(program, arguments, seconds):
    """What is wrong with how the command ended: a list."""
    environment = dict(os.environ)
    if "babeltrace2" in arguments:      # whole stacks, or the sanitizer does not see that it is that library that leaks
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0"
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
    more = [["-b", "--reader", "babeltrace2", "--view", "events"]] if name in BY_BABELTRACE2 else []
    for number, command in enumerate(COMMANDS + more + ([shown_by] if shown_by else [])):
        out = os.path.join(work, f"out.{number}")
        arguments = [out if a == "OUT" else a for a in command if a != "TRACE"]
        if command == shown_by and command[0] == "save":
            arguments = ["save", *command[1:command.index("-o") + 1], out]
        yield arguments + [trace]


def check(name, trace, work, shown_by=None):
    for kind, program in PROGRAMS.items():
        if not os.access(program, os.X_OK):
            tap.skip(f"{name}, {kind}", f"{program} is not built")
            continue
        before = os.path.join(work, kind)
        os.makedirs(before)
        wrong = [w for c in commands(name, trace, before, shown_by) for w in run(program, c, SECONDS[kind])]
        tap.ok(f"{name}, {kind}", wrong)


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
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    if os.access(PROGRAMS["sanitizers"], os.X_OK):
        tap.skip("memory", "the sanitizers' is not the program's")
    else:
        tap.ok("memory stays below 200 MB", [] if peak < MEMORY else [f"{peak >> 20} MB"])
    tap.done()


main()
