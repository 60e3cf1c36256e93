#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs that people trace, played by tracegen with tracepoints of the same definitions: blktop's spans, those of a referee on babeltrace2's
text, and what the programs meant, are the same.

PROGRAM_SEEDS (1), SIZES (12) and FUNCTIONS (20), or lists of them, make other workloads; each pair of seed and size is a recording. RULES (6) is the
number of files of rules, made by chance, that each recording is read with besides."""
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(ROOT, "tests", "live", "lab")
sys.path[:0] = [os.path.join(ROOT, "tests", "truth"), LAB]
sys.dont_write_bytecode = True
import blk  # noqa: E402
import pairing  # noqa: E402
import plans  # noqa: E402
import random_rules  # noqa: E402

RULES = os.path.join(LAB, "programs.rules")
PRESETS = "--presets", "auto,pthread"
WAYS = (("in pieces", ("-j", "3", "--slices", "7")), ("whole", ("-j", "1")))
SHARED_BYTES = 2 * 8192 * 8
SECONDS = 300


def numbers(name, default):
    return [int(n) for n in os.environ.get(name, default).split()]


def unusable():
    """Why nothing can be recorded here; None: it can."""
    for tool in ("babeltrace2", "lttng", "lttng-sessiond", "lttng-relayd", "cc", "setpriv"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    r = subprocess.run(["cc", "-E", "-x", "c", "-"], input="#include <lttng/tracepoint.h>\n", text=True, capture_output=True, check=False)
    return "liblttng-ust-dev is not installed" if r.returncode else None


class Lab:
    """A session of our own, in a folder of our own, and the programs."""

    def __init__(self, work, functions):
        self.work, self.home = work, os.path.join(work, "lab")
        self.env = dict(os.environ, LAB_DIR=self.home, LAB_APPS="0", LAB_SUBBUF="2M", LTTNG_UST_REGISTER_TIMEOUT="-1")
        self.program = os.path.join(work, "src", "tracegen")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            built = pool.submit(self.build, functions)
            up = subprocess.run([os.path.join(LAB, "lab-up")], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            built.result()
        if up.returncode:
            blk.skip_all(f"no lab: {up.stderr.strip()[-200:]}")
        self.url, self.port = (re.search(rf"LAB_{what}='([^']*)'", up.stdout)[1] for what in ("URL", "LIVE_PORT"))

    def build(self, functions):
        """Makes and compiles the providers and tracegen."""
        src = os.path.dirname(self.program)
        os.mkdir(src)
        for name in ("arguments.h", "tracegen.c"):
            shutil.copy(os.path.join(LAB, name), src)
        subprocess.run([os.path.join(LAB, "make-providers"), os.path.join(LAB, "providers.txt"), src, f"lttng_ust_cuda:{functions}"], check=True)
        sources = sorted(f for f in os.listdir(src) if f.endswith(".c"))
        compile_one = lambda f: subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O0", "-I.", "-c", f], cwd=src, check=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources))
        subprocess.run(["cc", "-o", "tracegen", *(f[:-1] + "o" for f in sources), "-llttng-ust", "-ldl", "-lpthread"], cwd=src, check=True)

    def run(self, *command, **more):
        return subprocess.Popen([os.path.join(LAB, "lab-run"), *command], env=self.env, stdin=subprocess.DEVNULL, text=True, **more)

    def lttng(self, *words):
        p = self.run("lttng", "--no-sessiond", *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = p.communicate(timeout=SECONDS)[0]
        if p.returncode:
            raise RuntimeError(f"lttng {' '.join(words)}: {said}")

    def start(self, plan, name):
        """The processes of the plan."""
        path = os.path.join(self.work, name)
        with open(path + ".plan", "w", encoding="utf-8") as f:
            f.write(plan.text())
        with open(path + ".shared", "wb") as f:
            f.truncate(SHARED_BYTES)
        os.chmod(path + ".shared", 0o666)
        return [self.run(self.program, path + ".plan", path + ".shared", str(i), stdout=subprocess.PIPE) for i in range(plan.n_processes)]

    def watch(self):
        """A blktop that watches the session: returns when it does."""
        path = os.path.join(self.work, "live.json")
        with open(path, "wb") as out:
            viewer = subprocess.Popen([blk.BLKTOP, "-b", "--view", "spans", "--format", "json", *PRESETS, "-r", self.url], stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + SECONDS
        while "taken" not in blk.blktop("--list-sessions", "-r", f"127.0.0.1:{self.port}")[1]:
            if viewer.poll() is not None or time.monotonic() > end:
                viewer.kill()
                raise RuntimeError(f"blktop does not watch {self.url}: {viewer.communicate()[1]}")
        return viewer

    def seen(self, viewer):
        """(exit status and messages of the viewer at the session's end, spans that it printed, each as it was last)"""
        said = viewer.communicate(timeout=SECONDS)[1]
        rows = {}
        with open(os.path.join(self.work, "live.json"), encoding="utf-8") as f:
            for r in (r for line in f for r in json.loads(line)["rows"]):
                rows[r["trace_id"], r["span_id"]] = r
        return (viewer.returncode, said), list(rows.values())

    def record(self, its_plans):
        """Plays the plans all at once; ({program: {number of a thread: thread id}}, {program: {number of a register: ns}}, folder of the trace)"""
        self.lttng("enable-event", "-u", "-s", "spans", "-c", "chan", "-a")     # lttng refuses the agents' names
        started = {name: self.start(plan, name) for name, plan in its_plans.items()}
        threads, registers = collections.defaultdict(dict), collections.defaultdict(dict)
        for name, processes in started.items():
            for p in processes:
                out = p.communicate(timeout=SECONDS)[0]
                if p.returncode:
                    raise RuntimeError(f"{name}: a program ended with status {p.returncode}")
                for words in map(str.split, out.splitlines()):
                    (threads if words[0] == "thread" else registers)[name][int(words[1])] = int(words[-1])
        self.lttng("stop", "spans")
        self.lttng("destroy", "spans")
        return threads, registers, os.path.join(self.home, "traces")

    def down(self):
        subprocess.run([os.path.join(LAB, "lab-down")], env=self.env, capture_output=True, check=False)


class Meant:
    """What the programs meant, by the trace's clock."""

    def __init__(self, its_plans, threads, its_events, rules):
        self.with_parent = {r.name for r in rules if "parent" in r.lines}
        self.of_thread = collections.defaultdict(list)
        for e in its_events:
            self.of_thread[e.fields["ctx.vtid"]].append(e)
        self.threads, self.plans, self.rules = threads, its_plans, {r.name: r for r in rules}

    def miscounted(self):
        return [f"{program}, thread {t.number} ({t.name}): {t.n} events, {len(self.of_thread[self.threads[program][t.number]])} recorded"
                for program, plan in self.plans.items() for t in plan.threads if t.n != len(self.of_thread[self.threads[program][t.number]])]

    def event(self, program, at):
        return None if at is None else self.of_thread[self.threads[program][at[0]]][at[1]]

    def identity(self, program, span):
        begin, end = self.event(program, span.begin), self.event(program, span.end)
        return span.name, begin.ns, end and end.ns, begin.fields["ctx.vtid"]

    def spans(self, program):
        """(complete spans as pairing.of_referee() has them, others)"""
        done, cut = collections.Counter(), collections.Counter()
        for span in self.plans[program].spans:
            e = self.event(program, span.begin)
            me = self.identity(program, span)
            tags = {k: span.tags[k] for k in map(str.strip, self.rules[span.rule].lines.get("tags", "").split(",")) if k}
            parent = span.parent and span.rule in self.with_parent and self.identity(program, span.parent)
            if span.end is None:
                cut[me] += 1
            else:
                done[(*me[:1], span.thread.name, *me[1:3], e.host, e.fields["ctx.vpid"], me[3], " ".join(f"{k}={v}" for k, v in tags.items()), span.error, parent or None)] += 1
        return done, cut


    def notes(self):
        """(annotations as pairing.annotations() has them, how many are of no span)"""
        found, alone = collections.Counter(), 0
        for program, plan in self.plans.items():
            for span, event, text, severity in plan.notes:
                alone += span is None
                if span:
                    name, begin, _, tid = self.identity(program, span)
                    found[name, begin, tid, self.event(program, event).ns, text, severity] += 1
        return found, alone

    def unmatched(self, its_spans):
        """Which spans of presets' rules begin or end otherwise than what the programs did."""
        wanted, found = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
        for program, plan in self.plans.items():
            for span in plan.spans:
                if span.rule in plans.OF_PRESETS:
                    wanted[span.rule][self.identity(program, span)[1:]] += 1
        for rule, (preset, *its_rules) in plans.OF_PRESETS.items():
            for s in its_spans:
                if s.begin is not None and s.rule.name in its_rules and os.path.basename(s.rule.path) == preset + ".preset":
                    found[rule][s.begin, s.end, s.tid] += 1
        return [f"{rule}: {text}" for rule in plans.OF_PRESETS for text in pairing.differences(found[rule], wanted[rule])[:3]]


def check_notes(name, tap, trace, its_events, meant):
    """Annotations, by the rules for them."""
    wanted, alone = meant.notes()
    for way, options in WAYS:
        status, out, err = blk.blktop("--export-slowest", "1000000", "--format", "json", "--presets", "none", "--spans", RULES, *options, trace)
        found = sum((pairing.exported_annotations(t["spans"]) for t in json.loads(out)["traces"]), collections.Counter())
        tap.ok(status == 0, f"{name}, {way}: spans are exported", status, err)
        tap.none(pairing.differences(found, wanted), f"{name}, {way}: {sum(wanted.values())} annotations are what the programs did")
    tap.ok(pairing.annotations(pairing.read_rules(RULES), pairing.read_notes(RULES), its_events) == (wanted, alone), f"{name}: annotations are the referee's")
    _, out, err = blk.blktop("-b", "--view", "spans", "--format", "json", "--presets", "none", "--spans", RULES, trace)
    said = re.search(r"(\d+) events? of annotations belong", err), re.search(r'"annotations_without_span":(\d+)', out)
    tap.equal([m and int(m[1]) for m in said], [alone, alone], f"{name}: annotations without a span are counted")


def check(name, tap, lab, its_plans, seeds):
    viewer = lab.watch()
    try:
        threads, _, trace = lab.record(its_plans)
        status, live = lab.seen(viewer)
    finally:
        viewer.kill()
    tap.ok(status[0] == 0, f"{name}: blktop watched the session until its end", *status)
    its_events, warnings = pairing.events(trace)
    tap.ok(not re.search("discarded|lost", warnings), f"{name}: {len(its_events)} events, none lost", warnings)
    rules = pairing.read_rules(RULES)
    tables = pairing.read_tables(RULES)
    meant = Meant(its_plans, threads, its_events, rules)
    if not tap.none(meant.miscounted(), f"{name}: each thread's events are recorded"):
        return
    check_notes(name, tap, trace, its_events, meant)
    for way, options in WAYS:
        rows = blk.rows("spans", trace, "--presets", "none", "--spans", RULES, *options)
        n, n_cut, differ = pairing.compare(rules, its_events, rows, tables)
        tap.none(differ, f"{name}, {way}: {n} spans, and {n_cut} without an end, are the referee's")
    presets, preset_tables = pairing.read_presets(os.path.join(ROOT, "share", "blktop", "presets"), "pthread")
    preset_rows = blk.rows("spans", trace, *PRESETS)
    n, n_cut, differ = pairing.compare(presets, its_events, preset_rows, preset_tables)
    tap.none(differ, f"{name}: {n} spans by presets, and {n_cut} without an end, are the referee's")
    tap.none(pairing.compare(presets, its_events, live, preset_tables)[2], f"{name}, live: so were {len(live)} spans by presets")
    tap.none(meant.unmatched(pairing.spans(presets, its_events)), f"{name}: spans by presets begin and end as the programs did")
    found = pairing.of_rows(rows)
    for program, plan in its_plans.items():
        ours = set(threads[program].values())
        differ = []
        for side, (printed, wanted) in enumerate(zip(found, meant.spans(program))):
            mine = collections.Counter({k: c for k, c in printed.items() if k[-1 if side else 6] in ours})
            differ += pairing.differences(mine, wanted)
        tap.none(differ, f"{name}: {len(plan.spans)} spans of {program} are what it did")
    random_rules.judge(tap, name, trace, its_events, seeds, lab.work)


def main():
    reason = unusable()
    if reason or not blk.have_blktop():
        blk.skip_all(reason or f"no {blk.BLKTOP}")
    tap = blk.Tap()
    functions = max(numbers("FUNCTIONS", "20"))
    for seed, size in itertools.product(numbers("PROGRAM_SEEDS", "1"), numbers("SIZES", "12")):
        work = tempfile.mkdtemp(prefix="blktop-programs.")
        os.chmod(work, 0o711)
        lab = None
        try:
            lab = Lab(work, functions)
            its_plans = {}
            for i, (program, play) in enumerate(plans.PROGRAMS.items()):
                its_plans[program] = plans.Plan(seed * 1000 + i, size, functions)
                play(its_plans[program])
            check(f"seed {seed}, size {size}", tap, lab, its_plans, range(seed * 1000, seed * 1000 + max(numbers("RULES", "6"))))
        finally:
            if lab:
                lab.down()
            shutil.rmtree(work, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
