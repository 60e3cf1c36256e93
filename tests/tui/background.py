#!/usr/bin/env python3
"""The terminal is asked for its background (OSC 11): what it answers chooses the theme, early, late, in pieces or never, and no answer is taken for keys."""
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import tap  # noqa: E402  (goes to the source tree)
from pty_screen import Screen  # noqa: E402

QUERY = b"\x1b]11;?\x1b\\\x1b[c"
KIND = b"\x1b[?64;1;2;6;9;15;16;17;18;21;22c"
WHITE, BLACK = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x07"
LIGHT_COLOUR, DARK_COLOUR = b"38;5;24m", b"38;5;117m"      # of titles
ROWS = b"REQUESTS"
REFUSED = b"does nothing here"


def colours(screen, light):
    wanted, other = (LIGHT_COLOUR, DARK_COLOUR) if light else (DARK_COLOUR, LIGHT_COLOUR)
    return ([] if wanted in screen.out else ["its colours are not there"]) + (["colours of the other theme"] if other in screen.out else [])


def answered(name, answer, light, *options, **environment):
    screen = Screen(*options, **environment)
    problems = [] if screen.wait(QUERY) else ["it does not ask"]
    screen.type(answer)
    problems += [] if screen.wait(ROWS) else ["no rows"]
    took = screen.seen_at[ROWS] - screen.seen_at[QUERY]
    problems += [f"the first rows took {took:.1f}s"] if took > 3 else []
    problems += [] if screen.settles() else ["keys are lost"]
    problems += ["an answer is taken for a key"] if REFUSED in screen.out else []
    problems += colours(screen, light)
    tap.ok(name, problems + screen.end()[0])


def unasked(name, *options, **environment):
    screen = Screen(*options, **environment)
    problems = [] if screen.wait(ROWS) else ["no rows"]
    problems += [] if screen.settles() else ["keys are lost"]
    problems += ["it asks"] if b"\x1b]11" in screen.out or b"\x1b[c" in screen.out else []
    tap.ok(name, problems + screen.end()[0])


def late():
    screen = Screen()
    problems = [] if screen.wait(ROWS) else ["no rows before the answer"]
    problems += colours(screen, False)
    screen.type(WHITE + KIND)
    problems += [] if screen.wait(LIGHT_COLOUR) else ["a late answer changes nothing"]
    problems += [] if screen.settles() else ["keys are lost"]
    problems += ["an answer is taken for a key"] if REFUSED in screen.out else []
    tap.ok("an answer that comes late changes the theme, and is no key", problems + screen.end()[0])


def pieces():
    screen = Screen()
    problems = [] if screen.wait(QUERY) else ["it does not ask"]
    for i, byte in enumerate(WHITE + KIND):
        screen.type(bytes([byte]))
        if i and byte != 0x1b:
            time.sleep(0.03)
    problems += [] if screen.wait(LIGHT_COLOUR) and screen.wait(ROWS) and screen.settles() else ["it is not taken"]
    problems += ["an answer is taken for a key"] if REFUSED in screen.out else []
    tap.ok("an answer in pieces, 30 ms apart", problems + screen.end()[0])


def typed_before():
    screen = Screen()
    problems = [] if screen.wait(QUERY) else ["it does not ask"]
    screen.type(b"4" + WHITE + KIND)
    problems += [] if screen.wait(b"Processes") else ["the key is lost"]
    screen.wait(LIGHT_COLOUR)           # the rest of the frame
    tap.ok("keys typed before the answer are not lost", problems + colours(screen, True) + screen.end()[0])


def quits_before():
    screen = Screen()
    problems = [] if screen.wait(QUERY) else ["it does not ask"]
    screen.type(b"Q")
    screen.read(0.12)
    screen.type(WHITE + KIND)
    ended, left = screen.end(quits=False)
    tap.ok("an answer does not reach the shell after a quick Q", problems + ended + ([f"{left} bytes are left"] if left else []))


def hostile():
    screen = Screen()
    problems = [] if screen.wait(ROWS) else ["no rows"]
    for answer in (b"\x1b]11;qqqQQQ\x07", b"\x1b]11;rgb:qqqq/QQQQ/ffff\x1b\\", b"\x1b]52;c;UQ==\x07", b"\x1b]11;" + b"Q" * 100000 + b"\x1b\\",
                   b"\x1b]11;rgb:\xff\xfe/Q\x07", b"\x1b]Q\x07", b"\x1b[?1;Q", b"\x1b]11;rgb:ffff/ffff/ffff" + b"f" * 64 + b"\x07"):
        screen.type(answer)
    problems += [] if screen.settles() else ["it ended, or takes no keys"]
    problems += ["an answer is taken for a key"] if REFUSED in screen.out else []
    problems += colours(screen, False)
    screen.type(b"\x1b]11;rgb:ffff\x0cQ")       # a control key ends an answer that has no end
    tap.ok("hostile answers are ignored", problems + screen.end(quits=False)[0])


answered("white: light", WHITE + KIND, True)
answered("black: dark", BLACK + KIND, False)
answered("a terminal that knows no OSC 11", KIND, False)
answered("a terminal that answers nothing", b"", False)
answered("the answer goes before COLORFGBG", BLACK + KIND, False, COLORFGBG="0;15")
answered("without an answer COLORFGBG counts", KIND, True, COLORFGBG="0;15")
answered("--color always asks in spite of NO_COLOR", WHITE + KIND, True, "--color", "always", NO_COLOR="1")
late()
pieces()
typed_before()
quits_before()
hostile()
unasked("--theme: not asked", "--theme", "dark")
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/rc", "w", encoding="utf-8") as f:
        f.write("[blktop]\ntheme=light\n")
    unasked("theme in blktoprc: not asked", "--config", f"{folder}/rc")
unasked("--color never: not asked", "--color", "never")
unasked("NO_COLOR: not asked", NO_COLOR="1")
for terminal in ("linux", "vt100", "vt220"):
    unasked(f"TERM={terminal}: not asked", TERM=terminal)
tap.done()
