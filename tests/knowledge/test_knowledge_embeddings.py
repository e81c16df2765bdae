"""A pack with embeddings: written, opened with its encoder and no other, searched; damaged or hostile ones."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import tiny
from one_line_errors import line_of
from safetensors.numpy import save

from excam.core import hashing
from excam.core.exceptions import ArtifactBroken, InputInvalid, ModelInvalid
from excam.knowledge import documents, embeddings
from excam.knowledge import index as packs
from excam.knowledge.documents import EMBEDDINGS, ENCODER, FILES, INDEX
from excam.knowledge.passages import Passage
from tests.knowledge.test_knowledge import excam_knowledge, rows_file

DOCUMENTS = [
    {"id": "a", "title": "Haggis", "text": "A Scottish pudding.\n\nIt is eaten on Burns Night.", "licence": "CC0-1.0"},
    {"id": "b", "title": "Weddings", "text": "Guests of weddings dance.", "licence": "CC0-1.0", "culture": "Norway"},
    {"id": "c", "title": "Straße", "text": "Die Straße ist lang.", "licence": "CC0-1.0", "language": "de"},
    {"id": "d", "title": "Weddings", "text": "Guests of weddings dance.", "licence": "CC0-1.0"},
]
QUERY = "What do Scots eat on Burns Night?"


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    place = tmp_path_factory.mktemp("encoders")
    return tiny.encoder(place / "letters/files", 1), tiny.encoder(place / "others/files", 2)


@pytest.fixture(scope="module")
def built(encoders, tmp_path_factory):
    """A folder with the documents and a pack of them with embeddings."""
    place = tmp_path_factory.mktemp("built")
    rows_file(place / "d/documents.jsonl", *DOCUMENTS)
    packs.build([place / "d"], place / "pack", encoder=encoders[0])
    return place


@pytest.fixture
def pack(built, tmp_path):
    """A copy of the pack, to change."""
    return Path(shutil.copytree(built / "pack", tmp_path / "pack"))


def test_a_pack_with_embeddings_is_byte_equal_and_plain_packs_stay(built, encoders, tmp_path):
    again = packs.build([built / "d"], tmp_path / "again", encoder=encoders[0].parent)
    names = sorted(path.name for path in (built / "pack").iterdir())
    assert names == sorted([*FILES, EMBEDDINGS, ENCODER])
    for name in names:
        assert (built / "pack" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    opened = packs.open_index(built / "pack")
    assert opened.identity == again.identity
    assert opened.search(QUERY, 9) == again.search(QUERY, 9)
    plain = packs.build([built / "d"], tmp_path / "plain")
    assert sorted(path.name for path in (tmp_path / "plain").iterdir()) == sorted(FILES)
    facts = {name: json.loads((tmp_path / name / INDEX).read_text()) for name in ("plain", "again")}
    assert "encoder" not in facts["plain"] | facts["plain"]["built"]["options"]
    assert facts["again"]["encoder"]["passages"] == plain.identity != again.identity
    assert facts["again"]["built"]["options"]["encoder"] == "letters"
    assert again.embeddings
    assert again.embeddings.vectors.dtype == np.float16
    assert packs.build([built / "d"], tmp_path / "again", encoder=encoders[0]).identity == again.identity


def test_passages_are_found_that_share_no_word(built, tmp_path):
    index = packs.open_index(built / "pack")
    assert packs.build([built / "d"], tmp_path / "plain").search("wedding", 9) == []
    assert [hit.passage.id for hit in index.search("wedding wedding", 1)] == ["b"]
    assert index.search(QUERY, 1)[0].passage.id == "a#2"
    assert index.search("?!", 9) == index.search("", 9) == []
    ids = {hit.passage.id for hit in index.search(QUERY, 9)}
    assert ids == {"a", "a#2", "b", "c"}, "of equal passages the first"
    assert "c" not in {hit.passage.id for hit in index.search(QUERY, 9, language="en")}
    assert "b" not in {hit.passage.id for hit in index.search(QUERY, 9, culture="Japan")}
    assert "b" not in {hit.passage.id for hit in index.search("wedding", 9, without={"b"})}


def test_scores_are_shares_of_the_highest():
    bm25, cosines = np.array([4.0, 0, 2, 0, 0]), np.array([0.4, 0.8, -0.1, 0.29, 0.3], np.float32)
    assert embeddings.joined(bm25, cosines).tolist() == pytest.approx([1.5, 1, 0.5, 0, 0.375])
    assert embeddings.joined(np.zeros(2), np.array([-0.1, 0.2])).tolist() == [0, 0]


def test_blocks_are_of_any_size(built, monkeypatch):
    vectors = packs.open_index(built / "pack").embeddings
    assert vectors
    at_once = vectors.cosines(QUERY)
    monkeypatch.setattr(embeddings, "BLOCK", 2)
    assert vectors.cosines(QUERY) == pytest.approx(at_once)
    assert (at_once.shape, at_once.dtype) == ((5,), np.float32)


def test_another_encoder_is_refused_in_a_line(built, pack, encoders, tmp_path):
    for refused, words in ((encoders[1], ": encoder "), (tmp_path, ": no sentence encoder; ")):
        done = excam_knowledge("search", pack, QUERY, "--encoder", refused)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert f"{refused}{words}" in done.stderr
        assert f"with which {pack} was built; write its folder into {pack / ENCODER}" in done.stderr
    (pack / ENCODER).write_text("gone\n")
    assert f"{pack / 'gone'}: no sentence encoder" in line_of(ModelInvalid, packs.open_index, pack)
    assert excam_knowledge("search", pack, QUERY, "--encoder", encoders[0].parent).exit_code == 0
    for text in ("", "a\0b\n"):
        (pack / ENCODER).write_text(text)
        assert f"{pack / ENCODER}: names no folder" in line_of(ModelInvalid, packs.open_index, pack)
    (pack / ENCODER).unlink()
    assert "names no folder" in line_of(ModelInvalid, packs.open_index, pack)
    (pack / "kept").symlink_to(encoders[0])
    (pack / ENCODER).write_text("kept\n")
    assert packs.open_index(pack).search(QUERY, 1)


def test_options_that_fit_no_pack_are_refused(built, pack, encoders, tmp_path):
    packs.build([built / "d"], tmp_path / "plain")
    assert "has no embeddings" in line_of(InputInvalid, packs.open_index, tmp_path / "plain", encoders[0])
    assert "no sentence encoder; expected a folder" in line_of(ModelInvalid, embeddings.encoder_folder, tmp_path)
    for to, encoder in ((pack, None), (pack, encoders[1]), (tmp_path / "plain", encoders[0])):
        line = line_of(InputInvalid, packs.build, [built / "d"], to, encoder=encoder)
        assert "of other documents or of another encoder" in line


def test_a_pack_among_documents_is_no_document(built, pack):
    (pack.parent / "notes.txt").write_text("A note.")
    reading = documents.read([pack.parent], documents.Stated(licence="CC0-1.0"))
    assert [file.name for file in reading.files] == ["notes.txt"]
    assert reading.skipped == []


VECTORS = np.eye(5, 16, dtype=np.float16)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x80\x04 a pickle", "SafetensorError; expected embeddings"),
        (save({"passages": VECTORS.astype(np.float32)}), "no matrix passages of float16"),
        (save({"passages": VECTORS[0]}), "no matrix passages of float16"),
        (save({"others": VECTORS}), "no matrix passages of float16"),
        (save({"passages": VECTORS[:4]}), "4 vectors; expected 5, one a passage"),
        (save({"passages": VECTORS * np.float16(9)}), "a vector of another length than 1"),
        (save({"passages": VECTORS * np.float16(np.nan)}), "a vector of another length than 1"),
        (save({"passages": VECTORS}), "expected those of"),
    ],
)
def test_other_embeddings_are_one_line(pack, content, words):
    (pack / EMBEDDINGS).write_bytes(content)
    assert "not the file of this index" in line_of(ArtifactBroken, packs.open_index, pack)
    facts = json.loads((pack / INDEX).read_text())
    facts["files"][EMBEDDINGS] = hashing.sha256(pack / EMBEDDINGS)
    (pack / INDEX).write_text(json.dumps(facts))
    assert words in line_of(ArtifactBroken, packs.open_index, pack)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "expected those of"),
        ([], "encoder None in index.json; expected a SHA-256"),
        ({"sha256": "`x`\n"}, "expected a SHA-256"),
        ({"sha256": "0" * 64}, "expected those of"),
        ({"passages": "0" * 64}, "encoder of other passages"),
        ({"least_cosine": 0}, "encoder of other passages"),
    ],
)
def test_hostile_facts_of_an_encoder_are_one_line(pack, change, words):
    facts = json.loads((pack / INDEX).read_text())
    facts["encoder"] = facts["encoder"] | change if isinstance(change, dict) else change
    if change is None:
        del facts["encoder"]
    (pack / INDEX).write_text(json.dumps(facts))
    assert words in line_of(ArtifactBroken, packs.open_index, pack)


def test_passages_as_lines():
    assert Passage("p", "T", "x").as_line == "T: x"
    assert Passage("p", "", "x").as_line == "x"
