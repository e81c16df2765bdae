"""Pass odd strings to every function that parses texts or answers: none may raise.

A case is a `Random`; what comes back for it is compared with what must always hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from string import Formatter

import regex
from odd_strings import answer, mutated, text, whole

from excam.error_reports.records import BaseSample, Report, Sample
from excam.excam40k.construction import generator, soft, spans, templates, wrapping

CLUSTER = regex.compile(r"\X")
QUOTED_MARK = re.compile("(')([.?])")
ASKS = re.compile(r"[?？؟;;]['\"’”»)\]]*\Z")


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
    role = role if templates.ends_sentence(role) or not role else f"{role}."
    values = {"question": question, "role": role, "context": context, "answer": right}
    if options:
        shown = wrapping.shuffled_options(base, 7)
        letters = "ABCDEF"
        lettered = [f"Option {letter}: {option}" for letter, option in zip(letters, shown, strict=False)]
        mark = "." if any("; " in option for option in shown) else ";"
        values["options"] = " ".join(
            [*(text if templates.ends_sentence(text) else f"{text}{mark}" for text in lettered[:-1]), lettered[-1]]
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
    """The template with its values; a mark behind a quoted value goes where the value has its own."""
    text, value, close = "", "", ""
    for before, name, _, _ in Formatter().parse(template):
        mark = QUOTED_MARK.match(before) if value else None
        if mark and (ASKS.search(value) if mark[2] == "?" else templates.ends_sentence(value)):
            before = mark[1] + before[mark.end() :]
        if close and before.startswith("'"):
            text = text.removesuffix(f"'{value}") + ('"' if close == '"' else "“") + value
            before = close + before[1:]
        value = values[name] if name else ""
        has_quotes = re.search(r"(?<!\w)'", value) is not None
        close = ("”" if '"' in value else '"') if has_quotes and before.endswith("'") else ""
        text += before + value
    return text


def fuzz_soft(draw: Random) -> None:
    instruction, output = whole(draw), whole(draw)
    said = answer(draw, instruction, output)
    reading = generator.read(said)
    assert isinstance(reading, generator.SoftAnswer) or reading.reason in generator.UNREADABLE
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


TARGETS: Mapping[str, Callable[[Random], None]] = {
    "spans": fuzz_spans,
    "wrapping": fuzz_wrapping,
    "soft": fuzz_soft,
}
