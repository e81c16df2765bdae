"""Macaron on any text: templates, scenarios, tables and answers keep what they are given, and count what they leave out."""

import json
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st
from mini_macaron import BUILT, CONTEXTS, MINI, TEMPLATES
from one_line_errors import line_of
from text_strategies import ANSWERS, TEXTS
from there_and_back import there_and_back

from excam.core.exceptions import InputInvalid
from excam.inference import Completion, prompts
from excam.macaron import answers, asks, campaign, contexts, derive, numbers, proofread, scenarios, templates

SUBMISSIONS = [row for row in scenarios.read_exports(MINI / "exports") if row.get("status") != "not-applicable"]
SCENARIOS = BUILT.scenarios
OPTIONS = ("Rice", "Tea", "Not tea", "A cake")
FRAMES = st.lists(TEXTS.map(lambda text: text.replace("[", "(").replace("]", ")")), min_size=3, max_size=3)


@given(FRAMES, TEXTS, TEXTS)
def test_a_filled_template_is_its_text_around_its_values(frame, first, second):
    before, between, behind = frame
    text = f"{before}[DISH]{between}[COUNTRY]{behind}"
    assert templates.slots_in(text) == ["DISH", "COUNTRY"]
    assert templates.fill(text, {"DISH": first, "COUNTRY": second}) == f"{before}{first}{between}{second}{behind}"


@given(TEXTS, st.lists(TEXTS, min_size=4, max_size=4))
def test_a_prompt_is_its_text_around_the_texts_of_its_instance(text, options):
    values = {"question": text, **{f"option{number}": option for number, option in enumerate(options, 1)}}
    pieces = prompts.NAME.split(prompts.template("excam.macaron", "mc"))
    expected = "".join(values[piece] if at % 2 else piece for at, piece in enumerate(pieces))
    assert pieces[1::2] == list(values)
    assert asks.filled("mc", values) == expected


CHANGES = st.dictionaries(
    st.sampled_from(("country", "language", "author", "template", "question_local", "true_local", "licence", "slots")),
    TEXTS | st.sampled_from((1, None, 2.0, [], {}, True)),
    max_size=2,
)


@given(st.lists(st.tuples(st.sampled_from(SUBMISSIONS), CHANGES), max_size=8))
def test_every_submission_is_a_scenario_or_left_out_once(submitted):
    rows = [row | changes for row, changes in submitted]
    built = scenarios.build(TEMPLATES, CONTEXTS, rows)
    assert len(built.scenarios) + len(built.dropped) == len(rows)
    assert len({scenario.id for scenario in built.scenarios}) == len(built.scenarios)
    assert sum(built.reasons.values()) == len(built.dropped)
    assert json.dumps(built.dropped_lines, ensure_ascii=False).encode()


@given(st.lists(TEXTS.filter(str.strip), min_size=2, max_size=2, unique_by=str.strip))
@example(["का", "कि"])
@example(["Guinea Bissau", "Guinea-Bissau"])
def test_no_country_replaces_another(countries):
    """Names that ids could not tell apart are refused; authors of countries in another script have their own tasks."""
    places = [contexts.Context(country, "Language", "Script") for country in countries]
    rows = [SUBMISSIONS[0] | {"language": "Language", "country": country} for country in countries]
    if {*map(scenarios._slug, countries)} == {scenarios._slug(countries[0])}:
        assert "ids can tell apart" in line_of(InputInvalid, scenarios.build, TEMPLATES, places, rows)
    else:
        built = scenarios.build(TEMPLATES, places, rows)
        assert {scenario.country for scenario in built.scenarios} == {*countries}
    drawn = campaign.authoring(TEMPLATES[:2], places, 2, 2, seed=0)
    assert Counter(task.culture for task in drawn.tasks) == dict.fromkeys(countries, 4)
    assert len({task.assigned for task in drawn.tasks}) == 4


@st.composite
def made_scenarios(draw):
    """Scenarios of the miniature with other texts, such as a file may hold."""
    made = []
    for scenario in draw(st.lists(st.sampled_from(SCENARIOS), min_size=1, max_size=3, unique_by=lambda each: each.id)):
        values = {name: getattr(scenario, name) for name in scenarios.SCHEMA}
        changes = {
            "question_local": draw(TEXTS),
            "true_en": draw(TEXTS),
            "author": draw(TEXTS),
            "why": draw(TEXTS),
            "slots": draw(st.dictionaries(TEXTS, TEXTS, max_size=3)),
            "options_local": tuple(draw(st.lists(TEXTS, min_size=4, max_size=4))),
        }
        changed = scenarios.Scenario(**{**values, **changes})
        made.append(changed if scenarios.text_problem(changed) is None else scenario)
    return made


@given(made_scenarios(), st.integers(0, 9))
def test_scenarios_and_instances_come_back_from_their_tables(made, seed):
    assert there_and_back(scenarios.to_frame(made), scenarios.read) == made
    instances = derive.instances(made, seed)
    assert there_and_back(derive.to_frame(instances), derive.read) == instances
    assert derive.instances(made[::-1], seed) == instances


@given(ANSWERS, st.sampled_from((("A", "B", "C", "D"), ("T", "F"))), st.sampled_from(("stop", "length", "refused")))
def test_an_answer_is_a_valid_one_or_a_failure(text, valid, finish):
    options = OPTIONS if len(valid) == 4 else ()
    answered = asks.read_completion(Completion(text, None, None, finish, 1, 1), valid, options)
    assert (answered.answer is None) == (answered.failure is not None)
    assert answered.answer in (None, *valid)
    assert answered.failure in (None, *asks.FAILURES)
    assert set(answered.recovered) <= set(asks.RECOVERED)
    if answered.answer:
        line = asks.line(answered.answer)
        assert asks.read_text(line, valid, options) == (answered.answer, ())
        assert asks.read_text(f"{text}\n{line}", valid, options)[0] == answered.answer


@given(TEXTS, TEXTS)
def test_an_edit_that_passes_the_guard_keeps_numbers_and_lines(before, after):
    if proofread.guard(before, after) is None:
        assert proofread.NUMBER.findall(before) == proofread.NUMBER.findall(after)
        assert len(after.splitlines()) == 1


INSTANCES = derive.instances(SCENARIOS[:12], 1)


@st.composite
def answered_rows(draw):
    chosen = [draw(st.sampled_from((None, *instance.valid))) for instance in INSTANCES]
    names = ("id", "scenario", "language", "format", "lang", "gold")
    rows = [{name: getattr(instance, name) for name in names} for instance in INSTANCES]
    return [row | {"pred": pred} for row, pred in zip(rows, chosen, strict=True)]


@given(answered_rows(), st.randoms())
def test_numbers_are_of_the_answers_whatever_their_order_and_names(rows, chance):
    accuracies = numbers.accuracies(rows)
    counted = numbers.counts(rows)
    shuffled = [row | {"scenario": f"x{row['scenario']}"} for row in rows]
    chance.shuffle(shuffled)
    for name, value in numbers.accuracies(shuffled).items():
        assert abs(value - accuracies[name]) < 1e-9
    assert numbers.counts(shuffled) == counted
    doubled = rows + [row | {"scenario": f"second {row['scenario']}"} for row in rows]
    for name, value in numbers.accuracies(doubled).items():
        assert abs(value - accuracies[name]) < 1e-9


@given(answered_rows(), answered_rows())
def test_the_difference_of_two_systems_changes_its_sign_with_their_order(first, second):
    (there,), (back,) = (numbers.compare(pair, "overall") for pair in ([first, second], [second, first]))
    assert abs(there["value"] + back["value"]) < 1e-9
    assert there["p"] == back["p"]


@given(st.lists(st.tuples(TEXTS, ANSWERS), min_size=1, max_size=5))
@example([("", "\ud800</think>")])
def test_answers_come_back_from_their_table(given_):
    instances = INSTANCES[: len(given_)]
    made = [
        asks.read_completion(Completion(f"<think>{thought}</think>{text}", None, None, "stop", 1, 1), instance.valid)
        for instance, (thought, text) in zip(instances, given_, strict=True)
    ]
    frame = answers.to_frame(instances, "m", "text", made)
    (system,) = there_and_back(frame, lambda path: answers.join(instances, [path]))
    assert [row["pred"] for row in system.rows] == [answered.answer for answered in made]
    assert [row["said"]["thinking"] for row in system.rows] == [answered.thinking for answered in made]
