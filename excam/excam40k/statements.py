"""Facts of benchmarks as statements: one verified base sample in several wordings, and its question in other words.

A passage must not be found by its wording alone, so each fact has at least six statements and each question several
paraphrases, chosen by hash. Rules change English questions that they understand; all others, and other languages, are
quoted, which is never ungrammatical.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from excam.core.cultures import adjectives
from excam.core.hash_order import digest
from excam.error_reports.records import BaseSample
from excam.excam40k import survey_statements
from excam.excam40k.construction.cultures import in_a_sentence
from excam.excam40k.question_forms import VERBS, Form, clean, form, is_adverbial, lowered

SHORT = 8  # words of an answer that stands inside a sentence; a longer one stands behind a colon
_NORM = re.compile(r"(?P<verdict>yes|no|neither)\b[,:; ]+explanation:\s*(?P<norm>.+)", re.I | re.S)
_SENTENCE = re.compile(
    r"\w+(?: \w+)? (?:are|is|was|were|will|can|should|must|might|would|have|has|put|take) |"
    r"(?:it|they|he|she|you|we|people|there|everyone|families|students|boys|their|this|most \w+|someone) \w+|"
    r"(?:yes|no)\b[,. ]",
    re.I,
)
ALIASES = {"United Kingdom": ("UK", "England", "Britain"), "United States": ("US", "U.S.", "USA", "America")}

NOUN = (  # of {phrase} {verb} and {answer}
    "{phrase} {verb} {answer}",
    "people who were asked about {phrase} named {answer}",
    "when the talk is of {phrase}, {answer} is what comes up",
    "it is {answer} that people name when they are asked about {phrase}",
    "whoever asks about {phrase} will hear of {answer}",
    "a good answer to someone who wants to know about {phrase} would be {answer}",
)
REVERSED = ("{answer} is {phrase}", "people name {answer} as {phrase}", "{answer} counts as {phrase}")
PREDICATE = (
    "{answer} {predicate}",
    "it is {answer} that {predicate}",
    "people will tell you that {answer} {predicate}",
)
CLAUSE = (
    "{phrase} {answer}",
    "it is well known that {phrase} {answer}",
    "people say that {phrase} {answer}",
    "visitors soon learn that {phrase} {answer}",
    "as a rule, {phrase} {answer}",
    "one can expect that {phrase} {answer}",
)
COLON = (  # of {phrase} and an answer that is a list, a sentence or long
    "people who were asked about {phrase} gave this answer: {answer}",
    "this is what people say about {phrase}: {answer}",
    "as to {phrase}, the following is right: {answer}",
    "what is known about {phrase} can be put like this: {answer}",
    "asked about {phrase}, people say: {answer}",
    "the answer to a question about {phrase} is this: {answer}",
)
QUOTED = (  # of a question that no rule takes
    "Asked “{question}”, people in {place} most often answer: {answer}",
    "The usual answer in {place} to the question “{question}” is this: {answer}",
    "If somebody asks “{question}”, people from {place} will reply: {answer}",
    "“{question}” In {place}, the accepted answer is: {answer}",
    "In {place}, one hears this when somebody asks “{question}”: {answer}",
    "People from {place} were asked “{question}” What they agreed on is this: {answer}",
)
SURVEY = (  # of most people's {view}
    "In a survey, people in {place} most often said that they {view}",
    "The most frequent position in {place} is that of people who {view}",
    "More people in {place} {view} than take any other position",
    "Those who {view} are the largest group among the people questioned in {place}",
    "Interviewers in {place} most often met people who {view}",
    "According to a poll, the commonest view in {place} is held by those who {view}",
)
SURVEY_QUOTED = (
    "A survey asked people in {place}: “{question}” Most often they chose “{answer}”",
    "“{answer}” was the most frequent choice of people in {place} when a poll asked: “{question}”",
    "In {place}, “{answer}” is how people most often respond to the question “{question}”",
    "Interviewers put this to people in {place}: “{question}” The commonest response was “{answer}”",
    "More people in {place} chose “{answer}” than anything else when they were asked: “{question}”",
    "The position “{answer}” leads in {place} among replies to the question “{question}”",
)
NORMS = (
    "In {place}, the following counts as good manners: “{norm}”",
    "A social norm of {place} reads: “{norm}”",
    "Guides to etiquette in {place} put it like this: “{norm}”",
    "People in {place} go by this rule: “{norm}”",
    "What is expected of people in {place} can be said in one sentence: “{norm}”",
    "Those who live in {place} follow this custom: “{norm}”",
)
FILLED = (  # of a question that is a sentence with one blank: {whole} is the sentence with the answer in it
    "{whole}",
    "People from {place} will confirm this: {small}",
    "It is worth knowing that {small}",
    "The following sentence is right: “{whole}”",
    "About {place} one can say: {small}",
    "This holds in {place}: {small}",
)
ELSEWHERE = (  # of other languages than English: punctuation only
    "{question} {answer}",
    "{question} – {answer}",
    "{question}: {answer}",
    "“{question}” {answer}",
    "{question} → {answer}",
    "{answer} ({question})",
)
SYNONYMS = (
    (r"most common", ("most usual", "most widespread")),
    (r"most popular", ("best-liked", "most favoured")),
    (r"most famous", ("best-known", "most celebrated")),
    (r"(?<!most )(?<!un)common(?!ly)", ("usual", "widespread")),
    (r"(?<!most )popular", ("well-liked", "favoured")),
    (r"(?<!most )famous", ("well-known", "celebrated")),
    (r"usually", ("normally", "generally")),
    (r"typically", ("usually", "as a rule")),
    (r"commonly", ("often", "widely")),
    (r"traditionally", ("by tradition", "by old custom")),
    (r"typical", ("characteristic", "usual")),
    (r"kids", ("children", "youngsters")),
    (r"gifts", ("presents",)),
    (r"gift", ("present",)),
    (r"drink(?= is| do| that|s?$)", ("beverage",)),
    (r"elementary", ("primary",)),
    (r"movies", ("films",)),
    (r"purchase", ("buy",)),
    (r"elderly", ("old",)),
    (r"appropriate", ("proper", "suitable")),
    (r"considered to be", ("regarded as",)),
    (r"considered(?= an?| the)", ("regarded as", "seen as")),
    (r"important", ("essential", "significant")),
    (r"biggest", ("largest", "greatest")),
    (r"individuals", ("people",)),
    (r"a way to", ("a means to",)),
    (r"begin", ("start",)),
    (r"begins", ("starts",)),
)


@lru_cache(maxsize=20_000)
def statements(base: BaseSample) -> tuple[str, ...]:
    """Return at least six statements of the fact of a base sample, each one or two sentences in its language."""
    if base.language != "English":
        return _framed(ELSEWHERE, question=base.question.strip(), answer=stated_answer(base))
    if norm := _NORM.match(base.answer):
        return _framed(NORMS, place=_place(base), norm=_full_stop(norm["norm"]))
    if base.task == "generation":
        return (_full_stop(base.answer),) * 6 if " " in base.answer else _quoted(base)
    if base.task == "impersonation":
        return _surveyed(base)
    if "_" in base.question:
        return _filled(base)
    asked = form(base.question)
    return tuple(_formed(base, asked)) if asked else _quoted(base)


def statement(base: BaseSample, seed: int, *parts: str) -> str:
    """Return one of the statements of a base sample, by a hash of the seed, its id and `parts`."""
    return _chosen(statements(base), seed, "statement", base.id, *parts)


def stated_answer(base: BaseSample) -> str:
    """Return the answer as statements hold it, but for its first letter and a unit: without a final full stop.

    Of a norm it is the sentence that explains the verdict.
    """
    if norm := _NORM.match(base.answer):
        return " ".join(norm["norm"].split()).rstrip(".")
    text = " ".join(base.answer.split())
    return text[:-1] if text.endswith(".") and not text.endswith(("..", ".m.")) else text


def paraphrases(base: BaseSample) -> tuple[str, ...]:
    """Return questions that ask the same as that of a base sample in other frames, with its culture named."""
    place, question = _place(base), clean(base.question)
    if base.language != "English":
        return (question,)
    if base.task == "impersonation":
        if asked := survey_statements.questions(base.question, place):
            return asked
        core = survey_statements.core(base.question)
        return (
            f"What would most people in {place} answer to this: {core}",
            f"Which choice was the most frequent one in {place} when a survey said: {core}",
            f"How do people from {place} see this question: {core}",
            f"Think of people who live in {place}. What do they reply most often? {core}",
        )
    return _asked_differently(base, question, form(base.question))


def paraphrase(base: BaseSample, seed: int) -> str:
    """Return one of the paraphrases of a question, with synonyms, by a hash of the seed and its id."""
    written = _chosen(paraphrases(base), seed, "paraphrase", base.id)
    if base.task == "impersonation" or base.language != "English":
        return written
    return with_synonyms(written, seed, "question", base.id)


def with_synonyms(text: str, seed: int, *parts: str) -> str:
    """Return English text with other words for frequent ones ("most popular" -> "best-liked"), by hash."""
    for pattern, instead in SYNONYMS:
        words = (*instead, "")  # one in so many keeps its word
        chosen = _chosen(words, seed, "synonym", pattern, *parts)
        if chosen:
            text = re.sub(rf"\b{pattern}\b", chosen, text)
    return re.sub(
        r"\ba (?=[aeio])",
        "an ",
        re.sub(r"\ban (?=(?:well|popular|favoured|suitable|proper|usual|signif|children))", "a ", text),
    )


def is_norm(base: BaseSample) -> bool:
    """Return whether an answer is a verdict with the norm that explains it, as in NormAd."""
    return bool(_NORM.match(base.answer))


def _place(base: BaseSample) -> str:
    return in_a_sentence(base.culture, base.language, base.task)


def _formed(base: BaseSample, asked: Form) -> Iterator[str]:
    answer, lead = _within(base, asked), _lead(base, asked)
    phrase = asked.phrase
    if asked.kind == "clause":
        if said := _adverbial(asked, answer):
            yield from _sentences(CLAUSE, lead, phrase=phrase, answer=said)
            return
        phrase = asked.verb.removesuffix(" is")
    if not _is_short(answer):
        yield from _sentences(COLON, lead, phrase=phrase, answer=answer)
        return
    verb = asked.verb if asked.kind == "noun" else "is"
    yield from _sentences(NOUN, lead, phrase=phrase, verb=verb, answer=answer)
    if asked.verb == "is" and not _is_plural(answer):
        if asked.predicate:
            yield from _sentences(PREDICATE, lead, predicate=asked.predicate, answer=answer)
        elif phrase.startswith(("the ", "a ", "an ")):
            yield from _sentences(REVERSED, lead, phrase=phrase, answer=answer)


def _sentences(frames: Sequence[str], lead: str, **values: str) -> Iterator[str]:
    for frame in frames:
        sentence = frame.format(**values)
        sentence = f"{lead}, {sentence}" if lead else sentence
        yield _full_stop(sentence[:1].upper() + sentence[1:])


def _within(base: BaseSample, asked: Form) -> str:
    answer = _small(base)
    return f"{answer} {asked.unit}" if asked.unit and re.fullmatch(r"[\d.,~-]+", answer) else answer


def _small(base: BaseSample) -> str:
    """Return the answer with a small first letter, unless its first word may be a name."""
    answer = lowered(stated_answer(base))
    first = answer.split()[0]
    others = " ".join((base.question, *base.wrong)).split()
    return answer[0].lower() + answer[1:] if first[1:].islower() and first.casefold() in others else answer


def _lead(base: BaseSample, asked: Form) -> str:
    """Return how the sentence begins: the question's own lead, or the place where the question names no culture."""
    if asked.lead or _names_culture(base, base.question):
        return asked.lead
    return f"in {_place(base)}"


def _names_culture(base: BaseSample, text: str) -> bool:
    names = (base.culture, adjectives().get(base.culture, ""), *ALIASES.get(base.culture, ()))
    return any(name and re.search(rf"\b{re.escape(name)}", text) for name in names)


def _adverbial(asked: Form, answer: str) -> str:
    """Return an answer that can follow a clause, "" if it cannot."""
    way = asked.verb.split()[1]  # the way | reason | place | time
    small = answer[0].lower() + answer[1:]
    if "; " in answer:
        return ""
    if way == "reason":
        return small if re.match(r"(?:because|to|so that|due to|out of|for) ", small) else ""
    if way == "way" and re.match(r"\w{3,}ing\b", answer):
        return f"by {small}"
    return small if is_adverbial(answer) else ""


def _is_short(answer: str) -> bool:
    words = answer.split()
    if is_adverbial(f"{answer} ") or any(word.endswith("s") and word[:-1] in VERBS for word in words[1:4]):
        return False
    return (
        len(words) <= SHORT
        and not re.search(r"; |[?!]|:\s|, ", answer)
        and not _SENTENCE.match(answer)
        and not _is_order(answer)
    )


def _is_plural(answer: str) -> bool:
    return bool(re.search(r"(?<![su])s\W*$|\bpeople\b|\b(?:wo)?men\b|\bchildren\b| and ", answer))


def _is_order(answer: str) -> bool:
    words = answer.split()
    return len(words) > 1 and words[0].casefold() in VERBS and words[1].casefold() not in ("and", "or", "of")


def _filled(base: BaseSample) -> tuple[str, ...]:
    text = re.sub(r"^fill in the blanks?[:.]?\s*", "", base.question.strip().rstrip("?."), flags=re.I)
    is_question = re.match(r"(?:what|which|who|how)\b", text, re.I)
    if len(re.findall(r"_{2,}", text)) != 1 or "; " in stated_answer(base) or is_question:
        return _quoted(base)
    whole = re.sub(r"_{2,}", lambda _: _small(base), text)
    whole = whole[:1].upper() + whole[1:]
    small = lowered(whole) if not _names_culture(base, whole.split()[0]) else whole
    return _framed(FILLED, whole=whole, small=small, place=_place(base))


def _quoted(base: BaseSample) -> tuple[str, ...]:
    return _framed(QUOTED, question=clean(base.question), place=_place(base), answer=_small(base))


def _surveyed(base: BaseSample) -> tuple[str, ...]:
    place = _place(base)
    if view := survey_statements.view(base.question, base.answer):
        return _framed(SURVEY, place=place, view=view)
    question = survey_statements.core(base.question)
    return _framed(SURVEY_QUOTED, place=place, question=question, answer=stated_answer(base))


def _framed(frames: Sequence[str], **values: str) -> tuple[str, ...]:
    return tuple(_full_stop(frame.format(**values)) for frame in frames)


def _asked_differently(base: BaseSample, question: str, asked: Form | None) -> tuple[str, ...]:
    place = _place(base)
    if not asked:
        return (
            f"How would people from {place} answer this? {question}",
            f"Somebody who knows {place} is asked: {question} What is the answer?",
            f"Think of life in {place}. {question}",
        )
    lead = asked.lead or ("" if _names_culture(base, question) else f"in {place}")
    if lead and (swapped := _other_lead(base, lead)):
        lead = swapped
    phrase = asked.phrase if asked.kind == "noun" else asked.verb.removesuffix(" is")
    before, about = (f"{lead[0].upper()}{lead[1:]}, what", phrase) if lead else ("What", phrase)
    if about.startswith(("what ", "who ", "how long ", "how often ")):
        frames = ("Do you know {about}{lead}?", "Can you tell me {about}{lead}?", "Please say {about}{lead}.")
    else:
        frames = (
            "{before} would people name as {about}?",
            "Can you name {about}{lead}?",
            "I would like to hear about {about}{lead}. What would people say?",
            "Somebody asks about {about}{lead}. What is the answer?",
        )
    values = {"before": before, "about": about, "lead": f" {lead}" if lead else ""}
    return tuple(frame.format(**values) for frame in frames)


def _other_lead(base: BaseSample, lead: str) -> str:
    """Return "in Greece" for "in Greek culture", and the reverse; "" for another lead."""
    place, adjective = in_a_sentence(base.culture, "", "qa"), adjectives().get(base.culture, "")
    if re.fullmatch(r"in (?:the )?[\w ]+ culture", lead):
        return f"in {place}" if adjective and adjective in lead else ""
    return f"in {adjective} culture" if adjective and lead == f"in {place}" else ""


def _full_stop(text: str) -> str:
    """Return a sentence with an end; the mark before a closing quotation mark is its end."""
    text = text.strip()
    return text if re.search(r"[.!?。？！।][\"”’)]*$", text) else f"{text}."


def _chosen(texts: Sequence[str], seed: int, *parts: str) -> str:
    return texts[int(digest(seed, *parts)[:8], 16) % len(texts)]
