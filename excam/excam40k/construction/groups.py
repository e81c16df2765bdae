"""Groups of rows that are connected, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable


def joined(links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return name -> the first in alphabetical order of all names that the links connect with it, itself included."""
    leader: dict[str, str] = {}

    def top(name: str) -> str:
        while (above := leader.setdefault(name, name)) != name:
            name = above
        return name

    for left, right in links:
        first, second = sorted((top(left), top(right)))
        leader[second] = first
    return {name: top(name) for name in leader}
