# SPDX-License-Identifier: GPL-2.0-only
"""What the referees share: where things are, TAP, and running blktop."""
import atexit
import gc
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.join(ROOT, "..", "shared")
BLKTOP = os.path.abspath(os.environ.get("BLKTOP", os.path.join(ROOT, "build", "blktop")))


gc.disable()        # the scripts are short, their tables large and without cycles


class Tap:
    """Numbers the checks; the plan comes last; the exit status says whether all held."""

    def __init__(self):
        self.n = self.failed = 0
        atexit.register(self._guard)
        self.finished = False

    def ok(self, good, what, *details):
        self.n += 1
        what = what.replace("#", "no.")
        print(f"{'ok' if good else 'not ok'} {self.n} - {what}", flush=True)
        if not good:
            self.failed += 1
            for d in details[:12]:
                for line in str(d).splitlines():
                    print(f"#   {line}")
            if len(details) > 12:
                print(f"#   ... and {len(details) - 12} more")
        return good

    def none(self, bad, what):
        """Holds when the list of differences is empty."""
        return self.ok(not bad, f"{what}" + (f": {len(bad)} differ" if bad else ""), *bad)

    def equal(self, found, expected, what):
        return self.ok(found == expected, what, f"found    {found}", f"expected {expected}")

    def skip(self, what, why):
        self.n += 1
        print(f"ok {self.n} - {what} # SKIP {why}", flush=True)

    def note(self, text):
        print(f"# {text}", flush=True)

    def done(self):
        self.finished = True
        print(f"1..{self.n}")
        sys.exit(1 if self.failed else 0)

    def _guard(self):
        if not self.finished:
            print("Bail out! the script ended early", flush=True)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def need_babeltrace2():
    if not shutil.which("babeltrace2"):
        skip_all("babeltrace2 is not installed")


def have_blktop():
    return os.access(BLKTOP, os.X_OK)


def trace_dirs():
    dirs = [os.environ["BLKTOP_TEST_TRACES"]] if os.environ.get("BLKTOP_TEST_TRACES") else []
    return dirs + [os.path.join(ROOT, "tests", "traces"), os.path.join(SHARED, "traces")]


def find(*parts):
    """The first of the trace folders that has it, else None."""
    for d in trace_dirs():
        path = os.path.join(d, *parts)
        if os.path.exists(path):
            return os.path.normpath(path)
    return None


ALL = bool(os.environ.get("ALL"))
# Left to ALL=1, as in make check-long, by tests that read one recording after the other.
LONG = ("live/", "rotation/", "ctf2/demo/", "ctf2/rotation/", "public/ros2", "public/scp")


def is_wanted(name):
    return ALL or not name.startswith(LONG)


def truth(name):
    path = find(name, "truth.jsonl")
    if not path:
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def blktop(*arguments, timeout=300):
    """Runs blktop; (status, standard output, standard error)."""
    try:
        r = subprocess.run([BLKTOP, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired as e:
        raise Failed(f"blktop {' '.join(arguments)}: not done after {timeout} s") from e
    return r.returncode, r.stdout, r.stderr


class Failed(Exception):
    pass


def objects(view, trace, *more, lossy=False):
    """The JSON objects (one a range) of a batch run."""
    traces = [trace] if isinstance(trace, str) else trace
    status, out, err = blktop("-b", "--view", view, "--format", "json", *more, *traces)
    if status != 0 and not (lossy and status == 3):
        raise Failed(f"blktop -b --view {view} {' '.join(more)}: status {status}: {err.strip()[:400]}")
    found = [json.loads(line) for line in out.splitlines() if line.strip()]
    if not found:
        raise Failed(f"blktop -b --view {view} {' '.join(more)}: status {status}, and nothing is printed")
    return found


def rows(view, trace, *more, lossy=False):
    return [row for o in objects(view, trace, *more, lossy=lossy) for row in o["rows"]]


def calls(trace, *more):
    """Rows of the view syscalls by thread, one for each thread and call, whatever the calls waited for."""
    found = {}
    for r in rows("syscalls", trace, "--by", "thread", *more):
        key = r["host"], r["pid"], r["tid"], r["syscall"]
        if key not in found:
            found[key] = dict(r, waited=None)
            continue
        sums = found[key]
        for column in "count", "errors", "unfinished", "total_ns", "busy_ns":
            known = sums[column] is not None and r[column] is not None
            sums[column] = sums[column] + r[column] if known else None
        for column, choose in (("min_ns", min), ("max_ns", max)):
            sums[column] = choose((x for x in (sums[column], r[column]) if x is not None), default=None)
        for column in "avg_ns", "p50_ns", "p95_ns", "p99_ns":
            sums[column] = None
    return list(found.values())


def each_trace(tap, names, compare):
    """compare(tap, name, trace) for every recording that is here; what it raises is a failure."""
    import btparse
    for name in names:
        trace = btparse.recording(tap, name)
        if not trace:
            continue
        try:
            compare(tap, name, trace)
        except (Failed, KeyError) as e:
            tap.ok(False, name, repr(e))
