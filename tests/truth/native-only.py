#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`--reader auto` never falls back to babeltrace2 for what LTTng recorded: every recording in the
tree, and in ../shared/traces where that is there. The log says who read."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

# lttng-modules, lttng-ust; in CTF 1.8 and in CTF 2.
LTTNG = re.compile(rb'tracer_name"?\s*[=:]\s*"lttng-')
READER = re.compile(r"read by (native|babeltrace2)(.*)")


def traces(root):
    """Folders below that hold all of one recording: above chunks, domains and processes."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        name = os.path.basename(folder)
        if folder != root and (name.startswith(("trace", "ctf-")) or "metadata" in files):
            folders.clear()
            if has_metadata(folder):
                yield folder


def has_metadata(folder):
    return any("metadata" in files for _, _, files in os.walk(folder))


def by_lttng(folder):
    """Is all of it LTTng's?"""
    found = []
    for path, _, files in os.walk(folder):
        if "metadata" in files:
            with open(os.path.join(path, "metadata"), "rb") as f:
                found.append(bool(LTTNG.search(f.read())))
    return all(found)


def judge(tap, name, trace, log):
    if os.path.exists(log):
        os.remove(log)
    status, _, err = blk.blktop("-b", "--view", "events", "--log", log, trace)
    said = None
    if os.path.exists(log):
        with open(log, encoding="utf-8") as f:
            said = READER.search(f.read())
    if not said and status == 1 and "no stream class" in err:
        tap.ok(True, f"{name}: refused by the native reader, with its cause")
        return
    native = said is not None and said[1] == "native" and not said[2]
    if native or by_lttng(trace):
        tap.ok(native and status in (0, 3), f"{name}: read by the native reader",
               f"status {status}", said[0] if said else "nobody read it", err)
    else:
        tap.skip(name, f"not by LTTng: {said[0] if said else err}")


def unpacked(root, temp):
    """Recordings that are kept packed."""
    for folder, _, files in os.walk(root):
        for file in sorted(files):
            if file.endswith(".tar.xz"):
                to = os.path.join(temp, file)
                os.makedirs(to, exist_ok=True)
                subprocess.run(["tar", "-C", to, "-xf", os.path.join(folder, file)], check=True)
                yield os.path.relpath(os.path.join(folder, file), root), to


def main():
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    with tempfile.TemporaryDirectory(prefix="blktop-native.") as temp:
        log = os.path.join(temp, "log")
        for root in blk.trace_dirs():
            if not os.path.isdir(root):
                tap.skip(os.path.relpath(root, blk.ROOT), "it is not there")
                continue
            where = os.path.relpath(root, blk.ROOT)
            for trace in traces(root):
                judge(tap, os.path.join(where, os.path.relpath(trace, root)), trace, log)
            for name, folder in unpacked(root, temp):
                judge(tap, os.path.join(where, name), folder, log)
    tap.done()


main()
