"""The decision rules of the manual, applied in one stated order to a draft of scores.

1. Caps on dimensions; of several the lowest. 2. Grammar: -1, never below 1. 3. The base: the mean of the four scores as
they now are, or their weighted mean, rounded half up. 4. Overall: the base; another value within the manual's deviation
needs a sentence, one further away a sentence and a named edge case whose finding is there. 5. The cap on Overall of an
off-topic response: it comes last, and applies whatever 4. allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from excam.core.exceptions import InputInvalid
from excam.rubric.manual import DIMENSIONS, GIVEN, SCALE, ScoreRule, ScoringRubric
from excam.rubric.responses import Response

UNJUSTIFIED, TOO_FAR = "overall-without-sentence", "overall-too-far"  # what rule 4 corrects


@dataclass(frozen=True, slots=True)
class Findings:
    """What a rater found in a response; by these the rules are decided. Empty texts: no claim, no phrase."""

    refusal: Literal["none", "proper", "over-broad"] = "none"
    off_topic: Literal["no", "partial", "yes"] = "no"
    grammar: Literal["none", "minor", "impedes"] = "none"
    under_informative: bool = False
    insightfully_concise: bool = False
    false_claim: str = ""  # what is made up
    stereotype_phrase: str = ""  # the words that homogenize or stigmatize
    frames: Literal["none", "compares", "imposes"] = "none"


@dataclass(frozen=True, slots=True)
class Cap:
    """A score that a rule changed, from `before` to `after`."""

    rule: str
    dimension: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Draft:
    """Scores as a rater gives them. `overall` None: the base is taken.

    `caps` are changes that were made before: a deduction among them is not made again.
    """

    accuracy: int
    appropriateness: int
    sensitivity: int
    depth: int
    overall: int | None = None
    sentence: str = ""  # why Overall is not the base
    edge_case: str = ""  # the rule on which a larger deviation rests
    caps: Sequence[Cap] = field(default=())

    def __post_init__(self) -> None:
        """Raise InputInvalid for a score off the scale."""
        for name in (*DIMENSIONS, "overall"):
            value = getattr(self, name)
            if not (name == "overall" and value is None) and (type(value) is not int or value not in SCALE):
                raise InputInvalid(f"{name}: found {value!r:.20}; expected a whole number from 1 to 5")


@dataclass(frozen=True, slots=True)
class _Settled:
    """Scores that obey the rules. `caps` are those of the draft and new ones, `breaches` the new ones in words.

    `undecidable` names the rules that the findings concern and that need a fact about the task which is unknown.
    """

    scores: Mapping[str, int]  # the four and overall
    base: int
    caps: tuple[Cap, ...]
    breaches: tuple[str, ...]
    undecidable: tuple[str, ...]


def settle(draft: Draft, findings: Findings, response: Response, rubric: ScoringRubric) -> _Settled:
    """Return the scores of a draft after the rules, in the order that this module states.

    The scores of a result, with its caps, are a draft that is not changed again.
    """
    applied, undecidable = _applied(rubric.manual.rules, findings, response)
    scores = {name: getattr(draft, name) for name in DIMENSIONS}
    deducted = {(cap.rule, cap.dimension) for cap in draft.caps}
    new: list[Cap] = []
    for name in DIMENSIONS:
        score = scores[name]
        limits = {
            rule_name: rule.at_most[name]
            for rule_name, rule in applied.items()
            if rule.at_most.get(name, score) < score
        }
        new += [Cap(rule_name, name, score, limit) for rule_name, limit in limits.items()]
        scores[name] = min([score, *limits.values()])
    for rule_name, rule in applied.items():
        for name, amount in rule.lower.items():
            lowered = max(SCALE[0], scores[name] - amount)
            if (rule_name, name) not in deducted and lowered < scores[name]:
                new.append(Cap(rule_name, name, scores[name], lowered))
                scores[name] = lowered
    base = base_of(scores, rubric)
    drafted = base if draft.overall is None else draft.overall
    overall, why = _overall(draft, findings, base, rubric)
    for rule_name, rule in applied.items():
        limit = rule.at_most.get("overall", overall)
        overall, why = min(limit, overall), rule_name if limit < min(overall, drafted) else why
    if overall != drafted:
        new.append(Cap(why, "overall", drafted, overall))
    scores["overall"] = overall
    words = tuple(_words(cap, rubric) for cap in new)
    return _Settled(scores, base, (*draft.caps, *new), words, undecidable)


def wrong_caps(caps: Iterable[Cap], scores: Mapping[str, int], role: str, rubric: ScoringRubric) -> Iterator[str]:
    """Yield a line for each change that the rules cannot have made. People record deductions only."""
    for cap in caps:
        rule = rubric.manual.rules.get(cap.rule)
        if rule is None:
            corrected = role == "model" and cap.rule in (UNJUSTIFIED, TOO_FAR) and cap.dimension == "overall"
            right = corrected and cap.before != cap.after
        else:
            lower = rule.lower.get(cap.dimension)
            possible = {max(SCALE[0], cap.before - lower)} if lower is not None else set[int]()
            if role == "model" and cap.dimension in rule.at_most:
                possible.add(rule.at_most[cap.dimension])
            right = cap.before > cap.after and cap.after in possible
        if not (right and scores[cap.dimension] <= cap.after):
            yield (
                f"caps: found {cap.rule:.40} on {cap.dimension} from {cap.before} to {cap.after}, score "
                f"{scores[cap.dimension]}; expected what a rule changes, and at most that as the score"
            )


def base_of(scores: Mapping[str, int], rubric: ScoringRubric) -> int:
    """Return the mean of the four scores, weighted if the study declares weights, rounded half up."""
    weights = rubric.whole_weights
    total = sum(weights.values())
    return (2 * sum(weights[name] * scores[name] for name in DIMENSIONS) + total) // (2 * total)


def _applied(
    rules: Mapping[str, ScoreRule], findings: Findings, response: Response
) -> tuple[dict[str, ScoreRule], tuple[str, ...]]:
    """Return the rules that apply, and the names of those that need an unknown fact."""
    applied, undecidable = {}, []
    for name, rule in rules.items():
        if not _concerns(rule, findings):
            continue
        facts = {key: getattr(response, key) for key in rule.needs}
        if any(value is not None and value not in rule.needs[key] for key, value in facts.items()):
            continue
        if None in facts.values():
            undecidable.append(name)
        else:
            applied[name] = rule
    return applied, tuple(undecidable)


def _concerns(rule: ScoreRule, findings: Findings) -> bool:
    values = ((getattr(findings, name), wanted) for name, wanted in rule.when.items())
    return all(value.strip() if GIVEN in wanted else value in wanted for value, wanted in values)


def _overall(draft: Draft, findings: Findings, base: int, rubric: ScoringRubric) -> tuple[int, str]:
    """Return Overall by rule 4, and the name of what it corrects, if it does."""
    drafted, allowed = draft.overall, rubric.manual.overall.deviation
    if drafted is None or drafted == base:
        return base, ""
    if not draft.sentence.strip():
        return base, UNJUSTIFIED
    if abs(drafted - base) <= allowed or is_edge_case(draft.edge_case, findings, rubric):
        return drafted, ""
    return (base + allowed if drafted > base else base - allowed), TOO_FAR


def is_edge_case(name: str, findings: Findings, rubric: ScoringRubric) -> bool:
    """Return whether it names a rule whose findings are there."""
    rule = rubric.manual.rules.get(name)
    return rule is not None and _concerns(rule, findings)


def _words(cap: Cap, rubric: ScoringRubric) -> str:
    manual = rubric.manual
    start = f"{cap.dimension}: found {cap.before}; expected"
    if cap.rule == UNJUSTIFIED:
        return f"{start} {cap.after}, or one sentence in rationale_overall that says why not the rounded mean"
    if cap.rule == TOO_FAR:
        near = f"at most {manual.overall.deviation} from the rounded mean"
        return (
            f"{start} {cap.after}: {near}, or in edge_case a rule that the findings concern: {', '.join(manual.rules)}"
        )
    rule = manual.rules[cap.rule]
    limit = rule.at_most.get(cap.dimension)
    expected = f"at most {limit}" if limit else f"{cap.after}, {rule.lower[cap.dimension]} less, with this in `caps`,"
    return f"{start} {expected} by rule {cap.rule}: {rule.text}"
