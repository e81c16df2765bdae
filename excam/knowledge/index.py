"""A knowledge pack: passages of documents, and a BM25 index with an identity.

A pack is a folder of two files: `index.json` (identity, settings, counts, licences, what it was built from) and
`passages.parquet`. The arrays that BM25 searches are made of the passages each time it is opened (13 s for 100,000
passages of 100 words), so that the identity, which is over the passages, covers all that is found, whoever wrote the
folder. The same documents give the same bytes. Passages are data: a passage is never an instruction.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core import tables
from excam.core.cultures import culture_key
from excam.core.exceptions import ArtifactBroken, InputInvalid
from excam.core.hashing import sha256
from excam.core.language_identity import code_name, language_key
from excam.core.provenance import read_json, remove_published, write_json
from excam.core.typed_tables import read_typed
from excam.knowledge import documents
from excam.knowledge.documents import FILES, INDEX, NEEDED, PASSAGES, DocumentDefaults, DocumentReading
from excam.knowledge.open_book import OPEN_BOOK_PASSAGES
from excam.knowledge.passages import LONGEST, VERSION, FoundPassage, Passage, words

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from bm25s import BM25

__all__ = ["FILES", "INDEX", "PASSAGES", "Index", "build", "in_memory", "open_index", "write"]
K1, B, METHOD = 1.5, 0.75, "lucene"  # of BM25, the defaults of bm25s and Lucene's formula
_NAMES = tuple(field.name for field in fields(Passage))
NAMED = 5  # languages or cultures that a message lists


def build(
    sources: Sequence[Path],
    to: Path,
    stated: DocumentDefaults = DocumentDefaults(),  # noqa: B008  # it is frozen
) -> Index:
    """Index the documents of files and folders in the folder `to`, and return the index.

    `stated` is what holds for documents that do not say it themselves. Raises InputInvalid as `documents.read` and
    `write`.
    """
    return write(documents.read(sources, stated), to)


def write(reading: DocumentReading, to: Path, *, overwrite: bool = False) -> Index:
    """Write documents that were read as a pack, and return its index.

    Raises InputInvalid if no passage has a word, or `to` is the index of other documents and is not to be overwritten.
    If it cannot be written, `to` is left without an index, or with the one that it had.
    """
    passages = reading.passages
    _refuse_wordless(passages, ", ".join(map(str, reading.sources)))
    is_known = (to / INDEX).is_file() and not overwrite
    if is_known:
        _refuse_other(to, _identity(passages))
    index = in_memory(passages)
    for name in FILES if overwrite else ():
        if (to / name).is_file():
            remove_published(to / name)
    try:
        tables.write_frame(to / PASSAGES, _frame(passages))
        digests = {PASSAGES: sha256(to / PASSAGES)}
        write_json(to / INDEX, _facts(index, digests) | {"built": reading.facts()})
    except BaseException:
        if not is_known and (to / PASSAGES).is_file():
            remove_published(to / PASSAGES)
        raise
    return index


def _refuse_other(to: Path, expected: str) -> None:
    """Raise InputInvalid if a folder holds a pack of other passages."""
    there = str(read_json(to / INDEX, "identity")["identity"])
    if there != expected:
        raise InputInvalid(
            f"{to}: holds the index {there[:12]} of other documents; expected that of {expected[:12]}; name another "
            "folder with --to, or give --overwrite to replace it"
        )


def in_memory(passages: Sequence[Passage]) -> Index:
    """Return the index of passages that lie in no folder."""
    return Index(passages, _bm25(passages))


def open_index(folder: Path) -> Index:
    """Return the index of a pack.

    Raises InputInvalid if there is none, or its passages are none, and ArtifactBroken if `index.json` is not that of
    the passages: the identity is computed from them again, and so are the arrays that BM25 searches.
    """
    if not (folder / INDEX).is_file():
        raise InputInvalid(f"{folder}: no {INDEX}; expected a pack; `excam knowledge build SOURCE --to {folder}`")
    facts = read_json(folder / INDEX, "identity", "files")
    digest = sha256(folder / PASSAGES) if (folder / PASSAGES).is_file() else "none"
    recorded = facts["files"].get(PASSAGES) if isinstance(facts["files"], dict) else None
    if recorded != digest:
        raise ArtifactBroken(
            f"{folder / PASSAGES}: not the file of this index; expected {str(recorded)[:12]}; build it again"
        )
    passages = _opened_passages(folder / PASSAGES)
    index = Index(passages, _bm25(passages))
    if index.identity != facts["identity"]:
        raise ArtifactBroken(
            f"{folder}: passages of {index.identity[:12]}; expected those of {str(facts['identity'])[:12]}; build it "
            "again"
        )
    expected = _facts(index, {})
    if other := [name for name in expected if name != "files" and facts.get(name) != expected[name]]:
        raise ArtifactBroken(f"{folder / INDEX}: {', '.join(other)} of other passages; build it again")
    return index


def _opened_passages(path: Path) -> list[Passage]:
    frame = read_typed(path, _schema(), "passages of an index", _schema(), ("id",))
    passages = [Passage(**row) for row in frame.iter_rows(named=True)]
    if any(not getattr(passage, name).strip() for passage in passages for name in NEEDED):
        raise InputInvalid(f"{path}: a passage without {', '.join(NEEDED)}; expected passages of an index")
    _refuse_wordless(passages, str(path))
    return passages


def _refuse_wordless(passages: Sequence[Passage], where: str) -> None:
    if not any(words(f"{passage.title} {passage.text}") for passage in passages):
        raise InputInvalid(f"{where}: {len(passages)} passages without a word; expected texts that can be searched")


def _facts(index: Index, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return what `index.json` holds and the passages decide; `digests` are those of the files."""
    licences = dict(sorted(Counter(passage.licence for passage in index.passages).items()))
    settings = {"k1": K1, "b": B, "method": METHOD, "version": VERSION}
    counted = {"passages": len(index.passages), "licences": licences}
    return {"identity": index.identity, **counted, "settings": settings, "files": dict(digests)}


def _identity(passages: Iterable[Passage]) -> str:
    """Return the SHA-256 of the passages and of everything that decides what is found."""
    digest = hashlib.sha256(json.dumps([VERSION, K1, B, METHOD, LONGEST]).encode())
    for passage in passages:
        digest.update(json.dumps(_row(passage), sort_keys=True).encode())
    return digest.hexdigest()


def _row(passage: Passage) -> dict[str, str]:
    """Return the fields of a passage by name; `asdict` takes ten times as long."""
    return {name: getattr(passage, name) for name in _NAMES}


def _schema() -> dict[str, Any]:
    import polars as pl

    return dict.fromkeys(_NAMES, pl.String)


def _frame(passages: Iterable[Passage]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([_row(passage) for passage in passages], schema=_schema())


def _bm25(passages: Iterable[Passage]) -> BM25:
    from bm25s import BM25

    vocabulary: dict[str, int] = {}
    ids = [
        [vocabulary.setdefault(word, len(vocabulary)) for word in words(f"{passage.title} {passage.text}")]
        for passage in passages
    ]
    searched = BM25(k1=K1, b=B, method=METHOD, backend="numpy", csc_backend="numpy")
    searched.index((ids, vocabulary), show_progress=False)
    return searched


class Index:
    """Passages that can be searched. Build one with `build`, open one with `open_index`."""

    def __init__(self, passages: Sequence[Passage], searched: BM25) -> None:
        self.passages, self._searched = passages, searched
        self._masks: dict[tuple[str, str], np.ndarray] = {}

    @cached_property
    def identity(self) -> str:
        """Return the SHA-256 of everything that decides what is found."""
        return _identity(self.passages)

    @cached_property
    def signature(self) -> str:
        """Return the index's part of a signature."""
        return f"evidence:{self.identity[:12]}"

    def search(
        self,
        query: str,
        count: int,
        *,
        language: str = "",
        culture: str = "",
        without: Collection[str] = frozenset(),
    ) -> list[FoundPassage]:
        """Return up to `count` passages that share a word with the query, best first; equal scores in file order.

        Of passages with the same title and text, the first is returned.

        Args:
            query: in any language
            count: of passages, at most
            language: a name or code; passages of another are left out, those that state none are not
            culture: as the language
            without: sources whose passages are left out
        """
        import numpy as np

        allowed = self._allowed(language, culture)
        scores = np.where(allowed, self._scores(query), 0)
        best: list[FoundPassage] = []
        texts: set[tuple[str, str]] = set()
        for at in np.argsort(-scores, kind="stable"):
            if len(best) == count or scores[at] <= 0:
                break
            passage = self.passages[at]
            if not any(source in without for source in passage.sources) and (passage.title, passage.text) not in texts:
                texts.add((passage.title, passage.text))
                best.append(FoundPassage(passage, float(scores[at])))
        return best

    def passages_for(self, instruction: str, output: str, *, culture: str = "") -> list[Passage]:
        """Return the passages of an open book for a pair, see `search`."""
        hits = self.search(f"{instruction}\n{output}", OPEN_BOOK_PASSAGES, culture=culture)
        return [hit.passage for hit in hits]

    def _scores(self, query: str) -> np.ndarray:
        """Return the BM25 score of each passage, shape (passages,); 0 where no word is shared."""
        import numpy as np

        numbers = self._searched.vocab_dict
        of_query = [numbers[word] for word in words(query) if word in numbers]
        return self._searched.get_scores_from_ids(of_query) if of_query else np.zeros(len(self.passages))

    def mismatch(self, language: str = "", culture: str = "") -> str | None:
        """Return in a line why no passage can be of use for texts of a language and culture; None if one can."""
        for name, allowed in (("language", self._allowed(language, "")), ("culture", self._allowed("", culture))):
            if not allowed.any():
                wanted = language if name == "language" else culture
                return f"no passage of {name} {_shown(name, wanted)}; the pack has {self._named(name)}"
        if not self._allowed(language, culture).any():
            return f"no passage in {_shown('language', language)} of culture {culture}"
        return None

    def _named(self, field: str) -> str:
        """Return the most frequent languages or cultures with their numbers of passages."""
        counts = Counter(_shown(field, getattr(passage, field)) for passage in self.passages)
        more = f" and {len(counts) - NAMED} more" if len(counts) > NAMED else ""
        return ", ".join(f"{name} ({count})" for name, count in counts.most_common(NAMED)) + more

    def _allowed(self, language: str, culture: str) -> np.ndarray:
        """Return for each passage whether it is of a language and culture, or states none; "" allows all."""
        import numpy as np

        language, culture = wanted = language_key(language), culture_key(culture)
        if wanted not in self._masks:
            fits = [
                (not language or spoken in ("", language)) and (not culture or lived in ("", culture))
                for spoken, lived in self._keys
            ]
            self._masks[wanted] = np.array(fits)
        return self._masks[wanted]

    @cached_property
    def _keys(self) -> list[tuple[str, str]]:
        """Return the language and the culture of each passage, as they are compared."""
        stated = [(passage.language, passage.culture) for passage in self.passages]
        keys = {pair: (language_key(pair[0]), culture_key(pair[1])) for pair in set(stated)}
        return [keys[pair] for pair in stated]


def _shown(field: str, value: str) -> str:
    return code_name(language_key(value)) if field == "language" else value
