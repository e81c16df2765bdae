"""The exchanges that `lexicon` can make in an output without breaking its grammar."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

import regex

from excam.core.text import as_word
from excam.error_reports.records import Sample, Severity
from excam.excam40k.construction.lexicon_tables import CUSTOM, Entity, LexiconEdit, cue, edits_of, items, pattern_of
from excam.excam40k.construction.lexicon_words import (
    AFFIXES,
    CUED,
    FAITHS,
    HOMES,
    NOT_AFTER,
    PLAINLY_CULTURAL,
    REGIONS,
    STEMS,
    final_sound,
)
from excam.excam40k.construction.spans import SENTENCE_END

MAJOR = frozenset({"norm", "meaning", "belief"})  # kinds of fixed exchanges that turn something into its opposite
OF_A_STORY = frozenset({"gesture", "number", "person"})  # kinds of exchanges in a sentence that judges a story
NEGATED = regex.compile(r"(?i)\b(?:avoid\w*|not|never|without)\b")  # there the wrong detail is the one that is named
DETAILS = frozenset({"gesture", "number", "time"})  # kinds of exchanges that say how something is done
MAX_PLACES = 500  # matches looked at in one text, from its beginning
VERDICT = regex.compile("(Yes|No),")
ARTICLE = regex.compile(r"\ban? $", regex.IGNORECASE)
NEVER_MINOR = frozenset({"dish", "garment"})  # readers found a foreign dish or dress no near miss
DATING = regex.compile("[以之]?[后前]|期间")  # a Chinese feast before it only dates something


@dataclass(frozen=True, slots=True)
class Swap:
    """`surface` for the text at [start, end) of an output; `owner` is the culture it belongs to, or empty."""

    start: int
    end: int
    family: str
    surface: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class _TemplateText:
    """An output with the offset of its answer behind the lead-in of the template, and with its sentences."""

    right: Sample
    start: int
    ends: tuple[int, ...]

    def sentence(self, place: int) -> str:
        """Return the sentence around an offset."""
        number = bisect(self.ends, place - 1)
        before = self.ends[number - 1] + 1 if number else 0
        return self.right.output[before : self.ends[number] if number < len(self.ends) else None]

    def is_on_a_custom(self, place: int) -> bool:
        """Return whether the sentence around an offset is about a custom: by the task of the row, or by a cue."""
        return _asks_for_a_culture(self.right) or bool(cue(self.right.language, CUSTOM).search(self.sentence(place)))


def text_of(right: Sample) -> _TemplateText:
    """Return the output of a row, ready to be searched."""
    start = max(right.output.rfind(right.answer), 0) if right.answer else 0
    return _TemplateText(right, start, tuple(match.start() for match in SENTENCE_END.finditer(right.output)))


def is_cultural(right: Sample) -> bool:
    """Return whether the answer is about a custom: the task asks for one, or the answer holds a listed word or cue."""
    return bool(
        _asks_for_a_culture(right)
        or cue(right.language, CUSTOM).search(right.answer)
        or any(pattern.search(right.answer) for _, pattern in _patterns(right.language))
        or any(edit.old.search(right.answer) for edit in edits_of(right.language) if edit.kind in PLAINLY_CULTURAL)
    )


def possible(right: Sample, severity: Severity) -> set[Swap]:
    """Return every swap that keeps the output grammatical and makes an error of this severity.

    Where an output judges a story, only numbers and persons are changed: a negated norm or verdict contradicts the
    story, and needs no knowledge of a culture. Other errors about norms are `norms.exchanges`.
    """
    text = text_of(right)
    if right.task == "impersonation":
        swaps = (swap for swap in _edit_swaps(text, severity) if swap.family in OF_A_STORY)
        return {swap for swap in swaps if not NEGATED.search(text.sentence(swap.start))}
    return {*_item_swaps(text, severity), *_edit_swaps(text, severity)}


def _asks_for_a_culture(right: Sample) -> bool:
    return right.task in ("impersonation", "generation") and bool(right.culture)


@cache
def _patterns(language: str) -> tuple[tuple[Entity, regex.Pattern[str]], ...]:
    return tuple((item, pattern_of(item)) for item in items() if item.language == language)


def _item_swaps(text: _TemplateText, severity: Severity) -> Iterator[Swap]:
    """Return the swaps of named things; of overlapping ones, those of the longest."""
    matches = list(islice(_found(text), MAX_PLACES))
    slips = {old: _slips(text.right, old, severity) for _, old in matches}
    end = 0
    for match, old in sorted(matches, key=lambda pair: (pair[0].start("word"), -pair[0].end("word"))):
        if match.start("word") < end:
            continue
        end = match.end("word")
        alike = {item.surface for _, item in matches if item.family == old.family} - {old.surface}
        if any(surface in text.sentence(match.start()) for surface in alike) or not _may_go(text, match, old):
            continue  # in a list of such things another one is no error
        for new in slips[old]:
            if _fits(match, new):
                surface = match["prefix"] + new.surface + match["ending"]
                yield Swap(match.start(), match.end(), old.family, surface, new.culture)


def _found(text: _TemplateText) -> Iterator[tuple[regex.Match[str], Entity]]:
    for item, pattern in _patterns(text.right.language):
        for match in pattern.finditer(text.right.output, text.start):
            yield match, item


def _may_go(text: _TemplateText, match: regex.Match[str], old: Entity) -> bool:
    """Return whether `old` is a thing of the culture that the text is about, and there in this meaning."""
    right = text.right
    if right.culture == right.language and old.culture not in HOMES[right.language]:
        return False
    if old.family in CUED and not text.is_on_a_custom(match.start()):
        return False
    after = NOT_AFTER.get(old.surface)
    return not (after and right.output[: match.start()].endswith(after))


def _slips(right: Sample, old: Entity, severity: Severity) -> list[Entity]:
    """Return what may stand for `old`: things of other cultures than the text is about, near (minor) or far (major)."""
    if severity == "minor" and old.family in NEVER_MINOR:
        return []
    named = {right.culture, FAITHS.get(right.culture, right.culture)}
    homes = HOMES[right.language] if right.culture == right.language else named
    whole = f"{right.instruction} {right.output}"
    return [
        new
        for new, _ in _patterns(old.language)
        if new.kind == old.kind
        and new.culture not in homes | {old.culture}
        and _are_near(old.culture, new.culture) == (severity == "minor")
        and new.surface not in whole
        and not regex.search(rf"\b{STEMS.get(new.culture, new.culture)}", whole)
    ]


def _are_near(culture: str, other: str) -> bool:
    return REGIONS.get(culture, culture) == REGIONS.get(other, other)


def _fits(match: regex.Match[str], new: Entity) -> bool:
    """Return whether article and particle agree with the new word."""
    text, word = match.string, match["word"]
    if new.language == "English" and ARTICLE.search(text[max(match.start() - 3, 0) : match.start()]):
        return (word[0] in "aeiouAEIOU") == (new.surface[0] in "aeiouAEIOU")
    if new.language == "Korean" and match["ending"]:
        return final_sound(word[-1]) == final_sound(new.surface[-1])
    return new.language != "Chinese" or not DATING.match(text, match.end())


def _edit_swaps(text: _TemplateText, severity: Severity) -> Iterator[Swap]:
    for edit in edits_of(text.right.language):
        if (edit.kind in MAJOR) != (severity == "major"):
            continue
        for match in islice(edit.old.finditer(text.right.output, text.start), MAX_PLACES):
            surface = match.expand(edit.new)
            if match[0][:1].isupper():
                surface = surface[:1].upper() + surface[1:]
            if _may_be_edited(text, edit, match.start(), surface):
                yield Swap(*match.span(), edit.kind, surface)


def _may_be_edited(text: _TemplateText, edit: LexiconEdit, place: int, surface: str) -> bool:
    sentence = text.sentence(place)
    stem = edit.new.removeprefix(r"\1")
    near = text.right.output if edit.kind == "colour" else sentence  # elsewhere the colour may stand for something else
    there = stem in near if edit.language in AFFIXES else _whole_word(surface).search(near)
    if there or _is_what_was_done(text, edit, surface) or (edit.unless and edit.unless.search(sentence)):
        return False
    return edit.kind in PLAINLY_CULTURAL or text.is_on_a_custom(place)


def _is_what_was_done(text: _TemplateText, edit: LexiconEdit, surface: str) -> bool:
    """Return whether a story already has the new detail and is judged "No": as the norm it would contradict that."""
    verdict = VERDICT.match(text.right.output, text.start) if text.right.task == "impersonation" else None
    if not verdict or verdict[1] == "Yes" or edit.kind not in DETAILS:
        return False
    return bool(_whole_word(surface.removeprefix("the ")).search(text.right.instruction))


@cache
def _whole_word(surface: str) -> regex.Pattern[str]:
    return regex.compile(f"(?i){as_word(regex.escape(surface))}")
