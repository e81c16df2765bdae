"""The shipped qualification set: identifiers, balance, lengths, and what baselines without reading make of it."""

import json
import re
from collections import Counter
from pathlib import Path

from excam.core.languages import language_name
from excam.stats.binary_gold import auroc

FOLDER = Path(__file__).parents[2] / "excam" / "error_reports" / "qualification"
DOCUMENT_FIELDS = {"id", "language", "culture", "title", "text", "licence", "kind"}
ROW_FIELDS = {
    *("id", "document", "language", "culture", "question", "text", "expected", "label", "wrong_words", "kind"),
    "wording",
}
KINDS = {
    "right": {"paraphrase", "order"},
    "wrong": {"near-miss", "contradiction", "order"},
    "undecidable": {"not-stated"},
}
WITHOUT_SPACES = {"Chinese", "Japanese"}


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


DOCUMENTS = {document["id"]: document for document in _lines("documents.jsonl")}
ROWS = _lines("rows.jsonl")
DECIDED = [row for row in ROWS if row["label"] != "undecidable"]


def _words(text: str, language: str) -> list[str]:
    """Words in lower case; pairs of characters in languages without spaces."""
    words = re.findall(r"[\w\u0300-\u036f\u0900-\u097f]+", text.casefold())
    if language not in WITHOUT_SPACES:
        return words
    return [word[start : start + 2] for word in words for start in range(max(1, len(word) - 1))]


def _overlap(row: dict[str, str]) -> float:
    """Share of the text's words that stand in its document."""
    words = _words(row["text"], row["language"])
    known = set(_words(DOCUMENTS[row["document"]]["text"], row["language"]))
    return sum(word in known for word in words) / len(words)


def test_documents_are_whole() -> None:
    lines = _lines("documents.jsonl")
    assert len(DOCUMENTS) == len(lines) >= 48
    for document in lines:
        assert set(document) == DOCUMENT_FIELDS, document["id"]
        assert all(value.strip() == value and value for value in document.values()), document["id"]
        assert language_name(document["language"]) == document["language"]
        assert document["kind"] in {"real", "invented"}
        spaced = document["language"] not in WITHOUT_SPACES
        length = len(document["text"].split()) if spaced else len(document["text"])
        low, high = (60, 160) if spaced else (120, 400)
        assert low <= length <= high, (document["id"], length)
    assert len({document["language"] for document in lines}) >= 8
    assert 0.4 <= sum(document["kind"] == "real" for document in lines) / len(lines) <= 0.6


def test_rows_are_whole() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) >= 240
    assert len({(row["document"], row["question"], row["text"]) for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert set(row) == ROW_FIELDS, row["id"]
        document = DOCUMENTS[row["document"]]
        assert (row["language"], row["culture"]) == (document["language"], document["culture"]), row["id"]
        assert row["kind"] in KINDS[row["label"]], row["id"]
        assert row["wording"] in {"plain", "indirect"}, row["id"]
        assert row["question"]
        assert row["text"]
        assert bool(row["expected"]) == (row["label"] != "undecidable"), row["id"]
        assert bool(row["wrong_words"]) == (row["label"] == "wrong"), row["id"]
        assert not row["wrong_words"] or row["text"].count(row["wrong_words"]) == 1, row["id"]
        assert row["text"].casefold().strip(".。।") not in document["text"].casefold(), row["id"]
    assert {row["document"] for row in ROWS} == set(DOCUMENTS)


def test_labels_are_balanced_and_two_thirds_of_the_decided_answers_plain_in_each_language() -> None:
    for language in {row["language"] for row in ROWS}:
        labels = Counter(row["label"] for row in ROWS if row["language"] == language)
        assert 0.15 <= labels["undecidable"] / labels.total() <= 0.25, (language, labels)
        labels = Counter((row["wording"], row["label"]) for row in ROWS if row["language"] == language)
        plain, indirect = (labels[wording, "right"] + labels[wording, "wrong"] for wording in ("plain", "indirect"))
        assert 0.6 <= plain / (plain + indirect) <= 0.75, (language, labels)
        for wording in ("plain", "indirect"):
            assert labels[wording, "right"] == labels[wording, "wrong"], (language, labels)
            assert labels[wording, "undecidable"] >= 2, (language, labels)


def test_yes_and_no_begin_as_many_right_as_wrong_answers() -> None:
    beginnings = {
        "yes": re.compile(r"(Yes|Ja|Sí|Evet|हाँ|会|نعم|はい|Oui)[,，、،]"),
        "no": re.compile(r"(No|Nein|Hayır|नहीं|不会|لا|いいえ|Non)[,，、،]"),
    }
    for beginning in beginnings.values():
        labels = Counter(row["label"] for row in DECIDED if beginning.match(row["text"]))
        assert labels["right"] == labels["wrong"] > 0, labels
    for language in {row["language"] for row in ROWS}:
        texts = [row["text"] for row in DECIDED if row["language"] == language]
        assert all(any(beginning.match(text) for text in texts) for beginning in beginnings.values()), language


def test_neither_length_nor_overlap_predicts_the_label() -> None:
    for rows, label in ((DECIDED, "wrong"), (ROWS, "undecidable")):
        for measure in (lambda row: len(row["text"]), _overlap):
            area = auroc([row["label"] == label for row in rows], list(map(measure, rows))).value
            assert 0.40 <= area <= 0.60
    assert sum(_overlap(row) >= 0.8 for row in ROWS) / len(ROWS) <= 0.05
