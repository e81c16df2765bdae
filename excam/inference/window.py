"""Drive flows at a model that answers many requests at once: a row enters when there is room, not when others are done.

Results come in the order of the rows. A slow row holds up the results of later ones, not their requests, as long as at
most `AHEAD` of them wait for it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from excam.core.exceptions import AnswersMissing
from excam.core.provenance import Progress
from excam.inference import Answer, Flow, Missing, R, Request, Sampling
from excam.inference.cache_keys import cache_key
from excam.inference.journal import Journal
from excam.inference.run import ItemT, next_requests

if TYPE_CHECKING:
    from excam.inference.backend_factory import LazyBackend
    from excam.inference.backends.openai import Backend, ServerWindow

AHEAD = 4096  # rows in memory whose results wait for that of an earlier one
REMEMBERED = 256  # rows that are done and whose answers are still known: a later row may ask the same
AFTER_MISSING = 256  # rows that still enter behind one that stays without an answer, to see how many do


@dataclass(slots=True)
class _Entered(Generic[R]):
    """A row that has entered: its flow, the requests of the current round, the answers so far, and all its keys."""

    at: int
    id: str
    flow: Flow[R]
    answers: list[Answer | None] = field(default_factory=list[Answer | None])
    left: int = 0
    keys: list[str] = field(default_factory=list[str])
    results: list[R] = field(default_factory=list[R])  # one, once it is done


def results(
    judge: Callable[[ItemT], Flow[R]],
    items: Iterator[ItemT],
    model: LazyBackend | Backend,
    sampling: Sampling,
    journal: Journal,
    progress: Progress | None = None,
) -> Iterator[R]:
    """Yield the result of each item, in order. Answers are in the journal before another request is sent.

    Requests with an answer in the journal are not sent, and equal ones of rows near each other once. Nothing is opened
    for rows that ask nothing. Raise AnswersMissing, naming the items, if requests stay unanswered: all others that were
    sent are answered first. Raise as the window does.

    Args:
        judge: asks about one item
        items: what is asked about, read as there is room
        model: that has a window of open requests
        sampling: of texts
        journal: of earlier answers; new ones are added
        progress: that is told of each answer
    """
    driver = _Driver(judge, items, model, sampling, journal, progress)
    with driver.opened:
        try:
            yield from driver.results()
        finally:
            driver.forget(0)


class _Driver(Generic[ItemT, R]):
    def __init__(
        self,
        judge: Callable[[ItemT], Flow[R]],
        items: Iterator[ItemT],
        model: LazyBackend | Backend,
        sampling: Sampling,
        journal: Journal,
        progress: Progress | None,
    ) -> None:
        self._judge, self._items, self._model, self._sampling = judge, enumerate(items), model, sampling
        self._journal, self._progress = journal, progress
        self.opened = ExitStack()  # holds the window
        self._window: ServerWindow | None = None
        self._entered: deque[_Entered[R]] = deque()  # in the order of the items
        self._done: deque[list[str]] = deque()  # keys of the rows that were yielded last
        self._holders: Counter[str] = Counter()  # how many of these rows have a key
        self._asked: dict[str, list[tuple[_Entered[R], int]]] = {}  # who waits for which answer, and at which place
        self._to_send: deque[tuple[str, Request]] = deque()
        self._sent: dict[int, str] = {}
        self._ready: deque[tuple[_Entered[R], list[Answer]]] = deque()  # rows with all answers of a round
        self._number = 0
        self._missing: dict[int, tuple[str, str]] = {}  # id and reason by the place of the item
        self._may_enter = AFTER_MISSING
        self._ended = False

    def results(self) -> Iterator[R]:
        while True:
            if self._entered and self._entered[0].results:
                yield self._first()
            elif self._has_room and self._to_send:
                self._send()
            elif self._has_room and self._enters:
                self._enter()
            elif self._ready:
                if self._window:
                    self._window.flush()  # others are asked meanwhile
                self._advance(*self._ready.popleft())
            elif self._window and (self._sent or self._to_send):
                self._take(self._window)
            else:
                break
        if self._missing:
            raise AnswersMissing(dict(self._missing[at] for at in sorted(self._missing)))

    @property
    def _has_room(self) -> bool:
        return self._window is None or self._window.has_room

    @property
    def _enters(self) -> bool:
        return not self._ended and self._may_enter > 0 and len(self._entered) < AHEAD

    def _first(self) -> R:
        """Remove the first row, which is done, and return its result."""
        row = self._entered.popleft()
        self._done.append(row.keys)
        self.forget(REMEMBERED)
        return row.results[0]

    def forget(self, rows: int) -> None:
        """Drop the answers about all but the last so many rows that were yielded, unless another row has them too."""
        while len(self._done) > rows:
            keys = self._done.popleft()
            self._holders.subtract(keys)
            free = [key for key in dict.fromkeys(keys) if self._holders[key] <= 0]
            for key in free:
                del self._holders[key]
            self._journal.forget(free)

    def _enter(self) -> None:
        at, item = next(self._items, (0, None))
        if item is None:
            self._ended = True
            return
        self._may_enter -= bool(self._missing)
        self._entered.append(row := _Entered(at, item.id, self._judge(item)))
        self._advance(row, None)

    def _advance(self, row: _Entered[R], answers: Sequence[Answer] | None) -> None:
        """Give a flow its answers, and ask what it wants to know next; what the journal has is answered at once."""
        while True:
            try:
                requests = next_requests(row.flow, answers)
            except StopIteration as end:
                row.results.append(end.value)
                return
            keys = [cache_key(self._model.identity, request, self._sampling) for request in requests]
            row.keys += keys
            self._holders.update(keys)
            row.answers = [self._journal[key] if key in self._journal else None for key in keys]  # noqa: SIM401
            row.left = sum(answer is None for answer in row.answers)
            if self._progress:
                self._progress.skip_answers(len(keys) - row.left)
            for place, (key, request) in enumerate(zip(keys, requests, strict=True)):
                if row.answers[place] is None:
                    if key not in self._asked:
                        self._to_send.append((key, request))
                    self._asked.setdefault(key, []).append((row, place))
            if row.left:
                return
            answers = [answer for answer in row.answers if answer is not None]

    def _send(self) -> None:
        if self._window is None:
            self._window = self.opened.enter_context(self._model.window(self._sampling))
        key, request = self._to_send.popleft()
        self._window.send(self._number, request)
        self._sent[self._number] = key
        self._number += 1

    def _take(self, window: ServerWindow) -> None:
        """Wait for answers, save them, and put them down for the rows that asked."""
        answered = [(self._sent.pop(number), answer) for number, answer in window.answered()]
        answers = {key: answer for key, answer in answered if not isinstance(answer, Missing)}
        if answers:
            self._journal.add(self._model.identity, answers)
        if self._progress:
            self._progress.advance(sum(len(self._asked[key]) for key, _ in answered))
        for key, answer in answered:
            for row, place in self._asked.pop(key):
                if isinstance(answer, Missing):
                    self._missing.setdefault(row.at, (row.id, answer.reason))
                    continue
                row.answers[place] = answer
                row.left -= 1
                if not row.left:
                    self._ready.append((row, [received for received in row.answers if received is not None]))
