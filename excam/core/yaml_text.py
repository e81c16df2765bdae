"""Read YAML that anybody may have written: a short text may stand for billions of values by its aliases."""

from __future__ import annotations

from typing import Any

import yaml
from yaml.parser import ParserError
from yaml.scanner import ScannerError

MOST = 100_000  # values; the longest file of ours has a few thousand
DEEPEST = 50  # levels of lists and mappings; ours have at most ten


class TooLarge(yaml.YAMLError):
    """A value with more parts or levels than any file of ours has."""


def load(text: str) -> Any:
    """Return the value of a YAML text. Raise yaml.YAMLError of one line, also for a value that is too large."""
    try:
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as problem:
        raise yaml.YAMLError(_with_place(problem)) from None
    except RecursionError:
        raise TooLarge(f"more than {DEEPEST} levels; expected fewer") from None
    refuse_larger(value)
    return value


def _with_place(problem: yaml.MarkedYAMLError) -> str:
    """Return line, column and problem, and the cure of the usual one: a text that needs quotation marks."""
    mark = problem.problem_mark or problem.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    is_syntax = isinstance(problem, ScannerError | ParserError)
    cure = "; a text with : ? # , or a bracket in it stands between quotation marks" if is_syntax else ""
    return f"{where}{' '.join((problem.problem or str(problem)).split())}{cure}"


def refuse_larger(value: Any) -> None:
    """Raise TooLarge for a value of more than `MOST` parts or `DEEPEST` levels, shared ones counted at each place.

    Each part is visited once, so the time is that of the text, not of what it stands for.
    """
    _size(value, {}, DEEPEST)


def _size(value: Any, sizes: dict[int, tuple[int, int]], left: int) -> tuple[int, int]:
    """Return how many parts and levels a value has; `sizes` holds those of the containers that were counted."""
    if not isinstance(value, dict | list | tuple):
        return 1, 0
    if left == 0:  # also a value that holds itself
        raise TooLarge(f"more than {DEEPEST} levels; expected fewer")
    if id(value) not in sizes:
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        counted = [_size(part, sizes, left - 1) for part in parts]
        sizes[id(value)] = 1 + sum(count for count, _ in counted), 1 + max((levels for _, levels in counted), default=0)
    count, levels = sizes[id(value)]
    if count > MOST:
        raise TooLarge(f"more than {MOST} values, aliases counted at each place; expected fewer")
    if levels > left:
        raise TooLarge(f"more than {DEEPEST} levels; expected fewer")
    return count, levels
