"""A real HTTP server on this machine that speaks chat completions, and returns errors on request."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # of connections; beyond the default of 5, one waits a second

    def handle_error(self, request, client_address):
        """What goes wrong here is the client's doing, and its tests see that."""


class Server:
    """Follows a script: one step per call, then right answers. A step is (status, body, headers) or does it itself.

    `calls` are the bodies in the order they came, `times` when (time.monotonic), `headers` their paths and keys.
    `port` 0: any that is free. `names` are the models that it lists.
    """

    def __init__(self, script=(), default=None, port=0):
        self.script, self.calls, self.times, self.headers, lock = list(script), [], [], [], threading.Lock()
        self.most, self.open = 0, 0  # requests at once
        self.names = ()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                send(self, 200, {"data": [{"id": name} for name in server.names]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    server.times.append(time.monotonic())
                    server.calls.append(body)
                    server.headers.append((self.path, self.headers.get("Authorization")))
                    server.open += 1
                    server.most = max(server.most, server.open)
                    step = server.script.pop(0) if server.script else (default or echo)(body)
                try:
                    step(self) if callable(step) else send(self, *step)
                except OSError:  # the client has had enough
                    self.close_connection = True
                finally:
                    with lock:
                        server.open -= 1

            def log_message(self, *args):
                pass

        self.http = Quiet(("127.0.0.1", port), Handler)
        self.endpoint = f"http://127.0.0.1:{self.http.server_port}/v1/"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.stop()


def send(handler, status, body, headers=()):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(data)), **dict(headers)}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def echo(body):
    """Return the last message as two tokens with log-probabilities -0.5 and -0.25."""
    return right(body["messages"][-1]["content"])


def right(text, finish="stop", tokens=None, completion=2, prompt=7, **message):
    """A chat completion. `tokens`: (text, log-probability) pairs, by default two that spell the text."""
    if tokens is None:
        half = len(text or "") // 2 or 1
        tokens = [((text or "")[:half], -0.5), ((text or "")[half:] or " ", -0.25)]
    listed = [{"token": spelled, "logprob": logprob, "bytes": None} for spelled, logprob in tokens]
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return 200, {"object": "chat.completion", "choices": [choice | {"logprobs": {"content": listed}}], "usage": usage}


def wrong(status, message="no", code=None, **headers):
    """An error in OpenAI's form; headers with `_` for `-`."""
    error = {"error": {"message": message, "type": "some_error", "param": None, "code": code}}
    return status, error, {name.replace("_", "-"): value for name, value in headers.items()}


def half(handler):
    """Half of what was announced, then silence for good."""
    send(handler, 200, b'{"choices"', {"Content-Length": "500"})
    handler.close_connection = True


def hang_up(handler):
    """Not a byte."""
    handler.close_connection = True
