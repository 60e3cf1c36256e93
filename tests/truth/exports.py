#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Exported spans against the rules of their formats, over the recordings:

- Zipkin v2: every rule of zipkin2-api.yaml's schema for ListOfSpans;
- OTLP/JSON: an ExportTraceServiceRequest as opentelemetry-proto's specification has it in JSON;
- trace-event JSON: required members of each phase, slices of a track nest, async events and arrows
  come in pairs and lie where they point to;
- all four formats tell of the same spans and times, and of those that --view spans prints;
- --with-kernel adds child spans that lie inside the span they explain, and as much as blktop's
  own format tells of waits and calls;
- an export is imported, and exported again as it was.
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

TRACES = ["kernel-ust/trace", "snapshot/trace"] + \
    ["demo/trace", "live/trace", "rotation/trace", "ctf2/kernel-ust/trace"] * blk.ALL
SLOWEST = "20"


# ---- Zipkin v2 ----

ENDPOINT = {"serviceName": str, "ipv4": str, "ipv6": str, "port": int}
SPAN = {"traceId": str, "parentId": str, "id": str, "kind": str, "name": str, "timestamp": int,
        "duration": int, "debug": bool, "shared": bool, "localEndpoint": dict,
        "remoteEndpoint": dict, "annotations": list, "tags": dict}


def members(what, value, types):
    for k, v in value.items():
        if k not in types:
            yield f"{what}: member {k}"
        elif type(v) is not types[k]:
            yield f"{what}: {k} is {type(v).__name__}"


def zipkin_endpoint(what, e):
    yield from members(what, e, ENDPOINT)
    if not 0 < e.get("port", 1) < 65536:
        yield f"{what}: port {e['port']}"
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", e.get("ipv4", "1.1.1.1")):
        yield f"{what}: ipv4 {e['ipv4']}"
    if e.get("serviceName", "x") != e.get("serviceName", "x").lower():
        yield f"{what}: upper case service"


def zipkin_span(i, s):
    what = f"span {i}"
    yield from members(what, s, SPAN)
    if not re.fullmatch("[a-f0-9]{16}|[a-f0-9]{32}", s.get("traceId", "")):
        yield f"{what}: traceId {s.get('traceId')}"
    for key in ("id", "parentId"):
        if key == "id" or key in s:
            if not re.fullmatch("[a-f0-9]{16}", s.get(key, "")) or set(s[key]) == {"0"}:
                yield f"{what}: {key} {s.get(key)}"
    if s.get("kind", "CLIENT") not in ("CLIENT", "SERVER", "PRODUCER", "CONSUMER"):
        yield f"{what}: kind {s['kind']}"
    if s.get("timestamp", 1) < 1 or s.get("duration", 1) < 1:
        yield f"{what}: timestamp or duration below 1"
    if s.get("shared") and s.get("kind") != "SERVER":
        yield f"{what}: shared, and no server"
    for key in ("localEndpoint", "remoteEndpoint"):
        yield from zipkin_endpoint(f"{what} {key}", s.get(key, {}))
    notes = [(a.get("timestamp"), a.get("value")) for a in s.get("annotations", [])]
    if len(set(notes)) != len(notes):
        yield f"{what}: annotations are not unique"
    for t, v in notes:
        if type(t) is not int or t < 1 or type(v) is not str:
            yield f"{what}: annotation {t} {v}"
    for k, v in s.get("tags", {}).items():
        if type(v) is not str:
            yield f"{what}: tag {k} is no string"


def check_zipkin(spans):
    if type(spans) is not list:
        return ["no list"]
    return [bad for i, s in enumerate(spans) for bad in zipkin_span(i, s)]


def zipkin_facts(spans):
    """(trace, id, kind) -> (begin, duration) of real spans; the others by themselves."""
    real, kernel = {}, []
    for s in spans:
        tags = s["tags"]
        times = int(tags["blktop.begin_ns"]), int(tags["blktop.duration_ns"])
        if s["timestamp"] != times[0] // 1000:
            kernel.append("timestamp and begin_ns differ")
        if "duration" in s and s["duration"] != max(1, -(-times[1] // 1000)):
            kernel.append("duration and duration_ns differ")
        if "blktop.kernel" in tags:
            kernel.append((s["traceId"], s["parentId"], s["id"]) + times)
        else:
            real[s["traceId"], s["id"], s.get("kind")] = times
    return real, kernel


# ---- OTLP/JSON ----

def attributes(what, values):
    keys = [a.get("key") for a in values]
    if len(set(keys)) != len(keys) or not all(type(k) is str and k for k in keys):
        yield f"{what}: keys of attributes"
    for a in values:
        (kind, v), = a["value"].items()
        if set(a) != {"key", "value"} or kind not in ("stringValue", "intValue") or \
                type(v) is not str or (kind == "intValue" and not re.fullmatch(r"-?\d+", v)):
            yield f"{what}: attribute {a}"


def otlp_span(what, s):
    allowed = {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano",
               "endTimeUnixNano", "attributes", "events", "status"}
    if set(s) - allowed or not {"traceId", "spanId", "name", "kind"} <= set(s):
        yield f"{what}: members {sorted(s)}"
    for key, digits in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
        v = s.get(key, "1" * digits)
        if not re.fullmatch(f"[a-f0-9]{{{digits}}}", v) or set(v) == {"0"}:
            yield f"{what}: {key} {v}"
    if type(s["kind"]) is not int or not 1 <= s["kind"] <= 5:
        yield f"{what}: kind {s['kind']}"
    times = s.get("startTimeUnixNano"), s.get("endTimeUnixNano")
    if not all(type(t) is str and t.isdigit() for t in times) or int(times[1]) < int(times[0]):
        yield f"{what}: times {times}"
    yield from attributes(what, s["attributes"])
    for e in s.get("events", []):
        if set(e) != {"timeUnixNano", "name"} or not e["timeUnixNano"].isdigit():
            yield f"{what}: event {e}"
    if s.get("status", {}).get("code", 0) not in (0, 1, 2):
        yield f"{what}: status {s['status']}"


def check_otlp(text):
    bad, ids = [], set()
    if text.count("\n") != 1 or not text.endswith("\n"):
        bad.append("not one line")
    request = json.loads(text)
    if set(request) != {"resourceSpans"}:
        bad.append(f"members {sorted(request)}")
    for r in request["resourceSpans"]:
        named = {a["key"]: a["value"] for a in r["resource"]["attributes"]}
        bad += attributes("resource", r["resource"]["attributes"])
        if not named.get("service.name", {}).get("stringValue"):
            bad.append("resource without service.name")
        for scope in r["scopeSpans"]:
            if scope["scope"]["name"] != "blktop" or not scope["spans"]:
                bad.append(f"scope {scope['scope']}")
            for s in scope["spans"]:
                bad += otlp_span(s.get("spanId"), s)
                if (s["traceId"], s["spanId"]) in ids:
                    bad.append(f"{s['spanId']}: there twice")
                ids.add((s["traceId"], s["spanId"]))
    return bad


def otlp_spans(text):
    return [s for r in json.loads(text)["resourceSpans"] for c in r["scopeSpans"]
            for s in c["spans"]]


def values(s):
    return {a["key"]: next(iter(a["value"].values())) for a in s["attributes"]}


# ---- trace events ----

NEEDED = {"X": {"ts", "dur", "cat"}, "b": {"ts", "id", "cat"}, "e": {"ts", "id", "cat"},
          "n": {"ts", "id", "cat"}, "i": {"ts", "s"}, "s": {"ts", "id", "cat"},
          "f": {"ts", "id", "cat", "bp"}, "M": {"args"}}


def ns(text):
    """Microseconds with decimals, exactly."""
    whole, dot, rest = text.partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3]) if dot else int(whole) * 1000


def nests(slices):
    open_ = []
    for begin, end in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_ and open_[-1] <= begin:
            open_.pop()
        if open_ and end > open_[-1]:
            return False
        open_.append(end)
    return True


def check_perfetto(doc):
    bad, tracks, pairs, flows, named = [], {}, {}, {}, set()
    for e in doc["traceEvents"]:
        ph = e["ph"]
        missing = NEEDED.get(ph, {"?"}) - set(e)
        if missing or type(e["pid"]) is not int or type(e["tid"]) is not int or not e.get("name"):
            bad.append(f"{ph}: {e}")
            continue
        where = e["pid"], e["tid"]
        if ph == "M":
            named.add(where)
            continue
        if ns(e["ts"]) < 0 or (ph == "X" and ns(e["dur"]) < 0):
            bad.append(f"negative time: {e}")
        if ph == "X":
            tracks.setdefault(where, []).append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
        elif ph in "be":
            pairs.setdefault((e["pid"], e["cat"], e["id"]), []).append((ns(e["ts"]), ph, e["name"]))
        elif ph in "sf":
            flows.setdefault(e["id"], []).append((ph, where, ns(e["ts"])))
    bad += [f"no name: {w}" for w in set(tracks) - named]
    bad += [f"slices of {w} overlap" for w, s in tracks.items() if not nests(s)]
    for key, two in pairs.items():
        if len(two) != 2 or [p for _, p, _ in two] != ["b", "e"] or two[0][0] > two[1][0]:
            bad.append(f"pair {key}: {two}")
    for key, two in flows.items():
        if [p for p, _, _ in two] != ["s", "f"] or two[0][1] == two[1][1]:
            bad.append(f"arrow {key}: {two}")
        for _, where, at in two:
            if not any(b <= at < e or b == at for b, e in tracks.get(where, [])):
                bad.append(f"arrow {key} at {where} {at}: no slice there")
    return bad


def perfetto_spans(doc, cat):
    base = int(doc["otherData"]["begin_ns"])
    ends = {(e["pid"], e["id"]): ns(e["ts"]) for e in doc["traceEvents"] if e["ph"] == "e"}
    for e in doc["traceEvents"]:
        if e.get("cat") == cat and e["ph"] in "Xb":
            end = ns(e["ts"]) + ns(e["dur"]) if e["ph"] == "X" else ends[e["pid"], e["id"]]
            yield e, base + ns(e["ts"]), end - ns(e["ts"])


# ---- blktop's own ----

def flatten(spans):
    todo = list(spans)
    while todo:
        s = todo.pop()
        todo += s["children"]
        yield s


# ---- one recording ----

def export(trace, fmt, *more):
    status, out, err = blk.blktop("--export-slowest", SLOWEST, "--format", fmt, *more, trace)
    if status != 0:
        raise blk.Failed(f"status {status}: {err.strip()[:400]}")
    return out


def check(tap, name, trace, *more):
    what = f"{name}{' ' if more else ''}{' '.join(more)}"
    zipkin = json.loads(export(trace, "zipkin", *more))
    otlp = export(trace, "otlp", *more)
    perfetto = json.loads(export(trace, "perfetto", *more), parse_float=str, parse_int=int)
    own = list(flatten(s for t in json.loads(export(trace, "json", *more))["traces"]
                       for s in t["spans"]))
    tap.none(check_zipkin(zipkin), f"{what}: Zipkin v2 keeps the schema's rules")
    tap.none(check_otlp(otlp), f"{what}: OTLP keeps the specification's rules")
    tap.none(check_perfetto(perfetto), f"{what}: trace events are well formed")

    real, kernel = zipkin_facts(zipkin)
    wanted = {(s["trace_id"], s["span_id"], s["kind"] and s["kind"].upper()):
              (s["begin_ns"], s["duration_ns"]) for s in own if "kernel" not in s}
    tap.equal(real, wanted, f"{what}: Zipkin and blktop's own tell of the same {len(wanted)} spans")
    rows = {(r["trace_id"], r["span_id"], r["kind"] and r["kind"].upper()):
            (r["begin_ns"], r["duration_ns"]) for r in blk.rows("spans", trace, lossy=True)}
    tap.none([k for k in wanted if rows.get(k) != wanted[k]], f"{what}: as --view spans has them")

    spans = otlp_spans(otlp)
    found = sorted((s["traceId"][16:], int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"]))
                   for s in spans if "blktop.kernel" not in values(s))
    tap.equal(found, sorted((k[0], b, b + d) for k, (b, d) in wanted.items()),
              f"{what}: OTLP tells of the same")
    ids = {(s["traceId"], s["spanId"]) for s in spans}
    roots = {s["traceId"] for s in spans if "parentSpanId" not in s}
    tap.none([s for s in spans if s["traceId"] in roots and "parentSpanId" in s and
              (s["traceId"], s["parentSpanId"]) not in ids], f"{what}: OTLP's parents are there")
    found = sorted((e["args"]["trace_id"], b, d) for e, b, d in perfetto_spans(perfetto, "span"))
    tap.equal(found, sorted((k[0], b, d) for k, (b, d) in wanted.items()),
              f"{what}: trace events tell of the same, to the nanosecond")

    own_kernel = sorted((s["trace_id"], s["parent_id"], s["span_id"], s["begin_ns"],
                         s["duration_ns"]) for s in own if "kernel" in s)
    tap.equal(sorted(kernel), own_kernel, f"{what}: the same {len(own_kernel)} of the kernel's")
    found = sorted((e["args"]["trace_id"], e["args"]["parent_id"], e["args"]["span_id"], b, d)
                   for e, b, d in perfetto_spans(perfetto, "kernel"))
    tap.equal(found, own_kernel, f"{what}: trace events have them, too")
    tap.equal(len(spans) - len(wanted), len(own_kernel), f"{what}: and OTLP")
    return own


def is_slow(span, call):
    """Is the call worth a span: a hundredth of its span and 10 us at least, or with a wait in it?"""
    if call["duration_ns"] >= max((span["end_ns"] - span["begin_ns"]) // 100, 10000):
        return True
    end = call["begin_ns"] + call["duration_ns"]
    return any(w["thread"] == call["thread"] and call["begin_ns"] <= w["begin_ns"] and w["end_ns"] <= end
               for w in span.get("waits", []))


def check_kernel(tap, name, own):
    """What --with-kernel adds, against the waits and calls that the spans list."""
    bad, calls, waits = [], 0, 0
    times = {s["span_id"]: [] for s in own}
    for s in own:
        times[s["span_id"]].append((s["begin_ns"], s["end_ns"]))
        calls += sum(1 for c in s.get("calls", []) if is_slow(s, c))
    for s in own:
        if "kernel" not in s:
            continue
        waits += s["kernel"] == "wait"
        calls -= s["kernel"] == "syscall"
        if not any(b <= s["begin_ns"] and s["end_ns"] <= e for b, e in times[s["parent_id"]]):
            bad.append(f"{s['name']} {s['span_id']} is not inside {s['parent_id']}")
    told = {(s["trace_id"], w["thread"] and w["thread"]["tid"], w["begin_ns"], w["end_ns"])
            for s in own for w in s.get("waits", [])}
    tap.none(bad, f"{name}: what the kernel did lies inside its parent")
    tap.equal((calls, waits), (0, len(told)), f"{name}: every long call and every wait that is kept, once")


def round_trip(tap, name, trace):
    """What was exported is read back, and exported again the same; and views show the same."""
    columns = "trace_id,span_id,parent_id,kind,service,name,host,pid,tid,begin_ns,end_ns,self_ns,state," + \
        "errors,user_ns,syscall_ns,disk_ns,socket_ns,futex_ns,timer_ns,unknown_ns"
    with tempfile.TemporaryDirectory(prefix="blktop-exports.") as folder:
        for more in [], ["--with-kernel"]:
            path = os.path.join(folder, "spans.json")
            first = blk_export_all(trace, *more)
            with open(path, "w", encoding="utf-8") as f:
                f.write(first)
            again = blk_export_all(path, *more)
            tap.none(differences(json.loads(first), json.loads(again)),
                     f"{name} {' '.join(more)}: exported, imported and exported again the same")
            wanted = blk.rows("spans", trace, "--columns", columns, lossy=True)
            found = blk.rows("spans", path, "--columns", columns)
            tap.equal(sorted(map(str, found)), sorted(map(str, wanted)), f"{name}: --view spans is the same")


def blk_export_all(path, *more):
    status, out, err = blk.blktop("--export-slowest", "1000000", *more, path)
    if status != 0:
        raise blk.Failed(f"status {status}: {err.strip()[:400]}")
    return out


def differences(first, again):
    def keyed(spans):
        return {(s["traceId"], s["id"], s.get("kind"), s["name"], s["timestamp"]): s for s in spans}
    a, b = keyed(first), keyed(again)
    return [f"{k}\n{a.get(k)}\n{b.get(k)}" for k in set(a) | set(b) if a.get(k) != b.get(k)]


def compare(tap, name, trace):
    round_trip(tap, name, trace)
    check(tap, name, trace)
    check_kernel(tap, name, check(tap, name, trace, "--with-kernel"))


def main():
    tap = blk.Tap()
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    blk.each_trace(tap, TRACES, compare)
    tap.done()


main()
