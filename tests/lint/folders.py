#!/usr/bin/env python3
"""Each folder of src/ says in a README what it holds and where to start; modules do not include each other in circles."""
import os
import re

import tap

MOST_CIRCLES = 4
INCLUDE = re.compile(r'#\s*include\s*"([^"]+)"')


def module(path):
    """A header called X_private.h is part of X."""
    return re.sub(r"_private$", "", os.path.splitext(path)[0])


def circles(edges):
    """Sets of modules that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            found.append(stack[at:])
            del stack[at:]

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return [c for c in found if len(c) > 1]


def main():
    sources = [s for s in tap.files("src", ends=(".c", ".h")) if not s.startswith("src/blkin/")]
    folders = sorted({os.path.dirname(s) for s in sources} - {"src"})
    tap.ok("each folder has a README", [f for f in folders if not os.path.exists(f + "/README")])
    edges = {}
    for path in sources:
        own = module(path[len("src/"):])
        for header in INCLUDE.findall("\n".join(tap.lines(path))):
            if module(header) != own:
                edges.setdefault(own, set()).add(module(header))
    found = [" ".join(sorted(c)) for c in circles(edges)]
    across = [c for c in found if len({os.path.dirname(m) for m in c.split()}) > 1]
    tap.ok(f"at most {MOST_CIRCLES} circles of modules that include each other", found if len(found) > MOST_CIRCLES else [])
    tap.ok("no circle between folders", across)
    tap.done()


main()
