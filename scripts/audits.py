"""Audit the data set: what would let a judge answer without knowing a culture, and what its licences ask for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl

from excam.core import tables
from excam.core.exceptions import AuditFailed
from excam.core.provenance import quiet_libraries, read_json, say, write_json, write_text
from excam.core.tables import read_csv, write_frame
from excam.error_reports import record_files
from excam.excam40k import answer_vectors
from excam.excam40k.audits import balance, checks, inventory, leaks, licences, page, shortcuts, verdict
from excam.excam40k.audits.checks import in_splits
from excam.excam40k.construction import duplicates
from excam.inference.encoder import open_encoder
from scripts import step

PAGE = {"target": "all", "category": "Audits"}  # of the steps here
TABLE = {**PAGE, "outputs": ["numbers", "page"]}

NAMES = {"name": pl.String, "printed": pl.String}


@step(
    version=4,
    result="results/audits/inventory",
    inputs={
        "samples": "all_splits",
        "regions": "paper/appendix-e-regions.csv",
        "languages": "paper/appendix-e-languages.csv",
    },
    more={"cultures": "results/audits/inventory-cultures.csv"},
    **TABLE,
)
def audit_inventory(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    regions_path: Annotated[Path, "paper/appendix-e-regions.csv"],
    languages_path: Annotated[Path, "paper/appendix-e-languages.csv"],
    cultures_path: Annotated[Path, "rows per dataset and culture"],
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Count the rows of languages, regions and cultures, beside the lists of Appendix E.

    Languages, regions and cultures with their rows, beside the lists of Appendix E of the paper. Every culture is in
    ``results/audits/inventory-cultures.csv``.
    """
    rows = page.read_parts(samples_paths)
    regions, languages = (tables.read_csv(path, NAMES) for path in (regions_path, languages_path))
    audit = inventory.audit(rows, regions, languages)
    tables.write_csv(cultures_path, inventory.cultures(in_splits(rows)))
    page.write(audit, numbers_path, page_path)


@step(
    version=5,
    result="results/audits/balance",
    inputs={
        "samples": "all_splits",
        "bases": "results/samples/*.bases.jsonl",
        "counts": "results/excam40k/*/counts.json",
        "soft": "soft_counts",
    },
    settings={"shares": "shares"},
    more={"uses": "results/audits/balance-templates.csv"},
    **TABLE,
)
def audit_balance(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    counts_paths: Annotated[Sequence[Path], "<dataset>/counts.json of excam40k"],
    shares: Annotated[dict[str, Any], json.loads, "shares of the splits, as JSON"],
    uses_path: Annotated[Path, "uses of templates per slot"],
    numbers_path: Path,
    page_path: Path,
    soft_paths: Annotated[Sequence[Path], "<dataset>.counts.json of soft errors"] = (),
) -> None:
    """Check pairs, and the balance of splits, labels, templates, positions, strata, answers and severities.

    Instructions and answers of pairs, right and wrong rows per split and per template, uses of templates, position of
    the right option, rows per stratum, labels of right answers, and the severity asked for against the one the
    generator states.
    """
    rows = page.read_parts(samples_paths)
    bases = [base for path in bases_paths for base in record_files.read_bases(path)]
    base_rows = [
        (base.id, base.label, "\n".join((base.role, base.context, base.question)), "\n".join(sorted(base.options)))
        for base in bases
    ]
    audit = balance.audit(
        rows,
        pl.DataFrame(base_rows, schema=dict.fromkeys(balance.BASES, pl.String), orient="row"),
        {path.parent.name: balance.pairs_lost(read_json(path)) for path in counts_paths},
        shares,
        {path.name.removesuffix(".counts.json"): read_json(path, "severity", "generators") for path in soft_paths},
    )
    tables.write_csv(uses_path, balance.template_uses(rows))
    page.write(audit, numbers_path, page_path)


@step(
    version=1,
    inputs={"samples": "all_splits", "encoder": "answer_encoder"},
    outputs={"vectors": "results/excam40k/answers.parquet"},
    environment="inference",
    local=False,
)
def encode_answers(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    encoder_path: Annotated[Path, "manifest of a fetched sentence encoder"],
    vectors_path: Path,
) -> None:
    """Encode every answer of the rows once, without its question: for an audit, and for a trivial baseline."""
    quiet_libraries()
    encoder = open_encoder(encoder_path.parent / "files")
    write_frame(vectors_path, answer_vectors.as_frame(page.read_parts(samples_paths), encoder.half_vectors))


@step(
    version=10,
    result="results/audits/shortcuts",
    local=False,
    inputs={"samples": "all_splits", "vectors": "answer_vectors"},
    optional=["vectors"],
    **TABLE,
)
def audit_shortcuts(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    numbers_path: Path,
    page_path: Path,
    vectors_path: Annotated[Path | None, "of answers, by an encoder"] = None,
) -> None:
    """Check that a classifier cannot predict the label from words, answers, templates, lengths, letters or copied text.

    A logistic regression that sees only one of these, fitted on one half of the groups or base samples and asked about
    the other, must be at chance. What n-grams of one side alone, and an encoder, tell is reported. The rule is in
    ``excam/excam40k/audits/shortcuts.py``.
    """
    audit = shortcuts.audit(page.read_parts(samples_paths), answer_vectors.shown(vectors_path))
    page.write(audit, numbers_path, page_path)


COLUMNS = ("id", "base", "dataset", "instruction", "output")


@step(
    version=2,
    result="results/audits/leaks",
    inputs={
        "samples": "all_splits",
        "bases": "results/samples/*.bases.jsonl",
        "near_duplicates": "results/excam40k/near-duplicates.csv",
        "mixtures": "train_mixtures",
    },
    **TABLE,
)
def audit_leaks(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    bases_paths: Annotated[Sequence[Path], "<dataset>.bases.jsonl"],
    near_duplicates_path: Path,
    numbers_path: Path,
    page_path: Path,
    mixtures_paths: Annotated[Sequence[Path], "<trained_on>/train.jsonl"] = (),
) -> None:
    """Check base samples, groups, pairs, texts and near-duplicates across splits, datasets and mixtures.

    No base sample, group, pair, text or near-duplicate question is in two splits; no mixture holds what is in a dev or
    test set; of a left-out dataset no row is in its mixture, shown by the sha256 of instruction and output.
    """
    bases = (base for path in bases_paths for base in record_files.read_bases(path))
    questions = [(base.id, duplicates.compared_text(base)) for base in bases]
    audit = leaks.audit(
        page.read_parts(samples_paths),
        pl.DataFrame(questions, schema={"base": pl.String, "question": pl.String}, orient="row"),
        duplicates.read(near_duplicates_path),
        {path.parent.name: _rows(path) for path in mixtures_paths},
    )
    page.write(audit, numbers_path, page_path)


def _rows(path: Path) -> pl.DataFrame:
    rows = [tuple(row[column] for column in COLUMNS) for row in tables.read_jsonl(path)]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


@step(
    version=3,
    result="results/audits/licences",
    inputs={"samples": "all_splits", "sources": "results/sources/*/manifest.json"},
    settings={"licences": "licences"},
    more={"ledger": "results/audits/licences.parquet"},
    **TABLE,
)
def audit_licences(
    samples_paths: Annotated[Sequence[Path], "<dataset>/<split>.parquet"],
    sources_paths: Annotated[Sequence[Path], "<dataset>/manifest.json"],
    licences_json: Annotated[str, "of the loaders: licence, terms, module by dataset"],
    ledger_path: Path,
    numbers_path: Path,
    page_path: Path,
) -> None:
    """Write the licence ledger: licence and source of every row, and which rows may be combined.

    Rows per licence, what may be combined, and a notice on offensive content. Licence, revision and digest of the
    source of every single row are in ``results/audits/licences.parquet``.
    """
    manifests = {path.parent.name: read_json(path) for path in sources_paths}
    lines = licences.ledger(page.read_parts(samples_paths), manifests)
    write_frame(ledger_path, lines)
    expected = {dataset: licences.Licensed(*fields) for dataset, fields in json.loads(licences_json).items()}
    page.write(licences.audit(lines, expected, manifests), numbers_path, page_path)


@step(
    version=2,
    result="results/audits/summary",
    outputs=["page"],
    inputs={
        "checks": [
            "results/audits/leaks.csv",
            "results/audits/shortcuts.csv",
            "results/audits/balance.csv",
            "results/audits/inventory.csv",
            "results/audits/licences.csv",
        ]
    },
    **PAGE,
)
def summarize_audits(checks_paths: Annotated[Sequence[Path], "<audit>.csv"], page_path: Path) -> None:
    """Write all audits on one page, failed checks first.

    All audits: every check that failed, that is only reported, or that too few rows leave undecided; then the counts.
    """
    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in checks_paths}
    write_text(page_path, page.summary(audits))
    say(f"{page_path}: {page.verdict([check for of_audit in audits.values() for check in of_audit])}")


@step(
    version=1,
    inputs={"checks": "audit_checks", "summary": "results/audits/summary.md"},
    settings={"datasets": "learnt_from", "if_failed": "audits"},
    outputs={"verdict": "results/audits/verdict/{trained_on}.json"},
    wildcards={"trained_on": "mixtures"},
)
def check_audits(
    checks_paths: Annotated[Sequence[Path], "<audit>.csv"],
    summary_path: Annotated[Path, "the page that lists the failed checks"],
    trained_on: Annotated[str, "the mixture, which is also a published build"],
    if_failed: Literal["stop", "warn"],
    verdict_path: Path,
    datasets: Annotated[Sequence[str], "what it is made of"] = (),
) -> None:
    """Stop if an audit of the rows of one mixture failed; warn instead, where the configuration says so."""
    audits = {path.stem: checks.of_frame(read_csv(path, checks.CHECK_SCHEMA)) for path in checks_paths}
    mixture_checks = verdict.concerning(audits, trained_on, datasets)
    problem = verdict.refusal(mixture_checks, str(summary_path))
    if problem and if_failed == "stop":
        raise AuditFailed(problem)
    if problem:
        say(f"warning: {problem}")
    counts = Counter(check.outcome for _, check in mixture_checks)
    write_json(verdict_path, {"trained_on": trained_on, "datasets": datasets, "checks": dict(sorted(counts.items()))})
