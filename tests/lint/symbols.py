"""Which object of the program uses which symbol of which other one: what the linker sees."""
import os

import tap


def objects():
    """The built objects of src/, without those of files that are gone; [] if nothing is built."""
    root = f"{tap.BUILD}/obj/"
    return [o for o in tap.files(root[:-1], ends=[".o"]) if not o.startswith(root + "tests/")
            and os.path.exists("src/" + o[len(root):-2] + ".c")]


def uses(of):
    """For each use of a symbol that another of the objects defines: (user, symbol, definer); objects as "ui/canvas"."""
    defined, used = {}, []
    for line in tap.output("nm", "-A", "-P", *of).stdout.split("\n"):
        path, _, symbol = line.partition(": ")
        fields = symbol.split()
        if len(fields) < 2:
            continue
        inside = path[len(f"{tap.BUILD}/obj/"):-2]
        if fields[1] == "U":
            used.append((inside, fields[0]))
        elif fields[1].isupper():
            defined[fields[0]] = inside
    return [(user, symbol, defined[symbol]) for user, symbol in used if defined.get(symbol, user) != user]
