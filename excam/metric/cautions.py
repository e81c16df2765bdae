"""Reasons for care that come with a score, from a closed list: a short code each, and a line for people.

None of them changes a score. They are told by what is known without another model: the language, the names of the
judged system and of the judge, whether the report was cut, and whether the text names any people or place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from excam.construction.wrapping import STAND_IN_INSTRUCTION
from excam.metric import languages
from excam.metric.families import families
from excam.metric.pairs import Pair

LINES: Mapping[str, str] = {
    "language-untested": "in a language the metric did not learn from; do not rely on the score",
    "language-unknown": f"no language told, and none detected with certainty (that takes {languages.ENOUGH} letters "
    "and the package py3langid); tell it in a column language",
    "truncated": "the report was cut at its longest; allow more with --max-tokens",
    "same-family": "the judge is of the model family that wrote the text, and may be kind to its own",
    "not-cultural": "no people, place, language, religion or custom we know is named: a hint, from a list of English "
    "words, that this may not be a text the metric is made for",
}
_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
LONGEST = 4  # words of a name in the list


@dataclass(frozen=True, slots=True)
class Cautions:
    """What is known of a judge. `tested` are English names of languages."""

    tested: frozenset[str]
    families: frozenset[str]

    @classmethod
    def of_judge(cls, names: Iterable[str | None], trained_on: Iterable[str] | None = None) -> Cautions:
        """From names of a judge and its base, and the languages it learnt from; None: those of Appendix E."""
        tested = languages.tested() if trained_on is None else frozenset(map(languages.named, trained_on))
        return cls(tested, frozenset[str]().union(*(families(name) for name in names if name)))

    def of(self, pair: Pair, failure: str | None) -> tuple[str, ...]:
        """The codes of one row, in the order of `LINES`. No row that is outside `tested` goes without one."""
        found = set(self._of_language(pair))
        if failure == "truncated":
            found.add("truncated")
        if self.families & families(pair.system):
            found.add("same-family")
        return tuple(code for code in LINES if code in found)

    def _of_language(self, pair: Pair) -> Iterator[str]:
        if pair.language:
            seen: set[str | None] = {languages.named(pair.language)}
        else:
            output = languages.detected(pair.output)
            # errors in the instruction count too (spec 37), so its language does; a short one decides nothing
            seen = {output, languages.detected(pair.instruction) or output}
            if output is None:
                yield "language-unknown"
        if seen - self.tested - {None}:
            yield "language-untested"
        if seen == {"English"} and not _names_a_culture(pair):
            yield "not-cultural"


@cache
def _listed() -> frozenset[str]:
    """Words that stand for a culture (demographic proxies): regions, peoples, religions, topics, dishes, festivals."""
    from excam.construction import lexicon

    text = resources.files("excam.metric").joinpath("cultural.tsv").read_text(encoding="utf-8")
    words = {line.partition("\t")[2] for line in text.splitlines()[1:]}
    items = {one.surface for one in lexicon.entries() if one.language == "English" and one.family in lexicon.ITEMS}
    return frozenset(words | {item.casefold() for item in items} | {name.casefold() for name in languages.tested()})


def _names_a_culture(pair: Pair) -> bool:
    """Whether a listed word, or one of the row's own culture, stands in its texts."""
    own = set(_WORD.findall(pair.culture.casefold()))
    texts = [pair.output, *([pair.instruction] if pair.instruction != STAND_IN_INSTRUCTION else [])]
    return any(name in own or name in _listed() for text in texts for name in _names(text))


def _names(text: str) -> Iterator[str]:
    """Every run of one to `LONGEST` words, possessives without their ending."""
    words = [re.sub(r"['’]s$", "", word) for word in _WORD.findall(text.casefold())]
    for at in range(len(words)):
        for end in range(at + 1, min(at + LONGEST, len(words)) + 1):
            yield " ".join(words[at:end])


def told(counts: Mapping[str, int]) -> Iterable[str]:
    """Lines for people: how many rows carry which warning."""
    rows = {code: f"{n} row{'s' * (n != 1)}" for code, n in counts.items() if n}
    return [f"warning: {code} ({rows[code]}): {line}" for code, line in LINES.items() if code in rows]
