#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The HTML report. As XML: it is well-formed, refers to nothing outside of itself, has no script, and what it draws are
the rows of the views: bars of requests and CPUs by second, cells of the heatmap, a bar for each span. Names of spans
stay text, whatever they are. In Chromium, where it is installed, at 1280 and 390 pixels: everything that is drawn has a
colour, and no text is cut off."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blk

TRACES = ["demo/trace", "kernel-small/trace", "lost/trace"] + ["thumb/trace", "nested/trace"] * blk.ALL
WIDTHS = 1280, 390
SECOND = 10 ** 9
MOST_BARS, MOST_SPANS, MOST_FRAMES, CELLS = 300, 40, 60, 300    # as the page joins seconds, leaves out spans, and divides a bar
OUTSIDE = r"https?:|//[a-z]|\bsrc=|\bhref=|url\(|@import|<script|<iframe|<object|<embed|<link|\bon[a-z]+=\""
HOSTILE = ["<script>document.title='owned'</script>", "\"><img src=x onerror=alert(1)>", "'--></style>]]>&lt;&amp;",
           "\x1b[31mred\x07", "\u202egnp.exe", "x" * 3000, "<svg onload=\"alert(1)\">"]


def report(directory, *arguments, lossy=False):
    """The page's text."""
    path = os.path.join(directory, "page.html")
    status, _, err = blk.blktop("report", "--utc", "--html", path, "--force", *arguments)
    if status != 0 and not (lossy and status == 3):
        raise blk.Failed(f"report --html {' '.join(arguments)}: status {status}: {err[:400]}")
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def parse(page):
    return xml.etree.ElementTree.fromstring(page)


def with_class(tree, tag, name):
    return [e for e in tree.iter(tag) if name in e.get("class", "").split()]


# ---- what is drawn ----

def waterfalls(tree):
    """By trace id: the names of its spans' bars and the cells that the first one has."""
    found, trace = {}, None
    for e in tree.iter():
        if e.tag == "p" and (e.text or "").startswith("Trace "):
            trace = e.find("code").text
        if trace and e.tag == "div" and e.get("class") == "waterfall":
            spans = e.findall("div")
            cells = [sum(int(r.get("width")) for r in s.iter("rect")) for s in spans]
            found[trace] = [s.find("span").text for s in spans], cells[0]
    return found


def judge_rows(tap, name, trace, tree):
    ends = blk.rows("traces", trace, lossy=True)
    seconds = blk.objects("cpus", trace, "--each", lossy=True)
    length = seconds[-1]["range"]["to_ns"] // SECOND - seconds[0]["range"]["from_ns"] // SECOND + 1
    if length <= MOST_BARS:
        bars = {r["end_ns"] // SECOND for r in ends}
        tap.equal(len(with_class(tree, "rect", "g-request")), len(bars), f"{name}: seconds with requests")
        known = {o["range"]["from_ns"] // SECOND for o in seconds
                 if any(r["run_ratio"] is not None for r in o["rows"])}
        tap.equal(len(with_class(tree, "rect", "g-cpu")), len(known), f"{name}: seconds with CPUs")
        cells = blk.rows("heatmap", trace, lossy=True)
        got = [int(e.get("data-n")) for e in tree.iter("rect") if e.get("data-n")]
        tap.equal(sorted(got), sorted(r["count"] for r in cells), f"{name}: cells of the heatmap")
    frames = blk.rows("flame", trace, lossy=True)
    want = [r["total_ns"] for r in frames if r["total_ns"] >= frames[0]["total_ns"] // 100][:MOST_FRAMES]
    got = [int(e.get("data-ns")) for e in tree.iter("div") if e.get("data-ns")]
    tap.equal(got, want, f"{name}: {len(want)} frames of the flame")
    slowest = sorted(ends, key=lambda r: -r["duration_ns"])[:5]
    drawn = waterfalls(tree)
    tap.equal(sorted(drawn), sorted(r["trace_id"] for r in slowest), f"{name}: the slowest requests have a waterfall")
    bad = []
    for trace_id, (names, cells) in drawn.items():
        spans = blk.rows("spans", trace, "--only", f"trace={trace_id}", lossy=True)
        want = collections.Counter(s["name"] for s in spans)
        got = collections.Counter(n.split(" ")[0] for n in names)
        if len(spans) <= MOST_SPANS and got != want:
            bad.append(f"{trace_id}: spans {got}, not {want}")
        if not 0 < cells <= CELLS:
            bad.append(f"{trace_id}: {cells} cells are drawn of its root")
    tap.none(bad, f"{name}: a bar for each span")


def judge_page(tap, name, page):
    try:
        tree = parse(page)
    except xml.etree.ElementTree.ParseError as e:
        tap.ok(False, f"{name}: well-formed", repr(e))
        return None
    markup = "".join(re.findall(r"<style>.*?</style>|<[^>]*>", page, re.S))
    tap.ok(not re.search(OUTSIDE, markup), f"{name}: refers to nothing and runs nothing",
           *re.findall(".{20}(?:%s).{20}" % OUTSIDE, markup))
    tags = {e.tag for e in tree.iter()}
    tap.ok(not tags & {"script", "iframe", "object", "embed", "link", "img", "form", "a"}, f"{name}: only text and SVG",
           tags)
    controls = [c for c in page if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 or c in "\u202e\u200f"]
    tap.none(controls[:5], f"{name}: no control characters")
    return tree


def judge_trace(tap, name, trace, directory, browser):
    page = report(directory, trace, lossy=True)
    tree = judge_page(tap, name, page)
    if tree is not None:
        judge_rows(tap, name, trace, tree)
        if blk.ALL or name == TRACES[0]:
            look(tap, name, page, directory, browser)


# ---- hostile names ----

def hostile_spans(directory):
    path = os.path.join(directory, "hostile <b>&\".json")
    spans = [{"traceId": f"{i + 1:x}", "id": f"{i + 1:x}", "name": text, "timestamp": 1500000000000000 + i * 1000000,
              "duration": 1000 + i, "localEndpoint": {"serviceName": text}, "tags": {text: text}}
             for i, text in enumerate(HOSTILE)]
    with open(path, "w", encoding="utf-8") as f:
        json.dump(spans, f)
    return path


def judge_hostile(tap, directory, browser):
    page = report(directory, "--worst", "20", hostile_spans(directory), lossy=True)
    judge_page(tap, "hostile names", page)
    text = "".join(parse(page).itertext())
    missing = [h for h in HOSTILE if h.isprintable() and h not in text]
    tap.none(missing, "hostile names: shown as they are")
    tap.ok("\\x1b[31mred\\x07" in text and "\\u{202e}" in text, "hostile names: control characters are visible")
    look(tap, "hostile names", page, directory, browser)


# ---- in a browser ----

PROBE = """
<script>
addEventListener("load", () => {
	const cut = [], plain = [], drawn = {};
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = texts.nextNode(); n; n = texts.nextNode()) {
		if (!n.data.trim() || n.parentElement.closest("script, style, title, thead")) continue;
		const range = document.createRange();
		range.selectNodeContents(n);
		for (const r of range.getClientRects()) {
			let box = { left: 0, right: innerWidth };
			for (let e = n.parentElement; e; e = e.parentElement) {
				const b = e.getBoundingClientRect();
				if (getComputedStyle(e).overflowX !== "visible")
					box = { left: Math.max(box.left, b.left), right: Math.min(box.right, b.right) };
			}
			if (r.width && (r.left < box.left - 1 || r.right > box.right + 1))
				cut.push(n.data.trim().slice(0, 60) + " at " + r.left + ".." + r.right);
		}
	}
	for (const e of document.querySelectorAll("svg rect")) {
		const kind = (e.getAttribute("class") || "none").split("-")[0], b = e.getBoundingClientRect();
		drawn[kind] = (drawn[kind] || 0) + (b.width > 0 && b.height > 0);
		if (["none", "rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"].includes(getComputedStyle(e).fill)) plain.push(e.outerHTML);
	}
	parent.postMessage(JSON.stringify({ width: innerWidth, wide: document.documentElement.scrollWidth, title: document.title,
		cut: cut.slice(0, 9), plain: plain.slice(0, 9), drawn: drawn }), "*");
});
</script></body>"""
FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><iframe style="border:0;width:%dpx;height:3000px"
src="probed.html"></iframe><script>addEventListener("message", e => {
const p = document.createElement("pre"); p.id = "found"; p.textContent = e.data; document.body.append(p); });</script>"""


def browse(browser, directory, page, width):
    """What the script finds in a copy of the page in a frame of that width; None: no answer."""
    probed = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*/>', "", page).replace("</body>", PROBE)
    with open(os.path.join(directory, "probed.html"), "w", encoding="utf-8") as f:
        f.write(probed)
    path = os.path.join(directory, "frame.html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(FRAME % width)
    profile = os.path.join(directory, "profile")
    r = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                        "--window-size=1400,3200", "--virtual-time-budget=5000", "--dump-dom", f"file://{path}"],
                       capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    found = re.search(r'<pre id="found">(.*?)</pre>', r.stdout, re.S)
    text = found and found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text) if text else None


def look(tap, name, page, directory, browser):
    if not browser:
        tap.skip(f"{name}: in a browser", "chromium is not installed")
        return
    tree = parse(page)
    want = collections.Counter(e.get("class").split("-")[0] for e in tree.iter("rect"))
    for width in WIDTHS:
        found = browse(browser, directory, page, width)
        if not found:
            tap.ok(False, f"{name}: {width} pixels", "the browser did not answer")
            continue
        tap.ok(found["width"] == width and found["wide"] <= width, f"{name}: {width} pixels are enough", found["wide"])
        tap.none(found["cut"], f"{name}: {width} pixels: no text is cut off")
        tap.none(found["plain"], f"{name}: {width} pixels: all that is drawn has a colour")
        tap.equal(found["drawn"], dict(want), f"{name}: {width} pixels: all bars and cells are seen")
        tap.equal(found["title"], tree.find("head/title").text, f"{name}: {width} pixels: no script ran")


def main():
    if not blk.have_blktop():
        blk.skip_all("blktop is not built")
    tap = blk.Tap()
    browser = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
    with tempfile.TemporaryDirectory(prefix="blktop-report-") as directory:
        for name in TRACES:
            trace = blk.find(*name.split("/"))
            if not trace:
                tap.skip(name, "the trace is not there")
                continue
            try:
                judge_trace(tap, name, trace, directory, browser)
            except (blk.Failed, KeyError, subprocess.TimeoutExpired) as e:
                tap.ok(False, name, repr(e))
        judge_hostile(tap, directory, browser)
    tap.done()


if __name__ == "__main__":
    main()
