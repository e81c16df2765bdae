"""A headless Chromium driven over its DevTools protocol, through two pipes: no library, no port."""

import json
import os
import select
import shutil
import subprocess
from collections import deque
from contextlib import contextmanager

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-dev-shm-usage", "--disable-site-isolation-trials", "--remote-debugging-pipe"),
)
PATIENCE = 60  # seconds that the browser may be silent


def found():
    """The program of $CHROMIUM, or one on the path; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `events` holds what the browser said beside its answers."""

    def __init__(self, profile):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self.process = subprocess.Popen(  # Chromium reads from descriptor 3 and writes to 4
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}',
                "-",
                found(),
                *FLAGS,
                f"--user-data-dir={profile}",
            ],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.reader, self.writer = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.number, self.rest, self.events, self.session, self.world = 0, b"", deque(), None, {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()
        self.process.terminate()
        self.process.wait(20)
        self.reader.close()

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while (answer := self._next()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _next(self):
        while b"\0" not in self.rest:
            assert select.select([self.reader], [], [], PATIENCE)[0], "the browser says nothing"
            piece = os.read(self.reader.fileno(), 1 << 20)
            assert piece, "the browser has gone"
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def open(self, url, ready="true"):
        """Load an address anew and wait until it is loaded and `ready`."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.wait(ready)

    def js(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, **self.world
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression):
        """Until it is true, for 20 s at most."""
        self.js(
            "new Promise((done, fail) => { const end = Date.now() + 20000; const look = () => "
            f"({expression}) ? done(true) : Date.now() > end ? fail(new Error('never')) : setTimeout(look, 20); look(); }})"
        )

    @contextmanager
    def frame(self):
        """Inside, `js` and `wait` look into the only frame of the page."""
        (frame,) = self.call("Page.getFrameTree")["frameTree"]["childFrames"]
        world = self.call("Page.createIsolatedWorld", frameId=frame["frame"]["id"])
        self.world = {"contextId": world["executionContextId"]}
        try:
            yield
        finally:
            self.world = {}

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def said(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]
