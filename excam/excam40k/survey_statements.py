"""What most people of a country answer in a survey, as the rest of a sentence: "have a favorable opinion of China".

The right answer of GlobalOpinionQA is the most frequent one, not always that of a majority: frames say "most often".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_INTRODUCTION = re.compile(
    r"^(?:\((?:now )?I am going[^()]*\)\s*|(?:and |next,? )?(?:now,? )?(?:I['’]m|I am|I['’ ]+d like|I will|"
    r"we would like|here (?:is|are)|as I read|for each|on a (?:different|scale)|turning to|changing)[^.?:]*[.:?]\s*)+"
    r"(?=\S.{25})",
    re.I | re.S,
)
_THEIRS = (
    (r"\byou yourself\b", "they themselves"),
    (r"\b(?:your|our) country['’]s\b", "their country’s"),
    (r"\b(?:your|our|my)\b", "their"),
    (r"\b(do|are|would|have|did|can|could|should|were|if|that|what|whether|as|how|which) you\b", r"\1 they"),
    (
        r"\byou(?= (?:\w+ly )?(?:have|think|feel|believe|trust|would|are|do|consider|agree|want|can|need|get|find)\b)",
        "they",
    ),
    (r"\b(?:you|we|(?-i:us)|me)\b", "them"),
    (r"\bthis country\b", "their country"),
)


def core(question: str) -> str:
    """Return a survey question without the interviewer's introduction, on one line.

    The introduction stays if the question refers to it, or does not begin behind it.
    """
    text = " ".join(question.split())
    shorter = _INTRODUCTION.sub("", text)
    refers = re.search(r"\b(?:he|she|each|these|those)\b", shorter) or not re.match(r"[^.?!]*\?", shorter)
    whole = len(shorter.split()) > 11 and re.search(r"\byou(?:r|rself)?\b", shorter)
    return shorter if whole and not refers else text


def view(question: str, answer: str) -> str:
    """Return what people do who give this answer, behind "people": a verb phrase; "" where no rule takes it."""
    text = " ".join(question.split())
    said = answer.strip().rstrip(".")
    for pattern, writes, _ in _RULES:
        if (match := re.search(pattern, text)) and (phrase := writes(match, said[:1].lower() + said[1:])):
            return " ".join(phrase.split())
    return ""


def third_person(text: str) -> str:
    """Return words addressed to a person as words about people: "your country" -> "their country"."""
    for pattern, instead in _THEIRS:
        text = re.sub(pattern, instead, text, flags=re.I)
    return text


def _item(text: str) -> str:
    text = third_person(text.strip().rstrip(".?:,! "))
    return re.sub(
        r"^(?:The|An?|Our|People|Having|Politics|Religion|Work|Family|Friends|Leisure)\b",
        lambda word: word[0].lower(),
        text,
    )


def _short(text: str, words: int = 18) -> bool:
    return 0 < len(text.split()) <= words and not re.search(r"\?|\. | OR |\bor not\b", text)


def _when(views: Mapping[str, str], words: int = 18) -> Callable[[re.Match[str], str], str]:
    """Return a writer of the view of an answer, by the first pattern of it, on an item of at most so many words."""

    def write(match: re.Match[str], said: str) -> str:
        values = {"x": _item(match["x"]), "said": said, "kind": third_person(match.groupdict().get("kind", ""))}
        view = next((view for pattern, view in views.items() if re.fullmatch(pattern, said, re.S)), "")
        return view.format(**values) if _short(values["x"], words) else ""

    return write


def _confidence(match: re.Match[str], said: str) -> str:
    leader = match["x"].strip(" .?:")
    known = said.endswith("confidence") or (said.endswith("at all") and _short(leader, 9))
    return f"have {said} in {leader}" if known else ""


def _approve(match: re.Match[str], said: str) -> str:
    return "" if "each one" in match["x"] else _when({"approve|disapprove": "{said} of {x}"}, 24)(match, said)


_RULES = (  # what a question looks like; its view; two questions that ask the same of a place
    (
        r"unfavou?rable opinion of (?P<x>[^?]+)\??$",
        _when({".*favorable.*": "have a {said} opinion of {x}"}),
        ("What do people in {place} mostly think of {x}?", "Is {x} seen well or badly in {place}?"),
    ),
    (
        r"[Dd]o you think (?:that )?(?P<x>[^?]+?) (?:is|are|as|poses?|pose\(s\)) a major threat, a minor threat,? or "
        r"(?:not a|no) threat to (?P<kind>[^?]+)\?$",
        _when({"not a threat": "do not see {x} as a threat to {kind}", ".*threat.*": "see {x} as a {said} to {kind}"}),
        (
            "How dangerous is {x} in the eyes of people in {place}?",
            "What do people from {place} say of the danger from {x}?",
        ),
    ),
    (
        r"confidence,? or no confidence at all[.?:]* (?P<x>[A-Z][^?:]{4,70})\??$",
        _confidence,
        (
            "How far do people in {place} trust {x}?",
            "How do people from {place} rate {x} as a leader in world affairs?",
        ),
    ),
    (
        r"problem at all[:.)]+ (?P<x>[^:]+)$",
        _when(
            {
                "not a.*problem.*": "do not consider {x} a problem",
                ".*problem.*": "consider {x} a {said} for their country",
            }
        ),
        ("How serious a problem is {x} for people in {place}?", "How much does {x} trouble people in {place}?"),
    ),
    (
        r"approve or disapprove of (?P<x>the way [^?]+|[A-Z][^?]+|the international [^?]+|allowing [^?]+)[.?]?$",
        _approve,
        ("What do people in {place} think of {x}?", "Are people from {place} happy with {x}?"),
    ),
    (
        r"(?:[Dd]o you|[Ww]ould you) (?:support or oppose|favou?r or oppose|oppose or favou?r) (?P<x>[^?:]+)\?$",
        _when({"support|oppose|favor": "{said} {x}"}, 24),
        ("Are people in {place} for or against {x}?", "What is the attitude of people in {place} to {x}?"),
    ),
    (
        r"How important is it to you (?P<x>to [^?]+)\?",
        _when({r"(?:.*\s)?important": "find it {said} {x}"}, 24),
        ("How much does it matter to people in {place} {x}?", "Do people in {place} care whether it is possible {x}?"),
    ),
    (
        r"how important it is in your life.* (?P<x>[A-Z][\w ]+)$",
        _when({".*important.*": "say that {x} is {said} in their life"}, 5),
        (
            "How much does {x} matter to people in {place}?",
            "What place does {x} have in the life of people in {place}?",
        ),
    ),
    (
        r"[Dd]o you (?:personally )?believe that (?P<x>[^?]+?) is morally acceptable",
        _when({"not a.*": "hold that {x} is not a moral issue", ".*": "hold that {x} is {said}"}, 14),
        (
            "Is {x} right or wrong in the eyes of people in {place}?",
            "What do people from {place} think of {x} morally?",
        ),
    ),
    (
        r"In which of the following things do you believe, if you believe in any\? (?P<x>\w+)$",
        _when({"yes": "say that they do believe in {x}", "no": "say that they do not believe in {x}"}),
        ("Do people in {place} believe in {x}?", "What do people from {place} say about believing in {x}?"),
    ),
    (
        r"can always be justified, never be justified.*?(?:[.?:]) (?P<x>[A-Z][^?:.]+)$",
        _when(
            {
                "never.*": "hold that {x} can never be justified",
                "always.*": "hold that {x} can always be justified",
            },
            14,
        ),
        ("Can {x} be justified, in the eyes of people in {place}?", "What do people from {place} think of {x}?"),
    ),
)
_YOU = re.compile(r"\b(?P<aux>do|are|have|would|did|can|could|should|were) you\b", re.I)
_OPTIONS = re.compile(
    r"\s*[-–—]+\s*(?:a|very|all|one|strongly|completely|great|none)\b[^?]*(?=\?)|"
    r"(?<=\?) (?:Is it|Are you) (?:a )?very [^?]+\?$"
)


def questions(question: str, place: str) -> tuple[str, ...]:
    """Return questions that ask the same about people of a place; none where no rule takes the question."""
    text = " ".join(question.split())
    for pattern, _, asked in _RULES:
        if (match := re.search(pattern, text)) and _short(item := _item(match["x"]), 24):
            return tuple(template.format(place=place, x=item) for template in asked)
    shorter = _OPTIONS.sub("", core(question))
    if not _YOU.search(shorter) or re.search(r"\byou (?:please )?(?:tell|say for|look|indicate)\b|\bI\b", shorter):
        return ()
    changed = third_person(_YOU.sub(lambda phrase: f"{phrase['aux']} PEOPLE", shorter, count=1))
    return tuple(
        changed.replace("PEOPLE", people) for people in (f"most people in {place}", f"people from {place} mostly")
    )
