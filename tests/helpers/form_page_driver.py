"""Drive the page of any form in a real Chromium, with the keyboard alone."""

from contextlib import contextmanager

from excam.annotation import campaign


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


def tab_to(browser, selector):
    """Tab until the focus is on what the selector matches."""
    for _ in range(400):
        if browser.js(f"document.activeElement.matches({selector!r})"):
            return
        browser.key("Tab", 9)
    raise AssertionError(
        f"{selector}: not reached by Tab; focus is on {browser.js('document.activeElement.outerHTML')[:200]}"
    )


def write(browser, selector, text):
    """Replace what is in a text field."""
    tab_to(browser, selector)
    browser.key("a", 65, held=2)
    browser.call("Input.insertText", text=text)


def answer_by_tab(browser, campaign, answer):
    """Give the values of an answer to the task on the screen, and submit it."""
    browser.js("document.getElementById('task-head').focus()")
    for question in campaign.form.questions:
        _give(browser, campaign, question, answer)
    tab_to(browser, "#submit")
    browser.key("Enter", 13, "\r")


def _give(browser, campaign, question, answer):
    name, kind = question.field, question.kind
    value = answer[name] if kind != "flags" else None
    if kind == "flags":
        for column in question.columns:
            if answer[column] != browser.js(f"answerHere().{column}"):
                tab_to(browser, f"#{column}")
                browser.key(" ", 32, " ")
    elif kind in ("choice", "scale"):
        tab_to(browser, f"[name={name}]")
        number = value if kind == "scale" else list(question.values).index(value) + 1
        browser.key(str(number), 48 + number, str(number))
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
            browser.key("Enter", 13, "\r")
        return
    for place, option in enumerate(wanted):
        for _ in range(len(wanted)):
            shown = browser.js(f"orderShown(allQuestions().find((one) => one.field === '{name}'))")
            if shown.index(option) <= place:
                break
            browser.js("document.getElementById('task-head').focus()")
            tab_to(browser, f"#{name}-{option}-up")
            browser.key("Enter", 13, "\r")


def _mark(browser, question, marks):
    """Select with Shift and the arrow keys, as code points, and press the button of the label."""
    name = question.field
    for start, end, label in marks:
        tab_to(browser, f"#{name}-text")
        browser.key("Home", 36, held=2)
        left = browser.js("getComputedStyle(document.activeElement).direction === 'rtl'")
        forward = ("ArrowLeft", 37) if left else ("ArrowRight", 39)
        for _ in range(start):
            browser.key(*forward)
        for _ in range(end - start):
            browser.key(*forward, held=8)
        tab_to(browser, f"#{name}-{label}")
        browser.key("Enter", 13, "\r")
        browser.js("document.getElementById('task-head').focus()")
