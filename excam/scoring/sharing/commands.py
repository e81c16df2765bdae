"""`excam push` and `excam pull`. The result is one line on stdout, all else on stderr; exit code 2 on failure."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from excam.core.terminal import exit_on_error, print_text


def push(
    adapter: Annotated[Path, typer.Argument(help="folder of the adapter, or its name below results/adapters")],
    to: Annotated[str, typer.Argument(help="a folder, or owner/name[@branch] of the Hugging Face hub")],
) -> None:
    """Share an adapter: its weights, card, the manifest of its base model, and checksums of all files.

    A new repository is created as private. The hub is accessed with the token in HF_TOKEN.

    Example: excam push smollm2-135m/all ./to-share; HF_TOKEN=... excam push smollm2-135m/all me/excam-smollm2
    """
    from excam.scoring import adapters
    from excam.scoring.sharing import card, parcel, places

    _online()
    with exit_on_error():
        folder = adapters.folder(adapter)
        target = places.place(to)
        base = card.base(folder)
        with tempfile.TemporaryDirectory() as scratch:
            parcel.pack(folder, base, card.text(folder, base), Path(scratch))
            print_text(f"{folder} is now at {target.send(Path(scratch))}")


def pull(
    source: Annotated[str, typer.Argument(help="a folder, or owner/name[@revision] of the Hugging Face hub")],
    to: Annotated[Path, typer.Argument(help="new folder")],
    base: Annotated[
        str | None,
        typer.Option(help="also get the base model: a folder with its files, or `recorded` to fetch it"),
    ] = None,
) -> None:
    """Get a shared adapter; every file is compared with its checksum before anything is used.

    A second pull into the same folder, e.g. with --base, continues the first.

    Example: excam pull me/excam-smollm2 here --base recorded; excam score texts.jsonl --adapter here
    """
    from excam.core.provenance import say
    from excam.scoring import adapters
    from excam.scoring.sharing import base as bases
    from excam.scoring.sharing import getting, places

    _online()
    with exit_on_error():
        getting.get(places.place(source), to)
        if base and not (to / "base").exists():
            bases.put_beside(to, base)
        if not (to / "base").exists():
            say(f"its base model: {adapters.recorded_base(to).described}; --base puts it beside the adapter")
        print_text(f"{source} is now at {to}")


def _online() -> None:
    """Allow access to the hub, unless the environment forbids it."""
    from excam.core.provenance import quiet_libraries

    os.environ.setdefault("HF_HUB_OFFLINE", "0")
    quiet_libraries()
