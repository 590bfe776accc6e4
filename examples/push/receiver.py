"""Receives the tasks that a queue pushes, and checks who sends them. Python 3.9 or later, nothing else.

    python3 receiver.py --key-file push.key --port 8000

The key is the text of the file push.key in the directory store/queues of the endpoint's data.
"""

import argparse
import hashlib
import hmac
import http.server
import time

LONGEST_AGE_SECONDS = 300
LONGEST_BODY_BYTES = 1 << 20


def problem(key, headers, body, now):
    """Why a request is not from the endpoint, or is an old one that somebody sends again; None: it is right."""
    timestamp = headers.get("Kakehashi-Timestamp", "")
    task = headers.get("Kakehashi-Task", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        return "no timestamp"
    if abs(now - int(timestamp)) > LONGEST_AGE_SECONDS:
        return "too old"
    signed = f"{timestamp}.{task}.".encode() + body
    wanted = "v1=" + hmac.new(key, signed, hashlib.sha256).hexdigest()
    # Takes the same time wherever the two differ.
    if not hmac.compare_digest(wanted.encode(), headers.get("Kakehashi-Signature", "").encode()):
        return "wrong signature"
    return None


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A connection that says nothing is closed.
    timeout = 60
    key = b""
    # Tasks that are done, because a task comes again if its answer was lost. A real receiver keeps them where it keeps what tasks do.
    done = set()

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LONGEST_BODY_BYTES:
            self.close_connection = True
            self.answer(413 if length.isdigit() else 411)
            return
        body = self.rfile.read(int(length))
        why = problem(self.key, self.headers, body, time.time())
        if why is not None:
            print("refused:", why, flush=True)
            self.answer(401)
            return
        task = self.headers["Idempotency-Key"]
        if task not in self.done:
            print("task", task, "attempt", self.headers["Kakehashi-Attempt"], body.decode(), flush=True)
            self.done.add(task)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format, *args):
        pass


def main():
    options = argparse.ArgumentParser(description="receives the tasks that a queue pushes")
    options.add_argument("--key-file", required=True)
    options.add_argument("--port", type=int, default=8000, help="0: any that is free")
    given = options.parse_args()
    with open(given.key_file, "rb") as file:
        Receiver.key = file.read().strip()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", given.port), Receiver)
    print("listening on", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
