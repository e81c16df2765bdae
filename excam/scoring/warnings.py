"""Warnings that come with a score, from a closed list: a short code each, and a line for people.

None of them changes a score. They follow from the language of a row, the names of the judged system and of the judge,
and whether the answer was truncated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from excam.core import language_identity, languages
from excam.scoring.families import families
from excam.scoring.pairs import Pair

LINES: Mapping[str, str] = {
    "language-untested": "in a language that is not in the metric's training data; do not rely on the score",
    "language-unknown": f"no language given, and none detected with certainty (that takes {languages.ENOUGH} letters "
    "and the package py3langid); give it in a column language",
    "language-differs": "the text is in another language than its instruction, which does not ask for it",
    "truncated": "the report was cut at the token limit; raise --max-tokens",
    "same-family": "the judge is of the model family that wrote the text, and may be kind to its own",
}


@dataclass(frozen=True, slots=True)
class WarningRules:
    """The facts about a judge that warnings depend on. `tested` are English names of languages."""

    tested: frozenset[str]
    families: frozenset[str]

    @classmethod
    def of_judge(cls, names: Iterable[str | None], trained_on: Iterable[str] | None = None) -> WarningRules:
        """Return the rules for the names of a judge and its base, and its training languages (None: Appendix E)."""
        tested = (
            languages.tested_languages() if trained_on is None else frozenset(map(languages.language_name, trained_on))
        )
        return cls(tested, frozenset[str]().union(*(families(name) for name in names if name)))

    def codes(self, pair: Pair, failure: str | None) -> tuple[str, ...]:
        """Return the warnings of one row, in the order of LINES."""
        found = set(self._language_codes(pair))
        found.update(of_texts(pair.instruction, pair.output))
        if failure == "truncated":
            found.add("truncated")
        if self.families & families(pair.system):
            found.add("same-family")
        return tuple(code for code in LINES if code in found)

    def _language_codes(self, pair: Pair) -> Iterator[str]:
        if pair.language:
            seen: set[str | None] = {languages.language_name(pair.language)}
        else:
            output = languages.detect_language(pair.output)
            # the instruction's language counts as well, because errors in it do; a short one cannot be detected
            seen = {output, languages.detect_language(pair.instruction) or output}
            if output is None:
                yield "language-unknown"
        if seen - self.tested - {None}:
            yield "language-untested"


def of_texts(instruction: str, output: str) -> tuple[str, ...]:
    """Return the warnings that any metric gives about an instruction and what answers it; none without pycld2."""
    if not language_identity.is_installed("cld2"):
        return ()
    return ("language-differs",) * language_identity.answers_in_another_language(instruction, output)


def unchecked_line() -> str:
    """Return a line that says which check is left out because its package is not installed, "" if none is."""
    if language_identity.is_installed("cld2"):
        return ""
    return (
        "pycld2 is not installed: texts in another language than their instruction are not pointed out; "
        "pip install 'excam[language]'"
    )


def warning_lines(counts: Mapping[str, int]) -> list[str]:
    """Return lines for people: how many rows carry which warning."""
    rows = {code: f"{n} row{'s' * (n != 1)}" for code, n in counts.items() if n}
    return [f"warning: {code} ({rows[code]}): {line}" for code, line in LINES.items() if code in rows]
