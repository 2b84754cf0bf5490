"""Run by the program as a metric: passes its lines to the Python process that has the function, and the answers back.

It is run as a file, without the package, so that it starts at once.
"""

import sys
from multiprocessing.connection import Client


def main(key_file: str, address: str, number: str) -> None:
    """Relay lines until either side ends."""
    with open(key_file, "rb") as f:
        key = f.read()
    out = sys.stdout.buffer
    with Client(address, authkey=key) as connection:
        connection.send_bytes(number.encode())
        try:
            out.write(connection.recv_bytes())
            out.flush()
            for line in sys.stdin.buffer:
                connection.send_bytes(line)
                out.write(connection.recv_bytes())
                out.flush()
        except EOFError:  # the function, or its process, is gone
            sys.exit("the Python process of this metric has ended")


if __name__ == "__main__":
    main(*sys.argv[1:])
