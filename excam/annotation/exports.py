"""The folder of exported files: who owns each file, and the answers of all of them merged.

The folder decides whose answers a file holds: a file in a sub-folder belongs to the annotator that the sub-folder is
named after. For a file in the folder itself only the name in it is known, so it replaces no answer of another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.annotation import exchange
from excam.annotation.answers import Answer, steps_answered
from excam.annotation.campaign import Campaign
from excam.annotation.form import Form
from excam.core.exceptions import InputInvalid

KINDS = ("*.json", "*.csv")


@dataclass(frozen=True, slots=True)
class Export:
    """The answers of one annotator from one file."""

    file: Path
    placed: bool  # in the annotator's own sub-folder
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """Each answer once, in the order of the campaign, and the number of repeated and replaced ones."""

    answers: list[Answer]
    repeated: int  # the same answer again
    superseded: int  # another answer, saved before the one that is kept


def exported_files(folder: str | None) -> list[Path]:
    """Return the files in `folder` and its sub-folders that may hold answers; none if it is None or missing."""
    home = Path(folder) if folder else None
    paths = [path for kind in KINDS for path in (*home.glob(kind), *home.glob(f"*/{kind}"))] if home else []
    return sorted(path for path in paths if path.is_file())


def read(file: Path, folder: Path, campaign: Campaign) -> Export:
    """Read the export `file` of `folder`. Raises InputInvalid as `exchange.read` does, and if it holds answers of
    several annotators or is in the sub-folder of another one.
    """
    answers = exchange.read(file, campaign)
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
    return Export(file, owner is not None, tuple(answers))


def merge_exports(campaign: Campaign, exports: Sequence[Export]) -> Merged:
    """Merge the answers of several files, with each task once per annotator.

    Of two answers of one annotator about one task the one saved last is kept, if both files are in the annotator's
    sub-folder. Raises InputInvalid if one of them does not, and for a task that is not in the campaign.
    """
    latest: dict[tuple[str, str], tuple[Answer, Export]] = {}
    repeated = superseded = 0
    for export in exports:
        for answer in export.answers:
            old, first = latest.setdefault((answer.task, answer.annotator), (answer, export))
            if first is export:
                continue
            if old == answer:
                repeated += 1
                continue
            if not (first.placed and export.placed):
                raise _conflict_error(answer, first.file, export.file)
            superseded += 1
            later = max((old, first), (answer, export), key=lambda pair: _last(campaign.form, pair[0]))
            latest[answer.task, answer.annotator] = later
    return Merged(exchange.in_campaign_order(campaign, [answer for answer, _ in latest.values()]), repeated, superseded)


def _conflict_error(answer: Answer, first: Path, second: Path) -> InputInvalid:
    return InputInvalid(
        f"{first} and {second}: two different answers of {answer.annotator} about task {answer.task}; expected one; "
        f"remove the file that is not of {answer.annotator}, or put both into a sub-folder {answer.annotator}, where "
        "the answer saved last counts"
    )


def _last(form: Form, answer: Answer) -> tuple[str, int, str]:
    """Return the order of answers in time; of two saved in the same millisecond, the one with more steps is later."""
    return answer.saved, steps_answered(form, answer.values), repr(answer)
