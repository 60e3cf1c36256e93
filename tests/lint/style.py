#!/usr/bin/env python3
"""What a reader expects of every file: short functions and files, a licence line, no loose ends."""
import os
import re

import tap

FUNCTION_LINES = 80
FILE_LINES = 1200
COLUMNS = 120  # wanted: 100

SOURCES = tap.files("src", "tests/unit", "tests/lib", "tests/live", "tests/bench", "tests/blkin", ends=[".c", ".h"])
SCRIPTS = tap.files("scripts", "tests/lint", "tests/cli", "tests/tui", "tests/truth", "tests/live", "tests/bench", ".ci",
                    "completions")
TEXTS = SOURCES + SCRIPTS + tap.files("doc", "Makefile", "README.md", "CONTRIBUTING.md", ends=[".md", ".1", "Makefile"])


def function_lengths():
    listing = tap.output("ctags", "-x", "--languages=C", "--kinds-C=f", "--_xformat=%F %n %{end} %N",
                         *[s for s in SOURCES if s.endswith(".c")])
    if listing.returncode != 0:
        tap.ok("ctags reads the sources", [listing.stderr.strip()])
        return
    problems = []
    for line in listing.stdout.splitlines():
        path, begin, end, name = line.split(" ", 3)
        length = int(end or begin) - int(begin) + 1
        if length > FUNCTION_LINES:
            problems.append(f"{path}:{begin}: {name}() has {length} lines")
    tap.ok(f"functions have at most {FUNCTION_LINES} lines", problems)


def each(name, paths, problem_of):
    """One result about all the files: problem_of(path, lines) gives problems."""
    problems = []
    for path in paths:
        problems += problem_of(path, tap.lines(path))
    tap.ok(name, problems)


def matching(pattern, what):
    found = re.compile(pattern)
    return lambda path, lines: [f"{path}:{n}: {what}" for n, line in enumerate(lines, 1) if found.search(line)]


def split_literals(path, lines):
    """A library's function may be a macro in another version (g_string_append() of GLib 2.76): a comma in a compound literal then divides its arguments."""
    problems = []
    for n, line in enumerate(lines, 1):
        for literal in re.finditer(r"\((?:const |struct )*\w+ ?\**(?:\[\w*\])?\)\{[^}]*,", line):
            depth, at = 1, literal.start()
            while at and depth:
                at -= 1
                depth += {")": 1, "(": -1}.get(line[at], 0)
            if re.search(r"\b(?:g_\w+|str[a-z]+|mem[a-z]+)$", line[:at]):
                problems.append(f"{path}:{n}: a compound literal with a comma, as an argument without parentheses of its own")
    return problems


def too_wide(path, lines):
    return [f"{path}:{n}: {len(line.expandtabs(8))} columns" for n, line in enumerate(lines, 1)
            if len(line.expandtabs(8)) > COLUMNS]


def licence(path, lines):
    # The library may be linked with what it traces.
    terms = "LGPL-2.1-or-later" if "blkin/" in path else "GPL-2.0-only"
    first = lines[0]
    return [] if first == f"/* SPDX-License-Identifier: {terms} */" else [f"{path}:1: {first}"]


def guard(path, lines):
    return [] if any(line.startswith(("#ifndef ", "#if !defined(")) for line in lines[:40]) else [f"{path}: no include guard"]


def executable():
    problems = []
    for path in SCRIPTS + tap.files("tests/cli", "tests/tui", "tests/truth", "tests/live"):
        with open(path, "rb") as f:
            shebang = f.read(2) == b"#!"
        if shebang != os.access(path, os.X_OK):
            problems.append(f"{path}: " + ("has #! but is not executable: nobody runs it" if shebang
                                           else "is executable without #!"))
    tap.ok("scripts with #! are executable, and no others", sorted(set(problems)))


def tags_defined_once():
    """One word means one thing: a tag of a struct, union or enum is defined in one place of src/."""
    places = {}
    for path in SOURCES:
        if path.startswith("src/"):
            for n, line in enumerate(tap.lines(path), 1):
                if found := re.match(r"\s*(?:typedef |static |const )*((?:struct|union|enum) \w+) \{", line):
                    places.setdefault(found[1], []).append(f"{path}:{n}")
    tap.ok("tags of types are defined once", [f"{tag}: {', '.join(p)}" for tag, p in places.items() if len(p) > 1])


function_lengths()
tags_defined_once()
each(f"files have at most {FILE_LINES} lines", [s for s in SOURCES if s.startswith("src/")],
     lambda path, lines: [f"{path}: {len(lines) - 1} lines"] if len(lines) - 1 > FILE_LINES else [])
each(f"lines have at most {COLUMNS} columns", SOURCES, too_wide)
each("arguments stay one argument where the function is a macro", SOURCES, split_literals)
each("sources begin with their licence", SOURCES, licence)
# *_numbers.h are rows, included inside of a table.
each("headers have include guards", [s for s in SOURCES if s.endswith(".h") and not s.endswith("_numbers.h")], guard)
each("nothing is left " + "TO" "DO", TEXTS, matching(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", "a loose end"))
each("no white space at line ends", TEXTS, matching(r"[ \t]+$", "white space at the end"))
each("C is indented by tabs", SOURCES, matching(r"^(?: {4}| {8})[\w{}#(]+[^.]*[;{,]$", "indented by spaces"))
executable()
tap.done()
