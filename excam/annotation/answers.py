"""The answer of an annotator to one task, and its validation (ExCAM App. G, Figures 7-9).

The page, the store, the exported files and the tables use the same names and values. A value that is not on the lists
is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any

from excam.core.exceptions import InputInvalid

SIMILARITY: Mapping[str, str] = MappingProxyType(
    {
        "1": "1 - Not similar at all",
        "2": "2 - Slightly similar",
        "3": "3 - Moderately similar",
        "4": "4 - Very similar",
        "5": "5 - Nearly identical",
        "no_error": "Explanation says that no error was detected",
    }
)
# What can be chosen, with the words of the paper's page; the empty value is a question not answered yet.
CHOICES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "culture_related": {
            "yes": "Yes - culture-related",
            "no": "No - not culture-related",
            "dont_know": "Don't Know",
        },
        "error_valid": {
            "valid": "Valid Cultural Error(s)",
            "partly": "Partly Valid Cultural Error(s)",
            "not_valid": "NO Valid Cultural Error(s)",
            "no_change": "Text highlighted without changes",
            "dont_know": "Don't Know",
        },
        "explanation_valid": {
            "valid": "The explanation is completely valid",
            "partly": "The explanation is partly valid",
            "not_valid": "The explanation is not valid",
            "dont_know": "Don't Know",
        },
        "changed_mind": {"yes": "Yes", "no": "No", "dont_know": "Don't Know"},
        "similarity_1": SIMILARITY,
        "similarity_2": SIMILARITY,
    }
)
STEPS = (  # what each step asks for; a step is open when those before it are answered
    ("culture_related", "error_valid"),
    ("explanation_valid", "changed_mind"),
    ("similarity_1", "similarity_2"),
)
MAX_COMMENT = 5000  # characters
MAX_SECONDS = 10**7
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
PATTERNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "task": re.compile(r"[0-9a-f]{16}"),
        "annotator": re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}"),
        "saved": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII),
    }
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's answers about one task.

    `skipped` is "I don't speak this language": nothing else is asked then. `severity_ok` and `type_ok` are the two
    check boxes of step 2, which mean "not reasonable" where unchecked; they count once step 2 is answered.
    """

    task: str
    annotator: str
    culture_related: str = ""
    borderline: bool = False
    skipped: bool = False
    error_valid: str = ""
    comment_1: str = ""
    severity_ok: bool = False
    type_ok: bool = False
    explanation_valid: str = ""
    changed_mind: str = ""
    comment_2: str = ""
    similarity_1: str = ""
    similarity_2: str = ""
    seconds: int = 0  # the task was on the screen of a visible page
    saved: str = ""  # when, in UTC, as "2026-04-01T12:00:00.000Z"

    @property
    def steps(self) -> int:
        """Return the number of answered steps, 0 to 3; a step counts only if all before it are answered."""
        open_ = [not all(getattr(self, name) for name in step) for step in STEPS]
        return open_.index(True) if True in open_ else len(STEPS)

    @property
    def done(self) -> bool:
        """Return whether nothing more is asked: the task is skipped, or every step is answered."""
        return self.skipped or self.steps == len(STEPS)


FIELDS = tuple(field.name for field in fields(Answer))
FLAGS = ("borderline", "skipped", "severity_ok", "type_ok")
COMMENTS = ("comment_1", "comment_2")


def read(raw: Mapping[str, Any]) -> Answer:
    """Return the answer in a dictionary that has exactly its fields, with values of the right type from the lists.

    Raises InputInvalid with what was found and what is expected. An answer may be unfinished, but a step is answered
    only after the one before it, and a skipped task has nothing but comments.
    """
    if unlike := sorted(set(FIELDS) ^ set(raw)):
        raise InputInvalid(f"answer: {unlike[0]} is {'missing' if unlike[0] in FIELDS else 'unknown'}")
    for name, value in raw.items():
        _check(name, value)
    found = Answer(**raw)
    if found.skipped and any(getattr(found, name) for step in STEPS for name in step):
        raise InputInvalid(f"answer: task {found.task} is skipped and answered; expected one of the two")
    late = [name for step in STEPS[found.steps + 1 :] for name in step if getattr(found, name)]
    late += [name for name in ("severity_ok", "type_ok") if getattr(found, name) and not found.steps]
    if late:
        raise InputInvalid(f"answer: {late[0]} of task {found.task} is answered before the step in front of it")
    return found


def _check(name: str, value: Any) -> None:
    """Raise InputInvalid if a field cannot have this value."""
    expected = bool if name in FLAGS else int if name == "seconds" else str
    if type(value) is not expected:
        raise InputInvalid(f"answer: {name} is a {type(value).__name__}; expected {expected.__name__}")
    if isinstance(value, str):
        _check_text(name, value)
    elif name == "seconds" and not 0 <= value <= MAX_SECONDS:
        raise InputInvalid(f"answer: seconds is {value}; expected 0 to {MAX_SECONDS}")


def _check_text(name: str, value: str) -> None:
    if name in CHOICES and value and value not in CHOICES[name]:
        raise InputInvalid(f"answer: {name} is {value[:40]!r}; expected {', '.join(CHOICES[name])}")
    if name in COMMENTS and len(value) > MAX_COMMENT:
        raise InputInvalid(f"answer: {name} has {len(value)} characters; expected at most {MAX_COMMENT}")
    if name in COMMENTS and UNWRITABLE.search(value):
        raise InputInvalid(f"answer: {name} holds characters that a file cannot")
    if name in PATTERNS and not PATTERNS[name].fullmatch(value):
        raise InputInvalid(f"answer: {name} is {value[:40]!r}; expected {PATTERNS[name].pattern}")
    if name == "saved" and not _is_time(value):
        raise InputInvalid(f"answer: saved is {value!r}; expected a time that is on the calendar and the clock")


def _is_time(text: str) -> bool:
    """Return whether a text with the pattern of `saved` is a valid time: no February 30th, no hour 25."""
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return False
    return True
