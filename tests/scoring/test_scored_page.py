"""The page of a scored file: its numbers add up; searched, filtered, read and attacked in a real Chromium."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace

import page_faults
import pytest
import test_compare
from base_samples import HOSTILE
from row_pages_driver import SHOWN, choose, shown
from typer.testing import CliRunner

from excam import cli
from excam.error_reports.records import CulturalError, Report
from excam.scoring import metric, report_page, summary
from excam.scoring import report_numbers as numbers
from excam.scoring.agreement import agreement
from excam.scoring.metric import Description
from excam.scoring.result_files import frame
from excam.scoring.results import NOT_KNOWN, part_lines

EXCAM = metric.load("excam").description
ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<svg onload=window.pwned=3><a href='javascript:pwned=4'>x</a>",
    "</title></style><!--<script>{{script}} {{data}} ]]> &lt;b&gt;",
    "half \ud83d a sign \x1b[2J \x00",
    *HOSTILE,
)


def judged(number, output="Sushi, of course.", *spans, **changes):
    """A row with errors at spans (start, end, severity, type). `changes` may name the instruction."""
    errors = tuple(
        CulturalError("output", output[start:end] if start >= 0 else "gone", severity, kind, start, end)
        for start, end, severity, kind in spans
    )
    return test_compare.judged(number, *errors, output=output, **changes)


def failed(number, reason="truncated", **changes):
    return judged(number, score=None, certainty=None, report=None, failure=reason, **changes)


SIX = [
    judged(0, "Greeks eat Sushi.", (11, 16, "major", "incorrect answer"), language="English", culture="Greece", system="a"),
    judged(1, "Çay İÇİLİR", (0, 3, "minor", "taste"), language="Turkish", culture="Turkey", system="a"),
    judged(2, "שלום עולם, כן", (5, 9, "major", "taste"), (0, 4, "minor", "greeting"), language="Hebrew", system="b"),
    judged(3, "Fine.", language="English", culture="Greece", system="b", certainty=0.9, warnings=("truncated",)),
    failed(4, language="English", culture="Greece", system="b"),
    failed(5, "no-json", system="b", warnings=("truncated", "language-untested")),
]  # fmt: skip


# --- numbers


def test_every_table_adds_up_to_all_rows():
    whole = numbers.line("all", SIX)
    assert (whole.n, whole.failed, whole.not_known, whole.with_errors, whole.share) == (6, 2, 0, 3, 0.75)
    assert whole.score == pytest.approx((-5 - 1 - 6 + 0.9) / 4)
    assert whole.score_interval is None, "four rows"
    for by in ("language", "culture", "system"):
        lines = numbers.lines(SIX, by)
        assert sum(line.n for line in lines) == 6
        assert sum(line.failed for line in lines) == 2
    assert [line.name for line in numbers.lines(SIX, "language")] == ["English", "not given", "Hebrew", "Turkish"]
    assert numbers.lines([judged(1)], "language") == []
    assert sum(number for _, number in numbers.counts(SIX, EXCAM)) == 6
    nobody = numbers.line("none", [failed(1)])
    assert (nobody.n, nobody.judged, nobody.share, nobody.score) == (1, 0, None, None)


def test_a_table_holds_no_half_of_a_character():
    half = "half \ud83d a sign"
    fields = dict.fromkeys(("id", "instruction", "language", "system", "culture", "signature"), half)
    row = judged(0, half, (0, 8, "major", half), warnings=(half,), **fields)
    table = frame([row, failed(1, half), judged(2, "שלום 👍")])
    assert half.replace("\ud83d", "?") == table["id"][0] == table["output"][0] == table["failure"][1]
    assert json.loads(table["report"][0])["errors"][0]["type"] == json.loads(table["warnings"][0])[0] == half
    assert table["output"][2] == "שלום 👍"


@pytest.mark.parametrize(("span", "first"), [((1.0, 5.0), "1 to 1.4"), (None, "1 to 1.36")])
def test_scores_of_other_metrics_lie_in_ten_bands(span, first):
    """Of a metric that states no range, from the lowest to the highest score. 4.6 is the edge of a band of 1 to 5."""
    rows = [replace(judged(n), score=score) for n, score in enumerate((1.0, 2.0, 4.6, 4.6))]
    counted = numbers.counts([*rows, failed(9)], Description(range=span))
    assert [count for _, count in counted] == [1, 0, 1, 0, 0, 0, 0, 0, 0, 2, 1]
    assert (counted[0][0], counted[10][0]) == (first, "failed")
    assert [count for _, count in numbers.counts([failed(1)], Description())] == [*[0] * 10, 1]
    assert sum(count for _, count in numbers.counts([judged(1)], Description())) == 1, "all scores alike"


def test_a_table_of_texts_whose_columns_have_names_of_ours():
    texts = {"certainty": "high", "errors": "many", "score": "good", "text": "T"}
    row = replace(judged(0), texts=texts, report=None, score=None, failure="truncated", certainty=0.5)
    table = frame([row, judged(1)])
    assert table["text"].to_list() == ["T", None]
    assert table["certainty"].to_list() == [0.5, 0.5]
    assert table["score"].to_list() == [None, 0.5]
    assert table["errors"].to_list() == ["many", None]
    assert len(set(table.columns)) == len(table.columns)


# --- the page as it is written


def test_page_needs_nothing_else_and_is_always_the_same():
    text = report_page.write("a.jsonl", "0" * 64, SIX)
    assert text == report_page.write("a.jsonl", "0" * 64, SIX)
    assert not re.search(r"https?:|\bsrc=|url\(|@import|//cdn| style=| on[a-z]+=", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|fetch\(", text)
    assert "<p>6 rows, judged by <code><bdi>excam|" in text
    assert "<p>Mean score: <bdi>mean of Eq. 1 of the paper: -5 for a major, -1 for a minor error, 0 to 1" in text
    assert number_of(text, "Rows with errors") == "75 % [30, 95 %]<small>3 of 4 judged</small>"
    assert number_of(text, "Mean score") == "−2.77<small>n = 4</small>"
    assert number_of(text, "Without a score") == "33 % [10, 70 %]<small>2 of 6: 2 failed</small>"


def test_the_page_says_what_its_warnings_mean():
    page = report_page.write("a.jsonl", "0" * 64, [replace(SIX[0], warnings=("judge-unqualified",)), *SIX[1:]])
    assert "judge-unqualified (1 row): nobody measured how often this judge is right" in page
    assert "How often is this judge right? Nobody knows" in page
    assert "Warnings:" not in report_page.write("a.jsonl", "0" * 64, [replace(row, warnings=()) for row in SIX])


def test_rows_with_equal_values_of_a_filter_share_one_list_of_them():
    rows = [*SIX, *(replace(row, texts=row.texts | {"note": ""}) for row in SIX)]
    packed = re.search(r'id="data"[^>]*>([^<]+)<', report_page.write("a.jsonl", "0" * 64, rows))[1]
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert len(data["lists"]) == len(set(map(tuple, data["lists"])))
    names = [each["name"] for each in data["filters"]]
    values = [{name: data["lists"][at] for name, at in zip(names, row[6], strict=True)} for row in data["rows"]]
    assert values[:6] == values[6:]
    assert (values[2]["severity"], values[2]["language"]) == (["major", "minor"], ["Hebrew"])
    assert (values[3]["severity"], values[5]["language"], values[4]["failure"]) == ([], [], ["truncated"])


def number_of(page, name):
    return page.partition(f"<dt>{name}</dt><dd>")[2].partition("</dd>")[0]


def test_the_numbers_above_have_their_intervals():
    rows = [judged(n, "Sushi", *[(0, 5, "major", "t")] * (n % 4 == 0)) for n in range(40)]
    text = report_page.write("a.jsonl", "0" * 64, [*rows, failed(40)])
    assert re.match(r"25 % \[1\d, [34]\d %\]<small>10 of 40 judged", number_of(text, "Rows with errors"))
    assert re.match(r"−0\.88 \[−1\.\d\d, −?0\.\d\d\]<small>n = 40", number_of(text, "Mean score"))
    assert re.match(r"2 % \[0, 13 %\]<small>1 of 41: 1 failed", number_of(text, "Without a score"))
    assert "Means have none" not in text
    assert "Means have none: fewer than 8 unrelated rows" in report_page.write("a.jsonl", "0" * 64, rows[:7])


def test_a_page_of_a_metric_that_lists_no_errors_says_nothing_of_errors():
    about = Description(title="Ratings <b>", mean="mean <i>", legend="1 to 5 <u>", range=(1.0, 5.0))
    rows = [replace(judged(n, system="a"), score=4.0, metric=about, parts={"fit": 3, "<s>": "<s>"}) for n in range(3)]
    text = report_page.write("a.jsonl", "0" * 64, [*rows, failed(9, metric=about)])
    head = text[: text.index("<script", text.index("</header"))] if "</header" in text else text
    assert number_of(text, "Mean score") == "4.00<small>n = 3</small>"
    assert number_of(text, "Without a score") == "25 % [5, 70 %]<small>1 of 4: 1 failed</small>"
    assert "<title>Ratings &lt;b&gt;</title>" in text
    assert not re.search(r"<b>|<i>|<u>|<s>", text)
    assert "with errors" not in head
    assert "overlook errors" not in text
    assert "<summary>By system</summary>\n<p>Means are of the scored rows." in text


def test_the_worst_text_stands_above_with_its_passage_and_what_a_score_means():
    parts = {"evidence": ["a.pdf#page=3"], "passages": ["a.pdf#page=3: Food: <b>Stew</b> of eel."]}
    bad = judged(6, "Stew & sushi.", (7, 12, "major", "dish"), score=-7.0, parts=parts)
    page = report_page.write("a.jsonl", "0" * 64, [*SIX, bad])
    (worst,) = re.findall('<section class="worst">(.*?)</section>', page, re.S)
    assert "<h2>The worst text: −7, row <bdi>" in worst
    assert "Stew &amp; <mark>sushi</mark>." in worst
    assert "a.pdf#page=3: Food: &lt;b&gt;Stew&lt;/b&gt; of eel." in worst
    assert "What a score means: −5 a major error, −1 a minor error. " in page
    assert 'class="worst"' not in report_page.write("a.jsonl", "0" * 64, [judged(1, "Fine.")])
    long = judged(7, f"{'a' * 1000}Sushi{'b' * 1000}", (1000, 1005, "major", "t"))
    assert f"<dd> … {'a' * 120}<mark>Sushi</mark>{'b' * 120} … </dd>" in report_page.worst([long])


def test_rows_that_are_not_known_are_counted_apart_from_failures():
    about = replace(EXCAM, certainty="chance of it", legend="how sure")
    parts = {"expected": "a tamada", "evidence": ["feast.md"], "margin": -0.12345678, "sure": False}
    parts["because"] = "passages disagree <b>"
    rows = [*(replace(row, metric=about) for row in SIX), failed(6, NOT_KNOWN, metric=about, system="b", parts=parts)]
    whole = numbers.line("all", rows)
    assert (whole.n, whole.judged, whole.failed, whole.not_known) == (7, 4, 2, 1)
    assert numbers.counts(rows, about)[-3:] == [("chance of it 0.8 to 1.0", 1), ("failed", 2), ("not known", 1)]
    text = report_page.write("a.jsonl", "0" * 64, rows)
    assert number_of(text, "Without a score").endswith("3 of 7: 2 failed, 1 not known</small>")
    assert '<th scope="col">failed</th><th scope="col">not known</th>' in text
    assert "p(R)" not in text
    reasons = text[text.index("<h2>Failures, and why") :].split("</ul>")[0]
    assert "rows, n = 2" in reasons
    assert NOT_KNOWN not in reasons
    unknown = text[text.index("<h2>Not known, and why") :].split("</ul>")[0]
    assert "<bdi>passages disagree &lt;b&gt;</bdi>" in unknown
    counted = summary.Summary()
    list(counted.counting(rows))
    assert "not known because: passages disagree <b> (1)" in counted.lines


def test_what_a_score_follows_from_is_beside_the_report():
    parts = {
        "expected": "a tamada",
        "evidence": ["feast.md", "b#2"],
        "statements": ["a b", "c d"],
        "margin": -0.12345678,
        "left": None,  # no line
    }
    assert part_lines(parts) == [
        "expected: a tamada",
        "evidence: feast.md, b#2",
        "statements, 1: a b",
        "statements, 2: c d",
    ]
    parts["because"] = "passages disagree: tea against wine"
    row = failed(1, NOT_KNOWN, parts={**parts, "many": 10**400, "sure": True, "passages": ["b#2: Tea: with milk"]})
    shown = report_page._row(row, numbers.bands([row], EXCAM))
    assert shown.reports[0].passages == [("feast.md", ""), ("b#2", "Tea: with milk")]
    assert "margin" not in shown.facts
    assert shown.facts["many"] == str(10**400)
    assert shown.reports[0].notes[:2] == (f"Not known: {parts['because']}. No score.", "expected: a tamada")
    assert shown.values["unknown"] == ["passages disagree"]
    assert shown.outcome == "not known"
    assert shown.values["failure"] == [""]


def test_no_name_becomes_markup():
    hostile = [judged(n, "x", (0, 1, "major", attack), language=attack, culture=attack, system=attack, warnings=(attack,),
                      metric=replace(EXCAM, certainty=ATTACKS[1]), parts={attack: attack})
               for n, attack in enumerate(ATTACKS)]  # fmt: skip
    text = report_page.write("<b>.jsonl", "0" * 64, hostile)
    text.encode("utf-8")
    assert "<b>.jsonl" not in text
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert not re.search(r"<(img|b|i|a|title></style)\b[^>]*(onerror|href)", text)


def run(*words):
    result = CliRunner(charset="utf-8").invoke(cli.app, ["report", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_command(tmp_path):
    scored, page = test_compare.write_results(tmp_path / "scored.jsonl", SIX), tmp_path / "new" / "report.html"
    result = run(scored, "--to", page)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "6 rows" in result.stderr
    assert hashlib.sha256(scored.read_bytes()).hexdigest() in page.read_text(encoding="utf-8")
    for words in ((scored, "--to", scored), (scored, "--to", tmp_path), (tmp_path / "none", "--to", page),
                  (test_compare.write_results(tmp_path / "empty.jsonl", []), "--to", page), (page, "--to", tmp_path / "x")):  # fmt: skip
        result = run(*words)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.stderr


# --- in a browser


def opened(browser, folder, rows):
    path = folder / "report.html"
    path.write_text(report_page.write("scored.jsonl", "0" * 64, rows), encoding="utf-8")
    browser.open(path.as_uri(), SHOWN)
    return browser


def test_a_filter_of_nothing_is_not_there(browser, tmp_path):
    opened(browser, tmp_path, [judged(1)])
    assert browser.js(
        "[...document.querySelectorAll('label')].filter(l => !l.offsetParent).map(l => l.htmlFor || l.querySelector('select').id)"
    ) == [*("verdict", "severity", "type", "word", "language", "culture", "system", "failure", "unknown", "warning")]


def test_how_sure_a_row_is(browser, tmp_path):
    several = agreement([(SIX[0].report, -5.0, None), (Report((), ""), 0.9, None), (None, None, "truncated")])
    clean = replace(SIX[3], probability=0.125, verdict="clean")
    rows = [replace(SIX[0], verdict="unsure", agreement=several), clean, SIX[1]]
    opened(browser, tmp_path, rows)
    said = browser.js("[...document.querySelectorAll('#rows tbody tr')].map(r => r.textContent)")
    assert "1 of 2 readable judgements found an error: unsure; scores -5.000, 0.900, none, spread" in said[0]
    assert "probability of an error 0.12: clean" in said[1]
    assert "judgements" not in said[2]
    choose(browser, "verdict", "unsure")
    assert shown(browser) == ["r0"]
    assert "<h2>Verdicts</h2>\n<p>rows, n = 2</p>" in report_page.write("a.jsonl", "0" * 64, rows)


def test_a_bar_is_a_filter_that_shows_that_it_is_on_and_can_be_removed(browser, tmp_path):
    opened(browser, tmp_path, [*SIX, judged(6, "half \ud83d", (0, 4, "minor", "<b>'\"\ud83d"))])
    browser.js("document.querySelector('.folded').open = true")  # closed in a narrow window

    def bar(name, value):
        return f"button.bar[data-filter={name}][data-value='{json.dumps(value)}']"

    pressed = "[...document.querySelectorAll('.bar[aria-pressed=true]')].map(b => b.dataset.value)"
    for name, value, kept in [
        ("type", "taste", [1, 2]), ("word", "Sushi", [0]), ("band", "-5 to below -2", [0]), ("severity", "major", [0, 2]),
        ("language", "English", [0, 3, 4]), ("outcome", "not judged", [4, 5]), ("failure", "no-json", [5]),
    ]:  # fmt: skip
        browser.click(bar(name, value))
        assert shown(browser) == [f"r{n}" for n in kept], (name, value)
        assert browser.js(pressed) == [json.dumps(value)]
        browser.click(bar(name, value))
        assert (len(shown(browser)), browser.js(pressed)) == (7, [])
    browser.js("document.querySelector('.bar[data-filter=type][data-value*=ud83d]').click()")
    assert shown(browser) == ["r6"]
    choose(browser, "type", "taste")
    browser.click(bar("severity", "major"))
    assert browser.js(pressed) == ['"major"', '"taste"'], "a filter that was chosen in the form"
    removal = "[...document.querySelectorAll('#active button')].map(b => b.getAttribute('aria-label'))"
    assert browser.js(removal) == ["Remove the filter Severity: major", "Remove the filter Error type: taste"]
    browser.click("#active button")
    assert shown(browser) == ["r1", "r2"]
    browser.click("#active button")
    assert (len(shown(browser)), browser.js("document.getElementById('active').hidden")) == (7, True)


def test_a_cited_passage_is_unfolded_and_a_web_address_is_a_link(browser, tmp_path):
    evidence = ["feast.md#2", "https://example.org/a", "javascript:alert(1)"]
    parts = {"evidence": evidence, "passages": ["feast.md#2: A feast: the tamada <b>leads</b>"]}
    opened(browser, tmp_path, [judged(0, parts=parts)])
    assert browser.js("[...document.querySelectorAll('td:last-child .cited')].map(e => e.textContent)") == evidence
    assert browser.js("[...document.querySelectorAll('td:last-child a')].map(a => a.href)") == ["https://example.org/a"]
    assert not browser.js("document.querySelector('.passage p').checkVisibility()")
    browser.click(".passage summary")
    assert browser.js("document.querySelector('.passage p').checkVisibility()")
    assert browser.js("document.querySelector('.passage p').textContent") == "A feast: the tamada <b>leads</b>"
    choose(browser, "q", "tamada")
    assert shown(browser) == ["r0"]


def test_a_long_text_is_cut_around_its_marks_and_shown_whole_on_demand(browser, tmp_path):
    text = f"{'a' * 1000}Sushi{'b' * 1000}"
    long = ("👍" * 700, "c" * 600, "अ" + "कि" * 700)
    marked = judged(0, text, (1000, 1005, "major", "t"))
    opened(browser, tmp_path, [marked, *(judged(at, output) for at, output in enumerate(long, 1))])
    seen = browser.js("[...document.querySelectorAll('.judged')].map(p => p.textContent)")
    assert seen[1] == f" … {'a' * 120}1 majorSushi{'b' * 120} … "
    assert seen[3] == f"{'👍' * 150} … "
    assert seen[5] == "c" * 600, "no long text"
    assert seen[7] == f"अ{'कि' * 149} … ", "a vowel sign stays with its letter"
    browser.js("document.querySelector('button.whole').click()")
    seen = browser.js("[...document.querySelectorAll('.judged')].map(p => p.textContent)")
    assert seen[1] == text.replace("Sushi", "1 majorSushi")
    assert browser.js("document.querySelectorAll('button.whole').length") == 2


def pieces(browser, at):
    return browser.js(
        f"(() => {{ const p = document.querySelectorAll('.judged')[{at}], walk = document.createTreeWalker(p, 4), found = [];"
        " while (walk.nextNode()) { const e = walk.currentNode.parentNode;"
        " found.push([walk.currentNode.data, e === p ? '' : e.className]); } return found.filter(f => f[0]); })()"
    )


def test_marks_lie_on_the_right_words(browser, tmp_path):
    row = judged(0, "👍👩‍👩‍👧 eat 𝒳 now", (11, 12, "major", "t"), (13, 16, "minor", "t"), (-1, -1, "major", "t"))
    opened(browser, tmp_path, [row, SIX[2]])
    assert pieces(browser, 1) == [
        ["👍👩‍👩‍👧 eat ", ""], ["1 major", "tag error"], ["𝒳", "error major"], [" ", ""], ["2 minor", "tag error"],
        ["now", "error minor"],
    ]  # fmt: skip
    assert pieces(browser, 3) == [
        ["2 minor", "tag error"], ["שלום", "error minor"], [" ", ""], ["1 major", "tag error"], ["עולם", "error major"],
        [", כן", ""],
    ]  # fmt: skip
    assert "not in the output" in browser.js("document.querySelector('#rows tbody tr').textContent")
    line = "getComputedStyle(document.querySelector('.judged mark.{}')).textDecoration"
    major, minor = browser.js(line.format("major")), browser.js(line.format("minor"))
    assert "3px" in major and "solid" not in minor and "dotted" in minor, (major, minor)  # noqa: PT018
    directions = browser.js("[...document.querySelectorAll('.judged')].map(p => getComputedStyle(p).direction)")
    assert directions == ["ltr", "ltr", "ltr", "rtl"]


def test_hostile_texts_are_only_texts(browser, tmp_path):
    rows = []
    for at, attack in enumerate(ATTACKS):
        text = f"👍 {attack} end"
        row = judged(at, text, (2, 2 + len(attack), "major", attack), id=attack, instruction=attack, language=attack)
        rows.append(replace(row, culture=attack, system=attack, warnings=(attack,), recovered=(attack,),
                            report=Report(row.report.errors, attack)))  # fmt: skip
    opened(browser, tmp_path, [*rows, failed(99, ATTACKS[0])])
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert len(shown(browser)) == len(ATTACKS) + 1
    assert browser.js("window.pwned") is None
    assert (
        browser.js("document.querySelectorAll('img, iframe, #rows script, #rows svg, a[href^=javascript]').length") == 0
    )
    requests = [event["request"]["url"] for event in browser.said("Network.requestWillBeSent")]
    assert [url for url in requests if not url.startswith("file:")] == []
    assert not browser.said("Runtime.exceptionThrown")
    assert not browser.said("Log.entryAdded"), "a violation of the policy would be told here"
    assert not browser.js(
        "/[\\u202a-\\u202e\\u2066-\\u2069\\0\\x1b]/.test(document.querySelector('#rows').textContent)"
    )
    controls = set(browser.js("[...document.querySelectorAll('#rows .judged .control')].map(c => c.textContent)"))
    assert {"U+202E", "U+2067", "U+2028", "U+D83D", "U+001B"} <= controls
    for at, row in enumerate(rows):
        text = browser.js(
            f"(() => {{ const p = document.querySelectorAll('.judged')[{2 * at + 1}].cloneNode(true);"
            " p.querySelectorAll('sup').forEach(s => s.remove()); return p.textContent; })()"
        )
        assert text == re.sub("[\0\x1b\u2028\u202e\u2067\ud83d]", lambda match: f"U+{ord(match[0]):04X}", row.output)


@pytest.mark.variants
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling_and_a_keyboard_is_enough(browser, tmp_path, scheme):
    rows = [judged(n, "w" * 300, (0, 9, "major", "t" * 80), language="L" * 60, culture=f"c{n % 40}") for n in range(60)]
    rows = [replace(row, warnings=("judge-unqualified",)) for row in rows]
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    opened(browser, tmp_path, rows)
    first = browser.js("document.querySelector('#rows tbody tr').getBoundingClientRect().top")
    assert first < 1.5 * 740, "rows are reached within a screen and a half"
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.js("document.documentElement.scrollWidth") <= 360
    assert browser.js("[...document.querySelectorAll('input, select')].filter(e => !e.labels.length).length") == 0
    browser.js("document.querySelector('summary').focus()")
    reached = []
    for _ in range(40):
        reached.append(browser.js("document.activeElement.id || document.activeElement.tagName"))
        browser.key("Tab", 9)
    assert [name for name in reached if name in ("q", "outcome", "language", "order", "size")] == [
        "q", "outcome", "language", "order", "size",
    ]  # fmt: skip
    browser.js("document.getElementById('next').focus()")
    browser.key("Enter", 13)
    browser.call("Input.dispatchKeyEvent", type="char", text="\r", key="Enter")
    browser.wait("document.getElementById('place').textContent === 'Page 2 of 3'")
    assert browser.js("document.activeElement.id") == "status"
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.variants
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_has_a_name_and_enough_contrast_and_bars_answer_to_keys(browser, tmp_path, scheme):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    parts = {"evidence": ["https://example.org/a", "b"], "passages": ["b: Tea: with milk"]}
    opened(browser, tmp_path, [*SIX, judged(6, "c" * 700, parts=parts), failed(7, NOT_KNOWN)])
    browser.js("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.js("document.querySelector('button.bar[data-filter=type]').focus()")
    for key, pressed in ((("Enter", 13, "\r"), "true"), ((" ", 32, " "), "false"), (("Enter", 13, "\r"), "true")):
        browser.key(*key)
        assert browser.js("document.activeElement.getAttribute('aria-pressed')") == pressed
    assert page_faults.too_faint(browser) == []
    assert page_faults.without_name(browser) == []
    assert page_faults.skipped_headings(browser) == []
    choose(browser, "type", "")
    assert page_faults.too_faint(browser) == []
    assert page_faults.without_name(browser) == []
    browser.js(
        "document.querySelector('#status').style.color = '#777'; document.querySelector('#q').parentNode.before($('q'))"
    )
    assert [text[:5] for text, *_ in page_faults.too_faint(browser)] == ["Shown"], "the check sees a fault"
    assert page_faults.without_name(browser) == ["searchbox"]
    browser.call("Emulation.setEmulatedMedia", features=[])
