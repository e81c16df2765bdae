"""Answers of any size that are slow to parse, the parsers of answers, and the time a parse takes.

An input is one piece of text over and over.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from excam.error_reports.judges import binary, count, report, severity
from excam.error_reports.records import CulturalError, Report
from excam.excam40k.construction import generator
from excam.inference.answer_text import split_reasoning

READERS: Mapping[str, Callable[[str], Any]] = {
    "report": report.read,
    "generator": generator.read,
    "count": count.read,
    "severity": severity.read,
    "binary": binary.read,
    "reasoning": split_reasoning,
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
    "partial drafts": ("", '{"errors": x', "</think>"),
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
    """Processor time of one reading, the best of several.

    The garbage collector is off: it goes through all that there is each time that this has grown by a quarter, so that
    it takes most of the time of a long text and none of a short one's.
    """
    best = float("inf")
    gc.disable()
    try:
        for _ in range(repeats):
            start = time.process_time()
            read(answer)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return max(best, 1e-6)
