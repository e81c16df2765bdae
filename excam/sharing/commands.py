"""`excam push` and `excam pull`. What they did is one line on stdout, the rest is on stderr; exit code 2 where not."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from excam.terminal import show, stopping


def push(
    adapter: Annotated[Path, typer.Argument(help="folder of the adapter, or its name below results/adapters")],
    to: Annotated[str, typer.Argument(help="a folder, or owner/name[@branch] of the Hugging Face hub")],
) -> None:
    """Hand an adapter on: weights, card, what its base model is, and checksums of all of it.

    A repository that is not there yet is made private. The hub is asked with the token in HF_TOKEN.

    Example: excam push smollm2-135m/all ./to-share; HF_TOKEN=... excam push smollm2-135m/all me/excam-smollm2
    """
    from excam.metric import adapters
    from excam.sharing import card, parcel, places

    _online()
    with stopping():
        folder = adapters.found(adapter)
        target = places.place(to)
        base = card.base(folder)
        with tempfile.TemporaryDirectory() as scratch:
            parcel.pack(folder, base, card.written(folder, base), Path(scratch))
            show(f"{folder} is now at {target.send(Path(scratch))}")


def pull(
    source: Annotated[str, typer.Argument(help="a folder, or owner/name[@revision] of the Hugging Face hub")],
    to: Annotated[Path, typer.Argument(help="the folder to make")],
    base: Annotated[
        str | None,
        typer.Option(help="put the base model beside it: a folder that has its files, or `recorded`: fetch it"),
    ] = None,
) -> None:
    """Get an adapter that was handed on; every byte is compared with its checksums before anything is used.

    A second pull into the same folder, say with --base, goes on from the first.

    Example: excam pull me/excam-smollm2 here --base recorded; excam score texts.jsonl --adapter here
    """
    from excam.metric import adapters
    from excam.provenance import say
    from excam.sharing import base as bases
    from excam.sharing import getting, places

    _online()
    with stopping():
        getting.get(places.place(source), to)
        if base and not (to / "base").exists():
            bases.put_beside(to, base)
        if not (to / "base").exists():
            say(f"its base model: {adapters.recorded(to).described}; --base puts it beside the adapter")
        show(f"{source} is now at {to}")


def _online() -> None:
    """These two may ask the hub, unless the environment says otherwise."""
    from excam.provenance import quiet_libraries

    os.environ.setdefault("HF_HUB_OFFLINE", "0")
    quiet_libraries()
