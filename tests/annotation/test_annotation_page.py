"""The annotation page: what is in its bytes, and what people do with it in a real Chromium where there is one."""

import base64
import hashlib
import json
import re

import campaigns
import chromium
import page_faults
import pytest
from annotation_page_driver import (
    ATTACKS,
    READY,
    answer_by_key,
    answer_by_mouse,
    choose,
    chosen,
    downloaded,
    finish_task,
    go_to,
    imported,
    leaving,
    opened,
    shown,
    text_of,
    typed,
    unpacked,
    wished,
    write_page,
)
from campaigns import SOFT, changed

from excam.annotation import answers, campaign, exchange, page
from excam.annotation.form_parts import LONGEST

SERVED = page.Served("ann-1", "/a/token")


# --- the bytes


def test_page_needs_nothing_else_and_is_always_the_same():
    small_campaign = campaigns.small()
    text = page.write(small_campaign)
    assert text == page.write(small_campaign)
    assert not re.search(r"https?:|\bsrc=|url\(|@import|//cdn", text)
    script = page.script()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|</script|<!--", script)
    for kind, content in (("script", script), ("style", page.asset("page.css"))):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page.policy()
    for served, connects in ((None, False), (SERVED, True)):
        assert ("connect-src 'self'" in page.policy(served)) == connects
        assert f'content="{page.policy(served)}"' in page.write(small_campaign, served)


def test_the_page_does_not_name_the_source_of_a_text():
    """Neither the systems nor anything else of what is hidden, in either form."""
    small_campaign = campaigns.small()
    for served in (None, SERVED):
        text = page.write(small_campaign, served)
        inside = json.dumps(unpacked(text))
        assert not [name for name in (*campaigns.SOURCES, "alpha", "beta") if name in text + inside]
        assert not [name for name in ("hidden", "owner", *SOFT.owner) if f'"{name}"' in inside]
        assert not [task.row for task in small_campaign.tasks if task.row in inside]


def test_parts_of_the_page_stay_small():
    for path in sorted(page.ASSETS.iterdir()):
        assert len(path.read_text().splitlines()) <= 250, path


# --- in a browser


@pytest.mark.parametrize(("annotator", "seed", "act"), [("ann-0", 0, answer_by_key), ("ann-1", 1, answer_by_mouse)])
def test_a_campaign_from_the_first_task_to_the_export(tmp_path, annotator, seed, act):
    """Ten tasks in a browser of one's own; what is exported is what was chosen, byte for byte as we would write it."""
    chromium.skip_without()
    small_campaign = campaigns.small()
    wanted = wished(small_campaign, annotator, seed)
    with chromium.Browser(tmp_path / "profile") as browser:
        opened(browser, tmp_path, campaigns.small(), annotator)
        for at, answer in enumerate(wanted):
            browser.wait(f"session.task.id === '{answer.task}'")
            act(browser, answer)
            browser.wait("statusOf(answerHere()) !== 'todo'")
            assert text_of(browser, "progress-text").startswith(f"You finished {at + 1} of 10 tasks")
            if at < 9:
                browser.key("u", 85) if act is answer_by_key else browser.click("#next-to-do")
        assert shown(browser, "reminder")  # ten tasks and no export
        files = {kind: downloaded(browser, tmp_path, kind) for kind in ("json", "csv")}
        assert not shown(browser, "reminder")
        assert not browser.said("Runtime.exceptionThrown")
        assert not browser.said("Log.entryAdded")
    exported_answers = exchange.read(files["json"], small_campaign)
    assert chosen(exported_answers) == wanted
    assert exchange.read(files["csv"], small_campaign) == exported_answers
    assert files["json"].decode() == exchange.to_json(small_campaign, exported_answers)
    assert files["csv"].decode() == exchange.to_csv(small_campaign, exported_answers)


def test_closing_the_browser_in_mid_answer_loses_nothing(tmp_path):
    chromium.skip_without()
    with chromium.Browser(tmp_path / "profile") as browser:
        url = opened(browser, tmp_path, campaigns.small(), "ann-1")
        browser.click("#next")
        browser.wait("session.task.place === 2")
        for selector in ("#culture_related-yes", "#error_valid-partly", "#reveal-2", "#severity_ok"):
            browser.click(selector)
        typed(browser, "#comment_2", "half a sen")
        before = browser.js("answerHere()")
    with chromium.Browser(tmp_path / "profile") as browser:
        browser.open(url, READY)
        assert browser.js("answerHere()") == before
        assert browser.js("session.task.place") == 2
        assert shown(browser, "step-2")
        assert not shown(browser, "step-3")
        assert browser.js("document.getElementById('comment_2').value") == "half a sen"
        assert browser.js("document.getElementById('error_valid-partly').checked")
        assert re.match(r"Saved in this browser \d\d:\d\d:\d\d", text_of(browser, "saved"))


def test_steps_open_in_order(browser, tmp_path):
    opened(browser, tmp_path, campaigns.small(), "order")
    explanation = campaigns.task(0).shown["explanation"]
    visible = "document.body.innerText"
    for selector, disabled in (("#culture_related-no", True), ("#error_valid-not_valid", False)):
        browser.click(selector)
        assert browser.js("document.getElementById('reveal-2').disabled") == disabled
        assert not shown(browser, "step-2")
        assert explanation not in browser.js(visible)
    browser.click("#reveal-2")
    assert browser.js(visible).count(explanation) == 1
    assert browser.js("document.activeElement.id") == "step-2-head"
    assert not shown(browser, "step-3")
    assert shown(browser, "reveal-3-hint")
    for selector in ("#explanation_valid-valid", "#changed_mind-no", "#reveal-3"):
        browser.click(selector)
    assert shown(browser, "step-3")
    assert browser.js(visible).count(explanation) == 3
    browser.click("#next")
    browser.wait("session.task.place === 2")
    browser.click("#next")
    browser.wait("session.task.place === 3")
    for selector in (
        "#culture_related-no",
        "#error_valid-not_valid",
        "#reveal-2",
        "#explanation_valid-valid",
        "#changed_mind-no",
        "#reveal-3",
    ):
        browser.click(selector)
    assert "No error was detected." in text_of(browser, "shown-comparison_2")  # a comparison without a text


def test_skipping_asks_nothing_more_and_can_be_undone(browser, tmp_path):
    opened(browser, tmp_path, campaigns.small(14), "skips")
    browser.click("#culture_related-yes")
    browser.click("#error_valid-valid")
    browser.click("#skipped")
    assert text_of(browser, "task-status") == "skipped"
    assert not shown(browser, "reveal-2")
    assert browser.js("document.getElementById('culture_related-no').matches(':disabled')")
    answer = answers.read(browser.js("answerHere()"), campaigns.small(14))
    assert answers.is_done(SOFT, answer.values)
    browser.click("#skipped")
    assert browser.js("[answerHere().skipped, answerHere().culture_related, answerHere().error_valid]") == [
        False,
        "yes",
        "valid",
    ]
    for _ in range(13):
        browser.click("#skipped")
        browser.click("#next-to-do")
    assert "13 tasks; at most 12" in text_of(browser, "skips")


# --- backups


REFUSED = {
    "Nothing was imported. The file is not complete JSON": lambda text: text[:-40],
    "not in the form excam-answers/1": lambda text: text.replace("excam-answers/1", "excam-answers/2"),
    'belongs to campaign "0000000000000000"': lambda text: re.sub(
        '"campaign": "[0-9a-f]+"', f'"campaign": "{"0" * 16}"', text
    ),
    'holds answers of "ann-2", you are "backup"': lambda text: text.replace('"backup"', '"ann-2"'),
    'Answer 1 of the file: "extra" is unknown': lambda text: text.replace('"task"', '"extra": 1, "task"', 1),
    "Answer 1 of the file: seconds is missing": lambda text: re.sub(r'"seconds": \d+,', "", text, count=1),
    "task ffffffffffffffff is not in this campaign": lambda text: text.replace("0" * 15 + "1", "f" * 16),
    "Answer 2 of the file: task 0000000000000000 is there twice": lambda text: text.replace("0" * 15 + "1", "0" * 16),
    "error_valid is answered before": lambda text: text,
    'saved is "2026-02-30T12:00:00.000Z"; expected a time': lambda text: text.replace("2026-04-01", "2026-02-30", 1),
}


def test_export_import_export_gives_the_same_bytes(browser, tmp_path):
    small_campaign = campaigns.small()
    comments = ["a\r\nb\rc", "=1+1", "'quoted'", '"', "שלום\u202e👍", "👍" * LONGEST, "\u2028\x01\t,"]
    expected_answers = [
        campaigns.answer(n, "bytes", comment_1=comment, comment_2=f"{'x'.join(campaigns.FORMULAS[n::7])}", seconds=n)
        for n, comment in enumerate(comments)
    ]
    text, table = exchange.to_json(small_campaign, expected_answers), exchange.to_csv(small_campaign, expected_answers)
    url = opened(browser, tmp_path, small_campaign, "bytes")
    assert imported(browser, tmp_path, text).startswith("Imported 7 of 7 answers; 0 were here already, 0 are older")
    assert imported(browser, tmp_path, text).startswith("Imported 0 of 7 answers; 7 were here already, 0 are older")
    for number in range(3):  # looking at a comment changes none
        go_to(browser, number)
    assert downloaded(browser, tmp_path, "json").decode() == text
    assert downloaded(browser, tmp_path, "csv").decode() == table
    later = [
        changed(expected_answers[0], comment_1="newer", saved="2026-05-01T00:00:00.000Z"),
        changed(expected_answers[1], comment_1="older", saved="2026-03-01T00:00:00.000Z"),
    ]
    assert imported(browser, tmp_path, exchange.to_json(small_campaign, later)).startswith(
        "Imported 1 of 2 answers; 0 were here already, 1 are older"
    )
    browser.open(url, READY)
    expected_answers[0] = later[0]
    assert downloaded(browser, tmp_path, "json").decode() == exchange.to_json(small_campaign, expected_answers)


def test_backups_that_do_not_fit_are_refused_whole(browser, tmp_path):
    small_campaign = campaigns.small()
    late = changed(campaigns.answer(2, "backup"), culture_related="", severity_ok=False, type_ok=False)
    first = campaigns.answer(0, "backup")
    second = campaigns.blank(f"{1:016x}", "backup", skipped=True, saved=first.saved)
    opened(browser, tmp_path, campaigns.small(), "backup")
    for expected, spoil in REFUSED.items():
        backup_answers = [first, second, late] if expected.startswith("error_valid") else [first, second]
        said = imported(browser, tmp_path, spoil(exchange.to_json(small_campaign, backup_answers)))
        assert said.startswith("Nothing was imported. ")
        assert expected.replace("\\\\", "\\") in said.replace("explanation_valid", "error_valid"), said
        assert browser.js("answers().size") == 0
    assert browser.js("Object.keys(localStorage).filter((key) => key.includes('/backup/answer/')).length") == 0


# --- storage


def test_a_full_browser_storage_is_reported_without_loss(browser, tmp_path):
    url = opened(browser, tmp_path, campaigns.small(), "full")
    browser.js(
        "{ let size = 4e6; for (let n = 0; size >= 1; n++) { try { localStorage.setItem(`filler${n}`, 'x'.repeat(size)) } catch { size = Math.floor(size / 2) } } }"
    )
    browser.click("#culture_related-yes")
    browser.click("#next")
    browser.wait("session.task.place === 2")
    browser.click("#culture_related-no")
    said = text_of(browser, "trouble")
    assert "its storage is full" in said
    assert "Export JSON now" in said
    assert text_of(browser, "saved") == "Not saved: 2"
    assert leaving(browser)
    assert len(exchange.read(downloaded(browser, tmp_path, "json"), campaigns.small())) == 2
    browser.js(
        "Object.keys(localStorage).filter((key) => key.startsWith('filler')).forEach((key) => localStorage.removeItem(key))"
    )
    browser.click("#error_valid-valid")
    assert not shown(browser, "trouble")
    assert not leaving(browser)
    browser.open(url, READY)
    assert browser.js("inOrder(answers()).map((answer) => answer.culture_related)") == ["yes", "no"]


def test_a_blocked_browser_storage_is_reported(browser, tmp_path):
    write_page(tmp_path, campaigns.small())
    (tmp_path / "outer.html").write_text(
        '<iframe sandbox="allow-scripts allow-forms" src="page.html" width="900" height="900"></iframe>'
    )
    browser.open((tmp_path / "outer.html").as_uri())
    with browser.frame():
        browser.wait(READY)
        browser.js(
            "document.getElementById('annotator').value = 'a'; document.querySelector('#start-form button').click()"
        )
        browser.wait("document.getElementById('trouble').textContent")
        assert "refuses to store (SecurityError)" in text_of(browser, "trouble")


def test_two_tabs_stay_in_step_and_neither_overwrites_the_other(browser, tmp_path):
    url = opened(browser, tmp_path, campaigns.small(), "tabs")
    browser.click("#culture_related-yes")
    with browser.tab() as other:
        browser.open(url, READY)
        assert browser.js("answerHere().culture_related") == "yes"
    browser.click("#error_valid-partly")
    with browser.tab(other):
        browser.wait("document.getElementById('error_valid-partly').checked")
        typed(browser, "#comment_1", "from the other")
    browser.wait("document.getElementById('comment_1').value === 'from the other'")
    # a tab that has not heard of a change yet makes its own on top of it
    key = browser.js("session.keeper.prefix + session.task.id")
    newer = browser.js("({ ...answerHere(), culture_related: 'no', saved: laterThan(answerHere().saved) })")
    browser.js(f"localStorage.setItem('{key}', {json.dumps(json.dumps(newer))})")
    browser.click("#borderline")
    assert browser.js("[answerHere().culture_related, answerHere().borderline]") == ["no", True]
    older = newer | {"culture_related": "dont_know", "saved": "2000-01-01T00:00:00.000Z"}
    with browser.tab(other):
        browser.js(f"localStorage.setItem('{key}', {json.dumps(json.dumps(older))})")
    browser.click("#error_valid-valid")
    assert browser.js(f"JSON.parse(localStorage.getItem('{key}')).culture_related") == "no"


def test_seconds_are_those_on_the_screen(browser, tmp_path):
    opened(browser, tmp_path, campaigns.small(), "clock")
    browser.js("tick(); session.waiting[session.task.id] = 41500")
    browser.click("#culture_related-yes")
    assert browser.js("answerHere().seconds") == 41
    browser.click("#to-instructions")
    browser.wait("document.getElementById('view-tasks').hidden && session.since === null")
    browser.click("#to-tasks")
    browser.wait("session.since !== null")
    assert browser.js("session.waiting[session.task.id]") < 10000


# --- the way through the tasks


def test_filters_keep_the_order(browser, tmp_path):
    small_campaign = campaigns.small()
    opened(browser, tmp_path, campaigns.small(), "filters")

    order = "inView().map((task) => task.place)"
    choose(browser, "language", "Japanese")
    assert browser.js(order) == [3, 7]
    assert text_of(browser, "task-place") == "1 / 2"
    assert text_of(browser, "said") == "2 of 10 tasks in this view."
    browser.click("#skipped")
    choose(browser, "status", "todo")
    assert browser.js(order) == [7]
    choose(browser, "status", "skipped")
    assert browser.js(order) == [3]
    choose(browser, "language", "English")
    assert shown(browser, "none")
    assert not shown(browser, "task")
    choose(browser, "status", "all")
    choose(browser, "language", "")
    assert browser.js(order) == list(range(1, 11))
    choose(browser, "number", 9)
    browser.wait("session.task.place === 9")
    assert text_of(browser, "task-id") == small_campaign.tasks[8].id
    choose(browser, "number", 11)
    assert "expected 1 to 10" in text_of(browser, "said")
    assert browser.js("document.querySelector('#said').getAttribute('role')") == "status"


def test_the_tasks_are_reached_by_keyboard_alone_and_single_keys_can_rest(browser, tmp_path):
    browser.js("localStorage.clear()")
    browser.open(write_page(tmp_path, campaigns.small()), READY)
    for _ in range(12):
        browser.key("Tab", 9)
        if browser.js("document.activeElement.id") == "annotator":
            break
    browser.call("Input.insertText", text="keys-1")
    browser.key("Enter", 13, "\r")
    browser.wait("session.keeper && document.getElementById('start').hidden")
    browser.key("i", 73)
    browser.wait("document.getElementById('task').offsetParent")
    assert browser.js("document.activeElement.id") == "task-head"
    browser.key("?", 191)
    assert browser.js("document.getElementById('help').open")
    browser.key("2", 50)  # a dialog is open
    browser.js("document.getElementById('help').close()")
    assert browser.js("answers().size") == 0
    for keys, skipped in (("off", False), ("on", True)):
        browser.js("document.getElementById('keys-on').click()")
        browser.key("l", 76)
        assert browser.js("answerHere().skipped") == skipped, keys
    browser.key("l", 76)
    for letter, code, focus in (("j", 74, "culture_related"), ("j", 74, "error_valid"), ("k", 75, "culture_related")):
        browser.key(letter, code)
        assert browser.js("document.activeElement.name") == focus
    browser.key("c", 67)
    assert browser.js("document.activeElement.id") == "comment_1"


# --- looks


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_narrow_and_legible(browser, tmp_path, theme):
    long = (("W" * 300 + " ", False), ("x" * 300, True), ("", True))
    shown_campaign = campaigns.small(3, modified_output=long, error_type="y" * 200)
    opened(browser, tmp_path, shown_campaign, f"looks-{theme}")
    finish_task(browser)
    choose(browser, "theme", theme)
    for width in (360, 1280):
        browser.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
        )
        for link in ("#to-instructions", "#to-tasks"):
            browser.click(link)
            browser.wait(f"document.querySelector('{link}').hasAttribute('aria-current')")
            assert browser.js("document.documentElement.scrollWidth") <= width
            assert page_faults.too_faint(browser) == []
    assert browser.js("getComputedStyle(document.documentElement).colorScheme") == theme
    browser.call("Emulation.clearDeviceMetricsOverride")
    lines = "getComputedStyle(document.querySelector('#task mark.{}')).textDecorationStyle"
    assert [browser.js(lines.format(kind)) for kind in ("gone", "new")] == ["dotted", "double"]
    assert browser.js("document.querySelectorAll('#shown-modified_output .gap').length") == 1


def test_direction_and_language_of_a_text_are_its_own(browser, tmp_path):
    opened(browser, tmp_path, campaigns.small(), "bidi")
    styles = []
    for number in range(4):
        go_to(browser, number)
        styles.append(
            browser.js(
                "(() => { const p = document.querySelector('#shown-modified_output'), s = getComputedStyle(p); return [s.direction, s.unicodeBidi, s.whiteSpace, p.lang]; })()"
            )
        )
    assert styles == [
        ["rtl" if lang == "he" else "ltr", "plaintext", "pre-wrap", lang] for lang in ("en", "de", "ja", "he")
    ]


def test_hostile_texts_are_only_texts(browser, tmp_path):
    tasks = []
    for number, attack in enumerate((*ATTACKS, "x" * 10**6 + ATTACKS[0])):
        pieces = (("👍 ", False), (attack, True), (" end", False))
        names = dict.fromkeys(("explanation", "error_type", "dataset", "language"), attack[:2000])
        names |= {"comparison_1": attack, "comparison_2": attack}
        tasks.append(campaigns.task(number, modified_output=pieces, original_instruction=pieces, **names))
    hostile_campaign = campaign.campaign(ATTACKS[0], SOFT, tasks)
    opened(browser, tmp_path, hostile_campaign, "attacked")
    for number, task in enumerate(tasks):
        go_to(browser, number)
        finish_task(browser)
        typed(browser, "#comment_1", ATTACKS[number % len(ATTACKS)])
        attack = task.shown["modified_output"][1][0]
        visible = re.sub("[\u2028\u202e\u2067]", lambda sign: f"U+{ord(sign[0]):04X}", attack)
        for name in ("shown-modified_output", "shown-original_instruction"):
            assert text_of(browser, name) == f"👍 {visible} end"
        assert text_of(browser, "shown-comparison_1") == visible
    assert browser.js("window.pwned") is None
    assert browser.js("document.querySelectorAll('img, iframe, main script, a[href^=javascript]').length") == 0
    assert not browser.js("/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.getElementById('task').textContent)")
    requests = [event["request"]["url"] for event in browser.said("Network.requestWillBeSent")]
    assert [url for url in requests if not url.startswith("file:")] == []
    assert not browser.said("Runtime.exceptionThrown")
    assert not browser.said("Log.entryAdded")
