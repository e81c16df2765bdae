"""The audit trail of a study: every change of the rubric is a line of log.jsonl, and the next version of the manual.

A line holds the hash of the line before it and its own, so that an edited, removed or inserted line is found. Who
computes all hashes again is not found: keep a copy of the last hash elsewhere, such as in the study's report.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from excam.core.exceptions import InputInvalid
from excam.core.provenance import write_text
from excam.rubric import manual
from excam.rubric.manual import ScoringRubric

LOG = "log.jsonl"
KEYS = ("number", "time", "reason", "examples", "from", "from_hash", "to", "to_hash", "previous", "hash")
FIRST = "0" * 64  # `previous` of the first line


def change(
    folder: Path, before: ScoringRubric, edited: ScoringRubric | None, reason: str, examples: Sequence[str], time: str
) -> tuple[dict[str, Any], ScoringRubric]:
    """Write the next version of the manual and its line of the log, and return the line and that version.

    `edited` holds new words, if any change.

    Raise InputInvalid for an empty reason, no example, an edited log, or a `before` that is not its last version.
    """
    if not reason.strip() or not examples or not all(example.strip() for example in examples):
        raise InputInvalid("change: found no reason or no example; expected --reason TEXT and --example ID")
    lines = read_log(folder / LOG)
    if lines and (lines[-1]["to"], lines[-1]["to_hash"]) != (before.name, before.hash):
        raise InputInvalid(
            f"{folder / LOG}: the last version is {lines[-1]['to']}; found {before.name}; expected the last, unchanged"
        )
    number = len(lines) + 1
    origin = before.name if not lines else lines[0]["from"]
    name = f"{origin}.{number}"
    adjustment = {"number": number, "time": time, "reason": reason.strip(), "examples": list(examples)}
    listed = [*before.content["adjustments"], adjustment]
    after = manual.parse({**(edited or before).content, "name": name, "adjustments": listed}, name)
    line = {
        **adjustment,
        **{"from": before.name, "from_hash": before.hash, "to": after.name, "to_hash": after.hash},
        "previous": lines[-1]["hash"] if lines else FIRST,
    }
    line["hash"] = _hash(line)
    text = yaml.safe_dump(after.content, allow_unicode=True, sort_keys=False, width=10_000)
    write_text(folder / f"{after.name}.yaml", text)
    with (folder / LOG).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    return line, after


def _hash(line: Mapping[str, Any]) -> str:
    text = json.dumps({key: line[key] for key in KEYS if key != "hash"}, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, none if there is no file. Raise InputInvalid naming the first that does not fit."""
    if not path.exists():
        return []
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            line = json.loads(text)
            whole = line.keys() == set(KEYS) and line["number"] == number and line["hash"] == _hash(line)
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
            whole = False
            line = {}
        if not whole or line["previous"] != (lines[-1]["hash"] if lines else FIRST):
            raise InputInvalid(
                f"{path}:{number}: was edited, or a line before it was removed; expected the line that "
                "`excam rubric change` wrote; restore the file"
            )
        lines.append(line)
    return lines


def opened(version: str) -> ScoringRubric:
    """Return a manual as `manual.load`; one of a study must be as its log says. Raise InputInvalid if it is not."""
    rubric, path = manual.load(version), Path(version)
    if path.suffix in (".yaml", ".yml"):
        for line in read_log(path.parent / LOG):
            if line["to"] == rubric.name and line["to_hash"] != rubric.hash:
                raise InputInvalid(
                    f"{path}: changed after line {line['number']} of {LOG}; expected hash {line['to_hash'][:12]}, "
                    f"found {rubric.hash[:12]}; change it with `excam rubric change`"
                )
    return rubric
