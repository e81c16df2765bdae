"""Iterators that wait, for programs that do not, and the reverse."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

T = TypeVar("T")


def blocking(results: AsyncIterator[T]) -> Iterator[T]:
    """The same one after another, from an event loop in a thread of its own: a notebook has a running one in ours."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scoring", daemon=True)
    thread.start()
    try:
        while True:
            try:
                yield asyncio.run_coroutine_threadsafe(_next(results), loop).result()
            except StopAsyncIteration:
                return
    finally:
        if not sys.is_finalizing():  # else the program ends: the thread has stopped and never answers
            asyncio.run_coroutine_threadsafe(_closed(results), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _next(results: AsyncIterator[T]) -> T:
    return await anext(results)


async def _closed(results: AsyncIterator[T]) -> None:
    """An async generator cleans up where it ran."""
    close = getattr(results, "aclose", None)
    if close:
        await close()


async def waiting(results: Iterator[T]) -> AsyncIterator[T]:
    """The same one after another, each waited for in a thread, so that the event loop goes on meanwhile."""
    nothing = object()
    while (found := await asyncio.to_thread(next, results, nothing)) is not nothing:
        yield found  # pyright: ignore[reportReturnType]  # what is not nothing came from results
