"""Teach a base model the facts of a corpus: continued pre-training of all weights; resumes from its last checkpoint."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from excam.config import Teaching
from excam.core import provenance
from excam.excam40k import corpus
from excam.inference import gpus, sources
from excam.training import teaching
from scripts import run

VERSION = 1


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the base that is taught")
    parser.add_argument("--facts", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--settings", required=True, help="the weights' fields of `teach` as JSON")
    parser.add_argument("--save-steps", type=int, required=True)
    parser.add_argument("--licence", required=True)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True)
    args = parser.parse_args(argv)

    started = time.monotonic()
    gpus.take_gpus(args.gpus, args.model)
    settings = Teaching.model_validate({"base": "any", **json.loads(args.settings), "save_steps": args.save_steps})
    provenance.refuse_changed(args.weights, args.weights.parent / "files")
    documents = corpus.read_documents(args.corpus)
    corpus.refuse_incomplete(corpus.read_times(args.facts), documents, str(args.corpus))
    args.manifest.unlink(missing_ok=True)  # if it exists, the files are those it names
    folder = args.manifest.parent / "files"
    base = provenance.read_json(args.weights, "revision", "outputs")
    facts = teaching.teach(
        weights=args.weights.parent / "files",
        base=provenance.outputs_json(args.weights),
        texts=[document.turns or document.text for document in documents],
        settings=settings,
        seed=args.seed,
        checkpoints=args.checkpoints,
        folder=folder,
        name=args.model,
        version=VERSION,
    )
    files = sources.matching_files(folder, ["**/*"])
    provenance.write_manifest(
        args.manifest,
        inputs=[args.weights, args.corpus, args.facts],
        outputs=files,
        settings={"hub": None, "wheel": None, "folder": None, **json.loads(args.settings)},
        seconds=time.monotonic() - started,
        licence=args.licence,
        origin=f"{args.weights.parent.name}, taught",
        revision=f"sha256:{provenance.sha256(folder / 'model.safetensors')}",
        base=base["revision"],
        corpus=provenance.sha256(args.corpus),
        **facts,
    )
    shutil.rmtree(args.checkpoints, ignore_errors=True)


if __name__ == "__main__":
    run(main)
