"""A server that speaks OpenAI's protocol, and answers every prompt with a line about it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer(ThreadingHTTPServer):
    """Answers calls; those after the first `free` wait until the server ends."""

    daemon_threads = True

    def __init__(self, free: int = 1 << 30) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = 0
        self.free = free
        self.ended = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.calls += 1
            number = self.server.calls
        if number > self.server.free:
            self.server.ended.wait(30)
        text = "In other words: " + request["messages"][-1]["content"].split(": ", 1)[-1]
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        body = json.dumps({"id": "1", "model": request["model"], "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass
