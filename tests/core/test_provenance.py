"""Files are complete or absent; manifests name every file; progress estimates the remaining time."""

import errno
import json
import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import polars
import pytest
from one_line_errors import line_of

from excam.core import paths, provenance
from excam.core.exceptions import ArtifactBroken


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fail(target, problem: BaseException) -> None:
    with provenance.publish(target) as temporary:
        temporary.write_text("half")
        raise problem


def test_publish_shows_the_file_only_when_it_is_whole(tmp_path):
    target = tmp_path / "new" / "folder" / "rows.txt"
    with provenance.publish(target) as temporary:
        temporary.write_text("half")
        assert temporary.parent == target.parent, "a rename between file systems is a copy"
        assert not target.exists()
        temporary.write_text("whole")
    assert target.read_text() == "whole"
    assert names(target.parent) == ["rows.txt"]


def test_publish_leaves_nothing_behind(tmp_path):
    for problem in (ValueError, OSError, KeyboardInterrupt, SystemExit):
        with pytest.raises(problem):
            fail(tmp_path / "rows.txt", problem())
        assert names(tmp_path) == []
    with pytest.raises(FileNotFoundError), provenance.publish(tmp_path / "rows.txt"):
        pass  # nothing was written
    assert names(tmp_path) == []


def test_a_temporary_file_has_an_unpredictable_name(tmp_path):
    seen = set()
    for _ in range(2):
        with provenance.publish(tmp_path / "page.html") as temporary:
            temporary.write_text("ours")
            seen.add(temporary.name)
    assert len(seen) == 2
    assert all(name.startswith(".page.html.") and name.endswith(".part") for name in seen)


def put(path: str, content: bytes = b"abc") -> None:
    with provenance.publish(Path(path)) as temporary:
        temporary.write_bytes(content)


def records(folder) -> dict[str, str]:
    entries = sorted((folder / paths.HASHES).rglob("*"))
    return {path.relative_to(folder).as_posix(): path.read_text() for path in entries if path.is_file()}


def test_what_the_workflow_publishes_has_its_hash_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("results/paper/figure-3.csv")
    line = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  results/paper/figure-3.csv\n"
    assert records(tmp_path) == {"results/.hashes/paper/figure-3.csv.sha256": line}
    put("results/paper/figure-3.csv", b"other")
    (line,) = records(tmp_path).values()
    assert line.startswith(provenance.sha256(Path("results/paper/figure-3.csv")))
    provenance.write_json(Path("results/a.json"), {})
    assert list(records(tmp_path)) == ["results/.hashes/a.json.sha256", "results/.hashes/paper/figure-3.csv.sha256"]
    assert names(tmp_path / "results/paper") == ["figure-3.csv"], "no other file beside the published one"


@pytest.mark.parametrize(
    "path",
    [
        *("scored.jsonl", "elsewhere/results/a.csv", "results/../a.csv", "results/checkpoints/m/all/whole.json"),
        *("results/journal/m.jsonl", "results/sources/blend/files/a.csv", "results/models/m/files/model.safetensors"),
    ],
)
def test_what_is_no_artifact_has_no_record(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    put(path)
    put(str(tmp_path / "results/absolute.csv"))
    assert Path(path).read_bytes() == b"abc"
    assert records(tmp_path) == {}


def test_a_failed_job_keeps_the_old_file_and_its_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put("results/a.csv")
    before = records(tmp_path)
    with pytest.raises(ValueError, match="stop"):
        fail(Path("results/a.csv"), ValueError("stop"))
    assert (Path("results/a.csv").read_bytes(), records(tmp_path)) == (b"abc", before)


@pytest.mark.parametrize("published", [False, True])
def test_killed_at_the_worst_moment_a_file_is_unproven_not_accused(tmp_path, monkeypatch, published):
    """Just before or just after the file gets its name: never is there a record of other bytes."""
    monkeypatch.chdir(tmp_path)
    put("results/a.csv")
    real = Path.replace

    def killed(path, target):
        if published:
            real(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(provenance.Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        put("results/a.csv", b"new")
    assert Path("results/a.csv").read_bytes() == (b"new" if published else b"abc")
    assert records(tmp_path) == {}


def test_json_is_canonical(tmp_path):
    for content in ({"b": "é", "a": [1, None]}, {"a": [1, None], "b": "é"}):
        provenance.write_json(tmp_path / "a.json", content)
        text = '{\n  "a": [\n    1,\n    null\n  ],\n  "b": "é"\n}\n'
        assert (tmp_path / "a.json").read_text(encoding="utf-8") == text


def test_json_that_cannot_be_written_leaves_nothing(tmp_path):
    for content, problem in ((object(), TypeError), ("\ud800", UnicodeEncodeError)):
        with pytest.raises(problem):
            provenance.write_json(tmp_path / "a.json", {"a": content})
    assert names(tmp_path) == []


def manifest_of(tmp_path, outputs, inputs=(), **more) -> dict:
    path = tmp_path / "manifest.json"
    provenance.write_manifest(path, inputs=inputs, outputs=outputs, settings={"a": 1}, seconds=1.26, **more)
    return json.loads(path.read_text(encoding="utf-8"))


def test_manifest_says_where_an_artifact_came_from(tmp_path):
    made, used = tmp_path / "made.txt", tmp_path / "used.txt"
    made.write_bytes(b"abc")
    used.write_bytes(b"")
    manifest = manifest_of(tmp_path, [made], [used], licence="MIT")
    assert manifest["outputs"] == {"made.txt": provenance.sha256(made)}
    assert manifest["inputs"] == {str(used): provenance.sha256(used)}
    assert (manifest["settings"], manifest["seconds"], manifest["licence"]) == ({"a": 1}, 1.3, "MIT")
    assert manifest["packages"]["polars"] == polars.__version__
    assert manifest["written"].endswith("+00:00")
    assert {"commit", "excam", "python"} <= manifest.keys()


def test_manifest_keeps_files_of_one_name_apart(tmp_path, monkeypatch):
    """INCLUDE has one test.parquet for each language."""
    files = [tmp_path / "files" / language / "test.txt" for language in ("Greek", "Turkish")]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(file.parent.name)
    digests = {f"{file.parent.name}/test.txt": provenance.sha256(file) for file in files}
    assert manifest_of(tmp_path, files)["outputs"] == digests
    top = tmp_path / "files" / "README.txt"
    top.write_text("top")
    monkeypatch.chdir(top.parent)
    for readme in (top, Path(top.name)):  # people name files from the working folder, too
        made = manifest_of(tmp_path, [*files, readme])
        assert sorted(made["outputs"]) == ["Greek/test.txt", "README.txt", "Turkish/test.txt"]
        assert made["outputs_in"] == "files"


def test_manifest_is_written_only_when_every_output_is_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        manifest_of(tmp_path, [tmp_path / "absent.txt"])
    assert names(tmp_path) == []
    assert manifest_of(tmp_path, [])["outputs"] == {}


def test_commit_names_head_and_edits(tmp_path, monkeypatch):
    package = tmp_path / "checkout" / "excam"
    package.mkdir(parents=True)
    monkeypatch.setattr(provenance, "PACKAGE", package)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert provenance.git_commit() is None

    def git(*words: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(["git", *who, *words], cwd=package, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    file = package / "a.py"
    file.write_text("1\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    head = git("rev-parse", "HEAD")
    assert provenance.git_commit() == head
    (package / "new.py").write_text("untracked files are none of ours\n")
    assert provenance.git_commit() == head
    file.write_text("2\n")
    assert provenance.git_commit() == f"{head}+edited"


@pytest.fixture
def clock(monkeypatch):
    """Stands in for `time.monotonic`."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(provenance.time, "monotonic", lambda: clock.now)
    return clock


def test_progress_says_how_far_and_how_much_longer(clock, capsys):
    progress = provenance.Progress("rows", 100)
    clock.now += 1
    progress.advance(10)
    assert capsys.readouterr().err == "", "not before it is time"
    clock.now += 4
    progress.advance(10)
    assert capsys.readouterr().err == "rows: 20/100, 4.0 a second, 20 s left\n"
    clock.now += 1
    progress.advance(80)
    shown = capsys.readouterr()
    assert shown.err == "rows: 100/100, 16.7 a second, 0 s left\n", "always at the end"
    assert shown.out == "", "stdout is for data"


def test_progress_counts_rows_that_are_done_and_not_their_answers(clock, capsys):
    progress = provenance.Progress("rows", 4)
    progress.counts_rows = True
    progress.skip_answers(3)
    clock.now += 5
    progress.advance(4)
    assert capsys.readouterr().err == "rows: 0/4, 4 answers, 0 a second\n"
    progress.finish(2)
    clock.now += 5
    progress.advance(2)
    assert capsys.readouterr().err == "rows: 2/4, 6 answers, 0.2 a second, 10 s left\n"


def test_a_long_first_answer_is_waited_for_aloud(capsys):
    progress = provenance.Progress("scoring, rows", 8)
    with progress.while_waiting(seconds=0.01):
        while "none of 8 yet after" not in (said := capsys.readouterr().err):
            time.sleep(0.01)
        progress.advance()
    assert said.startswith("scoring, rows: none of 8 yet after 0 s; the model is answering")


def test_progress_of_a_resumed_job(clock, capsys):
    """Rows that were there already count as done, not as speed."""
    progress = provenance.Progress("rows", 100)
    progress.skip(90)
    clock.now += 5
    progress.advance(5)
    assert capsys.readouterr().err == "rows: 95/100, 1.0 a second, 5 s left\n"


def test_quiet_libraries_leaves_what_the_user_set(monkeypatch):
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "info")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("TQDM_DISABLE", "0")
    monkeypatch.setattr(provenance.warnings, "simplefilter", lambda *_: None)
    provenance.quiet_libraries()
    wanted = {"TRANSFORMERS_VERBOSITY": "info", "TQDM_DISABLE": "0", "HF_HUB_OFFLINE": "1"}
    assert {name: os.environ[name] for name in wanted} == wanted
    monkeypatch.delenv("HF_HUB_OFFLINE")


def test_a_line_for_a_person_is_one_line_that_steers_nothing(capsys):
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f"
    provenance.say(f"a\x1b[2J\r\nb\u2028c\u202ed\x9be\U000e0041\udc80 ü 日本 {flag}")
    line = f"a\\x1b[2J\\r\\nb\\u2028c\\u202ed\\x9be\\U000e0041\\udc80 ü 日本 {flag}\n"
    assert capsys.readouterr().err == line


# --- what earlier steps wrote, and what became of it


def test_a_full_disk_names_the_file(tmp_path):
    for read in ((), ("source.txt",)):  # of a copy, Python names what was read
        with pytest.raises(OSError, match="No space left on device") as caught:
            fail(tmp_path / "rows.txt", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *read))
        assert (caught.value.filename, caught.value.errno) == (str(tmp_path / "rows.txt"), errno.ENOSPC)
    with pytest.raises(ConnectionRefusedError) as other:
        fail(tmp_path / "rows.txt", ConnectionRefusedError(errno.ECONNREFUSED, "refused"))
    assert other.value.filename is None, "nothing to do with the file"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        *((b"", "JSONDecodeError"), (b'{"n": 3, "accur', "JSONDecodeError"), (b"\xff\xfe", "UnicodeDecodeError")),
        *((b"[1]", "a list"), (b'{"m": 1}', "no n")),
    ],
)
def test_json_that_is_not_what_was_written_is_one_line(tmp_path, content, fault):
    path = tmp_path / "counts.json"
    path.write_bytes(content)
    line = line_of(ArtifactBroken, provenance.read_json, path, "n")
    assert line.startswith(f"{path}: {fault}")
    assert line.endswith("; expected a JSON object with n; delete it and run again")


def test_an_artifact_with_other_bytes_than_recorded_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("results/judgements/m/test.parquet")
    provenance.write_text(path, "whole")
    provenance.refuse_damaged(path)
    path.write_text("whale")
    line = f"{path}: sha256 {provenance.sha256(path)[:12]}; expected 5d5766cf2d78, as it"
    assert line_of(ArtifactBroken, provenance.refuse_damaged, path).startswith(line)
    provenance.write_text(path, "written again")
    provenance.refuse_damaged(path)


def test_what_has_no_record_or_a_torn_one_is_not_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("results/paper/table.md")
    provenance.write_text(path, "whole")
    path.write_text("edited")
    provenance.hash_record_path(path).write_text("")
    provenance.refuse_damaged(path)
    provenance.hash_record_path(path).unlink()
    provenance.refuse_damaged(path)
    provenance.refuse_damaged(Path('{"backend": "' + "x" * 5000))
    provenance.refuse_damaged(Path("results/not/there"))


def test_weights_that_are_not_those_of_their_manifest_are_refused(tmp_path):
    files, manifest = tmp_path / "files", tmp_path / "manifest.json"
    provenance.write_text(files / "model.safetensors", "weights")
    provenance.write_text(files / "sub/config.json", "{}")
    manifest_of(tmp_path, [files / "model.safetensors", files / "sub/config.json"])
    provenance.refuse_changed(manifest, files)
    (files / "model.safetensors").write_text("wEights")
    changed = r"model\.safetensors: sha256 .*; expected sha256 .*; delete .*manifest\.json"
    assert re.search(changed, line_of(ArtifactBroken, provenance.refuse_changed, manifest, files))
    (files / "model.safetensors").unlink()
    gone = "model.safetensors: gone; expected sha256"
    assert gone in line_of(ArtifactBroken, provenance.refuse_changed, manifest, files)
