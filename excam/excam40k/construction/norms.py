"""Norms that one culture holds and another does not, and which answers about them may be exchanged.

`norms.tsv` has customs on which cultures differ ("when a gift is opened"), and for each the norms that exclude one
another, as patterns of the sentence that states one and of a story that turns on it. If the answer "Yes" of one story
states one of them and the answer "No" of another the other, each answer is wrong as the other's: what stands in the
wrong row of one base sample stands in the right row of the other, so that no word tells which of the two a row is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import regex

from excam.core.hash_order import digest
from excam.error_reports.records import Sample, Severity

VERDICT = regex.compile(r"(Yes|No), explanation: (.+)", regex.DOTALL)
# Another clause: a story may be judged "No" because of that one, and then the other norm does not make it "Yes"
CLAUSE = regex.compile(r", (?:and|but)|;| and (?=\w+ing\b|to\b|use|avoid|accept|wait)")
NAME = regex.compile(r"\b\p{Lu}\p{L}+")
INSIDE = regex.compile(r"(?<=[\p{Ll},] )\p{Lu}\p{L}+")  # a capital letter that begins no sentence


@dataclass(frozen=True, slots=True)
class Norm:
    """A norm about a custom; `severity` of telling it of a culture with another one."""

    custom: str
    severity: Severity
    norm: str
    statement: regex.Pattern[str]
    story: regex.Pattern[str]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The sample whose answer is told of another culture, and what it is about."""

    partner: Sample
    custom: str


@cache
def norms() -> tuple[Norm, ...]:
    """Return the norms of `norms.tsv`."""
    text = resources.files("excam.excam40k.construction").joinpath("norms.tsv").read_text(encoding="utf-8")
    cells = (line.split("\t") for line in text.splitlines()[1:])
    return tuple(
        Norm(custom, _severity(severity), norm, *(regex.compile(one, regex.IGNORECASE) for one in patterns))
        for custom, severity, norm, *patterns in cells
    )


def _severity(written: str) -> Severity:
    return "minor" if written == "minor" else "major"


def exchanges(samples: Sequence[Sample], severity: Severity, seed: int) -> Mapping[str, Exchange]:
    """Return pair -> the exchange of its answer, for all samples of one severity that have a counterpart.

    Two samples are counterparts if they are in one split, one is judged "Yes" and one "No", each states a norm that
    excludes that of the other, and no sample about its culture states another norm about this custom.
    """
    stated = {sample.pair: _stated(sample.answer) for sample in samples}
    held: defaultdict[tuple[str, str], set[str]] = defaultdict(set)  # culture, custom -> norms
    for sample in samples:
        for norm in stated[sample.pair]:
            held[sample.culture, norm.custom].add(norm.norm)
    waiting: defaultdict[tuple[str, str, bool, bool], list[tuple[Sample, str]]] = defaultdict(list)
    found: dict[str, Exchange] = {}
    own = (sample for sample in samples if sample.pair.endswith(f"/{severity}"))
    for sample in sorted(own, key=lambda sample: digest(seed, "norms", sample.pair)):
        told = [
            norm
            for norm in stated[sample.pair]
            if norm.severity == severity
            and held[sample.culture, norm.custom] == {norm.norm}
            and norm.story.search(sample.instruction)
        ]
        if not told or not _may_be_told(sample):
            continue
        yes, stop = sample.answer.startswith("Yes"), sample.answer.endswith(".")
        for norm in told:
            queue = waiting[sample.split, norm.custom, not yes, stop]
            if match := next((one for one in queue if one[1] != norm.norm), None):
                queue.remove(match)
                found[sample.pair] = Exchange(match[0], norm.custom)
                found[match[0].pair] = Exchange(sample, norm.custom)
                break
        else:
            waiting[sample.split, told[0].custom, yes, stop].append((sample, told[0].norm))
    return found


@cache
def _stated(answer: str) -> tuple[Norm, ...]:
    verdict = VERDICT.fullmatch(answer)
    return tuple(norm for norm in norms() if verdict and norm.statement.search(verdict[2]))


def _may_be_told(sample: Sample) -> bool:
    """Return whether an answer fits other stories and cultures: one statement, without names of the story."""
    verdict = VERDICT.fullmatch(sample.answer)
    if not verdict or not sample.output.endswith(sample.answer):
        return False
    if verdict[1] == "No" and CLAUSE.search(verdict[2]):
        return False
    names = {found[0] for found in NAME.finditer(verdict[2])}
    story = {found[0] for found in INSIDE.finditer(sample.instruction)}
    return sample.culture.casefold() not in verdict[2].casefold() and not names & story
