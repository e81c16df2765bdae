"""A card of a knowledge pack, as Markdown: what is in it, from where, under which licences, how to build it again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from excam.core.language_identity import code_name, language_key
from excam.knowledge.index import Index
from excam.knowledge.passages import VERSION, Passage, repeated, words
from excam.pages.markdown import escape, table

LISTED = 30  # lines of a table


def card(index: Index, name: str) -> str:
    """Return the card of a pack as Markdown. All texts in it are of the documents, and shown literally."""
    passages = index.passages
    lengths = [len(words(passage.text)) for passage in passages]
    facts = [
        ("passages", len(passages)),
        ("documents", len({passage.document for passage in passages})),
        ("sources", len({source for passage in passages for source in passage.sources})),
        ("words", f"{sum(lengths)}, {max(lengths)} in the longest passage"),
        ("passages that repeat another", repeated(passages)),
        ("identity", f"`{index.identity}`"),
        ("in signatures", f"`{index.signature}`"),
        ("version", VERSION),
    ]
    if index.embeddings:
        facts += [
            ("found by", "BM25 and the embeddings of a sentence encoder"),
            ("encoder", f"`{index.embeddings.encoder_sha256}`, vectors of {index.embeddings.vectors.shape[1]} numbers"),
        ]
    parts: list[tuple[str, Callable[[Passage], str]]] = [
        ("language", lambda passage: code_name(language_key(passage.language)) if passage.language else ""),
        ("culture", lambda passage: passage.culture),
        ("licence", lambda passage: passage.licence),
    ]
    text = f"# Knowledge pack {escape(name)}\n\n{table(['fact', 'value'], facts)}\n"
    for title, group in parts:
        text += f"## By {title}\n\n" + _counted(title, map(group, passages), lengths)
    return text + _origin(index.built, name)


def _counted(title: str, groups: Iterable[str], lengths: Iterable[int]) -> str:
    passages, counts = Counter[str](), Counter[str]()
    for group, length in zip(groups, lengths, strict=True):
        passages[group] += 1
        counts[group] += length
    rows = [[escape(group) or "not stated", count, counts[group]] for group, count in passages.most_common(LISTED)]
    more = f"\nand {len(passages) - LISTED} more\n" if len(passages) > LISTED else ""
    return table([title, "passages", "words"], rows) + more + "\n"


def _origin(built: Mapping[str, Any], name: str) -> str:
    """Return the files that a pack says it was built from. They are its writer's words: no passage proves them."""
    recorded = built.get("files")
    files = [file for file in recorded if isinstance(file, dict)] if isinstance(recorded, list) else []
    options = built.get("options")
    if not files or not isinstance(options, dict):
        return "## Sources\n\nThe pack does not say what it was built from.\n"
    kinds, counts = Counter[str](), Counter[str]()
    for file in files:
        kinds[str(file.get("kind"))] += 1
        counts[str(file.get("kind"))] += _number(file.get("passages"))
    by_kind = [[escape(kind), count, counts[kind]] for kind, count in kinds.most_common()]
    rows = [
        [*(escape(str(file.get(key))) for key in ("name", "kind", "documents", "passages")), f"`{_digest(file)}`"]
        for file in files[:LISTED]
    ]
    more = f"\nand {len(files) - LISTED} more; all are in `index.json`\n" if len(files) > LISTED else ""
    said = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    command = shlex.join(["excam", "knowledge", "build", "SOURCE", *said, "--to", name])
    files_head = ["file", "kind", "documents", "passages", "SHA-256"]
    same = "SOURCE are these files, or their folder. The same files give the same bytes."
    same += " `--encoder` is the folder of the encoder above." if "encoder" in options else ""
    return (
        f"## By kind of source\n\n{table(['kind', 'files', 'passages'], by_kind)}\n"
        f"## Files, as they were recorded\n\n{table(files_head, rows)}{more}\n"
        f"## How to build it again\n\n{same}\n\n"
        f"```bash\n{' '.join(command.replace('`', '').split())}\n```\n"
    )


def _digest(file: Mapping[str, Any]) -> str:
    return "".join(sign for sign in str(file.get("sha256"))[:12] if sign.isalnum())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
