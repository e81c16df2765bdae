"""Snakemake's own records: for every output the rule, inputs, params, command and the hashes of small inputs.

Snakemake 9 (`persistence/file.py`) keeps one JSON file for each output below `.snakemake/metadata`. Its name is the
URL-safe base64 of the output's path; where that is longer than a file name may be, it is cut, and all parts but the
last are folders that begin with "@". `input_checksums` holds "sha256:<digest>" of the inputs that are smaller than
`--max-checksum-file-size` (1 MB; 100 MB in our profiles), taken when the job ended. There is no hash of an output.
The other way of keeping records, `--persistence-backend db`, is not read: their outputs count as having no record.
"""

from __future__ import annotations

import ast
import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

METADATA = Path(".snakemake/metadata")


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """What Snakemake keeps about one output."""

    rule: str
    inputs: tuple[str, ...]
    params: tuple[str, ...]  # without empty ones, in Snakemake's order, which is sorted and says no names
    command: str
    checksums: dict[str, str]  # input -> sha256, where Snakemake took one
    made: str  # when the output was written, ISO 8601

    @property
    def stages(self) -> dict[str, str]:
        """Return the versions of the stages that made it: the labelled JSON that a rule passes as `version`."""
        parts = [_stages(text) for text in self.params]
        return {name: version for part in parts for name, version in part.items()}

    @property
    def settings(self) -> tuple[str, ...]:
        """Return the part of the configuration that the rule passed: every other param."""
        return tuple(text for text in self.params if not _stages(text))


def read_all(root: Path) -> dict[str, OutputRecord]:
    """Return the records by output, of the workflow that runs in `root`; without those that are being written."""
    folder, records = root / METADATA, dict[str, OutputRecord]()
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if not path.is_file():
            continue
        try:
            encoded = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            output = base64.urlsafe_b64decode(encoded).decode()
            records[output] = _record(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, binascii.Error, KeyError, TypeError, AttributeError):
            continue  # partly written, or of an older format; its output is reported as having no record
    return records


def _record(row: dict[str, Any]) -> OutputRecord:
    checksums = {file: value.removeprefix("sha256:") for file, value in (row["input_checksums"] or {}).items()}
    return OutputRecord(
        rule=row["rule"],
        inputs=tuple(row["input"]),
        params=tuple(text for param in row["params"] if (text := _plain(param))),
        command=row["shellcmd"] or "",
        checksums={file: value for file, value in checksums.items() if ":" not in value},  # another algorithm
        made=datetime.fromtimestamp(row["endtime"], UTC).isoformat(timespec="seconds"),
    )


def _plain(param: str) -> str:
    """Return a param as the rule gave it: Snakemake stores its `repr`."""
    try:
        return _words(ast.literal_eval(param))
    except (ValueError, SyntaxError):
        return str(param)


def _words(value: Any) -> str:
    """Return the value of a param as a command has it: several words separated by spaces."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _stages(text: str) -> dict[str, str]:
    """Return the stage versions in a param, if any, e.g. {"judges.report": "2", "score": "1+a1b2c3d4"}."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(value, dict) or not value:
        return {}
    texts = all(isinstance(entry, str) and entry[:1].isdigit() for entry in value.values())
    return value if texts else {}
