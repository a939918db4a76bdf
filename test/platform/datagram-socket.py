"""Listens on a unix datagram socket and prints each datagram as one JSON line, as the service manager would read it."""
import json
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print(json.dumps("listening"), flush=True)
while True:
    # Descriptors sent along (systemd-notify's barrier) are closed by not being taken.
    print(json.dumps(listener.recv(65536).decode()), flush=True)
