"""Loading files that somebody else made: whatever a library raises on them is said in one line."""

from __future__ import annotations

import struct
import zipfile
import zlib
from functools import cache
from pathlib import Path
from types import TracebackType

from excam.exceptions import ModelInvalid, in_a_line
from excam.provenance import FULL

MODEL = "config.json, *.safetensors and a tokenizer"
# What Python raises where a value in a file is not of the type, size or place that a library takes for granted.
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
def failures() -> tuple[type[BaseException], ...]:
    """Return the exceptions that libraries raise on files they cannot load, those of their own among them."""
    from huggingface_hub.errors import StrictDataclassError  # a field of config.json has another type
    from jinja2 import TemplateError
    from safetensors import SafetensorError

    return (*BUILTIN, SafetensorError, StrictDataclassError, TemplateError)


class loading:
    """Raise ModelInvalid in one line, naming `path`, for what a library raises on the files there.

    Wrap calls of libraries alone: a mistake of ours in here would look like a file's. `expected` says what would do.
    """

    def __init__(self, path: str | Path, expected: str = MODEL) -> None:
        self.path, self.expected = path, expected

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if problem is not None and _is_about_files(problem):
            raise ModelInvalid(f"{self.path}: cannot be used: {in_a_line(problem)}; expected {self.expected}") from None


def _is_about_files(problem: BaseException) -> bool:
    """Whether a library raised it because of a file, and not because a disk is full.

    The package tokenizers raises Exception itself, and PanicException of its own. Another exception is a mistake and
    shows where it was made.
    """
    if isinstance(problem, OSError) and problem.errno in FULL:
        return False
    kind = type(problem)
    known = kind is Exception or kind.__name__ == "PanicException" or isinstance(problem, BUILTIN)
    return known or isinstance(problem, failures())  # the libraries are imported last: some installs lack them
