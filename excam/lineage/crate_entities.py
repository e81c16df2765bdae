"""The entities of a crate, each as a JSON-LD object: files, rules, packages, settings, jobs, the run (`crate`).

Profiles: Provenance Run Crate 0.5 and those it builds on. Identities are made of what an entity is, never of a clock or
a random number, so the same run gives the same crate.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from excam.licences import KINDS
from excam.lineage import page
from excam.lineage.chain import Link
from excam.lineage.evidence import Evidence
from excam.lineage.snakemake_records import Record
from excam.provenance import sha256

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TYPES = {  # the machine's own table would make other bytes elsewhere
    "": "text/plain",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".smk": "text/plain",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}
LICENCE = "The workflow: Apache-2.0. What was made of a benchmark or a model: the licence stated at its manifest."

Properties = dict[str, Any]


def root(links: Sequence[Link]) -> Properties:
    """The crate as a whole. Its date is that of the newest file: no clock is read."""
    actions = sorted(_job_id(made) for made in _jobs(links))
    return {
        "name": "A run of ExCAM",
        "description": f"Explainable cultural awareness metrics: {len(actions)} jobs, {len(links)} files, each with its"
        " sha256, back to the raw shards. Files whose @id begins with # are told of and not carried.",
        "datePublished": max(record.made for record in _records(links)),
        "license": _refs(["#licence"]),
        "conformsTo": _refs(PROFILES),
        "mentions": _refs(["#run", *actions]),
    }


def snakefile(path: Path, links: Sequence[Link]) -> Properties:
    """The workflow, whose parts are the rules that ran."""
    return {**at(path, "Snakefile"), "hasPart": _refs(sorted(map(_tool_id, _records(links))))}


def at(path: Path, name: str) -> Properties:
    """A file that is carried and is no link of the chain."""
    return {"name": name, **_typed(name), "sha256": sha256(path), "contentSize": str(path.stat().st_size)}


def of(run: Evidence, link: Link, ids: dict[str, str]) -> Properties:
    """A file of the chain: its hash, and of a manifest what it states and which files it stands for."""
    path = run.find(link.file)
    stated = [f"{name} {link.facts[name]}" for name in page.FACTS if name in link.facts]
    stated += ["no hash was recorded when it was made"] if link.status == "unproven" else []
    licence = _stated_licence(run, link)
    found: Properties = {
        "@type": "File",
        "name": link.file,
        "sha256": link.sha256,
        **_typed(link.file),
        "contentSize": path and str(path.stat().st_size),
        "dateCreated": link.record and link.record.made,
        "description": ", ".join(stated),
        "about": _refs(ids[file] for file in run.outputs(link.file) if file in ids),
        "license": _refs([_spdx(licence)]) if licence in KINDS else licence,
    }
    return {name: value for name, value in found.items() if value}


def others(run: Evidence, links: Sequence[Link], ids: dict[str, str]) -> Iterator[Properties]:
    """Everything that is no file: profiles, licences, packages, settings, rules, jobs and the run as a whole."""
    for address, name in PROFILES.items():
        yield {"@id": address, "@type": "CreativeWork", "name": name, "version": address.rsplit("/", 1)[1]}
    yield {"@id": "#licence", "@type": "CreativeWork", "name": LICENCE}
    for licence in sorted({_stated_licence(run, link) for link in links} & KINDS.keys()):
        yield {"@id": _spdx(licence), "@type": "CreativeWork", "name": licence}
    records = _records(links)
    for pin in sorted({pin for record in records for pin in record.packages}):
        name, _, version = pin.partition("==")
        yield {"@id": _package(pin), "@type": "SoftwareApplication", "name": name, "softwareVersion": version}
    for text in sorted({text for record in records for text in record.settings}):
        yield {"@id": _settings(text), "@type": "PropertyValue", "name": "settings", "value": text}
    for identity, record in sorted({_tool_id(record): record for record in records}.items()):
        yield {"@id": identity, **_tool(record)}
    for made in _jobs(links):
        yield _action(run, made, ids)
    yield _run(run, links, ids)


def _records(links: Iterable[Link]) -> list[Record]:
    return [link.record for link in links if link.record]


def _jobs(links: Iterable[Link]) -> list[list[Link]]:
    """Files by the job that made them, as far as Snakemake has a record of it."""
    jobs: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in links:
        if link.record:
            jobs[link.record.rule, link.record.command].append(link)
    return list(jobs.values())


def _run(run: Evidence, links: Sequence[Link], ids: dict[str, str]) -> Properties:
    """The run as a whole: of what no job made, the files that are carried."""
    made = {file for job in _jobs(links) for link in job for file in (link.file, *run.outputs(link.file))}
    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "the run",
        "description": " ".join(("snakemake", *run.options)),
        "instrument": {"@id": "Snakefile"},
        **_times(_records(links)),
        "object": _refs(sorted(ids[link.file] for link in links if link.file not in made)),
        "result": _refs(sorted(identity for identity in ids.values() if not identity.startswith("#"))),
    }


def _tool(record: Record) -> Properties:
    """A rule as the program that a job ran: its stage versions, and the packages of its environment."""
    stages = ", ".join(f"{name} {version}" for name, version in record.stages.items())
    return {
        "@type": "SoftwareApplication",
        "name": record.rule,
        "softwareVersion": stages or "none recorded",
        "softwareRequirements": _refs(map(_package, record.packages)),
    }


def _action(run: Evidence, made: Sequence[Link], ids: dict[str, str]) -> Properties:
    """A job: its inputs and settings, and its outputs with the files that a manifest among them stands for."""
    records = _records(made)
    stood_for = [file for link in made for file in run.outputs(link.file) if file not in run.records]
    results = dict.fromkeys([*(link.file for link in made), *stood_for])
    return {
        "@id": _job_id(made),
        "@type": "CreateAction",
        "name": f"{records[0].rule} {made[0].file}",
        "description": records[0].command,
        "instrument": {"@id": _tool_id(records[0])},
        "object": _refs([*(ids[file] for file in records[0].inputs), *map(_settings, records[0].settings)]),
        "result": _refs(ids[file] for file in results if file in ids),
        **_times(records),
    }


def _times(records: Sequence[Record]) -> Properties:
    started = min(record.started or record.made for record in records)
    return {"startTime": started, "endTime": max(record.made for record in records)}


def _stated_licence(run: Evidence, link: Link) -> str:
    """The licence that a manifest states, for it and for what it stands for; "" where none does."""
    stated = [link.facts, *map(run.facts, link.vouched)]
    return next((facts["licence"] for facts in stated if "licence" in facts), "")


def _typed(file: str) -> Properties:
    return {"encodingFormat": TYPES.get(Path(file).suffix, "application/octet-stream")}


def _refs(identities: Iterable[str]) -> Any:
    """References, each once; a single one stands without a list, as RO-Crate asks."""
    found = [{"@id": identity} for identity in dict.fromkeys(identities)]
    return found[0] if len(found) == 1 else found


def _spdx(licence: str) -> str:
    return f"https://spdx.org/licenses/{licence}"


def _package(pin: str) -> str:
    """A package URL, which names it wherever it is had from."""
    return f"pkg:pypi/{pin.replace('==', '@')}"


def _settings(text: str) -> str:
    return f"#settings/{_short(text)}"


def _tool_id(record: Record) -> str:
    return f"#rule/{record.rule}/{_short(json.dumps([record.stages, record.packages]))}"


def _job_id(made: Sequence[Link]) -> str:
    record = _records(made)[0]
    return f"#job/{record.rule}/{_short(record.command)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
