"""CulT-Eval and ACRE on any text: rows come back from their tables, spans lie in texts, no answer is half a score."""

import json
from dataclasses import replace
from functools import partial

from hypothesis import example, given
from hypothesis import strategies as st
from mini_cult_eval import ITEMS, ROWS
from text_strategies import ANSWERS, TEXTS
from there_and_back import there_and_back

from excam.acre import asks, candidates, equivalent, items, judgements, numbers, translations
from excam.core.text import CLUSTER
from excam.inference import Completion

FEW = [row for row in ROWS if row.item.id in [*ITEMS][:6]]
NAMES = TEXTS.filter(str.strip)


@st.composite
def made_items(draw):
    """An item with its expression anywhere in any text."""
    names = ("source", "term", "reference", "target")
    before, term, behind, target = (draw(NAMES) for _ in names)
    texts = {"source": f"{before}{term}{behind}", "term": term, "reference": f"{behind}{target}", "target": target}
    if texts["source"].strip() == texts["reference"].strip():
        texts["source"] += "x"
    places = {
        **{"source_start": len(before), "source_end": len(before) + len(term)},
        **{"target_start": len(behind), "target_end": len(behind) + len(target)},
    }
    lists = {name: tuple(draw(st.lists(NAMES, max_size=2))) for name in ("accepted", "literal")}
    explication, equivalent_ = draw(TEXTS).strip(), draw(st.none() | TEXTS)
    known = next(iter(ITEMS.values()))
    return replace(known, id=draw(NAMES), **texts, **places, **lists, explication=explication, equivalent=equivalent_)


@given(st.lists(st.tuples(made_items(), NAMES, TEXTS, st.integers(0, 9)), min_size=1, max_size=4))
def test_rows_come_back_from_their_table(made):
    rows = {}
    for item, system, text, shots in made:
        row = translations.Translated(item, system, text, shots)
        if all(row.item.id != other.item.id for other in rows.values()):
            rows[row.id] = row
    assert there_and_back(translations.to_frame(rows.values()), translations.from_frame) == [*rows.values()]
    read = there_and_back(translations.items_frame(row.item for row in rows.values()), items.read)
    assert [*read.values()] == [row.item for row in rows.values()]


AGENTS = st.sampled_from((asks.VALIDATOR, asks.FIDELITY, asks.NUANCE))
FINISH = st.sampled_from(("stop", "length", "refused"))
LINES = st.sampled_from([option for agent in (asks.VALIDATOR, asks.FIDELITY) for option in agent.options])


@given(AGENTS, st.lists(ANSWERS | LINES, max_size=3).map("\n".join), FINISH)
@example(asks.VALIDATOR, f'{{"{asks.VALIDATOR.key}": true, "rationale": "x\\ud800y"}}', "stop")
def test_an_agent_says_one_of_its_values_or_fails(agent, text, finish):
    said = asks.read(agent, Completion(text, None, None, finish, 1, 1))
    said.rationale.encode()  # a table can hold it
    assert (said.value is None) == (said.failure is not None)
    assert said.value is None or said.value in agent.values
    if said.value is not None:
        line = json.dumps({agent.key: agent.values[agent.values.index(said.value)]})
        assert asks.read(agent, Completion(line, None, None, "stop", 1, 1)).value == said.value


@given(TEXTS, TEXTS)
def test_a_prompt_is_its_frame_around_the_texts(text, translation):
    case = replace(asks.case(ROWS[0]), source=text, translation=translation)
    for agent in (asks.VALIDATOR, asks.FIDELITY, asks.NUANCE):
        asked = "".join(message.content for message in asks.messages(agent, case))
        without = asks.messages(agent, replace(case, source="", translation=""))
        empty = "".join(message.content for message in without)
        quoted = [json.dumps(shown, ensure_ascii=False) for shown in (text, translation)]
        assert all(shown in asked for shown in quoted)
        assert len(asked) == len(empty) + sum(len(shown) - 2 for shown in quoted)


@given(TEXTS, st.lists(ANSWERS, max_size=4))
def test_candidates_are_spans_of_the_sentence_at_borders_of_characters(text, terms):
    sentence = candidates.Sentence("s", text, {})
    said = json.dumps({"expressions": [*terms, text[1:3], text[:2]]})
    extraction = candidates.parse(sentence, Completion(said, None, None, "stop", 1, 1))
    borders = {0, *(match.end() for match in CLUSTER.finditer(text))}
    borders |= {at for at, sign in enumerate(text) if sign == "\u200c"}
    assert extraction.failure is None
    for row in extraction.rows:
        assert row["term"] == text[row["source_start"] : row["source_end"]] != ""
        assert {row["source_start"], row["source_end"]} <= borders
    assert len({row["id"] for row in extraction.rows}) == len(extraction.rows)


@given(made_items(), TEXTS)
def test_the_judge_without_a_model_finds_what_an_item_accepts(item, text):
    if equivalent.comparable(item):
        verdict = equivalent.judge(item, text)
        assert verdict.reason in equivalent.REASONS
        assert verdict.valid == (verdict.reason in ("equivalent", "explication"))
    for phrase in item.accepted:
        if equivalent.tokens(phrase):
            assert equivalent.judge(item, f"{text} {phrase} {text}").reason == "equivalent"


RATING = st.floats(asks.LOWEST, asks.HIGHEST)


@given(RATING, RATING, RATING)
def test_quality_is_above_0_and_grows_with_each_rating(fidelity, clarity, more):
    q = asks.quality(fidelity, clarity)
    assert 0 < q <= 1
    assert asks.quality(max(fidelity, more), clarity) >= q - 1e-12
    assert asks.quality(fidelity, max(clarity, more)) >= q - 1e-12


ACRE = st.none() | st.sampled_from((0.0, 0.4, 0.5, 1.0))


@given(st.lists(ACRE, min_size=len(FEW), max_size=len(FEW)), st.randoms())
def test_systems_are_compared_alike_in_any_order_and_by_any_name(scores, chance):
    verdicts = {
        row.id: asks.Grades(
            "A", valid=score is not None and score > 0, acre=score, failure="x" if score is None else None
        )
        for row, score in zip(FEW, scores, strict=True)
    }
    tasks = asks.tasks(FEW, ["full"], "text")
    frame = judgements.to_frame("j", FEW, tasks, (verdicts[task.row] for task in tasks))
    read = partial(judgements.read, rows={row.id: row for row in FEW})
    assert there_and_back(frame, read) == {("j", "full"): verdicts}
    there = {(line["a"], line["b"]): line for line in numbers.compare_systems(FEW, verdicts)}
    rows = list(FEW)
    chance.shuffle(rows)
    for line in numbers.compare_systems(rows, verdicts):
        pair = (line["a"], line["b"])
        same = there.get(pair) or there[pair[::-1]]
        assert abs(line["difference"] - same["difference"] * (1 if pair in there else -1)) < 1e-9
        assert line["n"] == same["n"]
    table = {line["system"]: line for line in numbers.systems(FEW, {"j": verdicts})}
    assert sum(line["n"] for line in table.values()) == len(FEW)
    assert sum(line["failures"] for line in table.values()) == scores.count(None)
    for line in numbers.systems(rows, {"j": verdicts}):
        assert line["n"] == table[line["system"]]["n"]
        assert line["acre"] == table[line["system"]]["acre"] or abs(line["acre"] - table[line["system"]]["acre"]) < 1e-9
