"""Answers that are not quite what was asked for: what has one meaning is read and named, what may have two is not."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_tables import table

from excam.acre import asks as acre
from excam.acre import candidates
from excam.calmqa import asks as calmqa
from excam.calmqa.asks import read_claims
from excam.error_reports.judges import binary, count, report, severity
from excam.error_reports.records import SEVERITIES, CulturalError, Report
from excam.inference import Completion, answer_from_row, answer_to_row, lenient_json
from excam.inference.answer_text import reasoning_and_answer, split_reasoning
from excam.inference.json_answers import Rejected, answer_decoder, decode_at, fields, objects, only_object
from excam.macaron import asks as macaron
from excam.macaron import proofread
from excam.rubric import asks as rubric
from excam.rubric import manual
from excam.rubric.responses import Response

DECODER = answer_decoder("twice", "not-finite")
FOUND = Report((CulturalError("output", "Feijoada", "minor", "wrong dish"),), "It is Brazilian.")
STRICT = report.write(FOUND)
CLEAN = report.write(Report())


def complete(text, finish="stop"):
    return Completion(text, None, None, finish, 1, 1)


# Reports


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
errors = st.builds(CulturalError, st.sampled_from(report.WHERE), texts, st.sampled_from(SEVERITIES), texts)
reports = st.builds(Report, st.lists(errors, max_size=3).map(tuple), texts)


class Loose:
    """Write a report as models do: every choice leaves its meaning alone."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.mark = draw.choice(('"', "'", "“", "‘", ""))  # of keys, the same in a report

    def answer(self, original: Report) -> str:
        listed = [{key: getattr(error, key) for key in report.ERROR_KEYS} for error in original.errors]
        lists = f"[{self.blank()}{','.join(self.blank() + self.error(entry) for entry in listed)}{self.comma(listed)}]"
        items = [f"{self.key('errors')}{lists}", f"{self.key('explanation')}{self.text(original.explanation)}"]
        if not original.explanation and self.draw.random() < 0.3:
            null = [f"{self.key('explanation')}{self.draw.choice(('null', 'None'))}"]
            items[1:] = self.draw.choice(([] if listed else null, null))
        if self.draw.random() < 0.3:
            items.append(f"{self.key('confidence')}0.9")
        made = f"{{{', '.join(items)}{self.comma(items)}}}"
        if self.draw.random() < 0.2:
            made = f"{{{self.key('error_report')}{made}}}"
        before = self.draw.choice(
            ("", "", "<think>Or {'errors': [ ... ]?</think>\n", "[THINK]{[/THINK]", '{"errors": [...]}?</think>')
        )
        around = ("", ""), ("```json\n", "\n```"), ("The report: ", ""), ("<answer>", "</answer>"), ("", "<|im_end|>")
        begin, end = self.draw.choice(around if not before.startswith("{") else around[:1])
        return f"{'So ' if before.startswith('{') else ''}{before}{begin}{made}{end}"

    def error(self, fields: dict[str, str]) -> str:
        items = list(fields.items())
        self.draw.shuffle(items)
        written = [f"{self.key(key)}{self.value(key, value)}" for key, value in items]
        if self.draw.random() < 0.2:
            written.insert(0, f"{self.key('id')}{self.draw.choice(('1', 'null', self.text('e1')))}")
        return f"{{{', '.join(written)}{self.comma(written)}}}"

    def value(self, key: str, value: str) -> str:
        if key in ("where", "severity"):
            value = self.draw.choice((value, value.upper(), value.capitalize() + ".", f" {value}"))
        return self.text(value)

    def key(self, key: str) -> str:
        key = self.draw.choice((key, key, key.capitalize()))
        closing = {"“": "”", "‘": "’"}.get(self.mark, self.mark)
        return f"{self.mark}{key}{closing}{self.draw.choice((':', ' :', '：' if self.mark else ':'))}{self.blank()}"

    def text(self, text: str) -> str:
        mark = self.draw.choice("\"'“‘")
        if mark in "“‘":
            closing = {"“": "”", "‘": "’"}[mark]
            kind = '"“”„‟' if mark == "“" else "'‘’‚‛"
            if not set(text) & {*kind, "\\"}:
                return f"{mark}{text}{closing}"
            mark = '"'
        written = json.dumps(text, ensure_ascii=self.draw.random() < 0.5)[1:-1]
        if mark == "'":
            written = written.replace('\\"', '"').replace("'", "\\'")
        return f"{mark}{written}{mark}"

    def comma(self, items: list) -> str:
        return "," if items and self.draw.random() < 0.3 else ""

    def blank(self) -> str:
        blanks = ("", " ", "\n\t", "\u00a0", "\u3000", " // it's one\n", "/* so * it is */", " # next\n")
        return self.draw.choice(blanks)


@given(reports, st.integers(0, 2**32))
def test_harmless_changes_leave_a_report_what_it_is(original, seed):
    said = Loose(Random(seed)).answer(original)
    assert report.read(said) == original, said
    assert set(report.recovered(said)) <= set(report.RECOVERED)
    assert report.read(report.write(original)) == original


@given(reports, st.integers(0, 2**32), st.integers(0, 400), st.sampled_from(["'", '"', "”", "{", "]", ",", "//", "\\", "x", "</think>"]))  # fmt: skip
def test_a_damaged_loose_report_is_never_a_clean_one(original, seed, place, junk):
    said = Loose(Random(seed)).answer(original)
    read = report.read(said[:place] + junk + said[place:])
    if original.errors and isinstance(read, Report):
        assert len(read.errors) == len(original.errors), said


@pytest.mark.parametrize(
    "draft",
    [
        '{"errors": [ ... ]} or {"errors": []}?',
        STRICT.replace("minor", "major"),
        '{"errors": [{"where": "output", "span": "Fei',
        '```json\n{"errors": [{"where": "output", ...}]}\n```',
        f"{CLEAN} " * 200,
    ],
)
@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<think>", "</think>"),
        ("<thinking>\n", "\n</thinking>\n"),
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("analysis", "assistantfinal"),
        ("<|START_THINKING|>", "\n<|END_THINKING|>"),
    ],
)
def test_a_draft_between_the_marks_of_reasoning_never_hides_the_report(begin, end, draft):
    if "</think" not in end:
        draft = draft.replace('"Fei', '"Fei"')
    said = f"{begin}{draft}\n{end}{STRICT}"
    assert report.read(said) == FOUND
    assert split_reasoning(said)[1].strip() == STRICT


def test_without_an_opening_tag_a_draft_may_be_abbreviated_but_not_be_split():
    assert report.read(f'Is it {{"errors": [...]}} or {CLEAN}? No.</think>{STRICT}') == FOUND
    for answer in ('So: {"errors": [{"span": "a', 'So: {"errors": [{"span": "a "b" c', '{"errors": [...', "```\n{\"errors\": [..."):  # fmt: skip
        assert report.read(f"{answer}\n</think>{CLEAN}").reason == "in-pieces"
        assert report.read(f"<think>Hm.</think>{answer}\n</think>{CLEAN}").reason == "in-pieces"
    for begin in ("[THINK]", "analysis: ", "<reasoning>"):
        assert report.read(f'{begin}{{"errors": [{{"span": "a\n</think>{CLEAN}').reason == "in-pieces"


def test_the_objects_of_an_answer_are_repaired():
    for text, repaired in (
        ("{'a': 'b'}", {"quotes"}),
        ('{“a”: "b",}', {"quotes", "comma"}),
        ('{"a"：\u00a0"b" /* c */}', {"punctuation", "white-space", "comment"}),
        ('{""a"": "\\x62"}', {"quotes", "escape"}),
    ):
        ignored = set()
        assert list(objects(text, DECODER, ignored)) == [{"a": "b"}]
        assert ignored == repaired
        assert decode_at(text, 0, DECODER, set()) == ({"a": "b"}, len(text))


def test_what_may_have_two_meanings_is_not_repaired():
    for text in ("{``a``: 'b'}", "{'a' 'b'}", "{'a': b}", "{'a': 'b'c'}", "{a; 'b'}", "{'a': 'b']", "{'a'"):
        with pytest.raises(Rejected, match=r"^(bad|no)-json$"):
            list(objects(text, DECODER, set()))


def test_numbers_and_nesting_of_a_repaired_object_are_the_decoders():
    made, _ = decode_at("{'a': 1e5, 'b': [True, False, None]}", 0, DECODER, set())
    assert made == {"a": None, "b": [True, False, None]}
    long, nested = "{'errors': [], 'explanation': '%s'}", "{'errors': " + "[" * 200_000
    for text, reason in (
        *((nested, "bad-json"), (nested + "]" * 200_000 + "}", "too-deep")),
        ("{'errors': [], 'explanation': NaN}", "not-finite"),
        ("{'errors': [], 'errors': [], 'explanation': ''}", "wrong-schema"),
        *((long % "\\ud800", "bad-text"), (long % ("a'b" * lenient_json.LONGEST), "bad-json")),
    ):
        assert report.read(text).reason == reason
    assert report.read(long % ("a" * (lenient_json.LONGEST // 2))).explanation


# Short answers

ABCD, TRUTH = ("A", "B", "C", "D"), ("T", "F")
DISHES = ("Sushi", "Moussaka", "Vitamin C", "A pie")


@pytest.mark.parametrize(("said", "answer", "recovered"), table(__file__, "an_answer_of_macaron_in_any_form"))
def test_an_answer_of_macaron_in_any_form(said, answer, recovered):
    assert macaron.read_text(said, ABCD, DISHES) == (None if answer is None else (answer, tuple(recovered)))


@pytest.mark.parametrize(("said", "answer"), table(__file__, "an_answer_to_a_statement_in_any_form"))
def test_an_answer_to_a_statement_in_any_form(said, answer):
    assert (macaron.read_text(said, TRUTH) or (None,))[0] == answer


def test_an_answer_without_json_must_not_be_cut():
    assert macaron.read_completion(complete("[THINK]A?[/THINK]B"), ABCD).answer == "B"
    assert macaron.read_completion(complete("The answer is B", "length"), ABCD).failure == "truncated"
    assert macaron.read_completion(complete('{"answer": "B"} so', "length"), ABCD).answer == "B"
    assert macaron.read_completion(complete("B. Sushi"), ABCD, DISHES).failure == "no-answer-line"
    assert macaron.read_text("{" * 5000, ABCD, DISHES) is None
    assert set(macaron.RECOVERED) >= {"no-json", "quotes", "prose"}


USUAL_FORMS = table(__file__, "USUAL_FORMS")
RATED = {name: {"rationale": "So it is.", "score": 4} for name in (*manual.DIMENSIONS, "overall")}
RATED |= {"findings": {name: known[0] for name, known in manual.FINDINGS.items()}}
RATED |= {"edge_case": "", "flags": [], "confidence": 3}
RESPONSE = Response("1", "Name a Greek dish.", "Moussaka.")
SENTENCE = candidates.Sentence("1", "他在坐月子。", {})
READERS = {  # of JSON: what a model is to say, and how it is read
    "Macaron": ({"answer": "B"}, lambda said: macaron.read_completion(said, ABCD).answer),
    "a statement": ({"answer": "T"}, lambda said: macaron.read_completion(said, TRUTH).answer),
    "proofreading": ({"has_errors": True, "corrected": "It is.", "explanation": "Grammar."}, proofread.read),
    "ACRE": ({acre.VALIDATOR.key: True, "rationale": "so"}, lambda said: acre.read(acre.VALIDATOR, said).value),
    "candidates": ({"expressions": ["坐月子"]}, lambda said: candidates.parse(SENTENCE, said).rows),
    "claims": ({"claims": ["It is Greek.", "b"]}, lambda said: read_claims(calmqa.read_text(said).text)),
    "the rubric": (RATED, lambda said: rubric.read(said, RESPONSE, manual.load(), "m").scores),
    "reports": (json.loads(STRICT), lambda said: getattr(report.read(said.text), "errors", None)),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_json_reads_the_usual_forms(name):
    """Whether it is a short answer or a long one: no reader has a grammar of its own."""
    asked_for, read = READERS[name]
    strict = json.dumps(asked_for, ensure_ascii=False)
    written = {
        **{"strict": strict, "lines": json.dumps(asked_for, ensure_ascii=False, indent=2), "python": repr(asked_for)},
        **{"curly": strict.replace('"', "”"), "comma": f"{strict[:-1]},}}", "string": json.dumps(strict)},
    }
    expected = read(complete(strict))
    assert expected
    readings = {form: read(complete(shape.format(**written))) for form, shape in USUAL_FORMS.items()}
    assert readings == dict.fromkeys(USUAL_FORMS, expected)


@pytest.mark.parametrize("name", READERS)
def test_no_reader_searches_the_reasoning_that_a_server_separated(name):
    """Marks of reasoning, drafts and halves of them in it change nothing; in one text with the answer, they might."""
    asked_for, read = READERS[name]
    answer = complete(json.dumps(asked_for, ensure_ascii=False))
    draw = Random(1)
    pieces = ("</think>", "<think>", '"', "\n", '{"errors": [...', CLEAN, '{"answer": "A"}', "[/THINK]", "analysis", "assistantfinal")  # fmt: skip
    for _ in range(200 if name != "the rubric" else 20):
        reasoning = "".join(draw.choices(pieces, k=5))
        said = replace(answer, reasoning=reasoning)
        if name == "reports":
            assert report.verdict(said, "", "Feijoada").report.errors, reasoning
        else:
            assert read(said) == read(answer), reasoning


def test_reasoning_that_a_server_separated_is_kept_with_the_answer():
    whole = replace(complete("B"), reasoning=" A?\n")
    assert reasoning_and_answer(whole) == ("A?", "B")
    assert reasoning_and_answer(replace(whole, text="<think>Or C?</think>B")) == ("A?\nOr C?", "B")
    assert reasoning_and_answer(replace(whole, text="", finish="length")) == ("A?", None)
    assert reasoning_and_answer(replace(whole, text="")) == ("A?", "")
    assert answer_from_row(json.loads(json.dumps(answer_to_row(whole)))) == whole
    assert "reasoning" not in answer_to_row(complete("B"))
    assert macaron.read_completion(replace(whole, text="", finish="length"), ABCD).failure == "in-thought"
    assert macaron.read_completion(replace(whole, text=""), ABCD).failure == "empty"


def test_objects_that_differ_are_no_answer():
    assert only_object('{"a": "b"} or {"a": "b"}', DECODER, set()) == {"a": "b"}
    with pytest.raises(Rejected, match="two-objects"):
        only_object('{"a": "b"} or {"a": "c"}', DECODER, set())
    two = '{"has_errors": true, "corrected": "x"} or {"has_errors": false, "corrected": ""}'
    assert proofread.read(complete(two)) is None


def test_the_known_fields_of_an_object_and_the_others():
    ignored = set()
    assert fields({"A ": 1, "b": None}, ("a",), ignored) == ({"a": 1}, {"b": None})
    assert ignored == {"case", "extra-key"}
    for value in ({"a": 1, "A": 2}, {"a": 1, "b": []}, {"a": 1, "b": True}, ["a"]):
        with pytest.raises(Rejected, match="wrong-schema"):
            fields(value, ("a",), set())


@pytest.mark.parametrize(
    ("read", "said", "expected"),
    [
        (count.read, "COUNT: 2 (both of the drinks)", (2, -2)),
        (count.read, "COUNT: ๓", (3, -3)),
        (count.read, "COUNT: 2 (or so)", "bad-count"),
        (count.read, "COUNT: 2 of 5", "bad-count"),
        (count.read, "COUNT: 2 because it is not 3", "bad-count"),
        (severity.read, "Severity: critical error.", (1, -25)),
        (severity.read, "Severity: minor (but it could be major)", "bad-severity"),
        (binary.read, "Problem: no\u2009 problem", (0, 0)),
        (binary.read, "Problem:\ufeff very problematic because of the tea", (1, -5)),
        (binary.read, "Problem: no problem because it is fine, unless read otherwise", "bad-problem-line"),
    ],
)
def test_the_line_of_a_baseline_in_any_form(read, said, expected):
    assert read(said) == expected


def test_the_codes_of_what_was_overlooked_are_documented():
    api, page = ((Path(__file__).parents[2] / f"docs/{name}.md").read_text("utf-8") for name in ("api", "macaron"))
    section = api.split("### What `recovered` says")[1].split("\n### ")[0]
    assert [code for code in report.RECOVERED if f"`{code}`" not in section] == []
    assert [code for code in {*macaron.RECOVERED} - {*report.RECOVERED} if f"`{code}`" not in page] == []
