"""The page and the server together, in a real Chromium: several annotators at once, kills, two versions, and no one else asked."""

import json
import random
import signal

import campaigns
import chromium
import pytest
from annotation_server_process import Running, command, made
from campaigns import CHOICES, SOFT

from excam.annotation.answers import is_done
from excam.annotation.store import Store

pytestmark = pytest.mark.skipif(chromium.program() is None, reason="no Chromium here; $CHROMIUM names one")
NAMES = ("ada", "grace", "mary")
READY = "typeof session !== 'undefined' && session.task && !document.getElementById('loading').offsetParent"
SENT = "session.keeper.queue.size === 0"


@pytest.fixture
def served(tmp_path):
    """A server and the links of three annotators."""
    links = made(tmp_path / "answers.store", campaigns.small(), NAMES)
    with Running(tmp_path / "answers.store", log=tmp_path / "log") as server:
        server.links = links
        yield server


@pytest.fixture
def browsers(tmp_path):
    """Opens browsers, each with a profile of its own, which stays when it is closed."""
    opened = []

    def open_one(name):
        opened.append(chromium.Browser(tmp_path / f"profile-{name}"))
        return opened[-1]

    yield open_one
    for browser in opened:
        if browser.process.poll() is None:
            browser.__exit__()


def open_tasks(browser, server, name):
    browser.open(f"{server.url}{server.links[name]}#tasks", READY)


def press(browser, keys):
    for key in keys:
        browser.key(key, ord(key.upper()))


def annotate(browser, chance):
    """The task on the screen, all three steps, by keys alone; the answers chosen."""
    chosen = {name: chance.choice(sorted(values)) for name, values in CHOICES.items()}
    number = {name: str(list(CHOICES[name]).index(value) + 1) for name, value in chosen.items()}
    for first, second, then in (
        ("culture_related", "error_valid", "r"),
        ("explanation_valid", "changed_mind", "r"),
        ("similarity_1", "similarity_2", ""),
    ):
        press(browser, [number[first], "j", number[second], *then])
    return chosen


def latest_answers(store_path, name):
    with Store(store_path) as store:
        return {saved.answer.task: saved.answer for saved in store.latest(name)}


def test_three_annotators_at_once_and_a_server_that_is_killed(served, browsers, tmp_path):
    """Every answer chosen is in the store, as chosen; page and store export the same bytes, and so does a new store."""
    pages = {name: browsers(name) for name in NAMES}
    for name, page in pages.items():
        open_tasks(page, served, name)
    chance, chosen = random.Random(10), {name: {} for name in NAMES}
    for number in range(10):
        if number % 2:  # killed while it is sent what was just answered, and away while the next is
            served.end(signal.SIGKILL)
        for name, page in pages.items():
            chosen[name][page.js("session.task.id")] = annotate(page, chance)
            press(page, "u")
            if served.process.poll() is not None:
                served.start()
    for name, page in pages.items():
        page.js("window.dispatchEvent(new Event('online'))")  # now, not after the pause
        page.wait(SENT)
        assert page.js("document.getElementById('trouble').hidden")
        answers = latest_answers(served.store, name)
        assert {task: {key: answers[task][key] for key in CHOICES} for task in answers} == chosen[name]
        assert len(answers) == 10
        assert all(is_done(SOFT, answer.values) for answer in answers.values())
        exported = tmp_path / f"{name}.json"
        command("export", served.store, "--to", exported, "--annotator", name)
        assert page.js("toJson(answers())") == exported.read_text(encoding="utf-8")
    check_export_and_import(served.store, tmp_path)


def check_export_and_import(store, folder):
    made(folder / "new.store", campaigns.small(), NAMES)
    command("export", store, "--to", folder / "all.csv")
    command("import", folder / "new.store", folder / "all.csv")
    command("export", folder / "new.store", "--to", folder / "again.csv")
    assert (folder / "again.csv").read_bytes() == (folder / "all.csv").read_bytes()
    assert len(json.loads((folder / "ada.json").read_text(encoding="utf-8"))["answers"]) == 10


def test_two_tabs_with_two_versions_are_asked_and_both_are_in_the_history(served, browsers):
    page = browsers("ada")
    open_tasks(page, served, "ada")
    task = page.js("session.task.id")
    page.js("session.keeper.looked = () => {}")  # this tab is not looked at until it is written in
    with page.tab():
        open_tasks(page, served, "ada")
        press(page, "1")
        page.wait(SENT)
    press(page, "2")
    page.wait("document.getElementById('conflict').open")
    assert latest_answers(served.store, "ada")[task]["culture_related"] == "yes"
    page.js("document.getElementById('keep-mine').click()")
    page.wait(SENT)
    with Store(served.store) as store:
        events = store.events("ada", task)
    assert [(event.revision, event.kind, event.answer["culture_related"]) for event in events] == [
        (1, "saved", "yes"),
        (None, "conflict", "no"),
        (2, "saved", "no"),
    ]


def test_the_page_connects_to_its_server_alone_and_keeps_the_content_policy(served, browsers):
    page = browsers("ada")
    open_tasks(page, served, "ada")
    annotate(page, random.Random(1))
    page.wait(SENT)
    asked = {event["request"]["url"] for event in page.said("Network.requestWillBeSent")}
    assert asked
    assert {url.split("/a/")[0] for url in asked} == {served.url}
    assert not [entry for entry in page.said("Log.entryAdded") if "Content Security Policy" in entry["entry"]["text"]]
