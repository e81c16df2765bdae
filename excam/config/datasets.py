"""Section `datasets`, and how ExCAM40k is constructed of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from pathlib import Path
from typing import Literal

from pydantic import Field

from excam.config.base import EACH, RESERVED, HubId, HubRevision, Place, Section
from excam.core.registries import modules_in
from excam.core.rule_inputs import input_names
from excam.core.splits import SPLITS, Split


class Dataset(Section):
    """The source of a benchmark. `folder` has the same files and takes precedence over `hub` and `url`."""

    hub: HubId | None = Field(default=None, description="id of the official release on the Hugging Face hub")
    url: str | None = Field(default=None, description="address of the official release if it is not on the hub")
    revision: HubRevision = Field(
        default="main", description="commit of the hub repository, or a branch resolved at the first fetch"
    )
    folder: str | None = Field(default=None, description="local folder with the same files, relative to the repository")
    module: str | None = Field(
        default=None,
        min_length=1,
        description="the file of a benchmark that is not in the package, relative to the repository "
        "(docs/extending.md); it is run as code",
    )
    cap: int = Field(default=5000, ge=2, description="maximum number of samples")
    reading: dict[str, int | float] = Field(
        default={}, description="settings of the benchmark's reader, e.g. least_votes of blend (docs/workflow.md)"
    )


class Construction(Section):
    """How ExCAM40k is built from samples."""

    rows: Literal["by-rule", "as-published"] = Field(
        default="by-rule",
        description="texts of benchmarks: changed by counted rules (docs/workflow.md), or none; rows that cannot be "
        "used so are dropped",
    )
    cap_stage: Literal["before", "after"] = Field(default="after", description="cap base samples, or final rows")
    allocation: Literal["equal", "proportional"] = Field(
        default="equal", description="rows per stratum: as equal as possible, or as in the source"
    )
    severity: Literal["requested", "stated"] = Field(
        default="requested", description="of a soft error: the requested one, or the one the generator states"
    )
    spans: Literal["paper", "strict"] = Field(default="strict", description="how differences become spans")
    shares: dict[Split, float] = Field(
        default={"train": 0.7, "dev": 0.1, "test": 0.2}, description="shares of the splits, by base sample"
    )
    subset: int = Field(default=100, ge=2, description="rows of the balanced subset test-100 per dataset")
    templates: Literal["english", "local", "both"] = Field(
        default="english",
        description="language of instruction, lead-in and explanation of a hard error: English around every row, as "
        "in the paper; local: the row's own where there are templates of it; both: also the questions that a benchmark "
        "has in the language of the country, beside its English ones",
    )


def check(sections: Mapping[str, Dataset], at: Place) -> None:
    """Raise ConfigInvalid if a data set has no source, or another's name, or shares do not add up."""
    if not sections:
        raise at.invalid("datasets: none is switched on; expected at least one")
    benchmarks = modules_in("excam40k/datasets")
    for name, dataset in sections.items():
        if dataset.module:
            _check_own_module(name, dataset, benchmarks, at)
        else:
            at.known(name, f"datasets.{name}", "benchmark", benchmarks, "; set `module` to the file of one of your own")
        if not (dataset.hub or dataset.url or dataset.folder):
            raise at.invalid(f"datasets.{name}: no source; expected `hub`, `url` or `folder`")


def check_construction(section: Construction, at: Place) -> None:
    """Raise ConfigInvalid for numbers that would stop a job, or distort its results, hours later."""
    shares = section.shares
    if set(shares) != set(SPLITS) or min(shares.values()) <= 0 or not isclose(sum(shares.values()), 1):
        raise at.invalid(f"construction.shares: found {shares}; expected train, dev and test above 0 that add up to 1")
    if section.subset % 2:
        raise at.invalid(f"construction.subset: found {section.subset}; expected an even number: pairs stay together")


def _check_own_module(name: str, dataset: Dataset, benchmarks: tuple[str, ...], at: Place) -> None:
    """Raise ConfigInvalid for a benchmark outside of the package that cannot be there, or has the name of another."""
    entry = f"datasets.{name}"
    if name.replace("_", "-") in benchmarks:
        raise at.invalid(f"{entry}.module: `{name}` is a benchmark of the package; expected another name")
    if name in (*RESERVED, EACH) or name.startswith("without-"):
        raise at.invalid(f"{entry}: `{name}` is or may be the name of a mixture; expected another name")
    input_names(f"{at.file}: {entry}.module", [Path(str(dataset.module))])
    if not Path(str(dataset.module)).is_file():
        raise at.invalid(f"{entry}.module: {dataset.module}: no such file; expected a Python file (docs/extending.md)")
