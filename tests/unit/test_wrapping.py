"""Templates, options and right rows: balanced, literal, and blind to the label."""

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from base_samples import HOSTILE, SEED, acting, base

from excam.construction import wrapping
from excam.exceptions import ConfigInvalid, InputInvalid
from excam.records import BaseSample, Report


def test_shipped_templates_pass_the_linter_and_are_as_many_as_in_the_paper():
    assert wrapping.lint() == []
    for name in wrapping.SLOTS:
        lines = wrapping.paraphrases(*name.split("/"))
        expected = 1 if name == "generation/output" else 12 if name.startswith("hard/") else 50
        assert (name, len(lines)) == (name, expected)


def test_linter_names_what_is_wrong(monkeypatch):
    lines = ("The answer: {answer}", "Answer: {answer}", "Answer is {letter}", " {answer} and {answer}", "")
    monkeypatch.setattr(wrapping, "SLOTS", {"freeform/output": (frozenset({"answer"}), frozenset())})
    monkeypatch.setattr(wrapping, "paraphrases", lambda task, slot: lines)
    assert wrapping.lint() == [
        "freeform/output:2: nearly the same as line 1",
        "freeform/output:3: lacks {answer}",
        "freeform/output:3: unknown {letter}",
        "freeform/output:4: {answer} 2 times",
        "freeform/output:4: empty, or spaces at an end",
        "freeform/output:5: lacks {answer}",
        "freeform/output:5: empty, or spaces at an end",
    ]


def test_answer_is_the_last_value_of_an_output_so_that_its_place_is_known():
    for name in wrapping.SLOTS:
        if name.endswith("/output"):
            assert all("{" not in line.partition("{answer}")[2] for line in wrapping.paraphrases(*name.split("/")))


def test_unknown_slot_and_template_are_named():
    with pytest.raises(ConfigInvalid, match="no such slot"):
        wrapping.paraphrases("..", "records")
    for name in ("qa/output/51", "qa/output/00", "qa/output/x", "07", ""):
        with pytest.raises(ConfigInvalid, match="no such template"):
            wrapping.render(base(), "tea", "options", (name,), SEED)


def test_variants_follow_task_and_kind_of_errors():
    assert wrapping.variants(base(), "hard") == ("options", "freeform")
    assert wrapping.variants(base(options=()), "hard") == ("single",)
    assert wrapping.variants(acting(options=("Yes", "No")), "hard") == ("single",)
    assert wrapping.variants(base(task="freeform", options=()), "soft") == ("minor", "major")


def test_options_are_shown_with_letters_and_the_output_names_the_right_one():
    templates = ("qa/instruction/01", "qa/output/02")
    order = wrapping.shuffled_options(base(), SEED)
    instruction, output = wrapping.render(base(), "beer", "options", templates, SEED)
    listed = " ".join(f"Option {letter}: {option}" for letter, option in zip("ABCD", order, strict=True))
    assert instruction.endswith(listed)
    assert output == f"Option {'ABCD'[order.index('beer')]}: beer"


def test_the_freeform_twin_shows_no_options():
    samples = {sample.pair: sample for sample in wrapping.right_samples([base()], "hard", "MIT", SEED)}
    assert [sample.task for sample in samples.values()] == ["qa", "freeform"]
    assert "cola" not in samples["blend/0/freeform"].instruction


def test_impersonation_is_role_then_context_then_task():
    templates = ("impersonation/role/01", "impersonation/instruction/01", "impersonation/output/01")
    instruction, _ = wrapping.render(acting(), "tea", "single", templates, SEED)
    parts = ("role/setting: Nation: Peru", "Context: 'Guests greet everyone.'", "Task: 'What do people")
    places = [instruction.index(part) for part in parts]
    assert places == sorted(places)


def test_impersonation_without_role_or_context_leaves_that_part_out():
    (bare,) = wrapping.right_samples([acting(role="", context="")], "hard", "MIT", SEED)
    assert [name.rpartition("/")[0] for name in bare.templates] == ["freeform/instruction", "impersonation/output"]
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
    for sample in wrapping.right_samples([row], "hard", "MIT", SEED):
        assert sample.instruction.count(value) == (2 if sample.task == "qa" else 1)
        assert sample.output.endswith((value, f"({value})"))
    row = acting(question=value, context=value, role=value, answer=value)
    (sample,) = wrapping.right_samples([row], "hard", "MIT", SEED)
    assert sample.instruction.count(value) == 3
    assert sample.output.endswith(value)


def test_a_megabyte_is_just_a_value():
    text = "{question}" * 100_000
    (sample, _) = wrapping.right_samples([base(question=text, options=(), task="freeform")], "soft", "MIT", SEED)
    assert text in sample.instruction
    assert len(sample.instruction) < len(text) + 200


def test_options_that_cannot_be_lettered_are_refused():
    many = (*map(str, range(30)), "tea")
    for changes in ({"answer": "rum"}, {"options": many}):
        with pytest.raises(InputInvalid, match=r"blend/0: .*26 options"):
            wrapping.right_samples([base(**changes)], "hard", "MIT", SEED)
    with pytest.raises(InputInvalid, match="more than once"):
        wrapping.right_samples([base(), base()], "hard", "MIT", SEED)


def test_an_option_listed_twice_keeps_its_first_letter():  # CulturalBench 314 lists the right answer twice
    row = base(options=("tea", "cola", "tea"), wrong=("cola",))
    order = wrapping.shuffled_options(row, SEED)
    _, output = wrapping.render(row, "tea", "options", ("qa/instruction/01", "qa/output/02"), SEED)
    assert output == f"Option {'ABC'[order.index('tea')]}: tea"


def test_right_rows_carry_what_later_steps_need():
    rows = wrapping.right_samples([base(1), base(2, group="calm/9")], "hard", "CC-BY-4.0", SEED)
    assert [row.id for row in rows] == [f"blend/{n}/{v}/right" for n in (1, 2) for v in ("options", "freeform")]
    assert {row.pair for row in rows} == {row.id.removesuffix("/right") for row in rows}
    assert [row.group for row in rows] == ["blend/1", "blend/1", "calm/9", "calm/9"]
    for row in rows:
        assert (row.report, row.origin, row.licence, row.score, row.answer) == (
            Report(),
            "source",
            "CC-BY-4.0",
            0,
            "tea",
        )


def mixed_bases(count: int) -> list[BaseSample]:
    return [base(number) for number in range(count)] + [acting(number) for number in range(count)]


@pytest.mark.parametrize("count", [3, 50, 333])
def test_templates_are_used_equally_often(count):
    used: defaultdict[tuple[str, str], Counter] = defaultdict(Counter)
    for sample in wrapping.right_samples(mixed_bases(count), "hard", "MIT", SEED):
        for name in sample.templates:
            used[sample.task, name.rpartition("/")[0]][name] += 1
    assert len(used) == 2 + 2 + 3
    for (_, slot), counts in used.items():
        every = [counts[f"{slot}/{number:02d}"] for number in range(1, 51)]
        assert sum(every) == count
        assert max(every) - min(every) <= 1


def test_slots_are_not_locked_together():
    samples = wrapping.right_samples([acting(number) for number in range(1000)], "hard", "MIT", SEED)
    for one, other in ((0, 1), (1, 2), (0, 2)):
        met = {(sample.templates[one][-2:], sample.templates[other][-2:]) for sample in samples}
        assert len(met) > 700  # of 2500; 824 expected by chance, 50 if locked


def test_templates_do_not_follow_the_order_of_the_source():
    samples = wrapping.right_samples([acting(number) for number in range(500)], "hard", "MIT", SEED)
    numbers = [int(sample.templates[0][-2:]) for sample in samples]
    steps = Counter((after - before) % 50 for before, after in pairwise(numbers))
    assert max(steps.values()) < 40  # 10 each by chance, 499 for a round


def test_another_dataset_and_another_order_change_nothing():
    rows = {row.id: row for row in wrapping.right_samples(mixed_bases(40), "hard", "MIT", SEED)}
    alone = wrapping.right_samples([base(number) for number in reversed(range(40))], "hard", "MIT", SEED)
    assert all(rows[row.id] == row for row in alone)
    other = wrapping.right_samples(mixed_bases(40), "hard", "MIT", SEED + 1)
    assert sum(rows[row.id].templates != row.templates for row in other) > 100
