"""The manual in words, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from excam.core.exceptions import InputInvalid
from excam.rubric.manual import DIMENSIONS, Dimension, Manual, Rubric

Part = tuple[str, list[str]]  # a heading, and what is below it, one line each


def parts(rubric: Rubric, dimension: str | None) -> Iterator[Part]:
    """Yield the parts of the manual, or that of one dimension. Raise InputInvalid for another name."""
    if dimension is not None and dimension not in DIMENSIONS:
        raise InputInvalid(f"--dimension: found {dimension}; expected one of {', '.join(DIMENSIONS)}")
    if dimension is not None:
        yield _dimension(rubric.manual, dimension)
        return
    manual = rubric.manual
    if manual.principles:
        yield "Purpose and principles", [manual.purpose, *manual.principles]
    levels = [f"{score} {level.name}: {level.text}" for score, level in manual.scale.items()]
    yield "Scale", [*filter(None, [manual.scale_note]), *levels]
    for name in DIMENSIONS:
        yield _dimension(manual, name)
    yield from _rules(rubric)
    yield f"Each response: about {sum(manual.minutes.values())} minutes", list(rubric.steps.values())
    if manual.sentences:
        yield "Sentences", [f"{name}: {low} to {high}" for name, (low, high) in manual.sentences.items()]
    controls = (manual.calibration, manual.self_calibration, manual.fatigue, manual.reliability)
    yield "Quality control", [*(control.text for control in controls), *filter(None, [manual.audit])]
    yield "Exemplar of a good response", [manual.exemplar]
    yield "Do", manual.do
    yield "Don't", manual.dont
    yield "Checklist", manual.checklist
    if manual.adjustments:
        yield (
            "Adjusted in this study",
            [
                f"{adjustment.number}. {adjustment.time}: {adjustment.reason} "
                f"(examples: {', '.join(adjustment.examples)})"
                for adjustment in manual.adjustments
            ],
        )


def _dimension(manual: Manual, name: Dimension) -> Part:
    """Return the part of one dimension: definitions, anchors, red flags, examples, how a rationale may read."""
    anchored = manual.dimensions[name]
    anchors = [f"{score}: {words}" for score, words in anchored.anchors.items()]
    flags = [f"Red flag: {words}" for words in anchored.red_flags]
    examples = [
        f"Example, {example.score}: {example.text}" + (f" [Note: {example.note}]" if example.note else "")
        for example in manual.examples
        if example.dimension == name
    ]
    definitions = [*filter(None, [anchored.short]), anchored.definition]
    return name.capitalize(), [*definitions, *anchors, *flags, *examples, f"Rationale: {anchored.template}"]


def _rules(rubric: Rubric) -> Iterator[Part]:
    """Yield how Overall is made, the decision rules, and the flags."""
    manual, overall = rubric.manual, rubric.manual.overall
    weights = "plain" if manual.weights is None else ", ".join(f"{k} {v:g}" for k, v in manual.weights.items())
    definitions = filter(None, [overall.short, overall.definition, overall.start, overall.text, overall.limit])
    yield "Overall", [*definitions, f"Weights of the mean: {weights}."]
    yield (
        "Rules, applied in this order: caps, grammar, base, Overall, off-topic",
        [f"{name}: {rule.text}" for name, rule in manual.rules.items()],
    )
    yield "Flags", [", ".join(manual.flags)]


def heading(rubric: Rubric) -> list[str]:
    """Return what stands first: title, version, hash, source and licence."""
    manual = rubric.manual
    about = f"Source: {manual.source}. Licence: {manual.licence}."
    return [manual.title, f"Version {rubric.signature}, hash {rubric.hash}", about]


def text(rubric: Rubric, dimension: str | None) -> str:
    """Return the manual as text."""
    blocks = ["\n".join(heading(rubric))]
    blocks += ["\n".join([f"{name}", *(f"  {line}" for line in lines)]) for name, lines in parts(rubric, dimension)]
    return "\n\n".join(blocks)
