"""Tables that ship in a package: a line each, with tabs between the cells."""

from __future__ import annotations

from importlib import resources


def table_rows(package: str, name: str) -> list[list[str]]:
    """Return the cells of each line of a table, its head among them if it has one."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]
