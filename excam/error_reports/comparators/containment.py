"""Containment: typed values first, else the share of the expected statement's content that the text holds.

No model is asked. Where both sides state a value of one kind (a number, a date, a colour, yes or no, an option letter)
and the values differ, that decides; so do a negation and an opposite that only one side has.
"""

from __future__ import annotations

from excam.error_reports.comparators._lexicon import variants
from excam.error_reports.comparators._statements import (
    Forms,
    Held,
    Statement,
    alternatives,
    asked_beside,
    contradiction,
    prefix_opposite,
    sentences,
    statement,
)
from excam.error_reports.comparators._words import words
from excam.error_reports.comparators.base import Case, Comparison, Need
from excam.error_reports.comparators.differences import Sides, lacking, sides_of, stated_range, unsupported
from excam.inference import Flow

VERSION = 3
NEEDS: tuple[Need, ...] = ("expected",)
THRESHOLD = 0.55  # share of content
MANY = 8  # content units from which a statement is long: then the F-measure instead of the share
THRESHOLD_OF_MANY = 0.4
FEW = 3  # content units of each alternative: "or" between longer parts joins clauses
SURE = 3  # content units of a text up to which a missing word shows that something else is meant
POLARITY = 0.5  # share from which a negation on one side only means the opposite


def compare(case: Case) -> Flow[Comparison]:
    """Compare without asking anything: margin is a share of content minus a threshold, -1 to 1."""
    return contained(case, variants)
    yield


def contained(case: Case, forms: Forms) -> Comparison:
    """Return the comparison of a case, with words compared by their forms."""
    if lack := lacking(case):
        return Comparison(None, reason=lack)
    sides = sides_of(case)
    margin, reason = _decided(sides, forms) or _share(sides, forms)
    differing = (unsupported(case, forms) or stated_range(case)) if margin < 0 else ()
    return Comparison(margin, differing, reason)


def _decided(sides: Sides, forms: Forms) -> tuple[float, str] | None:
    """Return margin and reason where something decides before words are counted."""
    return _typed(sides) or _word_for_word(sides) or _polarity(sides, forms)


def decides(case: Case, forms: Forms) -> bool:
    """Return whether values, the same wording or a negation decide a case, so that no count of words is needed."""
    return _decided(sides_of(case), forms) is not None


def _word_for_word(sides: Sides) -> tuple[float, str] | None:
    """Return that the text agrees if it holds the expected statement as it is, and negates as often."""
    wanted, stated = (_run(side.text) for side in (sides.expected, sides.text))
    if len(sides.expected.negations) == len(sides.text.negations) and wanted in stated:
        return 1 - THRESHOLD, "the expected statement word for word"
    return None


def _typed(sides: Sides) -> tuple[float, str] | None:
    """Return margin and reason where values, a negation or an opposite decide."""
    if pair := contradiction(sides.expected, sides.text, sides.question):
        return -THRESHOLD, f"{pair[0].kind} {pair[0].shown} against {pair[1].shown}"
    if unit := prefix_opposite(sides.expected, sides.text):
        return -THRESHOLD, f"opposite: {unit.key}"
    return _yes_no(sides)


def _run(text: str) -> str:
    """Return the words of a text, folded, each between line ends."""
    return "\n" + "".join(f"{word.key}\n" for word in words(text))


def _yes_no(sides: Sides) -> tuple[float, str] | None:
    """Return what yes or no alone is worth beside a text that says neither: whether the text negates."""
    stated = [unit.value for unit in sides.expected.units if unit.value and unit.value.kind == "yes-no"]
    if not stated or len(sides.expected.units) > 1:
        return None
    if any(value.kind == "yes-no" for value in sides.text.values()):
        return 1 - THRESHOLD, "the same yes or no"
    agrees = ("no" in stated[0].values) == sides.text.negates()
    return (0.1 if agrees else -0.1), "yes or no by negation"


def _polarity(sides: Sides, forms: Forms) -> tuple[float, str] | None:
    """Return that the text says the opposite if only one side negates and they share their content."""
    if sides.expected.negates() == _negates(sides, forms):
        return None
    if _share_of(sides.expected, Held([sides.text], forms), sides.question, forms) < POLARITY:
        return None
    return -THRESHOLD, "negation on one side"


def _negates(sides: Sides, forms: Forms) -> bool:
    """Return whether the sentence of the text that is closest to the expected statement negates."""
    if not sides.text.negates():
        return False
    parts = [statement(part, sides.text.languages[0]) for part in sentences(sides.text.text)]
    closest = max(parts, key=lambda part: _share_of(sides.expected, Held([part], forms), sides.question, forms))
    return closest.negates()


def _share(sides: Sides, forms: Forms) -> tuple[float, str]:
    """Return margin and reason by the content in common; of alternatives ("A or B") the best counts, of a list all."""
    held = Held([sides.text], forms)
    language = sides.expected.languages[0]
    parts = [statement(part, language) for part in alternatives(sides.expected.text)]
    each_would_do = not sides.expected.negates() and all(0 < len(part.content()) <= FEW for part in parts)
    texts = [part.text for part in parts] if each_would_do else [sides.expected.text]
    share = max(_share_of_list(text, language, held, sides.question, forms) for text in texts)
    precision = _precision(sides, forms)
    measure = 2 * share * precision / (share + precision) if share + precision else 0.0
    if len(sides.expected.content()) < MANY:
        share = max(share, measure)  # "cleaning" beside "house cleaning"
        margin, reason = share - THRESHOLD, f"{share:.2f} of the expected content"
    else:
        margin, reason = measure - THRESHOLD_OF_MANY, f"F-measure {measure:.2f} of the content"
    # The more a text says, the more likely it says the same in other words.
    return (margin * min(1.0, SURE / max(len(sides.text.content()), 1)) if margin < 0 else margin), reason


def _precision(sides: Sides, forms: Forms) -> float:
    """Return the share of the text's content that is expected, without what the question says already."""
    expected, asked = Held([sides.expected], forms), asked_beside(sides.expected, sides.question, forms)
    supported = [expected.holds(unit) for unit in sides.text.content() if expected.holds(unit) or not asked.holds(unit)]
    return sum(supported) / max(len(supported), 1)


def _share_of_list(text: str, language: str, held: Held, question: Statement, forms: Forms) -> float:
    """Return the least share of the items of a list; semicolons divide it."""
    items = [statement(item, language) for item in text.split(";") if words(item)] or [statement(text, language)]
    return min(_share_of(item, held, question, forms) for item in items)


def _share_of(expected: Statement, held: Held, question: Statement, forms: Forms) -> float:
    """Return the share of the expected content, without what the question says already, that is held."""
    content = expected.content()
    if not content:
        return float(held.knows_words(expected.text))
    asked = asked_beside(expected, question, forms)
    new = [unit for unit in content if not asked.holds(unit)] or content
    return sum(map(held.holds, new)) / len(new) if new else 0.0
