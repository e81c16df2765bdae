"""What can go wrong, as types. "Error" alone always means a cultural error, so no class here is called that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ExcamError(Exception):
    """Something the user can act on. Its text is one line: what, found, expected, next."""


def in_a_line(problem: BaseException) -> str:
    """What a library says of a problem, in at most 200 characters of one line; its name where it says nothing."""
    return " ".join(str(problem).split())[:200] or type(problem).__name__


class ConfigInvalid(ExcamError):
    """The configuration cannot be an experiment."""


class SourceInvalid(ExcamError):
    """A benchmark's files are missing, changed or empty."""


class InputInvalid(ExcamError):
    """A file or a value handed in by the user is not usable."""


class ModelInvalid(ExcamError):
    """A model or an adapter cannot be loaded or used as asked."""


class ArtifactBroken(ExcamError):
    """A file of an earlier step is not what its manifest says."""


class AnswersMissing(ExcamError):
    """A model left requests unanswered. `reasons`: why, by the place of the request or the name of its row."""

    def __init__(self, reasons: Mapping[int, str] | Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        row, reason = next(iter(self.reasons.items()))
        super().__init__(
            f"{len(reasons)} requests unanswered, the first is {row}: {reason}; run again: only those are asked"
        )

    def named(self, names: Sequence[str]) -> AnswersMissing:
        """The same, by the name of each request's row; of several requests about one row, the first says why."""
        named: dict[str, str] = {}
        for at, reason in self.reasons.items():
            named.setdefault(names[int(at)], reason)
        return AnswersMissing(named)
