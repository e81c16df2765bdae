"""Words, sentences and names of a text: by hand, and on the page as in Python."""

import json
import random

import pytest
from annotation_page_driver import opened
from form_campaigns import MADE
from text_tables import table

from excam.annotation import form, wording
from excam.annotation.campaign import campaign

SENTENCES = table(__file__, "SENTENCES")
CLAIM = "Chinese people always refuse a gift three times"
NAMED = {
    ("It says that people always refuse a gift.", CLAIM): True,
    ("That they REFUSE a, gift... is not so.", CLAIM): True,
    ("It says three times, always.", CLAIM): False,
    ("One fact is wrong.", CLAIM): False,
    ("The year 1789 is wrong.", "1789"): True,
    ("说春节是秋天的节日，不对。", "春节是秋天的节日"): True,
    ("时间不对。", "春节是秋天的节日"): False,
    ("Any text.", ""): True,
    ("", CLAIM): False,
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text):
    assert wording.sentences(text) == SENTENCES[text]


@pytest.mark.parametrize("pair", NAMED, ids=lambda pair: pair[0][:20])
def test_a_text_names_another_by_three_of_its_words(pair):
    assert wording.names(*pair) is NAMED[pair]


def test_the_page_counts_as_python_does(browser, tmp_path):
    form_campaign, chance = MADE["culture_spans"](), random.Random(1)
    opened(browser, tmp_path, form_campaign, "ann-1")
    words = [".,", "!", "?", "。", "e.g.", "Dr.", '"', ")", "A.", "x", "3", "春", "👍", "é", "İ", "ᾳ", "ـ", "\u200f"]
    pieces = [*SENTENCES, *words, "\n", "\xa0", " ", "\n", "  "]
    texts = [*SENTENCES, *("".join(chance.choices(pieces, k=chance.randint(1, 9))) for _ in range(600))]
    pairs = [*NAMED, *(chance.choices(texts, k=2) for _ in range(600))]
    said = browser.js(f"[{json.dumps(texts)}.map(sentencesOf), {json.dumps(pairs)}.map((pair) => namesText(...pair))]")
    assert said == [list(map(wording.sentences, texts)), [wording.names(*pair) for pair in pairs]]


BORDER = {"a": [2, 3, 4, 5], "b": [2, 2, 2, 2], "c": [4, 3, 3, 3], "d": [3, 3, 3, 3]}  # only c and a are on a border


def scales(share):
    return [
        {"field": name, "kind": "scale", "label": name, "values": {str(score): "x" for score in range(1, 6)}}
        for name in share
    ]


def test_a_pause_links_instructions_and_the_answers_on_a_border(browser, tmp_path):
    names = ("one", "two", "three", "four")
    review = {"mean": dict.fromkeys(names, 1), "sure": "sure", "least": 3, "most": 3}
    made = form.parse(
        {
            **{"name": "small", "version": "1", "title": "T", "purpose": "P"},
            "instructions": [{"title": "Anchors", "text": ["1 is bad."]}, {"title": "Exemplar", "text": ["So."]}],
            "steps": [{"title": "Scores", "blocks": scales((*names, "sure"))}],
            "pauses": [{"say": "Rest.", "every": 4, "read": ["Exemplar"], "review": review}],
        },
        "small",
    )
    tasks = MADE["long_form"]().tasks
    tasks = [tasks[0].__class__(f"{at:016x}", f"r{at}", "English", "India", 1, {}, {}) for at in range(4)]
    opened(browser, tmp_path, campaign("Small", made, tasks), "ann-1")
    for at, (name, scores) in enumerate(BORDER.items()):
        values = dict(zip(names, scores, strict=True)) | {"sure": 1 if name == "d" else 5}
        browser.js(f"goTo(data.tasks[{at}]); change({json.dumps(values)})")
    links = browser.js("[...document.querySelectorAll('#pause-links a')].map((link) => link.getAttribute('href'))")
    assert links == [
        "#section-2",
        *(f"#task-{tasks[at].id}" for at in (2, 0, 3)),
    ]  # the latest first, then the least sure
    browser.click("#pause-links a")
    assert browser.js("document.getElementById('section-2').textContent") == "2 Exemplar"
    browser.wait("!document.getElementById('view-instructions').hidden")
