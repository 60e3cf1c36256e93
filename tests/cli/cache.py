#!/usr/bin/env python3
"""The cache: what was read once is read from the cache directory the next time, and prints the same bytes as without it.
What is stale, foreign, damaged, cut off, half written or of another run is not used, whatever happens to the writing process."""
import glob
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from views_of import ALL, PROGRAM, TRACES, views  # noqa: E402

SEED = os.environ.get("SEED", str(random.randrange(10**6)))
# Views of all: of spans, and of few kinds of cells; where losses count; names.
VIEWS = ["losses", "syscalls", "files", "spans", "slow"]
RULES = "[read]\nbegin=syscall_entry_read\nend=syscall_exit_read\n"
KILLS = 16
FLIPS = 12


class Lab:
    """A copy of a trace that is old enough to be cached, and a cache directory."""

    def __init__(self, work, trace="kernel-ust"):
        self.work = work
        self.trace = os.path.join(work, "trace")
        self.home = os.path.join(work, "cache")
        self.dir = os.path.join(self.home, "blktop")
        self.log = os.path.join(work, "log")
        shutil.copytree(f"{TRACES}/{trace}/trace", self.trace)
        self.age(3600)

    def age(self, seconds):
        for where, _, names in os.walk(self.trace):
            for name in names:
                then = time.time() - seconds
                os.utime(os.path.join(where, name), (then, then))

    def command(self, *arguments, after=0):
        return [PROGRAM, "--cache-after", str(after), "--log", self.log, "--log-level", "debug", "--utc", *arguments, self.trace]

    def environment(self):
        return dict(os.environ, XDG_CACHE_HOME=self.home)

    def run(self, *arguments, view="syscalls", **kw):
        """What it prints (status, output), and what the log says about the cache."""
        if os.path.exists(self.log):
            os.unlink(self.log)
        after = kw.pop("after", 0)
        words = arguments if "-b" in arguments or view is None else ("-b", "--view", view, "--format", "csv", *arguments)
        r = tap.output(*self.command(*words, after=after), env=self.environment(), **kw)
        with open(self.log, encoding="utf-8") as f:
            said = re.findall(r"cache: (.*?), \d+ events to", f.read())
        return (r.returncode, r.stdout), said[-1] if said else ""

    def plain(self, *arguments, view="syscalls"):
        return tap.output(PROGRAM, "--no-cache", "--utc", "-b", "--view", view, "--format", "csv", *arguments, self.trace,
                          env=self.environment())

    def files(self):
        return sorted(glob.glob(self.dir + "/*"))

    def clear(self):
        shutil.rmtree(self.home, ignore_errors=True)


def expect(name, lab, want, says, got):
    """The run printed what is wanted, and the log says so."""
    (result, said) = got
    tap.ok(name, ([] if result == want else ["other output"]) + ([] if says in said else [f"the log says '{said}'"]))


def same_as(r):
    return (r.returncode, r.stdout)


def cut(slices):
    """--slices 1 would be read as it comes, without slices."""
    return ["--slices", str(slices)] if slices > 1 else []


def check_views(trace, slices):
    """Every view: stored, read, and read from what a view with all kinds of cells has stored."""
    with tempfile.TemporaryDirectory() as work:
        lab = Lab(work, trace)
        problems = []
        want = {v: same_as(lab.plain(view=v)) for v in VIEWS}
        for v in VIEWS:
            first, said = lab.run(*cut(slices), view=v)
            if first != want[v] or not ("stored in" in said or "read from" in said):
                problems.append(f"{v}: first run: {said}")
            again, said = lab.run(view=v)
            if again != want[v] or "read from" not in said:
                problems.append(f"{v}: second run: {said}")
        tap.ok(f"{trace}: stored in {slices} pieces and read, {len(VIEWS)} views are the same", problems)
        lab.clear()
        lab.run(*cut(slices), view="spans")
        n, problems = len(lab.files()), []
        for v in VIEWS:
            if v == "counters":     # events are counted by thread: another model
                continue
            again, said = lab.run("-j1", view=v)
            if again != want[v] or "read from" not in said:
                problems.append(f"{v}: {said}")
        tap.ok(f"{trace}: what has all serves views of less", problems + ([] if len(lab.files()) == n == 1 else lab.files()))


def check_options(lab):
    """What changes the model has files of its own."""
    rules = os.path.join(lab.work, "rules")
    with open(rules, "w", encoding="ascii") as f:
        f.write(RULES)
    lab.clear()
    several = [(), ("--step", "100ms", "--each"), ("--spans", rules), ("--align-hosts",), ("--machine", "arm64")]
    problems = []
    for arguments in several * 2:
        want = same_as(lab.plain(*arguments, view="spans"))
        got, said = lab.run(*arguments, view="spans")
        if got != want or not ("stored in" in said or "read from" in said):
            problems.append(f"{arguments}: {said}")
    tap.ok("steps, rules, clocks: each prints what it prints without a cache", problems)
    tap.ok("and has files of its own", [] if 4 <= len(lab.files()) <= 6 else lab.files())
    with open(rules, "a", encoding="ascii") as f:
        f.write("name=other\n")
    want = same_as(lab.plain("--spans", rules, view="spans"))
    expect("other rules in the same file: read again", lab, want, "stored in", lab.run("--spans", rules, view="spans"))


def check_limits(lab):
    """What is not stored."""
    want = same_as(lab.plain())
    lab.clear()
    tap.ok("a short reading is not stored", [] if lab.run(after=60000) == (want, "") and not lab.files() else lab.files())
    lab.age(-3600)      # as if written just now, however long this takes
    tap.ok("nor a trace that may still be written", [] if lab.run() == (want, "") and not lab.files() else lab.files())
    lab.age(3600)
    r = lab.plain()
    tap.ok("nor anything with --no-cache", [] if same_as(r) == want and not lab.files() else lab.files())
    lab.run()
    modes = [oct(os.stat(p).st_mode & 0o777) for p in (lab.dir, *lab.files())]
    tap.ok("directory and file are the user's alone", [] if modes == ["0o700", "0o600"] else modes)
    for name, change in (("writable by others", lambda: os.chmod(lab.dir, 0o777)), ("a link", lambda: as_link(lab))):
        change()
        tap.ok(f"a directory that is {name} is not used", [] if lab.run() == (want, "") else ["it is"])
    lab.clear()
    with open(lab.home, "w", encoding="ascii"):
        pass
    tap.ok("nor is one that cannot be made an error", [] if lab.run() == (want, "") else ["it is"])
    os.unlink(lab.home)


def as_link(lab):
    os.chmod(lab.dir, 0o700)
    os.rename(lab.dir, lab.dir + "-real")
    os.symlink(lab.dir + "-real", lab.dir)


def check_changes(lab):
    """A trace that changes."""
    lab.clear()
    lab.run()
    stream = lab.trace + "/kernel/k0_0"
    then = time.time() - 1800
    os.utime(stream, (then, then))
    want = same_as(lab.plain())
    expect("another time of a stream: read again", lab, want, "have changed", lab.run())
    expect("and stored", lab, want, "read from", lab.run())
    stat = os.stat(stream)
    with open(stream, "r+b") as f:
        f.truncate(os.path.getsize(stream) // 2)
    os.utime(stream, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    want = same_as(lab.plain())
    expect("another size of a stream: read again", lab, want, "have changed", lab.run())
    with open(stream, "r+b") as f:
        f.seek(stat.st_size // 4)
        f.write(b"\xff" * 64)
    os.utime(stream, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    want = same_as(lab.plain())
    expect("other bytes of the same size and time: read again", lab, want, "have changed", lab.run())
    tap.ok("its file replaced the old one", [] if len(lab.files()) == 1 else lab.files())


def check_damage(lab, rng):
    """A file with other bytes is never believed."""
    want = {v: same_as(lab.plain(view=v)) for v in ("syscalls", "spans")}
    for view, slices in (("syscalls", 1), ("spans", 5)):
        lab.clear()
        lab.run(*cut(slices), view=view)
        path = lab.files()[0]
        whole = pathlib.Path(path).read_bytes()
        damaged = []
        for _ in range(FLIPS):
            at = rng.randrange(len(whole))
            damaged.append((f"byte {at}", whole[:at] + bytes([whole[at] ^ rng.randrange(1, 256)]) + whole[at + 1:]))
        for _ in range(FLIPS // 2):
            at = rng.randrange(len(whole))
            damaged += [(f"cut at {at}", whole[:at]), (f"zeros from {at}", whole[:at] + bytes(len(whole) - at))]
        damaged += [("empty", b""), ("longer", whole + b"\0"), ("twice", whole + whole)]
        problems = []
        for what, data in damaged:
            pathlib.Path(path).write_bytes(data)
            got, said = lab.run(view=view)
            if got != want[view]:
                problems.append(f"{what}: other output")
            if "is not used: " not in said and not (what.startswith("byte") and "read from" in said):
                problems.append(f"{what}: the log says '{said}'")
        tap.ok(f"{len(damaged)} damaged files of {slices} pieces: all print the same, and the log says why", problems)
        lab.run(view=view)
        expect("afterwards it is stored again", lab, want[view], "read from", lab.run(view=view))


def check_foreign(lab):
    """The file of another trace, under this one's name."""
    lab.clear()
    lab.run()
    path = lab.files()[0]
    with tempfile.TemporaryDirectory() as work:
        other = Lab(work, "kernel-small")
        other.run()
        shutil.copy(other.files()[0], path)
    expect("the file of another trace is not used", lab, same_as(lab.plain()), "have changed", lab.run())
    os.unlink(path)
    os.mkdir(path)
    expect("a directory in its place is no error", lab, same_as(lab.plain()), "not stored", lab.run())
    os.rmdir(path)
    os.mkfifo(path)
    expect("nor is a pipe", lab, same_as(lab.plain()), "stored in", lab.run())


def check_size(lab):
    """The oldest files are removed first."""
    lab.clear()
    lab.run()
    own = lab.files()
    for i, name in enumerate(("old", "older", "young")):
        path = os.path.join(lab.dir, name + ".blkcache")
        with open(path, "wb") as f:
            f.truncate(7 << 20)
        then = time.time() - {"old": 600, "older": 1200, "young": 60}[name]
        os.utime(path, (then, then))
    lab.run("--cache-size", "16M", view="spans")
    left = [os.path.basename(p) for p in lab.files()]
    tap.ok("the oldest files are removed", [] if len(left) == 4 and "older.blkcache" not in left else left)
    os.utime(own[0], (1, 1))
    lab.run()
    tap.ok("what is read becomes young", [] if os.stat(own[0]).st_mtime > 1000 else ["it stays old"])


def check_full(lab):
    """No room for the file: nothing is left behind."""
    want = same_as(lab.plain(view="spans"))
    lab.clear()
    lab.run("-b", "--view", "spans", "--format", "csv", "--slices", "3")	# the size depends a little on the slices
    size = os.path.getsize(lab.files()[0])
    problems = []
    for limit in (0, 1, 100, size // 2, size - 1):
        lab.clear()

        def bound(limit=limit):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        # the log file has this limit, too
        r = tap.output(PROGRAM, "--cache-after", "0", "--utc", "-b", "--view", "spans", "--format", "csv", "--slices", "3",
                       lab.trace, env=lab.environment(), preexec_fn=bound)
        if same_as(r) != want or lab.files():
            problems.append(f"{limit} bytes: {r.returncode}, {r.stderr}, {lab.files()}")
    tap.ok("a file that cannot grow: the output is the same, and nothing is left", problems)


def check_tmpfs(lab):
    """The same on a disk that is full."""
    want = same_as(lab.plain(view="spans"))
    lab.clear()
    os.makedirs(lab.home)
    script = ('mount -t tmpfs -o size=64k none "$1" && shift && fill=$1 && shift && dd if=/dev/zero of="$fill" bs=1k count=50 2>/dev/null && '
              '"$@"; echo $?; ls "$XDG_CACHE_HOME/blktop"')
    r = tap.output("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", lab.home, lab.home + "/fill",
                   PROGRAM, "--cache-after", "0", "--utc", "-b", "--view", "spans", "--format", "csv", lab.trace, env=lab.environment())
    if r.returncode or "mount" in r.stderr or "unshare" in r.stderr:
        tap.skip("a full disk", "no mounts in a namespace here")
        return
    tap.ok("a full disk: the output is the same, and nothing is left", [] if r.stdout == want[1] + f"{want[0]}\n" else [r.stdout[-200:]])


def check_two(lab):
    """Several processes write the same file."""
    want = same_as(lab.plain(view="spans"))
    problems = []
    for _ in range(2):
        lab.clear()
        running = [subprocess.Popen([PROGRAM, "--cache-after", "0", "--utc", "-b", "--view", "spans", "--format", "csv",
                                     "--slices", str(2 + i), lab.trace],
                                    stdout=subprocess.PIPE, text=True, env=lab.environment()) for i in range(4)]
        for p in running:
            out = p.communicate()[0]
            if (p.returncode, out) != want:
                problems.append("other output")
        got, said = lab.run(view="spans")
        if got != want or "read from" not in said or len(lab.files()) != 1:
            problems.append(f"afterwards: {said}, {lab.files()}")
    tap.ok("four processes at a time: each prints the same, one file is left", problems)


def check_kill(lab, rng):
    """Killed at any moment, the next run is right."""
    want = same_as(lab.plain(view="spans"))
    begin = time.monotonic()
    lab.clear()
    lab.run("--slices", "20", view="spans")
    lasts = time.monotonic() - begin
    problems, killed, left = [], 0, 0
    for _ in range(KILLS):
        if rng.random() < 0.7:
            for path in lab.files():
                if path.endswith(".blkcache"):
                    os.unlink(path)
        p = subprocess.Popen(lab.command("-b", "--view", "spans", "--slices", "20"), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=lab.environment())
        try:
            p.wait(lasts * rng.random())
        except subprocess.TimeoutExpired:
            p.kill()
            killed += 1
        p.wait()
        left += any("unfinished" in f for f in lab.files())
        if rng.random() < 0.5:
            got, said = lab.run(view="spans")
            if got != want or ("read from" not in said and "stored in" not in said):
                problems.append(said)
            if "stored in" in said and any("unfinished" in f for f in lab.files()):
                problems.append("an unfinished file is left")
    tap.ok(f"killed {killed} times, {left} times while it wrote: the next runs are right", problems)
    tap.ok("it was killed at all", [] if killed else ["never"])


def check_screen(lab):
    """The screen reads and writes the same files."""
    lab.clear()
    pictures = []
    for i, words in enumerate((["--no-cache"], [], [])):
        path = os.path.join(lab.work, f"{i}.svg")
        said = lab.run("--screenshot", path, "--config", "none", *words, view=None)[1] if not words else \
            tap.output(PROGRAM, "--no-cache", "--utc", "--screenshot", path, "--config", "none", lab.trace).stderr
        with open(path, encoding="utf-8") as f:      # how long reading took is on the line of DATA
            pictures.append((said, [line for line in f if "DATA" not in line]))
    tap.ok("the screen stores it", [] if "stored in" in pictures[1][0] else [pictures[1][0]])
    tap.ok("and reads it", [] if "read from" in pictures[2][0] else [pictures[2][0]])
    tap.ok("and looks the same", [] if pictures[0][1] == pictures[1][1] == pictures[2][1] else ["it does not"])
    expect("a printed view reads what the screen stored", lab, same_as(lab.plain(view="spans")), "read from", lab.run(view="spans"))


def main():
    global VIEWS
    VIEWS = views(VIEWS)
    rng = random.Random(SEED)
    print(f"# SEED={SEED}")
    for trace in ["demo", "lost", "thumb"] + (["kernel-ust", "rotation", "block", "containers", "thumb", "snapshot", "pause", "faults", "net"] if ALL else []):
        check_views(trace, rng.choice((1, 2, 5, 20)))
    with tempfile.TemporaryDirectory() as work:
        lab = Lab(work)
        check_options(lab)
        check_limits(lab)
        check_foreign(lab)
        check_size(lab)
        check_full(lab)
        check_tmpfs(lab)
        check_two(lab)
        check_kill(lab, rng)
        check_screen(lab)
        check_damage(lab, rng)
        check_changes(lab)
    tap.done()


main()
