"""Publish the data set, and show examples of its rows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import provenance
from excam.core.provenance import write_text
from excam.error_reports.record_files import read_samples
from excam.excam40k.publishing import BUILDS, EXAMPLE_TABLES, card, examples, parts
from scripts import step


@step(
    version=11,
    inputs={
        "samples": "published_samples",
        "sources": "published_sources",
        "soft": "published_soft",
        "bases": "published_bases",
        "audits": "results/audits/summary.md",
        "verdict": "published_verdict",
    },
    settings={"benchmarks": "published_benchmarks"},
    outputs={
        "card": "results/published/{build}/README.md",
        "manifest": "results/published/{build}/manifest.json",
    },
    silent=["verdict"],
)
def publish_excam40k(
    build: Annotated[str, BUILDS],
    benchmarks: Annotated[dict[str, Any], json.loads, "terms, title, citation by dataset, as JSON"],
    audits_path: Annotated[Path, "the audits' summary"],
    card_path: Path,
    manifest_path: Path,
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet, all four"] = (),
    sources_paths: Annotated[Sequence[Path], "<dataset>/manifest.json"] = (),
    soft_paths: Annotated[Sequence[Path], "<dataset>.counts.json of soft errors"] = (),
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl of the samples"] = (),
) -> None:
    """Write the data set for publication: shards by licence, a card, and last the manifest."""
    started, folder = time.monotonic(), manifest_path.parent
    manifest_path.unlink(missing_ok=True)  # while files change, no manifest may claim that they are complete
    published, withheld = parts.read(samples_paths, sources_paths, soft_paths, bases_paths, benchmarks, build)
    shards = parts.write(published, folder)
    audits = audits_path.read_text(encoding="utf-8")
    provenance.write_text(card_path, card.card_text(build, published, withheld, audits))
    rows = sum(len(part.samples) for part in published)
    provenance.write_manifest(
        manifest_path,
        inputs=[*samples_paths, *sources_paths, *soft_paths, *bases_paths, audits_path],
        outputs=[card_path, *shards],
        settings={"build": build},
        seconds=time.monotonic() - started,
        rows=rows,
        licences=sorted({part.licence for part in published}),
        withheld={part.dataset: len(part.samples) for part in withheld},
    )
    contents = (
        f"{rows} rows of {len(published)} datasets"
        if published
        else "no dataset is under a permissive licence, an empty card"
    )
    provenance.say(f"{folder}: {contents}")
    for part in withheld:
        provenance.say(f"{folder}: without {len(part.samples)} rows of {part.dataset}: {part.licence}: no derivatives")


@step(
    version=1,
    result="results/paper/table-{number}",
    outputs=["page"],
    category="Data",
    target="paper",
    optional=["samples"],
    inputs={"samples": "example_samples"},
    wildcards={"number": ["1", "8", "9", "10"]},
)
def table_examples(
    number: Annotated[int, (1, *EXAMPLE_TABLES), "of the paper's table"],
    page_path: Path,
    samples_paths: Annotated[Sequence[Path], "<dataset>/test.parquet"] = (),
) -> None:
    """Tables 1, 8, 9 and 10: rows of the test splits as examples.

    Rows of the test splits, the shortest of each kind. Table 1: one soft and one hard error, the erroneous words
    marked; a hard error puts a wrong option of the benchmark in place of the right answer, a soft one was written by
    the generator. Tables 8 to 10: an errorless pair of each dataset.
    """
    samples = [sample for path in samples_paths for sample in read_samples(path)]
    write_text(page_path, examples.page(number, samples))
