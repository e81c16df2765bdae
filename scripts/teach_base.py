"""Teach a base model the facts of a corpus: continued pre-training of all weights; resumes from its last checkpoint."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Annotated

from excam.config import Teaching
from excam.core import provenance
from excam.excam40k import corpus
from excam.inference import sources
from excam.inference.gpus import take_gpus
from excam.training import teaching
from scripts import run, step

VERSION = 1


@step
def main(
    model: str,
    weights_path: Annotated[Path, "manifest of the base that is taught"],
    facts_path: Path,
    corpus_path: Path,
    settings_json: Annotated[str, "the weights' fields of `teach` as JSON"],
    save_steps: int,
    licence: str,
    seed: int,
    checkpoints_path: Path,
    manifest_path: Path,
    gpus: int = 0,
) -> None:
    started = time.monotonic()
    take_gpus(gpus, model)
    settings = Teaching.model_validate({"base": "any", **json.loads(settings_json), "save_steps": save_steps})
    provenance.refuse_changed(weights_path, weights_path.parent / "files")
    documents = corpus.read_documents(corpus_path)
    corpus.refuse_incomplete(corpus.read_times(facts_path), documents, str(corpus_path))
    manifest_path.unlink(missing_ok=True)  # if it exists, the files are those it names
    folder = manifest_path.parent / "files"
    base = provenance.read_json(weights_path, "revision", "outputs")
    facts = teaching.teach(
        weights=weights_path.parent / "files",
        base=provenance.outputs_json(weights_path),
        texts=[document.turns or document.text for document in documents],
        settings=settings,
        seed=seed,
        checkpoints=checkpoints_path,
        folder=folder,
        name=model,
        version=VERSION,
    )
    files = sources.matching_files(folder, ["**/*"])
    provenance.write_manifest(
        manifest_path,
        inputs=[weights_path, corpus_path, facts_path],
        outputs=files,
        settings={"hub": None, "wheel": None, "folder": None, **json.loads(settings_json)},
        seconds=time.monotonic() - started,
        licence=licence,
        origin=f"{weights_path.parent.name}, taught",
        revision=f"sha256:{provenance.sha256(folder / 'model.safetensors')}",
        base=base["revision"],
        corpus=provenance.sha256(corpus_path),
        **facts,
    )
    shutil.rmtree(checkpoints_path, ignore_errors=True)


if __name__ == "__main__":
    run(main)
