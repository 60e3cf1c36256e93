# SPDX-License-Identifier: GPL-2.0-only
"""For tests that compare what views print: which views."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
TRACES = os.path.abspath(os.environ.get("TRACES", "tests/traces"))
ALL = bool(os.environ.get("ALL"))


def blktop(*arguments):
    return tap.output(PROGRAM, *arguments)


def views(some):
    """These views, or with ALL=1 all of them."""
    if not ALL:
        return some
    return [line.split()[0] for line in blktop("--list-views").stdout.split("\n") if line and not line.startswith(" ")]
