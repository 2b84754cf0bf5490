"""A model server that counts: it answers chats and completions after a delay, and GET /calls returns how many
it got and how often it got each prompt."""

import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve(port, delay):
    calls, lock = {}, threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def reply(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            with lock:
                self.reply({"calls": sum(calls.values()), "prompts": len(calls), "again": sum(n - 1 for n in calls.values())})

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                calls[body] = calls.get(body, 0) + 1
            time.sleep(delay)
            word = hashlib.sha256(body).hexdigest()[:8]
            prompt = json.loads(body)["messages"][-1]["content"]
            text = prompt.split(": ")[-1] + " " + word
            self.reply({
                "id": word, "object": "chat.completion", "created": 0, "model": "counting",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            })

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

        def handle_error(self, *_):
            pass  # the client was killed

    Server(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), float(sys.argv[2]))
