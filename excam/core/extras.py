"""Check for optional libraries: a minimal install has no torch; the message names the extra that provides it."""

from __future__ import annotations

from importlib.util import find_spec

from excam.core.exceptions import ExcamError


class NotInstalled(ExcamError):
    """An optional library that is required here is not installed."""


def require_extra(extra: str, *libraries: str) -> None:
    """Raise NotInstalled, naming the extra, if one of these libraries is not installed. Import none of them."""
    for library in libraries:
        if not is_installed(library):
            ways = f"pip install 'excam[{extra}]', in a clone pip install '.[{extra}]'"
            raise NotInstalled(f"{library}: not installed; expected the extra {extra}: {ways}")


def is_installed(library: str) -> bool:
    """Return whether a library can be imported. Import nothing."""
    try:
        return find_spec(library) is not None
    except ImportError:  # an import finder that refuses the name
        return False
