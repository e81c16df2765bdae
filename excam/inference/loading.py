"""Load untrusted files: any exception that a library raises on them becomes ModelInvalid in one line."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.core.exceptions import ModelInvalid, in_a_line
from excam.core.provenance import DISK_FULL

if TYPE_CHECKING:
    import torch

MODEL = "config.json, *.safetensors and a tokenizer"
# Exceptions of Python when a value in a file is not of the type, size or position that a library assumes.
BUILTIN: tuple[type[BaseException], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,  # a file names an optional package
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # torch; RecursionError, NotImplementedError
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@cache
def load_failures() -> tuple[type[BaseException], ...]:
    """Return the exception types that libraries raise on files they cannot load, including their own."""
    from huggingface_hub.errors import StrictDataclassError  # a field of config.json has another type
    from jinja2 import TemplateError
    from safetensors import SafetensorError

    return (*BUILTIN, SafetensorError, StrictDataclassError, TemplateError)


@contextmanager
def loading(path: str | Path, expected: str = MODEL) -> Iterator[None]:
    """Convert exceptions of a library about the files at `path` to ModelInvalid in one line.

    Wrap only calls of libraries, since a bug of our own would look like a damaged file. `expected` describes a valid
    file.
    """
    try:
        yield
    except BaseException as problem:
        if not _is_about_files(problem):
            raise
        raise ModelInvalid(f"{path}: cannot be used: {in_a_line(problem)}; expected {expected}") from None


def config_of(folder: Path) -> Mapping[str, Any]:
    """Return config.json of a folder, {} without a valid one."""
    try:
        settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def load_pretrained(kind: Any, folder: Path, dtype: torch.dtype, expected: str = MODEL) -> Any:
    """Return the model of a folder, of a class of transformers: safetensors only, local files only, none of its code.

    Raise ModelInvalid.
    """
    with loading(folder, expected):
        return kind.from_pretrained(
            folder, dtype=dtype, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )


def _is_about_files(problem: BaseException) -> bool:
    """Return whether a library raised it because of a file, and not because a disk is full.

    The package tokenizers raises plain Exception and its own PanicException. Any other exception is a bug and passes
    with its traceback.
    """
    if isinstance(problem, OSError) and problem.errno in DISK_FULL:
        return False
    kind = type(problem)
    is_of_files = kind is Exception or kind.__name__ == "PanicException" or isinstance(problem, BUILTIN)
    # Imports the libraries only if needed, as some installs lack them
    return is_of_files or isinstance(problem, load_failures())
