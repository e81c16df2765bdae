"""Options that commands of campaigns have, in this room and in those of the systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

STORE = Annotated[Path, typer.Argument(help="the store's file, on a local disk")]
CAMPAIGN = Annotated[Path, typer.Argument(help="a campaign's file, as the commands that draw one write it")]
SOURCE = Annotated[Path, typer.Argument(help="a store, or a campaign's file before the exports of its answers")]
SOURCE_EXPORTS = Annotated[list[Path] | None, typer.Argument(help="exported files, CSV or JSON, if there is no store")]
EXPORTS = Annotated[list[Path], typer.Argument(help="files of the page or of `excam annotate export`, CSV or JSON")]
DRAWN = Annotated[Path, typer.Option(help="the campaign's file to write")]
RATERS = Annotated[int, typer.Option(min=1, help="annotators of each task")]
