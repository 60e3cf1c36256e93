#!/usr/bin/env python3
"""Which colours a terminal is sent, by TERM, COLORTERM, its description and --color; and how many bytes a frame has."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from pty_screen import LONG, PROGRAM, Screen  # noqa: E402

ROWS = b"REQUESTS"
HEATMAP = b"by number"
READ = b"second 22 of 26"       # of the demo, when all is read
SGR = re.compile(rb"\x1b\[([0-9;]*)m")


def depth(out):
    """What the colours are of that were sent: mono, 8, 256 or rgb."""
    found = "mono"
    for sgr in SGR.findall(out):
        numbers = [int(n or 0) for n in sgr.split(b";")]
        while numbers:
            n = numbers.pop(0)
            if n in (38, 48):
                if numbers[0] == 2:
                    return "rgb"
                found = "256"
                numbers = numbers[2:]
            elif 30 <= n <= 37 or 40 <= n <= 47:
                found = "8" if found == "mono" else found
    return found


def shows(name, wanted, *options, before=(), **environment):
    screen = Screen("--view", "heatmap", "--theme", "dark", *options, before=before, **environment)
    problems = [] if screen.wait(HEATMAP) else ["no heatmap"]
    problems += [] if screen.settles() else ["keys are lost"]
    got = depth(screen.out)
    problems += [] if got == wanted else [f"colours are {got}, not {wanted}"]
    problems += screen.end()[0]
    problems += ["the screen is not given back"] if screen.out.count(b"\x1b[?1049h") != screen.out.count(b"\x1b[?1049l") else []
    tap.ok(name, problems)


X256 = {"TERM": "xterm-256color"}
shows("256 colours: as described", "256", **X256)
for says in ("truecolor", "24bit"):
    shows(f"COLORTERM={says}", "rgb", COLORTERM=says, **X256)
shows("COLORTERM=yes says nothing", "256", COLORTERM="yes", **X256)
shows("COLORTERM empty", "256", COLORTERM="", **X256)
shows("8 colours", "8", TERM="xterm")
shows("8 colours whose terminal says more", "rgb", TERM="xterm", COLORTERM="truecolor")
shows("an unknown terminal that says it", "rgb", TERM="ghost", COLORTERM="truecolor")
shows("an unknown terminal", "256", TERM="ghost")
shows("the console does not, whatever COLORTERM is", "8", TERM="linux", COLORTERM="truecolor")
shows("nor does a VT100", "mono", TERM="vt100", COLORTERM="truecolor")
shows("screen: COLORTERM is of the terminal around it", "256", TERM="screen-256color", COLORTERM="truecolor", STY="1.x")
shows("tmux that calls itself screen", "rgb", TERM="screen-256color", COLORTERM="truecolor", TMUX="/tmp/x,1,0")
shows("tmux", "rgb", TERM="tmux-256color", COLORTERM="truecolor", TMUX="/tmp/x,1,0")
shows("tmux in a terminal that says nothing", "256", TERM="tmux-256color", TMUX="/tmp/x,1,0")
shows("NO_COLOR", "mono", COLORTERM="truecolor", NO_COLOR="1", **X256)
shows("--color never", "mono", "--color", "never", COLORTERM="truecolor", **X256)
shows("--theme mono", "mono", "--theme", "mono", COLORTERM="truecolor", **X256)
shows("--color 256", "256", "--color", "256", COLORTERM="truecolor", **X256)
shows("--color 256 where there are 8", "8", "--color", "256", TERM="xterm")
shows("--color truecolor", "rgb", "--color", "truecolor", **X256)
shows("--color truecolor in screen", "rgb", "--color", "truecolor", TERM="screen-256color", STY="1.x")
shows("--color always in spite of NO_COLOR", "rgb", "--color", "always", NO_COLOR="1", COLORTERM="truecolor", **X256)
shows("without UTF-8 and with ASCII", "rgb", "--ascii", COLORTERM="truecolor", LC_ALL="C", **X256)

DESCRIBED = {"some-rgb": "RGB,", "some-tc": "Tc,",
             "some-set": r"setrgbf=\E[38;2;%p1%d;%p2%d;%p3%dm, setrgbb=\E[48;2;%p1%d;%p2%d;%p3%dm,",
             "some-direct": r"RGB, colors#0x1000000, pairs#0x10000, setaf=\E[38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm,",
             "none-of-it": ""}
# Curses does not read descriptions of root's own.
OTHER = ["setpriv", "--reuid=39999", "--regid=39999", "--clear-groups"] if os.geteuid() == 0 else []
if OTHER and not tap.others_run(PROGRAM):
    tap.skip("descriptions", tap.NOT_OTHERS)
else:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for terminal, capabilities in DESCRIBED.items():
            source = f"{folder}/{terminal}.src"
            with open(source, "w", encoding="utf-8") as f:
                f.write(f"{terminal}|made by a test,\n\t{capabilities}\n\tuse=xterm-256color,\n")
            subprocess.run(["tic", "-x", "-o", folder, source], check=True, capture_output=True)
            shows(f"the description of {terminal}", "256" if terminal == "none-of-it" else "rgb", before=OTHER, TERM=terminal, TERMINFO=folder)
        shows("--color 256 where curses has direct colours", "256", "--color", "256", before=OTHER, TERM="some-direct", TERMINFO=folder)
shows("TERM ends in -direct, without a description", "rgb", TERM="ghost-direct")


def whole_frame(screen, text):
    """The bytes of a whole frame that has the text; None: it never has."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        before = len(screen.out)
        screen.type(b"\x0c")
        while screen.read(0.3):
            pass
        if text in screen.out[before:]:
            return len(screen.out) - before
    return None


def frame_bytes(**environment):
    """The bytes of a whole heatmap of 200x60, and of the frame after a key that changes little."""
    screen = Screen("--view", "heatmap", "--theme", "dark", size=(200, 60), **environment, **X256)
    problems = [] if screen.wait(HEATMAP) else ["no heatmap"]
    whole = whole_frame(screen, READ)
    before = len(screen.out)
    screen.type(b" ")
    while screen.read(0.3):
        pass
    key = len(screen.out) - before
    problems += [] if whole and whole_frame(screen, b"rectangle 07:07") else ["the frame is not whole"]
    problems += screen.end()[0]
    return whole or 0, key, problems


plain, plain_key, problems = frame_bytes()
whole, key, more = frame_bytes(COLORTERM="truecolor")
print(f"# 200x60: 256 colours {plain} bytes, a key {plain_key}; 24 bits {whole} bytes, a key {key}")
problems += more
problems += [] if whole < 2 * plain else [f"{whole} bytes, {plain} with 256 colours"]
tap.ok("a frame has less than twice the bytes of one with 256 colours", problems)
tap.ok("a key that changes little is a tenth of a frame at most", [] if 0 < 10 * key < whole else [f"{key} of {whole} bytes"])
tap.done()
