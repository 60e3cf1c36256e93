#!/usr/bin/env python3
"""The layers of doc/architecture.md: who may include whom, and what each is the only place for."""
import functools
import os
import re

import symbols
import tap
from layers_table import CONSTANTS, MAY, ONLY

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
STRIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


@functools.cache
def code_of(path):
    """The file, with blanks instead of comments and texts."""
    with open(path, encoding="utf-8") as f:
        return STRIP.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), f.read())


def layer_of(path):
    inside = path[len("src/"):]
    return inside.split("/")[0] if "/" in inside else ""


def allowed(layer, header):
    target = header.split("/")[0] if "/" in header else ""
    return target == layer or target in MAY[layer] or header in MAY[layer]


def check_includes(sources):
    wrong = {layer: [] for layer in MAY}
    for path in sources:
        layer = layer_of(path)
        if layer not in MAY:
            wrong[""].append(f"{path}: '{layer}' is no layer")
            continue
        for n, line in enumerate(tap.lines(path), 1):
            found = INCLUDE.match(line)
            if not found or found[1] == "<":
                continue
            header = found[2]
            if not os.path.exists("src/" + header) and not os.path.exists(f"{tap.BUILD}/gen/{header}"):
                wrong[layer].append(f"{path}:{n}: there is no src/{header} (write LAYER/FILE.h)")
            elif not allowed(layer, header):
                wrong[layer].append(f"{path}:{n}: {layer or 'main'} may not include {header}")
    for layer, problems in wrong.items():
        tap.ok(f"src/{layer} includes only {', '.join(MAY[layer]) or 'its own'}", problems)


def check_only(sources):
    for what, (places, headers, calls) in ONLY.items():
        problems = []
        header, call = re.compile(headers + "$"), re.compile(calls)
        for path in sources:
            if layer_of(path) in places:
                continue
            for n, line in enumerate(tap.lines(path), 1):
                found = INCLUDE.match(line)
                if found and header.match(found[2]) and path != CONSTANTS:
                    problems.append(f"{path}:{n}: includes {found[2]}")
            code = code_of(path)
            problems += [f"{path}:{code.count(chr(10), 0, m.start()) + 1}: calls {m[0]}...)"
                         for m in call.finditer(code)]
        tap.ok(f"{what} only in {', '.join('src/' + p for p in places)}", problems)


def check_printing(sources):
    """The libraries report through GError and values, never on their own."""
    words = re.compile(r"\b(stdout|stderr|printf|puts|putchar|perror|g_print(?:err)?|g_message|g_warning)\b")
    problems = []
    for path in sources:
        if layer_of(path) in ("", "ui", "cli", "app", "cmd"):
            continue
        code = code_of(path)
        problems += [f"{path}:{code.count(chr(10), 0, m.start()) + 1}: {m[0]}" for m in words.finditer(code)]
    tap.ok("no layer below the screen prints", problems)


def check_symbols():
    """The fence once more with what the linker sees: declarations by hand don't get round it."""
    objects = symbols.objects()
    if not objects:
        tap.skip("objects use only symbols of layers they may include", "nothing is built")
        return
    problems = []
    for user, symbol, definer in symbols.uses(objects):
        layer, target = layer_of("src/" + user), layer_of("src/" + definer)
        # views/ brings state's structs to ui, and their inline helpers with them.
        if target != layer and target not in MAY[layer] and (layer, target) != ("ui", "state"):
            problems.append(f"{user}: uses {symbol} of src/{target}")
    tap.ok("objects use only symbols of layers they may include", problems)


def check_library(sources):
    """src/blkin is a library for the programs that are traced: no layer, and shares nothing with them."""
    problems = []
    for path in sources:
        for n, line in enumerate(tap.lines(path), 1):
            found = INCLUDE.match(line)
            inside = found and os.path.exists("src/blkin/" + found[2].removeprefix("blkin/"))
            if found and found[1] == '"' and inside != path.startswith("src/blkin/"):
                problems.append(f"{path}:{n}: includes {found[2]}")
    tap.ok("src/blkin and the rest share no header", problems)


SOURCES = tap.files("src", ends=[".c", ".h"])
check_library(SOURCES)
SOURCES = [s for s in SOURCES if not s.startswith("src/blkin/")]
check_includes(SOURCES)
check_only(SOURCES)
check_printing(SOURCES)
check_symbols()
tap.done()
