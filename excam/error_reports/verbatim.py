"""Whether a sentence holds an answer word for word."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from excam.core.plain_text import plain_text
from excam.error_reports.closed_values import Side, is_within, signed
from excam.error_reports.content_words import UNSPACED, Word, function_words, scales_of, words_of_plain
from excam.error_reports.floors import DENSE, keys_of

MOST_RUNS = 2  # stretches of sentence or question that an answer is made of; more may turn roles round
GLUE = "\t"


def stands(side: Side, sentence: str, question: str, language: str) -> bool:
    """Return whether an answer is made of few stretches of a sentence and the question, each with a word of content.

    It has a word that the question lacks, and its words stand in the same order there, so no roles are turned round.
    """
    sources = [sentence, question]
    said = {word.key for word in side.words}
    if said <= keys_of(sources[1]) or (side.unread and side.plain[side.start :].strip().rstrip(".") not in sources[0]):
        return False
    plain, functions = [plain_text(source).text for source in sources], function_words(language)
    if not _in_order(side.words, words_of_plain(plain[0]), functions):
        return False
    texts, scales = [_told(text, 0, functions) for text in plain], scales_of(language) | {"%"}
    said, at = _told(side.plain, side.start, functions).split(), 0
    for _ in range(MOST_RUNS):
        stretches = (said[at:end] for end in range(len(said), at, -1))
        found = ((run, source) for run in stretches for source in texts if _holds(source, run, scales))
        run, source = next(found, ([], ""))
        if functions.issuperset(run) or "".join(run) in functions:
            return False
        at += len(run)
        if at == len(said):
            return True
        if source == texts[0]:
            texts = texts[1:]
    return False


def _in_order(answer_words: Sequence[Word], stated: Sequence[Word], functions: Collection[str]) -> bool:
    """Return whether the words of content of an answer that a sentence has stand there in the same order."""
    held = {word.key for word in stated} - set(functions)
    return is_within([word.key for word in answer_words if word.key in held], [word.key for word in stated])


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


@lru_cache(maxsize=4096)
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
