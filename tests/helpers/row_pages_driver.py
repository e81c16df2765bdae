"""Drive the pages of judged and of scored rows in a browser: set their filters, read the visible rows."""

import json

SHOWN = "document.getElementById('status')?.textContent.startsWith('Shown')"


def shown(browser):
    """Ids of the rows on the page, in order."""
    return browser.js("[...document.querySelectorAll('#rows .id')].map(a => a.textContent)")


def choose(browser, name, value):
    """Set a filter, or type into the search."""
    browser.js(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = {json.dumps(value)};"
        " e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input')); })()"
    )
    if name == "q":
        browser.wait(f"(new URLSearchParams(location.hash.slice(1)).get('q') ?? '') === {json.dumps(value)}")
