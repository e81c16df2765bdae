"""What is wrong with a page is in its row, and each picture is as wide as its window."""

import pytest
from PIL import Image

from bench import screens

PAGE = """<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>A page</title><body style="margin: 0">
<p style="width: 500px">Wide</p><p style="width: 3em; overflow: hidden; white-space: nowrap">Cut off behind here</p>
<p style="color: #999">Faint</p><button></button></body></html>"""


def test_faults_of_a_page_are_seen(browser, tmp_path):
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    try:
        page = screens.Page("page.html", tmp_path / "page.html")
        narrow, wide = (screens.look(browser, page, width, "light", "", tmp_path) for width in screens.WINDOWS)
        dark = screens.look(browser, page._replace(act="document.body.textContent = ''"), 390, "dark", "", tmp_path)
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")
        browser.call("Emulation.setEmulatedMedia", features=[])
    assert narrow["sideways"] >= 110
    assert wide["sideways"] == 0
    assert (wide["cut"], wide["faint"], wide["unnamed"]) == ("Cut off behind here", "Faint", "button")
    assert (dark["cut"], dark["faint"], dark["unnamed"], dark["scheme"]) == ("", "", "", "dark")
    assert Image.open(tmp_path / "page-390-light.png").width == 390


def test_without_a_browser_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("CHROMIUM", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit) as stopped:
        screens.main(["page.html", "--to", str(tmp_path / "pictures")])
    assert stopped.value.code == "no Chromium: install chromium or chromium-headless-shell, or name one in $CHROMIUM"
    assert not (tmp_path / "pictures").exists()
