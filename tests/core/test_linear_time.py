"""Patterns that read texts of others take time in proportion to their length, whatever repeats in them."""

import json
import time
from contextlib import suppress
from itertools import product

import pytest

from excam.acre import asks as acre_asks
from excam.annotation import wording
from excam.calmqa import asks
from excam.core import plain_text
from excam.core.spreadsheets import guard_cell
from excam.error_reports import read as read_report
from excam.error_reports.judges import binary, count, report, severity
from excam.error_reports.records import CulturalError, Report
from excam.excam40k.construction import generator
from excam.inference import Completion, answer_text, control_tokens, json_answers
from excam.inference.backends import _openai_bodies
from excam.knowledge import prose
from excam.macaron import asks as macaron_asks
from excam.macaron import proofread
from excam.pages import markdown
from excam.rubric import asks as rubric_asks
from excam.rubric import manual
from excam.rubric.responses import Response
from excam.scoring import joining

pytestmark = pytest.mark.variants
LENGTH = 50_000
HOSTILE = {
    "line breaks before a label": (lambda text: asks.read_line(f"{text}VERDICT", "VERDICT", ("yes", "no")), "\n"),
    "colons behind a label": (lambda text: asks.read_line(f"VERDICT{text}x", "VERDICT", ("yes", "no")), ":"),
    "open quotation marks": (lambda text: proofread.guard("a", f"a {text}"), "“"),
    "an edit of another length": (lambda text: proofread.guard("a" * 500, f"{'a' * 500}{text}"), "."),
    "brackets": (markdown.remove_page_links, "["),
    "links without an end": (markdown.remove_page_links, "[](x"),
    "question marks": (lambda text: wording.sentences(f"{text}x"), "?"),
    "digits of a cell": (lambda text: guard_cell(f"{text}x"), "1"),
    **{f"markup {sign}": (plain_text.plain_text, sign) for sign in ("[", "[a](", "$a", "*", "<a ", "&", "~", "`")},
    "letters without a hyphen": (lambda text: prose.read_plain(text, ""), "a"),
    "letters before a hyphen": (lambda text: prose.read_plain(text, ""), "a-"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_takes_linear_time(name):
    read, repeated = HOSTILE[name]
    began = time.process_time()
    read(repeated * (LENGTH // len(repeated)))
    assert time.process_time() - began < 2, "a quadratic pattern takes a minute"


# --- what reads answers of models and servers, and ids: whatever one of these is repeated

RUBRIC = manual.load()
TASK = Response("task", "Name a Greek dish.", "Sushi.")
DECODER = json_answers.answer_decoder("key-twice", "not-finite")
LONG = 40_000


def completion(text):
    return Completion(text, None, None, "stop", 1, 1)


def json_objects(text):
    with suppress(json_answers.Rejected):
        list(json_answers.objects(text, DECODER, set()))


def spans(text):
    report.locate(Report((CulturalError("output", text[:5000] + "q", "major", "t"),), ""), "", text)


READERS = {
    "reasoning": answer_text.split_reasoning,
    "label": lambda text: answer_text.last_value("score", text),
    "remark": answer_text.without_remark,
    "JSON": json_objects,
    "report": read_report,
    "soft error": generator.read,
    "claims": asks.read_claims,
    "binary": binary.read,
    "count": count.read,
    "severity": severity.read,
    "rating": lambda text: rubric_asks.read(completion(text), TASK, RUBRIC, "model"),
    "agent": lambda text: acre_asks.read(acre_asks.VALIDATOR, completion(text)),
    "letter": lambda text: macaron_asks.read_text(text, ("A", "B")),
    "spans": spans,
    "control tokens": control_tokens.broken,
    "cut prompt": lambda text: _openai_bodies.is_prompt_cut(text, 3000),
    "problem of a server": lambda text: _openai_bodies.problem(json.dumps({"error": text}).encode()),
    "wait of a server": lambda text: _openai_bodies.retry_after(text, text),
    "id": joining.plain_id,
}
CLEAN = report.write(Report())
ANSWERS = ("reasoning", "JSON", "report", "soft error", "claims", "count", "rating", "agent", "letter")
REPEATED = (
    *("a", "0", "1", " ", "\n", " \n", "a ", "a-", ".", ":", ",", "(", "*", "`", "/", '"', "'", "“", "\\", '\\"'),
    *("{", "[", '{"a":', "{a: ", "{'b': 'c',},", "{},", "[],", "// a\n", "/* b */", "<think>", "</think>", "[/THINK]"),
    *('"</think>"\n', "<|im_end|>", "assistantfinal", "score:", "COUNT: 1\n", "COUNT: 1 (the ", "OUTPUT: {", CLEAN),
    *("OUTPUT: " + CLEAN, "Problem: no problem\n", "\u0301", "\u093e", "\u00a0", "\u200b", "\U0001f1e9"),
)
FRAMES = (  # before and after what is repeated
    *(("", "x"), ("{", "}"), ('{"errors": [', '], "explanation": ""}'), ('{"errors": [], "explanation": "', '"}')),
    *(("{'a': [", "]}"), ("{'a': '", "'}"), ("<think>", f"</think>{CLEAN}"), ("[THINK]", CLEAN), ("COUNT: 1 ", "")),
)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_linear_time(name):
    for repeated, (before, after) in product(REPEATED, FRAMES if name in ANSWERS else FRAMES[:1]):
        text = before + repeated * (LONG // len(repeated)) + after
        began = time.process_time()
        READERS[name](text)
        assert time.process_time() - began < 2, (before, repeated)
