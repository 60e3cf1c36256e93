"""A relay between a viewer and a relay daemon that holds one stream back.

usage: hold.py RELAY_PORT PORT_FILE FLAG_FILE NAME

While FLAG_FILE exists, the viewer is told "nothing yet" of every stream whose name ends in NAME; all
else goes through, a request at a time.
"""
import os
import socket
import struct
import sys
import threading

CONNECT, LIST, ATTACH, INDEX, PACKET, METADATA, NEWS = 1, 2, 3, 4, 5, 6, 7
MINOR_NAMES = 15        # from here on names in the list have lengths
FIXED = {CONNECT: 20, 8: 4, 9: 4, INDEX: 64}
SESSION, STREAM = 4 + 8 + 4 + 4 + 64 + 255, 8 + 8 + 4 + 4096 + 255
RETRY = bytes(56) + struct.pack(">II", 2, 0)


def take(sock, n):
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class Connection:
    def __init__(self, viewer, relay, flag, name):
        self.viewer, self.relay, self.flag, self.name = viewer, relay, flag, name.encode()
        self.held, self.minor = set(), 0

    def streams(self, data):
        for at in range(0, len(data), STREAM):
            one = data[at:at + STREAM]
            path = one[20 + 4096:].split(b"\0")[0]
            if path.endswith(self.name):
                self.held.add(one[:8])

    def session(self):
        if self.minor < MINOR_NAMES:
            return take(self.relay, SESSION)
        head = take(self.relay, 32)
        host, name = struct.unpack(">II", head[20:28])
        return head + take(self.relay, host + name)

    def reply(self, command):
        """The daemon's whole answer."""
        relay = self.relay
        if command in FIXED:
            data = take(relay, FIXED[command])
            if command == CONNECT:
                self.minor = struct.unpack(">I", data[12:16])[0]
            return data
        if command == LIST:
            head = take(relay, 4)
            return head + b"".join(self.session() for _ in range(struct.unpack(">I", head)[0]))
        if command in (ATTACH, NEWS):
            head = take(relay, 8)
            status, n = struct.unpack(">II", head)
            data = take(relay, n * STREAM) if status == 1 else b""
            self.streams(data)
            return head + data
        if command == PACKET:
            head = take(relay, 12)
            status, n, _ = struct.unpack(">III", head)
            return head + (take(relay, n) if status == 1 else b"")
        assert command == METADATA, command
        head = take(relay, 12)
        n, status = struct.unpack(">QI", head)
        return head + (take(relay, n) if status == 1 else b"")

    def run(self):
        try:
            while True:
                head = take(self.viewer, 16)
                size, command, _ = struct.unpack(">QII", head)
                payload = take(self.viewer, size)
                if command == INDEX and payload in self.held and os.path.exists(self.flag):
                    self.viewer.sendall(RETRY)
                    continue
                self.relay.sendall(head + payload)
                self.viewer.sendall(self.reply(command))
        except (EOFError, OSError):
            pass
        finally:
            self.viewer.close()
            self.relay.close()


def main():
    relay_port, port_file, flag, name = sys.argv[1:]
    server = socket.create_server(("127.0.0.1", 0))
    with open(port_file + ".new", "w", encoding="ascii") as out:
        out.write(str(server.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    while True:
        viewer, _ = server.accept()
        relay = socket.create_connection(("127.0.0.1", int(relay_port)))
        for s in (viewer, relay):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(viewer, relay, flag, name).run, daemon=True).start()


main()
