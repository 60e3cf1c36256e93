#!/usr/bin/env python3
"""What real relay daemons of LTTng 2.16 said, said again: every event is read, in both formats, however
metadata is cut, and by any version of the protocol; what can't be read is reported."""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from replay_relay import Replay, Transcript

SRC = pathlib.Path(os.environ.get("SRCDIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = os.environ.get("BUILD", str(SRC / "build"))
BLKTOP = os.environ.get("BLKTOP", BUILD + "/blktop")
TRANSCRIPTS = SRC / "tests/traces/viewer"
SHARED = SRC / "../shared/traces/ctf2"
EVENTS, SPANS = 17588, 3198             # what the traced program wrote down itself
KERNEL_UST = 454789                     # what babeltrace2 read in that conversation
FORMATS = ("ctf-2", "ctf-1.8")
GARBAGE = b"\x1e{\"type\": \"preamble\", \"version\": 3}\n"


class Tap:
    n = failed = 0

    def ok(self, good, name, *notes):
        self.n += 1
        self.failed += not good
        print(f"{'' if good else 'not '}ok {self.n} - {name}")
        for note in notes if not good else ():
            print("\n".join("# " + line for line in str(note).splitlines()[:20]))
        sys.stdout.flush()

    def equal(self, got, wanted, name, *notes):
        self.ok(got == wanted, f"{name}: {wanted}" + ("" if got == wanted else f" (is {got})"), *notes)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}")

    def done(self):
        print(f"1..{self.n}")
        sys.exit(self.failed > 0)


def ask(relay, *options, program=(BLKTOP,)):
    """Runs it on the relay's session; what it printed, its messages, its status."""
    _, _, host, name = next(iter(relay.transcript.sessions.values()))
    command = [*program, *options, f"net://127.0.0.1:{relay.port}/host/{host.decode()}/{name.decode()}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    relay.close()
    # that it is not attached at once is no message of interest
    err = "".join(line for line in done.stderr.splitlines(True) if line != "blktop: attaching\n")
    return done.stdout, err, done.returncode


def count(text):
    return sum(int(row["count"]) for row in csv.DictReader(io.StringIO(text)) if row["count"])


EVENTS_VIEW = ("-b", "--view", "events", "--columns", "name,count", "--format", "csv")


VARIANTS = ({}, {"chop": 100}, {"again": True}, {"chop": 37, "again": True}, *({"minor": m} for m in (4, 7, 8, 13, 14)))


def read_events(transcript, **how):
    out, err, code = ask(Replay(transcript, **how), *EVENTS_VIEW, "-r")
    return count(out), err, code


def every_event(tap, name, transcript, wanted=EVENTS):
    tap.equal(read_events(transcript), (wanted, "", 0), f"{name}: events, messages, status")


def in_detail(tap, name, transcript):
    out, err, code = ask(Replay(transcript), "-b", "--view", "spans", "--format", "json", "-r")
    rows = [row for line in out.splitlines() for row in json.loads(line)["rows"]]
    whole = {(r["trace_id"], r["span_id"]) for r in rows if r["state"] == "complete"}
    tap.equal((len(whole), code), (SPANS, 0), f"{name}: complete spans, status", err)
    out, err, code = ask(Replay(transcript), program=(BUILD + "/tools/live-count",))
    found = {word: re.search(rf"^{word} (.*)$", out, re.M).group(1) for word in ("lost", "gaps", "late", "disorder")}
    tap.equal(found, {"lost": "0 0", "gaps": "0", "late": "0", "disorder": "0"}, f"{name}: what is wrong", out)
    listed = Replay(transcript)
    done = subprocess.run([BLKTOP, "--list-sessions", "--format", "json", "-r", f"127.0.0.1:{listed.port}"],
                          capture_output=True, text=True, check=False)
    listed.close()
    tap.equal(len(json.loads(done.stdout)["sessions"]), 1, f"{name}: sessions that are listed", done)


def kept(tap, name, transcript, work):
    """What is kept is that trace: the metadata as it came, all events, by each reader and once more when saved."""
    spool = work / ("spool-" + name)
    _, err, code = ask(Replay(transcript, chop=1000), *EVENTS_VIEW, "--spool", str(spool), "-r")
    tap.equal((err, code), ("", 0), f"{name}: kept: messages, status")
    found = sorted(path.read_bytes() for path in spool.rglob("metadata"))
    tap.ok(set(found) == set(transcript.all_metadata()) and found, f"{name}: kept: the metadata is the relay's", found)
    saved = work / ("saved-" + name)
    for what, trace in (("kept", spool), ("saved", saved)):
        if what == "saved":
            done = subprocess.run([BLKTOP, "save", "-o", saved, spool], capture_output=True, text=True, check=False)
            tap.equal(done.returncode, 0, f"{name}: saved", done.stderr)
        done = subprocess.run([BLKTOP, *EVENTS_VIEW, "--reader", "native", trace], capture_output=True, text=True,
                              check=False)
        tap.equal((count(done.stdout), done.returncode), (EVENTS, 0), f"{name}: {what}: events, status", done.stderr)
    if not shutil.which("babeltrace2"):
        tap.skip(f"{name}: kept: babeltrace2", "it is not installed")
        return
    done = subprocess.run(["babeltrace2", spool], capture_output=True, text=True, check=False)
    if done.returncode and name == "ctf-2":
        tap.skip(f"{name}: kept: babeltrace2", "the installed one can't read CTF 2")
    else:
        tap.equal(done.stdout.count("\n"), EVENTS, f"{name}: kept: events that babeltrace2 reads", done.stderr)


def two_formats():
    """A session of two relay sessions, as those of kernel and user space are: 1 is in CTF 2, 101 in 1.8."""
    both = Transcript(TRANSCRIPTS / "ctf-2.transcript.xz")
    both.add(Transcript(TRANSCRIPTS / "ctf-1.8.transcript.xz"), 100)
    return both


def unreadable(tap):
    both, one = two_formats(), Transcript(TRANSCRIPTS / "ctf-2.transcript.xz")
    every_event(tap, "two relay sessions of one name", both, 2 * EVENTS)
    session = next(iter(one.sessions))
    both.spoil(session, GARBAGE)
    one.spoil(session, GARBAGE)
    said = "cannot read trace 'vm/ust/uid/0/64-bit': cannot read metadata: "
    out, err, code = ask(Replay(both), *EVENTS_VIEW, "-r")
    tap.equal((count(out), code), (EVENTS, 3), "one of two can't be read: the other's events, status", err)
    tap.ok(err.count(said) == 1, "and which it is, and why, is told once", err)
    out, err, code = ask(Replay(one), *EVENTS_VIEW, "-r")
    tap.ok((out, code) == ("", 1) and said in err, "nothing can be read: why, and status 1", out, err, code)
    out, err, code = ask(Replay(one), "--doctor", "-n", "3", "-r")
    tap.ok((out, code) == ("", 1) and said in err, "the doctor says so, too", out, err, code)
    out, err, code = ask(Replay(both), "--doctor", "-n", "3", "-r")
    tap.ok(code == 3 and said in out, "of one of two it is a finding", out, err, code)
    wrong = Transcript(TRANSCRIPTS / "ctf-1.8.transcript.xz")
    wrong.sessions = {number: (timer, 1, host, name) for number, (timer, _, host, name) in wrong.sessions.items()}
    out, err, code = ask(Replay(wrong), *EVENTS_VIEW, "-r")
    tap.ok((out, code) == ("", 1) and "metadata in another format than its session list says" in err,
           "a list that says another format", out, err, code)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as temp:
        for name in FORMATS:
            transcript = Transcript(TRANSCRIPTS / f"{name}.transcript.xz")
            with concurrent.futures.ThreadPoolExecutor(4) as pool:      # they wait, mostly
                for how, got in zip(VARIANTS, pool.map(lambda how, t=transcript: read_events(t, **how), VARIANTS)):
                    tap.equal(got, (EVENTS, "", 0), f"{name}, {how or 'as it was'}: events, messages, status")
            in_detail(tap, name, transcript)
            kept(tap, name, transcript, pathlib.Path(temp))
    unreadable(tap)
    for path, wanted in ((SHARED / "viewer/ctf-1.8.transcript.xz", EVENTS),
                         (SHARED / "live/kernel-ust.transcript.xz", KERNEL_UST)):
        if path.exists():
            every_event(tap, path.name, Transcript(path), wanted)
        else:
            tap.skip(path.name, "it is not beside this source tree")
    tap.done()


if __name__ == "__main__":
    main()
