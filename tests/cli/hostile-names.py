#!/usr/bin/env python3
"""Names that a relay gives hosts, sessions, traces and streams: nothing of them reaches the terminal,
the file system, or a shell as it is. Files are for their owner alone, nothing listens, nothing is run."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

from hostile_relay import Recording, Relay

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BLKTOP = os.path.realpath(os.environ.get("BLKTOP", os.environ.get("BUILD", str(SRC / "build")) + "/blktop"))
RECORDING = Recording(SRC / "tests/traces/kernel-ust/trace/ust")
NAMES = {
    "an escape sequence": b"\x1b]0;owned\x07\x1b[2J",
    "C1 controls": b"\x9b2J\xc2\x9b2J",
    "a line break": b"a\nb\rc\td",
    "up and out": b"../../../../owned",
    "nothing but dots": b"..",
    "a dot": b".",
    "a slash": b"/",
    "an absolute path": b"/tmp/owned",
    "an option": b"--owned",
    "formats": b"%s%n%99999d%p",
    "a shell's": b"$(touch owned)`touch owned`;touch owned'\"\\",
    "overlong UTF-8": b"\xc0\xae\xc0\xae\xc0\xaf\xe0\x80\xaf",
    "cut UTF-8": b"\xe2\x82",
    "right to left": "a\u202egnp.exe\u2066x".encode(),
    "wide and combining": "\u4e16\u754c e\u0301\u0301\u0301".encode() * 4,
    "as long as can be": b"N" * 255,
    "long and hostile": b"\x1b%n/../" * 36,
    "markup": b"<script>alert(1)</script>|**x**[y](z)",
    "a quote": b"\",\"x\":\"",
}
# Not as bytes: a C1 control is part of many a character in UTF-8.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
n = failed = 0


def ok(name, problems):
    global n, failed
    n += 1
    problems = [p for p in problems if p]
    failed += bool(problems)
    print(f"{'not ' if problems else ''}ok {n} - {name}")
    for p in problems[:5]:
        print("# " + repr(p)[:300])
    sys.stdout.flush()


def raw(output):
    """What of it should not have been printed."""
    text = output.decode("utf-8", "surrogateescape")
    found = CONTROLS.search(text) or re.search("[\udc80-\udcff]", text)
    return f"printed {found.group()!r} in {text[max(0, found.start() - 40):found.end() + 40]!r}" if found else None


def files(folder):
    """What is wrong with what is there now."""
    problems = []
    for path, folders, names in os.walk(folder):
        for name in folders + names:
            full = os.path.join(path, name)
            mode = os.lstat(full).st_mode & 0o7777
            if name != ".blktop-spool" and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name) or len(name) > 128:
                problems.append(f"a file named {name!r}")
            if mode & 0o077:
                problems.append(f"{name}: mode {mode:o}")
    return problems


def home_of(work):
    return dict(os.environ, HOME=work + "/home", XDG_STATE_HOME=work + "/home/state", XDG_CONFIG_HOME=work + "/home/config",
                TERM="xterm-256color", LC_ALL="C.UTF-8")


def relay_of(name, minor, sessions=1):
    relay = Relay(RECORDING, minor=minor, sessions=sessions)
    relay.host = relay.session = relay.path = relay.channel = name
    return relay


def elsewhere(work):
    """Files where none belong."""
    found = [str(p) for p in pathlib.Path(work, "cwd").iterdir()]
    found += [p for p in ("/tmp/owned", work + "/owned", work + "/home/owned") if os.path.lexists(p)]
    return [f"made {p}" for p in found]


def blktop(work, *arguments):
    run = subprocess.run([BLKTOP, "--config", "none", *arguments], cwd=work + "/cwd", env=home_of(work), capture_output=True,
                         timeout=120)
    return run.returncode, run.stdout, run.stderr


def batch(name, minor, work):
    problems = []
    relay = relay_of(name, minor)
    at = f"127.0.0.1:{relay.port}"
    for arguments in (["--list-sessions"], ["--list-sessions", "--format", "json"], ["-b", "--view", "events"],
                      ["-b", "--view", "losses", "--format", "json"]):
        code, out, err = blktop(work, *arguments, "--spool", work + "/home/spool", "-r", at)
        relay.over = False
        problems += [raw(out), raw(err)]
        if code < 0 or b"Sanitizer" in err:
            problems.append(f"{arguments}: exit status {code}, {err[-200:]!r}")
        if "json" in arguments and code == 0:
            for line in out.decode().splitlines() if "-b" in arguments else [out.decode()]:
                json.loads(line)
    relay.viewers = 1
    code, out, err = blktop(work, "-b", "-r", at)
    problems += [raw(out), raw(err), None if code == 1 and b"another viewer" in err else f"taken: {code}, {err!r}"]
    relay.close()
    if not list(pathlib.Path(work, "home/spool").rglob("*.idx")):
        problems.append("nothing was kept: this proves nothing")
    return problems + files(work + "/home") + elsewhere(work)


class Screen:
    """The program on a terminal of its own; all that it wrote."""

    def __init__(self, work, *arguments):
        self.out = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(work + "/cwd")
            os.execve(BLKTOP, [BLKTOP, "--config", "none", *arguments], home_of(work))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            got = b""
        self.out += got
        return bool(got)

    def wait_for(self, *texts, seconds=20):
        """One of them, since the last one that was found."""
        end = time.monotonic() + seconds
        while not any(text in self.out[getattr(self, "at", 0):] for text in texts):
            if time.monotonic() > end or not self.read(0.1):
                return f"{texts!r} does not come; last of all {self.out[-300:]!r}"
        self.at = len(self.out)
        return None

    def keys(self, text):
        os.write(self.fd, text)

    def end(self):
        self.keys(b"q")
        end = time.monotonic() + 20
        while time.monotonic() < end and self.read(0.1):
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return status
        if time.monotonic() >= end:
            os.kill(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]


def screen(name, work):
    """The list of sessions, one of them on the screen, a saved range, an export."""
    relay = relay_of(name, 13, sessions=1)
    relay.stays = True
    # two different ones, so that there is something to choose
    first = relay.on_list
    relay.on_list = lambda state, data: struct.pack(">I", 2) + first(state, data)[4:] + \
        struct.pack(">QIII", 9, 100000, 0, 0) + b"z".ljust(64, b"\0") + b"z".ljust(255, b"\0")
    s = Screen(work, "--timeout", "1", "-r", f"127.0.0.1:{relay.port}")
    problems = [s.wait_for(b"100ms", b"\x1b[4;2H")]     # the row of the second one
    s.keys(b"\r")
    problems.append(s.wait_for(b"history"))
    s.keys(b"S")
    problems.append(s.wait_for(b"save as"))
    s.keys(b"\r")
    problems.append(s.wait_for(b"wrote"))
    s.keys(b"e")
    end = time.monotonic() + 20
    while not list(pathlib.Path(work, "cwd").glob("*.json")) and time.monotonic() < end:
        s.read(0.1)
    status = s.end()
    relay.close()
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status):
        problems.append(f"ended with {status:#x}")
    text = s.out.decode("utf-8", "surrogateescape")
    # what a terminal is told by us, and only so
    text = text.replace("\x1b]11;?\x1b\\", "")     # which background?
    text = re.sub("\x1b(\\[[0-9;?<>=]*[A-Za-z]|[()][A-B0]|[=>78M])|[\r\n\b\x0f\x0e\t]", "", text)
    found = CONTROLS.search(text) or re.search("[\udc80-\udcff]", text)
    if found:
        problems.append(f"printed {text[max(0, found.start() - 40):found.end() + 40]!r}")
    made = sorted(p.name for p in pathlib.Path(work, "cwd").iterdir())
    problems += [f"made {name!r}" for name in made if not re.fullmatch(r"blktop-[A-Za-z0-9._-]+", name)]
    problems.append(None if [p for p in made if p.endswith(".json")] else "nothing was exported")
    for path in [p for p in made if p.startswith("blktop-trace")]:
        problems += files(os.path.join(work, "cwd", path))
    shutil.rmtree(work + "/cwd")
    os.mkdir(work + "/cwd")
    return problems + files(work + "/home") + elsewhere(work)


CALLS = "execve,bind,listen,accept,accept4,connect,open,openat,creat,mkdir,mkdirat,link,symlink,rename,renameat,renameat2,chmod,fchmod"


def traced(work):
    """System calls: what is bound, connected to, made, run."""
    relay = relay_of(b"../$(touch owned)", 13)
    trace = os.path.join(work, "strace")
    run = subprocess.run(["strace", "-f", "-qq", "-s", "200", "-o", trace, "-e", "trace=" + CALLS, BLKTOP, "--config", "none", "-b",
                          "--spool", work + "/home/spool", "-r", f"127.0.0.1:{relay.port}"], cwd=work + "/cwd", env=home_of(work), capture_output=True, timeout=300)
    relay.close()
    if not os.path.exists(trace) or not os.path.getsize(trace):
        print(f"# strace: {run.stderr[-200:]!r}")
        return None
    calls = [line.split(None, 1)[1] for line in open(trace, encoding="utf-8", errors="replace") if " " in line]
    problems = [c for c in calls if re.match(r"(bind|listen|accept4?)\(", c)]
    problems += [c for c in calls if c.startswith("execve(")][1:]
    problems += [c for c in calls if c.startswith("connect(") and "AF_UNIX" not in c and
                 f"sin_port=htons({relay.port})" not in c]
    problems += [c for c in calls if "O_CREAT" in c and not re.search(r", 0600(\)| <unfinished) ", c) and "= -1" not in c]
    problems += [c for c in calls if re.match(r"mkdir(at)?\(", c) and not re.search(r", 0700(\)| <unfinished) ", c) and "= -1" not in c]
    if not [c for c in calls if "O_CREAT" in c] or not [c for c in calls if c.startswith("connect(")]:
        problems.append("nothing was seen: this proves nothing")
    return problems


def main():
    for name, value in NAMES.items():
        for minor in (13, 15):
            with tempfile.TemporaryDirectory() as work:
                os.makedirs(work + "/home", 0o700)
                os.mkdir(work + "/cwd")
                ok(f"{name}, protocol 2.{minor}: in batch", batch(value, minor, work))
    for name, value in NAMES.items():
        with tempfile.TemporaryDirectory() as work:
            os.makedirs(work + "/home", 0o700)
            os.mkdir(work + "/cwd")
            ok(f"{name}: on the screen", screen(value, work))
    with tempfile.TemporaryDirectory() as work:
        os.makedirs(work + "/home", 0o700)
        os.mkdir(work + "/cwd")
        problems = traced(work) if shutil.which("strace") else None
        name = "system calls: nothing listens or is run, what is made is for its owner alone"
        if problems is None:
            global n
            n += 1
            print(f"ok {n} - {name} # SKIP strace is not installed, or may not trace")
        else:
            ok(name, problems)
    print(f"1..{n}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
