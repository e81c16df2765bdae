"""Items of CulT-Eval: a source, its reference, and one culture-loaded expression with what it means."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from excam.core import row_files
from excam.core.exceptions import InputInvalid
from excam.core.language_identity import code_name, language_code
from excam.core.text import is_text

CATEGORIES = ("Material", "Social", "Religious", "Ecological", "Linguistic")
DOMAINS = ("literary", "institutional")
KEPT = "keep"
REASONS = {  # why a candidate became no item (§3.4), and what tables call it
    "not-salient": "little salience",
    "weak-context": "weak context",
    "misaligned": "semantic misalignment",
    "transliterated": "unglossed transliteration",
    "meaning-lost": "meaning lost in the reference",
}
Protocol = Literal["A", "B"]
TEXTS = ("id", "source", "reference", "term", "target", "category", "domain", "licence")
SPANS = ("source_start", "source_end", "target_start", "target_end")


@dataclass(frozen=True, slots=True)
class TermSentence:
    """One sentence with its expression: `source[source_start:source_end] == term`, the same for `target`.

    `accepted` are renderings that hold besides the standardised `equivalent`; `literal` are word-for-word glosses that
    do not. `protocol` overrides the one that follows from the category. `target_language`, by its English name, is that
    of references and translations.
    """

    id: str
    source: str
    reference: str
    term: str
    target: str
    source_start: int
    source_end: int
    target_start: int
    target_end: int
    category: str
    domain: str
    licence: str
    explication: str = ""
    equivalent: str | None = None
    accepted: tuple[str, ...] = ()
    literal: tuple[str, ...] = ()
    protocol: Protocol | None = None
    target_language: str = "English"

    @property
    def route(self) -> Protocol:
        """Return the protocol: B (style-centric) for linguistic expressions, else A (fact-centric)."""
        return self.protocol or route(self.category)


def route(category: str) -> Protocol:
    """Return the protocol of a category. The paper does not say where Religious and Ecological belong: A."""
    return "B" if category == "Linguistic" else "A"


def read(path: Path) -> dict[str, TermSentence]:
    """Return the items of a file (JSON Lines or Parquet) by id. Raise InputInvalid naming a row that is not usable."""
    items: dict[str, TermSentence] = {}
    for number, row in row_files.rows(path):
        item_ = item(row, f"{path}:{number}")
        if item_.id in items:
            raise InputInvalid(f"{path}:{number}: id {item_.id} occurs twice; expected unique ids")
        items[item_.id] = item_
    if not items:
        raise InputInvalid(f"{path}: 0 items; expected one JSON object a line, or a table; see docs/cult-eval.md")
    return items


def read_removed(path: Path, item_ids: Collection[str]) -> list[str]:
    """Return the reason of each candidate that became no item, of a file with `id` and `reason`.

    Raise InputInvalid for another reason, an id that occurs twice, and one of `item_ids`.
    """
    reasons: dict[str, str] = {}
    for number, row in row_files.rows(path):
        name, reason = row.get("id"), row.get("reason")
        if not is_text(name) or not name.strip() or name in reasons or name in item_ids or reason not in REASONS:
            raise InputInvalid(
                f"{path}:{number}: id {shown(name)}, reason {shown(reason)}; expected each id once, that of no item, "
                f"and one of {', '.join(REASONS)}"
            )
        reasons[name] = reason
    return list(reasons.values())


def item(row: Mapping[str, Any], where: str) -> TermSentence:
    """Return the item of a row. Raise InputInvalid for a missing field, an unknown category, or a span that is off."""
    for name in TEXTS:
        if not is_text(row.get(name)) or not row[name].strip():
            raise InputInvalid(f"{where}: {name}: found {shown(row.get(name))}; expected text")
    for name in SPANS:
        if not isinstance(row.get(name), int) or isinstance(row[name], bool):
            raise InputInvalid(f"{where}: {name}: found {shown(row.get(name))}; expected a whole number of characters")
    for name, allowed in (("category", CATEGORIES), ("domain", DOMAINS), ("protocol", ("A", "B", None))):
        if row.get(name) not in allowed:
            expected = ", ".join(str(value) for value in allowed if value)
            raise InputInvalid(f"{where}: {name}: found {str(row.get(name))[:60]}; expected {expected}")
    for name in ("explication", "equivalent", "target_language"):
        if row.get(name) is not None and not is_text(row[name]):
            raise InputInvalid(f"{where}: {name}: found {shown(row[name])}; expected text or null")
    _check_span(row, where, "source", "term", "reference")
    _check_span(row, where, "reference", "target", "source")
    if row["source"].strip() == row["reference"].strip():
        raise InputInvalid(f"{where}: source and reference are the same text; expected a translation as reference")
    values: dict[str, Any] = {field.name: row[field.name] for field in fields(TermSentence) if field.name in row}
    values["target_language"] = _language(row.get("target_language") or "English", where)
    values |= {name: _texts(row.get(name), where, name) for name in ("accepted", "literal")}
    values["explication"] = (row.get("explication") or "").strip()
    return TermSentence(**values)


def _language(name: str, where: str) -> str:
    try:
        return code_name(language_code(name))
    except InputInvalid as problem:
        raise InputInvalid(f"{where}: target_{problem}") from None


def _check_span(row: Mapping[str, Any], where: str, text: str, term: str, other: str) -> None:
    """Raise InputInvalid unless the span of `text` is `term`; say where the term is, if it is anywhere."""
    prefix = "source" if text == "source" else "target"
    start, end, wanted = row[f"{prefix}_start"], row[f"{prefix}_end"], row[term]
    span_text = row[text][start:end] if 0 <= start < end <= len(row[text]) else ""
    if span_text == wanted:
        return
    at = row[text].find(wanted)
    if at >= 0:
        hint = f"; it stands at {at}:{at + len(wanted)}"
    elif wanted in row[other]:
        hint = f"; it stands in {other}"
    elif unicodedata.normalize("NFKC", span_text) == unicodedata.normalize("NFKC", wanted):
        hint = "; they differ in full-width and half-width characters"
    else:
        hint = f"; it is not in {text}: check simplified and traditional characters"
    raise InputInvalid(
        f"{where}: {text}[{shown(start)}:{shown(end)}] is {shown(span_text)}; expected {term} {shown(wanted)}{hint}"
    )


def _texts(value: object, where: str, name: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(is_text(text) and text.strip() for text in value):
        raise InputInvalid(f"{where}: {name}: found {str(value)[:60]}; expected a list of texts")
    return tuple(value)


def shown(value: object) -> str:
    """Return a value as it stands in a message, at most 60 characters of it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def held_out(items: Mapping[str, TermSentence], example: Path) -> TermSentence:
    """Return the example of a one-shot prompt. Raise InputInvalid unless it is one item that is not among `items`."""
    examples = list(read(example).values())
    if (
        len(examples) != 1
        or examples[0].id in items
        or examples[0].source in {item_.source for item_ in items.values()}
    ):
        raise InputInvalid(
            f"{example}: found {', '.join(item_.id for item_ in examples[:3])}; expected one item that is not in the "
            "test set"
        )
    return examples[0]
