"""CaLMQA's score of long answers, S = surface x factuality x relevance, as a metric.

Claims are the sentences of an answer, in its own language; the model verifies them and rates relevance. A sentence
encoder in place of the model judges without one: claims by overlap of words, relevance by cosine. K and the languages
that the detector knows follow from all rows of the file. The stages of the workflow can do more: translate, extract.
"""

from __future__ import annotations

import copy
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from excam.calmqa import asks, claims, numbers, source, surface
from excam.calmqa.asks import Item, Picked
from excam.calmqa.claims import ClaimWithPassages
from excam.calmqa.source import TYPES, Type
from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.core.language_identity import code_name
from excam.inference import Flow, encoder
from excam.inference.run import together
from excam.knowledge.index import Index
from excam.scoring.metric import Asks, Evidence, Metric, Outcome, Row, Setup

PASSAGES = 10  # for a claim
UNDECIDABLE = "undecidable-language"  # the failure of an answer in a language that the detector does not know


class _SurfaceMetric(Metric):
    """S_surf of a long answer: 1 if it is in the language of its question and does not repeat itself, else 0."""

    name, version = "calmqa-surface", 1
    columns: ClassVar[tuple[str, ...]] = ("answer", "language")
    optional: ClassVar[tuple[str, ...]] = ("question",)  # which decides the languages that the detector knows
    pair, scores_blank, needs_file = ("question", "answer"), True, True  # an empty answer has 0
    asks: ClassVar[Asks] = "nothing"
    title, legend = "Surface of long answers", "1: in its language, without loops; 0: not"
    mean = "share of answers in the language of their question and without loops"
    range = (0.0, 1.0)

    def __init__(self) -> None:
        self._decidable: Mapping[str, bool] = {}

    def prepared(self, setup: Setup) -> Metric:
        """Return the metric where its packages are installed."""
        require_extra("calmqa", "pycld2", "bpe_openai")
        return self

    def for_rows(self, rows: Iterable[Row]) -> Metric:
        """Return the metric with the languages that can be decided, as far as the rows have questions."""
        other = copy.copy(self)
        other._decidable = _decidable(row for row in rows if row.values.get("question"))
        return other

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature, with the languages that cannot be decided."""
        unknown = ",".join(sorted(code for code, known in self._decidable.items() if not known))
        return f"repeats:{surface.TOKENS}x{surface.TIMES}|undecidable:{unknown or 'none'}|{super().signature}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Return what an answer looks like, without a request. Raise InputInvalid for an unknown language."""
        code = _code(row)
        looks = surface.check(row.texts["answer"], code, self._decidable.get(code, True))
        parts = {"found_language": looks.found, "repeats": looks.most_repeats, "empty": looks.empty}
        parts["wrong_language"] = looks.wrong_language
        if looks.value is None:
            return Outcome(None, UNDECIDABLE, parts)
        return Outcome(float(looks.value), None, parts, " ".join(_remarks(looks)))
        yield  # a flow that asks nothing


class _CalmqaMetric(Metric):
    """S of a long answer, from 0 to 1."""

    name, version, max_tokens = "calmqa", 5, 64
    columns = ("question", "answer", "language")
    optional = values = ("type",)  # specific or agnostic, or 1 and 0; K is of a language and type
    pair, scores_blank = ("question", "answer"), True  # an empty answer has 0
    asks: ClassVar[Asks] = "likelihoods"
    evidence: ClassVar[Evidence] = "own"
    needs_file = True
    title, legend = "Long answers by CaLMQA's S", "S = surface × factuality × relevance, 0 to 1"
    mean = "mean of S, 0 to 1, more is better"
    range = (0.0, 1.0)

    def __init__(self) -> None:
        self._index: Index | None = None
        self._encoder: Path | None = None
        self._k: Mapping[tuple[str, Type | None], int] = {}
        self._decidable: Mapping[str, bool] = {}
        self._cosines: Mapping[str, float] | None = None  # by row id, where an encoder judges

    def prepared(self, setup: Setup) -> _CalmqaMetric:
        """Return the metric with its evidence, and with an encoder where the model is one."""
        require_extra("calmqa", "pycld2", "bpe_openai")
        other = copy.copy(self)
        weights = setup.model.weights if setup.model else None
        other._index = setup.evidence
        other._encoder = weights if weights and encoder.is_encoder(weights) else None
        return other

    def for_rows(self, rows: Iterable[Row]) -> _CalmqaMetric:
        """Return the metric with K, the languages that can be decided, and the cosines of an encoder."""
        other = copy.copy(self)
        valid = [row for row in rows if not row.failure and not _problem(row)]
        counts: dict[tuple[str, Type | None], list[int]] = defaultdict(list)
        for row in valid:
            counts[_code(row), _type(row)].append(len(claims.by_sentences(row.id, row.texts["answer"], _code(row))))
        other._k = {key: numbers.upper_median(values) for key, values in counts.items()}
        other._decidable = _decidable(valid)
        if self._encoder:
            pairs = [(row.texts["question"], row.texts["answer"]) for row in valid]
            other._cosines = dict(zip((row.id for row in valid), encoder.cosines(self._encoder, pairs), strict=True))
        return other

    @property
    def signature(self) -> str:
        """Return the metric's part of a signature, with what follows from the rows of the file."""
        judged = "verifier:overlap|relevance:cosine" if self._encoder else "verifier:model|relevance:model"
        of_rows = repr([sorted(map(str, self._k.items())), sorted(self._decidable.items())])
        digest = hashlib.sha256(of_rows.encode()).hexdigest()[:8]
        prompts = f"prompts:{asks.VERSION['verdicts']}.{asks.VERSION['relevance']}"
        repeats = f"repeats:{surface.TOKENS}x{surface.TIMES}"
        book = f"{self._index.signature}x{PASSAGES}" if self._index else "evidence:none"
        return f"claims:sentences|{judged}|{prompts}|f1@k:{digest}|{repeats}|{book}|{super().signature}"

    def flow(self, row: Row) -> Flow[Outcome]:
        """Ask about all claims of an answer, and about its relevance, at once."""
        if problem := _problem(row):
            raise InputInvalid(problem)
        assert self._index is not None, "`prepared` gave it"
        texts, code = row.texts, _code(row)
        looks = surface.check(texts["answer"], code, self._decidable[code])
        stated = [claim.text or "" for claim in claims.by_sentences(row.id, texts["answer"], code)]
        items = [
            ClaimWithPassages(f"{row.id}#{at}", text, [hit.passage for hit in self._index.search(text, PASSAGES)])
            for at, text in enumerate(stated, 1)
        ]
        verdicts, rated, relevance = yield from self._judged(row, items)
        failures = [f"verdicts: {verdict.failure}" for verdict in verdicts if verdict.failure]
        failures += [f"relevance: {rated.failure}"] if rated.failure else []
        judged = numbers.AnswerFindings(
            answer=row.id,
            subject="",
            group=row.id,
            language=code,
            type=_type(row) or "",
            surface=looks.value,
            claims=len(items),
            supported=sum(verdict.option == "supported" for verdict in verdicts),
            relevance=relevance,
            empty=looks.empty,
            failure=failures[0] if failures else "",
        )
        scored = numbers.score(judged, self._k[code, _type(row)])
        parts = {name: scored[name] for name in ("surface", "precision", "recall", "factuality", "relevance", "k")}
        parts |= {"found_language": looks.found, "repeats": looks.most_repeats, "empty": looks.empty}
        parts["claims"] = [
            {"claim": text, "verdict": verdict.option or verdict.failure}
            for text, verdict in zip(stated, verdicts, strict=True)
        ]
        if scored["s"] is None:
            return Outcome(None, judged.failure or UNDECIDABLE, parts)
        return Outcome(scored["s"], None, parts, _explained(looks, verdicts, relevance or 0.0))

    def _judged(self, row: Row, items: Sequence[ClaimWithPassages]) -> Flow[tuple[list[Picked], Picked, float | None]]:
        """Return the verdicts on claims, the rating of an answer, and its relevance; an encoder is not asked."""
        texts = row.texts
        if self._cosines is not None:
            relevance = max(0.0, self._cosines[row.id]) if texts["answer"].strip() else 0.0
            return [Picked(claims.overlap(item)[0]) for item in items], Picked("5"), relevance
        rater = asks.relevance(Item(row.id, {"question": texts["question"], "answer": texts["answer"]}))
        *verdicts, rated = yield from together([*map(asks.verify, items), rater])
        rating = asks.expected_rating(rated)
        return verdicts, rated, None if rating is None else (rating - 1) / 4


def _problem(row: Row) -> str:
    """Return what is wrong with the values of a row, "" if nothing is."""
    try:
        _code(row)
    except InputInvalid as problem:
        return str(problem)
    value = row.values.get("type")
    if value is not None and _type(row) is None:
        return f"row {row.id}: type: found {str(value)[:40]}; expected specific or agnostic"
    return ""


def _code(row: Row) -> str:
    return source.code(row.texts["language"], f"row {row.id}")


def _type(row: Row) -> Type | None:
    value = row.values.get("type")
    return TYPES.get(value) if isinstance(value, str | int) else None


def _decidable(rows: Iterable[Row]) -> dict[str, bool]:
    """Return of each language whether the detector knows it, by the questions of these rows."""
    known = surface.languages(
        (_code(row), row.texts["question"]) for row in rows if not row.failure and not _problem(row)
    )
    return {code: language.decidable for code, language in known.items()}


def _remarks(looks: surface.Surface) -> list[str]:
    """Return what is wrong with the surface of an answer, in sentences."""
    if looks.empty:
        return ["The answer is empty."]
    remarks = (
        [] if looks.found == looks.expected else [f"In {code_name(looks.found)}, not {code_name(looks.expected)}."]
    )
    if looks.repeated:
        remarks.append(f"A sequence of {surface.TOKENS} tokens occurs {looks.most_repeats} times.")
    return remarks


def _explained(looks: surface.Surface, verdicts: Sequence[Picked], relevance: float) -> str:
    """Return in a line what lowered the score."""
    supported = sum(verdict.option == "supported" for verdict in verdicts)
    judged = f"{supported} of {len(verdicts)} claims are supported; relevance {relevance:.2f}."
    return " ".join(_remarks(looks) if looks.empty else [*_remarks(looks), judged])


METRICS = (_CalmqaMetric(), _SurfaceMetric())
