"""Make a pack of passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from excam.core.provenance import say, write_text
from excam.error_reports import record_files
from excam.excam40k.culture_documents import knowledge_documents
from excam.knowledge.index import build
from scripts import step


@step(
    version=1,
    inputs={"bases": "results/samples/*.bases.jsonl"},
    settings={"licences": "licences_of_datasets", "seed": "seed", "pack": "pack"},
    outputs={
        "facts": "results/facts.jsonl",
        "index": "results/pack/index.json",
        "files": "results/pack/passages.parquet",
    },
    silent=["index", "files"],
    stages=["excam40k/statements", "knowledge/passages"],
)
def build_pack(
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    licences: Annotated[Sequence[str], "DATASET=LICENCE"],
    seed: int,
    facts_path: Annotated[Path, "the documents, JSON Lines"],
    pack_path: Annotated[Path, "folder"],
) -> None:
    """State the facts of benchmarks as documents, and make a knowledge pack of them."""
    licence_of = dict(entry.split("=", 1) for entry in licences)
    documents = [
        document
        for path in bases_paths
        for document in knowledge_documents(
            record_files.read_bases(path), licence_of[path.name.removesuffix(".bases.jsonl")], seed
        )
    ]
    write_text(facts_path, "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents))
    (pack_path / "index.json").unlink(missing_ok=True)  # the facts changed: Snakemake asked for this pack again
    pack = build([facts_path], pack_path)
    say(f"{pack_path}: {len(documents)} facts, {len(pack.passages)} passages, {pack.signature}")
