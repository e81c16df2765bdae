"""The card of a build: a header that the Hugging Face libraries read, and a page for people (spec 77-79)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import yaml

from excam.audits.page import CONTENT_NOTICE
from excam.construction import splits
from excam.markdown import demoted, escaped, table, unlinked
from excam.publishing import EXAMPLE_TABLES, examples, folder_of, grouped, prose
from excam.publishing.about import ABOUT, EXCAM, about, codes
from excam.publishing.columns import COLUMNS, ERROR_COLUMNS
from excam.publishing.parts import LABELS, Part
from excam.records import SPLITS

NAME = "ExCAM40k, rebuilt"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def written(build: str, parts: Sequence[Part], audits: str) -> str:
    """The whole README.md of a build."""
    header = yaml.safe_dump(_header(build, parts), sort_keys=False, allow_unicode=True, width=10_000)
    if not parts:
        return f"---\n{header}---\n\n# {NAME} ({build})\n\n{prose.EMPTY}\n"
    tests = [sample for part in parts for sample in part.splits["test"]]
    sections = {
        "Before you use it": _notices(parts),
        "What is in it": _contents(parts),
        "Loading": prose.LOADING.format(config=parts[0].dataset),
        "Columns": _columns(),
        "How it was made": prose.MAKING,
        "Rows (Table 2)": _counts(parts),
        "A soft and a hard error (Table 1)": f"{examples.RULE} {examples.ENGLISH}\n\n{examples.of_errors(tests)}",
        **{f"Errorless pairs (Table {n})": examples.of_datasets(EXAMPLE_TABLES[n], tests) for n in EXAMPLE_TABLES},
        "Splits": prose.SPLITS,
        "Audits": prose.AUDITS + "\n\n" + demoted(unlinked(audits.replace(CONTENT_NOTICE, "")), by=2),
        "Known limits": prose.LIMITS,
        "Licences": _licences(parts),
        "Offensive content and persons": CONTENT_NOTICE,
        "Citing": _citations(parts),
    }
    body = "\n".join(f"## {title}\n\n{text.strip()}\n" for title, text in sections.items())
    return f"---\n{header}---\n\n# {NAME} ({build})\n\n{prose.ABOUT}\n\n{body}"


def _header(build: str, parts: Sequence[Part]) -> dict[str, Any]:
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
    }


def configs(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """One configuration per licence and one per dataset; none that mixes licences, and no default that would choose."""
    kinds = {name: (f"{name}/*", own) for name, own in _by(parts, lambda part: folder_of(part.licence)).items()}
    kinds |= {name: (f"*/{name}", own) for name, own in _by(parts, lambda part: part.dataset).items()}
    return [
        {
            "config_name": name,
            "data_files": [
                {"split": split, "path": f"{folder}/{split}.parquet"}
                for split in SPLITS
                if any(part.splits[split] for part in own)
            ],
        }
        for name, (folder, own) in kinds.items()
    ]


def _by(parts: Sequence[Part], key: Callable[[Part], str]) -> dict[str, list[Part]]:
    return {name: [part for part in parts if key(part) == name] for name in sorted(set(map(key, parts)))}


def _notices(parts: Sequence[Part]) -> str:
    writers = sorted({writer for part in parts for writer in part.generators})
    local = [about(part.dataset).name for part in parts if part.origin.startswith("folder ")]
    notices = [prose.NOT_OFFICIAL]
    if "lexicon" in writers:
        notices.append(prose.LEXICON)
    elif writers:
        notices.append(prose.WRITERS.format(writers=escaped(", ".join(writers)), paper=prose.PAPERS_GENERATOR))
    if local:
        notices.append(prose.LOCAL.format(names=", ".join(local)))
    return "\n".join("- " + " ".join(notice.split()) for notice in [*notices, prose.OFFENSIVE])


def _contents(parts: Sequence[Part]) -> str:
    head = ["configuration", "benchmark", "task", "errors", "rows", "languages", "cultures", "licence", "read from"]
    rows = [
        [
            f"`{part.dataset}`",
            about(part.dataset).name,
            ", ".join(sorted({sample.task for sample in part.samples})),
            f"soft, by {escaped(', '.join(part.generators))}" if part.generators else "hard",
            len(part.samples),
            len({sample.language for sample in part.samples}),
            len({sample.culture for sample in part.samples}),
            escaped(part.licence),
            _origin(part),
        ]
        for part in parts
    ]
    languages = sorted({sample.language for part in parts for sample in part.samples})
    return f"{table(head, rows)}\n{prose.TASKS}\n\n{prose.LANGUAGES.format(names=escaped(', '.join(languages)))}"


def _origin(part: Part) -> str:
    """Where a source came from; of a folder only its name below the repository, no path of a machine."""
    place = part.origin.removeprefix("folder ")
    if place != part.origin:
        return "a local folder" if place.startswith(("/", "~", "..")) else f"the folder `{place}`"
    return escaped(part.origin) + ("" if part.revision == "by content" else f" at `{part.revision[:12]}`")


def _columns() -> str:
    rows = [[f"`{name}`", kind, text] for name, (kind, text) in COLUMNS.items()]
    inner = [[f"`{name}`", kind, text] for name, (kind, text) in ERROR_COLUMNS.items()]
    head = ["column", "holds", "meaning"]
    return f"{table(head, rows)}\nEach entry of `errors`:\n\n{table(head, inner)}\n{prose.SCORE}"


def _counts(parts: Sequence[Part]) -> str:
    lines: list[list[object]] = []
    for part in parts:
        cells = [splits.cells(part.splits[split]) for split in SPLITS]
        counted = [cell[name] for cell in cells for name in LABELS]
        lines.append([about(part.dataset).name, *counted, sum(counted)])
    total = [sum(line[at] for line in lines) for at in range(1, len(lines[0]))]  # pyright: ignore[reportArgumentType, reportCallIssue]
    short = {"right": "right", "wrong_hard": "hard", "wrong_soft": "soft"}
    head = ["dataset", *(f"{split}: {short[name]}" for split in SPLITS for name in LABELS), "rows"]
    return f"{table(head, [*lines, ['all', *total]])}\n{prose.COUNTS}"


def _licences(parts: Sequence[Part]) -> str:
    rows = [[escaped(part.licence), about(part.dataset).name, f"`{part.folder}/`"] for part in parts]
    kinds = grouped(part.licence for part in parts)
    said = "\n".join(
        f"- **{kind}** ({escaped(', '.join(names))}): {prose.KINDS[kind]}" for kind, names in kinds.items()
    )
    return f"{prose.LICENCES}\n\n{table(['licence', 'dataset', 'folder'], rows)}\n{said}\n\n{prose.QUOTED}"


def _citations(parts: Sequence[Part]) -> str:
    cited = [ABOUT[part.dataset].cite for part in parts if part.dataset in ABOUT]
    return prose.CITING + "\n\n" + "\n".join(f"- {text}." for text in [EXCAM, *dict.fromkeys(cited)])
