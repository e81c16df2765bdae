"""English questions as phrases that an answer completes: "What is a snack in Greece?" -> "a snack in Greece is".

Rules over words, without a tagger: a question that no rule takes has no form, and is then quoted instead of changed.
Nothing here knows an answer to be right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from excam.core.package_tables import table_rows

Kind = Literal["noun", "clause"]

_WORDS = {kind: frozenset(words.split(";")) for kind, words in table_rows("excam.excam40k", "english_words.tsv")[1:]}
VERBS = _WORDS["verb"]  # base forms that a question's verb may have
SMALL = _WORDS["small"]  # first words of answers that are no names
_ADVERBS = (
    r"(?:also|always|commonly|customarily|first|frequently|generally|mostly|never|normally|not|often|only|primarily|"
    r"rarely|really|sometimes|still|traditionally|typically|usually|most|best|\w{3,}ly)"
)
_IRREGULAR = "known|given|eaten|worn|seen|held|made|shown|done|taken|served|drunk|born|built|sung|said|kept|spent|sold"
_PARTICIPLE = rf"(?:\w{{2,}}ed|{_IRREGULAR}|taught|thought|spoken|brought|left|broken|found|set|told)"
_DETERMINER = re.compile(r"(?:the|an?|one|some|your|their|its|this|[\w-]+['’]s?|[A-Z]\w+ [A-Z]\w+['’]s?)\s", re.I)
_LEAD = re.compile(
    r"(?P<lead>(?:in|within|at|on|during|according to|when|for|among|as part of|after|before|while)\b[^?]{2,110}?),\s+"
    r"(?=(?:(?:in|on|at|from|for|to|of|with|by) (?:which|what)|what|which|who|how|when|where|why)\b)",
    re.I,
)
_NOTE = re.compile(r"\s*\((?:provide|please|choose|e\.g)[^()]*(?:\([^()]*\)[^()]*)*\)", re.I)
_UNIT = re.compile(r"\s*\((?:in )?(?P<unit>minutes|hours|days|weeks|months|years)\)", re.I)
_ASIDE = re.compile(r"\s*(?:All answers can happen|All of these|Choose|Select)\b[^?]*$")
_WAITING = re.compile(r"\b(?:expected|supposed|likely|allowed|required|encouraged|advised|meant) to\b")
_TWO = re.compile(r",? and (?:how|what|why|when|where|with whom|who)\b|\?.+\?|\bwhat is it\b", re.I | re.S)
_MEASURES = frozenset({"time", "color", "colour", "date", "age", "size", "shape", "price", "name"})
_NO_SUBJECT = frozenset({"to", "the", "a", "an", "get", "be", "been", "being", "getting", "have", "has", "had"})
_POINTS = frozenset({"time", "day", "month", "season", "year"})
_MODALS = frozenset({"can", "could", "should", "would", "will", "might", "may", "must"})
_AUXILIARIES = frozenset({"is", "are", "was", "were", "do", "does", "did", "has", "have"}) | _MODALS
_ADVERBIAL = re.compile(
    r"(?:by|with|in|on|at|to|through|using|because|during|when|after|before|every|from|once|under|near|inside|outside|"
    r"around|until|while|as|if|for|due|twice|(?!family|friend|italy|july|jelly|only|assembly|elderly|lovely|daily)\w+ly)\s",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Form:
    """A question as a phrase. noun: `phrase` `verb` answer; clause: `phrase` answer.

    Of a clause, `verb` is the phrase as a noun: "the place where people live is".

    `predicate`, where it is not empty, follows an answer: "is usually offered at funerals". `lead` begins the sentence
    ("in Greek culture"), and is empty if there is none. `unit` belongs behind a number.
    """

    kind: Kind
    phrase: str
    verb: str = "is"
    predicate: str = ""
    lead: str = ""
    unit: str = ""


def clean(question: str) -> str:
    """Return a question without notes on the form of its answer, ending in a mark."""
    text = _ASIDE.sub("", _UNIT.sub("", _NOTE.sub("", " ".join(question.split())))).strip()
    text = re.sub(r"\s+([?.,])", r"\1", text)
    if text.endswith((".", "!", ":")) or "?" in text or "_" in text:
        return text
    return f"{text}?"


def form(question: str) -> Form | None:
    """Return the form of an English question, None if no rule takes it."""
    unit = match["unit"].lower() if (match := _UNIT.search(question)) else ""
    text = clean(question).rstrip("?").strip()
    if "_" in text:
        return None
    lead, rest = _lead(text)
    if _TWO.search(rest) or ". " in rest or "?" in rest:
        return None
    for rule in _RULES:
        if shape := rule(rest):
            return replace(shape, lead=lead, unit=unit)
    return None


def is_adverbial(answer: str) -> bool:
    """Return whether an answer says how, when, where or why, so that it can follow a clause."""
    return bool(_ADVERBIAL.match(answer))


def lowered(text: str) -> str:
    """Return text with a small first letter, unless its first word looks like a name or an abbreviation."""
    words = text.split()
    if not words or not text[0].isupper() or words[0] == "I" or words[0].startswith("I'") or words[0][1:2].isupper():
        return text
    first = re.sub(r"\W+$", "", words[0])
    if first.casefold() in SMALL or first.casefold() in VERBS or (first.endswith(("ing", "ly")) and len(first) > 5):
        return text[0].lower() + text[1:]
    return text


def _lead(text: str) -> tuple[str, str]:
    if match := _LEAD.match(text):
        rest = text[match.end() :]
        return _small_start(match["lead"]), _small_start(rest)
    return "", _small_start(text)


def _small_start(text: str) -> str:
    return text[:1].lower() + text[1:]


def _what_is(rest: str) -> Form | None:
    match = re.match(r"(?P<word>what|which|who)(?P<be>['’]s| is| are| was| were) (?P<rest>.+)", rest)
    if not match:
        return None
    be, rest = match["be"].strip().replace("’", "'").replace("'s", "is"), match["rest"]
    if _DETERMINER.match(rest):
        bare = re.split(r"\b(?:that|which|who|when|where)\b", rest)[0]
        if _WAITING.search(bare) or rest.endswith((" called", " doing", " for", " like", " about")):
            return None
        verb = {"are": "include", "were": "included"}.get(be, be)
        return Form("noun", rest, verb)
    if re.match(rf"(?:{_ADVERBS} )+\w|(?:{_PARTICIPLE}|common|customary|polite|unique|normal)\b", rest):
        be = {"are": "is", "were": "was"}.get(be, be)
        predicate = f"{be} {rest}"
        word = match["word"] if match["word"] == "who" else "what"
        return Form("noun", f"{word} {predicate}", "is", predicate)
    return None


def _which(rest: str) -> Form | None:
    """Take "what|which NOUN AUXILIARY ...", with a preposition before it or none."""
    match = re.match(r"(?:(?P<prep>in|on|at|from|for|to|with|by|of) )?(?:what|which) (?P<rest>.+)", rest)
    if not match:
        return None
    words = match["rest"].split()
    place = next((at for at, word in enumerate(words[:9]) if word in _AUXILIARIES), None)
    if place is None:
        return None if match["prep"] else _which_without_auxiliary(words)
    if not place:
        return None if match["prep"] else _what(words)
    noun, auxiliary, rest = " ".join(words[:place]), words[place], " ".join(words[place + 1 :])
    if noun.startswith(("of the following", "one of the following")):
        noun = re.sub(r"(?<=[^s])s$", "", re.sub(r"^(?:one )?of the following ?", "", noun))
    if not rest or re.search(r"^(?:one )?of\b|\b(?:this|these|his|her|following|that|who)\b|n.t\b", noun):
        return None
    if not noun:
        return Form("noun", f"what {auxiliary} {rest}", "is", f"{auxiliary} {rest}")
    head = re.split(r" (?:of|in|for) ", noun)[0]
    if head in _POINTS and auxiliary in ("is", "are", "was", "were") and not match["prep"] and not _says(rest):
        timed = _clause(auxiliary, rest)
        return None if not timed else Form("noun", f"the {noun} when {timed}")
    verb = "include" if head.endswith("s") and not head.endswith(("ss", "us")) else "is"
    if noun.casefold() in _MEASURES and auxiliary in ("is", "was") and _DETERMINER.match(rest):
        return Form("noun", f"the {noun} of {rest}", "is")
    joined = f"{match['prep']} which" if match["prep"] else "when" if head in _POINTS else "that"
    if head in _POINTS and auxiliary not in ("do", "does"):
        joined = joined.replace("when", "that")
    if auxiliary in ("is", "are", "was", "were", "has", "have") and not match["prep"]:
        if auxiliary in ("have", "has") and re.match(r"(?:the|people|an?)\b|[A-Z]", rest) and " the " not in rest[:5]:
            return None if not rest.startswith("the ") else _predicate(noun, auxiliary, rest, verb)
        if re.match(r"(?:people|you|they|we|there|he|she|[A-Z]\w+s)\b", rest):
            return None
        if rest.startswith("it "):
            return Form("noun", f"the {noun} that it {auxiliary} {rest[3:]}")
        return _predicate(noun, auxiliary, rest, verb)
    clause = _clause(auxiliary, rest)
    return None if not clause else Form("noun", f"the {noun} {joined} {clause}", verb)


def _says(rest: str) -> bool:
    """Return whether words behind "is" say something of its subject, as "usually dedicated to dance" does."""
    return bool(re.match(rf"(?:{_ADVERBS} )*(?:{_PARTICIPLE}|the (?:most|best|first|last))\b|{_ADVERBS} ", rest))


def _predicate(noun: str, auxiliary: str, rest: str, verb: str) -> Form:
    whole = re.match(r"(?:the|an?) ", rest)  # else an answer before it would not say which noun is asked about
    return Form("noun", f"the {noun} that {auxiliary} {rest}", verb, f"{auxiliary} {rest}" if whole else "")


def _which_without_auxiliary(words: list[str]) -> Form | None:
    for at, word in enumerate(words[1:7], 1):
        stem = re.sub(r"(?:es|s)$", "", word)
        if word not in VERBS and (stem in VERBS or f"{stem}e" in VERBS) and word.endswith("s"):
            return _predicate(" ".join(words[:at]), word, " ".join(words[at + 1 :]), "is")
        if re.fullmatch(r"originated|best|most|symbolizes|reflects|characterizes", word):
            return Form("noun", f"the {' '.join(words[:at])} that {' '.join(words[at:])}", "is")
    return None


def _what(words: list[str]) -> Form | None:
    """Take "what do|does|should ... VERB ...": `words` begins with the auxiliary."""
    clause = _clause(words[0], " ".join(words[1:])) if words[0] not in ("has", "have") else None
    return None if not clause else Form("noun", f"what {clause}", "is")


def _how_many(rest: str) -> Form | None:
    match = re.match(
        r"how (?P<of>many|much) (?P<noun>(?:\w+ ){1,4}?)(?P<aux>are there|is there|do|does|are|is) (?P<r>.+)", rest
    )
    if not match:
        return None
    noun, auxiliary = match["noun"].strip(), match["aux"]
    counted = f"the number of {noun}" if match["of"] == "many" else f"the amount of {noun}"
    if auxiliary.endswith("there"):
        return Form("noun", f"{counted} {match['r']}")
    if auxiliary in ("are", "is"):
        predicate = f"that {auxiliary} {match['r']}"
        return (
            Form("noun", f"{counted} {predicate}") if re.match(rf"(?:{_ADVERBS} )*{_PARTICIPLE}", match["r"]) else None
        )
    clause = _clause(auxiliary, match["r"])
    return None if not clause else Form("noun", f"{counted} that {clause}")


def _how_long(rest: str) -> Form | None:
    if match := re.match(r"how long (?:is|are) (.+)", rest):
        return Form("noun", f"the length of {match[1]}")
    if match := re.match(r"how (long|often) (do|does) (.+)", rest):
        clause = _clause(match[2], match[3])
        return None if not clause else Form("noun", f"how {match[1]} {clause}")
    return None


_WAYS = {"how": "the way in which", "why": "the reason why", "where": "the place where", "when": "the time when"}


def _adverb(rest: str) -> Form | None:
    """Take "how|why|where|when AUXILIARY ..."."""
    match = re.match(r"(?P<word>how|why|where|when) (?P<aux>\w+) (?P<rest>.+)", rest)
    if not match:
        return None
    word, auxiliary, rest = match["word"], match["aux"], match["rest"]
    if word == "when" and auxiliary == "is" and not re.search(rf"\b{_PARTICIPLE}\b|\bit\b", rest):
        return Form("noun", f"the time of {rest}")
    clause = _clause(auxiliary, rest)
    return None if not clause else Form("clause", clause, f"{_WAYS[word]} {clause} is")


def _clause(auxiliary: str, rest: str) -> str | None:
    """Return a question's words behind its question word as a clause: ("does", "a bride wear") -> "a bride wears"."""
    if re.search(r"\bnot\b", rest.split(" to ")[0]):
        return None
    if auxiliary == "do":
        return rest
    words = rest.split()
    if auxiliary in ("is", "are", "was", "were"):
        return _with_auxiliary(auxiliary, words, lambda word: bool(re.fullmatch(_PARTICIPLE, word)))
    if auxiliary == "has" and (match := re.fullmatch(r"(.+?) been (.+)", rest)):
        return f"{match[1]} has been {match[2]}"
    if auxiliary in _MODALS:
        return _with_auxiliary(auxiliary, words, VERBS.__contains__)
    if auxiliary == "does":
        for at in range(1, len(words)):
            if words[at] in VERBS and words[at - 1].casefold() not in ("to", "the", "a"):
                return " ".join([*words[:at], _third_person(words[at]), *words[at + 1 :]])
    return None


def _with_auxiliary(auxiliary: str, words: list[str], is_verb: Callable[[str], bool]) -> str | None:
    if words and is_verb(words[0]):  # no subject before it
        return None
    for at in range(1, len(words)):
        if is_verb(words[at]) and words[at - 1].casefold() not in _NO_SUBJECT:
            before = at
            while before > 1 and re.fullmatch(_ADVERBS, words[before - 1]):
                before -= 1
            return " ".join([*words[:before], auxiliary, *words[before:]])
    return None


def _third_person(verb: str) -> str:
    if verb in ("have", "be"):
        return {"have": "has", "be": "is"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


_RULES: tuple[Callable[[str], Form | None], ...] = (_what_is, _which, _how_many, _how_long, _adverb)
