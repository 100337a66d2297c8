"""Serves S3 on a free port of loopback, and prints the port. Ends with its standard input."""

import sys

from moto.moto_server.threaded_moto_server import ThreadedMotoServer
from moto.s3.models import s3_backends

filled = int(sys.argv[1])
if filled > 0:
    # By hand: over HTTP so many objects would take a quarter of an hour.
    backend = s3_backends["123456789012"]["aws"]
    backend.create_bucket("logs", "us-east-1")
    for number in range(filled):
        backend.put_object("logs", f"clicks/2026/11/18/edge-fra/{number:06d}.ndjson", b"{}\n")

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
