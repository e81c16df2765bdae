"""Rows to measure a judge with documents on, as other people wrote them.

`SETS` names them. Files of a folder: `xquad.LANG.jsonl.gz`, `wice.dev.jsonl.gz`, `wice_tokens.{train,dev}.jsonl.gz`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from excam.core.hash_order import digest
from excam.core.languages import language_name

SEED = 1
SENTENCES = 4  # of a long text


@dataclass(frozen=True, slots=True)
class Row:
    """A text to judge. `right`: whether its passages make it right, None where they do not decide.

    `group` is what an interval draws; `wrong` the characters [start, end) that are wrong, if they are known;
    `sentences` those of a long text; `expected` the right answer of XQuAD. `fit` rows choose thresholds and are not
    counted.
    """

    id: str
    group: str
    part: str  # a language
    question: str
    text: str
    passages: tuple[str, ...]
    right: bool | None
    language: str = "English"
    expected: str = ""
    wrong: tuple[tuple[int, int], ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    fit: bool = False


def parts(rows: Iterable[Row]) -> list[str]:
    """Return the parts of rows, each once."""
    return list(dict.fromkeys(row.part for row in rows))


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def xquad(folder: Path) -> Iterator[Row]:
    """Yield each question with its right answer and another of its paragraph; half of these are to fit on."""
    for path in sorted(folder.glob("xquad.*.jsonl.gz")):
        code = path.name.split(".")[1]
        language = {"ro": "Romanian", "th": "Thai"}.get(code) or language_name(code)
        rows = lines(path)
        answers = {line["id"].removesuffix("-r"): line["output"] for line in rows if line["label"] == "right"}
        for line in rows:
            key = line["id"].rsplit("-", 1)[0]
            yield Row(
                id=f"{language}/{line['id']}",
                group=str(line["paragraph"]),
                part=language,
                question=line["instruction"],
                text=line["output"],
                passages=(line["passage"],),
                right=line["label"] == "right",
                language=language,
                expected=answers.get(key, ""),
                fit=int(line["paragraph"]) // 2 % 2 == 0,
            )


def undecided(folder: Path) -> Iterator[Row]:
    """Yield the same with the passage of another paragraph, which holds neither answer."""
    rows = list(xquad(folder))
    passages = {
        language: list({row.passages[0]: None for row in rows if row.part == language}) for language in parts(rows)
    }
    for row in rows:
        others = passages[row.part]
        start = others.index(row.passages[0]) + 1 + int(digest(SEED, "other", row.group), 16) % (len(others) - 1)
        order = others[start % len(others) :] + others[: start % len(others)]
        free = (text for text in order if row.text not in text and row.expected not in text)
        yield replace(row, passages=(next(free),), right=None, fit=False)


def wice(folder: Path, but: str = "") -> Iterator[Row]:
    """Yield each claim with a cut of the page that it cites, without those of a label; in part is not supported."""
    for number, line in enumerate(lines(folder / "wice.dev.jsonl.gz")):
        meta = line["meta"]
        if line["label"] == but:
            continue
        yield Row(
            id=f"{meta['id']}/{number}",
            group=meta["id"],
            part="English",
            question="",
            text=line["claim"],
            passages=(" ".join(line["evidence"]),),
            right=line["label"] == "supported",
        )


def wice_words(folder: Path) -> Iterator[Row]:
    """Yield claims that are supported in part, with their words that are not supported."""
    for split in ("train", "dev"):
        for line in lines(folder / f"wice_tokens.{split}.jsonl.gz"):
            places = list(_places(line["claim"], line["claim_tokens"]))
            marks = zip(places, line["non_supported_spans"], strict=True)
            yield Row(
                id=line["meta"]["id"],
                group=line["meta"]["id"].rsplit("-", 1)[0],
                part="English",
                question="",
                text=line["claim"],
                passages=(" ".join(line["evidence"]),),
                right=False,
                wrong=tuple(place for place, is_wrong in marks if is_wrong),
                sentences=tuple(places),  # here: tokens
            )


def _places(text: str, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where tokens stand, one after another."""
    end = 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        yield start, end


def long(folder: Path) -> Iterator[Row]:
    """Yield texts of claims, supported or not at all, with the evidence of all of them."""
    one_each = {row.group: row for row in wice(folder, but="partially_supported")}
    order = sorted(one_each.values(), key=lambda row: digest(SEED, "long", row.id))
    for part in in_fours(order):
        yield joined(part, "Tell what is known.", [row.passages[0] for row in part])


def in_fours(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    return (rows[at : at + SENTENCES] for at in range(0, len(rows) - SENTENCES + 1, SENTENCES))


def joined(rows: Sequence[Row], question: str, passages: Sequence[str]) -> Row:
    """Return one row whose text has that of each row as a sentence."""
    texts = [f"{row.text.rstrip('. ')}." for row in rows]
    text = " ".join(texts)
    places = tuple(_places(text, texts))
    wrong = tuple(place for place, row in zip(places, rows, strict=True) if not row.right)
    ids = "+".join(row.id for row in rows)
    return replace(
        rows[0],
        id=ids,
        group=ids,
        question=question,
        text=text,
        passages=tuple(passages),
        right=not wrong,
        wrong=wrong,
        sentences=places,
    )


SETS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    "xquad": xquad,
    "undecided xquad": undecided,
    "wice": wice,
    "wice words": wice_words,
    "wice long": long,
}
