"""Single keys on the layouts of annotators of any language, in a real Chromium: what acts, and what stays text."""

import unicodedata

import campaigns
import pytest
from annotation_page_driver import begin, shown, text_of

from excam.annotation import campaign, page

ALT, CTRL, META, SHIFT = 1, 2, 4, 8
IN_A_METHOD = 229  # the number of every key that an input method takes
WORD = "にほ"

DIGITS = {  # layout: the key of its 2, the place of that on a US keyboard, what is held down
    "US": ("2", "Digit2", 0),
    "AZERTY": ("é", "Digit2", 0),
    "AZERTY with Shift": ("2", "Digit2", SHIFT),
    "AZERTY with Caps Lock, on Linux": ("É", "Digit2", 0),
    "Czech": ("ě", "Digit2", 0),
    "Bépo": ("«", "Digit2", 0),
    "Arabic": ("٢", "Digit2", 0),
    "Persian": ("۲", "Digit2", 0),
    "Hindi": ("२", "Digit2", 0),
    "Bengali": ("২", "Digit2", 0),
    "Thai": ("/", "Digit2", 0),
    "Thai with Shift": ("๒", "Digit3", SHIFT),
    "Osmanya, of two units": ("\U000104a2", "Digit2", 0),
    "full width": ("２", "Digit2", 0),
    "numpad": ("2", "Numpad2", 0),
    "Arabic numpad": ("٢", "Numpad2", 0),
    "numpad, its sign not told": ("", "Numpad2", 0),
    "no place told": ("২", "", 0),
}
NO_DIGITS = {
    "US with Shift": ("@", "Digit2", SHIFT),
    "Persian with Shift": ("٬", "Digit2", SHIFT),
    "the ² of AZERTY": ("²", "Backquote", 0),
    "a digit in a circle": ("②", "", 0),
    "numpad without Num Lock": ("End", "Numpad1", 0),
    "a dead key": ("Dead", "Digit2", 0),
    "a function key": ("F2", "F2", 0),
}
LETTERS = {  # layout: its key at the place of j, or its own j
    "Latin": ("j", "KeyJ", 0),
    "Caps Lock": ("J", "KeyJ", 0),
    "Shift": ("J", "KeyJ", SHIFT),
    "Dvorak": ("j", "KeyC", 0),
    "full width": ("ｊ", "KeyJ", 0),
    "Cyrillic": ("о", "KeyJ", 0),
    "Cyrillic capital": ("О", "KeyJ", SHIFT),
    "Greek": ("ξ", "KeyJ", 0),
    "Greek capital": ("Ξ", "KeyJ", 0),
    "Hebrew": ("ח", "KeyJ", 0),
    "Arabic": ("ت", "KeyJ", 0),
    "Persian": ("ت", "KeyJ", 0),
    "Hindi": ("र", "KeyJ", 0),
    "Bengali": ("র", "KeyJ", 0),
    "Thai, a mark": ("่", "KeyJ", 0),
    "Korean": ("ㅓ", "KeyJ", 0),
    "no place told": ("j", "", 0),
}
NO_LETTERS = {
    "the h of Dvorak at its place": ("h", "KeyJ", 0),
    "the ’ of Bépo at the place of n": ("’", "KeyN", 0),
    "the ı of Turkish F at the place of r": ("ı", "KeyR", 0),
    "the य of Hindi at the place of a slash": ("य", "Slash", 0),
    "a dead key at the place of n": ("Dead", "KeyN", 0),
    "a letter of another place": ("о", "KeyY", 0),
    "a letter without a place": ("о", "", 0),
}
SIGNS = {  # layout: key, place, held down, what it does
    "Cyrillic и at b": ("и", "KeyB", 0, "borderline"),
    "Arabic ﻻ, one sign, at b": ("ﻻ", "KeyB", 0, "borderline"),
    "two signs, which Chromium does not name, at b": ("لا", "KeyB", 0, "borderline"),
    "B with Caps Lock": ("B", "KeyB", 0, "borderline"),
    "Russian ? at 7": ("?", "Digit7", SHIFT, "help"),
    "Arabic ?": ("؟", "Slash", SHIFT, "help"),
    "full ?": ("？", "Slash", SHIFT, "help"),
    "Hindi at the place of ?": ("य़", "Slash", SHIFT, "help"),
    "Turkish i with Caps Lock": ("İ", "Quote", 0, "view-instructions"),
}


def each(layouts):
    return [pytest.param(*found, id=name.replace(" ", "-")) for name, found in layouts.items()]


def press(browser, key, place, held=0, number=0, text=""):
    """One key as the system tells it: its sign, its place, and what is held down; `text` is what it types."""
    told = {"key": key, "code": place, "modifiers": held, "windowsVirtualKeyCode": number}
    typed = {"text": text} if text else {}
    browser.call("Input.dispatchKeyEvent", type="keyDown", **told, **typed)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **told)


def opened(browser, folder, found, name):
    (folder / "page.html").write_text(page.write(found), encoding="utf-8")
    begin(browser, (folder / "page.html").as_uri(), name)


@pytest.fixture(scope="module")
def at_tasks(browser, tmp_path_factory):
    opened(browser, tmp_path_factory.mktemp("page"), campaigns.small(3), "keys")
    return browser


@pytest.fixture
def here(at_tasks):
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


@pytest.mark.parametrize(("key", "place", "held"), each(DIGITS))
def test_the_2_of_every_layout_chooses_the_second(here, key, place, held):
    press(here, key, place, held)
    assert chosen(here) == list(campaigns.CHOICES["culture_related"])[1]


@pytest.mark.parametrize(("key", "place", "held"), each(NO_DIGITS))
def test_a_key_that_is_not_a_digit_chooses_nothing(here, key, place, held):
    press(here, key, place, held)
    assert chosen(here) == ""
    assert focused(here) == "culture_related"


@pytest.mark.parametrize(("key", "place", "held"), each(LETTERS))
def test_the_j_of_every_keyboard_layout_opens_the_next_question(here, key, place, held):
    press(here, key, place, held)
    assert focused(here) == "error_valid"


@pytest.mark.parametrize(("key", "place", "held"), each(NO_LETTERS))
def test_another_letter_of_a_latin_layout_does_nothing(here, key, place, held):
    press(here, key, place, held)
    assert focused(here) == "culture_related"
    assert here.js("session.task.place") == 1


@pytest.mark.parametrize(("key", "place", "held", "does"), each(SIGNS))
def test_flags_help_and_instructions_on_other_layouts(here, key, place, held, does):
    press(here, key, place, held)
    if does == "view-instructions":
        here.wait("!document.getElementById('view-instructions').hidden")
    elif does == "help":
        assert here.js("document.getElementById('help').open")
    else:
        assert here.js(f"answerHere().{does}")


def test_a_digit_of_every_script_has_its_value(at_tasks):
    digits = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Nd"]
    assert len(digits) > 600
    found = at_tasks.js(f"{digits!r}.map(digitOf)")
    assert dict(zip(digits, found, strict=True)) == {one: str(unicodedata.digit(one)) for one in digits}
    assert at_tasks.js("[...'²½①〇Ⅱ:/a\\u{10ffff}', ''].map(digitOf)") == [""] * 10


@pytest.mark.parametrize("held", [ALT, CTRL, META, ALT | CTRL], ids=["alt", "ctrl", "meta", "altgr-on-windows"])
def test_keys_of_the_browser_and_the_system_are_left_to_them(here, held):
    for key, place in (("2", "Digit2"), ("é", "Digit2"), ("j", "KeyJ"), ("о", "KeyJ"), ("b", "KeyB")):
        press(here, key, place, held)
        assert (chosen(here), focused(here), here.js("answerHere().borderline")) == ("", "culture_related", False)


def test_altgr_types_signs(here):
    for key, place in (("@", "Digit2"), ("2", "Digit2"), ("ј", "KeyJ")):
        told = f"{{ key: '{key}', code: '{place}', modifierAltGraph: true, bubbles: true, cancelable: true }}"
        assert here.js(f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {told}))")
        assert (chosen(here), focused(here)) == ("", "culture_related")


def test_nothing_is_taken_from_a_text(here):
    """Every key of the lists above types its sign, and Escape leaves."""
    here.click("#comment_1")
    keys = [found for layouts in (DIGITS, LETTERS, NO_LETTERS) for found in layouts.values() if len(found[0]) == 1]
    keys.append(("?", "Slash", SHIFT))
    for key, place, held in keys:
        press(here, key, place, held, text=key)
    written = "".join(key for key, _, _ in keys)
    assert here.js("[document.getElementById('comment_1').value, answerHere().comment_1]") == [written] * 2
    assert (focused(here), chosen(here), here.js("session.task.place")) == ("comment_1", "", 1)
    assert not here.js("document.getElementById('help').open")
    press(here, "Escape", "Escape", CTRL, 27)
    assert focused(here) == "comment_1"
    press(here, "Escape", "Escape", number=27)
    assert focused(here) == "error_valid"


def test_a_list_of_choices_keeps_its_keys(here):
    here.js("document.getElementById('status').focus()")
    for key, place in (("2", "Digit2"), ("é", "Digit2"), ("j", "KeyJ"), ("о", "KeyJ")):
        press(here, key, place)
    assert (focused(here), chosen(here)) == ("status", "")


@pytest.mark.parametrize("key", ["Escape", "Enter", "Tab", "2", "j"])
def test_a_word_that_is_being_composed_keeps_every_key(here, key):
    """As browsers tell it: the event says so, or only its number does, as in Safari, where the word has just ended."""
    here.click("#comment_1")
    here.js("globalThis.taken = []; addEventListener('keydown', (event) => taken.push(event.defaultPrevented))")
    here.call("Input.imeSetComposition", text=WORD, selectionStart=2, selectionEnd=2)
    field = "document.getElementById('comment_1')"
    for told in ("isComposing: true", f"keyCode: {IN_A_METHOD}"):
        here.js(f"{field}.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', {told}, bubbles: true }}))")
        assert focused(here) == "comment_1"
        assert here.js(f"{field}.value") == WORD
    press(here, key, key, number=IN_A_METHOD)
    assert focused(here) == "comment_1"
    here.call("Input.insertText", text="日本")
    assert here.js("answerHere().comment_1") == "日本"
    assert not any(here.js("taken"))
    press(here, "Escape", "Escape", number=27)  # the next one, with no word open, leaves
    assert focused(here) == "error_valid"


def test_a_word_composed_outside_a_text_chooses_nothing(here):
    for told in ("isComposing: true", f"keyCode: {IN_A_METHOD}"):
        here.js(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
            f" {{ key: '2', code: 'Digit2', {told}, bubbles: true }}))"
        )
    assert chosen(here) == ""


@pytest.mark.parametrize("key", ["لا", "Unidentified"])
def test_two_signs_as_other_browsers_name_them(here, key):
    told = f"{{ key: '{key}', code: 'KeyB', bubbles: true }}"
    here.js(f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {told}))")
    assert here.js("answerHere().borderline")


def test_a_browser_that_fills_in_a_field_presses_no_key(here):
    """It tells of a key that has no name."""
    here.js("document.activeElement.dispatchEvent(new Event('keydown', { bubbles: true }))")
    assert not here.said("Runtime.exceptionThrown")


def test_keys_that_a_form_chose(browser, tmp_path):
    """Its own sign comes first, é before the digit of AZERTY; a capital needs no Shift, but never takes a key of the page."""
    words = {"stale": "Stale", "narrow": "Narrow", "wide": "Wide"}
    flags = {"field": "also", "kind": "flags", "label": "Also", "values": words}
    flags |= {"keys": {"stale": "é", "narrow": "B", "wide": "J"}}
    raw = campaigns.SOFT.model_dump(mode="json", exclude_defaults=True)
    raw["steps"][0]["blocks"] = [block for block in raw["steps"][0]["blocks"] if block.get("kind") != "flags"] + [flags]
    raw["skip"] = ""
    made = type(campaigns.SOFT).model_validate(raw)
    opened(browser, tmp_path, campaign.campaign("Keys", made, campaigns.small(2).tasks), "own")
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
