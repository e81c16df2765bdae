"""Drive the page of any form in a real Chromium, with the keyboard alone."""

from contextlib import contextmanager

from annotation_page_driver import READY

from excam.annotation import campaign, page


@contextmanager
def phone(browser, width=390, height=844, scale=1):
    """Inside, the page is on a phone."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=True)
    try:
        yield
    finally:
        browser.call("Emulation.clearDeviceMetricsOverride")


def with_form(form_campaign, **changes):
    """A campaign of the same tasks, whose form has other parts."""
    raw = {**form_campaign.form.model_dump(mode="json", exclude_defaults=True), **changes}
    return campaign.campaign("Changed", type(form_campaign.form).model_validate(raw), form_campaign.tasks)


def opened(browser, folder, form_campaign, name):
    """The page as a file, at its tasks."""
    (folder / "page.html").write_text(page.write(form_campaign), encoding="utf-8")
    enter_tasks(browser, (folder / "page.html").as_uri(), name)


def press(browser, name, code, modifiers=0, text=""):
    for kind in ("keyDown", "keyUp"):
        typed = {"text": text} if text and kind == "keyDown" else {}
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key=name,
            code=name,
            windowsVirtualKeyCode=code,
            modifiers=modifiers,
            **typed,
        )


def tab_to(browser, selector):
    """Tab until the focus is on what the selector matches."""
    for _ in range(400):
        if browser.js(f"document.activeElement.matches({selector!r})"):
            return
        press(browser, "Tab", 9)
    raise AssertionError(
        f"{selector}: not reached by Tab; focus is on {browser.js('document.activeElement.outerHTML')[:200]}"
    )


def write(browser, selector, text):
    """Replace what is in a text field."""
    tab_to(browser, selector)
    press(browser, "a", 65, modifiers=2)
    browser.call("Input.insertText", text=text)


def enter_tasks(browser, url, annotator):
    """Open the page in a browser that knows nothing, give an id and go to the tasks, with keys."""
    browser.open(url, READY)
    browser.js("localStorage.clear()")
    browser.open(url, READY)
    write(browser, "#annotator", annotator)
    press(browser, "Enter", 13, text="\r")
    browser.wait("session.keeper && document.getElementById('start').hidden")
    go_to_tasks(browser)


def go_to_tasks(browser):
    press(browser, "i", 73, text="i")
    browser.wait("document.getElementById('task').offsetParent")


def answer_by_tab(browser, campaign, answer):
    """Give the values of an answer to the task on the screen, and submit it."""
    browser.js("document.getElementById('task-head').focus()")
    for question in campaign.form.questions:
        _give(browser, campaign, question, answer)
    tab_to(browser, "#submit")
    press(browser, "Enter", 13, text="\r")


def _give(browser, campaign, question, answer):
    name, kind = question.field, question.kind
    value = answer[name] if kind != "flags" else None
    if kind == "flags":
        for column in question.columns:
            if answer[column] != browser.js(f"answerHere().{column}"):
                tab_to(browser, f"#{column}")
                press(browser, " ", 32, text=" ")
    elif kind in ("choice", "scale"):
        tab_to(browser, f"[name={name}]")
        number = value if kind == "scale" else list(question.values).index(value) + 1
        press(browser, str(number), 48 + number, text=str(number))
    elif kind in ("text", "number"):
        write(browser, f"#{name}", "" if value is None else str(value))
    elif kind == "slots":
        for at, text in enumerate(value.values()):
            write(browser, f"#{name}-{at}", text)
    elif kind == "order":
        _order(browser, question, value)
    else:
        _mark(browser, question, value)


def _order(browser, question, wanted):
    name = question.field
    tab_to(browser, f"[id^={name}-]:not([disabled])")
    if browser.js(f"orderShown(allQuestions().find((one) => one.field === '{name}')).join()") == ",".join(wanted):
        if browser.js(f"isEmpty(answerHere().{name})"):
            tab_to(browser, f"#{name}-keep")
            press(browser, "Enter", 13, text="\r")
        return
    for place, option in enumerate(wanted):
        for _ in range(len(wanted)):
            shown = browser.js(f"orderShown(allQuestions().find((one) => one.field === '{name}'))")
            if shown.index(option) <= place:
                break
            browser.js("document.getElementById('task-head').focus()")
            tab_to(browser, f"#{name}-{option}-up")
            press(browser, "Enter", 13, text="\r")


def _mark(browser, question, marks):
    """Select with Shift and the arrow keys, as code points, and press the button of the label."""
    name = question.field
    for start, end, label in marks:
        tab_to(browser, f"#{name}-text")
        press(browser, "Home", 36, modifiers=2)
        left = browser.js("getComputedStyle(document.activeElement).direction === 'rtl'")
        forward = ("ArrowLeft", 37) if left else ("ArrowRight", 39)
        for _ in range(start):
            press(browser, *forward)
        for _ in range(end - start):
            press(browser, *forward, modifiers=8)
        tab_to(browser, f"#{name}-{label}")
        press(browser, "Enter", 13, text="\r")
        browser.js("document.getElementById('task-head').focus()")
