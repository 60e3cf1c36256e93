#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every output of every command, at every place that cannot be written: the exit status is 1, the message names the file and the reason,
and nothing of it stays."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
TRACES = os.path.abspath(os.environ.get("TRACES", "tests/traces"))
TRACE = TRACES + "/kernel-small"
SPANS = TRACES + "/nested"
NOBODY = 65534
ROOT = os.geteuid() == 0
LEARNT = ["-b", "--view", "alerts", "--threshold", "call.latency p50 > 2 x usual"]

# OUT is the output. S is a slice file.
FILES = {
    "-b --metrics-file": ["-b", "--no-cache", "--metrics-file", "OUT", TRACE],
    "-b --view --metrics-file": ["-b", "--no-cache", "--view", "cpus", "--metrics-file", "OUT", TRACE],
    "export as zipkin": ["--export-slowest", "3", "--format", "zipkin", "-o", "OUT", SPANS],
    "export as perfetto": ["--export-slowest", "3", "--format", "perfetto", "-o", "OUT", SPANS],
    "export, overwriting": ["--export-slowest", "3", "--force", "-o", "OUT", SPANS],
    "report": ["report", "-o", "OUT", SPANS],
    "report --html": ["report", "--html", "OUT", SPANS],
    "--doctor": ["--doctor", "-o", "OUT", TRACE],
    "save": ["save", "-o", "OUT", TRACE],
    "map": ["map", "-o", "OUT", TRACE],
    "reduce": ["reduce", "-o", "OUT", "S"],
    "reduce --history": ["reduce", "--history", "-o", "OUT", "S"],
    "--screenshot": ["--no-cache", "--config", "none", "--screenshot", "OUT", TRACE],
    "--log": ["-b", "--view", "cpus", "--log", "OUT", TRACE],
    "--save-baseline": LEARNT + ["--save-baseline", "OUT", TRACE],
}
STDOUT = {
    "a view as text": ["-b", "--no-cache", "--view", "cpus", TRACE],
    "a view as CSV": ["-b", "--no-cache", "--view", "cpus", "--format", "csv", TRACE],
    "a view as JSON": ["-b", "--no-cache", "--view", "cpus", "--format", "json", TRACE],
    "each second of a view": ["-b", "--no-cache", "--view", "cpus", "--each", TRACE],
    "the timeline": ["-b", "--no-cache", "--view", "timeline", "--step", "10ms", TRACE],
    "a metric": ["-b", "--metric", "call.latency", TRACE],
    "an export": ["--export-slowest", "3", SPANS],
    "report": ["report", SPANS],
    "report --html": ["report", "--html", "-", SPANS],
    "log": ["log", TRACE],
    "log as JSON": ["log", "--format", "json", TRACE],
    "--doctor": ["--doctor", TRACE],
    "--check": ["-b", *LEARNT[3:], "--check", TRACE],
    "--list-views": ["--list-views"], "--list-columns": ["--list-columns", "cpus"], "--list-limits": ["--list-limits"],
    "--list-limits as JSON": ["--list-limits", "--format", "json"], "--list-events": ["--list-events"], "--recipe": ["--recipe"],
    "--help": ["--help"], "--version": ["--version"],
}


def run(words, env, as_root=True, **how):
    before = [] if as_root or not ROOT else ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return subprocess.run(before + words, capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL, **how)


def command(what, out, work):
    suffix = ".svg" if what == "--screenshot" else ""
    return [{"OUT": out + suffix, "S": work + "/s.blkslice"}.get(w, w) for w in FILES[what]], out + suffix


def check(name, r, named, reasons, left=()):
    problems = [] if r.returncode == 1 else [f"exit status {r.returncode}"]
    problems += [] if named in r.stderr else [f"the message does not name {named}"]
    problems += [] if any(reason in r.stderr for reason in reasons) else [f"the message does not have the reason {reasons}"]
    problems += [f"left: {name}" for name in left]
    tap.ok(name, problems + [r.stderr] if problems else [])


def place_of(what, env, base):
    """Where the file of a baseline is follows from its name."""
    if what != "--save-baseline":
        return base
    env["XDG_STATE_HOME"] = base
    return base + "/blktop/baselines"


def no_directory(work, env):
    for what in FILES:
        if what in ("save", "--save-baseline"):         # these make their directories
            continue
        words, out = command(what, work + "/absent/out", work)
        r = run([PROGRAM, *words], env)
        check(f"no directory: {what}", r, out, ["No such file", "no such"], ["absent"] if os.path.exists(work + "/absent") else [])


def a_directory(work, env):
    for what in FILES:
        base = work + "/place"
        with_state = dict(env)
        place = place_of(what, with_state, base)
        words, out = command(what, place + "/out" if what != "--save-baseline" else "out", work)
        at = place + "/" + os.path.basename(out)
        os.makedirs(at)
        pathlib.Path(at + "/within").write_text("x")
        r = run([PROGRAM, *words], with_state)
        left = sorted(set(os.listdir(place)) - {os.path.basename(out)}) + sorted(set(os.listdir(at)) - {"within"})
        check(f"a directory: {what}", r, at, ["s a directory", "already exists", "not empty", "not a regular file", "not a log"], left)
        shutil.rmtree(base)


def no_permission(work, env):
    if ROOT and not tap.others_run(PROGRAM):
        tap.skip("no permission", tap.NOT_OTHERS)
        return
    for what in FILES:
        base = work + "/place"
        with_state = dict(env)
        place = place_of(what, with_state, base)
        os.makedirs(place)
        os.chmod(place, 0o555)
        words, out = command(what, place + "/out" if what != "--save-baseline" else "out", work)
        r = run([PROGRAM, *words], with_state, as_root=False)
        check(f"no permission: {what}", r, place + "/" + os.path.basename(out), ["ermission denied"], os.listdir(place))
        os.chmod(place, 0o755)
        shutil.rmtree(base)


def full_disk(work, env):
    """A file system of one page, which is used."""
    base = work + "/place"
    os.mkdir(base)
    mount = f"mount -t tmpfs -o size=4k,mode=777 none {base} && head -c 4096 /dev/zero >{base}/full && "
    if not ROOT or run(["unshare", "-m", "sh", "-c", mount + ":"], env).returncode:
        tap.skip("a full disk", "no file system can be mounted here")
        return
    for what in FILES:
        if what == "--log":             # what a log cannot store is not what the command is for
            continue
        with_state = dict(env)
        place = place_of(what, with_state, base)
        words, out = command(what, place + "/out" if what != "--save-baseline" else "out", work)
        script = mount + f'mkdir -p {place}; "$@"; code=$?; ls -A {place} >{work}/left; exit $code'
        r = run(["unshare", "-m", "sh", "-c", script, "-", PROGRAM, *words], with_state)
        left = set(pathlib.Path(work + "/left").read_text().split()) - {"full"}
        check(f"a full disk: {what}", r, place + "/" + os.path.basename(out), ["No space left"], left)


def standard_output(env):
    for what, words in STDOUT.items():
        status = 3 if what == "--check" else 1          # unknown, as monitoring programs say
        for place, how, reason in [("full", ">/dev/full", "No space left"), ("closed", ">&-", "Bad file descriptor")]:
            r = run(["sh", "-c", '"$@" ' + how, "-", PROGRAM, *words], env)
            fine = r.returncode == status and "cannot write the output: " + reason in r.stderr
            tap.ok(f"stdout is {place}: {what}", [] if fine else [r.returncode, r.stderr[:500]])


def no_standard_output(work, env):
    """What cannot be written to stdout says so, and makes no file of that name."""
    for what in ["-b --metrics-file", "save", "map", "reduce", "reduce --history"]:
        words, _ = command(what, "-", work)
        r = run([PROGRAM, *words], env, cwd=work)
        problems = [] if r.returncode == 2 and "standard output" in r.stderr else [r.returncode, r.stderr]
        tap.ok(f"no standard output: {what}", problems + ["a file '-'"] if os.path.exists(work + "/-") else problems)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o755)
        env = dict(os.environ, HOME=work + "/home", XDG_CONFIG_HOME=work + "/config", XDG_STATE_HOME=work + "/state")
        made = run([PROGRAM, "map", TRACE, "-o", work + "/s.blkslice"], env)
        tap.ok("a slice to reduce", [] if made.returncode == 0 else [made.stderr])
        no_directory(work, env)
        a_directory(work, env)
        no_permission(work, env)
        full_disk(work, env)
        standard_output(env)
        no_standard_output(work, env)
    tap.done()


if __name__ == "__main__":
    main()
