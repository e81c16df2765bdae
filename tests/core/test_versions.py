"""Versions of stages, and which files of the library differ from the recorded ones."""

import json

import pytest
from one_line_errors import line_of

from excam.core import versions
from excam.core.exceptions import InputInvalid
from excam.error_reports import judges

FILES = {
    "excam/one.py": '"""Doc."""\n\nimport os\n\n\ndef f(x):\n    return x + os.A\n',
    "excam/data/words.tsv": "one\ttwo\n",
    "scripts/two.py": "@step(version=12)\ndef two(): ...\n",
}


@pytest.fixture
def root(tmp_path):
    """A small checkout, recorded."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert versions.lock(tmp_path) == sorted(FILES)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("excam/one.py", "x +", "x -"),
        ("excam/one.py", "os.A", '"a string that is no docstring"'),
        ("excam/one.py", "return x", "return  (x"),  # no Python at all
        ("excam/data/words.tsv", "two", "two "),
        ("scripts/two.py", "12", "13"),
    ],
)
def test_an_edited_file_is_named_until_it_is_recorded(root, name, old, new):
    (root / name).write_text(FILES[name].replace(old, new))
    assert versions.edited(root) == [name]
    assert versions.lock(root) == [name]
    assert versions.edited(root) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Doc.", "Another sentence."),
        ("    return", "    # why\n    return"),
        ("    return", '    """Return a sum."""\n    return'),
        ("x + os.A", "(x  +  os.A)"),
    ],
)
def test_an_edit_that_computes_the_same_is_not_named(root, old, new):
    text = FILES["excam/one.py"]
    assert old in text
    (root / "excam/one.py").write_text(text.replace(old, new))
    assert versions.edited(root) == []


def test_only_files_with_other_bytes_are_parsed(root, monkeypatch):
    monkeypatch.setattr(versions, "_code", lambda content: pytest.fail("parsed"))
    assert versions.edited(root) == []


def test_a_file_that_is_gone_is_named_and_a_new_one_is_not(root):
    (root / "excam/one.py").unlink()
    (root / "excam/new.py").write_text("A = 1\n")
    assert versions.edited(root) == ["excam/one.py"]
    assert versions.lock(root) == ["excam/new.py", "excam/one.py"]


def test_code_is_compared_by_what_it_does():
    for code, other in (("f(1)", "f( 1 )"), ("def f(): pass", "def f(): 'doc'")):
        assert versions._code(code.encode()) == versions._code(other.encode())
    for code, other in (
        *(("x = None", "x = False"), ("x = 1", "x = True"), ("x = 1", "x = 1.0"), ("x = ''", "x = b''")),
        *(("f(a, *b)", "f(a, b)"), ("x = {None: 1}", "x = {**a}"), ("x = []", "x = [[]]")),
        *(("def f(a=None): pass", "def f(a): pass"), ("async def f(): pass", "def f(): pass")),
    ):
        assert versions._code(code.encode()) != versions._code(other.encode()), other


def test_a_hash_is_the_same_on_every_python():
    """3.12 added `type_params`, empty as a rule; 3.13 leaves empty fields out of its own dump."""
    assert versions._code(b"def f(a): g(a)\n") == (
        b"Module(body=[FunctionDef(name='f', args=arguments(args=[arg(arg='a')]), "
        b"body=[Expr(value=Call(func=Name(id='g', ctx=Load()), args=[Name(id='a', ctx=Load())]))])])"
    )
    formats = versions._code(b'f"{a:{b}}"\nf"{a:>{b}}"\nf"{a:.{b}f}"\n')
    assert b"value=''" not in formats, "3.12 ends the format with one"


@pytest.mark.parametrize(
    ("text", "field", "number"),
    [
        ("VERSION = 3\n", "", 3),
        ("import os\n\nVERSION = 12  # of 3\nX = 1\n", "", 12),
        ('VERSION = {"asks": 4, "reads": 5}\n', "reads", 5),
        *(("VERSION = Version(asks=4, reads=5)\n", field, number) for field, number in (("asks", 4), ("reads", 5))),
    ],
)
def test_a_version_is_read_without_an_import(tmp_path, text, field, number):
    (tmp_path / "a.py").write_text(text + "raise SystemExit\n")
    assert versions.version(tmp_path / "a.py", field) == number
    (tmp_path / "version.txt").write_text("7\n")
    assert versions.version(tmp_path / "version.txt") == 7


@pytest.mark.parametrize(
    ("name", "text", "field", "wanted"),
    [
        ("a.py", "X = 1\n", "", "VERSION = 1"),
        ("a.py", 'VERSION = "1"\n', "", "VERSION = 1"),
        ("a.py", "VERSION = Version(reads=1)\n", "asks", "VERSION = Version(asks=1)"),
        ("version.txt", "one\n", "", "a number"),
    ],
)
def test_a_stage_without_a_version_is_refused(tmp_path, name, text, field, wanted):
    (tmp_path / name).write_text(text)
    line = line_of(InputInvalid, versions.version, tmp_path / name, field)
    assert line == f"{tmp_path / name}: no version of this stage; expected a line `{wanted}`"


def test_the_versions_of_judges_are_those_that_signatures_name():
    for name in judges.available():
        path = versions.ROOT / f"excam/error_reports/judges/{name.replace('-', '_')}.py"
        version = judges.load(name).VERSION
        assert (versions.version(path, "asks"), versions.version(path, "reads")) == (version.asks, version.reads)


def test_the_lock_holds_one_line_a_file():
    lock = json.loads((versions.ROOT / versions.LOCK).read_text())
    assert list(lock) == sorted(lock)
    assert {"excam/stats/accuracy.py", "scripts/judging.py", "excam/excam40k/templates/qa/output.txt"} <= lock.keys()
