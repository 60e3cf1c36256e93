#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What code inside the isolated process can do. A library is loaded into the running program and tries 200 system calls
after isolation, in each role (tests/probe/isolation_probe.c). The golden files have what succeeds.

isolation-probe.py --update writes the golden files: read the difference before you commit it."""
import contextlib
import fcntl
import os
import pathlib
import pty
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.request

SRCDIR = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("BUILD", SRCDIR / "build"))
BLKTOP = os.environ.get("BLKTOP", str(BUILD / "blktop"))
PROBE = (BUILD if BUILD.is_absolute() else SRCDIR / BUILD) / "isolation-probe.so"
CALLS, FILES = SRCDIR / "tests/golden/isolation-calls.txt", SRCDIR / "tests/golden/isolation-files.txt"
ROLES = ("reader", "screen", "sender", "receiver", "plugins")
DENIED = ("EPERM", "ENOSYS")
READER = pwd.getpwnam("nobody")  # as whom the program reads, run by root
# What the hostile program of a review did, run by root: a setuid program of another user, namespaces, a detached mount,
# other processes, shared memory.
ATTACK = ("chmod 4755 foreign", "fchmodat 4755 foreign", "fchmodat2 4755 foreign", "chown 0 foreign", "lchown 0 foreign",
          "fchownat 0 foreign", "fchmod 4755, open file", "fchown 0, open file", "lsetxattr security.capability foreign",
          "setxattrat foreign", "utimensat foreign", "clone CLONE_NEWUSER", "clone CLONE_NEWNS|CLONE_NEWPID|CLONE_NEWNET",
          "clone3 CLONE_NEWNS|CLONE_NEWNET", "open_tree_attr", "kill, other process", "kill, all", "shmget", "execve")
count = failed = 0


def ok(good, name, *details):
    global count, failed
    count += 1
    failed += not good
    print("ok" if good else "not ok", count, "-", name, flush=True)
    for detail in details if not good else ():
        print("\n".join("# " + line for line in str(detail).splitlines()[:40]), flush=True)


def done():
    print(f"1..{count}")
    sys.exit(failed > 0)


def landlock():
    """(version of Landlock's interface, 0: none; are system calls filtered?)"""
    said = subprocess.run([BLKTOP, "-v"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"files are filtered \(Landlock (\d+)", said)
    return int(found[1]) if found else 0, "calls are filtered" in said


class Place:
    """Files, a process and sockets for the probe."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.top.chmod(0o711)  # run by root, the program reads as another user
        self.n = 0
        self.victim = subprocess.Popen(["sleep", "1000"])
        self.trace = self.top / "trace"
        shutil.copytree(SRCDIR / "tests/traces/demo/trace", self.trace)
        self.foreign, self.temporary = self.top / "foreign", self.top / "temporary"
        self.foreign.mkdir()
        self.temporary.mkdir()  # the screen may write there
        self.port = self.listen(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        self.abstract = f"blktop-probe-{os.getpid()}"
        self.listen(socket.AF_UNIX, f"\0{self.abstract}")
        self.named = str(self.top / "named")
        self.listen(socket.AF_UNIX, self.named)

    def listen(self, family, name):
        """Accepts, and reads to the end."""
        s = socket.socket(family)
        s.bind(name)
        s.listen(8)
        threading.Thread(target=self.serve, args=(s,), daemon=True).start()
        return s

    @staticmethod
    def serve(s):
        while True:
            client = s.accept()[0]
            threading.Thread(target=lambda c: [None for _ in iter(lambda: c.recv(65536), b"")], args=(client,), daemon=True).start()

    def environment(self, files_only=False):
        """Fresh files: (environment, file for the results, directory that may be written)."""
        self.n += 1
        writable = self.top / f"writable{self.n}"
        writable.mkdir()
        if os.geteuid() == 0:
            os.chown(writable, READER.pw_uid, READER.pw_gid)
        (self.foreign / "file").write_text("foreign")
        out = writable / "probe.out"
        env = dict(os.environ, LD_PRELOAD=str(PROBE), PROBE_OUT=str(out), PROBE_WRITABLE=str(writable),
                   PROBE_READABLE="/usr/lib/os-release", PROBE_FOREIGN=str(self.foreign),
                   PROBE_VICTIM=str(self.victim.pid), PROBE_PORT=str(self.port), PROBE_ABSTRACT=self.abstract,
                   PROBE_NAMED=self.named, XDG_CACHE_HOME=str(self.top / "cache"), TMPDIR=str(self.temporary),
                   TERM="xterm-256color")
        if files_only:
            env["PROBE_FILES_ONLY"] = "1"
        return env, out, writable

    def intact(self):
        """Nothing was done to what is not the program's."""
        if not (self.foreign / "file").exists():
            return False
        st = (self.foreign / "file").stat()
        return (os.listdir(self.foreign) == ["file"] and st.st_mode & 0o7777 == 0o644 and st.st_size == 7 and
                self.victim.poll() is None)

    def end(self):
        self.victim.kill()
        self.victim.wait()


def table(out):
    return [line.split("\t") for line in out.read_text("utf-8").splitlines()] if out.exists() else []


def run(place, *arguments, files_only=False):
    """A command that ends by itself: (lines, exit status, messages)."""
    env, out, writable = place.environment(files_only)
    done_ = subprocess.run([BLKTOP, *arguments, "--metrics-file", str(writable / "metrics")], env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    return table(out), done_.returncode, done_.stderr


def run_screen(place):
    """The screen on a terminal, until q."""
    env, out, writable = place.environment()
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(writable)
        os.execve(BLKTOP, [BLKTOP, "--config", "none", str(place.trace)], env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown, asked = b"", False
    with contextlib.suppress(OSError):  # the terminal is closed
        while data := os.read(fd, 65536):
            shown += data
            if b"q:" in shown or b"REQUESTS" in shown or b"usual" in shown:
                if not asked:
                    os.write(fd, b"q")
                asked = True
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return table(out), status if asked else -1, shown


def run_receiver(place, *more):
    """--listen, until it has answered once."""
    env, out, writable = place.environment()
    server = subprocess.Popen([BLKTOP, "-b", "--listen", "127.0.0.1:0", "--metrics-file", str(writable / "metrics"), *more,
                               str(place.trace)], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = ""
    for line in server.stderr:
        text += line
        found = re.search(r"http://\S+/metrics", line)
        if found:
            break
    if not found:
        return [], server.wait(), text
    with urllib.request.urlopen(found[0], timeout=60) as answer:
        served = b"blktop" in answer.read()
    server.send_signal(signal.SIGTERM)
    text += server.stderr.read()
    return table(out), server.wait() if served else -1, text


def show(rows, heading):
    widths = [max(len(row[i]) for row in [heading, *rows]) for i in range(len(heading))]
    return "".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() + "\n" for row in [heading, *rows])


def read_golden(path):
    return [re.split(r"  +", line) for line in path.read_text("utf-8").splitlines()[1:]]


def simple(result):
    """Allowed calls end in different ways on different kernels, and for different users."""
    if result == "EXDEV":  # Landlock 1 says so of another directory
        return "EACCES"
    return result if result in DENIED or result in ("ok", "-", "EACCES") else "allowed"


def compare(name, rows, path, heading, ignored):
    """rows: as in the golden file, but for what this machine lacks."""
    wanted = read_golden(path)
    if "--update" in sys.argv:
        before = {want[0]: want for want in wanted}  # what this machine cannot show stays
        path.write_text(show([[old if new == "-" else new for new, old in zip(row, before.get(row[0], row))]
                              for row in rows], heading), "utf-8")
        return
    difference = [f"{' '.join(got)} (golden: {' '.join(want)})" for got, want in zip(rows, wanted)
                  if got != want and not ignored(got, want)]
    ok([row[0] for row in rows] == [row[0] for row in wanted], f"{name}: the golden file has the calls that are tried",
       set(row[0] for row in rows) ^ set(row[0] for row in wanted))
    ok(not difference, f"{name}: {len(rows)} calls, as the golden file says", "\n".join(difference))


def without_landlock(place):
    """As on a kernel without it: the other filter is the same, and the screen says what is not filtered."""
    os.environ["PROBE_ABI"] = "0"
    lines, status, shown = run_screen(place)
    del os.environ["PROBE_ABI"]
    ok(status == 0 and b"not isolated: files are not filtered" in shown, "without Landlock: the screen says so", status, shown)
    wanted = {row[0]: row[1 + ROLES.index("screen")] for row in read_golden(CALLS)}
    wrong = [what for what, result in lines if wanted[what] not in ("EACCES", "-") and simple(result) not in (wanted[what], "-")]
    ok(len(lines) > 150 and not wrong, "without Landlock: system calls are filtered as with it", wrong)


def calls(place, abi):
    got = {}
    server = f"127.0.0.1:{place.port}"
    for role, how in (("reader", lambda: run(place, "-b", str(place.trace))), ("screen", lambda: run_screen(place)),
                      ("sender", lambda: run(place, "-b", "--graphite", server, str(place.trace))),
                      ("receiver", lambda: run_receiver(place)),
                      ("plugins", lambda: run(place, "-b", "--reader", "babeltrace2", str(place.trace))),
                      ("sender and receiver", lambda: run_receiver(place, "--graphite", server))):
        lines, status, text = how()
        ok(len(lines) > 150, f"{role}: the probe runs inside", text)
        ok(status in (0, 128 + signal.SIGTERM), f"{role}: the program works afterwards, exit status {status}", text[-500:])
        ok(place.intact() or not abi, f"{role}: files and processes of others are as they were")
        got[role] = {what: simple(result) for what, result in lines}
        done_ = [what for what in ATTACK if got[role].get(what) not in (*DENIED, "-")]
        ok(not done_, f"{role}: a setuid program, namespaces, other processes: denied", done_)
    names = list(got["reader"])
    rows = [[what, *(got[role].get(what, "?") for role in ROLES)] for what in names]
    compare("calls", rows, CALLS, ["call", *ROLES],
            lambda row, want: all(mine in (golden, "-") or (golden == "EACCES" and not abi)
                                  for mine, golden in zip(row[1:], want[1:])))
    both = got["sender and receiver"]
    wrong = [what for what in names if (both[what] in DENIED) !=
             (got["sender"][what] in DENIED and got["receiver"][what] in DENIED)]
    ok(not wrong, "two roles may do what one of them may, and no more", wrong)


LACKS = ((3, "truncation"), (4, "TCP"), (5, "requests to devices"), (6, "signals"), (6, "abstract sockets"), (9, "named sockets"))


def files(place, abi):
    """Landlock alone, as kernels of each version have it."""
    for version in range(abi, 0, -1):
        os.environ["PROBE_ABI"] = str(version)
        lines, status, text = run(place, "-b", str(place.trace), files_only=True)
        name = f"Landlock {version} alone"
        ok(len(lines) > 20 and status == 0, f"{name}: the probe runs inside", text)
        ok(place.intact(), f"{name}: files and processes of others are as they were")
        rows = [[what, since, result] for what, result, since in lines]
        compare(name, rows, FILES, ["access", "since", "result"],
                lambda row, want, version=version: int(want[1]) > version and row[2] == "ok")
        said = subprocess.run([BLKTOP, "-v"], capture_output=True, text=True, check=True,
                              env=dict(os.environ, LD_PRELOAD=str(PROBE))).stdout
        lacks = [what for since, what in LACKS if since > version]
        wanted = f"files are filtered (Landlock {version}{', without ' + ', '.join(lacks) if lacks else ''})\n"
        ok(wanted in said, f"{name}: -v says what it does not filter", said, wanted)
        if "--update" in sys.argv:
            break
    del os.environ["PROBE_ABI"]


def main():
    abi, can_calls = landlock()
    if not PROBE.exists() or not can_calls:
        print(f"1..0 # SKIP {f'{PROBE} is not built' if can_calls else 'the kernel has no seccomp'}")
        return
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        os.umask(0o022)
        place = Place(top)
        try:
            calls(place, abi)
            if abi:
                files(place, abi)
            without_landlock(place)
        finally:
            place.end()
    done()


main()
