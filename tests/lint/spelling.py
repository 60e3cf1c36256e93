#!/usr/bin/env python3
"""Documents, messages, help and comments are spelled well.

hunspell's English dictionaries, and: names in the code (system calls, structs, functions), words that are all of a
string literal, what stands in documents as code, and tests/lint/words.txt, in which a line is one word."""
import re
import shutil

import tap

WORDS = "tests/lint/words.txt"
DICTIONARIES = "en_GB,en_US"
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*(.*?)\*/", re.S)
WORD = re.compile(r"(?<![\w$./:<>%@*=\\-])[A-Za-z][a-z']+(?![\w/:(*=]|-[-a-z]*=|\.\w)")
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")


def plain(literal):
    """A string literal without escapes."""
    return re.sub(r"\\(?:x[0-9a-f]{2}|[0-7]{1,3}|.)", " ", literal)


def markdown(text):
    """Sentences; of indented commands only what follows '#'."""
    for n, line in enumerate(text, 1):
        yield n, re.sub(r"^ {4}.*?(?:\s#\s|$)", "", CODE.sub(" ", line))


def manual(text):
    for n, line in enumerate(text, 1):
        macro = line.startswith(".")
        yield n, "" if macro else re.sub(r"\\f\(?.|\\\(..", "", line).replace("\\-", "-").replace("\\&", "")


def source(text):
    """Comments, and literals of at least two words, which are messages, labels and help."""
    whole = "\n".join(text)
    for pattern, least in ((COMMENT, 0), (LITERAL, 1)):
        for match in pattern.finditer(whole):
            words = match.group(1) if pattern is COMMENT else plain(match.group(1))
            if words.strip().count(" ") >= least:
                yield whole.count("\n", 0, match.start()) + 1, words


def names(paths, documents):
    known = set(tap.lines(WORDS))
    for path in paths:
        text = "\n".join(tap.lines(path))
        known |= {word for literal in LITERAL.findall(text) if " " not in literal for word in re.findall("[A-Za-z]+", literal)}
        known |= {word for name in re.findall(r"\w+", LITERAL.sub("", COMMENT.sub("", text))) for word in (name, *name.split("_"))}
    for path in documents:
        text = "\n".join(tap.lines(path))
        known |= {word for code in re.findall(r"`([^`]*)`|^ {4}(.*?)(?: # |$)", text, re.M) for word in re.findall("[A-Za-z]+", " ".join(code))}
    return known


def unknown(words):
    run = tap.output("hunspell", "-l", "-d", DICTIONARIES, input="\n".join(sorted(words)))
    return set(run.stdout.split())


def main():
    if not shutil.which("hunspell") or unknown({"colour", "color"}) or not unknown({"forevery"}):
        tap.skip("spelling", "hunspell with its dictionaries en_GB and en_US is not installed")
        return
    sources = tap.files("src", ends=[".c", ".h"])
    documents = ["README.md", "CONTRIBUTING.md", *tap.files("doc", ends=[".md"])]
    places = {}
    for paths, read in ((sources, source), (documents, markdown), (["doc/blktop.1"], manual)):
        for path in paths:
            for n, text in read(tap.lines(path)):
                for word in WORD.findall(text):
                    places.setdefault(re.sub("'s?$", "", word), f"{path}:{n}")
    known = names(sources, documents)
    wrong = unknown({word for word in places if len(word) > 2 and word not in known and word.lower() not in known})
    tap.ok("words are spelled well", sorted(f"{places[word]}: {word}" for word in wrong))
    tap.ok(f"{WORDS}: sorted", [] if tap.lines(WORDS)[:-1] == sorted(set(tap.lines(WORDS)[:-1])) else ["sort it: LC_ALL=C sort -u"])


main()
tap.done()
