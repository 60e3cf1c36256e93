#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every key of every view, pressed on a terminal of five sizes: the program goes on, the header and the bar of keys stay, no text shows a number that
is none, and figures that were known do not become unknown. tests/tui/every-key.sh has what each key promises.
SIZES=100x30 VIEWS=traces,phases only these."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)

PROGRAM = os.path.abspath(os.environ.get("BLKTOP", tap.BUILD + "/blktop"))
TRACE = os.path.abspath(os.environ.get("TRACE", "tests/traces/thumb/trace"))
SIZES = os.environ.get("SIZES", "60x15,80x24,100x30,140x45,200x50").split(",")
WRONG = [r"\(null\)", r"\bnan\b", r"\binf\b", r"-0\.0", r"\?%", r"%[sdul]\b", "\N{REPLACEMENT CHARACTER}"]
# Views with keys of their own.
CONTEXTS = {"overview", "waterfall", "heatmap", "timeline", "flame"}
NAMES = {"Esc": "Escape", "PgUp": "PPage", "PgDn": "NPage", "Backspace": "BSpace", "Del": "DC", "Shift-Tab": "BTab"}
SECONDS = 20


def name_of(key):
    """The key's name in tmux."""
    if key in NAMES:
        return NAMES[key]
    for word, short in (("Ctrl-", "C-"), ("Alt-", "M-"), ("Shift-", "S-")):
        if key.startswith(word):
            rest = key[len(word):]
            return short + (rest.lower() if word == "Ctrl-" else rest)
    return key


class Terminal:
    """A terminal of tmux in which the program is started again and again."""

    def __init__(self, size):
        self.home = tempfile.mkdtemp()
        self.cols, self.rows = map(int, size.split("x"))
        self.environment = dict(os.environ, HOME=self.home, XDG_STATE_HOME=self.home + "/state", TERM="screen-256color")
        self.tmux("new-session", "-d", "-s", "n", "-x", str(self.cols), "-y", str(self.rows), "sleep 3600")
        self.tmux("set", "-g", "status", "off")
        self.tmux("resize-window", "-t", "n", "-x", str(self.cols), "-y", str(self.rows))

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.home + "/socket", "-f", "/dev/null", *words], env=self.environment, text=True,
                              capture_output=True, check=False).stdout

    def picture(self):
        return self.tmux("capture-pane", "-p", "-t", "n")

    def settled(self, before=None):
        """The picture when it is the same twice, and not empty, as while it is drawn anew; if `before` is given, another one if that comes soon."""
        last, begin = None, time.monotonic()
        while time.monotonic() - begin < SECONDS:
            now = self.picture()
            if now == last and now.strip() and (now != before or time.monotonic() - begin > 0.4):
                return now
            last = now
            time.sleep(0.02)
        return last

    def start(self, view):
        """The view's first picture; the waterfall is that of the first request."""
        named = "traces" if view == "waterfall" else view
        self.tmux("respawn-pane", "-k", "-t", "n",
                  f"cd '{self.home}'; '{PROGRAM}' --config none --view {named} '{TRACE}'; echo LEFT rc=$?; sleep 3600")
        begin = time.monotonic()
        while time.monotonic() - begin < SECONDS:
            now = self.picture()
            if "LEFT rc=" in now or ("loading" not in now and sum(map(bool, map(str.strip, now.split("\n")))) > 5):
                break
            time.sleep(0.02)
        first = self.settled()
        if view == "waterfall":
            self.press("Enter")
            return self.settled(first)
        return first

    def press(self, key):
        self.tmux("send-keys", "-t", "n", name_of(key))

    def left(self):
        """How the program has ended, or None. It may still be about to."""
        begin = time.monotonic()
        while time.monotonic() - begin < SECONDS:
            found = re.search(r"LEFT rc=(\d+)", self.picture())
            if found:
                return int(found.group(1))
            time.sleep(0.02)
        return None

    def close(self):
        self.tmux("kill-server")
        subprocess.run(["rm", "-rf", self.home], check=False)


def problems_of(before, after):
    """What is wrong on the screen after a key."""
    lines = after.rstrip("\n").split("\n")
    problems = []
    if "LEFT rc=" in after:
        return ["it has ended"]
    if not lines[0].strip():
        problems.append("no header")
    if not lines[-1].strip():
        problems.append("no bar of keys")
    return problems + [f"'{m.group(0)}'" for m in (re.search(w, after) for w in WRONG if not re.search(w, before)) if m]


def drive(size, view, bindings):
    """Presses each key of the view at that size. Returns the number of keys, and what was wrong."""
    terminal, wrong, n = Terminal(size), [], 0
    for context, key, command in bindings:
        if context != (view if view in CONTEXTS else "table") or command == "suspend":
            continue
        before = terminal.start(view)
        terminal.press(key)
        n += 1
        if command == "quit" or (command == "back" and key == "q"):
            code = terminal.left() if view != "waterfall" or command == "quit" else 0
            problems = [] if code in (0, 130) else [f"ended with {code}"]
        else:
            problems = problems_of(before, terminal.settled(before))
        wrong += [f"{key} ({command}): {p}" for p in problems]
    terminal.close()
    return n, wrong


def main():
    views = [line.split()[0] for line in tap.output(PROGRAM, "--list-views").stdout.split("\n") if line]
    if os.environ.get("VIEWS"):
        views = os.environ["VIEWS"].split(",")
    bindings = [line.split("\t") for line in tap.output(PROGRAM, "--print-bindings").stdout.split("\n") if line]
    if not subprocess.run(["sh", "-c", "command -v tmux"], capture_output=True, check=False).stdout:
        tap.skip("every key of every view", "tmux is not installed")
        tap.done()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        found = {(size, view): pool.submit(drive, size, view, bindings) for size in SIZES for view in views}
        for (size, view), result in found.items():
            n, wrong = result.result()
            tap.ok(f"{view} at {size}: {n} keys", wrong if n else ["no key"])
    tap.done()


main()
