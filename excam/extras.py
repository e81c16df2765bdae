"""What a light install lacks, said in one line: the core has no torch, and says which extra brings what is missing."""

from __future__ import annotations

from importlib.util import find_spec

from excam.exceptions import ExcamError


class NotInstalled(ExcamError):
    """A library that is optional is needed now."""


def needed(extra: str, *libraries: str) -> None:
    """Raises NotInstalled, naming the extra that brings it, where one of these libraries is not there. Imports none."""
    for library in libraries:
        if not _is_there(library):
            ways = f"pip install 'excam[{extra}]', in a clone pip install '.[{extra}]'"
            raise NotInstalled(f"{library}: not installed; expected the extra {extra}: {ways}")


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ImportError:  # a finder that refuses it
        return False
