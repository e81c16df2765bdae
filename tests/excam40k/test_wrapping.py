"""Templates, options and right rows: balanced, literal, and blind to the label."""

import re
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from itertools import combinations, pairwise

import polars as pl
import pytest
from base_samples import HOSTILE, SEED, acting, base, split_up, wrapped

from excam.core.exceptions import InputInvalid
from excam.error_reports.records import BaseSample, Report
from excam.excam40k.construction import wrapping
from excam.excam40k.construction.drawing import draw_to_cap
from excam.excam40k.datasets import _changes
from excam.excam40k.datasets.base import FIELDS, Reading

QA = ("qa/instruction/01", "qa/options/01", "qa/output/04")  # "Option {letter}: {answer}"


def test_variants_follow_task_and_kind_of_errors():
    assert wrapping.variants(base(), "hard") == ("options", "listed")
    assert wrapping.variants(base(options=()), "hard") == ("single",)
    assert wrapping.variants(acting(options=("Yes", "No")), "hard") == ("single",)
    assert wrapping.variants(base(task="freeform", options=()), "soft") == ("minor", "major")


def test_options_are_listed_where_they_are_needed_or_several_can_be_right():
    most = base(question="What is the most popular drink?")
    lettered = replace(most, options=("tea", "cola", "Both A and B"))
    of_variants = {
        ("options", "freeform"): (most, base(language="German"), replace(most, wrong=("Both of the above", "cola"))),
        ("options", "listed"): (base(), *(replace(most, wrong=(text,)) for text in ("Both of the above", "tea; cola"))),
        ("options",): (replace(lettered, answer="Both A and B"),),
    }
    for names, bases in of_variants.items():
        assert {wrapping.variants(each, "hard") for each in bases} == {names}
    with _changes.applied("as-published"):
        assert wrapping.variants(base(), "hard") == ("options", "freeform")
        assert wrapping.variants(replace(most, wrong=("Both of the above",)), "hard") == ("options",)


def test_options_are_shown_with_letters_and_the_output_names_the_right_one():
    order = wrapping.shuffled_options(base(), SEED)
    instruction, output = wrapping.render(base(), "beer", "options", QA, SEED)
    listed = "; ".join(f"Option {letter}: {option}" for letter, option in zip("ABCD", order, strict=True))
    assert instruction.endswith(listed)
    assert output == f"Option {'ABCD'[order.index('beer')]}: beer"


@pytest.mark.parametrize(
    ("options", "shown"), [(("tea", "cola"), "{}; {})"), (("tea; milk", "cola"), "{}. {})"), (None, "drink?'")]
)
def test_the_second_pair_shows_no_letters(options, shown):
    changes = (
        {"options": options, "answer": options[0]} if options else {"question": "Which is the most popular drink?"}
    )
    asked = base(**changes)
    samples = {sample.pair: sample for sample in wrapped([asked])}
    assert [sample.task for sample in samples.values()] == ["qa", "freeform"]
    instruction = samples[f"blend/0/{'listed' if options else 'freeform'}"].instruction
    assert shown.format(*wrapping.shuffled_options(asked, SEED)) in instruction
    assert "Option A" not in instruction


IMPERSONATION = tuple(f"impersonation/{slot}/01" for slot in ("role", "context", "instruction", "output"))


def test_impersonation_is_role_then_context_then_task():
    instruction, _ = wrapping.render(acting(), "tea", "single", IMPERSONATION, SEED)
    parts = ("role/setting: Nation: Peru. ", "Context: 'Guests greet everyone.' ", "Task content: 'What do people")
    places = [instruction.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        (("48", "45"), "Option A: 48; Option B: 45"),
        (("They pay.", "You pay.", "tea"), "Option A: They pay. Option B: You pay. Option C: tea"),
        (("tea", "Is it?", "他们付钱。", "1;"), "Option A: tea; Option B: Is it? Option C: 他们付钱。 Option D: 1;"),
        (("tea",), "Option A: tea"),
        (("milk; tea", "tea", "milk; salt"), "Option A: milk; tea. Option B: tea. Option C: milk; salt"),
    ],
)
def test_options_are_separated(options, listed):
    row = base(options=options, answer=options[0], wrong=())
    seed = next(seed for seed in range(999) if wrapping.shuffled_options(row, seed) == options)
    assert wrapping.render(row, row.answer, "options", QA, seed)[0].endswith(f": {listed}")


@pytest.mark.parametrize(
    ("role", "shown"), [("Nation: Peru", "Nation: Peru. C"), ("Age= 26.", "Age= 26. C"), ("你是谁？", "你是谁？ C")]
)
def test_a_role_ends_like_a_sentence(role, shown):
    assert f"role/setting: {shown}" in wrapping.render(acting(role=role), "tea", "single", IMPERSONATION, SEED)[0]


def test_no_mark_is_printed_twice():
    texts = ("Why?", "Because.", "¿Por qué?", "为什么？", "Γιατί;", "He said 'no.'", "(Why?)", "No mark")
    for text in texts:
        rows = [base(number, question=text, answer=text, options=(text, "cola")) for number in range(60)]
        for sample in [*wrapped(rows), *wrapped([acting(number, question=text) for number in range(60)])]:
            assert not re.search(r"[?？;][)']{0,2}'[.?]|\.'{1,2}\.", sample.instruction), sample.instruction


def test_impersonation_without_role_or_context_leaves_that_part_out():
    (bare,) = wrapped([acting(role="", context="")])
    assert [name.rpartition("/")[0] for name in bare.templates] == ["impersonation/instruction", "impersonation/output"]
    assert "''" not in bare.instruction


def test_options_depend_on_seed_and_id_and_keep_their_content():
    orders = [wrapping.shuffled_options(base(number), SEED) for number in range(400)]
    assert all(sorted(order) == sorted(base().options) for order in orders)
    assert len(set(orders)) == 24
    places = Counter(order.index("tea") for order in orders)  # "tea" is first in every source row
    assert all(70 <= count <= 130 for count in places.values())
    assert wrapping.shuffled_options(base(3), SEED) == orders[3]
    assert orders != [wrapping.shuffled_options(base(number), SEED + 1) for number in range(400)]


@pytest.mark.parametrize("reference", ["Both A and C", "(a) and (d)", "A, B"])
def test_options_that_speak_of_letters_are_not_shuffled(reference):
    options = ("tea", "cola", "beer", reference)
    assert all(wrapping.shuffled_options(base(number, options=options), SEED) == options for number in range(20))


@pytest.mark.parametrize("value", HOSTILE)
def test_values_come_out_untouched(value):
    row = base(question=value, answer=value, options=(value, "cola", "{answer}"), wrong=("cola",))
    for sample in wrapped([row]):
        assert sample.instruction.count(value) == 2
        assert sample.output.endswith((value, f"({value})"))
    row = acting(question=value, context=value, role=value, answer=value)
    (sample,) = wrapped([row])
    assert sample.instruction.count(value) == 3
    assert sample.output.endswith(value)


def test_a_megabyte_is_just_a_value():
    text = "{question}" * 100_000
    (sample, _) = wrapped([base(question=text, options=(), task="freeform")], "soft", "MIT", SEED)
    assert text in sample.instruction
    assert len(sample.instruction) < len(text) + 200


def test_options_that_cannot_be_lettered_are_refused():
    many = (*map(str, range(30)), "tea")
    for changes in ({"answer": "rum"}, {"options": many}):
        with pytest.raises(InputInvalid, match=r"blend/0: .*26 options"):
            wrapped([base(**changes)])
    with pytest.raises(InputInvalid, match="more than once"):
        wrapped([base(), base()])


def test_an_option_listed_twice_keeps_its_first_letter():  # CulturalBench 314 lists the right answer twice
    row = base(options=("tea", "cola", "tea"), wrong=("cola",))
    order = wrapping.shuffled_options(row, SEED)
    _, output = wrapping.render(row, "tea", "options", QA, SEED)
    assert output == f"Option {'ABC'[order.index('tea')]}: tea"


def test_right_rows_carry_what_later_steps_need():
    rows = wrapped([base(1), base(2, group="calm/9")], "hard", "CC-BY-4.0", SEED)
    assert [row.id for row in rows] == [f"blend/{n}/{v}/right" for n in (1, 2) for v in ("options", "listed")]
    assert {row.pair for row in rows} == {row.id.removesuffix("/right") for row in rows}
    assert [row.group for row in rows] == ["blend/1", "blend/1", "calm/9", "calm/9"]
    for row in rows:
        parts = (row.report, row.origin, row.licence, row.score, row.answer)
        assert parts == (Report(), "source", "CC-BY-4.0", 0, "tea")


def mixed_bases(count: int) -> list[BaseSample]:
    return [base(number) for number in range(count)] + [acting(number) for number in range(count)]


@pytest.mark.parametrize("count", [3, 50, 333])
def test_templates_are_used_equally_often_in_every_split(count):
    used: defaultdict[tuple[str, str], Counter] = defaultdict(Counter)
    samples = split_up(mixed_bases(count))
    for sample in samples:
        for name in sample.templates:
            used[sample.split, sample.task, name.rpartition("/")[0]][name] += 1
    for (_, _, slot), counts in used.items():
        frequencies = [counts[f"{slot}/{number:02d}"] for number in range(1, 51)]
        assert max(frequencies) - min(frequencies) <= 1
    assert sum(counts.total() for (_, task, slot), counts in used.items() if slot == "qa/options") == count


def test_slots_are_not_locked_together():
    samples = wrapped([acting(number) for number in range(1000)])
    for slot, other in combinations(range(4), 2):
        met = {(sample.templates[slot][-2:], sample.templates[other][-2:]) for sample in samples}
        assert len(met) > 700  # of 2500; 824 expected by chance, 50 if locked


def test_templates_do_not_follow_the_order_of_the_source():
    samples = wrapped([acting(number) for number in range(500)])
    numbers = [int(sample.templates[0][-2:]) for sample in samples]
    steps = Counter((after - before) % 50 for before, after in pairwise(numbers))
    assert max(steps.values()) < 40  # 10 each by chance, 499 for a round


def test_another_dataset_and_another_order_change_nothing():
    rows = {row.id: row for row in wrapped(mixed_bases(40))}
    alone = wrapped([base(number) for number in reversed(range(40))])
    assert all(rows[row.id] == row for row in alone)
    other = wrapped(mixed_bases(40), seed=SEED + 1)
    assert sum(rows[row.id].templates != row.templates for row in other) > 100


def test_the_cap_is_reached_where_questions_need_their_options():
    """A third has one pair; drawn are as many as fit, and no row is cut afterwards."""
    lettered = {"options": ("tea", "cola", "Both A and B"), "wrong": ("cola",)}
    rows = [base(n, **(lettered if n % 3 == 0 else {})) for n in range(900)]
    frame = pl.DataFrame([asdict(row) for row in rows], infer_schema_length=None)
    for cap in (120, 401, 5000):
        drawn = draw_to_cap(Reading("blend", "qa", frame.select(*FIELDS, "changes"), 900), "hard", cap, SEED)
        made = wrapping.rows_of(drawn, "hard")
        assert made <= cap
        assert cap - made < 4 or len(drawn) == 900
