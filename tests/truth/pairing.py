# SPDX-License-Identifier: GPL-2.0-only
"""Rules for spans, in the plainest way: reads files of rules and babeltrace2's text, and pairs events as doc/spans.md says.

It shares no code with blktop. Events are looked at one by one, in babeltrace2's order; every rule is tried on every event.

babeltrace2 2.0.4 prints an empty text of a field as that of an earlier event of the class, if it had one: nothing can be said of such fields."""
import collections
import fnmatch
import os
import re
import subprocess

ENUM = re.compile(r'\( (?:<unknown>|"[^"]*"(?: "[^"]*")*) : container = (-?\d+) \)')
HEAD = re.compile(r"\[(\d+)\.(\d+)\] (?:\(\S+\) )?(?:(\S+) )?(\S+): (\{.*)")
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s,{}\[\]=]+)')
ESCAPES = {"n": "\n", "t": "\t", "0": "\0"}

Event = collections.namedtuple("Event", "ns host name own fields")      # own: without the provider


TEXT_BYTES = 256      # of a text that a rule takes


class Hex(int):
    """A number that the trace shows in base 16."""


def number(word):
    if word.startswith("0x"):
        return Hex(word, 16)
    try:
        return int(word)
    except ValueError:
        try:
            return float(word)
        except ValueError:
            return word


def plain(quoted):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), quoted)


def scopes(text):
    """The fields of each `{ ... }` of a line, nested ones and elements as a.b and a[0]: a list of dicts."""
    found, path, name, at = [], [], None, 0
    while at < len(text):
        c = text[at]
        if c in "{[" and not (c == "[" and re.match(r"\[\d+\] =", text[at:])):
            if c == "{" and not path:
                found.append({})
            path.append(name or "")
            name, at = None, at + 1
        elif c in "}]":
            path.pop()
            at += 1
        elif c in " ,":
            at += 1
        elif re.match(r"(?:\w+|\[\d+\]) = ", text[at:]):
            m = re.match(r"(\w+|\[\d+\]) = ", text[at:])
            name, at = m[1], at + m.end()
        else:
            m = ENUM.match(text, at)
            value, at = (int(m[1]), m.end()) if m else word_at(text, at)
            full = ".".join([p for p in path if p] + [name or ""]).replace(".[", "[")
            found[-1][full] = value
            name = None
    return found


def word_at(text, at):
    m = WORD.match(text, at)
    if not m:
        raise ValueError(f"babeltrace2's text is not understood at {text[at:at + 60]!r}")
    return (plain(m[1]) if m[1] is not None else number(m[2])), m.end()


def event_of(line):
    m = HEAD.match(line)
    if not m:
        raise ValueError(f"babeltrace2's text is not understood: {line[:100]!r}")
    parts = scopes(m[5])
    fields = dict(parts[-1])
    cpu = [p.pop("cpu_id") for p in parts[:-1] if "cpu_id" in p]
    for part in parts[:-1]:
        for name, value in part.items():
            fields["ctx." + name] = value
    for name, value in parts[-1].items():
        fields["payload." + name] = value
    own = m[4].split(":", 1)[-1]
    fields.update({"event": own, "ctx.(host)": m[3]}, **({"cpu": cpu[0]} if cpu else {}))
    return Event(int(m[1]) * 1000000000 + int(m[2]), m[3], m[4], own, fields)


def events(trace):
    """([Event], what babeltrace2 warned of)"""
    r = subprocess.run(["babeltrace2", "--clock-seconds", trace], capture_output=True, text=True, errors="replace", check=False)
    if r.returncode:
        raise RuntimeError(f"babeltrace2 ends with status {r.returncode} on {trace}: {r.stderr[:300]}")
    return [event_of(line) for line in r.stdout.splitlines()], r.stderr


# ---- rules ----

def groups(path):
    """[(name of the group, {key: value})]"""
    found = []
    with open(path, encoding="utf-8") as f:
        for line in (text.strip() for text in f):
            if line.startswith("["):
                found.append((line[1:-1].strip(), {}))
            elif line and not line.startswith("#"):
                key, value = line.split("=", 1)
                found[-1][1].setdefault(key.strip(), value.strip())
    return found


class Rule:
    """A rule; the stars of patterns are groups of regular expressions."""

    def __init__(self, name, lines, path=""):
        self.name, self.lines, self.path = name.removeprefix("span ").strip(), lines, path
        # an event with a duration is a beginning and an end
        self.duration, self.unit = lines.get("duration"), {"ns": 1, "us": 1000, "ms": 10 ** 6, "s": 10 ** 9}[lines.get("unit", "ns")]
        self.begin, self.begin_stars = pattern(lines["end" if self.duration else "begin"])
        self.end, self.end_stars = pattern(lines["end"], False)
        self.begin_key = names(lines.get("begin_key", lines.get("key", "thread")))
        self.end_key = names(lines.get("end_key", lines.get("key", "thread")))
        self.nested, self.is_async = lines.get("nested") == "yes", lines.get("async") == "yes"
        self.begin_if, self.end_if, self.error_if = (condition(lines.get(k)) for k in ("begin_if", "end_if", "error_if"))
        self.shared = [n for n in self.begin_stars if n in self.end_stars]

    def key(self, fields, key, thread):
        """What a pair has in common; None: the event has no value for one of its fields."""
        values = [look(fields, name) for name in key if name not in ("thread", "host")] + [thread] * ("thread" in self.begin_key)
        return None if None in values else (tuple(values), tuple(fields[n] for n in self.shared))

    def is_named_by_thread(self):
        """Is the key no more than the thread, or the host?"""
        return not self.shared and set(self.begin_key) <= {"thread", "host"}


def pattern(text, begins=True):
    """(regular expression, [name of each of its stars])"""
    found, stars = "", []
    for piece in re.split(r"(\*|\$\{\d\})", text):
        star = piece == "*" or piece.startswith("${")
        if star:
            stars.append(str(len(stars) + 1) if begins else piece[2:-1])
        found += "(.*?)" if star else re.escape(piece)
    return re.compile(found), stars


def names(text):
    return [n.strip() for n in text.split(",")]


def look(fields, name):
    """The first of the alternatives that the event has."""
    return next((fields[n] for n in name.split("|") if n in fields), None)


def shown(value):
    if value is None or isinstance(value, float):
        return "?"
    return f"0x{value & (1 << 64) - 1:x}" if isinstance(value, Hex) else cut(str(value))


def cut(text):
    return text.encode()[:TEXT_BYTES].decode(errors="ignore")


def fill(template, fields, tables=None):
    return re.sub(r"\$\{([^}]*)\}", lambda m: filled(m[1].strip(), fields, tables), template)


def filled(expression, fields, tables):
    """The text of what is between ${ and }: the first of its alternatives that is known."""
    for part in alternatives(expression):
        m = is_lookup(part)
        if m:
            value = tables.get(m[1], filled(m[2], fields, tables), fields)
        else:
            value = shown(look(fields, part))
        if value not in (None, "?"):
            return value
    return "?"


def is_lookup(text):
    """TABLE[FIELD]: (table, field); False: it is a field."""
    m = re.fullmatch(r"([A-Za-z_]\w*)\[(.*)\](?:\|.*)?", text)
    return m if m and not m[2].isdigit() else False


def alternatives(text):
    """What is between | outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts


class Tables:
    """Groups [table NAME]: what events defined, by host and process. A value of which a part is unknown is unknown."""

    def __init__(self, rules):
        self.rules = [(name, lines, pattern(lines["event"])[0], condition(lines.get("if"))) for name, lines in rules]
        self.of_hosts = {name for name, lines in rules if lines.get("scope") == "host"}
        self.values, self.uses = {}, {}

    def place(self, name, key, fields):
        return name, key, fields["ctx.(host)"], None if name in self.of_hosts else fields.get("ctx.vpid")

    def get(self, name, key, fields):
        return self.values.get(self.place(name, key, fields))

    def take(self, event):
        if event.name not in self.uses:
            self.uses[event.name] = [r for r in self.rules if r[2].fullmatch(event.name)]
        for name, lines, _, only_if in self.uses[event.name]:
            keys = [shown(look(event.fields, k)) for k in names(lines["key"])]
            if "?" in keys or (only_if and not only_if(event.fields)):
                continue
            parts = re.split(r"\$\{([^}]*)\}", lines["value"])
            known = [filled(p, event.fields, self) if i % 2 else p for i, p in enumerate(parts)]
            self.values[self.place(name, ", ".join(keys), event.fields)] = None if "?" in known[1::2] else "".join(known)


# ---- conditions ----

TOKEN = re.compile(r'\s*(\|\||&&|[()]|=~|!~|==|!=|<=|>=|[<>=!]|"(?:[^"\\]|\\.)*"|[^\s()=!<>&|"]+)')


def condition(text):
    """A function of an event's fields; without text None."""
    if not text:
        return None
    tokens = TOKEN.findall(text)

    def either():
        parts = [both()]
        while tokens and tokens[0] in ("||", "or"):
            tokens.pop(0)
            parts.append(both())
        return lambda f: any(p(f) for p in parts)

    def both():
        parts = [negated()]
        while tokens and tokens[0] in ("&&", "and"):
            tokens.pop(0)
            parts.append(negated())
        return lambda f: all(p(f) for p in parts)

    def negated():
        if tokens[0] in ("!", "not"):
            tokens.pop(0)
            inner = negated()
            return lambda f: not inner(f)
        if tokens[0] == "(":
            tokens.pop(0)
            inner = either()
            tokens.pop(0)
            return inner
        return test(tokens.pop(0), tokens.pop(0), tokens.pop(0))

    found = either()
    if tokens:
        raise ValueError(f"condition '{text}': {tokens} is left")
    return found


def test(name, operator, literal):
    quoted = literal.startswith('"')
    wanted = plain(literal[1:-1]) if quoted else number(literal)

    def compare(value):
        if operator in ("=~", "!~"):
            return bool(re.search(str(wanted), str(value), re.I)) == (operator == "=~")
        if isinstance(wanted, str) != isinstance(value, str):
            return operator == "!="
        if isinstance(value, str):
            same = value == wanted if quoted else fnmatch.fnmatchcase(value, wanted)
            return same == (operator != "!=")
        return {"=": value == wanted, "==": value == wanted, "!=": value != wanted, "<": value < wanted, "<=": value <= wanted,
                ">": value > wanted, ">=": value >= wanted}[operator]

    def holds(fields):
        value = look(fields, name)
        return operator in ("!=", "!~") if value is None else compare(value)
    return holds


# ---- pairing ----

class Span:
    """begin or end None: not known"""
    __slots__ = ("rule", "name", "service", "begin", "end", "host", "pid", "tid", "tags", "error", "parent")

    def __init__(self, rule, event, begins, tables):
        f = event.fields
        lines = rule.lines
        given = lambda key, default: (default if key not in lines or ("${" in lines[key] and not begins) else fill(lines[key], f, tables))
        self.rule, self.host = rule, event.host
        self.name = given("name", rule.name)
        self.service = given("service", f.get("ctx.procname", ""))
        self.begin, self.end = (event.ns, None) if begins else (None, event.ns)
        self.pid, self.tid = f.get("ctx.vpid"), f.get("ctx.vtid")
        tags = names(lines["tags"]) if begins and "tags" in lines else []
        self.tags = {n.split("[")[0] if is_lookup(n) else n: filled(n, f, tables) for n in sorted(tags, key=lambda t: bool(is_lookup(t)))}
        self.error, self.parent = False, None


def part_of_key(part, fields, tables):
    """A field, the host, or a text of which all is known; None: the event has no such value."""
    if "${" not in part:
        return fields["ctx.(host)"] if part == "host" else fields.get(part)
    return None if "?" in (filled(m, fields, tables) for m in re.findall(r"\$\{([^}]*)\}", part)) else fill(part, fields, tables)


def messages(text, fields, tables):
    """(name, values) of "NAME(FIELD, ...), NAME(FIELD)" for which the event has all fields."""
    for name, inner in re.findall(r"(\w+)\(([^)]*)\)", text):
        key = tuple(part_of_key(n, fields, tables) for n in names(inner))
        if None not in key:
            yield name, key


class Pairing:
    """The spans of a trace, by rules."""

    def __init__(self, rules, tables=None):
        self.rules, self.spans, self.tables = rules, [], Tables(tables or [])
        self.by_key, self.by_thread = collections.defaultdict(list), collections.defaultdict(list)
        self.sent = {}      # (name of a message, its key) -> the span that sent it last
        self.uses = {}      # name of an event: ([(rule, texts of its stars)] that it ends, the same that it begins)

    def uses_of(self, name):
        if name not in self.uses:
            found = [], []
            for r in self.rules:
                for side, (regex, stars) in enumerate(((r.end, r.end_stars), (r.begin, r.begin_stars))):
                    m = regex.fullmatch(name)
                    if m:
                        found[side].append((r, {n: t for n, t in zip(stars, m.groups()) if n}))
            self.uses[name] = found
        return self.uses[name]

    def take(self, event):
        self.tables.take(event)
        ends, begins = self.uses_of(event.name)
        for rule, stars in begins:
            if rule.duration:
                self.whole(rule, event, {**event.fields, **stars})
        ends, begins = ([(r, s) for r, s in uses if not r.duration] for uses in (ends, begins))
        for rule, stars in ends:
            self.ends(rule, event, {**event.fields, **stars})
        for rule, stars in begins:
            self.begins(rule, event, {**event.fields, **stars})

    def sends(self, span, text, fields):
        for message in messages(text or "", fields, self.tables):
            self.sent[message] = span

    def close(self, span, key, thread):
        self.by_key[key].remove(span)
        if span in self.by_thread[thread]:
            self.by_thread[thread].remove(span)

    def ends(self, rule, event, fields):
        if rule.end_if and not rule.end_if(fields):
            return
        key = rule.key(fields, rule.end_key, fields.get("ctx.vtid"))
        key = key and (rule, event.host, key)
        stack = self.by_key[key] if key else []
        if not stack:
            if not rule.begin_if or rule.end_if:
                self.spans.append(Span(rule, event._replace(fields=fields), False, self.tables))
                self.spans[-1].error = bool(rule.error_if and rule.error_if(fields))
            return
        span = stack[-1]
        self.close(span, key, (event.host, span.tid))
        span.end = event.ns
        self.sends(span, rule.lines.get("end_link_out"), fields)
        span.error = bool(rule.error_if and rule.error_if(fields))

    def whole(self, rule, event, fields):
        """The event is the end, and says how long it took."""
        if rule.end_if and not rule.end_if(fields):
            return
        span = Span(rule, event._replace(fields=fields), True, self.tables)
        took = 0 if rule.duration == "0" else fields.get(rule.duration)
        known = isinstance(took, (int, float)) and 0 <= took * rule.unit <= event.ns
        span.end, span.begin = event.ns, event.ns - int(took * rule.unit + 0.5) if known else None
        span.error = bool(rule.error_if and rule.error_if(fields))
        self.sends(span, rule.lines.get("end_link_out"), fields)
        if known and rule.lines.get("parent") == "thread":
            span.parent = next((s for s in reversed(self.by_thread[event.host, span.tid]) if s.begin <= span.begin), None)
        self.spans.append(span)

    def parent_of(self, rule, event, fields):
        where = rule.lines.get("parent")
        if where is None:
            return None
        if where == "link":
            return next((self.sent[m] for m in messages(rule.lines["link_in"], fields, self.tables) if m in self.sent), None)
        if where == "thread":
            stack = self.by_thread[event.host, fields.get("ctx.vtid")]
            return stack[-1] if stack else None
        other = next(r for r in self.rules if (r.path, r.name) == (rule.path, where))
        if "parent_key" not in rule.lines and not other.is_named_by_thread():
            stack = [s for s in self.by_thread[event.host, fields.get("ctx.vtid")] if s.rule is other]
        else:
            key = other.key(fields, names(rule.lines.get("parent_key", "thread")), fields.get("ctx.vtid"))
            stack = self.by_key[other, event.host, key] if key else []
        return stack[-1] if stack else None

    def begins(self, rule, event, fields):
        if rule.begin_if and not rule.begin_if(fields):
            return
        span = Span(rule, event._replace(fields=fields), True, self.tables)
        self.spans.append(span)
        key = rule.key(fields, rule.begin_key, span.tid)
        key = key and (rule, event.host, key)
        thread = event.host, span.tid
        if key and not rule.nested and self.by_key[key]:
            self.close(self.by_key[key][-1], key, (event.host, self.by_key[key][-1].tid))
        span.parent = self.parent_of(rule, event, fields)
        self.sends(span, rule.lines.get("link_out"), fields)
        if key:
            self.by_key[key].append(span)
            if not rule.is_async:
                self.by_thread[thread].append(span)


def spans(rules, its_events, tables=None):
    pairing = Pairing(rules, tables)
    for e in its_events:
        pairing.take(e)
    return pairing.spans


# ---- annotations ----

# OpenTelemetry's log data model, appendix B, in blktop's words
SEVERITIES = {
    "jul": {1000: "error", 900: "warning", 800: "info", 700: "debug", 500: "debug", 400: "debug", 300: "trace"},
    "python": {50: "fatal", 40: "error", 30: "warning", 20: "info", 10: "debug"},
}


class Note:
    """A rule for annotations."""

    def __init__(self, name, lines):
        self.name, self.lines = name.removeprefix("annotation ").strip(), lines
        self.event, self.stars = pattern(lines["event"])
        self.only_if = condition(lines.get("if"))

    def of(self, event, span):
        """(the span's name, begin, thread; instant, text, severity) of an event; None: it is another event."""
        m = self.event.fullmatch(event.name)
        fields = m and {**event.fields, **dict(zip(self.stars, m.groups()))}
        if not m or (self.only_if and not self.only_if(fields)):
            return None
        level = look(fields, self.lines["severity"]) if "severity" in self.lines else None
        text = fill(self.lines["text"], fields) if "text" in self.lines else self.name
        return span and (span.name, span.begin, span.tid, event.ns, text, SEVERITIES[self.lines["scale"]].get(level) if level is not None else None)


def annotations(rules, notes, its_events):
    """(Counter of what each annotation is, and of which span; how many are of none)"""
    pairing, found, alone = Pairing(rules), collections.Counter(), 0
    for e in its_events:
        pairing.take(e)
        stack = pairing.by_thread[e.host, e.fields.get("ctx.vtid")]
        for note in notes:
            if note.event.fullmatch(e.name):
                its = note.of(e, stack[-1] if stack else None)
                alone += its is None
                found.update([its] if its else [])
    return found, alone


def exported_annotations(spans_of_json):
    """The same of the spans of an export in blktop's JSON."""
    found = collections.Counter()
    for s in spans_of_json:
        for a in s["annotations"]:
            if a["event"] not in ("start", "end"):
                found[s["name"], s["begin_ns"], s["tid"], a["at_ns"], a["event"], a.get("severity")] += 1
        found += exported_annotations(s.get("children", []))
    return found


def read_notes(*paths):
    return [Note(name, lines) for path in paths for name, lines in groups(path) if name.startswith("annotation ")]


# ---- comparing with what blktop prints ----

def identity(span):
    return span.name, span.begin, span.end, span.tid


def of_referee(span):
    """What is compared of a span; tags as blktop prints them."""
    return (span.name, span.service, span.begin, span.end, span.host, span.pid, span.tid, " ".join(f"{k}={v}" for k, v in span.tags.items()), span.error,
            identity(span.parent) if span.parent else None)


def of_rows(rows):
    """The same of each row of the view spans: (complete ones, others), as counters."""
    done, cut = collections.Counter(), collections.Counter()
    its = {(r["trace_id"], r["span_id"]): r for r in rows}
    for r in rows:
        whole = r["state"] == "complete"
        parent = its.get((r["trace_id"], r["parent_id"]))
        ends = lambda row: row["end_ns"] if row["state"] == "complete" else None
        head = r["name"], r["service"], r["begin_ns"], ends(r), r["host"], r["pid"], r["tid"]
        if whole:
            done[head + (re.sub("(^| )error=1$", "", r["tags"] or ""), r["errors"] > 0, parent and (parent["name"], parent["begin_ns"], ends(parent), parent["tid"]))] += 1
        elif "start" in r["annotations"]:
            cut[head[0], r["begin_ns"], None, r["tid"]] += 1
        else:
            cut[head[0], None, r["end_ns"], r["tid"]] += 1
    return done, cut


def differences(found, wanted):
    """[text] of what only one of the two counters has"""
    return ([f"blktop alone has {n} {k}" for k, n in sorted((found - wanted).items(), key=str)]
            + [f"blktop lacks {n} {k}" for k, n in sorted((wanted - found).items(), key=str)])


def compare(rules, its_events, rows, tables=None):
    """(complete spans of the referee, others, differences)"""
    made = spans(rules, its_events, tables)
    whole = [s for s in made if s.begin is not None and s.end is not None]
    done, cut = of_rows(rows)
    return (len(whole), len(made) - len(whole),
            differences(done, collections.Counter(map(of_referee, whole)))
            + differences(cut, collections.Counter(identity(s) for s in made if s.begin is None or s.end is None)))


def read_rules(*paths):
    return [Rule(name, lines, path) for path in paths for name, lines in groups(path) if "begin" in lines or "duration" in lines]


def read_tables(*paths):
    """[(name, lines)]"""
    return [(name.split(None, 1)[1], lines) for path in paths for name, lines in groups(path) if name.startswith("table ")]


def read_presets(folder, *asked):
    """The rules of presets that are on by themselves, or asked for by name, and their tables."""
    found, tables = [], []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        head = groups(path)[0][1]
        if head.get("on", "auto") == "auto" or name.removesuffix(".preset") in asked:
            found += read_rules(path)
            tables += read_tables(path)
    return found, tables
