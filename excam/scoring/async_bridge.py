"""An async iterator of results that are computed in threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")


async def to_async(results: Iterable[T]) -> AsyncIterator[T]:
    """Yield the same items, each computed in a thread, so that the event loop is not blocked."""
    end, coming = object(), iter(results)
    while (result := await asyncio.to_thread(next, coming, end)) is not end:
        yield result  # pyright: ignore[reportReturnType]  # what is not `end` came from results
