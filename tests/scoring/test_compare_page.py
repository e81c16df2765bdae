"""The page of two systems: rows side by side, those that differ most first, in a real Chromium."""

import test_compare
from row_pages_driver import SHOWN, choose, shown
from test_scored_page import SIX, failed, judged, run


def test_two_systems_row_by_row(browser, tmp_path):
    theirs = [
        judged(0, "Greeks eat moussaka.", language="English", culture="Greece"),
        judged(1, "Çay İÇİLİR", (0, 3, "minor", "taste"), language="Turkish", culture="Turkey"),
        judged(2, "שלום עולם, כן", (5, 9, "major", "taste")),
        failed(3),
        failed(4),
    ]
    files = [
        test_compare.write_results(tmp_path / f"{name}.jsonl", rows)
        for name, rows in (("ours", SIX), ("theirs", theirs))
    ]
    page = tmp_path / "pair.html"
    result = run(files[0], "--against", files[1], "--to", page)
    assert result.exit_code == 0, result.stderr
    assert "6 rows in A, 5 in B: 3 compared. Left out: 1 in A only" in page.read_text(encoding="utf-8")
    browser.open(page.as_uri(), SHOWN)
    assert shown(browser) == ["r0", "r2", "r1", "r3", "r4"], "differences -5, -1, 0, and two without a score"
    status = browser.js("document.getElementById('status').textContent")
    assert status == "Shown 5 of 5 rows: 2 B better + 1 equal + 1 no score of A and B + 1 no score of B."
    heads = "[...document.querySelector('#rows tbody tr').querySelectorAll('h2')].map(h => h.textContent)"
    assert browser.js(heads)[:3] == ["instruction", "output, A", "output, B"]
    first = browser.js("document.querySelector('#rows tbody tr').textContent")
    assert "A1 majorSushi" in first and "Greeks eat moussaka." in first  # noqa: PT018
    browser.js("document.querySelectorAll('.folded').forEach((charts) => (charts.open = true))")
    browser.click("button.bar[data-filter=type_b][data-value='\"taste\"']")
    assert shown(browser) == ["r2", "r1"]
    choose(browser, "type_b", "")
    choose(browser, "order", "b")
    assert shown(browser)[0] == "r1", "the one with the least advantage of B"
