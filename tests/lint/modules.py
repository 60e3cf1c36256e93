#!/usr/bin/env python3
"""A printed view passes few modules on its way from the options to the first row."""
import os
import subprocess
import sys

# Of these layers, which options pass, modules that the main thread enters count. Decoding is on a thread of its own; what a view makes its
# rows of is the view's affair.
LAYERS = ["cli", "cmd", "app", "run", "export"]
MOST = 9


def functions():
    """Global functions of the layers, and their modules."""
    found = {}
    for layer in LAYERS:
        for folder, _, files in os.walk(f"src/{layer}"):
            for path in [f"{folder}/{name}"[4:-2] for name in files if name.endswith(".c")]:
                run = subprocess.run(["nm", "--defined-only", f"{os.environ['BUILD']}/obj/{path}.o"], stdout=subprocess.PIPE, check=True, text=True)
                found.update({line.split()[2]: path for line in run.stdout.splitlines() if line.split()[1] == "T"})
    return found


def trip(gdb):
    """Inside gdb, with the program's arguments set: prints each module when it is entered first."""
    modules = functions()
    seen = []

    class Entry(gdb.Breakpoint):
        def stop(self):
            self.enabled = False
            module = modules[self.location[1:]]
            if gdb.selected_thread().num == 1 and module not in seen:
                seen.append(module)
                print("entered", module)
            return self.location == "*rows_print"

    for command in ["set confirm off", "set breakpoint pending off", "set debuginfod enabled off", "tbreak options_parse", "run", "finish"]:
        gdb.execute(command)
    for name in modules:
        Entry("*" + name, internal=True)
    gdb.execute("continue")
    gdb.execute("kill")
    gdb.execute("quit")


def main():
    import shutil
    import tap
    what = f"a printed view enters at most {MOST} modules of {', '.join(LAYERS)}"
    program = os.path.abspath(os.environ.get("BLKTOP", f"{tap.BUILD}/blktop"))
    if not shutil.which("gdb") or not os.path.exists(f"{tap.BUILD}/obj/main.o"):
        tap.skip(what, "gdb is not installed, or blktop is not built")
    else:
        os.environ["BUILD"] = os.path.abspath(tap.BUILD)
        run = tap.output("timeout", "120", "gdb", "-q", "-batch", "-x", os.path.abspath(__file__), "--args", program, "-b", "--view", "processes",
                         "--no-isolation", "--no-cache", "tests/traces/thumb")
        entered = [line.split()[1] for line in run.stdout.splitlines() if line.startswith("entered ")]
        if "export/rows_print" not in entered:
            tap.skip(what, "gdb cannot follow the program here")
        else:
            tap.ok(what, entered if len(entered) > MOST else [])
    tap.done()


if "gdb" in sys.modules:
    trip(sys.modules["gdb"])
else:
    main()
