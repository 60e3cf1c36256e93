#!/usr/bin/env python3
"""Each folder of src/ says in a README what it holds and where to start. Modules do not include each other in circles;
by calls there is no circle between folders, and none of many modules inside one."""
import os
import re

import symbols
import tap

MOST_CIRCLES = 4  # of modules that include each other
MOST_MODULES = 12  # in one circle by calls
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


def largest(edges, inside, cut):
    """The size of the largest circle without the cut edges."""
    left = {a: [b for b in edges[a] if b in inside and (a, b) not in cut] for a in inside}
    return max((len(c) for c in circles(left)), default=1)


def cuts(edges, circle, most):
    """Edges whose removal leaves no circle of more modules than `most`, along which few names are used: removes edges
    of few names, then puts back what need not be removed. Lines of text."""
    inside = set(circle)
    weight = {(a, b): len(edges[a][b]) for a in inside for b in edges[a] if b in inside}
    cut = []
    for edge in sorted(weight, key=lambda e: (weight[e], largest(edges, inside, {e}), e)):
        if largest(edges, inside, cut) <= most:
            break
        cut.append(edge)
    for edge in reversed(cut[:]):
        if largest(edges, inside, set(cut) - {edge}) <= most:
            cut.remove(edge)
    return [f"   cut {a} -> {b}: {', '.join(sorted(edges[a][b]))}" for a, b in cut]


def check_circles(name, edges, most):
    """edges: what is used, by user and used one."""
    problems = []
    for circle in circles(edges):
        if len(circle) > most:
            problems += [f"{len(circle)}: {' '.join(sorted(circle))}"] + cuts(edges, circle, most)
    tap.ok(name, problems)


def folded(edges, folder_of):
    """The same between folders."""
    found = {}
    for a in edges:
        for b, names in edges[a].items():
            if folder_of(a) != folder_of(b):
                found.setdefault(folder_of(a), {}).setdefault(folder_of(b), set()).update(names)
    return found


def main():
    sources = [s for s in tap.files("src", ends=(".c", ".h")) if not s.startswith("src/blkin/")]
    folders = sorted({os.path.dirname(s) for s in sources} - {"src"})
    tap.ok("each folder has a README", [f for f in folders if not os.path.exists(f + "/README")])
    both = {}
    for path in sources:
        own = module(path[len("src/"):])
        for header in INCLUDE.findall("\n".join(tap.lines(path))):
            if module(header) != own:
                both.setdefault(own, {}).setdefault(module(header), set()).add(header)
    found = [" ".join(sorted(c)) for c in circles(both)]
    tap.ok(f"at most {MOST_CIRCLES} circles of modules that include each other", found if len(found) > MOST_CIRCLES else [])
    objects = symbols.objects()
    calls = {}
    for user, symbol, definer in symbols.uses(objects):
        for edges in (calls, both):
            edges.setdefault(module(user), {}).setdefault(module(definer), set()).add(symbol)
    if not objects:
        tap.skip("circles by calls", "nothing is built")
    check_circles(f"at most {MOST_MODULES} modules call each other in a circle", calls, MOST_MODULES)
    check_circles("no circle between folders", folded(both, os.path.dirname), 1)
    check_circles("no circle between the folders of src/", folded(both, lambda m: m.split("/")[0]), 1)
    tap.done()


main()
