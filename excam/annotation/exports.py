"""The folder of exported files: whose answers each file holds, and the answers of all of them put together (spec 72).

Who keeps the folder decides whose a file is: a file in a sub-folder is of the annotator whose name the sub-folder has.
Of a file that lies in the folder itself nothing is known but the name in it, so it replaces no answer of another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.annotation import exchange
from excam.annotation.answers import Answer
from excam.annotation.campaign import Campaign
from excam.exceptions import InputInvalid

KINDS = ("*.json", "*.csv")


@dataclass(frozen=True, slots=True)
class Export:
    """One annotator's answers, as one file has them."""

    file: Path
    annotator: str  # "" where the file has no answers
    placed: bool  # in the annotator's own sub-folder
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """Each answer once, in the campaign's order, and how many there were more than once."""

    answers: list[Answer]
    repeated: int  # the same answer again
    superseded: int  # another answer, saved before the one that is kept


def exported(folder: str | None) -> list[Path]:
    """Return the files in `folder` and in its sub-folders that may hold answers; none where it is None or not there."""
    home = Path(folder) if folder else None
    found = [path for kind in KINDS for path in (*home.glob(kind), *home.glob(f"*/{kind}"))] if home else []
    return sorted(path for path in found if path.is_file())


def read(file: Path, folder: Path, found: Campaign) -> Export:
    """Read the export `file` of `folder`. Raises InputInvalid as `exchange.read`, and where it is of several annotators
    or lies in the sub-folder of another one.
    """
    answers = exchange.read(file, found)
    names = sorted({answer.annotator for answer in answers})
    if len(names) > 1:
        raise InputInvalid(
            f"{file}: answers of {', '.join(names)[:100]}; expected those of one annotator; of a store: excam annotate "
            f"export STORE --annotator {names[0]} --to FILE"
        )
    owner = file.parent.name if file.parent != folder else None
    if owner and names not in ([owner], []):
        raise InputInvalid(
            f"{file}: answers of {names[0]}; expected those of {owner}, whose name the folder has; move the file to "
            f"{folder / names[0]} if {names[0]} sent it"
        )
    return Export(file, names[0] if names else "", owner is not None, tuple(answers))


def merged(found: Campaign, exports: Sequence[Export]) -> Merged:
    """Put the answers of several files together, each task once per annotator.

    Of two answers of one annotator about one task the one saved last is kept, if both files lie in the annotator's
    sub-folder. Raises InputInvalid where one of them does not, and for a task that is not in the campaign.
    """
    kept: dict[tuple[str, str], tuple[Answer, Export]] = {}
    repeated = superseded = 0
    for export in exports:
        for answer in export.answers:
            old, first = kept.setdefault((answer.task, answer.annotator), (answer, export))
            if first is export:
                continue
            if old == answer:
                repeated += 1
                continue
            if not (first.placed and export.placed):
                raise _conflict(answer, first.file, export.file)
            superseded += 1
            kept[answer.task, answer.annotator] = max((old, first), (answer, export), key=lambda one: _last(one[0]))
    return Merged(exchange.ordered(found, [answer for answer, _ in kept.values()]), repeated, superseded)


def _conflict(answer: Answer, first: Path, second: Path) -> InputInvalid:
    return InputInvalid(
        f"{first} and {second}: two different answers of {answer.annotator} about task {answer.task}; expected one; "
        f"remove the file that is not of {answer.annotator}, or put both into a sub-folder {answer.annotator}, where "
        "the answer saved last counts"
    )


def _last(answer: Answer) -> tuple[str, int, str]:
    """Of answers saved in the same millisecond the one that got further, whatever the order of the files."""
    return answer.saved, answer.steps, repr(answer)
