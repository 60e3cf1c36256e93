# SPDX-License-Identifier: GPL-2.0-only
"""For tests of rotation chunks and their slices: the program, a trace in chunks, and waiting."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.environ.get("BLKTOP", tap.BUILD + "/blktop")
TRACE = os.environ.get("TRACES", "tests/traces") + "/rotation/trace"
LIMIT = 60      # s


def number(path):
    """Of the chunk, by the name of its directory or slice."""
    return int(path.rsplit("-", 1)[1].split(".")[0])


def catches(process, signal):
    """Has the process begun to catch it?"""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text("ascii").split("\n"):
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> signal - 1 & 1)
    return False


def until(what):
    """What it returns, when that is true, or at last."""
    end = time.monotonic() + LIMIT
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.02)
    return found
