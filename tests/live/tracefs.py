#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The kernel of this machine by its own ring buffer: figures of programs that know what they did, losses, several blktops at once, and what is left
behind after each way to end."""
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
MOUNT = "/sys/kernel/tracing"
LIMIT = 180             # s: what has not ended by then hangs
MS = 10 ** 6
work = tempfile.mkdtemp(prefix="blktop-tracefs.")
os.chmod(work, 0o711)
ENV = dict(os.environ, XDG_STATE_HOME=work + "/state", XDG_CACHE_HOME=work + "/cache", TZ="UTC", LC_ALL="C.UTF-8")
BASE = [PROGRAM, "-y", "-b", "--config", "none", "--kernel", "tracefs"]


def is_mounted():
    return os.path.isdir(MOUNT + "/instances")


def instances():
    return [n for n in os.listdir(MOUNT + "/instances") if n.startswith("blktop-")]


def run(*arguments, **kw):
    return subprocess.run([*BASE, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False, **kw)


def rows(text):
    """Rows of all seconds: each second has a header of its own."""
    return [r for r in csv.DictReader(io.StringIO(text)) if r.get("pid") != "pid"]


# ---- what the program did ----

WORKER = r"""
import json, os, socket, sys, time
calls = dict(getppid=1000, fsync=7, sched_yield=300)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(fd, b"x" * 4096)
for _ in range(calls["getppid"]):
    os.getppid()
for _ in range(calls["fsync"]):
    os.fsync(fd)
for _ in range(calls["sched_yield"]):
    os.sched_yield()
children = []
for _ in range(20):
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    children.append(pid)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    pass
time.sleep(0.2)
run_ns, wait_ns, _ = open("/proc/self/schedstat").read().split()
with open(sys.argv[2], "w") as f:
    json.dump(dict(pid=os.getpid(), calls=calls, children=children, run_ns=int(run_ns)), f)
os._exit(0)         # how long an interpreter takes to end depends on the machine
"""


def worker(view, *more):
    """Rows of the view while the worker runs, and what it says of itself."""
    said = os.path.join(work, "said.json")
    r = run("--format", "csv", "--view", view, *more, "--", sys.executable, "-c", WORKER, os.path.join(work, "file"), said)
    with open(said, encoding="ascii") as f:
        return rows(r.stdout), json.load(f), r


def check_figures():
    table, said, r = worker("syscalls", "--by", "process")
    mine = [x for x in table if x["pid"] == str(said["pid"])]
    got = {name: sum(int(x["count"]) for x in mine if x["syscall"] == name) for name in said["calls"]}
    tap.ok("each system call of a program is counted", [] if got == said["calls"] and r.returncode == 0 else [got, said["calls"], r.returncode, r.stderr])
    table, said, r = worker("processes")
    mine = [x for x in table if x["pid"] == str(said["pid"])]
    run_ns = sum(int(x["cpu_ns"] or 0) for x in mine)
    # before the program is asked, it ran as blktop's helper; behind that it ends
    tap.ok("its time on CPUs is what /proc/PID/schedstat says", [] if abs(run_ns - said["run_ns"]) < 60 * MS else [run_ns, said["run_ns"], r.stderr])
    tap.ok("each thread belongs to a process", [x for x in table if not x["pid"] and x["comm"]])
    children = {int(x["pid"]) for x in table if x["ppid"] == str(said["pid"])}
    tap.ok("its children are there, with their parent", [] if set(said["children"]) <= children else [sorted(set(said["children"]) - children)])


def check_buffer():
    """The followed program looks at the instances: those of other tests are of the usual size."""
    r = run("--kernel-buffer", "1M", "--view", "events", "-n", "1", "--", "sh", "-c", f"cat {MOUNT}/instances/blktop-*/buffer_size_kb >{work}/sizes")
    sizes = pathlib.Path(work, "sizes").read_text(encoding="ascii").split()
    tap.ok("the buffers are as large as asked for", [] if [s for s in sizes if 1024 <= int(s) < 1100] and r.returncode == 0 else [sizes, r.stderr])


def reads(p):
    """Does blktop read the kernel's buffers? Its thread has waited for them often."""
    for task in pathlib.Path(f"/proc/{p.pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            if (task / "comm").read_text().strip() == "blk-kernel":
                return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text())[1]) > 40
    return False


def overwritten(instance):
    total = 0
    for stats in pathlib.Path(MOUNT, "instances", instance, "per_cpu").glob("cpu*/stats"):
        total += int(re.search(r"^overrun: (\d+)", stats.read_text(), re.M)[1])
    return total


def text_of(path):
    """An instance is there before its files are. "": not yet."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def poll(condition):
    until = time.monotonic() + LIMIT
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return condition()


NAMES = ["plain", "with space", "new\\nline", 'quo"te', "esc\\x1b[31m", "\\xff\\xfe-no-utf-8", "blktop 1 2 3 x", "l" * 200]


def can_name():
    """Has this kernel a way to names of files? What blktop -v says."""
    r = subprocess.run([PROGRAM, "-v"], capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False)
    m = re.search(r"kernel without modules \(tracefs\): (.*)", r.stdout)
    return m and "names of files" in m[1].split("not known")[0]


def check_names():
    """Names that a program opens, executes and removes, with bytes of any kind."""
    if not can_name():
        tap.skip("names of files", "this kernel has no way to them: blktop -v says what is missing")
        return
    top = MOUNT + "/events/bpf_trace/bpf_trace_printk/enable"
    has_top = os.path.exists(top)
    is_off = lambda: text_of(top) == "0\n"     # noqa: E731  (another blktop that begins has it on for a moment)
    poll(lambda: is_off() or not has_top)
    me = os.getpid()        # other tests do the like
    nowhere = f"/nowhere/{me}"
    code = ("import os, sys\nos.chdir(sys.argv[1])\nfor n in " + repr([eval(f"b'{n}'") for n in NAMES]) + ":\n"
            "  for _ in range(3): os.close(os.open(n, os.O_RDWR | os.O_CREAT))\n  os.unlink(n)\n"
            f"for n in ('old {me}', 'one {me}'): open(n, 'w').close()\n"
            f"os.rename('old {me}', 'new {me}')\nos.link('new {me}', 'second {me}')\nos.stat('second {me}')\nos.mkdir('dir {me}')\n"
            f"for n in ('/{me}' + 'd' * 800, '/{me}' + 'd' * 100):\n  try: os.rename('one {me}', n)\n  except OSError: pass\n"
            f"for _ in range(5):\n  try: os.open('{nowhere}', 0)\n  except OSError: pass\n")
    to = os.path.join(work, "named")
    r = subprocess.run([PROGRAM, "record", "-o", to, "--kernel", "tracefs", "--", "/usr/bin/python3", "-c", code, work], stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False)
    log = subprocess.run([PROGRAM, "log", "--config", "none", "--format", "json", to], capture_output=True, env=ENV, timeout=LIMIT, check=False).stdout
    calls = [json.loads(x) for x in log.decode("utf-8", "replace").splitlines()]
    mine = {c.get("pid") for c in calls if nowhere in json.dumps(c) and c.get("name") == "openat"}
    text = "\n".join(json.dumps(c) for c in calls if c.get("name") in ("openat", "unlink", "execve") and c.get("pid") in mine)
    problems = [] if r.returncode == 0 else [r.stderr]
    for name, n in (("plain", 4), ("with space", 4), ("blktop 1 2 3 x", 4), ("l" * 200, 4), (nowhere, 5), ("new", 4), ("quo", 4), ("31m", 4), ("no-utf-8", 4)):
        found = sum(1 for line in text.splitlines() if name in line and "python" in line)
        if found != n:
            problems.append([name[:20], found, n])
    args = [(c.get("name"), {k: v for k, v in (c.get("args") or {}).items() if isinstance(v, str)}) for c in calls if c.get("pid") in mine]
    for name, want in (("rename", dict(oldname=f"old {me}", newname=f"new {me}")), ("link", dict(oldname=f"new {me}", newname=f"second {me}")),
                       ("newfstatat", dict(filename=f"second {me}")), ("mkdir", dict(pathname=f"dir {me}")),
                       ("rename", dict(oldname=f"one {me}", newname=f"/{me}" + "d" * 100))):
        if not any((n == name or "stat" in name) and want.items() <= a.items() for n, a in args):
            problems.append([name, want, [a for n, a in args if n == name]])
    # a name that the kernel cut is unknown, or marked
    cut = [a["newname"] for n, a in args if n == "rename" and len(a.get("newname", "")) > 120 and not a["newname"].endswith("[cut]") and
           len(a["newname"]) < 800]
    problems += cut
    if '"/usr/bin/python3' not in text:
        problems.append("no execve of the program")
    tap.ok("names of files that a program opens, executes and removes", problems + ([text[:600]] if problems else []))
    if has_top:
        tap.ok("the event of texts is off at the top level, as it was", [] if poll(is_off) else [text_of(top)])
    p, instance = start("--seconds", "60")
    helper = helper_of(p.pid)
    os.kill(helper, signal.SIGKILL)
    p.send_signal(signal.SIGKILL)
    p.communicate(timeout=LIMIT)
    subprocess.run([PROGRAM, "--sweep"], capture_output=True, env=ENV, timeout=LIMIT, check=False)
    gone(instance)
    if has_top:
        tap.ok("also after both were killed", [] if poll(is_off) else [text_of(top)])


def check_calls_only():
    table, said, r = worker("processes", "--calls-only")
    family = {said["pid"], *said["children"]}
    others = [x for x in table if x["pid"].isdigit() and int(x["syscalls"] or 0) and int(x["pid"]) not in family]
    mine = sum(int(x["syscalls"] or 0) for x in table if x["pid"] == str(said["pid"]))
    tap.ok("--calls-only records system calls of the program and its children only", [] if mine > 1300 and not others else [mine, others, r.stderr])


BUSY = "import os, time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: os.getppid()"
WAKER = r"""
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY)      # waits for the reader
for i in range(10):
    while int(open("/proc/%s/syscall" % open(sys.argv[2]).read()).read().split()[0].replace("running", "-1")) != int(sys.argv[3]):
        pass                                # until it waits in read
    os.write(fd, b"x")
"""
READER = r"""
import os, sys
with open(sys.argv[2] + ".new", "w") as f:
    f.write(str(os.getpid()))
os.rename(sys.argv[2] + ".new", sys.argv[2])
fd = os.open(sys.argv[1], os.O_RDONLY)
while os.read(fd, 1):
    pass
for i in range(20):
    pid = os.fork()
    if not pid:
        os.getppid()
        os._exit(0)
    os.waitpid(pid, 0)
"""


def check_program_only():
    """A busy program beside it is not in the trace; what wakes it is; its children are, however short they live."""
    fifo, name = work + "/fifo", work + "/reader"
    os.mkfifo(fifo)
    number = "0" if os.uname().machine == "x86_64" else "63"       # read, also of arm64 and riscv64
    others = [subprocess.Popen([sys.executable, "-c", *a]) for a in ((BUSY,), (WAKER, fifo, name, number))]
    try:
        for view in (("wakers",), ("events", "--by", "process")):
            if view[0] == "events":
                others[1].wait(LIMIT)
                others[1] = subprocess.Popen([sys.executable, "-c", WAKER, fifo, name, number])
            r = run("--program-only", "--format", "csv", "--view", *view, "--", sys.executable, "-c", READER, fifo, name)
            table, reader = rows(r.stdout), pathlib.Path(name).read_text(encoding="ascii")
            os.unlink(name)
            if view[0] == "wakers":
                woken = sum(int(x["count"]) for x in table if x["pid"] == reader and x["waker"].endswith(f"/{others[1].pid}"))
                tap.ok("--program-only records who wakes the program", [] if woken >= 9 and r.returncode == 0 else [woken, r.stderr, table])
        calls = [x for x in table if x["pid"] == str(others[0].pid) and x["name"].startswith("syscall_")]
        mine = sum(int(x["count"]) for x in table if x["pid"] == reader and x["name"] == "syscall_entry_read")
        children = sum(int(x["count"]) for x in table if x["name"] == "sched_process_exit" and x["pid"] != reader)
        tap.ok("and of other programs nothing, but all of its children", [] if not calls and mine >= 10 and children >= 20 else [calls, mine, children, r.stderr])
    finally:
        for p in others:
            p.kill()
            p.wait()


def check_losses():
    """blktop is stopped while much happens: the kernel overwrites events. What is lost is reported, where it was lost."""
    end = pathlib.Path(work, "end")
    p, instance = start("--format", "csv", "--view", "losses", "--", sys.executable, "-c",
                        "import os, sys\nwhile not os.path.exists(sys.argv[1]):\n  for _ in range(1000): os.getppid()\n", str(end))
    poll(lambda: reads(p))
    p.send_signal(signal.SIGSTOP)
    stopped, early = time.time_ns(), overwritten(instance)
    poll(lambda: overwritten(instance) > 20000)
    expected = overwritten(instance)
    p.send_signal(signal.SIGCONT)
    end.touch()
    while p.poll() is None:
        with contextlib.suppress(OSError, TypeError):
            expected = max(expected, overwritten(instance))
    out, err = p.communicate(timeout=LIMIT)
    table = [x for x in csv.DictReader(io.StringIO(out)) if (x.get("losses") or "").isdigit() and int(x["lost_ns"])]
    lost = sum(int(x["events"] or 0) for x in table)
    tap.ok("events that were overwritten are reported as lost, as many as the kernel says", [] if lost == expected > 0 and f"lost {lost} events" in err else [lost, expected, out, err])
    tap.ok("in the seconds in which blktop was stopped", [x for x in table if int(x["to_ns"]) < stopped and not early])


SPIN = "import os, time\nend = time.monotonic() + 3\nwhile time.monotonic() < end:\n  for _ in range(1000): os.getppid()\n"


def check_small_buffers():
    """Events are lost all the time. Of some gaps the page has the number, of others only the kernel's sum is known: nothing is counted twice."""
    p, instance = start("--format", "csv", "--view", "losses", "--kernel-buffer", "64K", "--", sys.executable, "-c", SPIN)
    expected = 0
    while p.poll() is None:
        with contextlib.suppress(OSError, TypeError):
            expected = max(expected, overwritten(instance))
    out, err = p.communicate(timeout=LIMIT)
    m = re.search(r"lost (\d+) events", err)
    tap.ok("and with the smallest buffers", [] if m and len(out) > 100 and expected > 10000 and abs(int(m[1]) - expected) < expected / 50 else [expected, err])


# ---- what is left ----

def start(*more):
    view = [] if "--view" in more else ["--view", "processes"]
    p = subprocess.Popen([*BASE, *view, *more], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    name, until = f"blktop-{p.pid}", time.monotonic() + LIMIT
    while name not in instances() and p.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    return p, name


def gone(name):
    until = time.monotonic() + 30
    while name in instances() and time.monotonic() < until:
        time.sleep(0.05)
    return name not in instances()


def helper_of(pid):
    for task in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = task.read_text()
        except OSError:
            continue
        m = re.match(r"(\d+) \((.*)\) \S (\d+)", text)
        if m and m[2] == "blktop-helper" and int(m[3]) == pid:
            return int(m[1])
    return None


def check_ends():
    for name, sig in (("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM), ("SIGKILL", signal.SIGKILL)):
        p, instance = start()
        p.send_signal(sig)
        p.communicate(timeout=LIMIT)
        tap.ok(f"after {name} the instance is removed", [] if gone(instance) else [instance])
    p, instance = start()
    helper = helper_of(p.pid)
    os.kill(helper, signal.SIGKILL)
    p.send_signal(signal.SIGKILL)
    p.communicate(timeout=LIMIT)
    left = instance in instances()
    stopped = left and pathlib.Path(MOUNT, "instances", instance, "tracing_on").read_text().strip() == "0"
    r = subprocess.run([PROGRAM, "--sweep"], capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False)
    tap.ok("if the helper is killed, too, recording stops and --sweep removes it",
           [] if left and stopped and instance in r.stdout and gone(instance) else [left, stopped, r.stdout, r.stderr])


def check_same_name():
    """An instance that a killed process with our id left. And so many processes of our own that the kernel takes no filter of all."""
    script = f'mkdir {MOUNT}/instances/blktop-$$ && for i in $(seq 250); do sleep 60 & done; echo 1 >{MOUNT}/instances/blktop-$$/events/sched/enable; exec "$@"'
    said = pathlib.Path(work, "same-name")          # more than a pipe holds
    with open(said, "w", encoding="utf-8") as f:
        p = subprocess.Popen(["sh", "-c", script, "sh", *BASE, "--seconds", "1", "--view", "processes"], stdin=subprocess.DEVNULL, stdout=f,
                             stderr=subprocess.PIPE, text=True, env=ENV, start_new_session=True)
    try:
        until = time.monotonic() + LIMIT
        while os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        os.killpg(p.pid, signal.SIGTERM)        # not waited for yet: the group is still ours
    err = p.communicate(timeout=LIMIT)[1]
    out = said.read_text(encoding="utf-8")
    good = p.returncode in (0, 3) and len(out) > 500 and "cannot set up" not in err
    tap.ok("an instance that another process of this id left is replaced; hundreds of processes of its own", [] if good else [p.returncode, err])


def check_two():
    first, one = start("--seconds", "3")
    second, two = start("--seconds", "3")
    both = one in instances() and two in instances()
    a, b = first.communicate(timeout=LIMIT), second.communicate(timeout=LIMIT)
    tap.ok("two blktops at once", [] if both and first.returncode in (0, 3) and second.returncode in (0, 3) and len(a[0]) > 500 and len(b[0]) > 500
           else [both, first.returncode, second.returncode, a[1], b[1]])


def check_messages():
    r = subprocess.run([PROGRAM, "-y", "-b", "--config", "none", "--kernel", "none", "--seconds", "1", "--view", "processes"], capture_output=True,
                       text=True, env=ENV, timeout=LIMIT, check=False)
    tap.ok("--kernel none records no kernel", [] if "cpu_ns" not in r.stdout or " 0 " in r.stdout else [r.stdout[:300]])
    r = subprocess.run([PROGRAM, "-b", "--kernel", "perf"], capture_output=True, text=True, env=ENV, timeout=LIMIT, check=False)
    tap.ok("an unknown tracer is refused", [] if r.returncode == 2 and "one of auto, lttng, tracefs, none" in r.stderr else [r.stderr])


def unusable():
    """Why the kernel cannot be traced here; None: it can."""
    if os.geteuid():
        return "needs root"
    if is_mounted():
        return None
    if subprocess.run(["mount", "-t", "tracefs", "tracefs", MOUNT], capture_output=True, check=False).returncode:
        return "this kernel has no tracefs that can be mounted"
    subprocess.run(["umount", MOUNT], check=True)
    return None


@contextlib.contextmanager
def mounted():
    """It is mounted meanwhile. In the end what the test made is removed."""
    before = is_mounted()
    try:
        if not before:
            subprocess.run(["mount", "-t", "tracefs", "tracefs", MOUNT], check=True)
        yield
    finally:
        # what was killed may still be ending
        if not before and is_mounted() and not poll(lambda: not is_mounted() or not subprocess.run(["umount", MOUNT], check=False).returncode):
            print(f"Bail out! cannot unmount {MOUNT}")
        shutil.rmtree(work)


def main():
    reason = unusable()
    if reason:
        print("1..0 # SKIP", reason)
        return
    before = is_mounted()
    r = run("--seconds", "1", "--view", "processes")
    tap.ok("tracefs is mounted, and unmounted", [] if r.returncode in (0, 3) and len(r.stdout) > 500 and is_mounted() == before else [r.stderr])
    with mounted():
        check_figures()
        check_buffer()
        check_names()
        check_calls_only()
        check_program_only()
        check_losses()
        check_small_buffers()
        check_ends()
        check_same_name()
        check_two()
        check_messages()
        tap.ok("no instance is left", [n for n in instances() if not os.path.exists("/proc/" + n.split("-")[1])])
    tap.done()


if __name__ == "__main__":
    main()
