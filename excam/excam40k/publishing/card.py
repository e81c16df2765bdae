"""The card of a build: a header for the Hugging Face libraries, and a page for readers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from excam.core.splits import SPLITS, Split
from excam.error_reports.records import Sample, to_row
from excam.excam40k import agreement
from excam.excam40k.audits.page import CONTENT_NOTICE
from excam.excam40k.construction import splits
from excam.excam40k.datasets._changes import by_rule
from excam.excam40k.publishing import EXAMPLE_TABLES, examples, folder_of, prose
from excam.excam40k.publishing.about import EXCAM, codes
from excam.excam40k.publishing.columns import COLUMNS, ERROR_COLUMNS
from excam.excam40k.publishing.parts import HEAD, LABELS, DatasetPart
from excam.pages.markdown import demote_headings, escape, remove_page_links, table

NAME = "ExCAM40k, rebuilt"
_SHOWN = 300  # characters of an example
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card_text(build: str, parts: Sequence[DatasetPart], withheld: Sequence[DatasetPart], audits: str) -> str:
    """Return the README.md of a build. It names the parts that are withheld."""
    header = yaml.safe_dump(_card_metadata(build, parts), sort_keys=False, allow_unicode=True, width=10_000)
    if not parts:
        empty = prose.EMPTY if build == "permissive" else "This build holds no rows."
        left_out = f"\n{_withheld(withheld)}\n" if withheld else ""
        return f"---\n{header}---\n\n# {NAME} ({build})\n\n{empty}\n{left_out}"
    tests = [sample for part in parts for sample in part.splits["test"]]
    sections = {
        "Before you use it": _notices(parts, withheld),
        "What is in it": _contents(parts),
        "Loading": prose.LOADING.format(config=parts[0].dataset),
        "Columns": _columns(),
        "How it was made": prose.MAKING,
        "Rows (Table 2)": _counts(parts),
        "Rows changed by rule": _changes(parts),
        "A soft and a hard error (Table 1)": f"{examples.RULE} {examples.ENGLISH}\n\n{examples.of_errors(tests)}",
        **{f"Errorless pairs (Table {n})": examples.of_datasets(EXAMPLE_TABLES[n], tests) for n in EXAMPLE_TABLES},
        "Splits": prose.SPLITS,
        "Audits": prose.AUDITS + "\n\n" + demote_headings(remove_page_links(audits.replace(CONTENT_NOTICE, "")), by=2),
        "Known limits": "\n".join([prose.LIMITS, *_votes(parts)]),
        "Licences": _licences(parts),
        "Offensive content and persons": CONTENT_NOTICE,
        "Citing": _citations(parts),
    }
    body = "\n".join(f"## {title}\n\n{text.strip()}\n" for title, text in sections.items())
    return f"---\n{header}---\n\n# {NAME} ({build})\n\n{prose.ABOUT}\n\n{body}"


def _card_metadata(build: str, parts: Sequence[DatasetPart]) -> dict[str, Any]:
    rows = sum(len(part.samples) for part in parts)
    languages = {sample.language for part in parts for sample in part.samples}
    return {
        "pretty_name": f"{NAME} ({build})",
        "license": "other",
        "license_name": "per-source",
        "license_details": prose.LICENCE_DETAILS,
        "language": codes(languages),
        "size_categories": [next((name for limit, name in _SIZES if rows < limit), "n>1M")],
        "task_categories": ["question-answering", "text-generation", "text-classification"],
        "tags": ["culture", "cultural-awareness", "evaluation", "error-detection", "synthetic"],
        "configs": configs(parts),
        "dataset_info": features_and_sizes(parts),
    }


def features_and_sizes(parts: Sequence[DatasetPart]) -> list[dict[str, Any]]:
    """Return the columns with their types, and the rows of each split, of every configuration.

    `datasets.load_dataset` casts to the first (else it reads long strings and lists as types of their own), and refuses
    a folder in which the second differ. `num_bytes` are those of the rows as JSON.
    """
    return [
        {
            "config_name": name,
            "features": [{"name": column, **_feature(kind)} for column, (kind, _) in COLUMNS.items()],
            "splits": [
                {"name": split, "num_bytes": sum(map(_size, rows)), "num_examples": len(rows)}
                for split, rows in by_split.items()
                if rows
            ],
        }
        for name, (_, by_split) in _kinds(parts).items()
    ]


def _size(sample: Sample) -> int:
    return len(json.dumps(to_row(sample), ensure_ascii=False).encode("utf-8", "replace"))


def _feature(kind: str) -> dict[str, Any]:
    """Return a type of `COLUMNS` in the words of `datasets`."""
    if kind == "errors":
        return {"list": [{"name": name, **_feature(inner)} for name, (inner, _) in ERROR_COLUMNS.items()]}
    if kind == "list of text":
        return {"list": "string"}
    return {"dtype": {"text": "string", "integer": "int64", "number": "float64", "boolean": "bool"}[kind]}


def configs(parts: Sequence[DatasetPart]) -> list[dict[str, Any]]:
    """Return one configuration per licence and one per dataset; none mixes licences, and there is no default."""
    return [
        {
            "config_name": name,
            "data_files": [
                {"split": split, "path": f"{folder}/{split}.parquet"} for split, rows in by_split.items() if rows
            ],
        }
        for name, (folder, by_split) in _kinds(parts).items()
    ]


def _kinds(parts: Sequence[DatasetPart]) -> dict[str, tuple[str, dict[Split, list[Sample]]]]:
    """Return the folders, as a pattern, and the rows by split of each configuration: licences, then datasets."""
    by_licence = sorted((folder_of(part.licence), at) for at, part in enumerate(parts))
    by_dataset = sorted((part.dataset, at) for at, part in enumerate(parts))
    kinds: dict[str, tuple[str, dict[Split, list[Sample]]]] = {}
    for pattern, named in (("{}/*", by_licence), ("*/{}", by_dataset)):
        for name, at in named:
            _, rows = kinds.setdefault(name, (pattern.format(name), {split: [] for split in SPLITS}))
            for split, samples in parts[at].splits.items():
                rows[split] += samples
    return kinds


def _withheld(parts: Sequence[DatasetPart]) -> str:
    names = ", ".join(f"{part.title} ({escape(part.licence)}, {len(part.samples)} rows)" for part in parts)
    return prose.WITHHELD.format(names=names)


def _notices(parts: Sequence[DatasetPart], withheld: Sequence[DatasetPart]) -> str:
    writers = sorted({writer for part in parts for writer in part.generators})
    local = [part.title for part in parts if part.origin.startswith("folder ")]
    notices = [prose.NOT_OFFICIAL]
    if "lexicon" in writers:
        notices.append(prose.LEXICON)
    elif writers:
        notices.append(prose.WRITERS.format(writers=escape(", ".join(writers)), paper=prose.PAPERS_GENERATOR))
    if local:
        notices.append(prose.LOCAL.format(names=", ".join(local)))
    if withheld:
        notices.append(_withheld(withheld))
    return "\n".join("- " + " ".join(notice.split()) for notice in [*notices, prose.OFFENSIVE])


def _contents(parts: Sequence[DatasetPart]) -> str:
    head = ["configuration", "benchmark", "task", "errors", "rows", "languages", "cultures", "licence", "read from"]
    rows = [
        [
            f"`{part.dataset}`",
            part.title,
            ", ".join(sorted({sample.task for sample in part.samples})),
            f"soft, by {escape(', '.join(part.generators))}" if part.generators else "hard",
            len(part.samples),
            len({sample.language for sample in part.samples}),
            len({sample.culture for sample in part.samples}),
            escape(part.licence),
            _origin(part),
        ]
        for part in parts
    ]
    languages = sorted({sample.language for part in parts for sample in part.samples})
    return f"{table(head, rows)}\n{prose.TASKS}\n\n{prose.LANGUAGES.format(names=escape(', '.join(languages)))}"


def _origin(part: DatasetPart) -> str:
    """Return the origin of a source; of a folder only its name below the repository, no path of a machine."""
    place = part.origin.removeprefix("folder ")
    if place != part.origin:
        return "a local folder" if place.startswith(("/", "~", "..")) else f"the folder `{place}`"
    return escape(part.origin) + ("" if part.revision == "by content" else f" at `{part.revision[:12]}`")


def _columns() -> str:
    rows = [[f"`{name}`", kind, text] for name, (kind, text) in COLUMNS.items()]
    inner = [[f"`{name}`", kind, text] for name, (kind, text) in ERROR_COLUMNS.items()]
    head = ["column", "holds", "meaning"]
    return f"{table(head, rows)}\nEach entry of `errors`:\n\n{table(head, inner)}\n{prose.SCORE}"


def _counts(parts: Sequence[DatasetPart]) -> str:
    lines: list[list[object]] = []
    for part in parts:
        cells = [splits.cells(part.splits[split]) for split in SPLITS]
        counted = [cell[name] for cell in cells for name in LABELS]
        lines.append([part.title, *counted, sum(counted)])
    total = [sum(line[at] for line in lines) for at in range(1, len(lines[0]))]  # pyright: ignore[reportArgumentType, reportCallIssue]
    return f"{table(['dataset', *HEAD, 'rows'], [*lines, ['all', *total]])}\n{prose.COUNTS}"


def _changes(parts: Sequence[DatasetPart]) -> str:
    """Return what readers changed, with the shortest example of each dataset and rule."""
    lines: list[list[object]] = []
    for part in parts:
        base_ids = {sample.base for sample in part.samples}
        rules = by_rule(base.changes for name, base in part.bases.items() if name in base_ids)
        for rule, (count, example) in rules.items():
            texts = (escape(example[which][:_SHOWN]) for which in ("published", "ours"))
            lines.append([part.title, rule, f"{count} of {len(base_ids)}", *texts])
    head = ["dataset", "rule", "base samples", "published, e.g.", "ours"]
    return f"{prose.CHANGES}\n\n{table(head, lines)}" if lines else "None: every text stands as published."


def _votes(parts: Sequence[DatasetPart]) -> Iterator[str]:
    """Yield what follows from the answers of others, of each dataset of labels that single annotators gave."""
    for part in parts:
        base_ids = {sample.base for sample in part.samples}
        if numbers := agreement.summary(base for base in part.bases.values() if base.id in base_ids):
            yield prose.VOTES.format(title=part.title, **numbers)


def _licences(parts: Sequence[DatasetPart]) -> str:
    rows = [[escape(part.licence), part.title, f"`{part.folder}/`"] for part in parts]
    kinds = {part.kind: sorted({other.licence for other in parts if other.kind == part.kind}) for part in parts}
    kinds_text = "\n".join(
        f"- **{kind}** ({escape(', '.join(names))}): {prose.KINDS[kind]}" for kind, names in kinds.items()
    )
    return f"{prose.LICENCES}\n\n{table(['licence', 'dataset', 'folder'], rows)}\n{kinds_text}\n\n{prose.QUOTED}"


def _citations(parts: Sequence[DatasetPart]) -> str:
    cited = dict.fromkeys(part.citation for part in parts if part.citation)
    return prose.CITING + "\n\n" + "\n".join(f"- {text}." for text in [EXCAM, *cited])
