"""Single keys on the layouts of annotators of any language, in a real Chromium: what acts, and what stays text."""

import campaigns
import pytest
from annotation_page_driver import opened, shown, text_of
from form_page_driver import with_form

ALT, CTRL, META, SHIFT = 1, 2, 4, 8
IN_A_METHOD = 229  # the number of every key that an input method takes
WORD = "にほ"

DIGITS = {  # layout: the key of its 2, the place of that on a US keyboard, what is held down
    "US": ("2", "Digit2", 0),
    "AZERTY": ("é", "Digit2", 0),
    "AZERTY with Shift": ("2", "Digit2", SHIFT),
    "AZERTY with Caps Lock, on Linux": ("É", "Digit2", 0),
    "Arabic": ("٢", "Digit2", 0),
    "Arabic numpad": ("٢", "Numpad2", 0),
    "Thai": ("/", "Digit2", 0),
}
NO_DIGITS = {
    "US with Shift": ("@", "Digit2", SHIFT),
    "the ² of AZERTY": ("²", "Backquote", 0),
    "numpad without Num Lock": ("End", "Numpad1", 0),
    "a dead key": ("Dead", "Digit2", 0),
    "a function key": ("F2", "F2", 0),
}
LETTERS = {  # layout: its key at the place of j, or its own j
    "Latin": ("j", "KeyJ", 0),
    "Caps Lock": ("J", "KeyJ", 0),
    "Dvorak": ("j", "KeyC", 0),
    "Cyrillic capital": ("О", "KeyJ", SHIFT),
    "Hebrew": ("ח", "KeyJ", 0),
    "Thai, a mark": ("่", "KeyJ", 0),
}
NO_LETTERS = {
    "the h of Dvorak at its place": ("h", "KeyJ", 0),
    "the ’ of Bépo at the place of n": ("’", "KeyN", 0),
    "a dead key at the place of n": ("Dead", "KeyN", 0),
    "a letter of another place": ("о", "KeyY", 0),
    "a letter without a place": ("о", "", 0),
}
SIGNS = {  # layout: key, place, held down, what it does
    "Cyrillic и at b": ("и", "KeyB", 0, "borderline"),
    "B with Caps Lock": ("B", "KeyB", 0, "borderline"),
    "Russian ? at 7": ("?", "Digit7", SHIFT, "help"),
}


def press(browser, key, place, held=0, number=0, text=""):
    browser.key(key, number, text, held, place)


@pytest.fixture(scope="module")
def at_tasks(browser, tmp_path_factory):
    opened(browser, tmp_path_factory.mktemp("page"), campaigns.small(3), "keys")
    return browser


@pytest.fixture
def first_question(at_tasks):
    """The page at the first question of a task without answers."""
    at_tasks.js(
        "document.getElementById('help').close(); goTo(data.tasks[0]); if (!isEmpty(answerHere().culture_related)"
        " || answerHere().borderline || answerHere().comment_1) reset();"
        " document.getElementById('culture_related-yes').focus()"
    )
    return at_tasks


def chosen(browser):
    return browser.js("answerHere().culture_related")


def focused(browser):
    return browser.js("document.activeElement.name || document.activeElement.id")


NOTHING = ("", "culture_related", 1)
DOES = {  # what a key of a list does: the answer, the field that has the focus and the place of the task after it
    **{name: (keystroke, ("", "error_valid", 1)) for name, keystroke in LETTERS.items()},
    **{name: (keystroke, NOTHING) for name, keystroke in {**NO_DIGITS, **NO_LETTERS}.items()},
}


@pytest.mark.parametrize("keystroke", DIGITS.values(), ids=DIGITS)
def test_the_2_of_every_layout_chooses_the_second(first_question, keystroke):
    press(first_question, *keystroke)
    assert chosen(first_question) == list(campaigns.CHOICES["culture_related"])[1]


@pytest.mark.parametrize("name", DOES)
def test_a_key_of_any_layout_does_what_its_sign_or_place_says(first_question, name):
    keystroke, after = DOES[name]
    press(first_question, *keystroke)
    assert (chosen(first_question), focused(first_question), first_question.js("session.task.place")) == after


@pytest.mark.parametrize(("key", "place", "held", "does"), SIGNS.values(), ids=SIGNS)
def test_flags_help_and_instructions_on_other_layouts(first_question, key, place, held, does):
    press(first_question, key, place, held)
    state = "document.getElementById('help').open" if does == "help" else f"answerHere().{does}"
    assert first_question.js(state)


@pytest.mark.parametrize("held", [ALT, CTRL, META, ALT | CTRL], ids=["alt", "ctrl", "meta", "altgr-on-windows"])
def test_keys_of_the_browser_and_the_system_are_left_to_them(first_question, held):
    for key, place in (("2", "Digit2"), ("é", "Digit2"), ("j", "KeyJ"), ("о", "KeyJ"), ("b", "KeyB")):
        press(first_question, key, place, held)
        assert (chosen(first_question), focused(first_question), first_question.js("answerHere().borderline")) == (
            "",
            "culture_related",
            False,
        )


def test_nothing_is_taken_from_a_text(first_question):
    """Every key of the lists above types its sign, and Escape leaves."""
    first_question.click("#comment_1")
    keys = [
        keystroke
        for layouts in (DIGITS, LETTERS, NO_LETTERS)
        for keystroke in layouts.values()
        if len(keystroke[0]) == 1
    ]
    keys.append(("?", "Slash", SHIFT))
    for key, place, held in keys:
        press(first_question, key, place, held, text=key)
    written = "".join(key for key, _, _ in keys)
    assert first_question.js("[document.getElementById('comment_1').value, answerHere().comment_1]") == [written] * 2
    assert (focused(first_question), chosen(first_question), first_question.js("session.task.place")) == (
        "comment_1",
        "",
        1,
    )
    assert not first_question.js("document.getElementById('help').open")
    press(first_question, "Escape", "Escape", CTRL, 27)
    assert focused(first_question) == "comment_1"
    press(first_question, "Escape", "Escape", number=27)
    assert focused(first_question) == "error_valid"


def test_a_list_of_choices_keeps_its_keys(first_question):
    first_question.js("document.getElementById('status').focus()")
    for key, place in (("2", "Digit2"), ("é", "Digit2"), ("j", "KeyJ"), ("о", "KeyJ")):
        press(first_question, key, place)
    assert (focused(first_question), chosen(first_question)) == ("status", "")


@pytest.mark.parametrize("key", ["Escape", "Enter", "Tab", "2", "j"])
def test_a_word_that_is_being_composed_keeps_every_key(first_question, key):
    """As browsers tell it: the event says so, or only its number does, as in Safari, where the word has just ended."""
    first_question.click("#comment_1")
    first_question.js(
        "globalThis.taken = []; addEventListener('keydown', (event) => taken.push(event.defaultPrevented))"
    )
    first_question.call("Input.imeSetComposition", text=WORD, selectionStart=2, selectionEnd=2)
    field = "document.getElementById('comment_1')"
    for told in ("isComposing: true", f"keyCode: {IN_A_METHOD}"):
        first_question.js(
            f"{field}.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', {told}, bubbles: true }}))"
        )
        assert focused(first_question) == "comment_1"
        assert first_question.js(f"{field}.value") == WORD
    press(first_question, key, key, number=IN_A_METHOD)
    assert focused(first_question) == "comment_1"
    first_question.call("Input.insertText", text="日本")
    assert first_question.js("answerHere().comment_1") == "日本"
    assert not any(first_question.js("taken"))
    press(first_question, "Escape", "Escape", number=27)  # the next one, with no word open, leaves
    assert focused(first_question) == "error_valid"


def test_keys_that_a_form_chose(browser, tmp_path):
    """Its own sign comes first, é before the digit of AZERTY; a capital needs no Shift, but never takes a key of the page."""
    words = {"stale": "Stale", "narrow": "Narrow", "wide": "Wide"}
    flags = {"field": "also", "kind": "flags", "label": "Also", "values": words}
    flags |= {"keys": {"stale": "é", "narrow": "B", "wide": "J"}}
    first, *others = campaigns.SOFT.model_dump(mode="json", exclude_defaults=True)["steps"]
    first["blocks"] = [block for block in first["blocks"] if block.get("kind") != "flags"] + [flags]
    opened(browser, tmp_path, with_form(campaigns.small(2), steps=[first, *others], skip=""), "own")
    ticked = f"{list(words)}.filter((name) => answerHere()[name])"
    browser.js("document.getElementById('culture_related-yes').focus()")
    press(browser, "é", "Digit2")
    press(browser, "b", "KeyB")
    assert browser.js(ticked) == ["stale", "narrow"]
    browser.js("document.getElementById('culture_related-yes').focus()")
    press(browser, "j", "KeyJ")
    assert focused(browser) == "error_valid"
    assert browser.js(ticked) == ["stale", "narrow"]
    press(browser, "J", "KeyJ", SHIFT)
    assert browser.js(ticked) == list(words)
    assert (chosen(browser), shown(browser, "trouble"), text_of(browser, "trouble")) == ("", False, "")
