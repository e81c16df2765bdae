"""Phrases are found where a person would find them, whatever the spelling; what is nowhere in a text is a warning."""

import json
import random
import time
import unicodedata
from collections.abc import Callable

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from text_tables import table

from excam.acre import candidates
from excam.core.phrases import PhraseFinder, is_whole_word
from excam.error_reports.judges.report import locate
from excam.error_reports.records import CulturalError, Report
from excam.inference import Completion
from excam.rubric import metrics as rubric_metrics
from excam.scoring import ensemble, warnings
from excam.scoring.metric import Metric, Outcome
from excam.scoring.scorer import Scorer
from excam.scoring.spans import ErrorSpan
from excam.scoring.summary import Summary


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def matches(text: str, phrase: str) -> list[str]:
    return [text[start:end] for start, end in PhraseFinder(text).places(phrase)]


@pytest.mark.parametrize(("text", "phrase", "expected"), table(__file__, "a_phrase_in_another_spelling_is_found"))
def test_a_phrase_in_another_spelling_is_found(text, phrase, expected):
    assert matches(text, phrase)[:1] == [expected]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("tea", ""),
        ("They eat", "..."),
        ("tea \u200b", "\u200b\u00ad"),
        ("कालीन", "क"),  # only a vowel sign makes the letters of the text
        ("क्या", "या"),  # half of a conjunct
        ("각", "가"),
        ("น้ำ", "น้"),
        ("👩‍👧", "👩"),
        ("🇯🇵🇫🇷", "🇵🇫"),
        ("👍🏽", "👍"),
        (decomposed("café"), "cafe"),
        ("Straße", "Stras"),
        ("½", "1"),
        ("They bow. They leave. They bow and leave.", "bow ... leave"),  # two stretches
        ("They leave, then bow", "bow ... leave"),  # in another order
        ("t.a", "tea"),
    ],
)
def test_what_a_person_would_not_find_is_nowhere(text, phrase):
    assert matches(text, phrase) == []


@pytest.mark.parametrize(
    ("text", "phrase", "starts"),
    [
        ("का क, कि क", "क", [3, 9]),  # a vowel sign continues a word
        ("काला लाल", "ला", [2, 5]),
        (decomposed("été ét"), composed("ét"), [6]),
        ("الشايُ", "الشاي", [0]),
        ("steak, TEA, tea", "Tea", [7, 12]),  # whole words come first in any spelling
        ("STEAK", "tea", [1]),
        ("他吃sushi和tea", "sushi", [2]),  # letters of a script without spaces continue no word
        ("คนไทยกินข้าว ไทย", "ไทย", [2, 13]),
        ("寿司を食べる寿司", "寿司", [0, 6]),
        ("ab ab ab ab", "ab ab", [0, 6]),
        ("xab ab ab", "ab ab", [4]),
        ("کتاب\u200cها کتاب", "کتاب", [0, 8]),  # what a non-joiner divides are parts of a word
        ("🇯🇵🇫🇷", "🇫🇷", [2]),
    ],
)
def test_places(text, phrase, starts):
    assert [start for start, _ in PhraseFinder(text).places(phrase)] == starts


@pytest.mark.parametrize(
    ("text", "phrase", "whole"),
    [("tea", "tea", True), ("a_b", "b", False), ("_tea", "_", True), ("काला", "का", False), ("用tea", "tea", True)],
)
def test_whole_words(text, phrase, whole):
    start = text.find(phrase)
    assert is_whole_word(text, start, start + len(phrase)) == whole


# --- a phrase from a random place of a random text, changed

WORDS = table(__file__, "WORDS")
UNSPACED = ("Chinese", "Japanese", "Thai", "Burmese")
INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
APOSTROPHES = str.maketrans("'", "’")
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def between_clusters(text: str) -> str:
    draw = random.Random(text)
    clusters = regex.findall(r"\X", text)
    return clusters[0] + "".join(draw.choice(("", *INVISIBLE)) + cluster for cluster in clusters[1:])


CHANGES: dict[str, Callable[[str], str]] = {
    "none": str,
    "composed": composed,
    "decomposed": decomposed,
    "compatible": lambda text: unicodedata.normalize("NFKC", text),
    "apostrophes": lambda text: text.translate(APOSTROPHES),
    "full width": lambda text: text.translate(FULL_WIDTH),
    "white space": lambda text: text.replace(" ", " \r\n\u00a0"),
    "invisible": between_clusters,
    "no vowel marks": lambda text: regex.sub("[\u064b-\u0652\u05b0-\u05c2]", "", text),
    "upper case": str.upper,
    "lower case": str.lower,
}
AT_THE_ENDS: dict[str, Callable[[str], str]] = {
    "nothing": str, "full stop": "{}.".format, "ideographic full stop": "{}。".format, "quotation marks": "“{}”".format,
    "more of them": "'{}!' ".format, "ellipses": "…{} ...".format,
}  # fmt: skip


@given(st.data())
def test_a_harmless_change_moves_no_place(data):
    language = data.draw(st.sampled_from(sorted(WORDS)))
    words = data.draw(st.permutations(WORDS[language].split()))
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    blank = "" if language in UNSPACED else " "
    of_text = CHANGES[data.draw(st.sampled_from(sorted(CHANGES)))]
    of_phrase = [CHANGES[name] for name in data.draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=3))]
    parts = (words[:start], words[start:end], words[end:])
    before, target, behind = (of_text(blank.join(part)) if part else "" for part in parts)
    before, behind = before + blank * bool(before), blank * bool(behind) + behind
    phrase = blank.join(words[start:end])
    for change in of_phrase:
        phrase = change(phrase)
    phrase = AT_THE_ENDS[data.draw(st.sampled_from(sorted(AT_THE_ENDS)))](phrase)
    text = before + target + behind
    assert list(PhraseFinder(text).places(phrase)) == [(len(before), len(before) + len(target))], (text, phrase)


PIECES = [*"aB1 .,'-_\n", "é", "e\u0301", "का", "क", "्", "चाय ", "中", "。", "ไทย", "مرحبا", "َ", "👍🏽", "ß", "İ", "\u200d", "각"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join), st.data())
def test_words_that_are_in_the_text_are_found_as_they_are(text, data):
    clusters = regex.findall(r"\X", text)
    start = data.draw(st.integers(0, len(clusters) - 1))
    phrase = "".join(clusters[start : data.draw(st.integers(start + 1, len(clusters)))])
    places = list(PhraseFinder(text).places(phrase))
    assert [text[start:end] for start, end in places] == [phrase] * len(places) != []


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(), st.data())
def test_places_are_in_order_and_divide_no_cluster(text, data):
    phrase = data.draw(st.lists(st.sampled_from(PIECES), max_size=3).map("".join) | st.text(max_size=4))
    edges = {0, *(match.end() for match in regex.finditer(r"\X|(?=\u200c)", text))}
    last = 0
    for start, end in PhraseFinder(text).places(phrase):
        assert last <= start < end
        assert {start, end} <= edges
        last = end


MILLION, MANY = 1_000_000, 10_000


@pytest.mark.variants
@pytest.mark.parametrize("length", [MILLION // 10, pytest.param(MILLION, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("a" * MILLION, "a" * (MANY - 1) + "b"),
        ("ab " * (MILLION // 3) + "c", "AB " * (MANY // 3) + "c d"),
        ("é " * (MILLION // 2), "e\u0301 " * (MANY // 3) + "e"),
        ("a" + "\u0301\u0323" * (MILLION // 2), "a" + "\u0323\u0301" * (MANY // 2)),
        ("क्" * (MILLION // 2), "क"),
        ("👨\u200d" * (MILLION // 2), "👨" * MANY),
        ("🇯🇵" * (MILLION // 2), "🇯" * MANY),
        (". " * (MILLION // 2), "a" + ". " * (MANY // 2) + "b"),
        ("a b " * (MILLION // 4), "a ... b"),
        (" " * MILLION, "\u00a0" * MANY + "x"),
        ("\u064b" * MILLION, "\u064b" * MANY + "x"),
    ],
)
def test_hostile_texts_take_linear_time(text, phrase, length):
    began = time.process_time()
    assert list(PhraseFinder(text[:length]).places(phrase)) == []
    assert time.process_time() - began < 3 + 27 * length / MILLION


# --- who searches


def test_equal_spans_of_a_report_take_the_places_in_turn_in_any_spelling():
    def error(span: str, where="output") -> CulturalError:
        return CulturalError(where, span, "minor", "t")

    report = Report((error("l'eau"), error("l'eau"), error("l'eau"), error("L’EAU."), error("l'eau", "instruction")))
    places = [(mark.span, mark.start, mark.end) for mark in locate(report, "De l'eau ?", "L’eau, l’eau").errors]
    assert places == [("L’eau", 0, 5), ("l’eau", 7, 12), ("l'eau", -1, -1), ("L’eau", 0, 5), ("l'eau", 3, 8)]


def test_candidates_in_another_spelling_are_those_of_the_sentence():
    sentence = candidates.Sentence("s", "The steak; l’été, tea.", {})
    said = Completion(json.dumps({"expressions": ["tea", "l'été", "L'ÉTÉ.", "sake", " "]}), (), None, "stop", 1, 1)
    parsed = candidates.parse(sentence, said)
    places = [(row["term"], row["source_start"], row["source_end"]) for row in parsed.rows]
    assert places == [("l’été", 11, 16), ("tea", 18, 21)]
    assert parsed.absent == 1


def test_findings_of_a_rubric_are_marked_in_any_spelling():
    findings = type("Findings", (), {"false_claim": "it's old.", "stereotype_phrase": "they all drink"})
    rating, response = type("Rating", (), {"findings": findings}), type("Response", (), {"response": "And it’s old"})
    spans = [(span.span, span.start, span.end) for span in rubric_metrics._spans(rating, response)]
    assert spans == [("it’s old", 4, 12), ("they all drink", -1, -1)]


# --- the warning


class Quoting(Metric):
    """Marks the words of column `words`; without any, the row has no score."""

    name, version, columns, asks, lists_errors = "quoting", 1, ("output", "words"), "nothing", True
    pair = None

    def flow(self, row):
        yield from ()
        output, words = row.texts["output"], row.texts["words"]
        start, end = next(PhraseFinder(output).places(words), (-1, -1))
        score = None if words == "?" else -5.0
        return Outcome(score, None if score else "?", spans=[ErrorSpan("output", words, "major", "t", start, end)])


ROWS = [{"id": words, "output": "a cup of tea", "words": words} for words in ("Tea.", "sake", "ouzo", "?")]


def test_a_result_that_marks_words_nowhere_is_warned_about():
    summary = Summary()
    results = list(summary.counting(Scorer(Quoting(), None).score(ROWS)))
    assert [result.warnings for result in results] == [(), ("span-not-found",), ("span-not-found",), ()]
    assert f"warning: span-not-found (2 rows): {warnings.LINES['span-not-found']}" in summary.lines


def test_of_several_judgements_only_the_one_shown_warns_of_its_words():
    scorer = Scorer(Quoting(), None)
    somewhere, nowhere = scorer.score(ROWS[:2])
    both = ensemble.Ensemble([scorer], ensemble.RepeatSettings())
    for shown, other in ((somewhere, nowhere), (nowhere, somewhere)):
        combined = both._combined([shown, other])
        assert combined.report == shown.report
        assert combined.warnings == shown.warnings
