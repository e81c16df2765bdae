"""What a model is asked about a sentence of a longer text: what passages say about its subject.

No model asks the question: of ten real sentences one of 1.5 billion parameters asked a usable question about one, and
asked what passages say about a sentence as it is, it repeated the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from excam.error_reports.content_words import Vocabulary, content, likely_language, not_held
from excam.error_reports.yes_no import one_line

ABOUT = "What do the passages say about {subject}?"
FEWEST = 2  # content words of a sentence that passages hold, to ask about it


def about(sentence: str, passages: Sequence[str], language: str = "") -> str:
    """Return the question what passages say about the subject of a sentence, "" if they hold too little of it.

    The subject are its content words that a passage holds, in any form. What nothing supports may be wrong, and a small
    model repeats what its question says.
    """
    vocabulary = Vocabulary(passages, language or likely_language(sentence))
    held = [word for word in content(sentence, language) if vocabulary.holds(word)]
    subject = " ".join(one_line(sentence[word.start : word.end]) for word in held)
    return ABOUT.format(subject=subject) if len(held) >= FEWEST else ""


def repeats(answer: str, sentence: str, passages: Sequence[str], language: str = "") -> bool:
    """Return whether an answer has content of the sentence that it is about and that no passage holds.

    Then it repeats the sentence, and says nothing of the passages.
    """
    vocabulary = Vocabulary([sentence], language or likely_language(sentence))
    return any(map(vocabulary.holds, not_held(answer, passages, language)))
