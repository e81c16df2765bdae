"""Adapters between sync and async iterators."""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


def to_sync(results: AsyncGenerator[T, None]) -> Iterator[T]:
    """Yield the same items, from an event loop in its own thread: in a notebook this one already runs a loop.

    Connections are closed with the iterator, or at the program's exit, if it ends before the last item.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scoring", daemon=True)
    thread.start()
    end = partial(_end, results, loop, thread)
    atexit.register(end)  # then the thread still runs; when the interpreter takes the iterator apart, it has stopped
    try:
        while True:
            try:
                yield asyncio.run_coroutine_threadsafe(anext(results), loop).result()
            except StopAsyncIteration:
                return
    finally:
        if not sys.is_finalizing():
            atexit.unregister(end)
            end()


def _end(results: AsyncGenerator[Any, None], loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Close the iterator and its event loop, once."""
    if not loop.is_closed():
        asyncio.run_coroutine_threadsafe(results.aclose(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def to_async(results: Iterator[T]) -> AsyncIterator[T]:
    """Yield the same items, each computed in a thread, so that the event loop is not blocked."""
    end = object()
    while (result := await asyncio.to_thread(next, results, end)) is not end:
        yield result  # pyright: ignore[reportReturnType]  # what is not `end` came from results
