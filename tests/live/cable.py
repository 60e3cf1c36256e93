"""A network cable that can be cut: cable.py INTERFACE INTERFACE

Carries frames between two interfaces of its network namespace. Each line on its standard
input says how from now on, and is answered with "ok": "delay 0.2" (seconds, each way),
"loss 0.05" (of all frames, 1: cut; nobody is told), "forget", "attempts" (answered with the
instants, since "forget", at which the first side began to connect, in seconds, one for each
of its TCP ports).
"""
import heapq
import os
import random
import select
import socket
import struct
import sys
import time

SOL_PACKET, PACKET_VNET_HDR, ETH_P_ALL = 263, 15, 3
VNET = 10


def end(interface):
    # With a header that says what the kernel left to do: segments, checksums.
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    s.bind((interface, ETH_P_ALL))
    s.setblocking(False)
    return s


def connecting_port(frame):
    """The source port of a SYN, or None."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None
    tcp = 14 + (frame[14] & 15) * 4
    return struct.unpack(">H", frame[tcp:tcp + 2])[0] if frame[tcp + 13] & 0x12 == 2 else None


class Cable:
    def __init__(self, names):
        self.ends = [end(name) for name in names]
        self.delay, self.loss = 0.0, 0.0
        self.waiting, self.count = [], 0
        self.attempts = {}

    def take(self, side):
        try:
            data, address = self.ends[side].recvfrom(1 << 17)
        except OSError:
            return
        if address[2] == socket.PACKET_OUTGOING:
            return
        port = connecting_port(data[VNET:]) if side == 0 else None
        if port:
            self.attempts.setdefault(port, time.monotonic())
        if random.random() < self.loss:
            return
        self.count += 1
        heapq.heappush(self.waiting, (time.monotonic() + self.delay, self.count, 1 - side, data))

    def give(self):
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            _, _, side, data = heapq.heappop(self.waiting)
            try:
                self.ends[side].send(data)
            except OSError:
                pass        # the other end is down
        return max(0, self.waiting[0][0] - now) if self.waiting else None

    def command(self, line):
        word = line.split()
        answer = "ok"
        if word[0] == "attempts":
            answer = " ".join(["ok"] + [f"{at:.3f}" for at in sorted(self.attempts.values())])
        elif word[0] == "forget":
            self.attempts = {}
        else:
            setattr(self, word[0], float(word[1]))
        print(answer, flush=True)

    def run(self):
        text = b""
        while True:
            ready, _, _ = select.select([0] + self.ends, [], [], self.give())
            for side in (0, 1):
                if self.ends[side] in ready:
                    self.take(side)
            if 0 in ready:
                got = os.read(0, 4096)
                if not got:
                    return
                *lines, text = (text + got).split(b"\n")
                for line in lines:
                    self.command(line.decode())


if __name__ == "__main__":
    Cable(sys.argv[1:3]).run()
