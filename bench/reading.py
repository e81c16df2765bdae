"""How fast are answers read, also those made to be slow? Every reader of answers, and `json.loads` on the same text.

    python -m bench.reading --megabytes 1 5 10

An input is one piece of text over and over. A line says how many MB a second are read at each size, how many times
longer the largest takes than the smallest (of 1 and 10 MB: 10 is linear), and the MB a second of `json.loads` at the
largest, which tells nothing of what it reads and stops early where the text is no JSON. Processor time, the best of
`--repeats`. Exit code 1 where a reader takes more than a tenth of a second per MB (10 MB in under a second).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from excam.construction import generator
from excam.inference import thinking
from excam.judges import binary, count, report, severity
from excam.records import CulturalError, Report

MEGABYTE = 1_000_000
LIMIT = 0.1  # seconds per MB

READERS: Mapping[str, Callable[[str], Any]] = {
    "report": report.read,
    "generator": generator.read,
    "count": count.read,
    "severity": severity.read,
    "binary": binary.read,
    "thinking": thinking.split,
}
CLEAN = report.write(Report())
ERRORS = report.write(Report((CulturalError("output", "christmas", "major", "incorrect answer"),) * 2, "why"))
FIRST = ERRORS[len('{"errors": [') : ERRORS.index("}") + 1]
SOFT = json.dumps(dict.fromkeys(generator.KEYS, "Yes"))

# name: (what comes before, what is repeated, what comes after)
INPUTS: Mapping[str, tuple[str, str, str]] = {
    "one report, many errors": ('{"errors": [', FIRST + ", ", FIRST + '], "explanation": ""}'),
    "one report, a huge string": ('{"errors": [], "explanation": "', "some words ", '"}'),
    "one report, escapes": ('{"errors": [], "explanation": "', '\\"', '"}'),
    "one report, line breaks": ('{"errors": [], "explanation": "', "word\n", '"}'),
    "one report, quoted tags": ('{"errors": [], "explanation": "', "</think>", '"}'),
    "one report after much thinking": ("<think>", 'It says "x".\n', "</think>" + CLEAN),
    "one report after drafts": ("<think>", CLEAN + "\n", "</think>" + CLEAN),
    "one report, prose after it": (CLEAN, 'It says "x": no. ', ""),
    "one report, white space around": ("", " ", CLEAN),
    "the same report": ("", CLEAN, ""),
    "reports in turn": ("", CLEAN + CLEAN.replace(" ", "", 1), ""),
    "one soft error, huge": (SOFT[:-2], "words ", '"}'),
    "many soft errors": ("", "OUTPUT: " + SOFT, ""),
    "many soft errors, unmarked": ("", SOFT, ""),
    "a count after much prose": ("", "The count 1: ", "COUNT: 2"),
    "words": ("", "word ", ""),
    "opening braces": ("", "{", ""),
    "braces and marks": ("", '{"', ""),
    "braces and words": ("", "{word ", ""),
    "empty objects": ("", "{}", ""),
    "empty errors": ('{"errors": [', "{}, ", "{}]}"),
    "nested objects": ("", '{"a":', ""),
    "nested lists": ("", "[", ""),
    "many lists": ('{"errors": [', "[],", '[]], "explanation": ""}'),
    "a long key": ('{"', "a", ""),
    "numbers": ('{"errors": [', "1,", "1]}"),
    "a huge number": ('{"errors": ', "9", "}"),
    "quotation marks": ("", '"', ""),
    "backslashes": ('{"errors": "', "\\", ""),
    "white space in an object": ("{", " ", ""),
    "thinking begins": ("", "<think>", ""),
    "thinking ends": ("", "</think>", ""),
    "thinking ends, quoted": ("", '"</think>"\n', ""),
    "thinking ends, in doubt": ("", '"</think>\n', ""),
    "torn drafts": ("", '{"errors": x', "</think>"),
    "fences": ("", "```", ""),
    "output marks": ("", "OUTPUT:", ""),
    "output marks and braces": ("", "OUTPUT: {", ""),
    "output marks and drafts": ("", 'OUTPUT: {"a": "', ""),
    "count marks": ("", "COUNT:", ""),
    "severity marks": ("", "Severity: ", ""),
    "problem marks": ("", "Problem: no problem\n", ""),
    "half a mark": ("", "COUNT*** severity", ""),
}


def text(name: str, size: int) -> str:
    """The input of this name with about `size` characters."""
    before, piece, after = INPUTS[name]
    return before + piece * ((size - len(before) - len(after)) // len(piece)) + after


def seconds(read: Callable[[str], Any], answer: str, repeats: int) -> float:
    """Processor time of one reading, the best of several."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        read(answer)
        best = min(best, time.process_time() - start)
    return max(best, 1e-6)


def plain(answer: str) -> Any:
    """The alternative: is it JSON?"""
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return None


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, nargs="+", default=[1, 5, 10])
    parser.add_argument("--readers", nargs="+", choices=list(READERS), default=list(READERS))
    parser.add_argument("--inputs", nargs="+", choices=list(INPUTS), default=list(INPUTS), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=2)
    args = parser.parse_args(argv)
    sizes = sorted(args.megabytes)
    head = "".join(f"{f'{size:g} MB':>9}" for size in sizes)
    print(f"{'reader':<11}{'input':<32}{head}{'ratio':>8}{'json':>9}   (MB/s)")
    slow = 0
    for name in args.inputs:
        answers = [text(name, int(size * MEGABYTE)) for size in sizes]
        alternative = sizes[-1] / seconds(plain, answers[-1], args.repeats)
        for reader in args.readers:
            times = [seconds(READERS[reader], answer, args.repeats) for answer in answers]
            speeds = "".join(f"{_short(size / took):>9}" for size, took in zip(sizes, times, strict=True))
            slow += times[-1] > LIMIT * sizes[-1]
            mark = "  too slow" if times[-1] > LIMIT * sizes[-1] else ""
            print(
                f"{reader:<11}{name:<32}{speeds}{times[-1] / times[0]:>8.1f}{_short(alternative):>9}{mark}", flush=True
            )
    print(f"{len(args.inputs) * len(args.readers)} readings of {sizes[-1]:g} MB, {slow} over {LIMIT * sizes[-1]:g} s")
    return int(slow > 0)


def _short(speed: float) -> str:
    return f"{speed:.0f}" if speed < 100_000 else ">100000"


if __name__ == "__main__":
    sys.exit(main())
