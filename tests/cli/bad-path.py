#!/usr/bin/env python3
"""Live over a bad network (tests/lib/bad_path.py): whatever it does to what a real relay said, each event is
counted or reported missing. Where the relay can be reached again nothing is missing at all."""
import concurrent.futures
import csv
import io
import os
import pathlib
import random
import subprocess
import sys

from replay_relay import Replay, Transcript

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SRC / "tests/lib"))
from bad_path import CLOSE, HANG, BadPath, Bytes, Corrupt, Delay, Drop, DropMany, Slow, Until  # pylint: disable=wrong-import-position

BLKTOP = os.environ.get("BLKTOP", os.environ.get("BUILD", str(SRC / "build")) + "/blktop")
SANITIZED = b"__asan_init" in pathlib.Path(BLKTOP).read_bytes()
EVENTS = {"ctf-2": 17588, "ctf-1.8": 17588}     # what the traced program wrote down itself
FINE, FAILED, LOSS, INCOMPLETE = 0, 1, 3, 4
HEALED, REPORTED = "healed", "reported"

# name: (transcript, damage of the seed, what is asked for)
PATHS = {
    "as it is": ("ctf-2", lambda seed: Until(1 << 40, CLOSE), HEALED),
    "delayed by 30 ms": ("ctf-2", lambda seed: Delay(0.03), HEALED),
    "slow, 400 KB/s": ("ctf-2", lambda seed: Slow(400000), HEALED),
    "one byte at a time": ("ctf-2", lambda seed: Bytes(), HEALED),
    **{f"50 bytes are missing from {at} on": ("ctf-2", lambda seed, at=at: Drop(at), HEALED)
       for at in (300000, 301234, 900000)},
    **{f"some bytes are missing again and again, {seed}": (
        "ctf-1.8", lambda rng: DropMany(rng, 100), HEALED) for seed in range(2)},
    "closed after 200000 bytes": ("ctf-1.8", lambda seed: Until(200000, CLOSE), HEALED),
    "hangs after 500000 bytes": ("ctf-2", lambda seed: Until(500000, HANG), HEALED),
    **{f"one bit is wrong in each {every} bytes, {seed}": (
        "ctf-2", lambda rng, every=every: Corrupt(rng, every), REPORTED)
       for every, seeds in ((100000, range(4)), (20011, range(2))) for seed in seeds},
}


def read(name):
    transcript, damage, _ = PATHS[name]
    rng = random.Random(name)
    relay = Replay(Transcript(SRC / f"tests/traces/viewer/{transcript}.transcript.xz"))
    path = BadPath(relay.port, lambda: damage(rng))
    _, _, host, session = next(iter(relay.transcript.sessions.values()))
    url = f"net://127.0.0.1:{path.port}/host/{host.decode()}/{session.decode()}"
    command = [BLKTOP, "-b", "--view", "events", "--columns", "name,count", "--format", "csv",
               "--timeout", "4" if SANITIZED else "2", url]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        got = (done.stdout, done.stderr, done.returncode)
    except subprocess.TimeoutExpired as late:
        got = ((late.stdout or b"").decode(), (late.stderr or b"").decode(), "no end in time")
    path.close()
    relay.close()
    return got


def count(text):
    return sum(int(row["count"]) for row in csv.DictReader(io.StringIO(text)) if row["count"])


def wrong(name, out, err, code):
    """What is wrong with it; "": nothing."""
    transcript, _, asked = PATHS[name]
    events, all_of_them = count(out), EVENTS[transcript]
    if code not in (FINE, FAILED, LOSS, INCOMPLETE):
        return f"exit status {code}"
    if "Sanitizer" in err or "runtime error" in err:
        return "a sanitizer's report"
    if asked == HEALED and (events, code) != (all_of_them, FINE):
        return f"{events} of {all_of_them} events, exit status {code}"
    if events != all_of_them and code == FINE:
        return f"{events} of {all_of_them} events, and exit status 0"
    if events > all_of_them and "damaged" not in err and "cannot read" not in err:
        return f"{events} of {all_of_them} events"
    if code != FINE and not err:
        return f"exit status {code} without a message"
    return ""


def main():
    names = [n for n in PATHS if not sys.argv[1:] or n in sys.argv[1:]]
    print(f"1..{len(names)}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, (name, got) in enumerate(zip(names, pool.map(read, names)), 1):
            why = wrong(name, *got)
            failed += bool(why)
            print(f"{'not ' if why else ''}ok {i} - {name}: {count(got[0])} events, exit status {got[2]}")
            for line in [why] * bool(why) + got[1].splitlines()[-6:] * bool(why or sys.argv[1:]):
                print("# " + line[:300])
            sys.stdout.flush()
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
