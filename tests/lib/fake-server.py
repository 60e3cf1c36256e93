"""A TCP server on a free port of 127.0.0.1 that is no relay: fake-server.py MODE PORT_FILE.

MODE: silent (takes connections and says nothing), closing (hangs up at once), talking (says
something else). PORT_FILE appears, whole, when it listens. Until it is killed.
"""
import os
import socket
import sys

TALK = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 100


def main():
    mode, port_file = sys.argv[1:]
    server = socket.create_server(("127.0.0.1", 0))
    with open(port_file + ".new", "w", encoding="ascii") as out:
        out.write(str(server.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    kept = []
    while True:
        connection, _ = server.accept()
        if mode == "closing":
            connection.close()
            continue
        kept.append(connection)
        if mode == "talking":
            try:
                connection.sendall(TALK)
            except OSError:
                pass


main()
