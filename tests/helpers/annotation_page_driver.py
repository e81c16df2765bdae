"""Drive the annotation page in a real Chromium as an annotator does: by mouse and by keyboard."""

import base64
import json
import re
import time
import zlib

from base_samples import HOSTILE
from campaigns import CHOICES, STEPS, blank, changed

from excam.annotation import page

ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<!--<script>",
    "{{script}} {{data}} ]]> &lt;b&gt; <a href='javascript:pwned=3'>x</a>",
    *HOSTILE,
)
READY = "document.getElementById('loading').hidden"


def unpacked(text):
    """What the script of a page unpacks."""
    packed = re.search(r'id="data">([A-Za-z0-9+/]+=*)</script>', text)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def text_of(browser, name):
    return browser.js(f"document.getElementById('{name}').textContent")


def shown(browser, name):
    return browser.js(f"Boolean(document.getElementById('{name}').offsetParent)")


def choose(browser, name, value):
    """Choose a value in a list, or write it into a field."""
    browser.js(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = '{value}'; e.dispatchEvent(new Event('change')); }})()"
    )


def go_to(browser, number):
    """Open a task of the campaign by its address."""
    browser.js(f"location.hash = 'task-{number:016x}'")
    browser.wait(f"session.task.place === {number + 1}")


def leaving(browser):
    """Whether the page asks before it is left."""
    return browser.js(
        "(() => { const e = new Event('beforeunload', { cancelable: true }); dispatchEvent(e); return e.defaultPrevented; })()"
    )


def typed(browser, selector, text):
    browser.click(selector)
    browser.call("Input.insertText", text=text)


def opened(browser, folder, campaign, annotator):
    """Open a campaign's page as a file in a browser that knows nothing, give an id and go to the tasks."""
    url = write_page(folder, campaign)
    browser.open(url, READY)
    browser.js("localStorage.clear()")
    browser.open(url, READY)
    typed(browser, "#annotator", annotator)
    browser.click("#start-form button")
    browser.wait("session.keeper && document.getElementById('start').hidden")
    browser.click("#to-tasks")
    browser.wait("document.getElementById('task').offsetParent")
    return url


def write_page(folder, campaign):
    """Write a campaign's page; return its address."""
    (folder / "page.html").write_text(page.write(campaign), encoding="utf-8")
    return (folder / "page.html").as_uri()


def answer_by_mouse(browser, answer):
    """Click through the task on the screen."""
    if answer["skipped"]:
        return browser.click("#skipped")
    for name in ("culture_related", "error_valid"):
        browser.click(f"#{name}-{answer[name]}")
    if answer["borderline"]:
        browser.click("label[for=borderline]")
    if answer["comment_1"]:
        typed(browser, "#comment_1", answer["comment_1"])
    browser.click("#reveal-2")
    for name in ("severity_ok", "type_ok"):
        if answer[name]:
            browser.click(f"#{name}")
    for name in ("explanation_valid", "changed_mind"):
        browser.click(f"#{name}-{answer[name]}")
    if answer["comment_2"]:
        typed(browser, "#comment_2", answer["comment_2"])
    browser.click("#reveal-3")
    for name in ("similarity_1", "similarity_2"):
        browser.click(f"#{name}-{answer[name]}")
    return None


def answer_by_key(browser, answer):
    """The same with single keys, after each question to the next one."""
    if answer["skipped"]:
        return browser.key("l", 76)
    for at, step in enumerate(STEPS):
        for name in step:
            number = list(CHOICES[name]).index(answer[name]) + 1
            browser.key(str(number), 48 + number)
            browser.key("j", 74)
        for name, key in (("borderline", "b"),) if at == 0 else (("severity_ok", "s"), ("type_ok", "t")):
            if at < 2 and answer[name]:
                browser.key(key, ord(key.upper()))
        browser.key("r", 82)
    return None


def wished(campaign, annotator, seed):
    """A finished answer about each task, all different; in one language nothing."""
    answers = []
    for number, task in enumerate(campaign.tasks):
        if task.language == "Hebrew" and seed != 2:
            answers.append(blank(task.id, annotator, skipped=True))
            continue
        pick = {name: list(values)[(number + seed) % len(values)] for name, values in CHOICES.items()}
        flags = {
            name: (number + at + seed) % 2 == 0 for at, name in enumerate(("borderline", "severity_ok", "type_ok"))
        }
        comment = ATTACKS[number % 3] if seed == 1 else ""
        answers.append(
            blank(task.id, annotator, **pick, **flags, comment_1=comment, comment_2=comment and f"={number}")
        )
    return answers


def downloaded(browser, folder, kind):
    """Bytes of the file that an export wrote."""
    (name,) = [browser.js(f"`${{data.campaign}}-${{session.annotator}}.{kind}`")]
    (folder / name).unlink(missing_ok=True)
    browser.downloads(folder)
    browser.click(f"#export-{kind}")
    for _ in range(500):
        # the browser keeps an empty file with this name until the complete one replaces it
        if (folder / name).exists() and (text := (folder / name).read_bytes()):
            return text
        time.sleep(0.01)
    raise AssertionError(f"no {name}")


def imported(browser, folder, text):
    """What the page says to a file."""
    (folder / "backup.json").write_text(text, encoding="utf-8", newline="")
    browser.js("say('')")
    browser.choose_file("#import-file", folder / "backup.json")
    browser.wait("document.getElementById('said').textContent")
    return text_of(browser, "said")


def chosen(answers):
    return [changed(answer, seconds=0, saved="") for answer in answers]


def finish_task(browser):
    browser.js(
        "change({ culture_related: 'yes', error_valid: 'valid', explanation_valid: 'valid', changed_mind: 'no', similarity_1: '1' })"
    )
