"""What the scoring manual prints, its numbers and its two lists of flags, answered from the rubric that is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from excam.pages.claims import Claim, Ours
from excam.rubric.manual import DIMENSIONS, Rubric

Lines = Sequence[Mapping[str, str]]


def claims(numbers: Lines, flags: Lines) -> list[Claim]:
    """Return every printed number, and every printed flag, whose "number" is its name."""
    return [
        *(Claim(line["key"], line["key"].replace("-", " "), line["value"], "", line["place"]) for line in numbers),
        *(Claim(f"flag/{line['flag']}", "a flag", line["flag"], "", f"§{line['section']}") for line in flags),
    ]


def answers(rubric: Rubric, flags: Lines) -> dict[str, Ours]:
    """Return ours of each claim by its id: what the rubric of this study has in its place."""
    manual = rubric.manual
    values = {
        "dimensions": len(manual.dimensions),
        "anchors": sum(len(anchored.anchors) for anchored in manual.dimensions.values()),
        "red-flags": sum(len(anchored.red_flags) for anchored in manual.dimensions.values()),
        **{f"red-flags-{name}": len(manual.dimensions[name].red_flags) for name in DIMENSIONS},
        **{f"weight-{name}": manual.suggested_weights[name] for name in DIMENSIONS},
        "weights": sum(manual.suggested_weights.values()),
        **{f"minutes-{name}": minutes for name, minutes in manual.minutes.items()},
        "minutes": sum(manual.minutes.values()),
        **dict(zip(("calibration-low", "calibration-high"), manual.calibration.items, strict=True)),
        "self-calibration": manual.self_calibration.every,
        **dict(zip(("review-low", "review-high"), manual.self_calibration.review, strict=True)),
        "rest-items": manual.fatigue.items,
        "rest-minutes": manual.fatigue.minutes,
        "rest-sd": manual.fatigue.sd,
        "rest-window": manual.fatigue.window,
        "rest-hours": manual.fatigue.rest_hours,
        "icc": manual.reliability.icc,
        "difference": manual.reliability.difference,
        "deviation": manual.overall.deviation,
    }
    sentences = {
        f"sentences-{name}-{end}": manual.sentences.get(name, ("", ""))[at]
        for name in ("rationale", "overall", "notes")
        for at, end in enumerate(("low", "high"))
    }
    flag_of = {line["flag"]: manual.aliases.get(line["flag"], line["flag"]) for line in flags}
    numbers = {name: Ours(value, f"rubric {rubric.name}") for name, value in values.items()}
    for name, value in sentences.items():
        numbers[name] = Ours(value, f"rubric {rubric.name}" if value else f"rubric {rubric.name} states no lengths")
    return numbers | {
        f"flag/{flag}": Ours(name, "the same" if name == flag else "under this name")
        if name in manual.flags
        else Ours("", f"not among the flags of rubric {rubric.name}")
        for flag, name in flag_of.items()
    }
