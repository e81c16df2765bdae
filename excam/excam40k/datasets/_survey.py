"""The wording of survey questions: interviewers' notes removed, gaps filled, options that are no opinions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

NON_ANSWER = (
    r"(?i)\A(dk\b|(?:i )?(?:don.?t|do not) (?:know|-)|no answer|no response|no opinion|refused|missing|"
    r"other missing|not asked|"
    r"not applicable|not available|not mentioned\z|unknown|can.?t say|cannot say|can.?t choose|can.?t rate|hard to say|"
    r"difficult to say|not sure|unsure|undecided|inap\b|never heard|haven.?t heard|"
    r"others?( (answers?|reasons?|specify|status:?))?\s*(\(.*)?\z|total\s+n\s*=|"
    r"(it )?depends( on .*)?\z|"
    r"neither( of (them|these|the two))?\s*([(/].*)?\z)"
)
# Marks of an option that the interviewer does not read aloud, in round or square brackets.
UNOFFERED = (
    r"(?i)[(\[]\s*(vol\.?|volunteered|only if volunteered|spontaneous|do not read( out)?|dnr|not read( out)?)\s*[)\]]"
)

# A point of a scale, or the number of a statement: it says nothing without the ends, or without the statement.
NUMBER = r"(?i)\A(-?[0-9]+([.,][0-9]+)?|statement #?[0-9]|(first|second|third) statement)\z"

_NOTE = re.compile(
    r"\[(?:or|read)\b[^\]]*\]|\((?:ask if|read|us only)\b[^)]*\)|\((?:now|and)\b[^()]*(?:\.{3}|…)\)\s*|"
    r", using this card(?=[.?:])|\buse this scale where 1 means[^\n]*?(?=\s{2,}\S)|"
    r"now,? I(?:['’]d| would) like you to look at this card\.\s*",
    re.I,
)
_COUNTRY = re.compile(r"\[your country\]|[(\[<](?:the )?survey country([’']s)?[>\])]", re.I)
_ALTERNATIVES = re.compile(r"<([^<>\[\]]{1,60})>|\((state(?: or |/)government)\)")
_ITEM = re.compile(r"(?:(?P<end>[.?!:…])\s*|\s+)\b[a-z]\d?\.(?!\.)\s*(?P<item>\S.*)\Z", re.S)
_DOTS = re.compile(r"(?P<word>\w*)(?P<end>[.?!)]?)\s*(?:\.{3,}|…\.?)\s*(?P<next>[\w“\"'][\w’']*)")
_OPEN = re.compile(  # words after which a sentence goes on
    r"an?|about|and|as|at|by|do|does|for|from|has|have|in|is|of|on|or|than|that|the|to|trust|was|way|with|would", re.I
)
_GOES_ON = re.compile(r"to|that|is|has|have|describes?")  # words with which one goes on
# What only says how much: "very big problem" and "moderately big problem" are one direction
_DEGREES = re.compile(
    r"\b(?:very|somewhat|rather|fairly|quite|moderately|mostly|mainly|completely|strongly|totally|definitely|probably|"
    r"generally|extremely|entirely|too|at all|a (?:great deal|lot|bit|little)|only|just)\b",
    re.I,
)
_OF_ITS_TIME = re.compile(
    r"\b(?:President|Chancellor|Premier|Prime Minister|King|Secretary|Ayatollah)\s+[A-Z]\w+|"
    r"\b(?:[Hh]eard|20[01]\d|recent(?:ly)?|political leaders|cartoons)\b"
)
_ASKS = re.compile(
    r"\?|\A(?:does|do|did|has|have|is|are|was|were|will|would|should|can)\b|\b(?:please|tell me|tell us|say|indicate|"
    r"choose|rate|whether|how|which|what|do you|would you|have you|approve|agree)\b",
    re.I,
)
_AGREE = re.compile(r"\bdisagree\b", re.I)
_AGREES = re.compile(r"agree", re.I)
_YES = re.compile(r"(?:yes|no)\b", re.I)
_GAP = re.compile(r"_{2,}")
_LINKED = re.compile(r"[\s,;]*\bOR\s*\Z")  # an option with the word that leads to the next one
_UNFILLED = re.compile(
    r"\[[^\]]*\]|_{2,}|\((?:insert|name of|relevant|dominant|nationality|survey|in your nation)[^)]*\)|"
    r"\((?:\w+/)+\w+ identification\)|\((?:\w+/){2,}\w+\)|\((?:the \w+, )+the \w+\)|…\?|\b(?:by|of|to|with) [–-] |"
    r"\bthe your\b|\byour nationality\b|\byour country (?:compan|societ)",
    re.I,
)
# The end of a question that points at statements, countries or dangers behind it, or on a card.
_POINTS = re.compile(
    r"\b(?:which|what)\s+(?:(?:one|ones|two)\s+)?(?:of\s+(?:the\s+following|these)\b|statements?\b)[^?.:…]*[?.:…\s]*\Z",
    re.I,
)
_FOR_INTERVIEWERS = re.compile(r"(?:[.?!:…]|\s{2,}|\n)\s*respondent\s*\Z", re.I)  # who is asked, not what
_ARTICLE = re.compile(r"\A(?:The|An?) (?=\w)")


def _item_in_place(text: str) -> str:
    """Return a question with the item behind it in its gap ("Do you trust ____? c. judges"), or as a sentence."""
    if not (match := _ITEM.search(text)):
        return text
    question, item = text[: match.start()] + (match["end"] or ""), match["item"].strip()
    if _GAP.search(question):
        item = _ARTICLE.sub(lambda article: article[0].lower(), item.rstrip("."))
        return _GAP.sub(lambda _: item, question).replace(f"{item} ,", f"{item},")
    return f"{question.rstrip()} {item[:1].upper()}{item[1:]}"


def _joined(dots: re.Match[str]) -> str:
    """Return what is around three dots as two sentences, as one, or as a lead and what it leads to."""
    word, end, following = dots.groups()
    if end:
        return f"{word}{end} {following if end == ')' else following[0].upper() + following[1:]}"
    if _GOES_ON.fullmatch(following) or (_OPEN.fullmatch(word) and not (word == "is" and following[0].isupper())):
        return f"{word} {following.lower() if _ARTICLE.match(f'{following} x') else following}"
    return f"{word}: {following}"


# Rule -> a question or an option as a person of the country is asked it; `country` is the name in running text.
RULES: Mapping[str, Callable[[str, str], str]] = {
    "interviewers-notes": lambda text, country: _NOTE.sub("", text).strip(),
    "alternatives": lambda text, country: _ALTERNATIVES.sub(r"\1\2", text),
    "linking-or": lambda text, country: _LINKED.sub("", text),
    "country-named": lambda text, country: _COUNTRY.sub(lambda placeholder: country + (placeholder[1] or ""), text),
    "dots": lambda text, country: _DOTS.sub(_joined, text),
    "item-in-place": lambda text, country: _item_in_place(text),
    "double-spaces": lambda text, country: re.sub(r" {2,}", " ", text),
}


def is_unfilled(text: str) -> bool:
    """Return whether something for the interviewer to fill in is left in a text."""
    return bool(_UNFILLED.search(text))


def is_of_its_time(question: str) -> bool:
    """Return whether a question is about the holder of an office or an event: who reads it cannot know the year."""
    return bool(_OF_ITS_TIME.search(question))


def is_question(text: str) -> bool:
    """Return whether a text asks for something; some are headings of a list of items only."""
    return bool(_ASKS.search(text))


def is_same_opinion(option: str, other: str, scale: Sequence[str]) -> bool:
    """Return whether two options of a question differ by degree only: in words ("very good", "quite good"), or as
    neighbours on a scale of four points or more, unless its middle lies between them.
    """
    if _direction(option) == _direction(other):
        return True
    return are_neighbours(option, other, scale) and scale.index(option) + scale.index(other) != len(scale) - 1


def are_neighbours(option: str, other: str, scale: Sequence[str]) -> bool:
    """Return whether two options stand side by side in a list of four or more."""
    listed = len(scale) > 3 and option in scale and other in scale
    return listed and abs(scale.index(option) - scale.index(other)) == 1


def _direction(option: str) -> list[str]:
    """Return the words of an option that say more than how much."""
    return re.findall(r"\w+", _DEGREES.sub("", option.casefold()))


def nothing_follows(question: str, options: Sequence[str]) -> bool:
    """Return whether a question points at what stands behind it, and neither it nor an option is there.

    "Which of the following statements comes closer to your view?" says nothing without the statements; with them in it
    ("..., the United States or China?") it does. A question that ends with the word "Respondent" lacks its item, too.
    """
    return bool(
        _FOR_INTERVIEWERS.search(question)
        or (_POINTS.search(question) and not any(_is_named(option, question) for option in options))
    )


def answers_another(question: str, options: Sequence[str], shares: Sequence[float]) -> bool:
    """Return whether the shares are of another question: two or more options are named in this one, and nobody chose
    any of them, while others were chosen; or it asks whether one agrees, and no option says so.

    The source puts the options of several questions with one beginning ("Which statement comes closer ...?") in one
    list; the shares of some of its rows are those of another one.
    """
    chosen = [option for option, share in zip(options, shares, strict=True) if share > 0]
    if _AGREE.search(question) and not any(_AGREES.search(option) or _YES.match(option) for option in chosen):
        return bool(chosen)
    named = [share for option, share in zip(options, shares, strict=True) if _is_named(option, question)]
    return len(named) > 1 and not any(share > 0 for share in named)


def _is_named(option: str, question: str) -> bool:
    """Return whether a question says an option: a short one word by word, of a longer one two words in three."""
    option_words, question_words = re.findall(r"\w+", option.casefold()), re.findall(r"\w+", question.casefold())
    if len(option_words) < 5:
        return bool(option_words) and f" {' '.join(option_words)} " in f" {' '.join(question_words)} "
    return 3 * sum(word in question_words for word in option_words) >= 2 * len(option_words)
