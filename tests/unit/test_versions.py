"""Stage versions: an edit moves exactly what it touches, and nothing that computes nothing."""

import json
import re

import pytest

from excam import judges, versions
from excam.exceptions import InputInvalid
from excam.judges.base import Version

FILES = {
    "stage/one.py": '"""Doc."""\n\nfrom excam import shared\nfrom excam.exceptions import X\n\n\ndef f(x):\n    return x + shared.A\n',
    "stage/two.py": "def g():\n    from excam.deep.far import B\n\n    return B\n",
    "shared.py": "A = 1\n",
    "deep/far.py": "from excam.shared import A\n\nB = A\n",
    "exceptions.py": "class X(Exception): ...\n",
    "data/words.tsv": "one\ttwo\n",
    "alone.py": "C = 1\n",
}
STAGES = {"one": ("stage/one.py", "data"), "two": ("stage/two.py",), "alone": ("alone.py",)}


def forget() -> None:
    for cached in (versions.fingerprint, versions._imports, versions._parsed, versions._lock, versions.stage_version):
        cached.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of excam."""
    folder = tmp_path / "excam"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(versions, "PACKAGE", folder)
    monkeypatch.setattr(versions, "LOCK", folder / "versions.lock")
    monkeypatch.setattr(versions, "STAGES", STAGES)
    forget()
    yield folder
    forget()


def moved(package, name: str, text: str) -> set[str]:
    """Stages whose fingerprint moves when one file becomes `text`."""
    before = {stage: versions.fingerprint(stage) for stage in STAGES}
    path = package / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    forget()
    return {stage for stage in STAGES if versions.fingerprint(stage) != before[stage]}


@pytest.mark.parametrize(
    ("name", "text", "stages"),
    [
        ("stage/one.py", FILES["stage/one.py"].replace("x +", "x -"), {"one"}),
        ("shared.py", "A = 2\n", {"one", "two"}),
        ("deep/far.py", "from excam.shared import A\n\nB = A + 1\n", {"two"}),
        ("alone.py", "C = 2\n", {"alone"}),
        ("data/words.tsv", "one\ttwo \n", {"one"}),
        ("data/more/new.txt", "x", {"one"}),
        ("stage/one.py", FILES["stage/one.py"].replace("shared.A", '"a string that is no docstring"'), {"one"}),
    ],
)
def test_code_and_data_move_what_is_made_of_them(package, name, text, stages):
    assert moved(package, name, text) == stages


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stage/one.py", FILES["stage/one.py"].replace("Doc.", "Another sentence.")),
        ("stage/one.py", FILES["stage/one.py"].replace("    return", "    # why\n    return")),
        ("stage/one.py", FILES["stage/one.py"].replace("    return", '    """What it does."""\n    return')),
        ("stage/one.py", FILES["stage/one.py"].replace("x + shared.A", "(x  +  shared.A)")),
        ("exceptions.py", "class X(Exception):\n    text = 1\n"),
        ("data/__pycache__/words.pyc", "x"),
        ("nobody_imports.py", "D = 1\n"),
    ],
)
def test_what_computes_nothing_moves_nothing(package, name, text):
    assert moved(package, name, text) == set()


def test_a_renamed_data_file_moves(package):
    before = versions.fingerprint("one")
    (package / "data/words.tsv").rename(package / "data/other.tsv")
    forget()
    assert versions.fingerprint("one") != before


def test_a_new_stage_gets_the_number_one(package):
    assert versions.lock() == ["one: new -> 1", "two: new -> 1", "alone: new -> 1"]
    assert versions.lock() == []
    assert [versions.stage_version(stage) for stage in STAGES] == ["1", "1", "1"]
    assert list(json.loads(versions.LOCK.read_text())) == ["alone", "one", "two"]


def test_an_edit_shows_before_it_is_locked(package):
    """A job run between edit and lock is not taken for one of either."""
    versions.lock()
    moved(package, "shared.py", "A = 2\n")
    assert re.fullmatch(r"1\+[0-9a-f]{8}", versions.stage_version("one"))
    assert versions.stage_version("alone") == "1"
    assert versions.lock() == ["one: 1 -> 2", "two: 1 -> 2"]
    assert versions.stage_version("one") == "2"


def test_a_refactoring_keeps_its_number(package):
    versions.lock()
    moved(package, "shared.py", "A = 3 - 2\n")
    assert versions.lock(["one"], same_output=True) == ["one: 1 -> 1"]
    assert versions.stage_version("one") == "1"
    assert versions.stage_version("two").startswith("1+"), "only the stage that was named"


def test_an_unknown_stage_writes_nothing(package):
    with pytest.raises(InputInvalid) as caught:
        versions.lock(["one", "oen"])
    assert str(caught.value) == "oen: no such stage; known: one, two, alone"
    assert not versions.LOCK.exists()


def test_a_stage_that_is_gone_leaves_the_lock(package, monkeypatch):
    versions.lock()
    monkeypatch.setattr(versions, "STAGES", {"alone": ("alone.py",)})
    versions.lock()
    assert list(json.loads(versions.LOCK.read_text())) == ["alone"]


def test_an_unlocked_stage_has_a_version_too(package):
    assert re.fullmatch(r"0\+[0-9a-f]{8}", versions.stage_version("one"))


def test_every_part_of_a_stage_is_there():
    """A file that is gone would be left out without a word."""
    for stage, parts in versions.STAGES.items():
        for part in parts:
            assert (versions.PACKAGE / part).exists(), f"{stage}: {part}"


@pytest.mark.parametrize(
    ("stage", "name"),
    [
        ("train_adapter", "scripts/train_adapter.py"),
        ("train_adapter", "excam/training/sft.py"),
        ("train_adapter", "excam/judges/report.py"),
        ("train_adapter", "excam/inference/chat.py"),
        ("answers.transformers", "excam/inference/backends/transformers.py"),
        ("answers.vllm", "excam/inference/backends/vllm.py"),
        ("answers.vllm", "excam/inference/chat.py"),
        ("answers.openai", "excam/inference/__init__.py"),
        ("templates.qa", "excam/templates/qa/output.txt"),
        ("make_hard_errors", "excam/construction/wrapping.py"),
        ("templates.hard", "excam/templates/hard/explanation.txt"),
        ("generate_soft_errors", "excam/construction/lexicon.tsv"),
        ("generate_soft_errors", "excam/construction/lexicon_words.py"),
        ("split_samples", "excam/construction/splits.py"),
        ("judges.report", "excam/scoring.py"),
        ("judges.count", "excam/judges/base.py"),
        ("asks.count", "excam/judges/count.py"),
        ("weights.gguf", "excam/inference/gguf.py"),
        ("evaluate", "excam/metaeval/accuracy.py"),
        ("compare_systems", "excam/metaeval/permutation.py"),
        ("figure_3", "excam/plotting/heat.py"),
    ],
)
def test_what_the_real_stages_are_made_of(stage, name):
    starts = [versions.PACKAGE / part for part in versions.STAGES[stage]]
    assert versions.PACKAGE.parent / name in versions._closure(starts)


def test_no_stage_hangs_on_what_moves_no_number():
    for stage, parts in versions.STAGES.items():
        found = versions._closure([versions.PACKAGE / part for part in parts])
        names = {path.relative_to(versions.PACKAGE.parent).as_posix() for path in found}
        idle = {f"excam/{name}.py" for name in ("__init__", "config", "provenance", "versions", "cli", "metric")}
        assert not names & idle, stage


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f(1)", "f( 1 )", True),
        ("def f(): pass", "def f(): 'doc'", True),
        ("x = None", "x = False", False),
        ("x = 1", "x = True", False),
        ("x = 1", "x = 1.0", False),
        ("x = ''", "x = b''", False),
        ("f(a, *b)", "f(a, b)", False),
        ("x = {None: 1}", "x = {**a}", False),
        ("def f(a=None): pass", "def f(a): pass", False),
        ("async def f(): pass", "def f(): pass", False),
    ],
)
def test_code_is_compared_by_what_it_does(tmp_path, one, other, same):
    for name, text in (("one.py", one), ("other.py", other)):
        (tmp_path / name).write_text(text)
    assert (versions._code(tmp_path / "one.py") == versions._code(tmp_path / "other.py")) is same


def test_a_fingerprint_has_no_field_that_only_some_pythons_know(tmp_path):
    """3.12 added `type_params`, empty as a rule; 3.13 leaves empty fields out of its own dump."""
    (tmp_path / "a.py").write_text("def f(): pass\n")
    assert versions._code(tmp_path / "a.py") == (
        b"('Module', [('body', [('FunctionDef', [('name', \"'f'\"), ('args', ('arguments', [])), "
        b"('body', [('Pass', [])])])])])"
    )


def test_a_signature_names_the_versions_of_the_lock():
    entries = json.loads(versions.LOCK.read_text())
    for name in judges.available():
        stages = (entries[f"asks.{name}"]["version"], entries[f"judges.{name}"]["version"])
        assert Version(*stages) == judges.load(name).VERSION, name
