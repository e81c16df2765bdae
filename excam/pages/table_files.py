"""The files of a table in a report: its numbers, its page, and the paper's table that the page shows below ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from excam.core import tables
from excam.core.provenance import write_text
from excam.pages import claims
from excam.pages.claims import Ours, Quote
from excam.pages.markdown import printed_table


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """Options of a step that writes a table."""

    numbers_path: Path
    page_path: Path
    printed_path: Annotated[Path | None, "what the paper prints"] = None

    @property
    def printed(self) -> list[dict[str, str]]:
        """Return the lines that the paper prints."""
        assert self.printed_path, "a step whose inputs have `printed`"
        return tables.read_lines(self.printed_path)

    def write(self, columns: Sequence[str], lines: Iterable[Mapping[str, Any]], page: str, note: str = "") -> None:
        """Write the lines and the page; with a note, which says what they are of, the paper's numbers below it."""
        tables.write_lines(self.numbers_path, columns, lines)
        write_text(self.page_path, page + (printed_table(note, self.printed) if note else ""))

    def write_claims(self, head: str, stated: Sequence[Quote], ours: Mapping[str, Ours]) -> None:
        """Write the claims of a paper beside ours. Raises InputInvalid."""
        claims.write(self.numbers_path, self.page_path, head, stated, ours)
