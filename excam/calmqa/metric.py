"""S as a metric of `excam score --metric calmqa --model M --evidence INDEX`; `excam.scoring.metrics` has the interface.

Claims are the sentences of an answer, in its own language; the model verifies them and rates relevance. A sentence
encoder in place of the model judges without one: claims by overlap of words, relevance by cosine. K and the languages
that the detector knows follow from all rows of the file. The stages of the workflow can do more: translate, extract.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.calmqa import asks, claims, encoder, numbers, source, surface
from excam.calmqa.asks import Item, Picked
from excam.calmqa.claims import ClaimWithPassages
from excam.calmqa.source import TYPES, Type
from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.core.language_identity import code_name
from excam.inference import Flow
from excam.inference.run import together
from excam.scoring.evidence import Index
from excam.scoring.metrics import Outcome, Row, Wording
from excam.scoring.scored import Direction

NAME, VERSION, MAX_TOKENS = "calmqa", 2, 64
COLUMNS = ("question", "answer", "language")
OPTIONAL = ("type",)  # specific or agnostic; K is of a language and type
PAIR = ("question", "answer")
DIRECTION: Direction = "higher"
WORDING = Wording("mean of S, 0 to 1, more is better", {}, "; S = surface × factuality × relevance")
PASSAGES = 10  # for a claim


def flow(row: Row) -> Flow[Outcome]:
    """Refuse: K and the evidence come with `prepare`."""
    raise InputInvalid("metric calmqa: scored row by row; expected a file: `excam score FILE --metric calmqa`")


def prepare(rows: Iterable[Row], model: str, evidence: Index | None) -> Prepared:
    """Return the metric for the rows of one file. Raises InputInvalid without evidence, or for an invalid row."""
    require_extra("calmqa", "pycld2", "bpe_openai", "bm25s")
    if evidence is None:
        raise InputInvalid("--evidence: missing; metric calmqa needs an index: `excam calmqa index FOLDER --to INDEX`")
    found = list(rows)
    counts: dict[tuple[str, Type | None], list[int]] = defaultdict(list)
    for row in found:
        one = _texts(row)
        counts[_code(row), _type(row)].append(len(claims.by_sentences(row.id, one["answer"], _code(row))))
    known = surface.languages((_code(row), _texts(row)["question"]) for row in found)
    rated = None
    if encoder.is_encoder(Path(model)):
        pairs = [(_texts(row)["question"], _texts(row)["answer"]) for row in found]
        rated = dict(zip((row.id for row in found), encoder.cosines(Path(model), pairs), strict=True))
    k = {key: numbers.upper_median(values) for key, values in counts.items()}
    decidable = {code: one.decidable for code, one in known.items()}
    return Prepared(evidence, k, decidable, rated)


def _texts(row: Row) -> Mapping[str, str]:
    for name in COLUMNS:
        if not isinstance(row.values[name], str):
            raise InputInvalid(f"row {row.id}: {name}: found {type(row.values[name]).__name__}; expected text")
    return row.texts


def _code(row: Row) -> str:
    return source.code(_texts(row)["language"], f"row {row.id}")


def _type(row: Row) -> Type | None:
    value = row.values.get("type")
    if value is not None and TYPES.get(value) is None:
        raise InputInvalid(f"row {row.id}: type: found {str(value)[:40]}; expected specific or agnostic")
    return TYPES.get(value)


@dataclass(frozen=True)
class Prepared:
    """The metric for the rows of one file; `cosines` by row id where an encoder judges."""

    evidence: Index
    k: Mapping[tuple[str, Type | None], int]
    decidable: Mapping[str, bool]
    cosines: Mapping[str, float] | None

    NAME, VERSION, COLUMNS, OPTIONAL, PAIR, MAX_TOKENS = NAME, VERSION, COLUMNS, OPTIONAL, PAIR, MAX_TOKENS
    DIRECTION: Direction = DIRECTION

    @property
    def SETTINGS(self) -> str:  # a constant of the interface
        """Return what the score depends on beside the model."""
        judged = "verifier:overlap|relevance:cosine" if self.cosines is not None else "verifier:model|relevance:model"
        of_rows = repr([sorted(map(str, self.k.items())), sorted(self.decidable.items())])
        digest = hashlib.sha256(of_rows.encode()).hexdigest()[:8]
        prompts = f"prompts:{asks.VERSIONS['verdicts']}.{asks.VERSIONS['relevance']}"
        repeats = f"repeats:{surface.TOKENS}x{surface.TIMES}"
        return f"claims:sentences|{judged}|{prompts}|f1@k:{digest}|{repeats}|{self.evidence.signature}x{PASSAGES}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask about all claims of an answer, and about its relevance, at once."""
        texts, code = _texts(row), _code(row)
        looks = surface.check(texts["answer"], code, self.decidable[code])
        stated = [claim.text or "" for claim in claims.by_sentences(row.id, texts["answer"], code)]
        items = [
            ClaimWithPassages(f"{row.id}#{at}", text, [hit.passage for hit in self.evidence.search(text, PASSAGES)])
            for at, text in enumerate(stated, 1)
        ]
        if self.cosines is None:
            rater = asks.relevance(Item(row.id, {"question": texts["question"], "answer": texts["answer"]}))
            *verdicts, rated = yield from together([*map(asks.verify, items), rater])
            rating = asks.expected_rating(rated)
            relevance = None if rating is None else (rating - 1) / 4
        else:
            verdicts, rated = [Picked(claims.overlap(item)[0]) for item in items], Picked("5")
            relevance = max(0.0, self.cosines[row.id]) if texts["answer"].strip() else 0.0
        failures = [f"verdicts: {one.failure}" for one in verdicts if one.failure]
        failures += [f"relevance: {rated.failure}"] if rated.failure else []
        judged = numbers.Judged(
            answer=row.id,
            subject="",
            group=row.id,
            language=code,
            type=_type(row) or "",
            surface=looks.value,
            claims=len(items),
            supported=sum(one.option == "supported" for one in verdicts),
            relevance=relevance,
            empty=looks.empty,
            failure=failures[0] if failures else "",
        )
        found = numbers.score(judged, self.k[code, _type(row)])
        parts = {name: found[name] for name in ("surface", "precision", "recall", "factuality", "relevance", "k")}
        parts |= {"found_language": looks.found, "repeats": looks.most_repeats, "empty": looks.empty}
        parts["claims"] = [
            {"claim": text, "verdict": one.option or one.failure} for text, one in zip(stated, verdicts, strict=True)
        ]
        if found["s"] is None:
            return Outcome(None, judged.failure or "undecidable-language", parts)
        return Outcome(found["s"], None, parts, _explained(looks, verdicts, relevance or 0.0))


def _explained(looks: surface.Surface, verdicts: Sequence[Picked], relevance: float) -> str:
    """Return in a line what lowered the score."""
    if looks.empty:
        return "The answer is empty."
    found = [] if looks.language_right else [f"In {code_name(looks.found)}, not {code_name(looks.expected)}."]
    if looks.repeated:
        found.append(f"A sequence of {surface.TOKENS} tokens occurs {looks.most_repeats} times.")
    supported = sum(one.option == "supported" for one in verdicts)
    return " ".join([*found, f"{supported} of {len(verdicts)} claims are supported; relevance {relevance:.2f}."])
