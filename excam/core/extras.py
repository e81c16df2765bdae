"""Check for optional libraries: a minimal install has no torch; the message names the extra that provides it."""

from __future__ import annotations

from importlib.util import find_spec

from excam.core.exceptions import ExcamError


class NotInstalled(ExcamError):
    """An optional library that is required here is not installed."""


def require_extra(extra: str, *libraries: str) -> None:
    """Raise NotInstalled, naming the extra, if one of these libraries is not installed. Import none of them."""
    for library in libraries:
        if not _is_there(library):
            ways = f"pip install 'excam[{extra}]', in a clone pip install '.[{extra}]'"
            raise NotInstalled(f"{library}: not installed; expected the extra {extra}: {ways}")


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ImportError:  # an import finder that refuses the name
        return False
