# SPDX-License-Identifier: GPL-2.0-only
"""A trace of an interface of 300 functions, each with an entry and an exit event; rules for it: a pattern, and one rule for each function."""
import pathlib
import random
import struct

from made_ctf import BEGIN

NAMES = [f"call{i}{'_entry' * (i % 7 == 0)}" for i in range(300)]	# some names end like the events
PATTERN = "[all]\nbegin=api:*_entry\nend=api:${1}_exit\nname=${1}\nnested=yes\nparent=thread\nerror_if=result < 0\ntags=size\n"
FIXED = "".join(f"[{n}]\nbegin=api:{n}_entry\nend=api:{n}_exit\nname={n}\nnested=yes\nparent=thread\nerror_if=result < 0\ntags=size\n" for n in NAMES)


def story(seed, n_pairs):
    """[(time, thread, name, is_exit, value)], and {(begin, thread): (end, name, begin of the parent, error)} as nested calls of threads."""
    rand, events, spans, open_, now = random.Random(seed), [], {}, {t: [] for t in range(71, 76)}, 1000
    while n_pairs or any(open_.values()):
        now += rand.randrange(1, 400_000)
        thread = rand.choice(list(open_))
        stack = open_[thread]
        if stack and (not n_pairs or len(stack) > 6 or rand.random() < 0.5):
            begin, name, parent = stack.pop()
            result = rand.randrange(-1, 3)
            events.append((now, thread, name, 1, result))
            spans[begin, thread] = (now, name, parent, result < 0)
        elif n_pairs:
            n_pairs -= 1
            name = rand.choice(NAMES)
            events.append((now, thread, name, 0, rand.randrange(1 << 20)))
            stack.append((now, name, stack[-1][0] if stack else None))
    return events, spans


def write(to, events, form="{}_{}", words=("entry", "exit"), odd=None):
    """form: of the events' names, from the function's name and one of the words. odd: the name of one event more, at the end."""
    classes = {(name, kind): i for i, (name, kind) in enumerate((n, k) for n in sorted({e[2] for e in events}) for k in (0, 1))}
    text = BEGIN + """trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
env { domain = "ust"; hostname = "lab"; };
clock { name = c; uuid = "11111111-1111-4111-8111-111111111111"; freq = 1000000000; offset = 1795241230000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;
stream { id = 0; event.header := struct { u16 id; ts timestamp; };
 packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; u32 cpu_id; };
 event.context := struct { i32 vtid; i32 vpid; string procname; }; };
""" + "".join(f'event {{ id = {i}; stream_id = 0; name = "api:{form.format(n, words[k])}"; fields := struct {{ i64 {("size", "result")[k]}; }}; }};\n'
                  for (n, k), i in classes.items())
    if odd:
        text += f'event {{ id = {len(classes)}; stream_id = 0; name = "{odd}"; fields := struct {{ i64 size; }}; }};\n'
        classes["odd", 0] = len(classes)
        events = events + [(events[-1][0] + 1, 99, "odd", 0, 0)]
    pathlib.Path(to, "metadata").write_text(text, encoding="ascii")
    body = b"".join(struct.pack("<HQii4sq", classes[name, kind], time, tid, 70, b"app\0", value) for time, tid, name, kind, value in events)
    size = (8 + 36 + len(body)) * 8
    head = struct.pack("<IIQQQQI", 0xc1fc1fc1, 0, events[0][0], events[-1][0], size, size, 3)
    pathlib.Path(to, "s_0").write_bytes(head + body)
