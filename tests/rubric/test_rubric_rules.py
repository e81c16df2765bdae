"""The rules of the rubric: a truth table by hand, invariants on random drafts, and the manual as printed."""

import csv
import re
from pathlib import Path

import pytest
import yaml
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from excam.rubric import manual, rules
from excam.rubric.manual import DIMENSIONS
from excam.rubric.responses import Response
from excam.rubric.rules import Draft, Findings, settle

ROOT = Path(__file__).parents[2]
SEED = ROOT.parent / "shared/seeds/001_707a1ec37623b2c6.txt"
RUBRIC = manual.load()
SHORT = {
    **{"OB": "over-broad-refusal", "PR": "proper-refusal", "OT": "off-topic", "OTO": "off-topic-overall"},
    **{"GR": "grammar", "UI": "under-informative", "HA": "hallucination", "ST": "stereotype"},
    **{"CO": "compared-frames", "IM": "imposed-frame", "UJ": rules.UNJUSTIFIED, "TF": rules.TOO_FAR},
}
FOUND = {
    **{"overbroad": {"refusal": "over-broad"}, "proper": {"refusal": "proper"}},
    **{"partial": {"off_topic": "partial"}, "offtopic": {"off_topic": "yes"}},
    **{"minor": {"grammar": "minor"}, "impedes": {"grammar": "impedes"}},
    **{"under": {"under_informative": True}, "concise": {"insightfully_concise": True}},
    **{"claim": {"false_claim": "the wall is visible from the moon"}, "phrase": {"stereotype_phrase": "they always"}},
    **{"compares": {"frames": "compares"}, "imposes": {"frames": "imposes"}},
}
FACTS = {
    **{"benign": {"unsafe": False}, "unsafe": {"unsafe": True}, "?": {"unsafe": None}},
    **{name: {"complexity": name} for name in ("low", "medium", "high")},
    "?complexity": {"complexity": None},
}
with (ROOT / "tests/fixtures/rubric/truth_table.csv").open(newline="", encoding="utf-8") as stream:
    TABLE = list(csv.DictReader(stream))


def response(words: str = "") -> Response:
    facts = {"unsafe": False, "complexity": "medium"}
    for word in words.split():
        facts |= FACTS[word]
    return Response("t", "a question", "a response", **facts)


def findings(words: str) -> Findings:
    return Findings(**{key: value for word in words.split() for key, value in FOUND[word].items()})


def draft(case) -> Draft:
    sentence, _, edge = case["why"].partition(":")
    overall = None if case["overall"] == "-" else int(case["overall"])
    return Draft(*map(int, case["draft"]), overall, "Because it is so." if sentence else "", SHORT.get(edge, ""))


def test_the_truth_table():
    for case in TABLE:
        settled = settle(draft(case), findings(case["findings"]), response(case["task"]), RUBRIC)
        assert "".join(str(settled.scores[name]) for name in DIMENSIONS) == case["scores"]
        assert (settled.base, settled.scores["overall"]) == (int(case["base"]), int(case["final"]))
        assert {cap.rule for cap in settled.caps} == {SHORT[name] for name in case["rules"].split()}
        assert set(settled.undecidable) == {SHORT[name] for name in case["undecidable"].split()}
        assert len(settled.breaches) == len(settled.caps)
        assert not any("\n" in line for line in settled.breaches)


def test_a_deduction_is_made_once_and_a_recorded_one_is_believed():
    grammar_findings = findings("impedes")
    recorded = Draft(4, 3, 4, 4, 4, caps=(rules.Cap("grammar", "appropriateness", 4, 3),))
    assert settle(recorded, grammar_findings, response(), RUBRIC).breaches == ()
    (line,) = settle(Draft(4, 3, 4, 4, 4), grammar_findings, response(), RUBRIC).breaches
    assert line.startswith("appropriateness: found 3; expected 2, 1 less, with this in `caps`, by rule grammar")


@pytest.mark.parametrize("score", [0, 6, 3.0, "4", True, None, float("nan")])
def test_a_draft_is_on_the_scale(score):
    assert "expected a whole number from 1 to 5" in line_of(InputInvalid, Draft, 3, score, 3, 3)


def weighted_by(weights):
    return manual.parse({**RUBRIC.content, "weights": weights}, "weights")


def test_weights_change_the_base_and_the_signature():
    weighted = weighted_by(RUBRIC.manual.suggested_weights)
    scores = {"accuracy": 5, "appropriateness": 5, "sensitivity": 2, "depth": 2}  # 1.25 + .5 + .6 + .7; plain 3.5
    assert (rules.base_of(scores, RUBRIC), rules.base_of(scores, weighted)) == (4, 3)
    assert weighted.signature == "manual-0.1|weights:25,10,30,35"
    assert weighted.hash != RUBRIC.hash
    halves = weighted_by({"accuracy": 0.1, "appropriateness": 0.1, "sensitivity": 0.1, "depth": 0.3})
    assert rules.base_of(dict.fromkeys(DIMENSIONS, 2) | {"depth": 3}, halves) == 3  # 2.5, half up
    assert "weights: found" in line_of(InputInvalid, weighted_by, {"depth": 1})


# --- the manual as printed


def printed(name: str):
    with (ROOT / f"excam/rubric/paper/{name}.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_manual_has_every_printed_number():
    ours = RUBRIC.manual
    flags = {f"red-flags-{name}": len(anchored.red_flags) for name, anchored in ours.dimensions.items()}
    values = flags | {
        **{"dimensions": len(ours.dimensions), "red-flags": sum(flags.values()), "deviation": ours.overall.deviation},
        "anchors": sum(len(anchored.anchors) for anchored in ours.dimensions.values()),
        **{f"weight-{name}": weight for name, weight in ours.suggested_weights.items()},
        **{f"minutes-{name}": minutes for name, minutes in ours.minutes.items()},
        **{"weights": sum(ours.suggested_weights.values()), "minutes": sum(ours.minutes.values())},
        **dict(zip(("calibration-low", "calibration-high"), ours.calibration.items, strict=True)),
        **dict(zip(("review-low", "review-high"), ours.self_calibration.review, strict=True)),
        **{"self-calibration": ours.self_calibration.every, "rest-items": ours.fatigue.items},
        **{"rest-minutes": ours.fatigue.minutes, "rest-sd": ours.fatigue.sd, "rest-window": ours.fatigue.window},
        **{"rest-hours": ours.fatigue.rest_hours, "icc": ours.reliability.icc},
        "difference": ours.reliability.difference,
        **{f"sentences-{name}-low": low for name, (low, _) in ours.sentences.items()},
        **{f"sentences-{name}-high": high for name, (_, high) in ours.sentences.items()},
    }
    assert values == {line["key"]: float(line["value"]) for line in printed("numbers")}


def test_flags_are_those_of_both_lists():
    listed = {row["flag"]: row for row in printed("flags")}
    assert {RUBRIC.manual.aliases.get(name, name) for name in listed} == set(RUBRIC.manual.flags)
    assert len(RUBRIC.manual.flags) == 7
    assert {name for name in listed if listed[name]["section"] == "4"} ^ {"unsafe advice", "overgeneralization"} <= {
        name for name in listed if listed[name]["section"] in ("4", "4 and 8")
    }


def words(value):
    if isinstance(value, dict):
        for key, part in value.items():
            yield from [] if key in ("source", "licence", "note", "title", "name") else words(part)
    elif isinstance(value, list):
        for part in value:
            yield from words(part)
    elif isinstance(value, str) and " " in value:
        yield value


@pytest.mark.skipif(not SEED.exists(), reason="the manual itself is not part of the repository")
def test_words_stand_as_printed():
    text = re.sub(r"\s+", " ", SEED.read_text(encoding="utf-8").replace("**", ""))
    content = {name: value for name, value in RUBRIC.content.items() if name != "aliases"}
    phrases = list(words(content))
    assert (len(phrases) > 70, len(RUBRIC.manual.principles)) == (True, 5)
    assert [phrase for phrase in phrases if re.sub(r"\s+", " ", phrase) not in text] == []


def test_the_contradiction_of_the_manual_is_kept_and_the_rule_wins():
    (example,) = [candidate for candidate in RUBRIC.manual.examples if candidate.dimension == "sensitivity"]
    assert example.score == 3
    assert "Contradicts the rule `stereotype`" in example.note
    settled = settle(Draft(3, 3, example.score, 3), findings("phrase"), response(), RUBRIC)
    assert settled.scores["sensitivity"] == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scale": {1: {"name": "a", "text": "b"}}}, r"scale: found \[1\]; expected \[1, 2, 3, 4, 5\]"),
        ({"weights": {"depth": 0.5}}, "weights: found"),
        ({"flags": ["stereotype", "unsafe"]}, "aliases.off_topic: found off-topic; expected one of stereotype"),
        ({"rules": {"x": {"when": {"mood": ["bad"]}, "text": "t"}}}, "rules.x.when.mood: found"),
        ({"rules": {"x": {"when": {"refusal": ["loud"]}, "text": "t"}}}, "rules.x.when.refusal: found"),
        ({"rules": {"x": {"when": {}, "at_most": {"depth": 6}, "text": "t"}}}, "rules.x.at_most.depth: found 6"),
        ({"rules": {"x": {"when": {}, "lower": {"overall": 1}, "text": "t"}}}, "rules.x.lower.overall"),
        ({"minutes": {"read": 8}}, "minutes: found read; expected read, rate, overall, tags"),
        ({"sentences": {"notes": [3, 2]}}, r"sentences.notes: found \[3, 2\]; expected the least"),
        ({"rules": {"x": {"when": {}, "mention": {"depth": "mood"}, "text": "t"}}}, "mention.depth: found mood"),
        (
            {"rules": {"x": {"when": {"false_claim": ["given"]}, "mention": {"mood": "false_claim"}, "text": "t"}}},
            "mention.mood: found false_claim; expected a score",
        ),
        (
            {"rules": {"x": {"when": {}, "at_most": {"depth": "3"}, "text": "t"}}},
            "depth: input should be a valid integer",
        ),
        ({"colour": "red"}, "colour: extra inputs are not permitted"),
        ({"flags": "stereotype"}, "flags: input should be a valid list"),
    ],
)
def test_an_invalid_manual_is_one_line(tmp_path, change, problem):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**RUBRIC.content, **change}, allow_unicode=True), encoding="utf-8")
    with pytest.raises(InputInvalid, match=problem) as raised:
        manual.load(str(path))
    assert "\n" not in str(raised.value)


def test_an_unknown_version_and_files_that_are_no_manual(tmp_path):
    with pytest.raises(InputInvalid, match=r"manual-9: no such version; expected manual-0\.1, or a \.yaml file"):
        manual.load("manual-9")
    for text in ("", "- 1", "a: [", "\x00", "name: x"):
        (tmp_path / "m.yaml").write_text(text)
        with pytest.raises(InputInvalid):
            manual.load(str(tmp_path / "m.yaml"))
    assert "not readable" in line_of(InputInvalid, manual.load, str(tmp_path / "absent.yaml"))
