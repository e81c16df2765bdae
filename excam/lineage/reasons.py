"""What would run for a target and why: Snakemake's dry run, one line of plain text per job."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.core import paths
from excam.core.exceptions import InputInvalid
from excam.core.extras import require_extra
from excam.lineage import copies
from excam.lineage.snakemake_records import words

# How Snakemake 9 says it (`jobs.Reason`) and how we do; `{}`: files, at most two of them by name.
WORDS = {
    "Missing output files": "not there yet",
    "Incomplete output files": "left unfinished by a job that was stopped",
    "Updated input files": "what it is made of changed: {}",
    "Input files updated by another job": "made of what will be made again: {}",
    "Set of input files has changed since last execution": "it was made of another set of files",
    "Code has changed since last execution": "the command of its rule changed",
    "Params have changed since last execution": "settings changed: {}",
    "Software environment definition has changed since last execution": "its software environment changed",
    "Forced execution": "asked for by force",
}
_SAID = re.compile(rf"(?:^|; )({'|'.join(map(re.escape, WORDS))})(?:: )?")
_HEAD = re.compile(r"^ *(?:local)?(?:rule|checkpoint) (\w+):$")
_FIELD = re.compile(r"^ +(output|reason): (.*)$")
_PARAMS = re.compile(r"before: (.*?) now: (.*)$")


@dataclass(frozen=True, slots=True)
class Job:
    """A job that would run."""

    rule: str
    outputs: tuple[str, ...]
    reason: str  # in plain words

    def __str__(self) -> str:
        made = f" {_few(self.outputs)}" if self.outputs else ""
        return f"{self.rule}{made}: {self.reason}"


def experiment(options: Sequence[str], root: Path) -> tuple[Sequence[str], str]:
    """Return the options of snakemake that select the experiment to plan, and their description.

    These are the given ones; otherwise those of the run that ended last in `root`; otherwise none, which means
    config.yaml.
    """
    if options:
        return options, f"snakemake {' '.join(options)}"
    ran = copies.read_run_records(root / copies.KEPT).options
    if ran:
        return ran, f"snakemake {' '.join(ran)}, as the last run here; for another: -- --profile NAME"
    return (), "snakemake, with config.yaml; for another experiment: -- --profile NAME"


def ask(target: str, options: Sequence[str], root: Path) -> list[Job]:
    """Return the jobs that Snakemake would run for `target` in `root`; `options` are passed on to it.

    Raises InputInvalid with Snakemake's message if it cannot plan; NotInstalled without the extra `workflow`.
    """
    require_extra("workflow", "snakemake")
    command = [sys.executable, "-m", "snakemake", path_of(target), *options]
    # last, so that a profile's words about the same options do not hide the reasons
    command += ["--dry-run", "--nocolor", "--quiet", "host", "progress"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputInvalid(f"snakemake cannot plan {target}: {_complaint(done.stdout + done.stderr)}")
    return list(jobs(done.stdout))


def path_of(target: str) -> str:
    """Return the file of a cell named model/trained_on/judge/dataset; return any other target unchanged."""
    axes = target.split("/")
    named = len(axes) == 4 and axes[0] != paths.RESULTS.name
    return paths.Cell(*axes, split="test").path("evaluation").as_posix() if named else target


def jobs(printed: str) -> Iterator[Job]:
    """Return the jobs of a printed dry run."""
    rule, fields = "", dict[str, str]()
    for line in [*printed.splitlines(), "rule end:"]:
        if head := _HEAD.match(line):
            if rule and "reason" in fields:
                yield Job(rule, tuple(filter(None, fields.get("output", "").split(", "))), plain(fields["reason"]))
            rule, fields = head[1], {}
        elif field := _FIELD.match(line):
            fields.setdefault(field[1], field[2])


def plain(reason: str) -> str:
    """Return Snakemake's reason in plain words; an unknown reason stays unchanged."""
    matches = list(_SAID.finditer(reason))
    if not matches:
        return reason
    ends = [match.start() for match in matches[1:]] + [len(reason)]
    clauses = []
    for match, end in zip(matches, ends, strict=True):
        detail = reason[match.end() : end]
        about = _changed(detail) if match[1].startswith("Params") else _few(detail.split(", "))
        clauses.append(WORDS[match[1]].format(about))
    return "; ".join(clauses)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _changed(detail: str) -> str:
    """Return the params before and now: of labelled JSON only the changed entries, otherwise both values."""
    match = _PARAMS.search(detail.strip())
    if not match:
        return detail
    before, now = _values(match[1]), _values(match[2])
    changes, rest = [], list(now)
    for old in before:
        new = next((entry for entry in rest if _labels(entry) and _labels(entry).keys() & _labels(old).keys()), None)
        if new is None:
            changes.append(f"no longer {old}")
            continue
        rest.remove(new)
        a, b = _labels(old), _labels(new)
        changes += [f"{name} {a.get(name)} -> {b.get(name)}" for name in sorted({*a, *b}) if a.get(name) != b.get(name)]
    return ", ".join([*changes, *(f"now {entry}" for entry in rest)])


def _values(text: str) -> list[str]:
    """Split params as Snakemake prints them: their `repr`s, separated by commas."""
    try:
        return [words(value) for value in ast.literal_eval(f"[{text.strip()}]")]
    except (ValueError, SyntaxError):
        return [] if text.startswith("<nothing") else [text.strip()]


def _labels(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _complaint(printed: str) -> str:
    """Return on one line what Snakemake printed after it began to plan."""
    if " error: " in printed:  # of its command line, after the list of all options
        return printed.rsplit(" error: ", 1)[1].strip()
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    noise = ("Assuming", "Building", "Using", "host:", "Config file")
    return " ".join(line for line in lines if not line.startswith(noise))[-500:] or "no reason given"
