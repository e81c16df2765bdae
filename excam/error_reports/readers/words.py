"""Read without a model: by where the words of an answer and of its question stand (`excam.error_reports.floors`).

An answer that a sentence holds word for word is supported if more of the question stands in that sentence than in any
other, and contradicted if less; one that no passage holds is contradicted if a sentence holds the question. Nothing
else is known: not what is said in other words, denied, hedged or struck out, so an answer with a word or sign that
neither the sentence nor the question has is not known, nor is a sentence of a longer text.

The probabilities are shares of right verdicts on dev rows: `python -m bench.words` prints them, and how often the
verdicts are right on other rows.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass

from excam.error_reports import relevance
from excam.error_reports.closed_values import Side, side_of
from excam.error_reports.content_words import UNSPACED, Word, code_of, function_words, likely_language, words
from excam.error_reports.floors import Place, places_of
from excam.error_reports.readers.base import ModelFacts, Reading, Task
from excam.inference import Flow

VERSION = 1
WAYS: tuple[str, ...] = ()
LANGUAGES = frozenset(("ar", "de", "el", "en", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh"))  # it was measured in
# Of an answer that stands word for word in a sentence: below these differences of the share of its question, that many
# such answers of dev rows were right; between .4 and .6 it is not known.
DIFFERENCES = (-0.6, -0.4, -0.2, -0.1, 0.02, 0.2)
RIGHT = (0.1, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8)
LEAST = 0.6
ABSENT = 0.05  # of answers that no passage holds, the share that was right, where a sentence holds
HOLDING = 0.4  # of the question
NEARLY_NONE = 0.3  # of an answer's parts of words in one sentence: no passage holds it
MOST_RUNS = 2  # stretches of sentence or question that an answer is made of; more may turn roles round
NEAR = 0.1  # closer, another passage may answer the question too
DISAGREEING = "passages disagree"
UNRELATED = "the passage is about something else"
OTHER_WORDS = "it has words that neither the sentence nor the question has"


def reader(model: ModelFacts | None, way: str = "") -> WordsReader | None:
    """Return the reader without a model; see `base.Kind`."""
    return None if model else WordsReader()


@dataclass(frozen=True, slots=True)
class WordsReader:
    """A reader by where words stand."""

    signature: str = f"words.{VERSION}"
    tells_contradiction: bool = True
    states: bool = False

    def read(self, task: Task) -> Flow[Reading]:
        """Return the reading; it asks nothing."""
        yield from ()
        return reading_of(task)


def reading_of(task: Task) -> Reading:
    """Return how passages support an answer, as far as words tell."""
    language = code_of(task.language) or likely_language(task.passages[0])
    if language not in LANGUAGES:
        return _unknown(f"words were not measured in {task.language or language}")
    if task.is_sentence:
        return _unknown("a sentence of a longer text, about which words alone tell nothing")
    question = relevance.core(task.question)
    near = [at for at, text in enumerate(task.passages) if not relevance.unrelated(question, [text], share=0.0)]
    passages = [task.passages[at] for at in near]
    if not near:
        return _unknown(UNRELATED)
    here, elsewhere = places_of(question, task.text, passages, language)
    asking = max(filter(None, (here, elsewhere)), key=lambda place: place.asked, default=None)
    side = side_of(task.text)
    if asking is None or not side.words or side.unread:
        return _unknown(f"the text {side.unread or 'shares no word with a passage'}")
    if here is None or here.held <= NEARLY_NONE:
        known, right, place = _is_another(side, question, language) and asking.asked >= HOLDING, ABSENT, asking
        why = "no passage holds it"
    else:
        sources = [_sentence(here, passages), question]
        difference = here.asked - (elsewhere.asked if elsewhere else 0)
        right = RIGHT[bisect(DIFFERENCES, difference)]
        known, place = here.held == 1 and _is_repeated(side, sources, language), here if right > 0.5 else asking
        why = OTHER_WORDS
        if known and elsewhere and elsewhere.passage != here.passage and abs(difference) < NEAR:
            known, why = False, DISAGREEING
        elif known and max(right, 1 - right) < LEAST:
            known, why = False, "as much of the question stands elsewhere"
    if not known:
        return _unknown(why)
    return Reading(right, 1 - right, 0.0, (near[place.passage],), expected=_sentence(place, passages))


def _unknown(because: str) -> Reading:
    return Reading(0.0, 0.0, 1.0, because=because)


def _sentence(place: Place, passages: Sequence[str]) -> str:
    return passages[place.passage][place.piece.start : place.piece.end]


def _is_another(side: Side, question: str, language: str) -> bool:
    """Return whether all words of an answer that its question lacks have content: none denies, hedges or compares."""
    asked = {word.key for word in words(question)}
    new = [word.key for word in side.words if word.key not in asked]
    return bool(new) and function_words(language).isdisjoint(new)


def _is_repeated(side: Side, sources: Sequence[str], language: str) -> bool:
    """Return whether an answer is made of few stretches of the sources, each with a word of content."""
    known = [f" {' '.join(_signs(words(source)))} " for source in sources]
    said, functions, at = _signs(side.words), function_words(language), 0
    for _ in range(MOST_RUNS):
        stretches = (said[at:end] for end in range(len(said), at, -1))
        run = next((run for run in stretches if any(f" {' '.join(run)} " in source for source in known)), [])
        if functions.issuperset(run) or "".join(run) in functions:
            return False
        at += len(run)
        if at == len(said):
            return True
    return False


def _signs(said: Sequence[Word]) -> list[str]:
    """Return words, those of a script without spaces sign by sign, since context changes how they are divided."""
    return [sign for word in said for sign in (word.key if UNSPACED.match(word.key) else (word.key,))]
