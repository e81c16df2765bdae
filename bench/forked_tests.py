"""A pytest plugin that runs collected tests on mutants: each in a fork, by those tests that reach its change.

In a fork the functions that a mutant changes get their new code. What a module does while it is imported cannot be
changed so, and a value that was computed then stays: a mutant that survives here may be killed in a process of its own.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import TextIO

import pytest
from _pytest.runner import runtestprotocol

Name = tuple[str, str, int]  # of a function: file, qualified name, first line


class ForkedTests:
    """Runs the tests of mutants (module, mutated source), and hands on for each whether one fails.

    Hands on nothing if one fails without a mutant: tests that always fail would kill everything.
    """

    def __init__(self, mutants: Sequence[tuple[Path, str]], limit: int, done: Callable[[list[bool]], None]) -> None:
        self.mutants, self.limit, self.done = mutants, limit, done
        self.files = {str(module) for module, _ in mutants}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop over the collected tests."""
        functions: dict[Name, list[FunctionType]] = defaultdict(list)
        for thing in gc.get_objects():
            if type(thing) is FunctionType and thing.__code__.co_filename in self.files:
                functions[_name(thing.__code__)].append(thing)
        reached = self._reached(session.items)
        if reached is not None and session.items:
            self.done([self._is_killed(*mutant, functions, reached, session.items) for mutant in self.mutants])
        return True

    def _reached(self, tests: Sequence[pytest.Item]) -> Mapping[Name, Sequence[int]] | None:
        """Return the numbers of the tests that call each function, the quickest first; None if a test fails.

        No function where the tests do not end in a fork, e.g. since polars computed something while they were imported.
        """
        reached: dict[Name, set[int]] = defaultdict(set)
        seconds: list[float] = []

        def run(stream: TextIO) -> bool:
            signal.alarm(4 * self.limit)
            for number, pair in enumerate(_with_following(tests)):

                def note(frame: FrameType, _event: str, _value: object, number: int = number) -> None:
                    if frame.f_code.co_filename in self.files:
                        reached[_name(frame.f_code)].add(number)

                started = time.process_time()
                sys.settrace(note)
                failed = _fails(*pair)
                sys.settrace(None)
                seconds.append(time.process_time() - started)
                if failed:
                    return False
            ordered = [(name, sorted(numbers, key=seconds.__getitem__)) for name, numbers in reached.items()]
            json.dump(ordered, stream)
            stream.flush()
            return True

        with tempfile.TemporaryFile("w+") as stream:
            code = _code_of_fork(lambda: run(stream))
            if code:
                return {} if code < 0 else None
            stream.seek(0)
            return {tuple(name): numbers for name, numbers in json.load(stream)}

    def _is_killed(
        self,
        module: Path,
        source: str,
        functions: Mapping[Name, Sequence[FunctionType]],
        reached: Mapping[Name, Sequence[int]],
        tests: Sequence[pytest.Item],
    ) -> bool:
        """Return whether a test that reaches the change fails, or takes too long."""
        before, after = (_codes(compile(text, module, "exec")) for text in (module.read_text("utf-8"), source))
        pairs = list(zip(before, after, strict=True))
        changed = next((_name(old) for old, new in pairs if _content(old) != _content(new)), None)
        chosen = [tests[number] for number in reached.get(changed, ())] if changed else []

        def run() -> bool:
            resource.setrlimit(resource.RLIMIT_CPU, (self.limit, self.limit))
            signal.alarm(10 * self.limit)
            for old, new in pairs:
                for function in functions.get(_name(old), ()):
                    function.__code__ = new
            return not any(_fails(*pair) for pair in _with_following(chosen))

        return bool(chosen) and _code_of_fork(run) != 0


def _name(code: CodeType) -> Name:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> list[CodeType]:
    """Return the code of a module, and that of everything that is defined in it."""
    return [code, *(each for inner in code.co_consts if isinstance(inner, CodeType) for each in _codes(inner))]


def _content(code: CodeType) -> tuple[object, ...]:
    """Return what a code does, apart from what is defined in it."""
    constants = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames


def _with_following(tests: Sequence[pytest.Item]) -> Iterable[tuple[pytest.Item, pytest.Item | None]]:
    return zip(tests, [*tests[1:], None], strict=True)


def _fails(test: pytest.Item, following: pytest.Item | None) -> bool:
    return any(report.failed for report in runtestprotocol(test, log=False, nextitem=following))


def _code_of_fork(run: Callable[[], bool]) -> int:
    """Return 0 if a function returns true in a fork of this process, 1 if not, below 0 for a signal that ends it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(not run())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
