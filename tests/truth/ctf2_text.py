# SPDX-License-Identifier: GPL-2.0-only
"""Values as ctf2_fields.py shows them, as babeltrace2's text (sink.text.pretty) writes them:

    python3 ctf2_text.py DIR BT2TEXT     events of DIR/expected.jsonl against `babeltrace2 --clock-seconds --no-delta`

says which differ. By hand: it needs a babeltrace2 that reads CTF 2 (2.1)."""
import json
import os
import re
import sys

ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\",
           '"': '\\"'}


def text(value):
    return '"' + "".join(ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\x{ord(c):02x}") for c in value) + '"'


def integer(value, base, size):
    if base == 10:
        return str(value)
    if value < 0:
        digit = {8: 3, 16: 4}.get(base, 1)      # babeltrace2 takes whole digits
        size = (size + digit - 1) // digit * digit
        value &= (1 << min(size, 64)) - 1
    return {16: f"0x{value:X}", 8: f"0{value:o}"}.get(base) or f"0b{value:0{size}b}"


def show(v):
    if isinstance(v, str):
        return text(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, list):
        return "[ " + ", ".join(f"[{i}] = {show(x)}" for i, x in enumerate(v)) + " ]" if v else "[ ]"
    if v is None:
        return "<none>"
    return show_object(v)


def show_object(v):
    if "int" in v:
        number = integer(v["int"], v["base"], v.get("size", 64))
        names = [v["label"]] if "label" in v else v.get("labels")
        if names is None:
            return number
        quoted = ", ".join(map(text, names))
        label = "<unknown>" if not names else quoted if len(names) == 1 else "{ " + quoted + " }"
        return f"( {label} : container = {number} )"
    if "bool" in v:
        return "true" if v["bool"] else "false"
    if "bits" in v:
        flags = ", ".join(map(text, v.get("flags", [])))
        return f"0x{v['bits']:X}" + (" { " + flags + " }" if flags else "")
    if "real" in v:
        return f"{float.fromhex(v['real']):g}"
    if "blob" in v:
        return "{ " + "".join(v["blob"][i:i + 2] + " " for i in range(0, len(v["blob"]), 2)) + "}"
    if "struct" in v:
        return members(v["struct"])
    return "{ " + show(v["optional"] if "optional" in v else v["variant"][1]) + " }"


def members(list_of):
    return "{ " + ", ".join(f"{n} = {show(x)}" for n, x in list_of) + (" }" if list_of else "}")


def scopes(e):
    return ", ".join(show(e[s]) for s in ("common", "specific", "payload") if e[s] is not None)


LABELS = re.compile(r'\( \{ ("(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*) \} : container')


def sorted_labels(line):
    """babeltrace2 has them in the order of a hash table."""
    def put(m):
        return "( { " + ", ".join(sorted(re.findall(r'"(?:[^"\\]|\\.)*"', m[1]))) + " } : container"
    return LABELS.sub(put, line)


EVENT = re.compile(r"^(?=\[-?\d+\.\d{9}\] )", re.M)


def main(folder, path):
    with open(os.path.join(folder, "expected.jsonl"), encoding="utf-8") as f:
        fuzzy = json.loads(next(f))["fuzzy"]
        events = [json.loads(line) for line in f]
    with open(path, encoding="utf-8") as f:
        lines = [sorted_labels(line) for line in EVENT.split(f.read())[1:]]
    left, bad = list(lines), 0
    key = lambda line: re.sub(r"\.", "", line[1:line.index("]")])
    by_time = {}
    for line in left:
        by_time.setdefault(int(key(line)), []).append(line)
    for e in events:
        tail = sorted_labels(scopes(e))
        for ns in sorted(range(e["ns"] - fuzzy, e["ns"] + fuzzy + 1), key=lambda n: abs(n - e["ns"])):
            found = next((x for x in by_time.get(ns, ()) if f" {e['class']}: " in x and x.rstrip("\n").endswith(tail)), None)
            if found:
                by_time[ns].remove(found)
                break
        else:
            bad += 1
            if bad <= 2:
                near = [x for ns in range(e["ns"] - fuzzy, e["ns"] + fuzzy + 1) for x in by_time.get(ns, ())]
                print(f"{folder}: {e['ns']} {e['class']} differs: {tail}\n  {near}")
    extra = sum(map(len, by_time.values()))
    print(f"{folder}: {len(events)} events expected, {len(lines)} in the text, {bad} not found, {extra} left")
    return bad or extra


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:3]) else 0)
