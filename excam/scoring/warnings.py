"""Warnings that come with a score, from a closed list: a short code each, and a line for people.

None of them changes a score. They follow from the language of a row, the names of the judged system and of the judge,
whether the answer was truncated, and whether the text has the marked words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from excam.core import language_identity, languages
from excam.inference import control_tokens
from excam.scoring.families import families
from excam.scoring.metric import Row
from excam.scoring.spans import ErrorSpan

NOT_FOUND = "span-not-found"
UNCERTAIN = "certainty-unknown"
UNKNOWN_LANGUAGE = "language-unknown"
UNQUALIFIED = "judge-unqualified"
OTHER_MODEL = "other-model"
CONTROL = "control-tokens"
PARTLY = "partly-decided"
STAND_IN, REASONING, UNCLOSED = "stand-in", "reasoning", "reasoning-unclosed"  # notes of how a row was read
LINES: Mapping[str, str] = {
    "language-untested": "in a language that is not in the metric's training data; do not rely on the score",
    UNKNOWN_LANGUAGE: f"no language given, and none is certain from the text (never one below {languages.ENOUGH} "
    "letters); give it in a column language"
    if language_identity.is_installed("langid")
    else "no language given, and none detected: pip install 'excam[language]', or give it in a column language",
    "language-differs": "the text is in another language than its instruction, which does not ask for it",
    NOT_FOUND: "marked words that are not in the text; they are listed and counted as errors, and have no place in it",
    UNCERTAIN: "no log-probabilities of the answer, or impossible ones: p(R) is missing, and a clean report scores 0",
    UNQUALIFIED: "nobody measured how often this judge is right; `excam calibrate` does on rows that people labelled, "
    "`excam qualify` for a judge with documents",
    PARTLY: "nothing decides about some claims of the text, which may be wrong; `decided` and `statements` say which",
    OTHER_MODEL: "the server says that another model answered than the one asked for; see answered_by",
    "empty-text": "a text is empty, and this metric scores it as such",
    CONTROL: "control tokens of chats in a text, such as <|im_end|>; models get them as plain text, servers with "
    "an invisible character inside",
    STAND_IN: "the metric's own text stands in for a column, as --without says",
    REASONING: "reasoning at the beginning of a text, such as <think>...</think>, was left out; the rest is scored",
    UNCLOSED: "a mark of reasoning, such as <think>, that does not begin and end a reasoning: the whole text is scored",
    "truncated": "the answer was cut at the token limit; raise --max-tokens",
    "same-family": "the judge is of the model family that wrote the text, and may be kind to its own",
}


@dataclass(frozen=True, slots=True)
class WarningRules:
    """The facts about a judge that warnings depend on.

    `tested` are English names of the languages in which the metric was tested; None if it warns of none.
    `assumed` is the language of rows that state none and show none; "" if it is not known.
    """

    tested: frozenset[str] | None
    families: frozenset[str]
    assumed: str = ""

    @classmethod
    def of_judge(cls, names: Iterable[str | None], tested: frozenset[str] | None, assumed: str = "") -> WarningRules:
        """Return the rules for the names of a judge and its base, and the languages of its metric."""
        return cls(tested, frozenset[str]().union(*(families(name) for name in names if name)), assumed)

    def codes(
        self,
        row: Row,
        pair: tuple[str, str] | None,
        failure: str | None,
        spans: Iterable[ErrorSpan] = (),
        further: Iterable[str] = (),
    ) -> tuple[str, ...]:
        """Return the warnings of one row, in the order of LINES; a row that nothing was asked about has none.

        Args:
            row: as it was read
            pair: the columns of instruction and text; None for a metric that has no such pair
            failure: why it has no score
            spans: what was marked in it
            further: warnings of the judge, which no text shows
        """
        if row.failure:
            return ()
        codes = {*row.notes, *further}
        if pair:
            instruction, output = (row.texts.get(name, "") for name in pair)
            codes.update(self._language_codes(row.labels.get("language", ""), instruction, output))
            codes.update(of_texts(instruction, output))
        if not all(text.strip() for text in row.texts.values()):  # elsewhere such a row is a failure
            codes.add("empty-text")
        if any(map(control_tokens.are_in, row.texts.values())):
            codes.add(CONTROL)
        if any(span.start < 0 for span in spans):
            codes.add(NOT_FOUND)
        if failure == "truncated":
            codes.add("truncated")
        if self.families & families(row.labels.get("system", "")):
            codes.add("same-family")
        return tuple(code for code in LINES if code in codes)

    def _language_codes(self, language: str, instruction: str, output: str) -> Iterator[str]:
        if self.tested is None:
            return
        if language:
            seen: set[str | None] = {languages.language_name(language)}
        else:
            assumed = languages.language_name(self.assumed) if self.assumed else None
            output_language = languages.detect_language(output) or assumed
            # the instruction's language counts as well, because errors in it do; a short one cannot be detected
            seen = {output_language, languages.detect_language(instruction) or output_language}
            if output_language is None:
                yield UNKNOWN_LANGUAGE
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
