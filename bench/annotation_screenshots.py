"""Pictures of the annotation page, for its documentation: every step, wide and narrow, light and dark.

    python -m bench.annotation_screenshots --to docs/annotation

Needs Chromium ($CHROMIUM or on the path). The tasks are made up; the server of the conflict's picture is a real one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from excam.annotation import page
from excam.annotation.campaign import Campaign, Task, campaign
from tests.helpers.annotation_server_process import Running, made, put
from tests.helpers.campaigns import FULL, SOFT, answer, changed, changed_task, small
from tests.helpers.chromium import Browser

READY = "document.getElementById('loading').hidden"
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}
VIEWS = {  # name -> (how the page gets there, the selector of what is at the top)
    "instructions": ("location.hash = 'instructions'", "body"),
    "step-1": ("location.hash = 'tasks'", "#task"),
    "step-2": ("change({ culture_related: 'yes', error_valid: 'partly' }); reveal(2)", "#step-2"),
    "step-3": ("change({ severity_ok: true, explanation_valid: 'valid', changed_mind: 'no' }); reveal(3)", "#step-3"),
}
TAKEN = {("wide", "light"), ("narrow", "dark")}
COLOURS = 128  # of a picture: a third of the bytes without a visible difference


def supper() -> Task:
    """A task that shows what the page can: two changes, one of them a gap."""
    before = "At a Burns supper the haggis is carried in to the sound of "
    original = ((before, False), ("bagpipes", True), (", then the guests raise ", False), ("a glass of whisky", True))
    modified = ((before, False), ("accordions", True), (", then the guests raise ", False), ("their hats", True))
    return changed_task(
        small(1).tasks[0],
        id="178dd4b2185331e7",
        original_instruction=(("What happens at a Burns supper", False), ("", True), ("?", False)),
        modified_instruction=(("What happens at a Burns supper", False), (" in Wales", True), ("?", False)),
        original_output=(*original, (" to the poet.", False)),
        modified_output=(*modified, (" to the poet.", False)),
        explanation="The haggis is piped in: accordions have no place in the custom. The toast to the poet is drunk, "
        "not waved, and the evening belongs to Scotland rather than Wales.",
        error_type="incorrect information about traditions",
        comparison_1="Bagpipes, not accordions, announce the haggis, and guests toast with whisky.",
        comparison_2=None,
    )


def shown() -> Campaign:
    return campaign("Cultural errors in generated texts", SOFT, [supper(), *small(12).tasks[1:]])


def views(browser: Browser, url: str, folder: Path) -> None:
    """Every view of the page as a file, in each of `TAKEN`."""
    for size, theme in sorted(TAKEN):
        prepared(browser, url, size, theme)
        browser.js("enter('ann-1').then(route)")
        for name, (act, top) in VIEWS.items():
            browser.js(f"(() => {{ {act}; }})()")
            browser.wait("location.hash === session.routed")
            browser.js(f"document.activeElement.blur(); scrollTo(0, document.querySelector('{top}').offsetTop - 12)")
            browser.picture(folder / f"{name}-{size}-{theme}.png")


def conflict(browser: Browser, folder: Path, size: str, theme: str) -> None:
    """Two versions of one answer: this page's, and one from elsewhere."""
    with tempfile.TemporaryDirectory() as kept:
        link = made(Path(kept) / "answers.store", shown(), ["ann-1"])["ann-1"]
        with Running(Path(kept) / "answers.store", log=Path(kept) / "log") as server, server.client() as client:
            prepared(browser, f"{server.url}{link}#tasks", size, theme)
            theirs = changed(answer(0, "ann-1"), task=supper().id, comment_1="Wales is not Scotland.")
            put(client, link, 0, theirs)
            browser.js(f"change({{ ...{FULL!r}, culture_related: 'no' }})".replace("True", "true"))
            browser.wait("document.getElementById('conflict').open")
            browser.picture(folder / f"conflict-{size}-{theme}.png")


def prepared(browser: Browser, url: str, size: str, theme: str) -> None:
    """A window of that size, colours and an empty storage."""
    width, height = SIZES[size]
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
    )
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.open(url, READY)
    browser.js("localStorage.clear()")
    browser.open(url, READY)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    folder = parser.parse_args(argv).to
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept, Browser(Path(kept) / "profile") as browser:
        (Path(kept) / "page.html").write_text(page.write(shown()), encoding="utf-8")
        views(browser, (Path(kept) / "page.html").as_uri(), folder)
        conflict(browser, folder, "wide", "dark")
        conflict(browser, folder, "narrow", "light")
    for path in sorted(folder.glob("*.png")):
        Image.open(path).quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
