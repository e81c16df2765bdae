"""Spelling and grammar of the English fields by a language model (prompt C.5), with a guard on every edit.

Local texts are never sent to the model, and stay as their authors wrote them. Each field is asked about by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from excam.core import tables
from excam.inference import Completion, Flow, Message, ask_for_text
from excam.inference.answer_text import reasoning_and_answer
from excam.inference.json_answers import Rejected, answer_decoder, only_object
from excam.inference.run import together
from excam.macaron.asks import filled
from excam.macaron.scenarios import Scenario, text_problem, to_frame

if TYPE_CHECKING:
    from excam.scoring.asking import Recorder

MOST_CHANGED = 0.1  # of the characters of a field
FEW_CHANGED = 3  # characters, which a short field may change too
SMALL = frozenset(  # words that grammar adds, drops and exchanges
    (
        *("a", "an", "the", "of", "to", "in", "on", "at", "for", "from", "by", "with", "and"),
        *("is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did"),
    )
)
FIXED = frozenset(  # words whose change changes what is said
    (
        *("no", "not", "never", "none", "nor", "cannot", "can't", "don't", "doesn't", "isn't", "aren't"),
        *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        *("first", "second", "third", "all", "some", "any", "most", "few", "many", "more", "less", "only"),
    )
)
CONTEXTS = {  # what the prompt calls a field
    "question_en": "multiple-choice question",
    "options_en": "answer option of a multiple-choice question",
    "true_en": "True/False statement",
    "false_en": "True/False statement",
}
WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’-]*")
QUOTED = regex.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)|‘[^’]*’")
UNCLOSED = (("“", "”", "\ue000"), ("‘", "’", "\ue001"))  # marks, and what an opening one is meanwhile that none closes
SHOWN = str.maketrans({hidden: opening for opening, _, hidden in UNCLOSED})
NUMBER = regex.compile(r"\p{N}+")


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """What a model made of one field.

    `outcome` is applied, unchanged, unreadable, invalid-scenario, or why the guard refused it.
    """

    field: str  # of the scenario; options have an index, as in options_en.2
    before: str
    after: str
    outcome: str
    explanation: str = ""


EDITS = ("scenario", *(field.name for field in fields(FieldEdit)))  # the columns of a table of edits


@dataclass(frozen=True, slots=True)
class Proofread:
    """A scenario with its accepted edits, and what was said about each field."""

    scenario: Scenario
    edits: tuple[FieldEdit, ...]

    @property
    def inconsistent(self) -> bool:
        """Return whether edits made the two English statements differ in more than the option they state."""
        original = {edit.field: edit.before for edit in self.edits}
        options = tuple(original[f"options_en.{at}"] for at in range(4))
        texts = {name: original[name] for name in ("true_en", "false_en") if name in original}
        return _alike(replace(self.scenario, options_en=options, **texts), options) and not _alike(
            self.scenario, options
        )


def _alike(scenario: Scenario, options: Sequence[str]) -> bool:
    """Return whether the English statements are one text around two options, as they are now or as they were."""
    frames = [
        {str(text).replace(form, "\0") for form in (option, now)}
        for text, option, now in (
            (scenario.true_en, options[0], scenario.options_en[0]),
            (scenario.false_en, options[scenario.false_option], scenario.options_en[scenario.false_option]),
        )
    ]
    return bool(frames[0] & frames[1])


def fields_of(scenario: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield (name, what the prompt calls it, text) of every English field."""
    yield "question_en", CONTEXTS["question_en"], scenario.question_en
    for at, option in enumerate(scenario.options_en):
        yield f"options_en.{at}", CONTEXTS["options_en"], option
    for name in ("true_en", "false_en"):
        if (text := getattr(scenario, name)) is not None:
            yield name, CONTEXTS[name], text


def proofread(scenario: Scenario) -> Flow[Proofread]:
    """Ask about all English fields in one round, and apply the edits that the guard accepts."""
    names = list(fields_of(scenario))
    answers = yield from together(
        [
            ask_for_text((Message("user", filled("proofread", {"context": context, "text": text})),))
            for _, context, text in names
        ]
    )
    slot_texts = [value for value in scenario.slots.values() if value]
    edits = tuple(_edit(name, text, answer, slot_texts) for (name, _, text), answer in zip(names, answers, strict=True))
    texts = {edit.field: edit.after for edit in edits if edit.outcome == "applied"}
    options = tuple(texts.get(f"options_en.{at}", option) for at, option in enumerate(scenario.options_en))
    others = {name: texts[name] for name in ("question_en", "true_en", "false_en") if name in texts}
    changed = replace(scenario, options_en=options, **others)
    if text_problem(changed):  # e.g. two options became equal
        return Proofread(scenario, tuple(map(_not_applied, edits)))
    return Proofread(changed, edits)


def _not_applied(edit: FieldEdit) -> FieldEdit:
    return replace(edit, outcome="invalid-scenario") if edit.outcome == "applied" else edit


def _edit(name: str, before: str, answer: Completion, slot_texts: Sequence[str]) -> FieldEdit:
    proposal = read(answer)
    if proposal is None:
        return FieldEdit(name, before, before, "unreadable")
    corrected, explanation = proposal
    if corrected is None or corrected == before:
        return FieldEdit(name, before, before, "unchanged", explanation)
    return FieldEdit(name, before, corrected, guard(before, corrected, slot_texts) or "applied", explanation)


def read(completion: Completion) -> tuple[str | None, str] | None:
    """Return the corrected text, None where the model finds no error, and its explanation; None if unreadable."""
    _, reply = reasoning_and_answer(completion)
    if reply is None or completion.finish != "stop":
        return None
    try:
        answer = only_object(reply, _DECODER, set())
    except Rejected:
        return None
    wrong, text, explanation = (answer.get(key) for key in ("has_errors", "corrected", "explanation"))
    if not isinstance(wrong, bool) or not isinstance(text, str):
        return None
    return (text if wrong else None), explanation if isinstance(explanation, str) else ""


_DECODER = answer_decoder("twice", "not-finite")


def guard(before: str, after: str, slot_texts: Sequence[str] = ()) -> str | None:
    """Return why an edit is refused, None if it is accepted: it may correct spelling and grammar, and nothing else.

    Refused are other numbers, a changed slot value (`kept`), another quoted text, another capitalised word, a negation
    or number word that comes or goes, a word that becomes another one, and more than a tenth of the characters changed.
    """
    if not after.strip() or len(after.splitlines()) != 1:
        return "not-one-line"
    if NUMBER.findall(before) != NUMBER.findall(after):
        return "numbers-changed"
    if any(before.count(value) != after.count(value) for value in slot_texts):
        return "slot-changed"
    if _quoted(before) != _quoted(after):
        return "quotation-changed"
    for old, new in _changes(WORD.findall(before), WORD.findall(after)):
        if reason := _refusal(old, new):
            return reason
    most = max(FEW_CHANGED, MOST_CHANGED * len(before))
    if abs(len(before) - len(after)) > most or edit_distance(before, after) > most:
        return "too-much-changed"
    return None


def _quoted(text: str) -> list[str]:
    """Return what a text quotes. Where no closing mark follows, opening ones are not tried one by one."""
    for opening, closing, hidden in UNCLOSED:
        end = text.rfind(closing) + 1
        text = text[:end] + text[end:].replace(opening, hidden)
    return [quoted.translate(SHOWN) for quoted in QUOTED.findall(text)]


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield (old words, new words) of each difference between two lists of words."""
    for kind, i, j, k, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield before[i:j], after[k:end]


def _refusal(old: Sequence[str], new: Sequence[str]) -> str | None:
    """Return why words may not replace others: only small words come and go, others keep their beginning."""
    if len(old) == len(new):
        return next((reason for pair in zip(old, new, strict=True) if (reason := _word_refusal(*pair))), None)
    if all(word.casefold() in SMALL for word in (*old, *new)):
        return None
    return "name-changed" if any(word[0].isupper() for word in (*old, *new)) else "word-changed"


def _word_refusal(old: str, new: str) -> str | None:
    a, b = old.casefold(), new.casefold()
    if {a, b} <= SMALL:
        return None
    if a == b:  # only capitals
        return None if new[0].isupper() else "name-changed"
    if old[0].isupper() or new[0].isupper():
        return "name-changed"
    if {a, b} & FIXED or a[0] != b[0]:
        return "word-changed"
    ending = (a.startswith(b) or b.startswith(a)) and abs(len(a) - len(b)) <= 3
    close = len(a) > 3 and edit_distance(a, b) <= (1 if len(a) < 5 else 2 if len(a) < 7 else 3)
    return None if ending or close else "word-changed"


def edit_distance(text: str, other: str) -> int:
    """Return Levenshtein's distance in characters."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(text, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def edit_rows(done: Iterable[Proofread]) -> list[Mapping[str, str]]:
    """Return every edit as a row with the columns `EDITS`."""
    return [{"scenario": edited.scenario.id, **asdict(edit)} for edited in done for edit in edited.edits]


def counts(done: Sequence[Proofread]) -> Mapping[str, int]:
    """Return the number of fields for each outcome, and of scenarios whose statements became inconsistent."""
    outcomes = Counter(edit.outcome for edited in done for edit in edited.edits)
    return dict(sorted(outcomes.items())) | {"inconsistent": sum(edited.inconsistent for edited in done)}


def write(asker: Recorder, originals: Sequence[Scenario], edits_path: Path, to: Path) -> Mapping[str, int]:
    """Let a model proofread scenarios; write them, and what was said of each field. Return the counts of `counts`."""
    done = asker.record(
        "proofreading, fields", proofread, originals, sum(len(list(fields_of(scenario))) for scenario in originals)
    )
    tables.write_lines(edits_path, EDITS, edit_rows(done))
    tables.write_frame(to, to_frame(edited.scenario for edited in done))
    return counts(done)
