"""Judge by evidence: read what passages say about a text, and say "not known" where nothing decides.

Four stages, each with a value for the next: the claims of a text, the evidence on each, how far a reader
(`excam.error_reports.readers`) finds it supported, and the verdict. Marked words and explanation follow from the
reading, so that a person can check them at a glance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import regex

from excam.core.language_identity import code_name
from excam.core.sentences import asks, sentence_places
from excam.error_reports import relevance
from excam.error_reports.closed_values import ASKS, PUNCTUATION, side_of
from excam.error_reports.content_words import code_of, function_words, likely_language, not_held
from excam.error_reports.judges import base
from excam.error_reports.readers.base import UNRELATED, Support, Task, TextReader
from excam.error_reports.readers.chat import NOT_SURE, SHARE_OF_SENTENCE, Chat
from excam.error_reports.records import CulturalError, Sample, Verdict
from excam.error_reports.stated import NOT_STATED
from excam.inference import Flow
from excam.inference.run import together
from excam.knowledge.claimless import is_heading, is_refusal, stating_part
from excam.knowledge.passages import words
from excam.scoring.results import NOT_KNOWN

if TYPE_CHECKING:
    from excam.knowledge.passages import Passage

VERSION = base.Version(asks=6, reads=6)
NO_PASSAGE = "no passage shares a word with it"
NO_CLAIM = "no claim"
OUTCOMES = ("agrees", "differs", "not known", "failed")
MAY_ASK = "a question holds what the passages contradict, which it may state or ask"
FEW_DECIDED = "too few claims decided"
LONG = 30  # words; a text of several sentences and so many words is judged sentence by sentence
SHORT = 5  # words; of an answer that is no sentence, and of a question of a text that states nothing
FEWEST_NEW = 2  # content words of a longer one ("Did you know that ...?") that no passage holds: "know", what it says


@dataclass(frozen=True, slots=True)
class Way:
    """From which margin of a reading on there is a verdict.

    `threshold` and `slope` are those of a logistic curve: the probability that the text agrees is
    1 / (1 + exp(-slope * (margin - threshold))). `slopes` are those of the languages that the reader was measured in,
    by code; without any, `slope` is that of all. A text of another language, or whose verdict is less probable than
    `least`, is not known. A longer text is without errors only if its decided claims are at least the share
    `least_decided` of all.
    """

    threshold: float = 0.0
    slope: float = 1.0
    least: float = 0.75
    least_decided: float = 0.8
    slopes: Mapping[str, float] = field(default_factory=dict[str, float])

    def agrees(self, margin: float, language: str = "") -> float:
        """Return the probability in [0, 1] that a text of a language (its code) with this margin agrees."""
        return base.chance_of_agreement(margin, self.threshold, self.slopes.get(language, self.slope))

    @property
    def signature(self) -> str:
        """Return the way's part of a signature, behind that of the reader."""
        languages = "".join(f"|{code}:{slope:.4g}" for code, slope in sorted(self.slopes.items()))
        return f"@{self.threshold:.4g}x{self.slope:.4g},{self.least:g}{languages}|decided:{self.least_decided:g}"


def as_texts(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return passages as "title: text"."""
    return tuple(passage.as_line for passage in passages)


# A question in these scripts has no mark of its own.
_UNMARKED = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
Range = tuple[int, int]  # half-open, characters of the text
Search = Callable[[str, str], Sequence["Passage"]]  # from a question and the text that answers it; the best first


@dataclass(frozen=True, slots=True)
class TextClaim:
    """What may state something: a short answer as a whole, or of a longer text a sentence or what a question holds."""

    place: Range
    text: str
    kind: Literal["answer", "sentence", "question"] = "sentence"


@dataclass(frozen=True, slots=True)
class _Dossier:
    """A claim with its evidence and what is read, or with why nothing is."""

    claim: TextClaim
    task: Task = Task("", "", ())  # noqa: RUF009  # it is frozen
    passages: tuple[Passage, ...] = ()  # those of the task
    because: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its reading, and what follows from it."""

    claim: TextClaim
    reading: Support
    cited: tuple[Passage, ...] = ()  # that decide
    probability: float | None = None  # that it agrees; None: not known
    because: str = ""  # why it is not known
    expected: str = ""  # what passages say, as a model states it; "" of a reader that states nothing
    error: str = "contradicts the evidence"  # of a claim that differs

    @property
    def evidence(self) -> list[str]:
        """Return the ids of the passages that decide."""
        return [passage.id for passage in self.cited]

    @property
    def explanation(self) -> str:
        """Return what is said of it where it differs."""
        if self.expected:
            return base.expected_line(self.expected, self.evidence)
        return f"{self.error.capitalize()} ({', '.join(self.evidence)})."


def judge(sample: Sample, search: Search, way: Way | None = None, reader: TextReader | None = None) -> Flow[Verdict]:
    """Judge a text by what a reader finds about each of its claims, a longer text sentence by sentence.

    `search` finds the evidence. `reader` is by default a model that writes. Fails with "not-known" if nothing decides
    about the text, or about too few of its claims; `because` among the parts says why.
    """
    way, reader = way or Way(), reader or Chat()
    if is_refusal(sample.output):
        return base.by_comparison([], (), "", {"because": NO_CLAIM})
    if way.slopes and (code := language_of(sample)) not in way.slopes:
        return base.by_comparison([], (), "", {"because": f"this judge was not measured in {code_name(code)}"})
    claims = claims_of(sample)
    judged = yield from together([_judged(sample, claim, search, way, reader) for claim in claims])
    made = [claim for claim in judged if claim]
    return _of_one(made[0]) if len(claims) == 1 and made else _of_many(made, way)


def language_of(sample: Sample) -> str:
    """Return the code of the language of a text: the stated one, else that of its words."""
    return code_of(sample.language) or likely_language(f"{sample.instruction} {sample.output}")


def _judged(sample: Sample, claim: TextClaim, search: Search, way: Way, reader: TextReader) -> Flow[JudgedClaim | None]:
    """Judge one claim, stage by stage; None for a question that states nothing."""
    dossier = evidence_on(sample, claim, search)
    reading = yield from read(dossier, reader)
    return decided(sample, dossier, reading, way, reader)


def claims_of(sample: Sample) -> list[TextClaim]:
    """Return what a text may state: a short answer as a whole, else a claim for each sentence.

    A short answer is one to a question, or no sentence of its own. It is taken without greetings before it and closings
    behind it, if there is more. A heading belongs to the sentence behind it, since it may deny it ("# Myth").
    """
    text, language = sample.output, code_of(sample.language) or "root"
    places = sentence_places(text, language) or [(0, len(text))]
    stating = [stating_part(text, place) for place in places]
    count, instruction = len(words(text)), sample.instruction
    if (count < LONG or len(places) < 2) and (count <= SHORT or _is_asked(instruction, language)):
        start, end = _between(text, places, stating, language)
        return [TextClaim((start, end), text[start:end], "answer")]
    question_flags = (asks(text[slice(*place)], language) for place in places)
    parts = [(part, asks) for part, asks in zip(stating, question_flags, strict=True) if part]
    return _sentences(text, parts, likely_language(text) if language == "root" else language)


@lru_cache(maxsize=4096)
def _is_asked(instruction: str, language: str) -> bool:
    """Return whether a question is in an instruction."""
    places = sentence_places(instruction, language)
    return any(asks(instruction[slice(*at)], language) for at in places) or bool(_UNMARKED.search(instruction))


def _between(text: str, places: Sequence[Range], stating: Sequence[Range | None], language: str) -> Range:
    """Return where a text stands between greetings and closings; all of it if there is nothing else.

    A number stands in no sentence, and a sign in or beside a closing may deny the text: both belong to it.
    """
    is_plain = [side_of(text[slice(*place)], language, has_options=False).unread in ("", ASKS) for place in places]
    ranges = [part or (None if plain else place) for place, part, plain in zip(places, stating, is_plain, strict=True)]
    start, end = 0, len(text)
    for place, part in zip(places, ranges, strict=True):
        if part == place or not PUNCTUATION.fullmatch(text, start, place[0]):
            break
        start = part[0] if part else place[1]
    for place, part in zip(reversed(places), reversed(ranges), strict=True):
        if part or not PUNCTUATION.fullmatch(text, place[1], end):
            break
        end = place[0]
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return (start, end) if any(map(str.isalnum, text[start:end])) else (0, len(text))


def _sentences(text: str, stretches: Sequence[tuple[Range, bool]], language: str) -> list[TextClaim]:
    """Return a claim for each part that is no heading and no short question, with the headings before it.

    A sentence with a single word of content belongs to the one before it: it may take that back ("That is false.").
    """
    claims, heading = list[TextClaim](), None
    functions = function_words(language)
    for (start, end), is_question in stretches:
        first = start if heading is None else heading
        heading = first if is_heading(text, (start, end)) else None
        sentence_words = words(text[start:end])
        is_remark = not is_question and sum(word not in functions for word in sentence_words) < FEWEST_NEW
        if claims and is_remark and heading is None and first == start:
            claims[-1] = replace(claims[-1], place=(claims[-1].place[0], end), text=text[claims[-1].place[0] : end])
        elif heading is None and not (is_question and len(sentence_words) <= SHORT):
            claims.append(TextClaim((first, end), text[first:end], "question" if is_question else "sentence"))
    if heading is not None:
        place = (heading, stretches[-1][0][1])
        claims.append(TextClaim(place, text[slice(*place)]))
    return claims


def evidence_on(sample: Sample, claim: TextClaim, search: Search) -> _Dossier:
    """Find the evidence on a claim, and what is to be read."""
    question, language = sample.instruction, sample.language
    passages = tuple(search(question, claim.text))
    texts, is_sentence = as_texts(passages), claim.kind != "answer"
    if not texts:
        return _Dossier(claim, because=NO_PASSAGE)
    task = Task(question, claim.text, texts, is_sentence, language)
    why = relevance.unrelated(claim.text, texts, language, SHARE_OF_SENTENCE) if is_sentence else ""
    return _Dossier(claim, task, passages, UNRELATED if why else "", why)


def read(dossier: _Dossier, reader: TextReader) -> Flow[Support]:
    """Read a claim. What is unsupported or contradicted by passages about something else is not known."""
    if dossier.because:
        return Support(0.0, 0.0, 1.0, because=dossier.because, reason=dossier.reason)
    task, language = dossier.task, dossier.task.language
    reading = yield from reader.read(task)
    margin = reading.margin
    if reader.states or reading.failure or reading.because:
        return reading
    sides = (reading.supported, reading.contradicted, reading.not_stated)
    template = (
        "supported {:.2f}, contradicted {:.2f}, not stated {:.2f}" if reader.tells_contradiction else "supported {:.2f}"
    )
    reading = replace(reading, reason=reading.reason or template.format(*sides))
    if margin is None:
        return reading
    if not reading.passages:
        shares = relevance.held_shares(task.text, task.passages, language)
        reading = replace(reading, passages=(shares.index(max(shares)),))
    about = [task.passages[at] for at in reading.passages] if reader.tells_contradiction else task.passages
    share = SHARE_OF_SENTENCE if task.is_sentence else relevance.SHARE
    why = relevance.unrelated(task.topic, about, language, share if margin < 0 else 0.0)
    return replace(reading, because=UNRELATED, reason=f"{reading.reason}; {why}") if why else reading


def margin_of(reading: Support, reader: TextReader) -> float | None:
    """Return the log-odds of a reading that counts; None if it is none, or its reader says that nothing is stated."""
    unknown = reading.because or reading.failure or (reader.states and not reading.expected)
    return None if unknown else reading.margin


def decided(sample: Sample, dossier: _Dossier, reading: Support, way: Way, reader: TextReader) -> JudgedClaim | None:
    """Return what follows from a reading: whether the claim agrees, or why it is not known.

    None for a question whose words passages hold: it states nothing.
    """
    cited = tuple(dossier.passages[at] for at in reading.passages)
    expected = reading.expected if reader.states else ""
    error = "contradicts the evidence" if reader.tells_contradiction else "not supported by the evidence"
    judged = JudgedClaim(dossier.claim, reading, cited, None, reading.because, expected, error)
    if not (reading.because or reading.failure):
        margin = margin_of(reading, reader)
        agrees = (
            None
            if margin is None
            else base.if_decisive(way.agrees(margin, language_of(sample) if way.slopes else ""), way.least)
        )
        judged = replace(judged, probability=agrees, because=NOT_STATED if margin is None else NOT_SURE)
        judged = judged if judged.probability is None else replace(judged, because="")
    if dossier.claim.kind != "question" or reading.failure:
        return judged
    held = [sample.instruction, *as_texts(cited or dossier.passages)]
    if len(not_held(dossier.claim.text, held, sample.language)) < FEWEST_NEW:
        return None
    return replace(judged, probability=None, because=MAY_ASK) if outcome(judged) == "differs" else judged


def _of_one(judged: JudgedClaim) -> Verdict:
    reading = judged.reading
    if reading.failure:
        return replace(base.failed(reading.failure), thinking=reading.thinking)
    parts = {
        **({"because": judged.because} if judged.because else {}),
        **({"expected": judged.expected} if judged.expected else {}),
        "evidence": judged.evidence,
        "margin": reading.margin,
        "compared": reading.reason,
    }
    parts |= _shown([judged])
    return replace(_verdict([judged], parts), thinking=reading.thinking)


def _of_many(claims: Sequence[JudgedClaim], way: Way) -> Verdict:
    """Return the verdict of the claims of a text: their errors; none, only if enough of them are decided.

    The parts say how many agree, differ, are not known and failed, and `decided` how many of all, if not all are.
    """
    outcomes = Counter(map(outcome, claims))
    known = outcomes["agrees"] + outcomes["differs"]
    parts: dict[str, Any] = {"decided": f"{known} of {len(claims)} claims"} if known < len(claims) else {}
    parts |= {"claims": len(claims)} | {name: outcomes[name] for name in OUTCOMES}
    parts["statements"] = [_line_of(claim) for claim in claims]
    parts |= _shown(claim for claim in claims if claim.probability is not None)
    reasons = Counter(claim.because for claim in claims if outcome(claim) == "not known")
    if outcomes["differs"] or (known and known / len(claims) >= way.least_decided and MAY_ASK not in reasons):
        return _verdict(claims, parts)
    if outcomes["failed"] > known:
        return replace(base.failed(next(filter(None, (claim.reading.failure for claim in claims)))), parts=parts)
    because = max(reasons, key=reasons.__getitem__, default=NO_CLAIM)
    if MAY_ASK in reasons:
        because = MAY_ASK
    elif known:
        because = f"{FEW_DECIDED}: {known} of {len(claims)}, none contradicts"
    return replace(base.failed(NOT_KNOWN), parts={"because": because, **parts})


def _shown(claims: Iterable[JudgedClaim]) -> dict[str, list[str]]:
    """Return the passages that claims follow from, once each, for people who check them."""
    passages = {passage.id: f"{passage.id}: {passage.as_line}" for claim in claims for passage in claim.cited}
    return {"passages": list(passages.values())} if passages else {}


def outcome(claim: JudgedClaim) -> str:
    """Return what is known of a claim: one of OUTCOMES."""
    if claim.reading.failure:
        return "failed"
    if claim.probability is None:
        return "not known"
    return "agrees" if claim.probability >= 0.5 else "differs"


def _line_of(claim: JudgedClaim) -> str:
    is_decided = claim.probability is not None
    expected = f"expected: {claim.expected} " if claim.expected else ""
    sources = f"; {expected}(by {', '.join(claim.evidence)})" if is_decided else ""
    because = f" ({claim.because})" if claim.because else ""
    return f"{outcome(claim)}{because}: {claim.claim.text}{sources}"


def _verdict(claims: Sequence[JudgedClaim], parts: dict[str, Any]) -> Verdict:
    """Return the verdict of claims: an error for each that differs, none, or not known."""
    differing = [claim for claim in claims if outcome(claim) == "differs"]
    explanation = " ".join(claim.explanation for claim in differing)
    probabilities = [claim.probability for claim in differing or claims if claim.probability is not None]
    return base.by_comparison(probabilities, map(_error, differing), explanation, parts)


def _error(judged: JudgedClaim) -> CulturalError:
    """Return the error of a claim: from the first to the last of its unsupported words; all of it if there is none.

    Where the reader marks no words, unsupported are those that the passages do not hold.
    """
    begin, text = judged.claim.place[0], judged.claim.text
    ranges = [(mark.start, mark.end) for mark in judged.reading.marks if mark.unsupported >= 0.5]
    if not judged.reading.marks and judged.cited:
        ranges = [(word.start, word.end) for word in not_held(text, as_texts(judged.cited))]
    ranges = ranges or [(0, len(text))]
    start, stop = min(start for start, _ in ranges), max(stop for _, stop in ranges)
    return CulturalError("output", text[start:stop], "major", judged.error, begin + start, begin + stop)
