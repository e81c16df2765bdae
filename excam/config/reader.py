"""Section `reader`: adapters that read passages."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from excam.config.base import Name, Place, Section


class Reader(Section):
    """Adapters that read passages for the judge `grounded` (docs/judging-with-documents.md)."""

    files: str = Field(description="file or folder of rows, see `excam.error_reports.reading_rows`")
    language: str = Field(default="en", description="code of the language of the rows that are kept")
    models: list[Name] = Field(min_length=1, description="models with weights, each with its `training` settings")


def check(section: Reader, models: Sequence[str], at: Place) -> None:
    """Raise ConfigInvalid for a model that is not there."""
    at.known_models(section, "reader", ("models",), models)
