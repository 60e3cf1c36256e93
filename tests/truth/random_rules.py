# SPDX-License-Identifier: GPL-2.0-only
"""Files of rules made by chance for the events of a recording: more of the language than any real file uses."""
import collections
import os
import random

import blk
import pairing

CONTEXTS = ("ctx.vpid", "ctx.procname")
EXPRESSION_WORDS = {"and", "or", "not", "in"}


class Vocabulary:
    """The events of a recording: their fields, and some values of these."""

    def __init__(self, its_events):
        self.values = collections.defaultdict(lambda: collections.defaultdict(list))
        for e in its_events:
            fields = self.values[e.name]
            for name, value in e.fields.items():
                if not name.startswith(("ctx.", "payload.")) and len(fields[name]) < 20:
                    fields[name].append(value)
        self.names = sorted(self.values)

    def fields(self, event):
        return sorted(f for f in self.values[event] if f not in ("cpu", "event") and f not in EXPRESSION_WORDS)


class Maker:
    def __init__(self, random, vocabulary):
        self.random, self.all, self.rules = random, vocabulary, []

    def one_of(self, *what):
        return self.random.choice(what)

    def pattern(self, event):
        """The event's name with up to two pieces of it replaced by stars."""
        for _ in range(self.one_of(0, 0, 1, 2)):
            at = self.random.randrange(event.index(":") + 1, len(event))
            upto = self.random.randrange(at, len(event)) + 1
            if "*" not in event[at:upto]:
                event = event[:at] + "*" + event[upto:]
        return event.replace("**", "*")

    def partner(self, event):
        """An event that has something to do with this one."""
        provider, own = event.split(":")
        fields = set(self.all.fields(event))
        alike = [n for n in self.all.names if n.split(":")[0] == provider and (fields & set(self.all.fields(n)) or n.split(":")[1][:5] == own[:5])]
        return self.random.choice(alike or self.all.names)

    def condition(self, event):
        tests = []
        for _ in range(self.one_of(1, 1, 2)):
            name = self.random.choice([*self.all.fields(event), "ctx.procname", "event"])
            values = self.all.values[event].get(name) or ["executor"]
            value = self.random.choice(values)
            if isinstance(value, float):
                continue
            if isinstance(value, int):
                tests.append(f"{name} {self.one_of('==', '!=', '<', '>=')} {value}")
            else:
                tests.append(f'{name} {self.one_of("==", "!=", "=~")} "{value[:6] if value.isalnum() else "a"}"')
        return f" {self.one_of('&&', '||')} ".join(tests) or "event != nothing"

    def keys(self, begin, end):
        """Lines that say the key, and the fields of the begin event in it."""
        shared = sorted(set(self.all.fields(begin)) & set(self.all.fields(end)))
        key = self.random.sample(shared, min(len(shared), self.one_of(0, 1, 1, 2)))
        if key and self.random.random() < 0.6:
            key.append("ctx.vpid")
        if not key or self.random.random() < 0.4:
            key.append("thread")
        return ["key=" + ", ".join(key)], [k for k in key if k != "thread"]

    def template(self, event):
        return " ".join(f"${{{f}}}" for f in self.random.sample([*self.all.fields(event), "event", "nothing", *CONTEXTS], 2))

    def rule(self, number):
        name, begin = f"r{number}", self.random.choice(self.all.names)
        end = self.partner(begin)
        pattern = self.pattern(begin)
        lines = [f"[{name}]", f"begin={pattern}"]
        if "*" in pattern and self.random.random() < 0.5:
            lines.append("end=" + self.random.choice((pattern.replace("*", "${1}", 1), self.pattern(end).replace("*", "${1}", 1))))
        else:
            lines.append(f"end={self.pattern(end)}")
        paired = "${" in lines[-1]
        more, key = self.keys(begin, end)
        lines += more
        for what, event in (("begin_if", begin), ("end_if", end), ("error_if", end)):
            if self.random.random() < 0.3:
                lines.append(f"{what}={self.condition(event)}")
        flags = [w for w in ("nested", "async") if self.random.random() < 0.4]
        lines += [f"{w}=yes" for w in flags]
        lines += [f"{w}={self.template(begin)}" for w in ("name", "service") if self.random.random() < 0.6]
        fields = self.all.fields(begin)
        if fields and self.random.random() < 0.5:
            lines.append("tags=" + ", ".join(self.random.sample(fields, min(2, len(fields)))))
        lines += self.parent(begin)
        self.rules.append((name, key, paired, "async" in flags))
        return "\n".join(lines) + "\n\n"

    def parent(self, begin):
        if self.random.random() < 0.3 or not self.rules:
            return self.one_of([], ["parent=thread"])
        name, key, paired, is_async = self.random.choice(self.rules)
        able = not paired and key and set(key) <= {*self.all.fields(begin), "ctx.vpid"}
        if able and self.random.random() < 0.7:
            return [f"parent={name}", f"parent_key={', '.join(key)}"]
        return [f"parent={name}"] if not is_async or (not paired and not key) else []


def make(seed, vocabulary, n_rules):
    maker = Maker(random.Random(seed), vocabulary)
    return "".join(maker.rule(i) for i in range(n_rules))


def judge(tap, name, trace, its_events, seeds, folder):
    """Are the spans of a file of rules for each seed the referee's? The rules of those that differ are printed."""
    vocabulary, n, bad = Vocabulary(its_events), 0, []
    path = os.path.join(folder, "random.rules")
    for seed in seeds:
        text = make(seed, vocabulary, 8)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        n_whole, _, differ = pairing.compare(pairing.read_rules(path), its_events, blk.rows("spans", trace, "--presets", "none", "--spans", path))
        n += n_whole
        if differ:
            bad += [f"seed {seed}: {len(differ)} differ:", *differ[:3], text]
    tap.none(bad, f"{name}: {n} spans of {len(seeds)} files of rules that chance made are the referee's")
