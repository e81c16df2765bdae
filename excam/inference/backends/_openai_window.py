"""Open requests to an OpenAI-compatible server: the next is sent when one is answered; fewer while it is busy."""

from __future__ import annotations

import asyncio
import atexit
import math
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from excam.core.web import Route
from excam.inference import Choice, Completion
from excam.inference.backends import _openai_connection as connection

if TYPE_CHECKING:
    import aiohttp

A = TypeVar("A", Completion, Choice)
FIRST = 16  # requests open at once in the beginning
QUEUED = 4  # times the quickest answer: one that takes longer has probably waited for others at the server
SHORT_WAIT = 20.0  # seconds that an answer may take in any case


@dataclass(frozen=True, slots=True)
class ServerQuery(Generic[A]):
    """The fields to send, the parser of the answer, and the answer to return if the server refuses."""

    fields: Mapping[str, Any]
    read: Callable[[Any], A]
    refused: Callable[[str], A]  # by the server's words
    may_lack_logprobs: bool = False


@dataclass(slots=True)
class Room:
    """How many requests a server has to answer at once: `most`, or fewer where that helps nobody.

    It begins with `FIRST` and grows by one with each answer, until the server says that it is busy; from then on by one
    in the time of an answer, and a refusal leaves room for those that were not refused. It does not grow while answers
    take much longer than the quickest one did: a server that answers one after the other keeps the others waiting, and
    those at the end of a long queue would be given up.
    """

    most: int
    limit: float = field(init=False)
    quickest: float = math.inf  # seconds
    was_busy: bool = False

    def __post_init__(self) -> None:
        self.limit = min(self.most, FIRST)

    def narrow(self, taken: int) -> None:
        """Leave room for the `taken` requests that are open beside a refused one."""
        self.was_busy = True
        self.limit = min(self.limit, max(1.0, taken))

    def widen(self, seconds: float) -> None:
        """Count an answer that took so long."""
        self.quickest = min(self.quickest, seconds)
        if seconds <= max(SHORT_WAIT, QUEUED * self.quickest):
            self.limit = min(self.most, self.limit + (1 / self.limit if self.was_busy else 1))


@dataclass(slots=True)
class Asking:
    """State shared by the requests of one call; once `why` is set, no more requests are sent."""

    client: aiohttp.ClientSession
    room: Room
    over: asyncio.Event = field(default_factory=asyncio.Event)
    why: str = ""
    failed_in_a_row: int = 0
    short: asyncio.Task[bool] | None = None  # whether a short request is answered, when that is in question
    taken: int = 0  # places of the room
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque[asyncio.Future[None]])

    def stop(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()

    async def sleep(self, seconds: float) -> None:
        """Wait so many seconds, or until the call has stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over.wait()

    async def enter(self) -> None:
        """Wait for a place in the room; first come, first served."""
        if self._waiting or self.taken >= int(self.room.limit):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            await place
        else:
            self.taken += 1

    def leave(self, *, refused: bool = False) -> None:
        """Give a place back; `refused`: the server was too busy for this request."""
        self.taken -= 1
        if refused:
            self.room.narrow(self.taken)
        while self._waiting and self.taken < int(self.room.limit):
            place = self._waiting.popleft()
            if not place.done():  # else the call is over
                self.taken += 1
                place.set_result(None)


Answered = list[tuple[int, Any]]  # (number of the request, Answer or Missing)


class ServerWindow:
    """The open requests of one call; a context manager. It has a thread, since a notebook already runs an event loop.

    Nothing is sent before `flush` or `answered`, so that the caller can save an answer before the next request.
    """

    def __init__(
        self,
        route: Route,
        room: Room,
        answer: Callable[[Asking, ServerQuery[Any]], Coroutine[Any, Any, Any]],
        question: Callable[[Any], ServerQuery[Any]] = lambda request: request,
    ) -> None:
        """`answer` asks a question and returns its answer, `question` makes one of a request."""
        self._route, self._room = route, room
        self._answer, self._question = answer, question
        self._open: dict[int, ServerQuery[Any]] = {}
        self._unsent: list[int] = []
        self._done: SimpleQueue[tuple[int, asyncio.Task[Any]]] = SimpleQueue()
        self._stack = ExitStack()

    def __enter__(self) -> ServerWindow:
        self._loop = self._stack.enter_context(connection.event_loop())
        self._asking = asyncio.run_coroutine_threadsafe(self._started(), self._loop).result()
        self._stack.callback(self._end)
        self._stack.callback(atexit.unregister, self._stack.close)
        atexit.register(self._stack.close)  # an iterator may still be there when a program ends, and its thread not
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stack.close()

    def _end(self) -> None:
        asyncio.run_coroutine_threadsafe(connection.end(self._asking.client), self._loop).result()

    async def _started(self) -> Asking:
        return Asking(self._route.session(), self._room)

    @property
    def has_room(self) -> bool:
        """Return whether another request may be sent now."""
        return len(self._open) < int(self._room.limit)

    def send(self, number: int, request: Any) -> None:
        """Send a request under a number."""
        self._open[number] = self._question(request)
        self._unsent.append(number)

    def flush(self) -> None:
        """Start what was given to `send`."""
        if self._unsent:
            self._loop.call_soon_threadsafe(self._start, self._unsent)
            self._unsent = []

    def answered(self) -> Answered:
        """Wait for answers, and return them as (number, Answer or Missing); at least one if any request is open."""
        if not self._open:
            return []
        self.flush()
        finished = [self._done.get()]
        with suppress(Empty):
            while True:
                finished.append(self._done.get_nowait())
        for number, _ in finished:
            del self._open[number]
        return [(number, task.result()) for number, task in finished]

    def all(self, requests: Iterable[Any]) -> Iterator[Answered]:
        """Yield the answers to all requests as they come; the number of a request is its place."""
        coming = enumerate(requests)
        held = next(coming, None)
        while True:
            while held and self.has_room:
                self.send(*held)
                held = next(coming, None)
            answers = self.answered()
            if not answers:
                return
            yield answers

    def _start(self, numbers: list[int]) -> None:
        for number in numbers:
            task = self._loop.create_task(self._answer(self._asking, self._open[number]))
            task.add_done_callback(lambda task, number=number: self._done.put((number, task)))
