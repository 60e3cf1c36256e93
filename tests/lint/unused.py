#!/usr/bin/env python3
"""A function that a header of src/ declares is used by the program: not by nobody, and not by tests alone.
(src/blkin/ is a library for other programs.)"""
import re

import tap

STRIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# A prototype: at the line's begin, a type, the name, its parameters, then no body.
DECLARED = re.compile(r"^(?!static|typedef|G_DEFINE|#)[a-z][\w \t*]*?[ *](\w+)\((?:[^;{}]|\n)*?\)[^;{}()]*"
                      r"(?:\([^;{}]*\))?;", re.M)


def main():
    code = {path: STRIP.sub(" ", "\n".join(tap.lines(path))) for path in tap.files("src", ends=(".c", ".h"))}
    counts = {}
    for text in code.values():
        for name in re.findall(r"\w+", text):
            counts[name] = counts.get(name, 0) + 1
    declared = {name: path for path, text in code.items() for name in DECLARED.findall(text)
                if path.endswith(".h") and not path.startswith("src/blkin/")}
    unused = [f"{path}: {name}() is used by nothing in src/" for name, path in sorted(declared.items())
              if counts[name] <= 2]
    tap.ok("the headers declare some functions", [] if len(declared) > 500 else [f"{len(declared)} found"])
    tap.ok("every declared function is used by the program", unused)
    tap.done()


main()
