"""Training rows for a judge that reads evidence: state what passages say, or say whether they make a text right.

Each row has passages before its question, in stated shares: the fact among near misses (and the wrong answer as a fact
of another culture), near misses alone, a right and a false passage, nothing of use. Prompts are those of the judge
`grounded`.
Passages are data: some give orders, and no target follows one. A hash of the seed and a row's id decides everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from excam.config import Evidence, Wording
from excam.core.exceptions import InputInvalid
from excam.core.hash_order import digest
from excam.error_reports.records import BaseSample, Sample
from excam.error_reports.stated import NOT_STATED, entail_messages, state_messages, target
from excam.error_reports.yes_no import ANSWERS
from excam.excam40k import evidence
from excam.excam40k.evidence import EvidencePassage
from excam.excam40k.near_misses import NearMisses
from excam.excam40k.statements import paraphrase
from excam.inference import Message

VERSION = 1
Kind = Literal["fact", "near", "contradicting", "unrelated", "planted"]
Asked = Literal["state", "entail"]
PASSAGES = {"fact": evidence.with_fact, "near": evidence.without_fact, "unrelated": evidence.unrelated}  # by kind


@dataclass(frozen=True, slots=True)
class GroundedRow:
    """A question, or a question with a text, and the passages before it.

    `expected` is what the passages say, "" if they do not say or disagree; `cites` are the passages that decide, from
    1. `label` is that of the text.
    """

    id: str
    pair: str
    base: str
    asked: Asked
    kind: Kind
    wording: Wording
    question: str
    text: str
    label: Literal["right", "wrong"]
    passages: tuple[EvidencePassage, ...]
    expected: str
    cites: tuple[int, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the prompt, the same for training and for judging."""
        shown = [passage.shown for passage in self.passages]
        if self.asked == "state":
            return state_messages(self.question, shown)
        return entail_messages(self.question, self.text, shown)

    @property
    def target(self) -> str:
        """Return the answer to learn."""
        if self.asked == "state":
            return target(self.expected, self.cites)
        return ANSWERS[self.label == "wrong"] if self.expected else NOT_STATED


def rows(
    samples: Sequence[Sample], bases: Mapping[str, BaseSample], shares: Evidence, seed: int
) -> Iterator[GroundedRow]:
    """Yield a row for each sample of one benchmark, in order.

    Half of the pairs are asked to state, half whether the text is right. Passages are made of the facts of `samples`
    alone, so that those of other splits are in none. Raise InputInvalid if a sample's base is not among `bases`.
    """
    if absent := [sample.id for sample in samples if sample.base not in bases]:
        raise InputInvalid(
            f"{absent[0]}: no base sample for {len(absent)} rows; expected that of each; build the samples again"
        )
    near = NearMisses(bases[id] for id in {sample.base for sample in samples})
    wrong = {sample.pair: sample for sample in samples if sample.report.errors}
    for sample in samples:
        yield _row(
            sample, bases[sample.base], _false_answer(bases[sample.base], wrong.get(sample.pair)), near, shares, seed
        )


def training_examples(made: Iterator[GroundedRow]) -> Iterator[tuple[str, str, tuple[Message, ...], str]]:
    """Yield id, pair, prompt and target of each row, as `excam.training.tokens.encode` takes them."""
    for row in made:
        yield row.id, row.pair, row.messages, row.target


def _row(sample: Sample, base: BaseSample, false: str, near: NearMisses, shares: Evidence, seed: int) -> GroundedRow:
    asked: Asked = "state" if _share(seed, "asked", sample.pair) < shares.stated else "entail"
    unit = sample.id if asked == "state" else sample.pair  # the texts of a pair have the same passages
    kind = _kind(_share(seed, "kind", unit), shares, false)
    wording = shares.wordings[int(digest(seed, "wording", unit)[:8], 16) % len(shares.wordings)]
    if kind == "contradicting":
        passages = evidence.contradicting(base, false, wording, near, seed)
    elif kind == "planted":
        passages = evidence.with_planted(base, false, wording, near, seed, count=shares.passages)
    else:
        passages = PASSAGES[kind](base, wording, near, seed, count=shares.passages)
    if passages and _share(seed, "orders", unit) < shares.orders:
        passages = evidence.with_order(passages, seed, unit)
    paraphrased = _share(seed, "question", unit) < shares.paraphrased
    stated = tuple(number for number, passage in enumerate(passages, 1) if passage.states)
    return GroundedRow(
        id=sample.id,
        pair=sample.pair,
        base=base.id,
        asked=asked,
        kind=kind,
        wording=wording,
        question=paraphrase(base, seed) if paraphrased else sample.instruction,
        text=sample.output,
        label="wrong" if sample.report.errors else "right",
        passages=tuple(passages),
        expected=" ".join(base.answer.split()).removesuffix(".") if kind in ("fact", "planted") else "",
        cites=stated,
    )


def _kind(share: float, shares: Evidence, false: str) -> Kind:
    """Return the kind at a place in [0, 1) of the shares; without a false answer nothing contradicts."""
    kinds: tuple[tuple[Kind, float], ...] = (
        ("near", shares.near),
        ("contradicting", shares.contradicting if false else 0.0),
        ("unrelated", shares.unrelated),
        ("planted", shares.planted if false else 0.0),
    )
    for kind, part in kinds:
        if share < part:
            return kind
        share -= part
    return "fact"


def _false_answer(base: BaseSample, wrong: Sample | None) -> str:
    """Return a wrong answer: that of the wrong text where it is one of the source's, else the first; "" for none."""
    span = wrong.report.errors[0].span if wrong else ""
    return span if span in base.wrong else base.wrong[0] if base.wrong else ""


def _share(seed: int, *parts: str) -> float:
    return int(digest(seed, "grounded", *parts)[:8], 16) / 2**32
