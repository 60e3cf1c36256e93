#!/usr/bin/env python3
"""What the documents say can be typed, can be typed; the layers' table is the enforced one."""
import os
import re

import layers_table
import tap

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "doc/architecture.md", "doc/CHANGES.md", "doc/guide.md", "doc/live.md", "doc/presets.md", "doc/relay.md", "doc/security.md", "doc/service.md", "doc/spans.md",
             "doc/testing.md", "tests/traces/README.md"]
BLKTOP = os.environ.get("BLKTOP", f"{tap.BUILD}/blktop")


def text_of(path):
    return "\n".join(tap.lines(path))


def ask(*options):
    return tap.output(BLKTOP, *options).stdout.splitlines()


def commands():
    """Lines of the documents that run blktop, and their words."""
    for path in DOCUMENTS + ["doc/blktop.1"]:
        text = text_of(path).replace("\\-", "-")
        for n, line in enumerate(text.split("\n"), 1):
            for command in re.findall(r"(?:^|`|\s)(blktop -[^`#|]*)", line):
                yield f"{path}:{n}", command.split()


def options():
    known = {word for line in ask("--print-options") for word in line.split("\t")[:2]}
    views = {line.split()[0] for line in ask("--list-views")}
    problems = []
    for where, words in commands():
        for before, word in zip([""] + words, words):
            if before in ("--view", "--list-columns") and word not in views and not word.isupper():
                problems.append(f"{where}: no view '{word}'")
            elif re.match(r"--?[a-z]", word) and word.split("=")[0] not in known:
                problems.append(f"{where}: no option '{word}'")
    tap.ok("options and views in the documents exist", problems)


def formats():
    """Help and completions are made from ROWS_FORMATS and SPAN_FORMATS; the guide names each format."""
    row = [line.split("\t") for line in ask("--print-options") if line.split("\t")[1] == "--format"][0]
    known = {word for part in row[4].split(";") for word in part.split(":")[1].split()}
    text = text_of("doc/guide.md")
    tap.ok("the help has formats of rows and of spans", [] if {"text", "json", "folded", "zipkin"} <= known else [row[4]])
    tap.ok("the guide names all formats", [f"doc/guide.md: no '--format {word}'" for word in sorted(known)
                                           if not re.search(rf"--format {word}\b", text)])
    header = text_of("src/export/export.h")
    names = re.findall(r"X\((\w+), \w+, \w+, \w+, \w+\)", text_of("src/views/rows_format.h"))
    tap.ok("formats of rows are found", [] if len(names) > 3 else ["src/views/rows_format.h: rows of ROWS_FORMATS not found"])
    tap.ok("rows_print() says what each format of rows prints", [f"src/export/export.h: no ' * {name}:'" for name in names if f"\n * {name}:" not in header])
    used = {word for text in map(text_of, DOCUMENTS) for word in re.findall(r"--format ([a-z]+)", text)}
    tap.ok("formats in the documents exist", sorted(used - known))


def rules():
    """Each word of a rule for spans is described in doc/spans.md and in the header."""
    words = re.findall(r'\{ "(\w+)", take_\w+(?:, [^}]*)? \}', text_of("src/state/spans/rules.c"))
    page = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", text_of("doc/spans.md"), re.M))))
    header = set(re.findall(r"(\w+)=", text_of("src/state/spans/rules.h")))
    tap.ok("the words of rules are found", [] if len(words) > 10 else [f"src/state/spans/rules.c: words {words}"])
    tap.ok("doc/spans.md and rules.h have them", [f"{place}: no {word}=" for place, known in [("doc/spans.md", page), ("rules.h", header)]
                                                 for word in words if word not in known])


def table():
    """What is still written by hand about commands and options: each place that lacks one of the table is named."""
    words = [line.split("\t")[0] for line in ask("--print-commands")]
    page = text_of("doc/blktop.1").split("\n.SH COMMANDS\n")[1].split("\n.SH ")[0]
    problems = [f"doc/guide.md: no 'blktop {word}'" for word in words if not re.search(rf"blktop {word}\b", text_of("doc/guide.md"))]
    problems += [f"doc/blktop.1: COMMANDS do not describe {word}" for word in words if not re.search(rf"^\.[BI]R? .*\b{word}\b", page, re.M)]
    tap.ok("guide and man page have all commands", problems)
    rows = [line.split("\t") for line in ask("--print-options")]
    free = {"--size", "--loglevel", "--against", "--at", "--from", "--to"}  # examples, or other words beside these
    tap.ok("the help of options has the words that they take", [f"{row[1]}: {word}" for row in rows if row[1] not in free
                                                               for word in row[5].split() if word.rstrip("=") not in re.findall(r"[\w-]+", row[4])])


def targets():
    makefile = "\n".join(text_of(path) for path in ["Makefile", *tap.files("src", "tests", ends=[".mk"])])
    known = set(re.findall(r"^([a-z][\w -]*):", makefile, re.M))
    known = {word for names in known for word in names.split()}
    folders = {"check-unit", "check-lint", "check-tui", "check-truth", "check-live"}
    tests = {os.path.basename(path)[:-2] for path in tap.files("tests/fuzz", ends=[".c"])}  # make fuzz-NAME
    tests |= {"check-" + re.sub(r"^test-", "", os.path.splitext(os.path.basename(path))[0])
              for path in tap.files("tests", ends=[".c", ".py", ".sh"])}
    problems = []
    for path in DOCUMENTS:
        for n, line in enumerate(tap.lines(path), 1):
            for target in re.findall(r"(?:^ +|`|&& (?:sudo )?)make ([a-z](?:[a-z-]*[a-z])?)", line):
                if target not in known | folders | tests:
                    problems.append(f"{path}:{n}: no target '{target}'")
    tap.ok("make targets in the documents exist", problems)


def headings(path):
    """Their ids, as GitHub makes them."""
    return {"#" + re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text_of(path), re.M)}


def files():
    problems = []
    for path in DOCUMENTS:
        for n, line in enumerate(tap.lines(path), 1):
            for name, heading in re.findall(r"\]\(([^):#]*)(#[^)]*)?\)", line):
                to = os.path.join(os.path.dirname(path), name) if name else path
                if not os.path.exists(to):
                    problems.append(f"{path}:{n}: no file {name}")
                elif heading and heading not in headings(to):
                    problems.append(f"{path}:{n}: no heading {heading} in {to}")
            for name in re.findall(r"`((?:src|tests|doc|scripts|state|views|base|run|ui)/[\w./-]+)`", line):
                if not os.path.exists(name) and not os.path.exists("src/" + name):
                    problems.append(f"{path}:{n}: no file {name}")
    tap.ok("files named in the documents exist", problems)


def layers():
    """The table of doc/architecture.md is the table that layers.py enforces."""
    every = sorted(layer for layer in layers_table.MAY if layer)
    problems = []
    seen = set()
    for row in re.findall(r"^\| `src/(\w+|\*\.c)/?` \|[^|]*\|([^|]*)\|([^|]*)\|$", text_of("doc/architecture.md"), re.M):
        layer = "" if row[0] == "*.c" else row[0]
        seen.add(layer)
        may = row[1].replace("trace (event.h only)", "trace/event.h").strip()
        may = every if may == "all" else [] if may == "-" else may.split(", ")
        if sorted(may) != sorted(layers_table.MAY[layer]):
            problems.append(f"src/{layer}: the document says {may}, the test {layers_table.MAY[layer]}")
        only = {w.split(" (")[0] for w in row[2].strip().split(", ") if w}
        for what, (places, _, _) in layers_table.ONLY.items():
            if (layer == places[0]) != (what in only):
                problems.append(f"src/{layer}: only place for {what}?")
    problems += [f"src/{layer}: not in the document" for layer in layers_table.MAY if layer not in seen]
    tap.ok("the layers' table is the enforced one", problems)


def table_of(heading):
    """First and second cells of the table below a heading of the guide."""
    part = text_of("doc/guide.md").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| (`.*?) \| *(.*?) *\|", part, re.M)


def letters():
    """The guide's table of letters is that of src/state/store/part.h."""
    source = text_of("src/state/store/part.h").replace("\\\n", "")
    parts = {(letter, title) for title, letter in re.findall(r"#define PART_ROW_\w+ \"(\w+)\", '(.)'", source)}
    guide = {(letter.strip("`"), title) for letter, title in table_of("Letters of states") if title}
    tap.ok("letters of states in the guide are those of the code", sorted(map(str, parts ^ guide)))


def keys():
    """Keys of the guide's card are keys of the overview, or of another screen."""
    bound = {key for line in ask("--print-bindings") for key in [line.split("\t")[1]]}
    card = [key for cell, _ in table_of("Card of keys") for key in re.findall(r"`([^`]+)`", cell)]
    tap.ok("keys of the guide's card are keys of blktop", [key for key in card if key not in bound])
    tap.ok("the card has keys", [] if len(card) > 40 else [str(card)])


letters()
if os.access(BLKTOP, os.X_OK):
    options()
    formats()
    rules()
    table()
    keys()
else:
    tap.skip("options, views and keys in the documents exist", "blktop is not built")
targets()
files()
layers()
tap.done()
