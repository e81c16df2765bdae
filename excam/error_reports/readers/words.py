"""Read without a model: by where the words of an answer and of its question stand (`excam.error_reports.floors`).

An answer that a sentence holds word for word is supported if more of the question stands in that sentence than in any
other, and contradicted if less. It is contradicted, too, if it stands so in passages about other cultures alone, and a
sentence about the culture of the question holds much of the question. Nothing else is known: not what is said in other
words (it may mean the same), denied, hedged or struck out, so an answer with a word or sign that neither the sentence
nor the question has is not known, nor is a sentence of a longer text.

The probabilities are shares of right verdicts on dev rows: `python -m bench.reading` prints them, and says how often
the verdicts are right on other rows.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from excam.error_reports import relevance
from excam.error_reports.closed_values import YES_NO_WORDS, Side, side_of, without_options
from excam.error_reports.content_words import code_of, likely_language, spelled_numbers, words
from excam.error_reports.floors import SentenceShares, keys_of, places_of
from excam.error_reports.readers.base import DISAGREEING, UNRELATED, Mark, ModelFacts, Support, Task, reading
from excam.error_reports.verbatim import stands
from excam.inference import Flow
from excam.knowledge.claimless import stating_part

VERSION = 6
LANGUAGES = frozenset(("ar", "de", "el", "en", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh"))  # it was measured in
# Of answers that stand word for word in a sentence, the shares that were right among 5,747 dev rows, by how much more
# of the question stands there than elsewhere; less certain ones are not known.
DIFFERENCES = (-0.4, -0.2, -0.08, -0.02, 0.2)
RIGHT = (0.07, 0.16, 0.29, 0.5, 0.73, 0.81)
LEAST = 0.6
OF_ANOTHER_CULTURE = 0.05  # that stand in passages about another culture: 0 of 79 dev rows were right, at most
HOLDING, NOT_HELD = 0.4, 0.6  # of the question and less than so much of the answer in a sentence about its culture
LEAST_ASKED = 0.05  # of the question, of an answer that stands word for word
NEAR = 0.1  # closer, another passage may answer the question too
MEASURED = (
    "right in .82 [.77, .86] of its verdicts on 480 short answers in the words of English paragraphs, given for .88 of "
    "them, and in .71 to .81 in eleven other languages; of answers in other words than the documents it knows nothing"
)  # docs/results/reading.csv
A_SENTENCE = "a sentence of a longer text, of which words alone tell nothing"
NOT_ASKED = "no sentence holds enough of the question"
OTHER_WORDS = "no passage has it in these words; a chat model may know (--judge grounded --model NAME@URL)"
_unknown = partial(reading, None)


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> _WordsReader | None:
    """Return the reader without a model; see `base.ReaderModule`."""
    return None if model else _WordsReader()


@dataclass(frozen=True, slots=True)
class _WordsReader:
    """A reader by where words stand; what it says that passages say is a sentence of theirs."""

    signature: str = f"words.{VERSION}"
    tells_contradiction: bool = True
    states: bool = True

    def read(self, task: Task) -> Flow[Support]:
        """Return the reading; it asks nothing."""
        yield from ()
        return reading_of(task)


@dataclass(frozen=True, slots=True)
class StandingAnswer:
    """An answer that a sentence holds word for word, as `text`, and the probability that it is right, as words tell.

    `passages` are those about the culture of the question, by their places in `near`. `here` is None if a passage about
    another culture holds the answer; `elsewhere` is the other sentence with most of the question.
    """

    question: str
    text: str
    near: Sequence[int]
    passages: Sequence[str]
    here: SentenceShares | None
    elsewhere: SentenceShares | None
    right: float

    @property
    def asking(self) -> SentenceShares:
        """The sentence with most of the question."""
        return max(filter(None, (self.here, self.elsewhere)), key=lambda place: place.asked)

    def sentences(self) -> list[str]:
        """Return in order the sentence with the answer, and the other one with most of the question."""
        stands = filter(None, (self.here, self.elsewhere))
        places = sorted(stands, key=lambda place: (place.passage, place.piece.start))
        return [_sentence(place, self.passages) for place in places]

    def reading(self, task: Task, right: float) -> Support:
        """Return the reading by the probability that the answer is right: what decides, and the words that it has."""
        place, question_keys = self.here if self.here and right > 0.5 else self.asking, keys_of(self.question)
        marks = [Mark(word.start, word.end, 1 - right) for word in words(task.text) if word.key not in question_keys]
        by, expected = (self.near[place.passage],), _sentence(place, self.passages)
        return Support(right, 1 - right, 0.0, by, tuple(marks), expected=expected)


def reading_of(task: Task) -> Support:
    """Return how passages support an answer, as far as words tell."""
    result = standing(task, LANGUAGES)
    if isinstance(result, Support):
        return result
    if result.asking.asked < LEAST_ASKED or max(result.right, 1 - result.right) < LEAST:
        return _unknown(because=NOT_ASKED)
    return result.reading(task, result.right)


def standing(task: Task, languages: Collection[str]) -> StandingAnswer | Support:
    """Return where an answer in one of these languages stands, or why it is not known."""
    language = code_of(task.language) or likely_language(task.passages[0])
    if language not in languages:
        return _unknown(because=f"this judge was not measured in language {task.language or language}")
    question, options = relevance.core(task.question), without_options(task.question)[1]
    side = side_of(task.text, language, has_options=bool(options))
    near = relevance.of_its_culture(question, task.passages)
    if task.is_sentence:
        return _unknown(because=A_SENTENCE)
    if not near:
        return _unknown(because=UNRELATED)
    if _is_yes_or_no(task.text, side, language):
        return _unknown(because="yes or no, or no word")
    text, passages = side.plain[side.start :], [task.passages[at] for at in near]
    here, elsewhere = places_of(question, text, passages, language)
    asking = max(filter(None, (here, elsewhere)), key=lambda place: place.asked, default=None)
    if here and stands(side, _sentence(here, passages), question, language):
        difference = here.asked - (elsewhere.asked if elsewhere else 0)
        if elsewhere and elsewhere.passage != here.passage and abs(difference) < NEAR:
            return _unknown(because=DISAGREEING, passages=(near[here.passage], near[elsewhere.passage]))
        return StandingAnswer(question, text, near, passages, here, elsewhere, RIGHT[bisect(DIFFERENCES, difference)])
    others = [passage for at, passage in enumerate(task.passages) if at not in near]
    is_unasked = asking is None or asking.asked < HOLDING
    is_held_here = here is not None and here.held >= NOT_HELD
    if is_unasked or is_held_here or not _stands_in(others, side, text, question, language):
        return _unknown(because=OTHER_WORDS)
    return StandingAnswer(question, text, near, passages, None, asking, OF_ANOTHER_CULTURE)


def _is_yes_or_no(text: str, side: Side, language: str) -> bool:
    """Return whether an answer begins with yes or no, says it politely ("of course"), or has no word."""
    is_number = " ".join(side.keys) in spelled_numbers(language)  # Vietnamese "hai" is two, and elsewhere a greeting
    is_polite = not is_number and stating_part(text, (0, len(text))) is None
    return not side.words or side.words[0].key in YES_NO_WORDS or is_polite


def _stands_in(passages: Sequence[str], side: Side, text: str, question: str, language: str) -> bool:
    """Return whether the sentence of these passages that has most of an answer holds it word for word."""
    answer_keys = {word.key for word in side.words} - keys_of(question)
    holding = [passage for passage in passages if answer_keys <= keys_of(passage)]
    there, _ = places_of(question, text, holding, language)
    return there is not None and stands(side, _sentence(there, holding), question, language)


def _sentence(place: SentenceShares, passages: Sequence[str]) -> str:
    return passages[place.passage][place.piece.start : place.piece.end]
