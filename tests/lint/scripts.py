#!/usr/bin/env python3
"""Scripts, completions and the man page are well formed."""
import os
import shutil

import tap


def shebang(path):
    with open(path, "rb") as f:
        return f.readline().decode(errors="replace")


def shell():
    if not shutil.which("shellcheck"):
        tap.skip("shellcheck", "shellcheck is not installed")
        return
    paths = tap.files("scripts", ".ci", "tests/lint", "tests/cli", "tests/tui", "tests/truth", "tests/live", "tests/long", "tests/bench", "tests/lib")
    paths = [p for p in paths if p.endswith(".sh") or shebang(p).startswith(("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash"))]
    for dialect in ([], ["--shell=bash"]):
        several = [p for p in paths if shebang(p).startswith("#!") != bool(dialect)]
        # SC1091: sourced files are checked by themselves. SC2034, SC2154: they set what others read.
        run = tap.output("shellcheck", "--severity=warning", "--exclude=SC1091,SC2034,SC2154", "--format=gcc", *dialect, *several)
        said = run.stdout.splitlines()
        for path in several:
            tap.ok(f"shellcheck {path}", [line for line in said if line.startswith(path + ":")])
        tap.ok("shellcheck " + ("reads the scripts" if not dialect else "reads the parts of scripts"),
               run.stderr.splitlines() + said if run.returncode and not said else run.stderr.splitlines())


def python():
    problems = []
    for path in tap.files("scripts", "tests", ends=[".py"]):
        with open(path, encoding="utf-8") as f:
            try:
                compile(f.read(), path, "exec")
            except SyntaxError as error:
                problems.append(f"{path}:{error.lineno}: {error.msg}")
    tap.ok("python files parse", problems)


def completions():
    run = tap.output("bash", "-n", "completions/blktop.bash")
    tap.ok("bash reads completions/blktop.bash", run.stderr.splitlines() if run.returncode else [])
    if shutil.which("zsh"):
        run = tap.output("zsh", "-n", "completions/_blktop")
        tap.ok("zsh reads completions/_blktop", run.stderr.splitlines() if run.returncode else [])
    else:
        tap.skip("zsh reads completions/_blktop", "zsh is not installed")


def man_page():
    page = f"{tap.BUILD}/blktop.1"
    if not os.path.exists(page):
        tap.skip("mandoc -Tlint blktop.1", "not built: make man")
    elif not shutil.which("mandoc"):
        tap.skip("mandoc -Tlint blktop.1", "mandoc is not installed")
    else:
        run = tap.output("mandoc", "-Tlint", "-Wwarning", page)
        tap.ok("mandoc -Tlint blktop.1", run.stdout.splitlines() if run.returncode else [])
    if os.path.exists(page) and shutil.which("groff"):
        run = tap.output("groff", "-man", "-ww", "-Tutf8", "-z", page)
        tap.ok("groff -ww blktop.1", run.stderr.splitlines())
    else:
        tap.skip("groff -ww blktop.1", "groff is not installed, or not built: make man")


shell()
python()
completions()
man_page()
tap.done()
