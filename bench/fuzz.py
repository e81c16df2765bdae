"""Fuzzing: a million odd strings through everything that reads texts or answers, and none may raise (spec 28).

Each string goes, in a shape of its own, to the span builder (both modes), to the wrapping of a sample, to the reader of
soft errors, and to the readers of all judges; what comes back is held against what must always be true. A case is
made from the seed and its index alone, so one that fails is repeated with `--first INDEX --strings 1`.

    python -m bench.fuzz --strings 1000000 --seed 1

Prints a line per target: strings, exceptions (the first three with their index), seconds. Exit code 1 when any.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool
from random import Random
from string import Formatter

import regex

from bench.fuzz_strings import answer, mutated, text, whole
from excam.construction import generator, soft, spans, templates, wrapping
from excam.inference import thinking
from excam.judges import binary, count, report, severity
from excam.records import BaseSample, Report, Sample, Unreadable

CHUNK = 2_000  # cases handed to a process at once
SLOW = 20.0  # seconds; a case that takes longer is reported like one that raises
SHOWN = 3  # failures printed per target
CLUSTER = regex.compile(r"\X")
EMPTY = re.compile(r'"errors"\s*:\s*\[\s*\]')  # in every report without errors


@dataclass(slots=True)
class Tally:
    """What became of the cases of one target. `failures`: (index, what was raised); `seconds` of processor time."""

    strings: int = 0
    seconds: float = 0.0
    failures: list[tuple[int, str]] = field(default_factory=list)


def fuzz_spans(draw: Random) -> None:
    original = text(draw)
    modified = mutated(draw, original) if draw.random() < 0.7 else text(draw)
    if draw.random() < 0.3:
        original, modified = modified, original
    for mode in ("paper", "strict"):
        check_diff(original, modified, mode)
        assert spans.diff_spans(modified, modified, mode) == spans.Diff(0, ())


def check_diff(original: str, modified: str, mode: spans.Mode) -> None:
    """Spans are slices, in order and apart but for the anchors of deletions; in strict mode of whole clusters."""
    diff = spans.diff_spans(original, modified, mode)
    assert diff.count == len(diff.spans)
    start = end = 0
    for span in diff.spans:
        assert modified[span.start : span.end] == span.text
        assert span.start >= (start if span.kind == "delete" else end)
        assert span.text or not spans.tokens(modified, mode)
        start, end = span.start, end if span.kind == "delete" else span.end
    if mode == "strict" and diff.spans and len(modified) < 2_000:  # \X takes quadratic time for a row of flags
        edges = {0, *(match.end() for match in CLUSTER.finditer(modified))}
        assert {place for span in diff.spans for place in (span.start, span.end)} <= edges


def fuzz_wrapping(draw: Random) -> None:
    """Expected texts are built by `string.Formatter` from the template alone; `fill` is not asked."""
    task = draw.choice(("qa", "freeform", "generation", "impersonation"))
    options = tuple(dict.fromkeys(whole(draw) for _ in range(draw.randint(1, 5)))) if task == "qa" else ()
    right = draw.choice(options) if options else whole(draw)
    question, role, context = (whole(draw) for _ in range(3))
    base = BaseSample("fuzz/1", "fuzz", task, question, right, "", "", "", options, role=role, context=context)
    chosen = [draw.choice(templates.names(slot)) for slot in templates.SLOTS if slot.startswith(f"{task}/")]
    variant = "options" if options else "single"
    instruction, output = wrapping.render(base, right, variant, chosen, seed=7)
    values = {"question": question, "role": role, "context": context, "answer": right}
    if options:
        shown = wrapping.shuffled_options(base, 7)
        letters = "ABCDEF"
        values["options"] = " ".join(
            f"Option {letter}: {option}" for letter, option in zip(letters, shown, strict=False)
        )
        values["letter"] = letters[shown.index(right)]
    expected = [put_together(templates.paraphrase(name), values) for name in chosen]
    assert instruction == " ".join(expected[:-1])
    assert output == expected[-1]
    start = wrapping.answer_start(base, right, variant, chosen, seed=7)
    assert output[start : start + len(right)] == right
    odd = text(draw)
    assert templates.fill("{a}|{b}|{Instruction}", {"a": odd, "b": odd}) == f"{odd}|{odd}|{{Instruction}}"


def put_together(template: str, values: Mapping[str, str]) -> str:
    return "".join(before + (values[name] if name else "") for before, name, _, _ in Formatter().parse(template))


def fuzz_soft(draw: Random) -> None:
    instruction, output = whole(draw), whole(draw)
    said = answer(draw, instruction, output)
    found = generator.read(said)
    assert isinstance(found, generator.SoftAnswer) or found.reason in generator.UNREADABLE
    right = Sample(
        "p/right", "p", "b", "d", "qa", instruction, output, Report(), "source", "", "", "", "", instruction
    )  # fmt: skip
    for mode in ("paper", "strict"):
        made = soft.soft_error(right, draw.choice(("minor", "major")), said, mode)
        if isinstance(made, soft.Dropped):
            assert made.reason
            continue
        texts = {"instruction": made.instruction, "output": made.output}
        assert made.report.errors
        "".join([*texts.values(), made.report.explanation, *(e.type for e in made.report.errors)]).encode()
        assert all(texts[e.where][e.start : e.end] == e.span for e in made.report.errors)


def fuzz_judges(draw: Random) -> None:
    instruction, output = whole(draw), whole(draw)
    said = answer(draw, instruction, output)
    counted, level, problem = count.read(said), severity.read(said), binary.read(said)
    assert counted in count.REASONS if isinstance(counted, str) else 0 <= counted <= 9999
    assert level in severity.SCORES or level in severity.REASONS
    assert problem in (0, 1) or problem in binary.REASONS
    thought, rest = thinking.split(said)
    assert thought in said
    assert rest is None or said.endswith(rest)
    found, overlooked = report.read(said), report.recovered(said)
    if isinstance(found, Unreadable):
        assert found.reason in report.REASONS
        assert not overlooked
        return
    assert set(overlooked) <= set(report.RECOVERED)
    assert overlooked or json.loads(rest or "") == json.loads(report.write(found))
    if not found.errors:
        assert EMPTY.search(said)
    assert report.read(report.write(found)) == found
    texts = {"instruction": instruction, "output": output}
    for error in report.locate(found, instruction, output).errors:
        assert (error.start, error.end) == (-1, -1) or texts[error.where][error.start : error.end] == error.span


TARGETS: Mapping[str, Callable[[Random], None]] = {
    "spans": fuzz_spans,
    "wrapping": fuzz_wrapping,
    "soft": fuzz_soft,
    "judges": fuzz_judges,
}


def chunk(seed: int, places: range) -> dict[str, Tally]:
    """The cases of these indices, through every target."""
    tallies = {name: Tally() for name in TARGETS}
    for name, target in TARGETS.items():
        tally = tallies[name]
        began = time.process_time()
        for index in places:
            before = time.process_time()
            try:
                target(Random(f"{seed}/{name}/{index}"))
            except Exception as raised:  # whatever it is, it is what we look for
                tally.failures.append((index, repr(raised)[:300]))
            if time.process_time() - before > SLOW:
                tally.failures.append((index, f"took over {SLOW} s"))
        tally.strings, tally.seconds = len(places), time.process_time() - began
    return tallies


def fuzz(seed: int, first: int, strings: int, processes: int) -> dict[str, Tally]:
    """`strings` cases from index `first` on, through every target."""
    places = [range(start, min(start + CHUNK, first + strings)) for start in range(first, first + strings, CHUNK)]
    totals = {name: Tally() for name in TARGETS}
    with Pool(processes) if processes > 1 else nullcontext() as pool:
        for tallies in (pool.imap if pool else map)(partial(chunk, seed), places):
            for name, tally in tallies.items():
                totals[name].strings += tally.strings
                totals[name].seconds += tally.seconds
                totals[name].failures += tally.failures
    return totals


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, default=1_000_000, help="cases; each goes to every target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="index of the first case")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args(argv)
    totals = fuzz(args.seed, args.first, args.strings, args.processes)
    for name, tally in totals.items():
        print(f"{name}: {tally.strings} strings, {len(tally.failures)} exceptions, {tally.seconds:.0f} s")
        for index, raised in tally.failures[:SHOWN]:
            print(f"  seed {args.seed}, index {index}: {raised}")
    return int(any(tally.failures for tally in totals.values()))


if __name__ == "__main__":
    sys.exit(main())
