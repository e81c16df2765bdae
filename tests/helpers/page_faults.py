"""What a reader with poor sight, or without sight, could not use on a page in Chromium."""

from itertools import pairwise

LEAST = 4.5  # contrast of a text, WCAG 2.2 AA, here also of large ones
NAMED = ("button", "link", "combobox", "searchbox", "textbox", "region", "DisclosureTriangle", "table", "search")
FAINT = """(() => {
  const colour = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const found = colour(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return null;
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), faint = [];
  while (walk.nextNode()) {
    const text = walk.currentNode, e = text.parentElement;
    if (!text.data.trim() || e.closest("script, option") || !e.checkVisibility() || e.closest(":disabled")) continue;
    const [a, b] = [light(colour(getComputedStyle(e).color)), light(behind(e) ?? [255, 255, 255])];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < LEAST) faint.push([text.data, ratio, getComputedStyle(e).color]);
  }
  return faint;
})()"""


def too_faint(browser):
    """Return each visible text whose contrast to what is behind it is less than LEAST, with contrast and colour."""
    return browser.js(FAINT.replace("LEAST", str(LEAST)))


def skipped_headings(browser):
    """Return each visible heading that is more than one level below the one before it."""
    levels = browser.js(
        "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((e) => e.checkVisibility())"
        ".map((e) => [Number(e.tagName[1]), e.textContent])"
    )
    return [text for (before, _), (level, text) in pairwise(levels) if level > before + 1]


def without_name(browser):
    """Return the role of each control or region for which the browser tells a screen reader no name."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()
    ]
