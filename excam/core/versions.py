"""The version of a stage, and which files of the library were edited.

A stage is a piece of the workflow that runs again when its code is another: a rule's script, a benchmark, a judge's
prompt, a judge's parser, a backend, a set of templates. Its version is an integer constant beside its code; Snakemake
compares it with the one that a file was made with. A developer raises it when the same input gives another output;
`tests/golden/test_stages.py` fails where that was forgotten.

`versions.lock` has the hash of the code of each file of the library as it was released, and that of its bytes, which
are compared first: parsing all files takes seconds. An edit without a new version makes nothing run again, so a dry run
names the edited files (`edited`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from pathlib import Path

from excam.core.exceptions import InputInvalid

ROOT = Path(__file__).resolve().parents[2]
LOCK = "excam/versions.lock"
DATA = {".css", ".html", ".jinja", ".js", ".json", ".tsv", ".txt", ".yaml"}
_EMPTY = re.compile(r",? ?\w+=\[\]")  # a field that only some Pythons have, or print, when it is empty


def version(path: Path, field: str = "") -> int:
    """Return the constant `VERSION` of a module without importing it; other files hold only the number.

    `field` names a keyword of `VERSION = Version(asks=1, reads=2)`. Raises InputInvalid when there is no such number.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        match = re.search(
            rf"^VERSION = .*\b{field}\W+(\d+)" if field else r"^VERSION = (\d+)(?:  #.*)?$", text, re.MULTILINE
        )
        text = match[1] if match else ""
    if not text.strip().isdecimal():
        wanted = f"VERSION = Version({field}=1)" if field else "VERSION = 1" if path.suffix == ".py" else "a number"
        raise InputInvalid(f"{path}: no version of this stage; expected a line `{wanted}`")
    return int(text)


def edited(root: Path = ROOT) -> list[str]:
    """Return the files of `versions.lock` whose code has changed, or that are missing; comments do not count."""
    lock = json.loads((root / LOCK).read_text(encoding="utf-8"))
    return [name for name, entry in lock.items() if not (root / name).is_file() or _is_edited(root / name, entry)]


def _is_edited(path: Path, entry: str) -> bool:
    code, _, content = entry.partition(" ")
    return _hash_of(path.read_bytes()) != (content or code) and _hash(path).partition(" ")[0] != code


def lock(root: Path = ROOT) -> list[str]:
    """Write the hash of every file of the library to `versions.lock`; return the names whose hash changed."""
    before = json.loads((root / LOCK).read_text(encoding="utf-8")) if (root / LOCK).exists() else {}
    now = {path.relative_to(root).as_posix(): _hash(path) for path in _files(root)}
    (root / LOCK).write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    codes = [{name: entry.partition(" ")[0] for name, entry in hashes.items()} for hashes in (before, now)]
    return sorted(name for name in before.keys() | now.keys() if len({hashes.get(name) for hashes in codes}) > 1)


def _files(root: Path) -> list[Path]:
    """The code of the library and of the scripts, and the data that the library reads."""
    paths = [*(root / "excam").rglob("*"), *(root / "scripts").glob("*.py")]
    return sorted(path for path in paths if path.suffix in {".py", *DATA})


def _hash(path: Path) -> str:
    """Return the hash of the code of a module and that of its bytes, or of any other file the hash of its bytes."""
    content = path.read_bytes()
    return f"{_hash_of(_code(content))} {_hash_of(content)}" if path.suffix == ".py" else _hash_of(content)


def _hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _code(content: bytes) -> bytes:
    """The syntax tree without comments, docstrings and formatting: the same bytes on every Python."""
    try:
        tree = ast.parse(content)
    except SyntaxError:  # running the file reports it
        return content
    _drop_docstrings(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # Python 3.12 ends some with an empty text
            node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    return _EMPTY.sub("", ast.dump(tree)).replace("(, ", "(").encode("utf-8", "backslashreplace")


def _drop_docstrings(body: list[ast.stmt]) -> None:
    """Remove the strings that statements begin with, at every level of nesting, from a body and its bodies."""
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body[:1] = [] if len(body) > 1 else [ast.Pass()]
    for statement in body:
        _drop_docstrings(getattr(statement, "body", []))
