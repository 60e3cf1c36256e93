#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run by root: no process that reads traces or relays is root, or has groups or capabilities, whatever the command; traces that only root can
read are read all the same, and what is made belongs to the user. Directories that others could change are refused. On the screen, files can be
made in the directory in which it was started, and nothing there can be replaced."""
import contextlib
import fcntl
import functools
import glob
import os
import pathlib
import pty
import pwd
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from rotation_chunks import TRACE as ROTATED, number  # noqa: E402
from replay_relay import Replay, Transcript  # noqa: E402
from views_of import PROGRAM, TRACES  # noqa: E402

SUDO, OTHER = 12345, 12346
LIMIT = 60              # seconds, for what takes a fraction of one
FULL = 1 << 16          # at least the bytes that a pipe holds
SANITIZED = b"__asan_init" in pathlib.Path(PROGRAM).read_bytes()
VERSION = tap.output(PROGRAM, "-v").stdout
CALLS, FILES = "calls are filtered" in VERSION, "files are filtered" in VERSION
LEARNT = ["-b", "--view", "alerts", "--threshold", "call.latency p50 > 2 x usual"]


def uid_of(name):
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


NOBODY, DAEMON = uid_of("nobody") or 65534, uid_of("daemon")
# name: (environment, arguments, who reads, who owns)
WAYS = {
    "sudo": ({"SUDO_UID": str(SUDO), "SUDO_GID": str(SUDO)}, [], SUDO, SUDO),
    "root": ({}, [], NOBODY, 0),
    "--user with a name": ({}, ["--user", "daemon"], DAEMON, DAEMON),
    "--user with a number, by sudo": ({"SUDO_UID": str(SUDO)}, ["--user", str(OTHER)], OTHER, OTHER),
    "--user nobody, by sudo": ({"SUDO_UID": str(SUDO)}, ["--user", "nobody"], NOBODY, SUDO),
    "--user root, by sudo": ({"SUDO_UID": str(SUDO)}, ["--user", "root"], 0, 0),
}
# name: (arguments, mode of OUT); OUT is in the home directory of root.
COMMANDS = {
    "-b": (["-b", "--no-cache", "--view", "cpus", "TRACE"], None),
    "-b --log": (["-b", "--no-cache", "--view", "cpus", "--log", "OUT", "TRACE"], 0o644),
    "-b --metrics-file": (["-b", "--no-cache", "--view", "cpus", "--metrics-file", "OUT", "TRACE"], 0o644),
    "-b --save-baseline": ([*LEARNT, "--no-cache", "--save-baseline", "NAME", "KERNEL"], 0o644),
    "-b, cached": (["-b", "--view", "cpus", "--cache-after", "0", "TRACE"], None),
    "log": (["log", "TRACE"], None),
    "--doctor": (["--doctor", "TRACE"], None),
    "an export": (["--export-slowest", "3", "--format", "zipkin", "-o", "OUT", "TRACE"], 0o644),
    "report": (["report", "-o", "OUT", "TRACE"], 0o644),
    "save": (["save", "-o", "OUT", "TRACE"], 0o700),
    "map": (["map", "-o", "OUT", "TRACE"], 0o644),
    "reduce": (["reduce", "-o", "OUT", "SLICE"], 0o644),
    "--screenshot": (["--no-cache", "--config", "none", "--screenshot", "OUT.svg", "TRACE"], 0o644),
}


def own(path, uid=0, mode=None):
    os.chown(path, uid, uid, follow_symlinks=False)
    if mode is not None:
        os.chmod(path, mode)
    return path


def close_all_to_others(top):
    for path in [top, *pathlib.Path(top).rglob("*")]:
        own(path, 0, 0o700 if os.path.isdir(path) else 0o600)


def first(words, problems):
    return [f"{words}: {problem}" for problem in problems]


class World:
    """Root's home, with traces that only root can read. Its parent can be searched by all."""

    def __init__(self, top):
        self.top = own(top, 0, 0o755)
        self.home = own(self.make("home"), 0, 0o700)
        self.trace, self.slice = self.home + "/trace", self.home + "/s.blkslice"
        shutil.copytree(TRACES + "/nested", self.trace)
        shutil.copytree(TRACES + "/kernel-small", self.home + "/kernel")
        subprocess.run([PROGRAM, "map", "-o", self.slice, self.trace], check=True, stderr=subprocess.DEVNULL)
        close_all_to_others(self.home)
        self.n = 0

    def make(self, name):
        path = f"{self.top}/{name}"
        os.makedirs(path)
        return path

    def environment(self, more=(), **settings):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SUDO_", "XDG_"))}
        return {**clean, "HOME": self.home, "TMPDIR": self.top, "TERM": "xterm-256color", **dict(more), **settings}

    def arguments(self, words, state):
        """With a new name for OUT."""
        self.n += 1
        out = f"{self.home}/out-{self.n}"
        names = {"OUT": out, "NAME": f"out-{self.n}", "OUT.svg": out + ".svg", "TRACE": self.trace, "KERNEL": self.home + "/kernel", "SLICE": self.slice}
        if "NAME" in words:
            out = f"{state}/blktop/baselines/out-{self.n}"
        return [names.get(w, w) for w in words], out + ".svg" if "OUT.svg" in words else out


# ---- processes ----

class Gone(Exception):
    pass


def status_of(path):
    try:
        with open(f"{path}/status", encoding="utf-8") as f:
            lines = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    except (OSError, ValueError) as error:
        raise Gone from error
    lines["Groups"] = lines.get("Groups", "").strip()
    return lines


def children_of(pid):
    """name -> pid"""
    found = {}
    for entry in os.scandir("/proc"):
        with contextlib.suppress(Gone):
            if entry.name.isdigit():
                status = status_of(entry.path)
                if status["PPid"].strip() == str(pid):
                    found[status["Name"].strip()] = int(entry.name)
    return found


def not_dropped(status, uid):
    """What the process still has that it should not."""
    wanted = {"Uid": [str(uid)] * 4, "Groups": [], **({"CapEff": ["0" * 16], "CapPrm": ["0" * 16]} if uid else {})}
    if uid:
        wanted["Gid"] = [str(uid) if uid in (SUDO, OTHER) else str(pwd.getpwuid(uid).pw_gid)] * 4
    else:
        del wanted["Groups"]
    return [f"{key} {status[key]}" for key, value in wanted.items() if status[key].split() != value]


def look(pid, uid):
    """(is it isolated?, what is wrong) of all its threads, and of its processes."""
    problems = set()
    if status_of(f"/proc/{pid}")["Seccomp"].strip() != "2":
        return False, problems
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(Gone):
            problems.update(f"a thread: {p}" for p in not_dropped(status_of(f"/proc/{pid}/task/{task}"), uid))
    return True, problems


def until_beside(pid, uid, connects):
    """The last of what is wrong beside it: processes take their names and users after they were forked."""
    until(lambda: not look_beside(pid, uid, connects), pid)
    return look_beside(pid, uid, connects)


def look_beside(pid, uid, connects):
    """The file helper is root, and the connector is the user that reads."""
    wanted, problems = {"blk-files": 0, **({"blk-connector": uid} if connects else {})}, []
    until(lambda: set(children_of(pid)) == set(wanted), pid)  # a process has its name some time after it was forked
    children = children_of(pid)
    problems += [f"no process {name}: {children}" for name in wanted if name not in children]
    for name, child in children.items():
        status = status_of(f"/proc/{child}")
        if status["Uid"].split() != [str(wanted.get(name, -1))] * 4:
            problems.append(f"{name}: Uid {status['Uid']}")
        if name == "blk-connector":
            problems += first(name, not_dropped(status, uid))
    return problems


class Blocked:
    """A pipe that is full: who writes to it waits, until it is drained."""

    def __init__(self):
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.writes, False)
        self.filler = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                self.filler += os.write(self.writes, b"x" * FULL)
        os.set_blocking(self.writes, True)

    def drain(self):
        """All that was written, until the others have closed it."""
        text = b""
        while select.select([self.reads], [], [], LIMIT)[0] and (got := os.read(self.reads, FULL)):
            text += got
        os.close(self.reads)
        return text[self.filler:].decode("utf-8", "replace")


def watched(command, env, uid):
    """Runs it, and looks at it while it waits to say something: (exit status, what it printed, problems)."""
    pipe, problems, isolated = Blocked(), [], False
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=pipe.writes, stderr=pipe.writes) as process:
        os.close(pipe.writes)
        end = time.monotonic() + LIMIT
        with contextlib.suppress(Gone):
            while not isolated and time.monotonic() < end:
                isolated, wrong = look(process.pid, uid)
                problems += wrong
            problems += until_beside(process.pid, uid, False)
            for _ in range(20):                         # meanwhile it reads
                problems += look(process.pid, uid)[1]
        text = pipe.drain()
        code = process.wait(LIMIT)
    return code, text, problems + ([] if isolated else ["it was never isolated"])


def until(condition, pid=None):
    """Polls. False: it did not come true."""
    end = time.monotonic() + LIMIT
    while not (found := condition()) and time.monotonic() < end and (pid is None or os.path.exists(f"/proc/{pid}")):
        time.sleep(0.01)
    return found


def until_isolated(pid, uid, connects=False):
    """What is wrong with it once it reads."""
    def isolated():
        try:
            return look(pid, uid)[0]
        except Gone:
            return False

    if not until(isolated, pid):
        return ["it was never isolated"]
    try:
        return [*look(pid, uid)[1], *until_beside(pid, uid, connects)]
    except Gone:
        return ["it has ended"]


def owners(path, uid, mode):
    """What is wrong with the file, or with all in the directory."""
    if not os.path.lexists(path):
        return [f"{path}: it was not made"]
    problems = []
    for p in [path, *map(str, pathlib.Path(path).rglob("*"))]:
        st = os.lstat(p)
        is_dir = stat.S_ISDIR(st.st_mode)
        wanted = mode if p == path else 0o700 if is_dir else 0o600
        if st.st_uid != uid or (wanted is not None and stat.S_IMODE(st.st_mode) != wanted):
            problems.append(f"{p}: owner {st.st_uid}, mode {stat.S_IMODE(st.st_mode):o}, and not {uid}, {wanted}")
    return problems


# ---- commands that end ----

def commands(w):
    """Each command, in each way."""
    for way, (env, more, reads, owner) in WAYS.items():
        if reads is None:
            tap.skip(way, "there is no such user")
            continue
        problems, made = [], []
        cache, state = (own(w.make(f"{what}-{owner}-{reads}"), 0, 0o755) for what in ("cache", "state"))
        for name, (words, mode) in COMMANDS.items():
            some, out = w.arguments(words, state)
            code, text, wrong = watched([PROGRAM, *some, *more], w.environment(env, XDG_CACHE_HOME=cache, XDG_STATE_HOME=state), reads)
            problems += first(name, wrong)
            if code != (3 if name == "--doctor" else 0) or not (text or mode):
                made.append(f"{name}: exit status {code}, {text[-300:]}")
            if mode is not None:
                made += first(name, owners(out, owner, mode))
        tap.ok(f"{way}: {len(COMMANDS)} commands read as user {reads}, in every thread; the file helper is root", problems)
        tap.ok(f"{way}: they read what only root can read, and what they make belongs to user {owner}", made)
        tap.ok(f"{way}: so does the cache, which nobody else can read",
               owners(cache + "/blktop", owner, 0o700) + ([] if len(os.listdir(cache + "/blktop")) else ["nothing is cached"]))


def refusals(w):
    """--user: what cannot be."""
    def check(name, says, *command, as_user=()):
        r = tap.output(*as_user, *command, env=w.environment())
        tap.ok(name, [] if r.returncode == 1 and not r.stdout and says in r.stderr and len(r.stderr.splitlines()) == 1 else
               [r.returncode, r.stdout, r.stderr])

    check("--user of nobody that exists", "there is no user 'nosuch' for --user", PROGRAM, "-b", "--user", "nosuch", w.trace)
    check("--user -1", "there is no user '-1' for --user", PROGRAM, "-b", "--user=-1", w.trace)
    check("--user, and nothing", "there is no user '' for --user", PROGRAM, "-b", "--user=", w.trace)
    check("--user with --no-isolation: it would be root", "needs isolation", PROGRAM, "-b", "--user", "daemon", "--no-isolation", w.trace)
    if tap.others_run(PROGRAM):
        for name in ("daemon", "root"):
            check(f"--user {name}, by another user", "--user needs root", PROGRAM, "-b", "--user", name, TRACES + "/nested",
                  as_user=("setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"))
    else:
        tap.skip("--user, by another user", tap.NOT_OTHERS)


def descriptions(w):
    """-v and --doctor say who reads."""
    trace = TRACES + "/nested"
    for what, env, more, says in (
            ("root", {}, [], rf"user: traces are read as \S+ \({NOBODY}\), not as root; files that are made belong to root \(0\)"),
            ("sudo", WAYS["sudo"][0], [], f"user: traces are read as user {SUDO}, not as root; files that are made belong to user {SUDO}"),
            ("--user root", {}, ["--user", "root"], r"user: traces are read as root \(0\)$"),
            ("--no-isolation", {}, ["--no-isolation"], r"user: traces are read as root \(0\)$")):
        said = [tap.output(PROGRAM, *more, *words, env=w.environment(env)).stdout for words in (["-v"], ["--doctor", trace])]
        tap.ok(f"{what}: -v and --doctor say as which user traces are read",
               [text for text in said if not re.search("^" + says, text, re.M)])


LANDLOCK = tap.output(PROGRAM, "-v").stdout
READS_ALL = f"{1 << 2:016x}"  # CAP_DAC_READ_SEARCH alone


def babeltrace2(w):
    """Its library opens files itself."""
    trace = w.make("bt2") + "/t"
    shutil.copytree(TRACES + "/kernel-small", trace)
    command = [PROGRAM, "-b", "--no-cache", "--view", "cpus", "--reader", "babeltrace2"]
    metadata, *_ = pathlib.Path(trace).rglob("metadata")
    stream = next(p for p in metadata.parent.iterdir() if p.is_file() and p != metadata)
    for what, mode, path in (("a directory", 0o700, metadata.parent), ("metadata", 0o600, metadata), ("a stream", 0o600, stream)):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        r = tap.output(*command, trace, env=w.environment())
        if "files are filtered" in LANDLOCK:  # then the process may read what root may, within the trace
            tap.ok(f"babeltrace2, {what} that only root can read", [] if r.returncode == 0 and r.stdout else [r.returncode, r.stderr])
        else:
            tap.ok(f"babeltrace2, {what} that only root can read: the message says who tried, and what to do",
                   [] if r.returncode == 1 and str(path) in r.stderr and f"({NOBODY})" in r.stderr and "--user root" in r.stderr
                   else [r.returncode, r.stderr])
        path.chmod(before)
    code, text, problems = watched([*command, trace], w.environment(), NOBODY)
    problems = [p for p in problems if not p.split()[-1].endswith(READS_ALL)]
    tap.ok("babeltrace2: what all can read is read as nobody", problems + ([] if code == 0 and text else [code, text]))
    close_all_to_others(trace)
    code, text, problems = watched([*command, "--user", "root", trace], w.environment(), 0)
    tap.ok("babeltrace2 --user root reads it", problems + ([] if code == 0 and text else [code, text]))


def containers(w):
    """A user namespace that has only one user."""
    if not shutil.which("unshare") or tap.output("unshare", "-r", "true").returncode:
        tap.skip("a container with one user", "no user namespaces can be made")
        return
    public = own(w.make("public"), OTHER, 0o755)
    who = {"root": [], "another user": ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]}
    for name, before in who.items():
        if before and not tap.others_run(PROGRAM):
            tap.skip(f"a container of {name}", tap.NOT_OTHERS)
            continue
        trace = TRACES + "/nested" if before else w.trace
        out = f"{public if before else w.home}/contained.json"
        env = w.environment(HOME=public if before else w.home)
        pipe = Blocked()
        with subprocess.Popen([*before, "unshare", "-r", PROGRAM, "--export-slowest", "2", "-o", out, trace], env=env,
                              stdin=subprocess.DEVNULL, stdout=pipe.writes, stderr=pipe.writes) as process:
            os.close(pipe.writes)
            # The message is the first thing that it says, so it may not have entered the filters yet.
            until(functools.partial(capabilities_gone, process.pid), process.pid)
            gone = capabilities_gone(process.pid)
            text = pipe.drain()
            code = process.wait(LIMIT)
        problems = [] if gone else ["it has capabilities"]
        problems += [] if code == 0 and text.count("traces are read as root, without capabilities") == 1 and "has no such user" in text else [code, text]
        tap.ok(f"a container of {name}, without another user: it works without capabilities, and says so",
               problems + owners(out, OTHER if before else 0, 0o644))
        said = tap.output(*before, "unshare", "-r", PROGRAM, "-v", env=env).stdout
        tap.ok(f"a container of {name}: -v says so", [] if re.search(r"^user: .*root \(0\), without capabilities", said, re.M) else [said])


def capabilities_gone(pid):
    try:
        status = status_of(f"/proc/{pid}")
    except Gone:
        return False
    return status["Name"].strip() == "blktop" and int(status["CapEff"], 16) == 0 == int(status["CapPrm"], 16)


# ---- commands that go on ----

class Screen:
    """The program on a terminal, in a directory."""

    def __init__(self, env, directory, *arguments):
        self.out, self.at = b"", 0
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(directory)
            os.execve(PROGRAM, [PROGRAM, *arguments], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))

    def read(self):
        if not select.select([self.fd], [], [], 0.05)[0]:
            return True
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            got = b""
        self.out += got
        return bool(got)

    def wait_for(self, *texts):
        """One of them, since the last one that was found. Returns what is wrong."""
        end = time.monotonic() + LIMIT
        while True:
            found = [at for at in (self.out.find(text, self.at) for text in texts) if at >= 0]
            if found:
                self.at = min(found) + 1
                return []
            if time.monotonic() > end or not self.read():
                return [f"{texts} does not come; last of all {self.out[self.at:][-600:]!r}"]

    def until(self, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end or not self.read():
                return ["it did not come true"]
        return []

    def keys(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Returns what is wrong."""
        with contextlib.suppress(OSError):
            self.keys("q")
        end = time.monotonic() + LIMIT
        while self.read():
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return [] if code == 0 else [f"exit status {code}", self.out[-600:]]


def screens(w):
    """The screen: its settings, typed lines, bookmarks."""
    for way in ("sudo", "root"):
        env, more, reads, owner = WAYS[way]
        base = own(w.make("screen-" + way), 0, 0o700)
        env = w.environment(env, XDG_CONFIG_HOME=base + "/config", XDG_STATE_HOME=base + "/state", XDG_CACHE_HOME=base + "/cache")
        s = Screen(env, w.home, *more, w.trace)
        problems = s.wait_for(b"F2", b"q:", b"quit") + until_isolated(s.pid, reads)
        tap.ok(f"{way}: the screen reads as user {reads}", problems)
        s.keys("W")
        problems = s.until(lambda b=base: os.path.exists(b + "/config/blktop/blktoprc"))
        s.keys("/needle\r\x1b")
        s.keys("mnote\r")
        problems += s.until(lambda b=base: os.path.isdir(b + "/state/blktop/bookmarks") and os.listdir(b + "/state/blktop/bookmarks"))
        problems += s.end()
        for path, mode in (("config/blktop", 0o700), ("state/blktop", 0o700)):
            problems += [p for p in owners(f"{base}/{path}", owner, mode) if "blktoprc: " not in p]
        problems += owners(base + "/config/blktop/blktoprc", owner, 0o644)
        problems += owners(base + "/state/blktop/history", owner, 0o600)
        tap.ok(f"{way}: settings, typed lines and bookmarks belong to user {owner}", problems)


def servers(w):
    """--listen, until it has answered."""
    for way in ("sudo", "root"):
        env, more, reads, _ = WAYS[way]
        with subprocess.Popen([PROGRAM, *more, "-b", "--no-cache", "--listen", "127.0.0.1:0", w.trace], env=w.environment(env),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
            text = ""
            for line in server.stderr:
                text += line
                if found := re.search(r"http://\S+/metrics", line):
                    break
            if not found:
                tap.skip(f"{way}: --listen", "this build cannot listen") if "libsoup" in text else tap.ok(f"{way}: --listen", [text])
                server.kill()
                continue
            problems = until_isolated(server.pid, reads)
            with urllib.request.urlopen(found[0], timeout=LIMIT) as answer:
                problems += [] if b"blktop" in answer.read() else ["no metrics"]
            server.send_signal(signal.SIGTERM)
            problems += [] if server.wait(LIMIT) in (0, 128 + signal.SIGTERM) else [server.returncode]
        tap.ok(f"{way}: what serves metrics is user {reads}", problems)


@functools.cache
def transcript():
    return Transcript(TRACES + "/viewer/ctf-2.transcript.xz")


def url_of(relay):
    _, _, host, name = next(iter(relay.transcript.sessions.values()))
    return f"net://127.0.0.1:{relay.port}/host/{host.decode()}/{name.decode()}"


def live(w):
    """A relay's session: the viewer, what connects, the spool."""
    for way in ("sudo", "root", "--user root, by sudo"):
        env, more, reads, owner = WAYS[way]
        spool = f"{w.home}/spool-{owner}-{reads}"
        relay = Replay(transcript(), stays=True)
        # pylint: disable=consider-using-with
        viewer = subprocess.Popen([PROGRAM, *more, "-b", "--view", "events", "--spool", spool, url_of(relay)], env=w.environment(env),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        problems = until_isolated(viewer.pid, reads, True)
        until(lambda s=spool: list(pathlib.Path(s).rglob("*.idx")), viewer.pid)
        with contextlib.suppress(Gone):
            problems += look(viewer.pid, reads)[1]
        viewer.send_signal(signal.SIGTERM)
        viewer.wait(LIMIT)
        relay.close()
        tap.ok(f"{way}: what reads from a relay, and what connects, is user {reads}", problems)
        tap.ok(f"{way}: the spool belongs to user {owner}, and nobody else can read it",
               owners(spool, owner, 0o700) + ([] if list(pathlib.Path(spool).rglob("*.idx")) else ["there is no packet"]))


# ---- directories ----

DIRECTORIES = {
    "of the user": None,
    "in a sticky directory, as /tmp is": None,
    "new, in a sticky directory": None,
    "new, in new ones": None,
    "writable by all": "others can write it",
    "writable by a group": "others can write it",
    "of another user": "belongs to another user",
    "a link": "is a link",
    "in a directory that all can write": "others can replace it",
    "in a directory that a group can write": "others can replace it",
    "in a directory of another user": "others can replace it",
    "deep in a directory that all can write": "others can replace it",
}
SLASHED = {"a link, with a slash at its end": "is a link", "a link, with /.": "is a link"}


def prepared(top, kind):
    """Makes such a directory, or only its place. Its name is blktop."""
    parent = top + "/in"
    if kind == "new, in new ones":
        return parent + "/blktop"
    if kind.startswith("deep"):
        own(top, 0, 0o777)
    os.mkdir(parent)
    own(parent, OTHER if kind == "in a directory of another user" else 0,
        0o1777 if "sticky" in kind else 0o777 if kind == "in a directory that all can write" else
        0o775 if kind == "in a directory that a group can write" else 0o755)
    if kind == "in a directory that a group can write":
        os.chown(parent, 0, OTHER)
    path = parent + "/blktop"
    if kind.startswith("a link"):
        os.mkdir(top + "/real")
        os.symlink(top + "/real", path)
        return path + ("/" if "slash" in kind else "/." if "/." in kind else "")
    if not kind.startswith("new"):
        os.mkdir(path)
        own(path, OTHER if kind == "of another user" else 0, {"writable by all": 0o777, "writable by a group": 0o775}.get(kind, 0o700))
    return path


def spooled(w, path, *more):
    relay = Replay(transcript())
    r = tap.output(PROGRAM, *more, "-b", "--view", "events", "--spool", path, url_of(relay), env=w.environment(), timeout=LIMIT)
    relay.close()
    return r.stderr, bool(list(pathlib.Path(path).rglob("*.idx")))


def cached(w, path):
    w.n += 1
    log = f"{w.home}/log-{w.n}"
    r = tap.output(PROGRAM, "-b", "--view", "cpus", "--cache-after", "0", "--log", log, w.trace,
                   env=w.environment(XDG_CACHE_HOME=os.path.dirname(path)))
    said = pathlib.Path(log).read_text("utf-8")
    return said if r.returncode == 0 and r.stdout else r.stderr, os.path.isdir(path) and any(p.is_file() for p in pathlib.Path(path).iterdir())


def stated(w, path):
    """The state directory: typed lines."""
    log = f"{w.home}/log-{os.path.basename(os.path.dirname(os.path.dirname(path)))}"
    env = w.environment(XDG_STATE_HOME=os.path.dirname(path), XDG_CONFIG_HOME=w.home + "/config")
    s = Screen(env, w.home, "--no-cache", "--log", log, w.trace)
    problems = s.wait_for(b"F2", b"q:", b"quit")
    s.keys("/needle\r\x1b")
    problems += s.end()
    return pathlib.Path(log).read_text("utf-8") + "".join(map(str, problems)), os.path.exists(path + "/history")


def mapped(w, path):
    source = f"{os.path.dirname(os.path.dirname(path.rstrip('/.')))}/archives"
    os.mkdir(source)
    for chunk in sorted(glob.glob(ROTATED + "/archives/*"), key=number)[:2]:        # the last one waits for the next
        shutil.copytree(chunk, f"{source}/{os.path.basename(chunk)}")
    # pylint: disable=consider-using-with
    process = subprocess.Popen([PROGRAM, "map", "--watch", "-o", path, source], env=w.environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: process.poll() is not None or (os.path.isdir(path) and list(pathlib.Path(path).glob("*.blkslice"))))
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=LIMIT)[1], os.path.isdir(path) and bool(list(pathlib.Path(path).glob("*.blkslice")))


def directories(w):
    """Each kind of directory, in each use."""
    for use, how, more_kinds in (("--spool", spooled, SLASHED), ("map --watch -o", mapped, SLASHED), ("the cache", cached, {}),
                                 ("the state directory", stated, {})):
        problems = []
        kinds = {**DIRECTORIES, **more_kinds}
        for i, (kind, why) in enumerate(kinds.items()):
            top = own(w.make(f"{how.__name__}-{i}"), 0, 0o755)
            path = prepared(top, kind)
            said, stored = how(w, path)
            if stored == bool(why) or (why and why not in said) or (not why and "cannot use" in said):
                problems.append(f"{kind}: {'stored' if stored else 'not stored'}, {said}")
            if why and kind != "a link" and os.path.isdir(path) and os.listdir(path):
                problems.append(f"{kind}: it has {os.listdir(path)}")
        tap.ok(f"{use}: {len(kinds)} kinds of directories, those that others control are refused", problems)


def planted(w):
    """A run of an earlier time that another user made in the spool; its chunk leads elsewhere."""
    for name, more in (("--no-isolation", ["--no-isolation"]), ("isolated", [])):
        for how in ("the spool is another user's", "the spool is the user's"):
            top = own(w.make(f"planted-{len(more)}-{len(how)}"), 0, 0o755)
            victim = top + "/victim/tr"
            os.makedirs(victim + "/index")
            pathlib.Path(victim + "/stream_0").write_bytes(b"v" * 100000)
            index = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72) + struct.pack(">9Q", 0, 4096 * 8, 4096 * 8, 1, 2, 0, 0, 0, 0)
            pathlib.Path(victim + "/index/stream_0.idx").write_bytes(index)
            spool = top + "/spool"
            os.makedirs(spool + "/evil")
            pathlib.Path(spool + "/evil/.blktop-spool").touch()
            os.symlink(top + "/victim", spool + "/evil/00000001")
            if "another" in how:
                own(spool, OTHER, 0o777)
                own(spool + "/evil", OTHER)
            said, stored = spooled(w, spool, *more)
            problems = [] if pathlib.Path(victim + "/stream_0").read_bytes() == b"v" * 100000 else ["the file outside was changed"]
            problems += [] if pathlib.Path(victim + "/index/stream_0.idx").read_bytes() == index else ["the index outside was changed"]
            problems += [] if stored != ("another" in how) else [said]
            tap.ok(f"{name}, {how}: a link in it is not followed", problems)


# ---- files that are made on the screen ----

class Saving:
    """Key s of the screen: saves the view."""

    def __init__(self, screen):
        self.screen = screen

    def ask(self, name, *answers):
        self.screen.at = len(self.screen.out)
        self.screen.keys("s")
        problems = self.screen.wait_for(b"save as")
        self.screen.keys("\x15" + name + "\r")
        return problems + self.screen.wait_for(*answers)

    def again(self, *answers):
        self.screen.at = len(self.screen.out)
        self.screen.keys("\r")
        return self.screen.wait_for(*answers)

    def leave(self):
        """An escape, and what follows, would be one key."""
        self.screen.at = len(self.screen.out)
        self.screen.keys("\x15\r")
        return self.screen.wait_for(b"nothing saved")


def exports(w):
    """In the directory in which it was started: new files only, except for those that it made."""
    for way in ("sudo", "root", "--user with a name"):
        env, more, reads, owner = WAYS[way]
        if reads is None:
            tap.skip(f"{way}: exports", "there is no such user")
            continue
        start = own(w.make(f"start-{owner}-{reads}"), 0, 0o700)
        elsewhere = own(w.make(f"elsewhere-{owner}-{reads}"), reads, 0o777)
        foreign = {start + "/.bashrc": None, start + "/notes.txt": b"mine"}
        for path, text in foreign.items():
            if text:
                pathlib.Path(path).write_bytes(text)
                own(path, reads, 0o666)
        base = own(w.make(f"settings-{owner}-{reads}"), 0, 0o700)
        s = Screen(w.environment(env, XDG_CONFIG_HOME=base, XDG_STATE_HOME=base), start, *more, "--no-cache", w.trace)
        problems = s.wait_for(b"F2", b"q:", b"quit")
        save = Saving(s)
        problems += save.ask("new.csv", b"wrote")
        tap.ok(f"{way}: a new file in the start directory", problems + owners(start + "/new.csv", owner, 0o644))
        before = os.stat(start + "/new.csv").st_ino
        problems = save.ask("new.csv", b"overwrites it")
        problems += [] if os.stat(start + "/new.csv").st_ino == before else ["it was replaced at once"]
        problems += save.again(b"wrote")
        problems += [] if os.stat(start + "/new.csv").st_ino != before else ["it was not replaced"]
        tap.ok(f"{way}: its own export is replaced with the second Enter", problems + owners(start + "/new.csv", owner, 0o644))
        problems = save.ask("notes.txt", b"overwrites it") + save.again(b"no-isolation") + save.leave()
        problems += [] if pathlib.Path(start + "/notes.txt").read_bytes() == b"mine" else ["it was changed"]
        tap.ok(f"{way}: a file that it did not make is not replaced, with the second Enter either", problems)
        problems = []
        for what, name in (("a name that begins with a dot", ".bashrc"), ("another directory", elsewhere + "/x.csv"),
                           ("a directory above", f"../{os.path.basename(elsewhere)}/x.csv"), ("a directory below", "sub/x.csv")):
            os.makedirs(start + "/sub", exist_ok=True)
            problems += first(what, save.ask(name, b"no-isolation") + save.leave())
        left = sorted(os.listdir(start)) + os.listdir(elsewhere) + os.listdir(start + "/sub")
        tap.ok(f"{way}: other names and directories are refused, the message has --no-isolation",
               problems + ([] if left == ["new.csv", "notes.txt", "sub"] else left))
        s.at = len(s.out)
        s.keys("e")
        problems = s.until(lambda d=start: list(pathlib.Path(d).glob("*.json")))
        problems += s.end()
        made = [str(p) for p in pathlib.Path(start).glob("*.json")]
        tap.ok(f"{way}: a span's export belongs to user {owner}", problems + [p for path in made for p in owners(path, owner, 0o644)])


def main():
    if os.geteuid() != 0:
        print("1..0 # SKIP only root can become another user")
        return
    if SANITIZED or not CALLS or not FILES:
        print("1..0 # SKIP this build or kernel does not isolate blktop")
        return
    os.umask(0o022)
    some = sys.argv[1:]                 # names of functions; none: all
    with tempfile.TemporaryDirectory() as top:
        w = World(top)
        for part in (refusals, descriptions, commands, babeltrace2, containers, servers, live, screens, exports, directories, planted):
            if not some or part.__name__ in some:
                part(w)
    tap.done()


if __name__ == "__main__":
    main()
