"""A relay daemon made of a transcript: what a real one said to a viewer, said again.

Replay(path) listens on a free port of 127.0.0.1. It answers by what is asked: which command, of
which session, stream and place; in what order another viewer asked makes no difference. A
transcript has a line a piece: connection, '>' (the viewer's) or '<', microseconds, hex.
"""
import collections
import lzma
import pathlib
import signal
import struct
import sys
import time

from hostile_relay import POINTS, Relay

STREAM_SIZE, INDEX_SIZE, RETRIES = 4371, 64, 2
INDEX_OK, INDEX_RETRY, INDEX_HUP = 1, 2, 3
FLAG_METADATA = 1
# bytes of a reply's head, and of its status: where in it
HEADS = {"connect": 20, "create": 4, "detach": 4, "attach": 8, "streams": 8, "index": INDEX_SIZE, "packet": 12,
         "metadata": 12, "list": 4}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        if self.at > len(self.data):
            raise EOFError
        return self.data[self.at - n:self.at]

    def numbers(self, fmt):
        return struct.unpack(fmt, self.take(struct.calcsize(fmt)))


class Transcript:
    """What the relay answered, by what was asked of it."""

    def __init__(self, path):
        self.sessions = {}                                      # id -> (timer, format, host, name)
        self.attached = {}                                      # session -> [entry of a stream]
        self.news = collections.defaultdict(list)               # session -> [[entry]], as they were announced
        self.metadata = collections.defaultdict(list)           # stream -> [(status, bytes)]
        self.indexes = collections.defaultdict(list)            # stream -> [reply]
        self.packets = collections.defaultdict(dict)            # stream -> {offset: bytes}
        sides = collections.defaultdict(bytearray)
        with lzma.open(path, "rt", encoding="ascii") as f:
            for line in f:
                connection, side, _, *data = line.split()
                sides[connection, side] += bytes.fromhex(data[0]) if data else b""
        for connection in {c for c, _ in sides}:
            self.read(Reader(bytes(sides[connection, ">"])), Reader(bytes(sides[connection, "<"])))

    def add(self, other, by):
        """The other one's sessions, too; ids of sessions, traces and streams moved on by so many."""
        def moved(entries):
            return [struct.pack(">QQ", *(n + by for n in struct.unpack(">QQ", e[:16]))) + e[16:] for e in entries]
        self.sessions.update({s + by: facts for s, facts in other.sessions.items()})
        self.attached.update({s + by: moved(entries) for s, entries in other.attached.items()})
        self.news.update({s + by: [moved(entries) for entries in all] for s, all in other.news.items()})
        for mine, theirs in ((self.metadata, other.metadata), (self.indexes, other.indexes),
                             (self.packets, other.packets)):
            mine.update({s + by: what for s, what in theirs.items()})

    def spoil(self, session, text):
        """Its metadata is that."""
        entries = self.attached[session] + [e for n in self.news[session] for e in n]
        for stream, _, is_metadata in (struct.unpack(">QQI", e[:20]) for e in entries):
            if is_metadata:
                self.metadata[stream] = [(1, text)]

    def all_metadata(self):
        return [b"".join(text for _, text in pieces) for _, pieces in sorted(self.metadata.items())]

    def read(self, asked, said):
        minor = 0
        try:
            while asked.at < len(asked.data):
                size, command, _ = asked.numbers(">QII")
                data, point = asked.take(size), POINTS[command]
                head = said.take(HEADS[point])
                if point == "connect":
                    minor = min(struct.unpack(">I", head[12:16])[0], struct.unpack(">I", data[12:16])[0])
                elif point == "list":
                    self.read_list(said, struct.unpack(">I", head)[0], minor)
                elif point not in ("create", "detach"):
                    getattr(self, "read_" + point)(data, head, said)
        except EOFError:
            pass                        # the viewer left without waiting for the answer

    def read_list(self, said, n, minor):
        for _ in range(n):
            number, timer, _, _ = said.numbers(">QIII")
            if minor >= 15:
                host_len, name_len, form = said.numbers(">III")
                host, name = said.take(host_len), said.take(name_len)
            else:
                host, name, form = said.take(64).rstrip(b"\0"), said.take(255).rstrip(b"\0"), 0
            self.sessions[number] = (timer, form, host, name)

    def read_attach(self, data, head, said):
        session, (status, n) = struct.unpack(">Q", data[:8])[0], struct.unpack(">II", head)
        if status == 1:
            self.attached[session] = [said.take(STREAM_SIZE) for _ in range(n)]

    def read_streams(self, data, head, said):
        session, (status, n) = struct.unpack(">Q", data)[0], struct.unpack(">II", head)
        if status == 1 and n:
            self.news[session].append([said.take(STREAM_SIZE) for _ in range(n)])

    def read_index(self, data, head, _said):
        self.indexes[struct.unpack(">Q", data)[0]].append(head)

    def read_packet(self, data, head, said):
        stream, offset, _ = struct.unpack(">QQI", data)
        status, n, _ = struct.unpack(">III", head)
        if status == 1:
            self.packets[stream][offset] = said.take(n)

    def read_metadata(self, data, head, said):
        n, status = struct.unpack(">QI", head)
        self.metadata[struct.unpack(">Q", data)[0]].append((status, said.take(n) if status == 1 else b""))


class Replay(Relay):
    """minor: the relay's version. chop: no piece of metadata is longer. again: all of it comes once more,
    when half of the indexes were given out. stays: the sessions don't end. destroyed: once they are attached
    to they are not listed any more; with stays as after the session daemon was killed. lasts: the session
    goes on for so many seconds after its streams' ends. withholds: of what an earlier connection did not get it
    only says that it is over, as relays do of a session that was destroyed meanwhile."""

    def __init__(self, transcript, minor=15, chop=0, again=False, stays=False, destroyed=False, lasts=0, withholds=False):
        self.transcript, self.chop, self.again, self.stays = transcript, chop, again, stays
        self.destroyed, self.lasts, self.over_at = destroyed, lasts, None
        self.withholds, self.attachments = withholds, 0
        self.ended = set()              # sessions
        self.hangs_up = set()           # streams that end though the session stays
        super().__init__(None, None, minor)

    # One connection's state: what was given out of each stream.

    def begin(self):
        t = self.transcript
        return {"known": collections.defaultdict(set), "news": {s: list(n) for s, n in t.news.items()},
                "metadata": {s: self.cut(pieces) for s, pieces in t.metadata.items()},
                "indexes": {s: self.few_retries(replies) for s, replies in t.indexes.items()}, "over": set(),
                "half": {s: len(replies) // 2 for s, replies in t.indexes.items()}, "repeated": False}

    def cut(self, pieces):
        """Nothing that was new asks for a second question; then it comes in small pieces, one of them empty."""
        if not self.chop:
            return list(pieces)
        text = b"".join(data for _, data in pieces)
        cut = [(1, text[at:at + self.chop]) for at in range(0, len(text), self.chop)]
        return cut[:1] + [(1, b"")] + cut[1:]

    @staticmethod
    def few_retries(replies):
        """No more than some in a row that only say 'later'."""
        few, row = [], 0
        for reply in replies:
            status, flags = struct.unpack(">II", reply[56:])
            row = row + 1 if status == INDEX_RETRY and not flags else 0
            if row <= RETRIES:
                few.append(reply)
        return few

    def on_list(self, state, data):
        there = [s for s in sorted(self.transcript.sessions) if s not in self.ended]
        reply = struct.pack(">I", len(there))
        for number in there:
            timer, form, host, name = self.transcript.sessions[number]
            reply += struct.pack(">QIII", number, timer, self.viewers, 3)
            if self.minor >= 15:
                reply += struct.pack(">III", len(host), len(name), form) + host + name
            else:
                reply += host.ljust(64, b"\0") + name.ljust(255, b"\0")
        return reply

    def hand_out(self, state, session, entries):
        for entry in entries:
            stream, _, is_metadata = struct.unpack(">QQI", entry[:20])
            if not is_metadata:
                state["known"][session].add(stream)
        return struct.pack(">II", 1, len(entries)) + b"".join(entries)

    def on_attach(self, state, data):
        session = struct.unpack(">Q", data[:8])[0]
        if session not in self.transcript.attached:
            return struct.pack(">II", 3, 0)
        if self.destroyed:
            self.ended.add(session)
        self.attachments += 1
        if self.withholds and self.attachments > 1:
            state["indexes"] = {}
        return self.hand_out(state, session, self.transcript.attached[session])

    def on_streams(self, state, data):
        session = struct.unpack(">Q", data)[0]
        if state["news"].get(session):
            return self.hand_out(state, session, state["news"][session].pop(0))
        if state["known"][session] and state["known"][session] <= state["over"]:
            self.over_at = self.over_at or time.monotonic()
            if time.monotonic() - self.over_at < self.lasts:
                return struct.pack(">II", 2, 0)
            self.ended.add(session)
            return struct.pack(">II", 4, 0)
        return struct.pack(">II", 2, 0)

    def on_metadata(self, state, data):
        pieces = state["metadata"].get(struct.unpack(">Q", data)[0])
        status, text = pieces.pop(0) if pieces else (2, b"")
        return struct.pack(">QI", len(text), status) + text

    def on_index(self, state, data):
        stream = struct.unpack(">Q", data)[0]
        replies = state["indexes"].get(stream)
        reply = replies.pop(0) if replies else struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, INDEX_HUP, 0)
        status, flags = struct.unpack(">II", reply[56:])
        if status == INDEX_HUP and self.stays and stream not in self.hangs_up:
            return struct.pack(">7QII", 0, 0, 0, 0, 0, 0, 0, INDEX_RETRY, 0)
        if status == INDEX_HUP:
            state["over"].add(stream)
        if self.again and not state["repeated"] and replies is not None and len(replies) <= state["half"][stream]:
            state["repeated"] = True
            for number, pieces in self.transcript.metadata.items():
                state["metadata"][number] += [piece for piece in pieces if piece[1]]
        if status != INDEX_HUP and any(text for pieces in state["metadata"].values() for _, text in pieces):
            flags |= FLAG_METADATA      # as long as there is some
        return reply[:60] + struct.pack(">I", flags)

    def on_packet(self, state, data):
        stream, offset, n = struct.unpack(">QQI", data)
        got, pieces = b"", self.transcript.packets[stream]
        for at in sorted(pieces):       # the other viewer cut packets elsewhere
            here = offset + len(got)
            if at <= here < at + len(pieces[at]):
                got += pieces[at][here - at:here - at + n - len(got)]
        return struct.pack(">III", 1, n, 0) + got if len(got) == n else struct.pack(">III", 3, 0, 0)


def main():
    """replay_relay.py PORT_FILE TRANSCRIPT SPOILT: the sessions of both, which stay, until SIGTERM; the second
    one's metadata is none. replay_relay.py PORT_FILE TRANSCRIPT: its session daemon is killed once it is attached to."""
    first, *spoilt = (Transcript(path) for path in sys.argv[2:])
    for second in spoilt:
        for session in second.sessions:
            second.spoil(session, b"\x1e{\"type\": \"preamble\", \"version\": 3}\n")
        second.sessions = {s: (timer, 1, host, name) for s, (timer, _, host, name) in second.sessions.items()}
        first.add(second, 100)
    relay = Replay(first, stays=True, destroyed=not spoilt)
    temporary = pathlib.Path(sys.argv[1] + ".new")
    temporary.write_text(str(relay.port), "utf-8")
    temporary.rename(sys.argv[1])
    signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
