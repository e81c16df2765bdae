"""Exception types. "Error" alone always means a cultural error, so only the base class has it in its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

ChoiceT = TypeVar("ChoiceT", bound=str)


class ExcamError(Exception):
    """Something the user can act on. Its text is one line: what, found, expected, next."""


def in_a_line(problem: BaseException | str) -> str:
    """Return a text or the message of an exception as one line of at most 200 characters; its type without one."""
    return " ".join(str(problem).split())[:200] or type(problem).__name__


class ConfigInvalid(ExcamError):
    """The configuration does not describe a valid experiment."""


class SourceInvalid(ExcamError):
    """A benchmark's files are missing, changed or empty."""


class InputInvalid(ExcamError):
    """A file or a value handed in by the user is not usable."""


def expect_choice(name: str, value: str, options: Iterable[ChoiceT]) -> ChoiceT:
    """Return the choice of `options` that a value is. Raise InputInvalid for another one; `name` says of what."""
    choices: dict[str, ChoiceT] = {choice: choice for choice in options}
    if value not in choices:
        raise InputInvalid(f"{name}: found {value}; expected {' or '.join(choices)}")
    return choices[value]


class ModelInvalid(ExcamError):
    """A model or an adapter cannot be loaded or used as asked."""


class ArtifactBroken(ExcamError):
    """A file of an earlier step is damaged, or differs from its manifest."""


class AuditFailed(ExcamError):
    """Rows failed an audit, and are neither trained on nor published."""


class AnswersMissing(ExcamError):
    """A model left requests unanswered. `reasons` maps the index of a request, or the name of its row, to a reason."""

    def __init__(self, reasons: Mapping[int, str] | Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        row, reason = next(iter(self.reasons.items()))
        super().__init__(
            f"{len(reasons)} requests unanswered, the first is {row}: {reason}; run again: only those are asked"
        )

    def with_row_names(self, names: Sequence[str]) -> AnswersMissing:
        """Return this exception with row names as keys; a row with several requests keeps its first reason.

        `names` has the row's name of each request.
        """
        named: dict[str, str] = {}
        for at, reason in self.reasons.items():
            named.setdefault(names[int(at)], reason)
        return AnswersMissing(named)
