"""A headless Chromium driven over its DevTools protocol, through two pipes: no library, no port."""

import json
import os
import select
import shutil
import subprocess
from collections import deque
from contextlib import contextmanager, suppress

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the shell starts fastest
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"),
    *("--disable-dev-shm-usage", "--disable-site-isolation-trials", "--remote-debugging-pipe"),
)
MISSING = "no Chromium: install chromium or chromium-headless-shell, or name one in $CHROMIUM"
PATIENCE = 300  # seconds that the browser may be silent


def program():
    """The program of $CHROMIUM, or one on the path; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def skip_without():
    """Skips the test where there is none."""
    if not program():
        pytest.skip(MISSING)


class Browser:
    """One page. `events` holds what the browser said beside its answers."""

    def __init__(self, profile):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4
        command = ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "-", program(), *FLAGS]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command += [f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), **quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self.reader, self.writer = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.number, self.rest, self.events, self.session, self.world = 0, b"", deque(), None, {}
        self.session = self._attach()

    def _attach(self):
        """Session of a new tab."""
        self.session, before = None, self.session
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        session, self.session = self.session, before
        return session

    @contextmanager
    def tab(self, session=None):
        """Inside, everything happens in another tab, a new one or that of `session`, which is what is handed out."""
        before = self.session
        self._look_at(session or self._attach())
        try:
            yield self.session
        finally:
            self._look_at(before)

    def _look_at(self, session):
        """The tab of `session` is in front, the one before is hidden, also in the headless shell, where each is a window
        of its own and would stay visible.
        """
        behind = self.call("Browser.getWindowForTarget")["windowId"]
        self.session = session
        front = self.call("Browser.getWindowForTarget")["windowId"]
        if front != behind:
            for window, state in ((behind, "minimized"), (front, "normal")):
                self.call("Browser.setWindowBounds", windowId=window, bounds={"windowState": state})
        self.call("Page.bringToFront")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.session = None
            self._send("Browser.close")  # as a user closes it: what pages stored is on disk then
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.writer.close()
        self.process.terminate()
        self.process.wait()
        self.reader.close()

    def _send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()

    def call(self, method, **params):
        self._send(method, **params)
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
        """Reload an address and wait until it is loaded and `ready`."""
        for address in ("about:blank", url):
            self.events.clear()
            self.call("Page.navigate", url=address)
            self._heard("Page.loadEventFired")  # a second address during the first one's arrival would get no answer
        self.wait(ready)

    def _heard(self, method):
        while not self.said(method):
            self.events.append(self._next())

    def js(self, expression):
        """The value of an expression in the page; a promise is awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, **self.world
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression):
        """Until it is true; what never is fails before the browser counts as silent."""
        self.js(
            f"new Promise((done, fail) => {{ const end = Date.now() + {PATIENCE * 800}; const look = () => "
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

    def key(self, name, code=0, text="", held=0, place=""):
        """Press and release a key: its sign, its number, what it writes, what is held down, its place on a keyboard."""
        key = {"key": name, "code": place or name, "windowsVirtualKeyCode": code, "modifiers": held}
        self.call("Input.dispatchKeyEvent", type="keyDown", **key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def click(self, selector):
        """Press and release the mouse in the midst of an element, once it is shown: before, the mouse would miss it."""
        self.wait(f"document.querySelector({json.dumps(selector)})?.getClientRects().length")
        x, y = self.js(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{ block: 'center' }});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def choose_file(self, selector, path):
        """Into a file input, as the system's dialog would."""
        answer = self.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
        self.call("DOM.setFileInputFiles", files=[str(path)], objectId=answer["result"]["objectId"])

    def downloads(self, folder):
        """From now on files are saved there."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def said(self, method):
        here = (event for event in self.events if event.get("sessionId") == self.session)
        return [event["params"] for event in here if event.get("method") == method]
