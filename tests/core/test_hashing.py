"""Hashes of files: several at once, and once for each state of a file."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from excam.core import hashing, provenance

ROOT = Path(__file__).parents[2]

# Reads what it is asked to compare when stdin says so, and tells how many files that were.


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of its own, and a process that has read nothing yet; files count as old at once."""
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(hashing, "_digests_by_state", {})
    monkeypatch.setattr(hashing, "CLOCK_TOLERANCE", -1)
    return tmp_path / "cache/hashes"


@pytest.fixture
def weights(tmp_path):
    """A file, as its manifest says that it is."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"weights")
    return {path: provenance.sha256(path)}


def another_process(monkeypatch):
    monkeypatch.setattr(hashing, "_digests_by_state", {})


def entries(cache):
    return [path for path in cache.iterdir() if path.suffix != ".lock"]


def test_files_are_read_side_by_side_and_told_in_order(tmp_path, cache):
    paths = [tmp_path / f"{n}.bin" for n in range(9)]
    for n, path in enumerate(paths):
        path.write_bytes(bytes([n]) * (9 - n) * 50_000)
    assert list(hashing.digests(paths).items()) == [(path, provenance.sha256(path)) for path in paths]
    assert hashing.digests([]) == {}
    with pytest.raises(FileNotFoundError):
        hashing.digests([*paths, tmp_path / "absent"])


def test_a_state_that_was_seen_is_not_read_again(cache, weights, monkeypatch):
    (path,) = weights
    assert hashing.unverified_files(weights) == [path]
    assert hashing.mismatches(weights) == {}
    assert hashing.unverified_files(weights) == []
    another_process(monkeypatch)
    assert hashing.unverified_files(weights) == [], "another process of this node"
    monkeypatch.setattr(hashing.platform, "node", lambda: "elsewhere")
    assert hashing.unverified_files(weights) == [path], "another node"


def test_a_file_of_another_state_is_read(cache, weights, monkeypatch):
    """Bytes that changed while size and time of change were put back: the time of that itself tells."""
    (path,) = weights
    hashing.mismatches(weights)
    before = path.stat()
    path.write_bytes(b"wEights")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)
    another_process(monkeypatch)
    assert hashing.unverified_files(weights) == [path]
    assert hashing.mismatches(weights) == {path: provenance.sha256(path)}
    assert hashing.unverified_files(weights) == [path], "what differs is not kept"
    path.unlink()
    assert hashing.unverified_files(weights) == []
    assert hashing.mismatches(weights) == {path: hashing.GONE}


def test_a_file_just_written_is_not_believed(cache, weights, monkeypatch):
    """It may change once more within the same tick of a clock."""
    monkeypatch.setattr(hashing, "CLOCK_TOLERANCE", 2.0)
    assert hashing.mismatches(weights) == {}
    assert hashing.unverified_files(weights) == list(weights)
    assert entries(cache) == []


def test_after_a_week_a_file_is_read_again(cache, weights, monkeypatch):
    hashing.mismatches(weights)
    (entry,) = entries(cache)
    old = time.time() - hashing.MAX_AGE - 1
    os.utime(entry, (old, old))
    another_process(monkeypatch)
    assert hashing.unverified_files(weights) == list(weights)
    other = entry.parent / "left by a killed process"
    other.touch()
    os.utime(other, (old, old))
    hashing.mismatches(weights)
    assert entries(cache) == [entry], "what is old is removed"
    assert hashing.unverified_files(weights) == []


def claim(cache, weights, digest):
    """Write what the cache would hold, had a file of this state been seen with this digest."""
    (path,) = weights
    cache.mkdir(parents=True, mode=0o700, exist_ok=True)
    entry = cache / hashing._state(path.stat())
    entry.write_text(digest)
    entry.chmod(0o600)
    return entry


def test_a_damaged_entry_accuses_nobody(cache, weights):
    for claimed in ("0" * 64, "", "x" * 64, next(iter(weights.values()))[:63]):
        claim(cache, weights, claimed)
        assert hashing.mismatches(weights) == {}


def test_without_a_place_to_keep_it_files_are_read(weights, tmp_path, monkeypatch):
    monkeypatch.setattr(hashing, "_digests_by_state", {})
    (tmp_path / "file").touch()
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "file"))
    assert hashing.mismatches(weights) == {}
    assert hashing.mismatches(dict.fromkeys(weights, "0" * 64)) == weights


def test_an_audit_reads_what_the_cache_would_vouch_for(cache, tmp_path, monkeypatch):
    """Damage below the file system leaves a file's state as it was; here the cache gets an entry for it."""
    monkeypatch.chdir(tmp_path)
    files = Path("results/models/m/files")
    provenance.write_text(files / "model.safetensors", "weights")
    manifest = files.parent / "manifest.json"
    provenance.write_manifest(manifest, inputs=[], outputs=[files / "model.safetensors"], settings={}, seconds=0)
    (expected,) = provenance.read_json(manifest)["outputs"].values()
    (files / "model.safetensors").write_text("wEights")
    claim(cache, [files / "model.safetensors"], expected)
    another_process(monkeypatch)
    provenance.refuse_changed(manifest, files)
    words = [sys.executable, "-m", "excam", "audit", str(files / "model.safetensors")]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"differs: expected sha256 {expected}" in done.stderr
