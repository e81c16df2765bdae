"""Make a pack of passages, and show what judges that read passages are worth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from excam.core import paths, tables
from excam.core.paths import ALL
from excam.core.provenance import say, write_text
from excam.error_reports import record_files
from excam.error_reports.evaluation.cells import System, rounded_text
from excam.error_reports.floors import FLOORS
from excam.error_reports.records import Sample
from excam.excam40k import evidence_numbers, shown_evidence
from excam.excam40k.culture_documents import knowledge_documents
from excam.excam40k.publishing import about
from excam.knowledge.index import build
from excam.pages import markdown, plotting
from scripts import step


@step(version=1)
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


HEAD = """# Judging with passages

Each row of the test sets has passages before it: the fact among near misses (*fact*), near misses alone (*near*), a
right and a false passage (*contradicting*), or nothing of use (*unrelated*). They are facts of the same test set, and
of no training row. *Scaled accuracy* [95 % interval over groups of base samples]: 0 is chance; a row without a verdict
counts as half right. *Silent*: rows without a verdict, which is what is wanted wherever the passages do not decide.
*Right*: of the verdicts given. *States*, *cites*: of the rows with a statement, how many state the right answer and
cite the passage that says it. *Words*: character F1 of the marked words. An adapter `without-X` is judged on X alone.
The floors need no model: how many of a text's content words stand in one passage, and how much more of the question
stands in the sentence with the answer than elsewhere; dev rows fix their thresholds. *Minus* one: paired [95 %].
"""


SHOWN = {
    "n": "n", "scaled": "scaled accuracy", "silent": "silent", "accuracy": "right", "states_right": "states",
    "cites_right": "cites", "span_f1": "words",
    **{name: name.replace("_", " ") for name in evidence_numbers.MINUS},
}  # fmt: skip


@step(
    version=4,
    result="results/paper/evidence",
    outputs=["numbers", "page"],
    category="Results",
    target="paper",
    inputs={
        "judgements": "judgements_with_evidence",
        "evidence": "evidence",
        "samples": "sets_with_evidence",
    },
    settings={"seed": "seed"},
    stages=["error_reports/closed_values", "error_reports/floors"],
)
def table_evidence(
    judgements_paths: Annotated[Sequence[Path], "<system>/<dataset>/<split>.parquet"],
    evidence_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    seed: int,
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write how systems judge rows with passages, by kind and wording of these, beside floors without a model.

    How systems judge test rows with passages before them, by what the passages say, beside the fair floors.
    """
    samples = {row.id: row for path in samples_paths for row in record_files.read_samples(path)}
    shown = {path: shown_evidence.read(path) for path in evidence_paths}
    test = {id: row for path, rows in shown.items() if path.stem != "dev" for id, row in rows.items()}
    dev = [row for path, rows in shown.items() if path.stem == "dev" for row in rows.values()]
    floors = {name: evidence_numbers.floor(name, [*test.values()], samples, dev) for name in FLOORS}
    points = dict(floors)
    for path in judgements_paths:
        points.setdefault(System.from_path(path).key, []).extend(_points(path, test, samples))
    lines = [line for name, own in points.items() for line in evidence_numbers.lines(name, own, seed, floors)]
    tables.write_lines(numbers_path, evidence_numbers.COLUMNS, map(_rounded, lines))
    write_text(page_path, page(tables.read_lines(numbers_path)))


def _points(
    path: Path, shown: Mapping[str, shown_evidence.Shown], samples: Mapping[str, Sample]
) -> list[evidence_numbers.Point]:
    """Return what one system says of the rows of one set."""
    points = []
    for row in tables.read_frame(path).iter_rows(named=True):
        judgement = row | {"report": json.loads(row["report"]) if row["report"] else None}
        parts = json.loads(row["parts"]) if row["parts"] else {}
        points.append(evidence_numbers.point(shown[row["id"]], samples[row["id"]], judgement, parts))
    return points


def _rounded(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rounded_text(value) if isinstance(value, float) else value for name, value in line.items()}


def page(lines: Sequence[Mapping[str, str]]) -> str:
    """Return the page that the lines of the numbers make: a section for each kind of passages."""
    parts = [HEAD]
    for kind in dict.fromkeys(line["kind"] for line in lines):
        own = [line for line in lines if line["kind"] == kind]
        rows = [
            [markdown.escape(line["system"]), _rows_of(line), *(_cell(line, name) for name in SHOWN)] for line in own
        ]
        parts.append(f"\n## Passages: {kind}\n\n" + markdown.table(["system", "rows", *SHOWN.values()], rows))
    return "".join(parts)


def _rows_of(line: Mapping[str, str]) -> str:
    return line["dataset"] if line["wording"] == paths.ALL else f"passages as {line['wording']}"


def _cell(line: Mapping[str, str], name: str) -> str:
    before = "" if name == "scaled" else f"{name}_"
    shown = line[name] or "–"
    low, high = line.get(f"{before}low"), line.get(f"{before}high")
    return f"{shown} [{low}, {high}]" if low else shown


TITLE = "Verdicts on texts, with the fact in one of several passages"


NOTE = (
    "Scaled accuracy with its 95 % interval; 0 is chance, and a row without a verdict counts as half right. Filled: "
    "adapters, without-X on X alone. Open: models without an adapter, and the fair floors."
)


@step(
    version=4,
    result="results/paper/figure-evidence",
    outputs=["pictures"],
    category="Results",
    target="paper",
    inputs={"numbers": "evidence_numbers"},
)
def figure_evidence(numbers_path: Annotated[Path, "evidence.csv"], pictures_paths: Sequence[Path]) -> None:
    """Draw how systems judge rows with passages: one panel for each benchmark, from the numbers of the table.

    Verdicts on test rows with the fact in one of several passages: adapters, models without one, and floors
    without any model.
    """
    draw(tables.read_lines(numbers_path), pictures_paths)


def draw(lines: Sequence[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of evidence.csv alone."""
    complete = [line for line in lines if line["kind"] == "fact" and line["wording"] == ALL and line["low"]]
    own = [line for line in complete if int(line["n"]) >= plotting.LEAST]
    if not own:
        plotting.save(
            plotting.words(TITLE, f"Fewer than {plotting.LEAST} rows with the fact in a passage: nothing to show."),
            pictures,
        )
        return
    points = {
        (line["dataset"], line["system"]): (float(line["scaled"]), float(line["low"]), float(line["high"]))
        for line in own
    }
    systems = list(dict.fromkeys(line["system"] for line in own))
    sizes = {line["dataset"]: f"n = {int(line['n']):,}" for line in own}
    panels = {
        f"{'all datasets' if dataset == ALL else about.title(dataset)}\n{size}": [
            points.get((dataset, system)) for system in systems
        ]
        for dataset, size in sizes.items()
    }
    hidden = len({line["dataset"] for line in complete}) - len(sizes)
    note = NOTE + (f" Not drawn, fewer than {plotting.LEAST} rows: {hidden} of the datasets." if hidden else "")
    rows = [
        plotting.ForestRow(
            System.from_key(system).title if "/" in system else system, "/" in system and "/nothing/" not in system
        )
        for system in systems
    ]
    plotting.save(plotting.forest(panels, rows, "scaled accuracy; 0: chance", title=TITLE, note=note), pictures)
