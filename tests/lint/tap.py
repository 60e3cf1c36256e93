"""A test's results as TAP, and the project's source files, for the checks beside this."""
import functools
import os
import subprocess
import sys

ROOT = os.environ.get("SRCDIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(ROOT)
BUILD = os.environ.get("BUILD", "build")
sys.dont_write_bytecode = True

_n = 0
_failed = 0


def ok(name, problems=()):
    """One result: good when there is no problem."""
    global _n, _failed
    _n += 1
    problems = list(problems)
    print(("not ok" if problems else "ok"), _n, "-", name)
    for problem in problems[:50]:
        print("#  ", problem)
    if len(problems) > 50:
        print(f"#   ... and {len(problems) - 50} more")
    _failed += bool(problems)
    return not problems


def skip(name, why):
    global _n
    _n += 1
    print("ok", _n, "-", name, "# SKIP", why)


@functools.lru_cache(None)
def others_run(program):
    """Can root run the program as another user? Where it is built, others may have no access."""
    try:  # setpriv itself still has root's capabilities when it starts a program
        return subprocess.run(["setpriv", "--reuid=39999", "--regid=39999", "--clear-groups", "sh", "-c", '"$0" --version', program],
                              capture_output=True, check=False).returncode == 0
    except OSError:
        return False


NOT_OTHERS = "no setpriv, or another user cannot run the program where it is"


def done():
    print(f"1..{_n}")
    sys.exit(1 if _failed else 0)


@functools.cache
def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split("\n")


def files(*folders, ends=()):
    """Files below the folders, sorted; git's idea of them where there is a checkout."""
    found = []
    for folder in folders:
        if os.path.isfile(folder):
            found.append(folder)
        for where, dirs, names in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if d not in ("__pycache__", "traces"))
            found += [os.path.join(where, n) for n in names]
    return sorted(f for f in found if not ends or f.endswith(tuple(ends)))


def output(*command, **kw):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **kw)
