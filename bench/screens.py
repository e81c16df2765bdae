"""Pictures and measures of pages: 390 and 1,280 pixels wide, light and dark.

    python -m mkdocs build --site-dir site
    python -m bench.screens results site --forms --axe node_modules/axe-core/axe.min.js --to screens

A row of screens.csv for each picture: the length of the page in windows, by how many pixels it scrolls sideways, texts
that are cut or too faint, controls without a name, and what the rules of axe-core find. Needs Chromium.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from excam.annotation import adjudication, page
from excam.annotation.campaign import Campaign
from tests.helpers.chromium import MISSING, Browser, program
from tests.helpers.form_campaigns import MADE, finished
from tests.helpers.page_faults import too_faint, without_name

WINDOWS = {390: 844, 1280: 900}
SCHEMES = ("light", "dark")
LONGEST = 3  # windows that a picture shows
COLUMNS = ("page", "width", "scheme", "windows", "sideways", "cut", "faint", "unnamed", "axe", "errors")
SIDEWAYS = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"  # a phone's innerWidth grows
CUT = """[...document.querySelectorAll("body *")].filter((e) => {
  const style = getComputedStyle(e), hides = style.overflowX === "hidden" || style.overflowX === "clip";
  return hides && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && e.checkVisibility() && e.textContent.trim();
}).map((e) => e.textContent.trim().slice(0, 60))"""
AXE = """axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations.map((rule) =>
  `${rule.id}: ${rule.nodes.length} (${rule.nodes[0].target.join(" ")})`))"""
READY = """(document.getElementById("loading")?.hidden ?? true)
  && !document.getElementById("status")?.textContent.startsWith("Unpacking")"""

ENTER = "enter(data.every[0].assigned[0] ?? 'ann-1').then(() => { location.hash = '%s'; route(); })"


class Page(NamedTuple):
    """A page to look at: a file, and what happens before the picture."""

    name: str
    path: Path
    act: str = "null"


def of_forms(folder: Path) -> Iterator[Page]:
    """Yield the views of each form's page: who answers, the instructions, and a task with all steps open."""
    for name, made in {**MADE, "adjudication": _adjudication}.items():
        found = made()
        path = folder / f"form-{name}.html"
        path.write_text(page.write(found), encoding="utf-8")
        yield Page(f"form {name}, start", path)
        yield Page(f"form {name}, instructions", path, ENTER % "instructions")
        yield Page(f"form {name}, task", path, ENTER % "tasks")


def _adjudication() -> Campaign:
    found, chance = MADE["long_form"](), Random(0)
    given = [finished(found, task, name, chance) for task in found.tasks for name in ("eva", "li")]
    return adjudication.disagreements(found, given)


def of_files(places: Sequence[Path]) -> Iterator[Page]:
    for place in places:
        paths = sorted(place.rglob("*.html")) if place.is_dir() else [place]
        for path in paths:
            name = str(path.relative_to(place)) if place.is_dir() else path.name
            yield Page(name, path)
            if path.name == "campaign.html":
                yield Page(f"{name}, task", path, ENTER % "tasks")


def look(browser: Browser, page: Page, width: int, scheme: str, axe: str, to: Path) -> dict[str, Any]:
    """Take the picture of a page, and return what the browser finds wrong with it."""
    size = {"width": width, "height": WINDOWS[width], "deviceScaleFactor": 1, "mobile": width < 600}
    browser.call("Emulation.setDeviceMetricsOverride", **size)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.setBypassCSP", enabled=True)  # for axe
    browser.open(page.path.as_uri(), READY)
    browser.js("(() => { try { localStorage.clear(); } catch {} })()")
    browser.js(f"Promise.resolve({page.act}).then(() => null)")
    windows = browser.js("document.scrollingElement.scrollHeight / innerHeight")
    found = {
        "page": page.name, "width": width, "scheme": scheme, "windows": f"{windows:.1f}",
        "sideways": browser.js(SIDEWAYS), "cut": browser.js(CUT),
        "faint": [text.strip()[:40] for text, *_ in too_faint(browser)], "unnamed": without_name(browser),
        "axe": browser.js(f"{axe};\n{AXE}") if axe and width < 600 else [],
        "errors": [event["exceptionDetails"].get("text") for event in browser.said("Runtime.exceptionThrown")],
    }  # fmt: skip
    browser.js("scrollTo(0, 0)")
    width_and_height = {"width": width, "height": min(windows, LONGEST) * WINDOWS[width]}
    shown = {"x": 0, "y": 0, **width_and_height, "scale": 1}
    stem = f"{page.name.removesuffix('.html')}-{width}-{scheme}".replace("/", "_").replace(", ", "-").replace(" ", "-")
    browser.picture(to / f"{stem}.png", captureBeyondViewport=True, clip=shown)
    return {name: _listed(value) if isinstance(value, list) else value for name, value in found.items()}


def _listed(values: Sequence[object]) -> str:
    """Return the first values, and how many there are where that is not all."""
    return "; ".join(map(str, values[:4])) + (f" ({len(values)})" if len(values) > 4 else "")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", type=Path, nargs="*", metavar="PLACE", help="HTML files, or folders of them")
    parser.add_argument("--forms", action="store_true", help="also a page of each form, and of an adjudication")
    parser.add_argument("--axe", type=Path, metavar="JS", help="axe.min.js of axe-core, to run its rules too")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args(argv)
    if not program():
        sys.exit(MISSING)
    args.to.mkdir(parents=True, exist_ok=True)
    axe = args.axe.read_text(encoding="utf-8") if args.axe else ""
    with (
        tempfile.TemporaryDirectory() as kept,
        Browser(Path(kept) / "profile") as browser,
        (args.to / "screens.csv").open("w", newline="", encoding="utf-8") as table,
    ):
        writer: csv.DictWriter[str] = csv.DictWriter(table, COLUMNS)
        writer.writeheader()
        pages = [*of_files([place.resolve() for place in args.places]), *(of_forms(Path(kept)) if args.forms else ())]
        for page in pages:
            for width in WINDOWS:
                for scheme in SCHEMES:
                    writer.writerow(look(browser, page, width, scheme, axe, args.to))
                    table.flush()


if __name__ == "__main__":
    main()
