"""A run as a Provenance Run Crate 0.5 (Workflow Run RO-Crate, on RO-Crate 1.1): a folder to deposit or to send.

In it: the workflow and its configuration, what was asked for of results/ (the paper's tables and figures), what
`excam audit` needs, and `ro-crate-metadata.json`, which tells of every file of the chain back to the raw shards its
sha256, the job that made it, of what, when, with which stage versions, settings and packages. Files that are told of
and not carried (models, benchmarks, transcripts: others' licences, and large) have an @id that begins with "#".
Nothing is invented: no author, no agent, no licence that no manifest states.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from excam.exceptions import ArtifactBroken, InputInvalid
from excam.extras import needed
from excam.lineage import chain, copies
from excam.lineage import crate_entities as entities
from excam.lineage.chain import Link
from excam.lineage.evidence import RESULTS, Evidence, kept
from excam.provenance import HASHES, hidden, write_json

WORKFLOW = (  # what a run is read from, as far as it is there
    *("rules/*.smk", "config.yaml", "config.schema.json", "experiments/*.yaml", "local/config.yaml"),
    *("slurm/config.yaml", "envs/*.yaml", "requirements/*.lock", "excam/versions.lock", "LICENSE"),
)


def write(root: Path, to: Path, parts: Sequence[str]) -> int:
    """Write the crate of the run in `root` into the new folder `to`; how many entities it has.

    `parts`: folders of results/ to carry. Raises InputInvalid where it cannot be written or there is no finished run,
    ArtifactBroken where a file is not what was recorded, NotInstalled without the extra `crate`.
    """
    needed("crate", "rocrate")
    if to.exists():
        raise InputInvalid(f"{to}: is there already; expected the name of a new folder")
    run = Evidence(root)
    links = _proven(run, parts)
    temporary = hidden(to)
    try:
        count = _build(run, links, parts, temporary)
        temporary.replace(to)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return count


def _proven(run: Evidence, parts: Sequence[str]) -> list[Link]:
    """The chain of everything in `parts`, of which every file is what was recorded, if something was."""
    empty = [part for part in parts if not run.published(part)]
    if empty or not run.records:
        missing = f"{run.results / empty[0]}: no files" if empty else f"{run.root}: no records of Snakemake"
        raise InputInvalid(f"{missing}; expected a run that has ended; name its folder with --directory")
    links = chain.walk(run, [file for part in parts for file in run.published(part)])
    spoiled = [link.file for link in links if link.status in ("differs", "gone")]
    if spoiled:
        raise ArtifactBroken(
            f"{spoiled[0]}: not what was recorded, nor {len(spoiled) - 1} others; see excam audit {spoiled[0]}"
        )
    return links


def _build(run: Evidence, links: Sequence[Link], parts: Sequence[str], to: Path) -> int:
    """Write the crate into the new folder `to`; how many entities it has."""
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    assert run.root is not None
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms["sha256"] = "https://w3id.org/ro/terms/workflow-run#sha256"
    main = entities.snakefile(run.root / "Snakefile", links)
    crate.add_workflow(run.root / "Snakefile", "Snakefile", properties=main, main=True, lang="snakemake", gen_cwl=False)
    for file in _workflow(run.root):
        crate.add_file(run.root / file, file, properties=entities.at(run.root / file, file))
    crate.add_dataset(
        run.results / HASHES.name, HASHES.as_posix(), properties={"name": "own records of published files"}
    )
    carried = {link.file for link in links if _in(link.file, parts)}
    ids = {link.file: quote(link.file) if link.file in carried else f"#{quote(link.file)}" for link in links}
    for link in links:
        about = entities.of(run, link, ids)
        if link.file in carried:
            crate.add_file(run.find(link.file), link.file, properties=about)
        else:
            crate.add(ContextEntity(crate, ids[link.file], properties=about))
    for entity in entities.others(run, links, ids):
        crate.add(ContextEntity(crate, entity.pop("@id"), properties=entity))
    for name, value in entities.root(links).items():
        crate.root_dataset[name] = value
    write_json(to / copies.KEPT, kept(run).to_dict())
    name = copies.KEPT.as_posix()
    crate.add_file(to / copies.KEPT, name, properties=entities.at(to / copies.KEPT, name))
    crate.write(to)
    return len(crate.get_entities())


def _in(file: str, parts: Iterable[str]) -> bool:
    return any(Path(file).is_relative_to(Path(RESULTS, part)) for part in parts)


def _workflow(root: Path) -> list[str]:
    found = {path.relative_to(root).as_posix() for pattern in WORKFLOW for path in root.glob(pattern)}
    return sorted(found)
