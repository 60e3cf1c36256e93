#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The dashboards for Grafana: their form, and that each metric, label and name in their queries is one that blktop sends."""
import fnmatch
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk
import exposition
from graphite import Carbon
from spans_server import Spans

FOLDER = os.path.join(blk.ROOT, "doc", "dashboards")
TRACES = ["demo/trace", "lost/trace", "lost/trace-overwrite"]        # a service and a disk; lost events; lost packets
COLUMNS = 24
UNITS = {"s", "reqps", "ops", "percentunit", "Bps", "eps", "short"}

# ---- form: a type, a set of values, or what its members are; "name?" may be missing ----

REFERENCE = {"type": str, "uid": str}
TARGET = {"refId": str, "datasource": REFERENCE, "expr?": str, "legendFormat?": str, "exemplar?": bool, "format?": {"heatmap"},
          "target?": str}
FORM = {
    "__inputs": [{"name": str, "label": str, "description": str, "type": {"datasource"}, "pluginId": {"prometheus", "graphite"},
                  "pluginName": str}],
    "__requires": [{"type": {"grafana", "datasource"}, "id": str, "name": str, "version": str}],
    "uid": str, "title": str, "description": str, "tags": [str], "schemaVersion": int, "version": int, "editable": bool,
    "graphTooltip": int, "refresh": str, "time": {"from": str, "to": str}, "timezone": {"browser"}, "annotations": {"list": [dict]},
    "links": [dict],
    "templating": {"list": [{
        "name": str, "type": {"query"}, "label": str, "datasource": REFERENCE, "query": (str, dict), "definition": str,
        "includeAll": bool, "multi": bool, "allValue": str, "current": dict, "refresh": int, "regex": str, "sort": int, "hide": int,
        "options": [dict]}]},
    "panels": [{
        "id": int, "type": {"timeseries", "stat", "heatmap"}, "title": str, "description": str, "datasource": REFERENCE,
        "gridPos": {"x": int, "y": int, "w": int, "h": int},
        "fieldConfig": {"defaults": {"unit": UNITS, "min": int, "custom": dict}, "overrides": [dict]}, "options": dict,
        "targets": [TARGET]}],
}


def wrong(what, value, form):
    if isinstance(form, set):
        if value not in form:
            yield f"{what}: {value}"
    elif isinstance(form, list):
        for i, v in enumerate(value if isinstance(value, list) else []):
            yield from wrong(f"{what}[{i}]", v, form[0])
        if not isinstance(value, list):
            yield f"{what}: no list"
    elif isinstance(form, dict):
        if not isinstance(value, dict):
            yield f"{what}: no object"
            return
        known = {k.rstrip("?"): f for k, f in form.items()}
        yield from (f"{what}: member {k}" for k in value.keys() - known.keys())
        yield from (f"{what}: without {k}" for k in form.keys() - value.keys() if not k.endswith("?"))
        for k in value.keys() & known.keys():
            yield from wrong(f"{what}.{k}", value[k], known[k])
    elif not isinstance(value, form) or (form is int and isinstance(value, bool)):
        yield f"{what}: {value!r}"


def cells(p):
    g = p["gridPos"]
    return {(x, y) for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}


def placed(d):
    taken = {}
    for p in d["panels"]:
        for cell in cells(p):
            if cell in taken or not 0 <= cell[0] < COLUMNS:
                yield f"{p['title']} and {taken.get(cell)} at {cell}"
            taken[cell] = p["title"]


def named(d):
    """Each is there once; what refers to a data source refers to the input."""
    for what, values in (("panel id", [p["id"] for p in d["panels"]]), ("title", [p["title"] for p in d["panels"]]),
                         *((p["title"] + ": refId", [t["refId"] for t in p["targets"]]) for p in d["panels"])):
        yield from (f"{what} {v} is there twice" for v in set(values) if values.count(v) > 1)
    (only,) = d["__inputs"]
    wanted = {"type": only["pluginId"], "uid": "${%s}" % only["name"]}
    for v in [*d["templating"]["list"], *d["panels"], *(t for p in d["panels"] for t in p["targets"])]:
        if v["datasource"] != wanted:
            yield f"data source {v['datasource']}"
    variables = {v["name"] for v in d["templating"]["list"]} | {"__rate_interval"}
    for query in queries(d):
        yield from (f"variable ${v}" for v in re.findall(r"\$(\w+)", query) if v not in variables)


def queries(d):
    """Expressions of panels, and what variables are asked for."""
    yield from (t.get("expr") or t.get("target") or "" for p in d["panels"] for t in p["targets"])
    yield from (v["definition"] for v in d["templating"]["list"])


# ---- what blktop sends ----

def prometheus_names():
    """Sample names, and the labels of each."""
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for trace in TRACES:
            file, server = os.path.join(work, "blktop.prom"), Spans()
            status, _, err = blk.blktop("-b", "--metrics-file", file, "--forward", f"http://127.0.0.1:{server.port}/v1/traces",
                                        blk.find(trace))
            if status not in (0, 3):
                raise blk.Failed(err)
            for f in exposition.parse(open(file, encoding="utf-8").read()).values():
                base = f.name[:-len("_total")] if f.kind == "counter" and f.name.endswith("_total") else f.name
                for (suffix, labels) in f.samples:
                    found.setdefault(base + suffix, set()).update(k for k, _ in labels)
            server.close()
    return found


def check_prometheus(tap, d):
    known, bad, n = prometheus_names(), [], 0
    for query in queries(d):
        names = re.findall(r"\bblktop_\w+", query)
        n += len(names)
        labels = set().union(*(known.get(name, set()) for name in names))
        used = {w.strip() for by in re.findall(r"\bby \(([^)]*)\)", query) for w in by.split(",")}
        used |= set(re.findall(r"[{,]\s*(\w+)\s*[=!]", query)) | set(re.findall(r"label_values\(\w+, (\w+)\)", query))
        bad += [f"{name}: no such metric" for name in names if name not in known] + [f"{query}: no label {w}" for w in used - labels]
        if not names:
            bad.append(f"{query}: no metric")
    for p in d["panels"]:
        used = {w for t in p["targets"] for w in re.findall(r"\{\{(\w+)\}\}", t["legendFormat"])}
        of = {w for t in p["targets"] for by in re.findall(r"\bby \(([^)]*)\)", t["expr"]) for w in by.split(", ")}
        bad += [f"{p['title']}: legend {w}" for w in used - of]
    tap.none(bad, f"Prometheus: {n} names in queries are sent")


def metrics_of_page():
    """What doc/service.md says must be sent to Graphite."""
    text = open(os.path.join(blk.ROOT, "doc", "service.md"), encoding="utf-8").read()
    return re.search(r"--graphite 127\.0\.0\.1 --metrics '([^']*)'", text)[1]


def check_graphite(tap, d):
    names = set()
    for trace in TRACES:
        server = Carbon()
        status, _, err = blk.blktop("-b", "--graphite", f"127.0.0.1:{server.port}", "--metrics", metrics_of_page(), blk.find(trace))
        if status not in (0, 3):
            raise blk.Failed(err)
        names |= {name for name, _ in server.stored}
        server.close()
    bad, n = [], 0
    for query in queries(d):
        for path in re.findall(r"1min\.lttng\.[\w.*$]+", query):
            n += 1
            pattern = re.sub(r"\$\w+", "*", path).split(".")
            # Queries of variables name the beginning of a path.
            whole = query != path
            if not any((len(parts) == len(pattern) if whole else len(parts) >= len(pattern)) and
                       all(fnmatch.fnmatchcase(a, b) for a, b in zip(parts, pattern)) for parts in (name.split(".") for name in names)):
                bad.append(f"{path}: no such name")
        if "1min.lttng." not in query:
            bad.append(f"{query}: no name")
        if query.count("(") != query.count(")"):
            bad.append(f"{query}: parentheses")
    tap.none(bad, f"Graphite: {n} names in queries are sent")


def main():
    tap = blk.Tap()
    for kind, check in (("prometheus", check_prometheus), ("graphite", check_graphite)):
        with open(os.path.join(FOLDER, f"grafana-{kind}.json"), encoding="utf-8") as f:
            d = json.load(f)
        bad = list(wrong(kind, d, FORM))
        if not tap.none(bad, f"{kind}: its form"):
            continue
        tap.none(list(placed(d)), f"{kind}: {len(d['panels'])} panels do not overlap")
        tap.none(list(named(d)), f"{kind}: names and references")
        check(tap, d)
    tap.done()


if __name__ == "__main__":
    main()
