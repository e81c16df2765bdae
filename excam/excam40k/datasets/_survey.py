"""The wording of survey questions: interviewers' notes removed, gaps filled, options that are no opinions."""

from __future__ import annotations

import re

NON_ANSWER = (
    r"(?i)\A(dk\b|don.?t (?:know|-)|no answer|no response|no opinion|refused|missing|other missing|not asked|"
    r"not applicable|not available|not mentioned\z|unknown|can.?t say|cannot say|can.?t choose|can.?t rate|hard to say|"
    r"difficult to say|not sure|unsure|undecided|inap\b|never heard|haven.?t heard|"
    r"others?( (answers?|reasons?|specify))?\s*(\(.*)?\z|"
    r"neither( of (them|these|the two))?\s*([(/].*)?\z)"
)
UNOFFERED = r"(?i)\((vol\.?|do not read)\)|\[(vol\.?|do not read|only if volunteered)\]"

NUMBER = r"\A[0-9]+\z"  # a point of a scale, which says nothing without its ends

_NOTE = re.compile(r"\[(?:or|read)\b[^\]]*\]|\((?:ask if|read|us only)\b[^)]*\)", re.I)
_COUNTRY = re.compile(r"\[your country\]|[(\[<](?:the )?survey country([’']s)?[>\])]", re.I)
_ALTERNATIVES = re.compile(r"<([^<>\[\]]{1,60})>")
_ITEM = re.compile(r"(?:(?P<end>[.?!:…])\s*|\s+)\b[a-z]\d?\.(?!\.)\s*(?P<item>\S.*)\Z", re.S)
_DOTS = re.compile(r"(?P<word>\w*)(?P<end>[.?!)]?)\s*(?:\.{3,}|…\.?)\s*(?P<next>[\w“\"'])")
_OPEN = {  # words after which a sentence goes on
    *(
        "a",
        "about",
        "an",
        "and",
        "as",
        "at",
        "by",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "of",
        "on",
        "or",
    ),
    *("than", "that", "the", "to", "trust", "was", "with", "would"),
}
_GAP = re.compile(r"_{2,}")
_UNFILLED = re.compile(
    r"\[[^\]]*\]|_{2,}|\((?:insert|name of|relevant|dominant|nationality|survey|in your nation)[^)]*\)|"
    r"\bthe your\b|\byour nationality\b",
    re.I,
)
_ARTICLE = re.compile(r"\A(?:The|An?) (?=\w)")


def complete(text: str, country: str) -> str:
    """Return a question or an option as a person of the country is asked it; `is_unfilled` if that is not possible.

    A gap is filled with the item behind the question ("Do you trust ____? c. judges"); without a gap, the item follows
    the question as a sentence of its own. `country` is the name in running text.
    """
    text = _ALTERNATIVES.sub(r"\1", _NOTE.sub("", text)).strip()
    text = _COUNTRY.sub(lambda found: country + (found[1] or ""), text)
    text = _DOTS.sub(_joined, text)
    if found := _ITEM.search(text):
        question, item = text[: found.start()] + (found["end"] or ""), found["item"].strip()
        if _GAP.search(question):
            item = _ARTICLE.sub(lambda article: article[0].lower(), item.rstrip("."))
            return _GAP.sub(lambda _: item, question).replace(f"{item} ,", f"{item},")
        return f"{question.rstrip()} {item[:1].upper()}{item[1:]}"
    return re.sub(r" {2,}", " ", text)


def _joined(dots: re.Match[str]) -> str:
    """Return what is around three dots as two sentences, as one, or as a lead and what it leads to."""
    word, end, following = dots.groups()
    if end:
        return f"{word}{end} {following if end == ')' else following.upper()}"
    return f"{word} {following}" if word.casefold() in _OPEN else f"{word}: {following}"


def is_unfilled(text: str) -> bool:
    """Return whether something for the interviewer to fill in is left in a text."""
    return bool(_UNFILLED.search(text))
