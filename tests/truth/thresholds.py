#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Thresholds are reached in exactly the seconds that a referee says. It judges the figures of single seconds: those of
requests and system calls from babeltrace2's text where no events were lost, others as `--metric --each` prints them,
which metrics.py referees. Alerts, `--each`, `--check` with its line, baselines, and live sessions must agree.

A percentile is known within a bucket of the histogram. Where that leaves a second in doubt, both answers are right."""
import collections
import itertools
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import btparse
sys.path.insert(0, os.path.join(blk.ROOT, "tests", "cli"))
from hostile_relay import HOST, SESSION, Recording, Relay

S = 10 ** 9
LEAST_USUAL = 20
BUCKET = 1.032                          # a percentile may be so much more than the exact one
MOST_DOUBTFUL = 6                       # seconds of one value, each with two answers
TRACES = ["demo/trace", "lost/trace", "containers/trace"]
if blk.ALL:
    TRACES += ["thumb/trace", "kernel-ust/trace", "kernel-small/trace", "ctf2/demo/trace", "net/trace", "mix2/lossy"]
LOSSY = ["lost/trace", "mix2/lossy"]
NO_EXIT = {"rt_sigreturn", "sigreturn", "exit", "exit_group", "execve", "execveat"}

REQUESTS = [
    "p99 of any > 60ms warn 40ms for 3",
    "max of thumbnail > 80ms",
    "count of any < 28",
    "count of thumbnail <= 3 for 2",
    "errors of any > 0",
    "errors of thumbnail < 1",
    "count of any > 1.02 x usual warn 1 x usual",
    "p99 of any > 4 x usual warn 2 x usual for 2",
    "avg of any >= 18ms",
    "p50 of any > 1.2 x usual",
    "count of nosuch < 1 for 3",
    "p99 of nosuch > 1ns",
]
KERNEL = [
    "losses > 0",
    "losses < 1",
    "call.latency p99 by call > 3 x usual for 2",
    "call.latency count by call > 100 warn 50",
    "call.latency count by call < 2",
    "call.latency sum where process == stored > 200ms",
    "call.latency p99 by call where process == stored > 3ms",
    "thread.time sum by process > 300ms",
    "file.bytes by process,direction > 4M for 2",
    "sched.switches by cpu > 1.1 x usual",
    "cpu.run by cpu <= 500ms warn 900ms",
    "call.latency max where process =~ no.such > 0ns",
]


class Rule:
    """A threshold, read again."""
    VALUE = r"[\d.]+(?: x usual|[a-zA-Z]*)"
    SHAPE = re.compile(r"(?:(?P<first>\w+) of (?P<operation>\w+)|(?P<metric>losses|\w+\.\w+)"
                       r"(?: (?P<then>p50|p75|p90|p95|p99|max|avg|count|sum))?"
                       r"(?: by (?P<by>[\w,]+))?(?: where (?P<where>.+?))?)"
                       rf" (?P<op>[<>]=?) (?P<red>{VALUE})(?: warn (?P<warn>{VALUE}))?(?: for (?P<row>\d+))?$")
    UNITS = {"": 1, "ns": 1, "us": 1000, "ms": 10 ** 6, "s": S, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}

    def __init__(self, text):
        m = self.SHAPE.match(text)
        self.text, self.op, self.where = text, m["op"], m["where"]
        self.subject = text[:m.start("op") - 1]
        self.in_row = int(m["row"] or 1)
        self.red, self.warn = self.value(m["red"]), self.value(m["warn"]) if m["warn"] else None
        self.operation = m["operation"]
        if self.operation:
            self.metric, self.by, self.figure = "request.latency", ["operation"], m["first"]
        else:
            self.metric = "loss.events" if m["metric"] == "losses" else m["metric"]
            self.by = m["by"].split(",") if m["by"] else []
            self.figure = m["then"] or "default"

    def value(self, text):
        """(number, is it a multiple of the usual)"""
        number, unit = re.match(r"([\d.]+)(.*)", text).groups()
        return (float(number), True) if unit == " x usual" else (float(number) * self.UNITS[unit], False)

    def is_less(self):
        return self.op[0] == "<"

    def holds(self, figure, value, usual):
        """Is the value reached?"""
        number, multiple = value
        if multiple and not usual:
            return False
        limit = number * usual if multiple else number
        return {">": figure > limit, ">=": figure >= limit, "<": figure < limit, "<=": figure <= limit}[self.op]


class Second:
    def __init__(self, begin, end, lost):
        self.begin, self.end = begin, end
        self.partly = lost or bool(begin % S or end % S)


class Row:
    """Figures of a second, as (least, most); .values only where they are known."""

    def __init__(self, row):
        self.values = None
        get = lambda name: next((row[k] for k in (name, name + "_ns", name + "_bytes") if k in row), None)
        self.count, self.sum = row.get("count"), get("total")
        self.get = get

    def figure(self, name):
        if name in ("sum", "count"):
            return (getattr(self, name),) * 2
        v = self.get(name)
        return (v, v) if name in ("max", "avg") else (v / BUCKET, v * BUCKET)


class Text:
    def __init__(self, values):
        self.values = values
        self.count, self.sum = len(values), sum(values)

    def figure(self, name):
        exact = {"count": self.count, "sum": self.sum, "max": max(self.values), "avg": self.sum / self.count}
        return (exact[name],) * 2 if name in exact else percentile(self.values, int(name[1:]) / 100)


def percentile(values, share):
    exact = sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]
    return exact, min(exact * BUCKET + 1, max(values))


# ---- the figures of seconds ----

class Figures:
    """Of a recording: its seconds, and tables {what it is about: {number of the second: Row or Text}}."""

    def __init__(self, name, trace):
        self.trace, self.tables, self.seconds = trace, {}, []
        self.lossy = self.has_spans = name in LOSSY
        self.table("loss.events", (), None)
        self.number = {s.begin // S: i for i, s in enumerate(self.seconds)}
        if not self.lossy:
            self.read_text(btparse.events(trace), btparse.offset(trace))
            self.read_lives()

    def has(self, rule):
        """Without values there is no usual p50; where events were lost, some time is of no process."""
        usual = any(v and v[1] for v in (rule.red, rule.warn)) and rule.figure not in ("count", "sum")
        return not self.lossy or not usual and rule.metric != "thread.time"

    def table(self, metric, by, where):
        key = metric, tuple(by), where
        if key not in self.tables:
            self.tables[key] = self.read_rows(metric, by, where)
        return self.tables[key]

    def read_rows(self, metric, by, where):
        more = (["--by", ",".join(by)] if by else []) + (["--where", where] if where else [])
        status, out, err = blk.blktop("-b", "--metric", metric, "--each", "--format", "json", *more, self.trace)
        if status not in (0, 3):
            raise blk.Failed(f"--metric {metric} {more}: status {status}: {err[:300]}")
        table, seconds = collections.defaultdict(dict), []
        for i, second in enumerate(map(json.loads, out.splitlines())):
            t, r = second["trust"], second["range"]
            if r["to_ns"] % S:
                r["to_ns"] += 1         # the last second ends after the last event, the range with it
            seconds.append(Second(r["from_ns"], r["to_ns"], any(t[k] for k in t if k.startswith("lost_"))))
            for row in second["rows"]:
                if all(row[b] is not None for b in by):
                    table[" ".join(str(row[b]) for b in by)][i] = Row(row)
        self.seconds = self.seconds or seconds
        return table

    def read_lives(self):
        """The time of threads, whatever they did."""
        table = self.tables["thread.time", ("process",), None] = collections.defaultdict(dict)
        for second in blk.objects("processes", self.trace, "--each"):
            i = self.number[second["range"]["from_ns"] // S]
            for row in second["rows"]:
                life = sum(row[k] or 0 for k in ("cpu_ns", "runnable_ns", "blocked_ns", "unknown_ns"))
                cell = table[row["comm"]].setdefault(i, Row({"total_ns": 0}))
                cell.sum += life

    def read_text(self, events, offset):
        """Root spans, and system calls that began in the recording, by the second of their ends."""
        calls, pending, spans = collections.defaultdict(list), {}, collections.defaultdict(list)
        for e in events:
            what, call = btparse.syscall(e) or (None, None)
            tid = e.ctx.get("tid")
            if what == "entry":
                pending[tid] = call, e.ns
            elif what == "exit" and tid in pending and pending[tid][0] == call and call not in NO_EXIT:
                calls[call, self.number[(e.ns + offset) // S]].append(e.ns - pending.pop(tid)[1])
            elif e.name == "zipkin:timestamp" and not e.payload["parent_span_id"]:
                spans[e.payload["trace_id"]].append(e)
        requests = collections.defaultdict(list)
        for marks in spans.values():
            begin = [e for e in marks if e.payload["event"] == "sr"]
            end = [e for e in marks if e.payload["event"] == "ss"]
            if begin and end:
                key = begin[0].payload["trace_name"], self.number[(end[-1].ns + offset) // S]
                requests[key].append(end[-1].ns - begin[0].ns)
        self.has_spans = bool(requests)
        for key, found in (("call.latency", ("call",), None), calls), (("request.latency", ("operation",), None),
                                                                       requests):
            self.tables[key] = collections.defaultdict(dict)
            for (of, i), values in found.items():
                self.tables[key][of][i] = Text(values)

    def of(self, rule):
        """What the rule is about: {name: {number of the second: Row, Text or None, which is 0}}. Of requests nothing is
        known, also not that there were 0, where no span was recorded."""
        if rule.metric == "request.latency" and not self.has_spans:
            return {}
        table = self.table(rule.metric, rule.by, rule.where)
        if rule.figure == "errors":
            failed = self.table(rule.metric, rule.by, "error == yes")
            table = {of: {i: failed.get(of, {}).get(i) for i in rows} for of, rows in table.items()}
        if rule.operation not in (None, "any"):
            table = {rule.operation: table.get(rule.operation, {})}
        elif not rule.by:
            table = table or {"": {}}
        return table


# ---- the referee ----

Alert = collections.namedtuple("Alert", "begin end alert_ns seconds state")


def figure_of(rule, cells):
    """Its name, and is it 0 in a second without values?"""
    if rule.figure == "errors":
        return "count", True
    name = rule.figure
    if name == "default":
        name = "p99" if any(c and c.count is not None for c in cells.values()) else "sum"
    return name, name in ("count", "sum")


class Judge:
    """Holds one value of a rule against each second. .levels: for each second the possible answers: None not known,
    0 not reached, 1 only `warn`, 2 reached; .figures: (least, most) of each."""

    def __init__(self, rule, seconds, cells, baseline=None):
        """`baseline`: the usual of it, (): it has none; None: it is that of the seconds before."""
        self.rule, self.seconds = rule, seconds
        name, counts = figure_of(rule, cells)
        named = rule.operation not in (None, "any") or not rule.by
        first = 0 if named else min(cells, default=len(seconds))
        self.figures, self.levels, self.usuals, before = [], [], [], []
        for i, s in enumerate(seconds):
            cell = cells.get(i)
            figure = cell.figure(name) if cell else (0, 0) if counts and i >= first else None
            usual = baseline if baseline is not None else self.usual(before, counts)
            if figure and counts and rule.is_less() and s.partly:
                figure = None
            self.figures.append(figure)
            self.usuals.append(usual)
            self.levels.append(self.answers(figure, usual))
            if counts and i >= first:
                before.append(cell.figure(name)[0] if cell else 0)
            elif cell and not counts:
                before.extend(cell.values or [None] * cell.count)

    @staticmethod
    def usual(before, counts):
        """(least, most); None: there is none; False: the rows do not tell."""
        if len(before) < LEAST_USUAL:
            return None
        if counts:
            return (sum(before) / len(before),) * 2
        return False if None in before else percentile(before, 0.5)

    def answers(self, figure, usual):
        if figure is None:
            return (None,)
        rule, found = self.rule, set()
        needs = any(v and v[1] for v in (rule.red, rule.warn))
        if needs and usual is False:
            return (0, 1, 2) if rule.warn else (0, 2)
        for f in figure:
            for u in usual if needs and usual else (0,):
                reached = rule.holds(f, rule.red, u)
                found.add(2 if reached else 1 if rule.warn and rule.holds(f, rule.warn, u) else 0)
        return tuple(sorted(found))

    def doubtful(self):
        return [i for i, answers in enumerate(self.levels) if len(answers) > 1]

    def alternatives(self):
        """The lists of alerts that are right."""
        return [self.alerts(levels) for levels in itertools.product(*self.levels)]

    def alerts(self, levels):
        found, now, row = [], None, 0
        for s, level in zip(self.seconds, levels):
            if level is None:
                continue
            row = row + 1 if level == 2 else 0
            if not level:
                if now:
                    found.append(Alert(*now))
                now = None
                continue
            now = now or [s.begin, s.end, None, 0, "WARN"]
            now[1], now[3] = s.end, now[3] + 1
            if row >= self.rule.in_row and now[4] == "WARN":
                now[2], now[4] = s.end, "ALERT"
        if now:
            found.append(Alert(now[0], None, *now[2:]))
        return found

    def extreme(self, within=None):
        """The worst figure of the judged seconds (least, most)."""
        known = [f for s, f in zip(self.seconds, self.figures) if f and (within is None or within(s))]
        worst = min if self.rule.is_less() else max
        return known and (worst(f[0] for f in known), worst(f[1] for f in known))


class Referee:
    def __init__(self, figures, texts, baseline=None):
        self.texts, self.rules = texts, [Rule(text) for text in texts]
        self.judges = {}
        for rule in self.rules:
            for of, cells in figures.of(rule).items():
                usual = baseline(rule, of) if baseline else None
                self.judges[rule.text, of] = Judge(rule, figures.seconds, cells, usual)

    def of_rule(self, rule):
        return [j for (text, _), j in self.judges.items() if text == rule.text]

    def worst_of(self, rule):
        known = [e for e in (j.extreme() for j in self.of_rule(rule)) if e]
        worst = min if rule.is_less() else max
        return known and (worst(e[0] for e in known), worst(e[1] for e in known))


# ---- what the program says ----

def options(texts):
    return [o for text in texts for o in ("--threshold", text)]


def printed(source, texts, *more, env=None):
    """The ranges of view alerts, as objects."""
    old = dict(os.environ)
    os.environ.update(env or {})
    try:
        status, out, err = blk.blktop("-b", "--view", "alerts", "--format", "json", *options(texts), *more, *source)
    finally:
        os.environ.clear()
        os.environ.update(old)
    if status not in (0, 3):
        raise blk.Failed(f"view alerts: status {status}: {err[:300]}")
    return [json.loads(line) for line in out.splitlines()]


def by_value(rows):
    found = collections.defaultdict(list)
    for r in rows:
        if r["begin_ns"] is not None:
            found[r["threshold"], r["of"] or ""].append(r)
    return {key: sorted(rows, key=lambda r: r["begin_ns"]) for key, rows in found.items()}


def as_alert(r):
    return Alert(r["begin_ns"], r["end_ns"], r["alert_ns"], r["seconds"], r["state"])


def in_bounds(value, bounds):
    return bounds[0] - 1 - abs(bounds[0]) * 1e-6 <= value <= bounds[1] + 1 + abs(bounds[1]) * 1e-6


def judge_worst(judge, row):
    """The worst figure of an alert, the second that had it, and the usual there."""
    end = row["end_ns"] or judge.seconds[-1].end
    bounds = judge.extreme(lambda s: row["begin_ns"] <= s.begin < end)
    if not in_bounds(row["worst"], bounds):
        return f"worst is {row['worst']}, not in {bounds}"
    i = next((i for i, s in enumerate(judge.seconds) if s.begin == row["worst_ns"]), None)
    if i is None or not judge.figures[i] or not in_bounds(row["worst"], judge.figures[i]):
        return f"worst {row['worst']} is not that of the second {row['worst_ns']}"
    usual = judge.usuals[i]
    if usual is not False and (row["usual"] is None) != (not usual) and any(v and v[1] for v in (judge.rule.red,
                                                                                                judge.rule.warn)):
        return f"usual is {row['usual']}, not {usual}"
    if usual and row["usual"] is not None and not in_bounds(row["usual"], usual):
        return f"usual is {row['usual']}, not in {usual}"
    return None


def judge_value(judge, rows):
    """What is wrong with the alerts of one value, or None."""
    found = [as_alert(r) for r in rows]
    right = judge.alternatives()
    if found not in right:
        return f"{found}, not {right[0]}"
    return next(filter(None, (judge_worst(judge, r) for r in rows)), None)


# ---- the tests ----

def judge_alerts(tap, name, figures, referee, rows):
    found, bad, doubtful, judged = by_value(rows), [], 0, 0
    for rule in referee.rules:
        of_text = not figures.lossy and (rule.metric, tuple(rule.by), rule.where) == ("call.latency", ("call",), None)
        values = {of for text, of in referee.judges.keys() | found.keys() if text == rule.text}
        for of in sorted(values):
            key = rule.text, of
            if of_text and of in NO_EXIT:
                continue
            if key not in referee.judges:
                bad.append(f"{key}: the referee does not know it: {found[key]}")
                continue
            judge = referee.judges[key]
            if len(judge.doubtful()) > MOST_DOUBTFUL:
                bad.append(f"{key}: {len(judge.doubtful())} seconds are in doubt")
                continue
            doubtful, judged = doubtful + len(judge.doubtful()), judged + len(judge.levels)
            why = judge_value(judge, found.get(key, []))
            if why:
                bad.append(f"{key}: {why}")
    n = sum(map(len, found.values()))
    tap.none(bad, f"{name}: {len(referee.rules)} thresholds, {len(found)} values with {n} alerts")
    tap.ok(n and doubtful * 50 < judged, f"{name}: of {judged} seconds of values few are in doubt", f"{doubtful} are")


def state_without(rule, referee):
    """Of a threshold without an alert: was there something to judge?"""
    return "OK" if referee.worst_of(rule) else None


def judge_states(tap, name, referee, rows):
    """A threshold without alerts has a row, too."""
    bad = []
    for rule in referee.rules:
        of_rule = [r for r in rows if r["threshold"] == rule.text]
        if all(r["begin_ns"] is None for r in of_rule):
            found = [r["state"] for r in of_rule]
            if found != [state_without(rule, referee)]:
                bad.append(f"{rule.text}: {found}, not {state_without(rule, referee)}")
        elif any(r["begin_ns"] is None for r in of_rule):
            bad.append(f"{rule.text}: alerts, and a row without")
    tap.none(bad, f"{name}: the state of thresholds without alerts")


def may_be_over(referee, row, begin):
    """An alert that goes on, in seconds of which nothing is known after the last one in which it was reached."""
    judge = referee.judges.get((row["threshold"], row["of"] or ""))
    last = [s.end for s, answers in zip(judge.seconds, judge.levels) if answers[-1]] if judge else []
    return row["end_ns"] is None and (not last or begin >= last[-1])


def judge_each(tap, name, referee, rows, each):
    """Each second has the alerts that it is part of."""
    bad, n = [], 0
    alerts = [r for r in rows if r["begin_ns"] is not None]
    text = lambda r: json.dumps(r, sort_keys=True)
    for second in each:
        begin, end = second["range"]["from_ns"], second["range"]["to_ns"]
        want = [r for r in alerts if r["begin_ns"] < end and (r["end_ns"] is None or r["end_ns"] > begin)]
        either = {text(r) for r in want if may_be_over(referee, r, begin)}
        found = [r for r in second["rows"] if r["begin_ns"] is not None]
        without = [r["threshold"] for r in second["rows"] if r["begin_ns"] is None]
        n += len(found)
        known = {text(r) for r in found}
        if len(found) != len(known) or not known ^ {text(r) for r in want} <= either:
            bad.append(f"{begin}: {len(found)} alerts, not {len(want)}")
        if sorted(without) != sorted({r.text for r in referee.rules} - {r["threshold"] for r in found}):
            bad.append(f"{begin}: without alerts are {without}")
    tap.none(bad, f"{name}: --each has {n} alerts in {len(each)} seconds")


STATUS = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
LINE = re.compile(r"BLKTOP (\w+): ([^|]*?)(?: \(and (\d+) more\))?(?: \| (.*))?\n")
DATUM = re.compile(r"'([^'=]+)'=(-?[\d.e+-]+)(s|B|);([^; ]*);([^; ]*) ?")


def limit(rule, value, scale):
    """As Nagios writes a range: 5 is reached above it, 5: below it."""
    if not value or value[1]:
        return ""
    number = value[0] / scale
    return f"{number:.9g}:" if rule.is_less() else f"{number:.9g}"


def wrong_datum(rule, bounds, datum):
    label, number, unit, warn, red = datum
    scale = S if unit == "s" else 1
    if not re.search("[='|]", rule.subject) and re.sub(r" \(\d+\)$", "", label) != rule.subject:
        return f"the label of {rule.subject} is {label}"
    if not in_bounds(float(number) * scale, bounds):
        return f"{label} is {number}{unit}, not in {bounds}"
    want = limit(rule, rule.warn, scale), limit(rule, rule.red, scale)
    return None if (warn, red) == want else f"{label}: limits are {(warn, red)}, not {want}"


def judge_line(referee, rows, status, out):
    """The differences of what --check says."""
    m = LINE.fullmatch(out)
    if not m:
        return [f"not the line of a plugin: {out}"]
    states = {r["state"] for r in rows}
    want = "CRITICAL" if "ALERT" in states else "WARNING" if "WARN" in states else "OK"
    judged = [(rule, referee.worst_of(rule)) for rule in referee.rules]
    if want == "OK" and not all(bounds for _, bounds in judged):
        want = "UNKNOWN"
    bad = [] if (m[1], status) == (want, STATUS[want]) else [f"{m[1]}, status {status}, not {want}"]
    alerts = [r for r in rows if r["begin_ns"] is not None]
    if alerts:
        worst = {r["sentence"] for r in alerts if r["state"] == ("ALERT" if want == "CRITICAL" else "WARN")}
        if m[2] not in worst or int(m[3] or 0) != len(alerts) - 1:
            bad.append(f"{m[2]}, and {m[3]} more: not the worst of {len(alerts)} alerts")
    data = DATUM.findall(m[4] or "")
    judged = [(rule, bounds) for rule, bounds in judged if bounds]
    if DATUM.sub("", m[4] or "") or len(data) != len(judged):
        bad.append(f"{len(data)} performance data, not {len(judged)}: {m[4]}")
        return bad
    return bad + list(filter(None, (wrong_datum(*j, d) for j, d in zip(judged, data))))


def judge_check(tap, name, figures, lists, referee, rows):
    """Its status and line, for each list of thresholds."""
    bad, statuses = [], collections.Counter()
    for texts in lists:
        if texts is not referee.texts:
            referee, rows = Referee(figures, texts), printed([figures.trace], texts)[0]["rows"]
        status, out, err = blk.blktop("-b", "--check", *options(texts), figures.trace)
        statuses[status] += 1
        bad += [f"{why}; thresholds: {texts}" for why in judge_line(referee, rows, status, out)]
    tap.none(bad, f"{name}: --check of {len(lists)} lists of thresholds: statuses {sorted(statuses)}")
    return set(statuses)


CHECKS = [["losses > 0", "cpu.run by cpu > 10s warn 300ms"], ["losses > 0"], ["losses < 1", "losses >= 1"],
          ["losses > 0", "call.latency p99 where process == nosuch > 1ms"],
          ["call.latency max where process == nosuch > 1ms", "cpu.run by cpu > 10s warn 300ms"]]


def compare(tap, name, trace):
    figures = Figures(name, trace)
    texts = [text for text in REQUESTS + KERNEL if figures.has(Rule(text))]
    referee, rows = Referee(figures, texts), printed([trace], texts)[0]["rows"]
    judge_alerts(tap, name, figures, referee, rows)
    judge_states(tap, name, referee, rows)
    judge_each(tap, name, referee, rows, printed([trace], texts, "--each"))
    checks = {"lost/trace": [["losses > 1000000"]], "containers/trace": CHECKS}
    statuses = judge_check(tap, name, figures, [texts] + checks.get(name, []), referee, rows)
    if name == "containers/trace":
        tap.equal(statuses, {0, 1, 2, 3}, f"{name}: all statuses are among them")
        judge_range(tap, name, figures, RANGE, rows)
    if name == "demo/trace":
        judge_baseline(tap, name, figures)


RANGE = ["losses > 0", "cpu.run by cpu <= 500ms warn 900ms", "call.latency count by call > 100 warn 50",
         "sched.switches by cpu > 1.1 x usual"]
BASELINE = ["p99 of any > 3 x usual warn 2 x usual", "count of thumbnail >= 1.05 x usual",
            "call.latency count by call > 1.2 x usual", "call.latency max by call > 900 x usual"]


def judge_baseline(tap, name, figures):
    """What was usual from the fifth second to the end of the one before the last, which are more than 20."""
    first, end = 4, len(figures.seconds) - 1
    part = ["--from", f"@{figures.seconds[first].begin}", "--to", f"@{figures.seconds[end].begin}"]
    texts = [text for text in BASELINE if figures.has(Rule(text))]

    def usual(rule, of):
        cells = figures.of(rule).get(of, {})
        inside = [cells.get(i) for i in range(first, end)]
        if rule.figure == "count":
            begun = next((i for i, cell in enumerate(inside) if cell or min(cells, default=end) < first), len(inside))
            counts = [cell.count if cell else 0 for cell in inside[begun:]]
            return (sum(counts) / len(counts),) * 2 if len(counts) >= LEAST_USUAL else ()
        values = [v for cell in inside if cell for v in cell.values or ()]
        return percentile(values, 0.5) if len(values) >= LEAST_USUAL else ()

    with tempfile.TemporaryDirectory() as state:
        env, saved = {"XDG_STATE_HOME": state}, []
        for each in ([], ["--each"]):
            printed([figures.trace], texts, "--save-baseline", "good", *part, *each, env=env)
            with open(os.path.join(state, "blktop", "baselines", "good"), encoding="utf-8") as f:
                saved.append(set(f))
            if not each:
                rows = printed([figures.trace], texts, "--baseline", "good", env=env)[0]["rows"]
    judge_alerts(tap, f"{name}, baseline", figures, Referee(figures, texts, usual), rows)
    found = by_value(rows)
    learnt = [key for key, judge in Referee(figures, texts).judges.items() if key[1] not in NO_EXIT
              and len(judge.doubtful()) <= MOST_DOUBTFUL
              and list(map(as_alert, found.get(key, []))) not in judge.alternatives()]
    tap.ok(learnt, f"{name}: the baseline makes a difference")
    tap.ok(saved[0] == saved[1], f"{name}: --each saves the same baseline",
           *sorted(saved[0] ^ saved[1]))


def judge_range(tap, name, figures, texts, rows):
    """A range has the alerts that it is part of, and --check judges them."""
    begin, end = figures.seconds[2].begin, figures.seconds[4].begin
    part, bad = ["--from", f"@{begin}", "--to", f"@{end}"], []
    inside = printed([figures.trace], texts, *part)[0]["rows"]
    text = lambda r: json.dumps(r, sort_keys=True)
    for rule in map(Rule, texts):
        want = [r for r in rows if r["threshold"] == rule.text and r["begin_ns"] is not None
                and r["begin_ns"] < end and (r["end_ns"] is None or r["end_ns"] > begin)]
        found = [r for r in inside if r["threshold"] == rule.text and r["begin_ns"] is not None]
        if sorted(map(text, found)) != sorted(map(text, want)):
            bad.append(f"{rule.text}: {len(found)} alerts, not {len(want)}")
        states = {r["state"] for r in want}
        status = 2 if "ALERT" in states else 1 if "WARN" in states else 0
        said = blk.blktop("-b", "--check", *options([rule.text]), *part, figures.trace)
        if said[0] != status:
            bad.append(f"{rule.text}: --check ends with {said[0]}, not {status}: {said[1]}")
    tap.none(bad, f"{name}: {len(texts)} thresholds in a range")


LIVE = ["containers/trace", "thumb/trace"]


def judge_live(tap, name):
    """A relay serves the recording. The cause is left out, which may need spans that come later, and the end: when the last
    second of an alert is printed, the next is perhaps not judged yet."""
    trace, texts = blk.find(*name.split("/")), REQUESTS + KERNEL
    recorded = printed([trace], texts)[0]["rows"]
    relay = Relay(Recording(trace))
    try:
        live = printed([f"net://127.0.0.1:{relay.port}/host/{HOST}/{SESSION}"], texts, "--each")
    finally:
        relay.close()
    first, last = live[0]["range"]["to_ns"], live[-1]["range"]["from_ns"]
    latest = {}
    for second in live:
        latest.update({(r["threshold"], r["of"], r["begin_ns"]): r for r in second["rows"] if r["begin_ns"]})

    def by_key(rows):
        return {(r["threshold"], r["of"], r["begin_ns"]): {k: v for k, v in r.items() if k not in ("cause", "end_ns")}
                for r in rows if r["begin_ns"]}

    def inner(rows):
        return by_key(r for r in rows if r["begin_ns"] and r["begin_ns"] >= first and (r["end_ns"] or last + 1) <= last)
    a, b = inner(recorded), by_key(latest.values())
    bad = [f"{key}: recorded {row}, live {b.get(key)}" for key, row in a.items() if row != b.get(key)]
    bad += [f"{key}: only live" for key in inner(latest.values()).keys() - by_key(recorded).keys()]
    tap.none(sorted(bad), f"{name}: {len(a)} of {len(latest)} alerts live as in the recording")
    whole = [{r["threshold"], r["of"], str(r["begin_ns"])} for r in recorded if r["begin_ns"]]
    tap.ok(len(a) > 20 and abs(len(whole) - len(latest)) * 20 < len(whole), f"{name}: live has as many alerts",
           f"{len(latest)}, not {len(whole)}")


def main():
    blk.need_babeltrace2()
    tap = blk.Tap()
    blk.each_trace(tap, TRACES, compare)
    for name in LIVE:
        judge_live(tap, name)
    tap.done()


if __name__ == "__main__":
    main()
