"""Mango (Nguyen, Razniewski, Weikum, CIKM 2024): assertions on concepts in cultures. Free-text generation, soft errors.

The topic is the concept in the culture, the output the assertion (ExCAM Table 9). The release is a zip file; of it one
JSON Lines member is read, and a member that points outside the archive is refused.
"""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import polars as pl

from excam.core.exceptions import SourceInvalid
from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import fold_case, identifier

VERSION = 2
NAME = "mango"
SOURCE = base.Source(
    licence="CC-BY-4.0",
    files=(
        "mango_dataset_v1.jsonl.zip",
        "mango_dataset_v1.jsonl",
        "mango_dataset_v1.jsonl.gz",
        "mango.jsonl",
        "mango_sample.jsonl",
    ),
    url="https://www.mpi-inf.mpg.de/fileadmin/inf/d5/research/mango/mango_dataset_v1.jsonl.zip",
    homepage="https://mango.mpi-inf.mpg.de/",
    title="Mango",
    citation=(
        "Nguyen, Razniewski and Weikum 2024. Cultural Commonsense Knowledge for Intercultural Dialogues. CIKM 2024"
    ),
)
TASK: base.Task = "generation"
ERRORS: base.Errors = "soft"

COLUMNS = ("id", "concept", "culture", "assertion")
LARGEST_MEMBER = 8 * 2**30  # bytes unpacked


def read(folder: Path) -> base.Reading:
    """Return base samples of a snapshot. Raises SourceInvalid."""
    path = base.find_one(folder, NAME, SOURCE.files)
    rows = _unzip_rows(path) if path.suffix == ".zip" else base.table(path, NAME, COLUMNS)
    concept, culture = pl.col("concept"), pl.col("culture")
    frame = base.fields(
        rows,
        id=identifier(NAME, pl.col("id")),
        question=_topic(concept, culture),
        answer=pl.col("assertion"),
        language=pl.lit("English"),
        culture=culture,
        stratum=culture,
        reason=base.first_reason(empty=concept == ""),
    )
    return base.gather(NAME, TASK, frame)


def _topic(concept: pl.Expr, culture: pl.Expr) -> pl.Expr:
    """E.g. "color symbolism in Ghanaian culture" (Table 9); neither the culture nor the word is said twice."""
    named = fold_case(concept).str.contains(fold_case(culture), literal=True)
    worded = culture.str.contains(r"(?i)\bcultures?\z")
    place = pl.when(worded).then(culture).otherwise(culture + " culture")
    return pl.when(named).then(concept).otherwise(concept + " in " + place)


def _unzip_rows(path: Path) -> pl.DataFrame:
    """Return the rows of the one JSON Lines member, unpacked under our own file name: names in the archive are not
    used.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.stem
        try:
            with zipfile.ZipFile(path) as archive:
                member = _member(archive, path)
                with archive.open(member) as packed, target.open("wb") as unpacked:
                    shutil.copyfileobj(packed, unpacked)
        except (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as damage:
            raise SourceInvalid(f"{NAME}: {path.name}: not a readable zip: {damage}; fetch the file again") from damage
        return base.table(target, NAME, COLUMNS)


def _member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    for member in archive.infolist():
        name = PurePosixPath(member.filename.replace("\\", "/"))
        link = stat.S_ISLNK(member.external_attr >> 16)
        if link or name.is_absolute() or ".." in name.parts or re.match(r"[A-Za-z]:", str(name)):
            raise SourceInvalid(f"{NAME}: {path.name}: unsafe member {member.filename!r}; expected plain files inside")
    members = [member for member in archive.infolist() if member.filename.endswith(".jsonl")]
    members = [member for member in members if not member.filename.startswith("__MACOSX/")]
    if len(members) != 1 or members[0].file_size > LARGEST_MEMBER:
        names = ", ".join(archive.namelist()[:8]) or "nothing"
        raise SourceInvalid(f"{NAME}: {path.name}: expected one .jsonl member of at most 8 GiB; found {names}")
    return members[0]
