"""Norms that one culture holds and another does not, and which answers about them may be exchanged.

`norms.tsv` has customs on which cultures differ ("when a gift is opened"), and for each the norms that exclude one
another, as patterns of the sentence that states one and of a story in which it is followed. Of two stories in which the
same norm is followed, one is judged "Yes" by that norm and the other "No" by another: each answer is wrong as the
other's, and fits the story. What stands in the wrong row of one base sample stands in the right row of the other, so
that no word tells which of the two a row is.

Elsewhere the rule that an answer states decides. Both rows of the pair are the verdict alone, as the rule would refute
the other verdict beside it; the report of the wrong one tells the rule. There are as many stories judged "Yes" as "No".
An answer that tells the story again is left, and so is a courtesy that somebody omits: that is no offence everywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import cast

import regex

from excam.core.hash_order import digest
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction.lexicon_exchanges import Swap
from excam.excam40k.construction.lexicon_tables import table

VERDICT = regex.compile(r"(Yes|No), explanation: (.+)", regex.DOTALL)
ENDS_INSIDE = regex.compile(r"[.!?;\n]\s*\S")  # a second sentence would be a second error
# Another clause says something else, which may be right of the other culture and fits no other story
CLAUSE = regex.compile(
    r";|, (?:but|or|particularly)\b|,? and (?=(?:to )?(?:use|using|avoid\w*|accept\w*|wait\w*|offer\w*|bring\w*|"
    r"help\w*|remov\w+|greet\w*|keep\w*|plac\w+|handle\w*|comment\w*|compliment\w*|choos\w+|stay\w*|it\b|they\b))"
)
NAME = regex.compile(r"\b\p{Lu}\p{L}+")
COURTESY = regex.compile(  # what one may do, and what is kind if no other word says that one has to
    r"\A(?:.*(?<!not )\b(?:okay|acceptable|fine)\b|"
    r"(?!.*\b(?:must|always|never|should|expected|avoid\w*|not?|only|impolite|rude|dis\w+|wait\w*|until|important)\b)"
    r".*\b(?:thoughtful|considerate|courteous|appropriate|custom\w*|common|kind|nice|welcome|may|can|appreciat\w+|"
    r"gratitude|tokens?)\b)",
    regex.IGNORECASE | regex.DOTALL,
)
FLAGS = regex.IGNORECASE | regex.DOTALL
INSIDE = regex.compile(r"(?<=[\p{Ll},] )\p{Lu}\p{L}+")  # a capital letter that begins no sentence


@dataclass(frozen=True, slots=True)
class Norm:
    """A norm about a custom; `severity` of telling it of a culture with another one; `story`: one that follows it."""

    custom: str
    severity: Severity
    norm: str
    statement: regex.Pattern[str]
    story: regex.Pattern[str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The sample whose answer replaces the right one, and the custom that both answers are about.

    Or swaps of numbers. Without either, the verdict stands alone and is replaced.
    """

    partner: Sample | None = None
    custom: str = ""
    swaps: tuple[Swap, ...] = ()

    @property
    def turns_verdict(self) -> bool:
        """Whether only the verdict is replaced."""
        return not (self.partner or self.swaps)


@cache
def norms() -> tuple[Norm, ...]:
    """Return the norms of `norms.tsv`."""
    return tuple(
        Norm(custom, cast(Severity, severity), norm, *(regex.compile(pattern, FLAGS) for pattern in patterns))
        for custom, severity, norm, *patterns in table("norms.tsv")
    )


def exchanges(samples: Sequence[Sample], severity: Severity, seed: int) -> Mapping[str, Exchange]:
    """Return pair -> the exchange of its answer, for all samples of one severity that have a counterpart.

    Two samples are counterparts if they are in one split, their stories follow the same norm and no other about the
    custom, one is judged "Yes" by it and one "No" by another, and no sample about either culture states a third.
    """
    held: defaultdict[tuple[str, str], set[str]] = defaultdict(set)  # culture, custom -> norms
    for sample in samples:
        for norm in _stated(sample.answer):
            held[sample.culture, norm.custom].add(norm.norm)
    waiting: defaultdict[tuple[str, str, str, bool, bool], list[Sample]] = defaultdict(list)
    by_pair: dict[str, Exchange] = {}
    candidates = (sample for sample in samples if sample.pair.endswith(f"/{severity}") and _may_be_told(sample))
    for sample in sorted(candidates, key=lambda sample: digest(seed, "norms", sample.pair)):
        yes, stop, story = sample.answer.startswith("Yes"), sample.answer.endswith("."), _story(sample.instruction)
        customs: dict[str, str] = {}  # about which the sample may be told -> the norm that its story follows
        for norm in _stated(sample.answer):
            if norm.severity != severity or held[sample.culture, norm.custom] != {norm.norm}:
                continue
            followed = _followed(norm.custom, story)
            if len(followed) == 1 and (followed[0] == norm.norm) == yes:
                customs[norm.custom] = followed[0]
        for custom, followed in customs.items():
            if queue := waiting[sample.split, custom, followed, not yes, stop]:
                partner = queue.pop(0)
                by_pair[sample.pair], by_pair[partner.pair] = Exchange(partner, custom), Exchange(sample, custom)
                break
        else:
            for custom, followed in islice(customs.items(), 1):
                waiting[sample.split, custom, followed, yes, stop].append(sample)
    if severity == "major":
        by_pair |= dict.fromkeys(_turned_round(samples, by_pair, seed), Exchange())
    return by_pair


def _turned_round(samples: Sequence[Sample], taken: Container[str], seed: int) -> Iterator[str]:
    """Yield pairs with a rule as the reason of a verdict, in each split as many of either verdict."""
    waiting: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: digest(seed, "verdict", sample.pair)):
        if not sample.pair.endswith("/major") or sample.pair in taken or not states_a_rule(sample):
            continue
        if (yes := sample.answer.startswith("Yes")) or not COURTESY.search(sample.answer.partition(",")[2]):
            waiting[sample.split, yes].append(sample.pair)
    for split in {split for split, _ in waiting}:
        for both in zip(waiting[split, True], waiting[split, False], strict=False):
            yield from both


@cache
def _stated(answer: str) -> tuple[Norm, ...]:
    verdict = VERDICT.fullmatch(answer)
    return tuple(norm for norm in norms() if verdict and norm.statement.search(verdict[2]))


def _followed(custom: str, story: str) -> list[str]:
    return [norm.norm for norm in norms() if norm.custom == custom and norm.story.search(story)]


def _story(instruction: str) -> str:
    """Return what is asked: it stands last, in quotes behind a colon, after the role and what the role knows."""
    return instruction.rpartition(": '")[2]


def _may_be_told(sample: Sample) -> bool:
    """Return whether an answer fits other stories and cultures: one statement, without names of the story."""
    verdict = VERDICT.fullmatch(sample.answer)
    if not verdict or ENDS_INSIDE.search(verdict[2]) or CLAUSE.search(verdict[2]):
        return False
    return sample.culture.casefold() not in verdict[2].casefold() and states_a_rule(sample)


def states_a_rule(sample: Sample) -> bool:
    """Return whether a verdict has a reason without names of the story."""
    verdict = VERDICT.fullmatch(sample.answer)
    names = {match[0] for match in NAME.finditer(verdict[2])} if verdict else set()
    story = {match[0] for match in INSIDE.finditer(sample.instruction)}
    return bool(verdict) and sample.output.endswith(sample.answer) and not names & story


def verdict_alone(sample: Sample) -> Sample:
    """Return a row whose answer is its verdict, without the reason."""
    verdict = sample.answer.partition(",")[0]
    return replace(sample, answer=verdict, output=sample.output.removesuffix(sample.answer) + verdict)
