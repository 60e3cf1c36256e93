# SPDX-License-Identifier: GPL-2.0-only
"""Copies a trace, as if it had been recorded so many seconds later: `python3 shifted.py TRACE COPY SECONDS`."""
import os
import re
import shutil
import sys


def write(trace, copy, seconds):
    """The clock's offset in all metadata, which keep their sizes."""
    shutil.copytree(trace, copy)
    for root, _, files in os.walk(copy):
        if "metadata" not in files:
            continue
        path = os.path.join(root, "metadata")
        with open(path, "rb") as f:
            text = f.read()
        later = re.sub(rb"offset = (\d{19});", lambda m: b"offset = %d;" % (int(m[1]) + seconds * 10**9), text)
        if len(later) != len(text) or (seconds and later == text):
            sys.exit(f"{path}: no offset to shift")
        with open(path, "wb") as f:
            f.write(later)


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]))
