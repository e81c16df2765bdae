"""The served page against the real server, in a real Chromium: nothing is lost, and nothing overwritten."""

from datetime import UTC, datetime, timedelta

import campaigns
import pytest
from annotation_page_driver import (
    ATTACKS,
    READY,
    answer_by_mouse,
    chosen,
    imported,
    leaving,
    shown,
    text_of,
    wished,
)
from annotation_server_process import events, put
from campaigns import at

from excam.annotation import answers, exchange
from excam.annotation.store import Store

SOON = answers.utc_text(datetime.now(UTC) + timedelta(hours=20))
SENT = "session.keeper.queue.size === 0"


def opened(browser, running, name, then="#tasks", ready=READY):
    browser.open(f"{running.url}{running.links[name]}{then}", ready)


def saved(running, name):
    """What the server has, by task."""
    with running.client() as client:
        rows = client.get(f"{running.links[name]}/answers").json()["answers"]
    return {row["answer"]["task"]: (row["revision"], answers.read(row["answer"], campaigns.small())) for row in rows}


def elsewhere(running, answer):
    """Another machine of the same annotator saves."""
    with running.client() as client:
        assert put(client, running.links[answer.annotator], answer).status_code == 200


def test_every_change_is_sent_to_the_server(browser, running, name):
    opened(browser, running, name, "")
    assert shown(browser, "view-instructions")  # who comes for the first time
    assert not shown(browser, "start")
    browser.click("#to-tasks")
    wanted = wished(campaigns.small(), name, 1)[:4]
    for number, wanted_answer in enumerate(wanted, 1):
        browser.wait(f"session.task.place === {number}")
        answer_by_mouse(browser, wanted_answer)
        browser.click("#next")
    browser.wait(SENT)
    assert text_of(browser, "saved").startswith("Saved on the server ")
    asked = [event["request"]["url"] for event in browser.said("Network.requestWillBeSent")]
    assert {url.split("/a/")[0] for url in asked} == {running.url}  # no one else
    assert not browser.said("Log.entryAdded")  # nor what the content policy refuses
    assert chosen([answer for _, answer in saved(running, name).values()]) == wanted
    opened(browser, running, name, "")
    assert browser.js("session.task.place") == 5  # where one was
    assert text_of(browser, "progress-text").startswith("You finished 4 of 10")
    assert not browser.said("Runtime.exceptionThrown")
    assert not browser.said("Log.entryAdded")


def test_a_server_that_is_down_loses_nothing(browser, running, name):
    opened(browser, running, name)
    running.end()
    browser.click("#culture_related-yes")
    browser.wait("document.getElementById('trouble').textContent")
    assert text_of(browser, "trouble").startswith("Not sent yet: 1; the server does not answer, trying again.")
    browser.click("#error_valid-partly")
    browser.click("#next")
    browser.wait("session.task.place === 2")
    browser.click("#culture_related-no")
    assert text_of(browser, "saved") == "Not sent yet: 2"
    assert leaving(browser)
    pauses = "session.keeper.pause"
    browser.wait(f"{pauses} >= 2")
    running.start()
    browser.js("dispatchEvent(new Event('online'))")
    browser.wait(SENT)
    assert not shown(browser, "trouble")
    assert not leaving(browser)
    assert [(a["culture_related"], a["error_valid"]) for _, a in saved(running, name).values()] == [
        ("yes", "partly"),
        ("no", ""),
    ]


def test_no_task_is_shown_before_its_answers_are_loaded(browser, running, name):
    """What was not sent waits for the next time; whoever answers before would replace it with an answer on top of none."""
    opened(browser, running, name)
    running.end()
    browser.click("#culture_related-yes")
    browser.click("#error_valid-partly")
    browser.wait("session.keeper.down")
    browser.js("session.keeper.unsafe = () => 0")
    browser.open("about:blank")
    running.start()
    slow = "{ const real = fetch; globalThis.fetch = (...all) => new Promise((done) => { globalThis.letGo = () => { globalThis.fetch = real; done(real(...all)); }; }); }"
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=slow)["identifier"]
    opened(browser, running, name, ready="globalThis.letGo")
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    for view in ("instructions", "tasks"):
        browser.click(f"#to-{view}")
        browser.wait(f"session.routed === '#{view}'")
        assert not shown(browser, "task")
    browser.js("letGo()")
    browser.wait("document.getElementById('task').offsetParent")
    browser.click("#borderline")
    browser.wait(SENT)
    ((_, answer),) = saved(running, name).values()
    assert (answer["culture_related"], answer["error_valid"], answer["borderline"]) == ("yes", "partly", True)
    assert browser.js("Object.keys(localStorage).filter((key) => key.includes('/unsent/')).length") == 0


def test_after_a_lost_reply_the_answer_is_sent_again(browser, running, name):
    """The server has what we sent, and we do not know: sent again, or changed and sent again, it is taken."""
    opened(browser, running, name)
    browser.js(
        "globalThis.real = fetch; globalThis.fetch = async (...all) => { await real(...all); throw new TypeError('lost'); }"
    )
    browser.click("#culture_related-yes")
    browser.wait("session.keeper.down")
    browser.click("#error_valid-valid")
    browser.js("globalThis.fetch = real; session.keeper.hurry()")
    browser.wait(SENT)
    ((revision, answer),) = saved(running, name).values()
    assert (revision, answer["error_valid"]) == (2, "valid")


@pytest.mark.parametrize(("when", "counts"), [(SOON, "no"), (at(0), "yes")], ids=["soon", "before"])
def test_of_two_versions_the_later_one_counts_and_is_shown(browser, running, name, when, counts):
    opened(browser, running, name)
    elsewhere(running, campaigns.answer(0, name, culture_related="no", comment_1=ATTACKS[1], saved=when))
    browser.click("#culture_related-yes")
    browser.wait(SENT)
    ((_, answer),) = saved(running, name).values()
    assert answer["culture_related"] == counts == browser.js("answerHere().culture_related")
    assert ("answered elsewhere" in text_of(browser, "said")) == (counts == "no")
    assert not shown(browser, "trouble")
    with Store(running.store) as store:
        assert {event.answer["culture_related"] for event in events(store, name, answer.task)} == {"no", "yes"}
    browser.click("#borderline")  # and on it goes, from the newest
    browser.wait(SENT)
    ((_, answer),) = saved(running, name).values()
    assert (answer["culture_related"], answer["borderline"]) == (counts, True)


def test_two_tabs_of_one_annotator(browser, running, name):
    opened(browser, running, name)
    with browser.tab() as other:
        opened(browser, running, name)
        browser.click("#culture_related-no")
        browser.wait(SENT)
    with browser.tab(other):
        browser.click("#borderline")
        browser.wait(SENT)
    browser.wait("answerHere().borderline")  # a tab that is looked at again asks for what is new
    browser.click("#error_valid-valid")
    browser.wait(SENT)
    ((revision, answer),) = saved(running, name).values()
    assert revision == 3
    assert [answer[name] for name in ("culture_related", "borderline", "error_valid")] == ["no", True, "valid"]


def test_a_backup_is_sent_to_the_server(browser, running, name, tmp_path):
    small_campaign = campaigns.small()
    backup_answers = [campaigns.answer(number, name, comment_1=f"={number}") for number in range(3)]
    opened(browser, running, name)
    assert imported(browser, tmp_path, exchange.to_json(small_campaign, backup_answers)).startswith(
        "Imported 3 of 3 answers"
    )
    browser.wait(SENT)
    assert [answer for _, answer in saved(running, name).values()] == backup_answers


def test_an_answer_that_the_server_refuses_is_reported(browser, running, name):
    opened(browser, running, name)
    browser.js("change({ seconds: 1, culture_related: 'yes', comment_1: 'x'.repeat(300000) })")
    browser.wait("document.getElementById('trouble').textContent")
    assert text_of(browser, "trouble").startswith("The server refused the answer to task 0000000000000000: more than")
    browser.js("change({ comment_1: 'short' })")
    browser.wait(SENT)
    assert not shown(browser, "trouble")


def test_a_renewed_link_replaces_the_old_one(browser, running, name):
    opened(browser, running, name)
    with Store(running.store) as store:
        renewed = store.link(name, renew=True)
    browser.click("#culture_related-yes")
    browser.wait("document.getElementById('trouble').textContent")
    assert text_of(browser, "trouble").startswith("This link does not work any more.")
    assert saved_by(running, name) == []
    running.links[name] = renewed if renewed.startswith("/a/") else f"/a/{renewed}"
    browser.js("session.keeper.unsafe = () => 0")
    opened(browser, running, name)
    browser.wait(SENT)
    assert [answer["culture_related"] for answer in saved_by(running, name)] == ["yes"]


def saved_by(running, name):
    with Store(running.store) as store:
        return [record.answer for record in store.latest(name)]


def test_typing_is_sent_in_one_piece(browser, running, name):
    opened(browser, running, name)
    browser.click("#comment_1")
    for letter in "seaweed":
        browser.call("Input.insertText", text=letter)
    browser.wait(SENT)
    ((revision, answer),) = saved(running, name).values()
    assert answer["comment_1"] == "seaweed"
    assert revision < 4
    assert answer.row() == browser.js("answerHere()")
