"""Judged rows on a page: joined and counted here, searched, filtered and attacked in a real Chromium where there is one."""

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from base_samples import HOSTILE
from row_pages_driver import SHOWN, choose, shown

from excam.core import tables
from excam.error_reports import record_files
from excam.error_reports.evaluation import judged_rows as rows
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.pages import row_browser
from scripts import reports

ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<!--<script>",
    "{{script}} {{data}} ]]> &lt;b&gt; <a href='javascript:pwned=3'>x</a>",
    *HOSTILE,
)


def sample(number, text="A cup of tea.", wrong=False, **changes):
    error = CulturalError("output", text[:5], "major", "incorrect answer", 0, 5)
    report = Report((error,), "Not tea.") if wrong else Report()
    name = f"{changes.get('dataset', 'blend')}/{number}"
    fields = {
        **dict.fromkeys(Sample.__slots__, ""),
        **{"id": f"{name}/{'wrong' if wrong else 'right'}", "pair": name, "base": name, "dataset": "blend"},
        **{"instruction": f"What is drunk on day {number}?", "output": text, "language": "English", "culture": "Peru"},
        **{"report": report, "origin": "hard" if wrong else "source", "templates": (), "split": "test"},
    }
    return Sample(**{**fields, **changes})


def verdict(*errors, explanation="So.", **changes):
    score = float(sum(-5 if error.severity == "major" else -1 for error in errors))
    return Verdict(len(errors), score, 0.75, Report(errors, explanation) if errors else Report(), **changes)


def frames(folder, samples, verdicts):
    record_files.write_samples(folder / "samples.parquet", samples)
    record_files.write_judgements(folder / "judgements.parquet", samples, verdicts)
    return tables.read_frame(folder / "judgements.parquet"), tables.read_frame(folder / "samples.parquet")


FOUND = CulturalError("output", "cup of tea", "minor", "taste", 2, 12)
UNREADABLE = Verdict(None, None, 0.1, failure="no-json")


@pytest.fixture
def five(tmp_path):
    """One row of each outcome, two datasets, three languages."""
    samples = [
        sample(1, wrong=True),
        sample(2, wrong=True, language="Turkish", output="Çay İÇİLİR, ışık"),
        sample(3, dataset="epic", language="Hebrew", output="שלום עולם"),
        sample(4, dataset="epic", culture="Chile"),
        sample(5, wrong=True, dataset="epic"),
    ]
    verdicts = [verdict(FOUND), verdict(), verdict(replace(FOUND, start=-1, end=-1)), verdict(), UNREADABLE]
    return frames(tmp_path, samples, verdicts)


# --- rows


def test_a_text_that_cannot_be_encoded_is_written_as_escapes(tmp_path):
    judged, _ = frames(tmp_path, [sample(1)], [verdict(parts={"expected": "\ud800"}, thinking="\ud800")])
    assert (judged["parts"][0], judged["thinking"][0]) == ('{"expected": "\\ud800"}', "?")


def test_outcome_is_that_of_signal_detection():
    table = {(True, 2): "hit", (True, 0): "miss", (False, 1): "false alarm", (False, 0): "correct rejection"}
    assert {key: rows.outcome(*key) for key in table} == table
    assert {rows.outcome(gold, None) for gold in (True, False)} == {"unreadable"}


def test_every_row_is_there_once_and_counts_add_up(five):
    joined = rows.join(*five)
    assert [row.id for row in joined] == five[0]["id"].to_list()
    assert [row.outcome for row in joined] == list(rows.OUTCOMES)
    assert [row.tone for row in joined] == ["right", "wrong", "wrong", "right", "unreadable"]
    counts = rows.counts(joined)
    assert list(counts) == ["blend", "epic", "all"]
    assert all(sum(line.values()) == 2 * line["n"] for line in counts.values())
    assert [line["n"] for line in counts.values()] == [2, 3, 5]
    first, third, last = (joined[at].reports[1] for at in (0, 2, 4))
    assert (first.errors[0].start, first.errors[0].end) == (2, 12)
    assert third.errors[0].start == -1
    assert last.errors is None
    assert joined[4].values["outcome"] == ("unreadable", "unreadable: no-json")


# --- the page


class Parts(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.styles, self.policy = [], [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]

    def handle_data(self, data):
        last = self.tags[-1][0] if self.tags else ""
        if last in ("script", "style") and data.strip():
            (self.scripts if last == "script" else self.styles).append(data)


def parsed(text):
    parts = Parts()
    parts.feed(text)
    return parts


@pytest.fixture
def attacked(tmp_path):
    """Every text of a row hostile, the error in the midst of it."""
    samples, verdicts = [], []
    for number, attack in enumerate(ATTACKS):
        text = f"👍 {attack} end"
        error = CulturalError("output", attack, "major", attack, 2, 2 + len(attack))
        made = sample(number, text, instruction=attack, culture=attack, language=attack[:9])
        samples.append(replace(made, report=Report((error,), attack)))
        verdicts.append(verdict(replace(error, severity="minor"), explanation=attack))
    return frames(tmp_path, samples, verdicts)


def test_no_text_becomes_markup(five, attacked):
    joined = rows.join(*attacked)
    text = rows.page("<b>/nothing/report", joined, {"<i>.parquet": "0" * 64})
    parts, plain = parsed(text), parsed(rows.page("m/nothing/report", rows.join(*five), {"a": "0" * 64}))
    tags, expected = (Counter(tag for tag, _ in page.tags) for page in (parts, plain))
    assert {tag for tag in tags if tags[tag] != expected[tag]} == {"tr", "th", "td"}  # fewer datasets
    data, script = parts.scripts
    assert re.fullmatch("[A-Za-z0-9+/]+=*", data)
    stored = json.loads(zlib.decompress(base64.b64decode(data)))
    packed = [(row[0], row[4]["output"], [error[3] for error in row[5][0][0]]) for row in stored["rows"]]
    assert packed == [(row.id, row.texts["output"], [error.span for error in row.reports[0].errors]) for row in joined]
    for kind, content in (("script", script), ("style", parts.styles[0])):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in parts.policy
    assert parts.policy.startswith("default-src 'none'; ")


@pytest.mark.parametrize("judge", ["report", "count"])
def test_script_writes_the_same_bytes_twice(tmp_path, judge):
    samples = [sample(1, wrong=True), sample(2)]
    clean = verdict()
    verdicts = [verdict(FOUND), clean] if judge == "report" else [replace(clean, report=None)] * 2
    frames(tmp_path, samples, verdicts)
    for name in ("one.html", "two.html"):
        files = ["--judgements", str(tmp_path / "judgements.parquet"), "--samples", str(tmp_path / "samples.parquet")]
        reports.judged_rows(["--system", f"m/nothing/{judge}", *files, "--page", str(tmp_path / name)])
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert (
        hashlib.sha256((tmp_path / "samples.parquet").read_bytes()).hexdigest() in (tmp_path / "one.html").read_text()
    )


def test_a_page_too_large_for_a_report_says_so(tmp_path, capsys, monkeypatch):
    frames(tmp_path, [sample(1)], [verdict()])
    files = ["--judgements", str(tmp_path / "judgements.parquet"), "--samples", str(tmp_path / "samples.parquet")]
    for limit, said in ((row_browser.FITS, False), (1000, True)):
        monkeypatch.setattr(reports, "FITS", limit)
        reports.judged_rows(["--system", "m/nothing/report", *files, "--page", str(tmp_path / "page.html")])
        assert ("report.zip" in capsys.readouterr().err) == said


# --- in a browser


def write_page(folder, joined, name="page.html"):
    path = folder / name
    path.write_text(rows.page("m/nothing/report", joined, {"a": "0" * 64}), encoding="utf-8")
    return path.as_uri()


def test_searching_and_filtering(browser, five, tmp_path):
    joined = rows.join(*five)
    browser.open(write_page(tmp_path, joined), SHOWN)
    ids = [row.id for row in joined]
    assert shown(browser) == ids
    status = "document.getElementById('status').textContent"
    assert browser.js(status).startswith("Shown 5 of 5 rows: 1 hit + 1 miss + 1 false alarm")
    for word, expected in {
        "CUP of  tea": {0, 2, 3, 4},  # in outputs, and in the span that is not in the output
        "cay icilir, isik": {1},
        "עולם": {2},
        "chile": {3},
        "blend/2/": {1},
        "day": {0, 1, 2, 3, 4},
        "nowhere": set(),
    }.items():
        choose(browser, "q", word)
        assert shown(browser) == [ids[n] for n in sorted(expected)], word
        assert browser.js(status).startswith(f"Shown {len(expected)} of 5 rows")
    choose(browser, "q", "")
    for name, value, kept in [
        ("dataset", "epic", {2, 3, 4}),
        ("language", "Turkish", {1}),
        *(("outcome", kind, {n}) for n, kind in enumerate(rows.OUTCOMES)),
        ("outcome", "unreadable: no-json", {4}),
    ]:
        choose(browser, name, value)
        assert shown(browser) == [ids[n] for n in sorted(kept)], value
        choose(browser, name, "")
    for name in ("dataset", "language", "outcome"):
        texts = browser.js(f"[...document.querySelectorAll('#{name} > option')].map(o => o.textContent)")
        total, *each = [int(re.search(r"\((\d+)\)$", text)[1]) for text in texts]
        assert total == sum(each) == 5
    choose(browser, "dataset", "epic")  # each filter counts what the others leave
    languages = browser.js("[...document.querySelectorAll('#language > option')].map(o => o.textContent)")
    assert languages == ["all (3)", "English (2)", "Hebrew (1)", "Turkish (0)"]
    assert browser.js("document.querySelector('#dataset > option').textContent") == "all (5)"


def test_a_view_has_an_address(browser, five, tmp_path):
    url = write_page(tmp_path, rows.join(*five))
    browser.open(url, SHOWN)
    choose(browser, "dataset", "epic")
    choose(browser, "q", "not TEA")
    address = browser.js("location.href")
    assert shown(browser) == ["epic/5/wrong"]  # by its gold explanation
    browser.open(address, SHOWN)
    assert shown(browser) == ["epic/5/wrong"]
    assert browser.js("document.getElementById('q').value") == "not TEA"
    browser.open(f"{url}#dataset=nowhere&size=7&page=99", SHOWN)
    assert len(shown(browser)) == 5
    browser.js("document.querySelectorAll('#rows .id')[3].click()")
    browser.wait("document.querySelectorAll('#rows tbody tr').length === 1")
    assert shown(browser) == ["epic/4/right"]


def test_marks_lie_where_the_errors_are(browser, tmp_path):
    text = "👍 0123456789"
    place = {"gold": [(2, 6, "major"), (5, 8, "minor")], "found": [(4, 7, "minor"), (9, 9, "major"), (-1, -1, "major")]}
    errors = {
        kind: tuple(CulturalError("output", text[a:b], severity, "t", a, b) for a, b, severity in spans)
        for kind, spans in place.items()
    }
    made = replace(sample(1, text), report=Report(errors["gold"], "why"))
    browser.open(write_page(tmp_path, rows.join(*frames(tmp_path, [made], [verdict(*errors["found"])]))), SHOWN)
    assert browser.js(
        "(() => { const p = document.querySelectorAll('.judged')[1], walk = document.createTreeWalker(p, 4), found = [];"
        " while (walk.nextNode()) { const up = []; for (let e = walk.currentNode.parentNode; e !== p; e = e.parentNode)"
        " up.unshift(e.className); found.push([walk.currentNode.data, ...up]); } return found.filter(f => f[0]); })()"
    ) == [
        ["👍 "],
        ["G1", "tag gold"],
        ["01", "gold major"],
        ["J1", "tag found"],
        ["2", "gold major", "found minor"],
        ["G2", "tag gold"],
        ["3", "gold major", "found minor"],
        ["4", "gold minor", "found minor"],
        ["5", "gold minor"],
        ["6"],
        ["J2", "tag found"],
        ["789"],
    ]
    assert "not in the output" in browser.js("document.querySelector('#rows tbody tr').textContent")
    line = "getComputedStyle(document.querySelector('.judged mark.{}')).textDecoration"
    assert browser.js(line.format("gold")).startswith("underline")
    assert browser.js(line.format("found")).startswith("overline")
    assert "dashed" in browser.js(line.format("found"))


def test_many_rows_pages_keyboard_narrow_and_print(browser, tmp_path):
    samples = [sample(n, wrong=n % 2 == 1, dataset=f"d{n % 3}") for n in range(1200)]
    verdicts = [verdict(FOUND) if n % 5 else UNREADABLE for n in range(1200)]
    url = write_page(tmp_path, rows.join(*frames(tmp_path, samples, verdicts)))
    browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    browser.open(url, SHOWN)
    assert browser.js("document.documentElement.scrollWidth") <= 400
    assert len(shown(browser)) == 25
    reached = []
    for _ in range(9):  # by keyboard alone: through the filters, each with a label
        browser.key("Tab", 9)
        reached.append(browser.js("document.activeElement.id || document.activeElement.tagName"))
    assert reached[:8] == ["SUMMARY", "q", "SUMMARY", "dataset", "language", "outcome", "size", "BUTTON"]
    assert browser.js("[...document.querySelectorAll('input, select')].filter(e => !e.labels.length).length") == 0
    browser.js("document.getElementById('q').focus()")
    browser.call("Input.insertText", text="DAY 11")
    browser.wait("document.getElementById('status').textContent.startsWith('Shown 111 of 1200')")
    browser.js("document.getElementById('next').focus()")
    browser.key("Enter", 13)
    browser.call("Input.dispatchKeyEvent", type="char", text="\r", key="Enter")
    browser.wait("document.getElementById('place').textContent === 'Page 2 of 5'")
    assert browser.js("location.hash") == "#q=DAY+11&page=2"
    assert browser.js("document.activeElement.id") == "status"
    assert base64.b64decode(browser.call("Page.printToPDF")["data"]).startswith(b"%PDF")
    browser.call("Emulation.clearDeviceMetricsOverride")


def test_direction_of_a_text_is_its_own(browser, five, tmp_path):
    browser.open(write_page(tmp_path, rows.join(*five)), SHOWN)
    directions = browser.js("[...document.querySelectorAll('.judged')].map(p => getComputedStyle(p).direction)")
    assert [n for n, direction in enumerate(directions) if direction == "rtl"] == [5]  # the output of the third row
    paragraphs = browser.js("getComputedStyle(document.querySelector('.judged')).unicodeBidi")
    assert paragraphs == "plaintext"  # each line has its own direction: a lead-in may be of another language


def test_page_works_inside_a_report(browser, five, tmp_path):
    """As `snakemake --report` embeds it: base64 in the address of a frame, here of the greatest length that opens."""
    content = rows.page("m/nothing/report", rows.join(*five), {}).encode()
    inside = base64.b64encode(content + b" " * (row_browser.FITS - len(content))).decode()
    address = f"data:text/html;charset=utf8;filename=report.html;base64,{inside}"
    (tmp_path / "outer.html").write_text(f'<iframe src="{address}"></iframe>')
    browser.open((tmp_path / "outer.html").as_uri())
    with browser.frame():
        browser.wait(SHOWN)
        choose(browser, "dataset", "epic")
        assert len(shown(browser)) == 3
        browser.js("document.getElementById('filters').reset()")
        browser.wait("document.querySelectorAll('#rows tbody tr').length === 5")
    assert not browser.said("Runtime.exceptionThrown")
