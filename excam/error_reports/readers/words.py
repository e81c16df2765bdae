"""Read without a model: by where the words of an answer and of its question stand (`excam.error_reports.floors`).

An answer that a sentence holds word for word is supported if more of the question stands in that sentence than in any
other, and contradicted if less. It is contradicted, too, if it stands so in passages about other cultures alone, and a
sentence about the culture of the question holds much of the question. Nothing else is known: not what is said in other
words (it may mean the same), denied, hedged or struck out, so an answer with a word or sign that neither the sentence
nor the question has is not known, nor is a sentence of a longer text.

The probabilities are shares of right verdicts on dev rows: `python -m bench.words` prints them, and how often the
verdicts are right on other rows.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from excam.core.plain_text import plain_text
from excam.error_reports import relevance
from excam.error_reports.closed_values import YES_NO_WORDS, Side, side_of, signed, without_options
from excam.error_reports.content_words import (
    UNSPACED,
    Word,
    code_of,
    function_words,
    likely_language,
    scales_of,
    spelled_numbers,
    words,
    words_of_plain,
)
from excam.error_reports.floors import DENSE, Place, keys_of, places_of
from excam.error_reports.readers.base import DISAGREEING, UNRELATED, Mark, ModelFacts, Reading, Task, reading
from excam.inference import Flow
from excam.knowledge.claimless import stating_part

VERSION = 5
LANGUAGES = frozenset(("ar", "de", "el", "en", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh"))  # it was measured in
# Of answers that stand word for word in a sentence, the shares that were right among 5,747 dev rows, by how much more
# of the question stands there than elsewhere; less certain ones are not known.
DIFFERENCES = (-0.4, -0.2, -0.08, -0.02, 0.2)
RIGHT = (0.07, 0.16, 0.29, 0.5, 0.73, 0.81)
LEAST = 0.6
OF_ANOTHER_CULTURE = 0.05  # that stand in passages about another culture: 0 of 79 dev rows were right, at most
HOLDING, NOT_HELD = 0.4, 0.6  # of the question and less than so much of the answer in a sentence about its culture
LEAST_ASKED = 0.05  # of the question, of an answer that stands word for word
MOST_RUNS = 2  # stretches of sentence or question that an answer is made of; more may turn roles round
NEAR = 0.1  # closer, another passage may answer the question too
MEASURED = (
    "right in .82 [.77, .86] of its verdicts on 480 short answers in the words of English paragraphs, given for .89 of "
    "them, and in .71 to .81 in eleven other languages; of answers in other words than the documents it knows nothing"
)  # docs/grounded/words.csv
GLUE = "\t"
A_SENTENCE = "a sentence of a longer text, of which words alone tell nothing"
NOT_ASKED = "no sentence holds enough of the question"
OTHER_WORDS = "it has words that neither the sentence nor the question has"


def reader(model: ModelFacts | None, *, is_qualified: bool = False) -> WordsReader | None:
    """Return the reader without a model; see `base.Kind`."""
    return None if model else WordsReader()


@dataclass(frozen=True, slots=True)
class WordsReader:
    """A reader by where words stand; what it says that passages say is a sentence of theirs."""

    signature: str = f"words.{VERSION}"
    tells_contradiction: bool = True
    states: bool = True

    def read(self, task: Task) -> Flow[Reading]:
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
    here: Place | None
    elsewhere: Place | None
    right: float

    @property
    def asking(self) -> Place:
        """The sentence with most of the question."""
        return max(filter(None, (self.here, self.elsewhere)), key=lambda place: place.asked)

    def sentences(self) -> list[str]:
        """Return in order the sentence with the answer, and the other one with most of the question."""
        known = filter(None, (self.here, self.elsewhere))
        places = sorted(known, key=lambda place: (place.passage, place.piece.start))
        return [_sentence(place, self.passages) for place in places]

    def reading(self, task: Task, right: float) -> Reading:
        """Return the reading by the probability that the answer is right: what decides, and the words that it has."""
        place, asked = self.here if self.here and right > 0.5 else self.asking, keys_of(self.question)
        marks = [Mark(word.start, word.end, 1 - right) for word in words(task.text) if word.key not in asked]
        by, expected = (self.near[place.passage],), _sentence(place, self.passages)
        return Reading(right, 1 - right, 0.0, by, tuple(marks), expected=expected)


def reading_of(task: Task) -> Reading:
    """Return how passages support an answer, as far as words tell."""
    known = standing(task, LANGUAGES)
    if isinstance(known, str):
        return reading(None, because=known)
    if known.asking.asked < LEAST_ASKED or max(known.right, 1 - known.right) < LEAST:
        return reading(None, because=NOT_ASKED)
    return known.reading(task, known.right)


def standing(task: Task, languages: Collection[str]) -> StandingAnswer | str:
    """Return where an answer in one of these languages stands, or why it is not known."""
    language = code_of(task.language) or likely_language(task.passages[0])
    if language not in languages:
        return f"this judge was not measured in language {task.language or language}"
    question, options = relevance.core(task.question), without_options(task.question)[1]
    side = side_of(task.text, language, bool(options))
    near = relevance.of_its_culture(question, task.passages)
    if task.is_sentence or not near:
        return A_SENTENCE if task.is_sentence else UNRELATED
    is_number = " ".join(side.keys) in spelled_numbers(language)  # Vietnamese "hai" is two, and elsewhere a greeting
    is_polite = not is_number and stating_part(task.text, (0, len(task.text))) is None  # "of course" is yes, too
    if not side.words or side.words[0].key in YES_NO_WORDS or is_polite:
        return "yes or no, or no word"
    text, passages = side.plain[side.start :], [task.passages[at] for at in near]
    here, elsewhere = places_of(question, text, passages, language)
    asking = max(filter(None, (here, elsewhere)), key=lambda place: place.asked, default=None)
    if asking is None:
        return OTHER_WORDS
    if here and _stands(side, here, passages, question, language):
        difference = here.asked - (elsewhere.asked if elsewhere else 0)
        if elsewhere and elsewhere.passage != here.passage and abs(difference) < NEAR:
            return DISAGREEING
        return StandingAnswer(question, text, near, passages, here, elsewhere, RIGHT[bisect(DIFFERENCES, difference)])
    if asking.asked < HOLDING or (here and here.held >= NOT_HELD):
        return OTHER_WORDS
    said = {word.key for word in side.words} - keys_of(question)
    others = [task.passages[at] for at in range(len(task.passages)) if at not in near]
    others = [passage for passage in others if said <= keys_of(passage)]
    there, _ = places_of(question, text, others, language)
    if there is None or not _stands(side, there, others, question, language):
        return OTHER_WORDS
    return StandingAnswer(question, text, near, passages, None, asking, OF_ANOTHER_CULTURE)


def _sentence(place: Place, passages: Sequence[str]) -> str:
    return passages[place.passage][place.piece.start : place.piece.end]


def _stands(side: Side, place: Place, passages: Sequence[str], question: str, language: str) -> bool:
    """Return whether an answer is made of few stretches of a sentence and the question, each with a word of content.

    It has a word that the question lacks, and its words stand in the same order there, so no roles are turned round.
    """
    sources = [_sentence(place, passages), question]
    said = {word.key for word in side.words}
    if said <= keys_of(sources[1]) or (side.unread and side.plain[side.start :].strip().rstrip(".") not in sources[0]):
        return False
    plain, functions = [plain_text(source).text for source in sources], function_words(language)
    if not _in_order(side.words, words_of_plain(plain[0]), functions):
        return False
    known, scales = [_told(text, 0, functions) for text in plain], scales_of(language) | {"%"}
    said, at = _told(side.plain, side.start, functions).split(), 0
    for _ in range(MOST_RUNS):
        stretches = (said[at:end] for end in range(len(said), at, -1))
        found = ((run, source) for run in stretches for source in known if _holds(source, run, scales))
        run, source = next(found, ([], ""))
        if functions.issuperset(run) or "".join(run) in functions:
            return False
        at += len(run)
        if at == len(said):
            return True
        if source == known[0]:
            known = known[1:]
    return False


def _in_order(said: Sequence[Word], stated: Sequence[Word], functions: Collection[str]) -> bool:
    """Return whether the words of content of an answer that a sentence has stand there in the same order."""
    held = {word.key for word in stated} - set(functions)
    rest = iter([word.key for word in stated])
    return all(word.key in rest for word in said if word.key in held)


def _holds(source: str, run: Sequence[str], scales: Collection[str]) -> bool:
    """Return whether words hold a stretch that is no part of a number or word: "67" of "67 million" or of "-67"."""
    spaced, sought = source.replace(GLUE, " "), f" {' '.join(run)} "
    at = spaced.find(sought)
    while at >= 0:
        end = at + len(sought) - 1
        first, last = spaced[:at].rsplit(" ", 1)[-1], spaced[end + 1 :].split(" ", 1)[0]
        begins = first != "-" and not (first[:1].isdecimal() and run[0] in scales)
        if begins and GLUE not in (source[at], source[end]) and not (run[-1][0].isdecimal() and last in scales):
            return True
        at = spaced.find(sought, at + 1)
    return False


def _told(plain: str, start: int, functions: Collection[str]) -> str:
    """Return words between blanks, those of a script without spaces sign by sign, as context changes their division.

    In Chinese and Japanese `GLUE` stands within words, and before one sign that may go on a word: behind several signs,
    and no function word.
    """
    said, spaced = [word for word in words_of_plain(plain) if word.start >= start], " "
    if plain.isascii():
        return spaced + "".join(f"{key} " for key in signed(plain, start, said))
    single = {word.start for word in said if len(word.key) == 1 and DENSE.match(word.key) and word.key not in functions}
    spoken = iter(said)
    for key in signed(plain, start, said):
        is_part = key not in "-%" and next(spoken).end in single and len(key) > 1
        signs = key if UNSPACED.match(key) else (key,)
        spaced += (GLUE if DENSE.match(key) else " ").join(signs) + (GLUE if is_part else " ")
    return spaced
