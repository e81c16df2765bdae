"""What a page of the results declares: its files and what it is made of.

A page is a script with a literal `PAGE`, a mapping of the fields of `Page`. It is read without an import, so that
planning loads no library for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from excam.core.exceptions import InputInvalid

SUFFIXES = {"numbers": (".csv",), "page": (".md",), "pictures": (".pdf", ".svg", ".png")}
READ = (".md", ".svg")  # what a report shows of a page; of a page without them, its numbers


@dataclass(frozen=True)
class Page:
    """A page. Each input, setting, output and wildcard is an option of its script, under the same name.

    An input is a path, a list of paths, or the name of a set of files; a setting is the name of a value.
    """

    name: str  # of the script, the rule and the caption
    result: str  # its files without their suffixes; may hold wildcards
    outputs: Sequence[str]  # of SUFFIXES
    category: str  # in the report
    inputs: Mapping[str, str | list[str]] = field(default_factory=dict)
    optional: Sequence[str] = ()  # inputs without which the page is made all the same
    settings: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] = field(default_factory=dict)  # further outputs
    wildcards: Mapping[str, list[str]] = field(default_factory=dict)  # the values of wildcards of its own
    stages: Sequence[str] = ()  # whose versions count beside the script's own
    target: str = ""  # the target that asks for it, wherever there is something to make it of
    local: bool = True  # on a cluster, made where the command is typed

    @property
    def files(self) -> dict[str, list[str]]:
        """Return the paths of each output."""
        made = {name: [self.result + suffix for suffix in SUFFIXES[name]] for name in self.outputs}
        return made | {name: [path] for name, path in self.more.items()}

    @property
    def shown(self) -> list[str]:
        """Return the files that a report shows."""
        files = [path for paths in self.files.values() for path in paths]
        return [path for path in files if path.endswith(READ)] or files[:1]

    @property
    def axes(self) -> list[str]:
        """Return the names of the wildcards."""
        return re.findall(r"\{(\w+)\}", self.result)

    @property
    def record(self) -> str:
        """Return the path of its log and its times, without the folder and the suffix."""
        return "/".join([self.name, *(f"{{{name}}}" for name in self.axes)])


def read_pages(folder: Path) -> dict[str, Page]:
    """Return the page of every script of a folder that declares one, by name."""
    pages = [page for script in sorted(folder.glob("*.py")) if (page := read_page(script))]
    return {page.name: page for page in pages}


def read_page(script: Path) -> Page | None:
    """Return the page that a script declares, None if it declares none. Raises InputInvalid for an invalid one."""
    match = re.search(r"^PAGE = (\{.*?^\})$", script.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not match:
        return None
    try:
        return Page(name=script.stem, **ast.literal_eval(match[1]))
    except (SyntaxError, TypeError, ValueError) as problem:
        names = ", ".join(page_field.name for page_field in fields(Page)[1:])
        raise InputInvalid(f"{script}: PAGE: {problem}; expected literals of {names}") from None
