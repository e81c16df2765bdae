"""The paths of results: built and parsed here, and nowhere else.

A path is `results/<kind>/<axes>/<file>`, with the axes of its kind from coarse to fine. Each axis is one component.
Other modules neither count components nor write a path below `results/`.

>>> Cell("gemma3-27b", "without-blend", "report", "blend", "test").path("evaluation").as_posix()
'results/evaluation/gemma3-27b/without-blend/report/blend/test.json'
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from excam.core.exceptions import InputInvalid

RESULTS = Path("results")
HASHES = RESULTS / ".hashes"
ADAPTERS = RESULTS / "adapters"

ALL = "all"  # of datasets: every one together
SYSTEM = ("model", "trained_on", "judge")
JUDGED = (*SYSTEM, "dataset")
AXES = {  # kind -> the axes of its folders; what a file is called below them is up to its rule
    "sources": ("dataset",),
    "models": ("model",),
    "tokenizers": ("model",),
    "excam40k": ("dataset",),
    "significance": ("dataset",),
    "mixtures": ("trained_on",),
    "tokens": ("model", "dataset"),
    "adapters": ("model", "trained_on"),
    "transcripts": JUDGED,
    "judgements": JUDGED,
    "evaluation": JUDGED,
    "reports": JUDGED,
}
SUFFIXES = {  # of the kinds that have one file per cell
    "transcripts": ".jsonl",
    "judgements": ".parquet",
    "evaluation": ".json",
    "reports": ".json",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """The axes of results made from the judgements of one judge of one model on one split of a dataset."""

    model: str
    trained_on: str
    judge: str
    dataset: str
    split: str

    @property
    def system(self) -> tuple[str, str, str]:
        """Return the axes of the judging system: model, trained_on, judge."""
        return self.model, self.trained_on, self.judge

    def path(self, kind: str) -> Path:
        """Return the file of this cell, relative to the workflow's folder. `kind` is a key of `SUFFIXES`."""
        return RESULTS.joinpath(kind, *self.system, self.dataset, f"{self.split}{SUFFIXES[kind]}")

    @classmethod
    def from_path(cls, path: Path) -> Cell:
        """Parse the path of a file of one cell; ignore what precedes the kind.

        Raises InputInvalid when it is not one.
        """
        values = axes(path)
        if not values.keys() >= set(SYSTEM):
            raise _unknown(path, "<kind>/<model>/<trained_on>/<judge>/<dataset>/<file>")
        return cls(**values, split=path.name.split(".")[0])


def axes(path: Path) -> dict[str, str]:
    """Return the values of the axes in a result's path, by the name of the axis.

    What precedes the kind is ignored. Raises InputInvalid when no kind of result has such a path.
    """
    folders = path.parts[:-1]
    # the deepest first, so that a model may have the name of a kind
    for kind, names in sorted(AXES.items(), key=lambda layout: -len(layout[1])):
        if folders[-len(names) - 1 : -len(names)] == (kind,):
            return dict(zip(names, folders[-len(names) :], strict=True))
    raise _unknown(path, f"<kind>/<axes>/<file>, with <kind> one of {', '.join(AXES)}")


def _unknown(path: Path, expected: str) -> InputInvalid:
    return InputInvalid(f"{path}: not a path of results; expected {expected}")


def below_results(path: Path) -> tuple[str, ...] | None:
    """Return the components after `results`, or None for a path that does not begin with it or leaves it."""
    first, *rest = path.parts or ("",)
    return tuple(rest) if first == RESULTS.name and rest and ".." not in rest else None


def samples_path(dataset: str, split: str) -> Path:
    """Return the file of a dataset's samples, relative to the workflow's folder."""
    return RESULTS / "excam40k" / dataset / f"{split}.parquet"
