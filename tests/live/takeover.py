"""Usage: takeover.py PORT USER THIEF FILE: the usual ports of a relay daemon, which change hands.

Sockets of USER listen on ports 5342 to 5344, and forward to the relay daemon on PORT, PORT + 1 and PORT + 2. While the
session daemon connects (the second connection for control, after a look at who listens), they are closed, and sockets
of THIEF take the ports. FILE: how many ports THIEF has, and how many bytes it got on that for data.
"""
import os
import select
import socket
import sys

REAL, USER, THIEF, FILE = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
USUAL = (5342, 5343, 5344)
CONTROL, DATA = USUAL[:2]


def listen(uid):
    os.seteuid(uid)
    made = {socket.create_server(("127.0.0.1", port)): port for port in USUAL}
    os.seteuid(0)
    return made


listeners, pairs, controls, stolen = listen(USER), {}, 0, None


def report():
    with open(FILE + ".new", "w", encoding="ascii") as f:
        f.write(f"{0 if stolen is None else len(USUAL)} {stolen or 0}\n")
    os.rename(FILE + ".new", FILE)


def accept(server):
    """Forwards a connection; the second one for control closes all sockets that listen."""
    global listeners, controls, stolen
    port = listeners[server]
    client, _ = server.accept()
    real = socket.create_connection(("127.0.0.1", REAL + port - CONTROL))
    pairs[client] = real, port == DATA and stolen is not None
    pairs[real] = client, False
    controls += port == CONTROL
    if controls == 2 and stolen is None:
        for each in listeners:
            each.close()
        listeners, stolen = listen(THIEF), 0


def forward(source):
    global stolen
    to, theft = pairs[source]
    try:
        data = source.recv(65536)
        to.sendall(data)
    except OSError:
        data = b""
    stolen = stolen + len(data) if theft else stolen
    if not data:
        for end in (source, to):
            pairs.pop(end, None)
            end.close()


report()
while True:
    for ready in select.select([*listeners, *pairs], [], [])[0]:
        if ready in listeners:
            accept(ready)
        elif ready in pairs:
            forward(ready)
    report()
