"""Snakemake's knowledge of a run, kept inside results/, so that a copy of results/ can be audited alone.

The workflow writes it at its end, successful or not (`onsuccess`, `onerror`): one line per job, and the files that each
manifest lists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from excam.core.exceptions import ArtifactBroken
from excam.core.paths import RESULTS, below_results
from excam.lineage.snakemake_records import OutputRecord

KEPT = RESULTS / ".records.json"


@dataclass(frozen=True, slots=True)
class RunRecords:
    """The records of a run at its end. Paths are those of its rules."""

    records: Mapping[str, OutputRecord] = field(default_factory=dict)  # by output
    manifests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # manifest -> file it lists -> sha256

    def to_dict(self) -> dict[str, Any]:
        """Return the records as JSON values: outputs of one job together, ordered by name."""
        jobs: dict[str, dict[str, Any]] = {}
        for output, record in sorted(self.records.items()):
            row = asdict(record)
            jobs.setdefault(json.dumps(row, sort_keys=True), {"outputs": [], **row})["outputs"].append(output)
        return {"jobs": list(jobs.values()), "manifests": self.manifests}


def read_run_records(path: Path) -> RunRecords:
    """Return the records in a file; empty ones if there is no file. Raises ArtifactBroken if it cannot be parsed.

    A copy comes from others, so every value must have its declared type.
    """
    if not path.is_file():
        return RunRecords()
    try:
        return _records_from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ArtifactBroken(f"{path}: damaged; expected the records of a run; copy it again") from None


def _records_from_json(content: Mapping[str, Any]) -> RunRecords:
    from pydantic import TypeAdapter  # here, since every command of `excam` loads this module

    texts, record = TypeAdapter(list[str]), TypeAdapter(OutputRecord)
    records: dict[str, OutputRecord] = {}
    for job in content["jobs"]:
        fields = {name: value for name, value in job.items() if name != "outputs"}
        records |= dict.fromkeys(texts.validate_python(job["outputs"]), record.validate_python(fields))
    manifests = TypeAdapter(dict[str, dict[str, str]]).validate_python(content["manifests"])
    _refuse_outside([*manifests, *(file for files in manifests.values() for file in files)])
    return RunRecords(records, manifests)


def _refuse_outside(names: Sequence[str]) -> None:
    """Raise ValueError if a manifest or a file that it lists is not below results/."""
    for name in names:
        if below_results(Path(name)) is None or "\0" in name:
            raise ValueError(name)
