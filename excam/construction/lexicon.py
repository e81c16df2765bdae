"""`lexicon`: a deterministic stand-in for the generator of soft errors, for people without a GPU. Our own, not ExCAM's.

`answer` gives a text in the answer form of Table 7, so that `excam.construction.generator` reads it as any model's. It
swaps words listed in `lexicon.tsv` for others of the same kind. Rows are kind, culture ("-": of no one culture),
language, surface; a kind is "family" or "family/set", and only words of the same kind stand in for each other.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice

import regex

from excam.construction.chance import digest
from excam.construction.cultures import in_a_sentence
from excam.construction.lexicon_words import EXPLANATIONS, GUARDS, REGIONS, SCRIPTS, TYPES, UNSPACED, closed, harmony
from excam.records import Sample, Severity

NAME = "lexicon"

ITEMS = frozenset(
    {"dish", "drink", "festival", "garment", "greeting", "currency"}
    | {"dance", "instrument", "game", "religion", "city", "landmark"}
)
SMALL = frozenset({"number", "weekday", "month", "season", "colour", "meal", "daytime", "family", "drink"})
ROLES = frozenset({"role", "order", "gift", "object", "place", "degree"})
NORMS = frozenset({"norm", "frequency"})
# Families in the order they are tried: what is plainly of a culture first, a bare "is"/"is not" last.
TIERS: Mapping[Severity, tuple[frozenset[str], ...]] = {
    "minor": (ITEMS | SMALL, ROLES),
    "major": (ITEMS | NORMS, frozenset({"negation"})),
}
MAX_PLACES = 500  # known words looked at in one text, from its beginning
ARTICLE = regex.compile(r"\ban? $", regex.IGNORECASE)
SENTENCE_END = regex.compile(r"[.!?。！？؟।\n]")


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that stands for a culture, of a kind (dish, festival, ...) in which another's can take its place."""

    kind: str
    culture: str
    language: str
    surface: str

    @property
    def family(self) -> str:
        return self.kind.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Swap:
    """`new` for `old` at [start, end) of a text; `surface` is `new` as written there."""

    start: int
    end: int
    old: Entry
    new: Entry
    surface: str


def answer(right: Sample, severity: Severity, seed: int) -> str:
    """A generator's answer about `right`: one small slip (minor), or one to three plain ones (major).

    The output is searched first, the task content of the instruction only if nothing in the output can be swapped.
    Where neither holds a known word the texts come back unchanged, and are dropped as "no-change" by `soft`.
    """
    output = _swaps(right, right.output, _content_of_output(right), severity, seed)
    instruction = () if output else _swaps(right, right.instruction, _content_of_instruction(right), severity, seed)
    swaps = output or instruction
    fields = {
        "Error Type": TYPES[swaps[0].new.family] if swaps else "none",
        "Cultural Content": "Yes",
        "Rule Adherence": "Single words are exchanged for others of the same kind; all else is kept.",
        "Explanation": _explanation(right, swaps, seed),
        "Severity": severity,
        "Modified Instruction": _applied(right.instruction, instruction),
        "Modified Generated Text": _applied(right.output, output),
    }
    return "OUTPUT: " + json.dumps(fields, ensure_ascii=False)


@cache
def entries() -> tuple[Entry, ...]:
    """The rows of `lexicon.tsv`."""
    text = resources.files("excam.construction").joinpath("lexicon.tsv").read_text(encoding="utf-8")
    return tuple(Entry(*line.split("\t")) for line in text.splitlines()[1:])


@cache
def _of_language(language: str) -> tuple[dict[str, list[Entry]], dict[str, list[Entry]]]:
    """The entries of a language by surface and by kind."""
    by_surface: dict[str, list[Entry]] = defaultdict(list)
    by_kind: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries():
        if entry.language == language:
            by_surface[entry.surface].append(entry)
            by_kind[entry.kind].append(entry)
    return by_surface, by_kind


def _found(text: str, content: tuple[int, int], language: str) -> Iterator[regex.Match[str]]:
    """Known words of a text without overlaps, from the left, the longest first."""
    inside = text[slice(*content)]
    matches = [
        match
        for surface in _of_language(language)[0]
        if surface[1:] in inside and (shape := _shape(surface, language))
        for match in shape.finditer(text, *content)
    ]
    matches.sort(key=lambda match: (match.start("word"), -match.end("word")))
    end = 0
    for match in matches:
        if match.start("word") >= end:
            end = match.end("word")
            yield match


@cache
def _shape(surface: str, language: str) -> regex.Pattern[str] | None:
    """Where `surface` counts as that word: between word boundaries, with the prefixes and endings of the language."""
    family = _of_language(language)[0][surface][0].family
    before, after = GUARDS.get((language, surface), ("", ""))
    inside = rf"(?P<word>{regex.escape(surface)})"
    first = surface[0]
    if first.islower() and first.upper() != first:
        inside = rf"(?P<word>(?:{regex.escape(first)}|(?<=(?:^|[.!?:;'\"“‘(\n])\s*){regex.escape(first.upper())})"
        inside += regex.escape(surface[1:]) + ")"
    if language in UNSPACED:
        digits = r"(?<![\d一二三四五六七八九十百])" if family in {"month", "number"} else ""
        return regex.compile(digits + before + inside + after) if len(surface) > 1 else None
    prefix, short_prefix, ending = SCRIPTS.get(language, ("", "", ""))
    prefix = prefix if len(surface) > 3 else short_prefix
    ending = ending if len(surface) > 1 else ""
    left = "" if language == "Korean" and family == "negation" else r"(?<![\p{L}\p{M}\p{N}_])"
    boundary = r"(?![\p{L}\p{M}\p{N}_])"
    return regex.compile(rf"{before}{left}{prefix}{inside}(?P<ending>{ending}){boundary}{after}")


def _content_of_output(right: Sample) -> tuple[int, int]:
    """Without the lead-in of the template ("The correct answer: …")."""
    start = right.output.rfind(right.answer) if right.answer else -1
    return max(start, 0), len(right.output)


def _content_of_instruction(right: Sample) -> tuple[int, int]:
    """Between the quotes of the template; the last quoted part where a context comes first."""
    text = right.instruction
    start = text.rfind(": '") + 2 if right.task == "impersonation" else text.find("'")
    end = text.rfind("'")
    return (start, end) if 0 < start < end else (0, len(text))


def _swaps(right: Sample, text: str, content: tuple[int, int], severity: Severity, seed: int) -> tuple[Swap, ...]:
    """The swaps chosen for one text, in its order; none if it holds no known word."""
    possible = list(_possible(right, text, content, severity))
    for tier in TIERS[severity]:
        found = [swap for swap in possible if swap.old.family in tier]
        if found:
            key = [NAME, right.pair, severity]
            found.sort(key=lambda s: (digest(seed, *key, str(s.start)), digest(seed, *key, s.new.surface)))
            wanted = 1 if severity == "minor" else 1 + int(digest(seed, *key), 16) % 3
            return tuple(sorted(_compatible(found, text, content[0], wanted), key=lambda swap: swap.start))
    return ()


def _possible(right: Sample, text: str, content: tuple[int, int], severity: Severity) -> Iterator[Swap]:
    by_surface, by_kind = _of_language(right.language)
    for match in islice(_found(text, content, right.language), MAX_PLACES):
        word, ending = match.group("word"), match.groupdict().get("ending") or ""
        surface = word if word in by_surface else word[:1].lower() + word[1:]
        for old in by_surface[surface]:
            if old.kind == "norm/yes" and match.start("word") != content[0]:
                continue
            for new in by_kind[old.kind]:
                if _is_slip(old, new, right.culture, severity) and _fits(text, match.start("word"), word, new, ending):
                    written = new.surface[:1].upper() + new.surface[1:] if word != surface else new.surface
                    yield Swap(match.start("word"), match.end("word"), old, new, written)


def _is_slip(old: Entry, new: Entry, culture: str, severity: Severity) -> bool:
    """Whether `new` for `old` is an error of this severity: another culture's item, near or far, or a flipped word."""
    if new.surface == old.surface:
        return False
    if old.family not in ITEMS or "-" in (old.culture, new.culture):
        return old.culture == new.culture and not (severity == "major" and old.family in ITEMS | SMALL)
    if new.culture in (old.culture, culture):
        return False
    near = REGIONS.get(old.culture, old.culture) == REGIONS.get(new.culture, new.culture)
    return near == (severity == "minor")


def _fits(text: str, start: int, word: str, new: Entry, ending: str) -> bool:
    """Whether the sentence stays one: the article before it, the particle or ending after it; and no word twice."""
    around = text[max(start - 200, 0) : start + 200]
    if new.surface in around and _standing(new.surface).search(around):
        return new.family in NORMS | {"negation"}
    if new.language == "English" and ARTICLE.search(text[max(start - 3, 0) : start]):
        return (word[0] in "aeiouAEIOU") == (new.surface[0] in "aeiouAEIOU")
    if new.language == "Korean" and ending:
        return closed(word[-1]) == closed(new.surface[-1])
    if new.language in ("Hungarian", "Turkish") and ending:
        return harmony(word) == harmony(new.surface)
    return True


@cache
def _standing(surface: str) -> regex.Pattern[str]:
    """`surface` as a word of its own; compiled once, for the library forgets patterns beyond 500."""
    return regex.compile(rf"(?<![\p{{L}}\p{{M}}]){regex.escape(surface)}(?![\p{{L}}\p{{M}}])")


def _compatible(found: Sequence[Swap], text: str, head: int, wanted: int) -> Iterator[Swap]:
    """The first `wanted` swaps that do not overlap nor undo each other: one flip a sentence, a leading yes/no apart."""
    ends = [match.start() for match in SENTENCE_END.finditer(text)]
    taken: list[Swap] = []
    flipped: set[int] = set()
    for swap in found:
        if len(taken) == wanted:
            return
        flip = swap.old.family not in ITEMS and not (swap.old.kind == "norm/yes" and swap.start == head)
        sentence = bisect(ends, swap.start)
        if any(swap.start < other.end and other.start < swap.end for other in taken) or (flip and sentence in flipped):
            continue
        if swap.new.surface in {other.new.surface for other in taken}:
            continue
        flipped |= {sentence} if flip else set()
        taken.append(swap)
        yield swap


def _applied(text: str, swaps: Sequence[Swap]) -> str:
    for swap in reversed(swaps):
        text = text[: swap.start] + swap.surface + text[swap.end :]
    return text


def _explanation(right: Sample, swaps: Sequence[Swap], seed: int) -> str:
    """One sentence for all swaps, from the phrasings of each family."""
    parts = []
    named = in_a_sentence(right.culture, right.language, right.task)
    for swap in swaps:
        known = swap.new.culture != "-" and bool(right.culture)
        family = "verdict" if swap.new.kind == "norm/yes" else swap.new.family
        phrasings = EXPLANATIONS[family if known or family != "drink" else "generic drink"]
        phrasing = phrasings[int(digest(seed, NAME, right.pair, swap.surface), 16) % len(phrasings)]
        values = {
            "new": swap.surface,
            "owner": in_a_sentence(swap.new.culture, "", "freeform"),
            "culture": named or "this culture",
        }
        parts.append(phrasing.format_map(values))
    text = "; ".join(parts) + "." if parts else "nothing is wrong."
    return text[:1].upper() + text[1:]
