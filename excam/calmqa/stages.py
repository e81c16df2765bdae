"""The stages between files: which items each asks about, how, and what a stage's table holds.

`FLOWS` and the functions `to_...` are used where a model is asked and where its transcript is read again, so both see
the same items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from excam.calmqa import asks, claims, numbers, surface
from excam.calmqa.asks import Item, Picked, Text
from excam.calmqa.claims import Claim, ClaimWithPassages
from excam.calmqa.source import Question, Reply
from excam.core import tables
from excam.core.language_identity import Detector
from excam.core.typed_tables import read_typed
from excam.knowledge.index import Index
from excam.knowledge.passages import Passage

Step = Literal["translations", "claims", "verdicts", "relevance"]
CONTEXT = 1  # sentences before and after the one whose claims are asked for
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """A text to judge: an answer or its translation, and the language that it is in."""

    answer: Reply
    text: str
    language: str
    failure: str = ""  # of the translation


def texts(questions: Mapping[str, Question], answers: Sequence[Reply], translations: Path | None = None) -> list[Read]:
    """Return what is judged of each answer: its translation where there is a table of them, else itself."""
    if translations is None:
        return [Read(answer, answer.text, questions[answer.question].language) for answer in answers]
    translated = {row["answer"]: row for row in tables.read_frame(translations).iter_rows(named=True)}
    return [
        Read(answer, translated[answer.id]["text"] or "", "en", translated[answer.id]["failure"])
        if answer.id in translated
        else Read(answer, answer.text, "en")
        for answer in answers
    ]


def surface_rows(
    questions: Mapping[str, Question], answers: Iterable[Reply], detector: Detector, tokens: int, times: int
) -> tuple[list[Row], list[surface.Language]]:
    """Return one row for each answer, and how well the detector knows each language of the questions."""
    codes = surface.languages(((question.language, question.question) for question in questions.values()), detector)
    rows = []
    for answer in answers:
        language = questions[answer.question].language
        looks = surface.check(answer.text, language, codes[language].decidable, detector, tokens, times)
        rows.append(
            {"answer": answer.id, **asdict(looks), "wrong_language": looks.wrong_language, "surface": looks.value}
        )
    return rows, list(codes.values())


def to_translate(questions: Mapping[str, Question], answers: Iterable[Reply]) -> list[Item]:
    """Return the answers that need a translation: those with a text, to questions that are not in English."""
    return [
        Item(answer.id, {"text": answer.text})
        for answer in answers
        if questions[answer.question].language != "en" and answer.text.strip()
    ]


def to_extract(read: Iterable[Read]) -> list[Item]:
    """Return each sentence of each text with its neighbours; the id is <answer>~<number>."""
    return [item for reading in read if not reading.failure for item in _sentence_items(reading)]


def _sentence_items(reading: Read) -> Iterator[Item]:
    sentences = claims.sentences(reading.text, reading.language)
    for at, sentence in enumerate(sentences):
        context = " ".join(sentences[max(0, at - CONTEXT) : at + CONTEXT + 1])
        yield Item(f"{reading.answer.id}~{at + 1}", {"sentence": sentence, "context": context})


def to_verify(stated: Iterable[Claim], evidence: Path) -> list[ClaimWithPassages]:
    """Return each claim with the passages of a table of evidence, best first."""
    passages: dict[str, list[Passage]] = defaultdict(list)
    for row in tables.read_frame(evidence).sort("claim", "rank", maintain_order=True).iter_rows(named=True):
        passages[row["claim"]].append(Passage(row["passage"], row["title"], row["text"]))
    return [ClaimWithPassages(claim.id, claim.text, passages[claim.id]) for claim in stated if claim.text is not None]


def to_rate(questions: Mapping[str, Question], read: Iterable[Read], translated: bool) -> list[Item]:
    """Return each answer with its question, in English where answers are translated and it is known."""
    items = []
    for reading in read:
        source = questions[reading.answer.question]
        question = source.question_en if translated and source.question_en else source.question
        failure = reading.failure and f"translation: {reading.failure}"
        items.append(Item(reading.answer.id, {"question": question, "answer": reading.text}, failure))
    return items


FLOWS: Mapping[Step, Callable[[Any], Any]] = {
    "translations": asks.translate,
    "claims": asks.extract,
    "verdicts": asks.verify,
    "relevance": asks.relevance,
}


def translation_rows(items: Sequence[Item], translations: Sequence[Text]) -> list[Row]:
    """Return the table of translations."""
    return [
        {"answer": item.id, "text": translation.text, "failure": translation.failure}
        for item, translation in zip(items, translations, strict=True)
    ]


def claims_by_rules(read: Iterable[Read]) -> list[Claim]:
    """Return one claim for each sentence; an answer without a translation has one row with the failure."""
    return [
        claim
        for reading in read
        for claim in (
            _failed(reading)
            if reading.failure
            else claims.by_sentences(reading.answer.id, reading.text, reading.language)
        )
    ]


def _failed(reading: Read) -> list[Claim]:
    return [Claim(f"{reading.answer.id}#1", reading.answer.id, 0, None, f"translation: {reading.failure}")]


def claims_by_model(read: Iterable[Read], items: Sequence[Item], extracted: Sequence[list[str] | str]) -> list[Claim]:
    """Return the claims of each answer, once each, numbered in order; a failed sentence is a row with its failure."""
    listed: dict[str, list[list[str] | str]] = defaultdict(list)
    for item, claims_or_failure in zip(items, extracted, strict=True):
        listed[item.id.rpartition("~")[0]].append(claims_or_failure)
    return [
        claim
        for reading in read
        for claim in (_failed(reading) if reading.failure else _listed(reading.answer.id, listed))
    ]


def _listed(answer: str, listed: Mapping[str, Sequence[list[str] | str]]) -> list[Claim]:
    rows: list[Claim] = []
    seen: set[str] = set()
    for sentence, claims_or_failure in enumerate(listed.get(answer, ()), 1):
        if isinstance(claims_or_failure, list):  # neighbouring sentences often state a fact twice
            claims_or_failure = [text for text in dict.fromkeys(claims_or_failure) if text.casefold() not in seen]
            seen.update(map(str.casefold, claims_or_failure))
        rows += asks.claim_rows(answer, sentence, claims_or_failure, len(rows) + 1)
    return rows


def evidence_rows(stated: Iterable[Claim], index: Index, count: int) -> list[Row]:
    """Return up to `count` passages for each claim; each row names the index."""
    return [
        {
            "claim": claim.id,
            "rank": rank,
            "passage": hit.passage.id,
            "bm25": hit.score,
            "title": hit.passage.title,
            "text": hit.passage.text,
            "doc": hit.passage.document,
            "revision": hit.passage.revision,
            "licence": hit.passage.licence,
            "index": index.identity,
        }
        for claim in stated
        if claim.text is not None
        for rank, hit in enumerate(index.search(claim.text, count), 1)
    ]


def verdict_rows(items: Sequence[ClaimWithPassages], picks: Sequence[Picked] | None, by: str) -> list[Row]:
    """Return a verdict for each claim: those of a model, or of `overlap` where there are none."""
    rows = []
    for at, item in enumerate(items):
        verdict, passage = claims.overlap(item) if picks is None else (picks[at].option or "failed", "")
        rows.append(
            {
                "claim": item.id,
                "answer": item.id.rpartition("#")[0],
                "verdict": verdict,
                "passage": passage,
                "passages": len(item.passages),
                "by": by,
                "failure": "" if picks is None else picks[at].failure,
                "logprobs": [] if picks is None else list(picks[at].logprobs),
            }
        )
    return rows


def relevance_rows(items: Sequence[Item], picks: Sequence[Picked], by: str) -> list[Row]:
    """Return the rating r of each answer, 1 to 5, and (r - 1) / 4.

    A rating read from likelihoods is their mean (`asks.expected_rating`).
    """
    return [
        _relevance(item.id, asks.expected_rating(picked), picked.failure, list(picked.logprobs), by)
        for item, picked in zip(items, picks, strict=True)
    ]


def relevance_by_cosine(items: Sequence[Item], cosines: Sequence[float], by: str) -> list[Row]:
    """Return ratings 1 + 4 c for the cosine c of question and answer, 1 for a negative one and an empty answer.

    An item with a failure has no rating.
    """
    rows = []
    for item, cosine in zip(items, cosines, strict=True):
        rating = 1 + 4 * max(0.0, cosine) if item.texts["answer"].strip() else 1.0
        rows.append(_relevance(item.id, None if item.failure else rating, item.failure, [], by))
    return rows


def _relevance(answer: str, rating: float | None, failure: str, logprobs: list[float], by: str) -> Row:
    scaled = None if rating is None else (rating - 1) / 4
    return {"answer": answer, "rating": rating, "relevance": scaled, "by": by, "failure": failure, "logprobs": logprobs}


def judged(
    questions: Mapping[str, Question],
    answers: Sequence[Reply],
    surfaces: Iterable[Mapping[str, Any]],
    stated: Iterable[Claim],
    verdicts: Iterable[Mapping[str, Any]],
    relevances: Iterable[Mapping[str, Any]],
) -> list[numbers.AnswerFindings]:
    """Join the stages by answer; the first judge that failed on an answer is its failure."""
    surface_of = {row["answer"]: row for row in surfaces}
    relevance_of = {row["answer"]: row for row in relevances}
    claims_of: dict[str, list[Claim]] = defaultdict(list)
    verdicts_of: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for claim in stated:
        claims_of[claim.answer].append(claim)
    for row in verdicts:
        verdicts_of[row["answer"]].append(row)
    rows = []
    for answer in answers:
        question, seen = questions[answer.question], surface_of[answer.id]
        failures = [f"claims: {claim.failure}" for claim in claims_of[answer.id] if claim.failure]
        failures += [f"verdicts: {row['failure']}" for row in verdicts_of[answer.id] if row["verdict"] == "failed"]
        rated = relevance_of[answer.id]
        failures += [f"relevance: {rated['failure']}"] if rated["failure"] else []
        rows.append(
            numbers.AnswerFindings(
                answer=answer.id,
                subject=answer.subject,
                group=question.group,
                language=question.language,
                type=question.type,
                surface=seen["surface"],
                claims=sum(claim.text is not None for claim in claims_of[answer.id]),
                supported=sum(row["verdict"] == "supported" for row in verdicts_of[answer.id]),
                relevance=rated["relevance"],
                empty=seen["empty"] or answer.finish == "refused",
                failure=failures[0] if failures else "",
            )
        )
    return rows


_TEXT, _NUMBER = pl.String(), pl.Float64()
SCHEMAS: Mapping[str, dict[str, Any]] = {  # of each stage's table
    "surface": {
        **dict.fromkeys(("answer", "expected", "found", "detector"), _TEXT),
        **{"decidable": pl.Boolean(), "most_repeats": pl.Int64(), "repeated": pl.Boolean(), "empty": pl.Boolean()},
        **{"wrong_language": pl.Boolean(), "surface": pl.Int64()},
    },
    "translations": dict.fromkeys(("answer", "text", "failure"), _TEXT),
    "claims": {"id": _TEXT, "answer": _TEXT, "sentence": pl.Int64(), "text": _TEXT, "failure": _TEXT},
    "evidence": {
        **{"claim": _TEXT, "rank": pl.Int64(), "passage": _TEXT, "bm25": _NUMBER},
        **dict.fromkeys(("title", "text", "doc", "revision", "licence", "index"), _TEXT),
    },
    "verdicts": {
        **dict.fromkeys(("claim", "answer", "verdict", "passage"), _TEXT),
        **{"passages": pl.Int64(), "by": _TEXT, "failure": _TEXT, "logprobs": pl.List(_NUMBER)},
    },
    "relevance": {
        **{"answer": _TEXT, "rating": _NUMBER, "relevance": _NUMBER, "by": _TEXT, "failure": _TEXT},
        "logprobs": pl.List(_NUMBER),
    },
    "scores": {
        **dict.fromkeys(("answer", "subject", "group", "language", "type"), _TEXT),
        **dict.fromkeys(("surface", "claims", "supported", "k"), pl.Int64()),
        **dict.fromkeys(("precision", "recall", "f1", "factuality", "relevance", "s"), _NUMBER),
        **{"empty": pl.Boolean(), "failure": _TEXT},
    },
}


def read_claims(path: Path) -> list[Claim]:
    """Return the claims of a table. Raises InputInvalid for other columns or types, and a claim that is there twice."""
    frame = read_typed(path, SCHEMAS["claims"], "claims, made by the workflow", ("id", "answer", "failure"), ("id",))
    return [Claim(**row) for row in frame.iter_rows(named=True)]


def write(path: Path, stage: str, rows: Sequence[Row] | Sequence[Claim]) -> None:
    """Write the table of a stage."""
    records = [asdict(row) if isinstance(row, Claim) else row for row in rows]
    tables.write_frame(path, pl.DataFrame(records, schema=SCHEMAS[stage], orient="row"))
