"""Stage versions: which pieces of the pipeline an edit of code moves.

A stage is a piece whose output must move when its code does. `versions.lock` holds, per stage, a number and a
fingerprint of the code and data it is made of; `stage_version` is what a Snakemake rule passes on, so that an edit
re-runs exactly what it touches and a merged refactoring (`excam lock STAGE --same-output`) re-runs nothing.

What a judge asks and how it reads stand in one module, so an edit moves both `asks.<judge>` and `judges.<judge>`. Where
only the reader is better, `excam lock judges.<judge>` and then `excam lock --same-output`: no model is asked again.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from excam.config import modules_in
from excam.exceptions import InputInvalid

PACKAGE = Path(__file__).resolve().parent
LOCK = PACKAGE / "versions.lock"

# Data that a module reads: part of every stage the module is in.
DATA = {
    "construction/lexicon.py": "construction/lexicon.tsv",
    "browsing/page.py": "browsing/assets",
    "annotation/page.py": "annotation/assets",
    "pages/__init__.py": "pages/signs.js",
}

# Stage -> what it is made of, relative to the package. The rest follows from their imports. A rule's stage is its
# script; benchmarks, judges and backends are chosen by name at run time (`answers.<backend>`: what moves an answer;
# `templates.<task>`: what rows are wrapped in; `weights.gguf`: what a GGUF file becomes).
STAGES: dict[str, tuple[str, ...]] = {
    **{path.stem: (f"../scripts/{path.name}",) for path in sorted((PACKAGE.parent / "scripts").glob("[!_]*.py"))},
    **{f"datasets.{name}": (f"datasets/{name.replace('-', '_')}.py",) for name in modules_in("datasets")},
    **{f"judges.{name}": (f"judges/{name.replace('-', '_')}.py",) for name in modules_in("judges")},
    **{f"asks.{name}": (f"judges/{name.replace('-', '_')}.py",) for name in modules_in("judges")},
    **{
        f"answers.{name}": (f"inference/backends/{name.replace('-', '_')}.py",)
        for name in modules_in("inference/backends")
    },
    **{f"templates.{path.name}": (f"templates/{path.name}",) for path in sorted((PACKAGE / "templates").iterdir())},
    "weights.gguf": ("inference/gguf.py",),
}


@cache
def _lock() -> dict[str, dict[str, Any]]:
    return json.loads(LOCK.read_text(encoding="utf-8")) if LOCK.exists() else {}


@cache
def stage_version(stage: str) -> str:
    """The number of a stage where code and lock agree, `3+a1b2c3d4` in an edited checkout."""
    entry = _lock().get(stage, {"version": 0, "fingerprint": ""})
    now = fingerprint(stage)
    return str(entry["version"]) if entry["fingerprint"] == now else f"{entry['version']}+{now[:8]}"


@cache
def fingerprint(stage: str) -> str:
    """sha256 over the code (without comments, docstrings, formatting) and data files that a stage is made of."""
    digest = hashlib.sha256()
    for path in sorted(_closure([PACKAGE / part for part in STAGES[stage]])):
        content = _code(path) if path.suffix == ".py" else path.read_bytes()
        digest.update(path.relative_to(PACKAGE.parent).as_posix().encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _closure(starts: Iterable[Path]) -> set[Path]:
    todo, seen = [path.resolve() for path in starts], set[Path]()
    while todo:
        path = todo.pop()
        if path.is_dir():
            todo += [child for child in path.iterdir() if child.name != "__pycache__"]
        elif path.is_file() and path not in seen:
            seen.add(path)
            todo += _imports(path) if path.suffix == ".py" else ()
            if path.is_relative_to(PACKAGE) and (data := DATA.get(path.relative_to(PACKAGE).as_posix())):
                todo.append(PACKAGE / data)
    return seen


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    # these move no number; the package itself only passes names on
    ignored = {"excam", *(f"excam.{name}" for name in ("provenance", "exceptions", "config", "versions", "sources"))}
    places = [PACKAGE.parent / name.replace(".", "/") for name in sorted(_parsed(path)[1] - ignored)]
    files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file for file in files if file.is_file())


def _code(path: Path) -> bytes:
    return _parsed(path)[0]


@cache
def _parsed(path: Path) -> tuple[bytes, set[str]]:
    """What a module computes, as bytes, and the names of this package that it imports, at its top or later."""
    imported: set[str] = set()
    shape = _shape(ast.parse(path.read_text(encoding="utf-8")), imported)
    return repr(shape).encode(), imported


def _shape(node: Any, imported: set[str]) -> Any:
    """The tree without docstrings and empty fields, as newer Pythons have more of them: one fingerprint on all.

    One walk for both, since a dry run waits for it; `imported` is added to.
    """
    if isinstance(node, list):
        return [_shape(item, imported) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("excam"):
        imported |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    fields = []
    for name in node._fields:
        value = getattr(node, name, None)
        if name == "body" and isinstance(value, list) and value and _is_text(value[0]):
            value = value[1:] or [ast.Pass()]
        if value is not None and value != []:
            fields.append((name, _shape(value, imported)))
    return type(node).__name__, fields


def _is_text(statement: ast.AST) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def lock(stages: Iterable[str] = (), same_output: bool = False) -> list[str]:
    """Bring `versions.lock` up to date; a changed stage gets the next number, or keeps it with `same_output`.

    `same_output` is the caller's word that a change was a refactoring. Returns one line per stage that moved.
    """
    entries, moved = dict(_lock()), []
    for stage in stages or STAGES:
        if stage not in STAGES:
            raise InputInvalid(f"{stage}: no such stage; known: {', '.join(STAGES)}")
        old, now = entries.get(stage), fingerprint(stage)
        if old and old["fingerprint"] == now:
            continue
        number = 1 if not old else old["version"] + (not same_output)
        entries[stage] = {"version": number, "fingerprint": now}
        moved.append(f"{stage}: {old['version'] if old else 'new'} -> {number}")
    kept = {stage: entries[stage] for stage in sorted(entries) if stage in STAGES}
    LOCK.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    _lock.cache_clear()
    stage_version.cache_clear()
    return moved
