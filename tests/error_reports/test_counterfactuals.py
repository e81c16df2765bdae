"""Flagged words put right and judged again: worked out by hand, on edited texts of many scripts, through the scripts."""

import csv
import json
import random
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from base_samples import base, wrapped

from excam.core import tables
from excam.core.exceptions import InputInvalid
from excam.error_reports import record_files
from excam.error_reports.judges import report as judge
from excam.error_reports.records import CulturalError, Report, Sample, Verdict
from excam.excam40k import counterfactual_check, counterfactuals
from excam.excam40k.construction import alignment, hard, spans
from excam.inference import Sampling, fake
from excam.inference.journal import Journal, ask
from excam.inference.transcript import record, write
from scripts.counterfactuals import make_counterfactuals, table_counterfactuals

TEXTS = (
    "In Peru, guests greet everyone; they bring sweets, and they never (ever) arrive early.",
    "中国人过春节的时候一家人常常在一起吃饺子，看晚会，也给孩子发红包。",
    "日本では、正月に家族で神社へ初詣に行き、お雑煮を食べる習慣があります。",
    "คนไทยนิยมไหว้ทักทายกันในชีวิตประจำวันและให้ความเคารพผู้ใหญ่เสมอ",
    "दिवाली में लोग दीये जलाते हैं और मिठाई बाँटते हैं, नये कपड़े पहनते हैं।",
    "يأكل الناس التمر في رمضان؛ ثم يصلّون المغرب مع العائلة.",
    "Cafe\u0301 “ouvert” — l’été, on y boit du thé à la menthe…",
)


def right_row(text: str, pair: str = "normad/1/minor", instruction: str = "Tell me.") -> Sample:
    (sample, *_) = wrapped([base(1, "normad", options=(), wrong=())], "soft")
    return replace(sample, id=f"{pair}/right", pair=pair, instruction=instruction, output=text, group=f"g-{pair}")


def wrong_row(right: Sample, text: str, instruction: str | None = None, mode: spans.Mode = "strict") -> Sample:
    """The corrupted row as `soft_error` marks it."""
    said = right.instruction if instruction is None else instruction
    errors = tuple(
        CulturalError(where, one.text, "minor", "t", one.start, one.end)
        for where, old, new in (("instruction", right.instruction, said), ("output", right.output, text))
        for one in spans.diff_spans(old, new, mode).spans
    )
    changes = {"instruction": said, "output": text, "origin": "soft-minor", "report": Report(errors, "because")}
    return replace(right, id=f"{right.pair}/wrong", **changes)


def undone(right: Sample, wrong: Sample, *chosen: int, mode: spans.Mode = "strict") -> alignment.Undone:
    found = alignment.edits(right, wrong, mode)
    assert not isinstance(found, alignment.Unaligned), found
    return alignment.undo(right, wrong, found, chosen)


# --- what undoes an error


@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize(
    ("before", "after", "each"),
    [
        ("eat rice daily.", "eat bread daily.", ["eat rice daily."]),
        ("you avoid gifts", "you must not avoid gifts", ["you avoid gifts"]),  # an insertion: its space goes too
        ("never eat, drink or talk.", "eat or talk.", ["never eat or talk.", "eat, drink or talk."]),  # deletions
        ("wash your hands first", "hands", ["wash your hands", "hands first"]),
        ("tea at ten", "milk at two", ["tea at two", "milk at ten"]),
        ("“Tea”, he said", '"Milk" he said', ["“Tea”, he said"]),  # what is set around a word goes with it
    ],
)
def test_each_error_is_undone_alone(before, after, each, mode):
    right = right_row(before)
    wrong = wrong_row(right, after, mode=mode)
    assert len(wrong.report.errors) == len(each)
    assert [undone(right, wrong, index, mode=mode).texts["output"] for index in range(len(each))] == each
    assert undone(right, wrong, *range(len(each)), mode=mode).texts["output"] == before


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("を食べる習慣があります", "を食べべる習慣があります", "べ"),
        ("วิตประจำ", "วิตวะะจำ", "ประ"),
        ("ว้ทักทาย", "ว้ทักท", "ทาย"),
    ],
)
def test_a_difference_may_begin_and_end_within_a_word_of_the_right_twin(before, after, words):
    """ICU divides the clause in another way beside an edit; strict spans mark only what differs."""
    right = right_row(before)
    found = undone(right, wrong_row(right, after), 0)
    assert found.texts["output"] == before
    assert found.restored[0].span == words


def test_undone_words_and_the_errors_left_are_where_they_stand():
    right = right_row("tea at ten with cakes", instruction="Who comes?")
    wrong = wrong_row(right, "cold milk at two with old cakes", instruction="Who never comes?")
    found = undone(right, wrong, 1, 3)
    assert found.texts == {"instruction": "Who never comes?", "output": "tea at two with cakes"}
    assert [(e.where, e.span, e.start, e.end) for e in found.restored] == [
        ("output", "tea", 0, 3),
        ("output", "with", 11, 15),  # "old" was inserted: the span would be empty, so the word before it is marked
    ]
    assert [(e.where, e.span, e.start, e.end) for e in found.left] == [
        ("instruction", "never", 4, 9),
        ("output", "two", 7, 10),
    ]


def edited(text: str, rng: random.Random) -> str:
    """One to three words deleted, inserted or replaced."""
    for _ in range(rng.randint(1, 3)):
        words = spans.tokens(text, "strict")
        if not words:
            return text
        first = rng.randrange(len(words))
        start, end, other = words[first].start, words[min(len(words) - 1, first + 1)].end, rng.choice(words).text
        text = rng.choice(
            [text[:start] + text[end:], f"{text[:start]}{other} {text[start:]}", text[:start] + other + text[end:]]
        )
    return text  # fmt: skip


@pytest.mark.parametrize("mode", ["strict", "paper"])
@pytest.mark.parametrize("text", TEXTS)
def test_edited_texts_of_any_script_come_back(text, mode):
    rng, seen = random.Random(3), Counter()
    right = right_row(text)
    for _ in range(40):
        wrong = wrong_row(right, edited(text, rng), mode=mode)
        count = len(wrong.report.errors)
        if not count:
            continue
        whole = undone(right, wrong, *range(count), mode=mode).texts["output"]
        assert not spans.diff_spans(text, whole, mode).count
        seen[whole == text] += 1
        for index in range(count):
            found = undone(right, wrong, index, mode=mode)
            now = found.texts["output"]
            assert spans.diff_spans(text, now, mode).count == count - 1, "one error less, no other"
            assert all(now[e.start : e.end] == e.span for e in (*found.restored, *found.left))
    assert seen[True] > 3 * seen[False], "only a moved space or comma may be left"


def test_hard_errors_come_back_with_the_letter_of_their_option():
    right = wrapped([base(number) for number in range(30)])
    wrong, _ = hard.hard_errors(right, {f"blend/{number}": base(number) for number in range(30)}, 7)
    by_pair = {row.pair: row for row in right}
    letters = 0
    for row in wrong:
        twin = by_pair[row.pair]
        (error,) = row.report.errors
        letters += row.output[: error.start] != twin.output[: error.start]
        found = undone(twin, row, 0)
        assert (found.texts["instruction"], found.texts["output"]) == (twin.instruction, twin.output)
        (place,) = found.restored
        assert found.texts["output"][place.start : place.end] == place.span == "tea"
    assert letters


def test_what_cannot_be_aligned_says_why():
    right = right_row("eat rice daily")
    wrong = wrong_row(right, "eat bread daily")
    moved = replace(wrong, report=Report((replace(wrong.report.errors[0], start=0, end=3, span="eat"),)))
    assert alignment.edits(right, moved, "strict") == alignment.Unaligned("other-spans")
    (hard_one,), _ = hard.hard_errors(wrapped([base()])[:1], {"blend/0": base()}, 7)
    other = replace(hard_one, id="x/right", report=Report(), output=hard_one.output + " indeed")
    assert alignment.edits(other, hard_one, "strict") == alignment.Unaligned("other-spans")
    # ICU divides both clauses differently, within a word that holds an invisible character
    right = right_row("วัน\u2060และให้\u2060ความเคารพ")
    within = alignment.edits(right, wrong_row(right, "วันและกชห้ความเคารพ"), "strict")
    assert within == alignment.Unaligned("inside-a-word")


# --- rows and their outcomes


def flag(row: Sample, *words: str) -> Report:
    """A report that names these words of the output; words it does not have are nowhere."""
    return judge.locate(
        Report(tuple(CulturalError("output", word, "major", "t") for word in words), "e"), "", row.output
    )


PAIRS = {  # pair: right text, wrong text, what is reported of the wrong row and of the right one (None: unreadable)
    "all": ("tea at ten", "cold milk at ten", ("milk",), ("tea",)),
    "all-clear": ("tea at six", "wine at six", ("wine", "six"), ()),
    "some": ("tea at ten with cakes", "milk at two with cakes", ("milk",), ()),
    "elsewhere": ("rice at noon", "bread at noon", ("noon", "nowhere"), ()),
    "missed": ("bow first", "wave first", (), ()),
    "unreadable": ("sit down", "stand down", None, None),
    "orphan": ("left", "right hand", ("right",), ()),
    "moved": ("a b c", "x b c", ("c",), ("c",)),
}


@pytest.fixture
def files(tmp_path):
    """Judgements and gold rows of PAIRS in two datasets, as the workflow lays them."""
    rows, verdicts = [], []
    for pair, (right_text, wrong_text, of_wrong, of_right) in PAIRS.items():
        right = replace(right_row(right_text, f"normad/{pair}"), dataset="mango" if pair == "missed" else "normad")
        wrong = wrong_row(right, wrong_text)
        if pair == "moved":  # gold spans that another tool made
            wrong = replace(wrong, report=Report((replace(wrong.report.errors[0], start=4, end=5, span="c"),)))
        for row, words in ((right, of_right), (wrong, of_wrong)):
            if (row.id, pair) != (f"{row.pair}/right", "orphan"):
                rows.append(row)
                report = None if words is None else flag(row, *words)
                verdicts.append(verdict(report))
    record_files.write_samples(tmp_path / "gold.parquet", rows)
    record_files.write_judgements(tmp_path / "judged.parquet", rows, verdicts)
    return tmp_path


def verdict(report: Report | None) -> Verdict:
    if report is None:
        return Verdict(None, None, failure="no-json")
    return Verdict(len(report.errors), -5.0 * len(report.errors), report=report)


def made_by_the_script(folder: Path) -> Path:
    place = folder / "results/counterfactuals/m/all/report/all"
    place.mkdir(parents=True, exist_ok=True)
    make_counterfactuals(
        [
            *("--judgements", str(folder / "judged.parquet"), "--samples", str(folder / "gold.parquet")),
            *("--spans", "strict", "--counterfactuals", str(place / "test.parquet")),
            *("--rows", str(place / "test.rows.parquet"), "--counts", str(place / "test.counts.json")),
        ]
    )
    return place


def test_every_judged_row_has_one_outcome(files):
    place = made_by_the_script(files)
    counts = json.loads((place / "test.counts.json").read_text())
    assert counts["rows"] == 15
    assert counts["outcomes"] == {
        **{"not-erroneous": 7, "unreadable": 1, "no-error-reported": 1, "flagged-elsewhere": 1, "not-aligned": 2},
        **{"all-undone": 2, "some-undone": 1},
    }
    reasons = {"no-right-twin": 1, "other-spans": 1, "inside-a-word": 0, "texts-differ": 0}
    assert counts["not_aligned"] == reasons
    assert {name: part["rows"] for name, part in counts["by_dataset"].items()} == {"mango": 2, "normad": 13}
    rows = {
        row["pair"]: row
        for row in tables.read_frame(place / "test.rows.parquet").iter_rows(named=True)
        if row["score"] != 0
    }
    assert (rows["normad/all-clear"]["elsewhere"], rows["normad/elsewhere"]["elsewhere"]) == (1, 2)
    assert rows["normad/unreadable"]["said_of_twin"] == "unreadable"
    assert rows["normad/orphan"]["said_of_twin"] is None


def test_the_rows_to_judge_differ_only_where_words_were_flagged(files):
    made = made_by_the_script(files) / "test.parquet"
    samples = {sample.id: sample for sample in record_files.read_samples(made)}
    assert {id: sample.output for id, sample in samples.items()} == {
        "normad/all/restored": "tea at ten",
        "normad/all-clear/restored": "tea at six",
        "normad/some/restored": "tea at two with cakes",
        "normad/some/sham": "milk at ten with cakes",
    }
    assert [e.span for e in samples["normad/some/restored"].report.errors] == ["two"]
    assert [e.span for e in samples["normad/some/sham"].report.errors] == ["milk"]
    assert samples["normad/all/restored"].score == 0


def test_same_rows_same_bytes(files):
    place = made_by_the_script(files)
    before = [path.read_bytes() for path in sorted(place.iterdir())]
    assert before == [path.read_bytes() for path in sorted(made_by_the_script(files).iterdir())]


# --- what the verdicts say


def checked(files: Path, said: dict[str, Report | None]) -> dict:
    place = made_by_the_script(files)
    made = tables.read_frame(place / "test.parquet")
    verdicts = [verdict(said[id]) for id in made["id"]]
    rows = counterfactual_check.rows(tables.read_frame(place / "test.rows.parquet"), made, verdicts)
    return counterfactual_check.evaluate(rows, seed=1)


def numbers(found: dict) -> dict[str, tuple]:
    return {name: (part["value"], part["n"]) for name, part in found.items()}


def test_numbers_by_hand(files):
    texts = {sample.id: sample for sample in record_files.read_samples(made_by_the_script(files) / "test.parquet")}
    some, sham = texts["normad/some/restored"], texts["normad/some/sham"]
    found = checked(
        files,
        {
            "normad/all/restored": flag(texts["normad/all/restored"], "tea"),
            "normad/all-clear/restored": Report(),
            "normad/some/restored": Report(),
            "normad/some/sham": flag(sham, "milk"),
        },
    )
    assert numbers(found["all_undone"]) == {
        **{"turned": (0.5, 2), "error": (0.5, 2), "unreadable": (0, 2), "at_place": (0.5, 2)},
        **{"turned_nothing_elsewhere": (0, 1), "as_the_twin": (1, 2)},
    }
    # right twins: of all, all-clear, some, elsewhere, missed, unreadable, moved; clear are the second to the fifth
    assert numbers(found["twins"]) == {"all": (4 / 7, 7), "missed": (1, 1), "flagged_elsewhere": (1, 1)}
    assert numbers({"more": found["turned_more"]}) == {"more": (-0.5, 3)}
    parts = found["some_undone"]
    clear = {"rises": (1, 1), "gone": (1, 1), "at_place": (0, 1), "turned": (1, 1), "unreadable": (0, 1)}
    assert numbers(parts["restored"]) == clear
    assert numbers(parts["sham"]) == {**clear, "rises": (0, 1), "gone": (0, 1), "at_place": (1, 1), "turned": (0, 1)}
    assert (parts["more_rise"]["value"], parts["more_gone"]["value"]) == (1, 1)
    assert found["by_dataset"]["mango"]["all_undone"]["turned"]["value"] is None
    assert some.report.errors


def test_an_unreadable_answer_is_a_third_outcome(files):
    names = tables.read_frame(made_by_the_script(files) / "test.parquet")["id"]
    found = checked(files, dict.fromkeys(names))
    part = numbers(found["all_undone"])
    assert (part["turned"], part["error"], part["unreadable"], part["at_place"]) == ((0, 2), (0, 2), (1, 2), (0, 2))
    restored = numbers(found["some_undone"]["restored"])
    assert (restored["rises"], restored["gone"], restored["unreadable"]) == ((0, 1), (0, 1), (1, 1))


def test_a_judge_that_turns_whatever_is_undone_gains_nothing_over_the_sham(files):
    names = tables.read_frame(made_by_the_script(files) / "test.parquet")["id"]
    part = checked(files, dict.fromkeys(names, Report()))["some_undone"]
    assert numbers(part["restored"]) == numbers(part["sham"])
    assert (part["more_rise"]["value"], part["more_gone"]["value"]) == (0, 0)


def test_counterfactuals_of_other_rows_are_refused(files):
    place = made_by_the_script(files)
    rows, made = (tables.read_frame(place / f"test{end}.parquet") for end in (".rows", ""))
    right = [verdict(Report())] * made.height
    for other, verdicts in ((made.tail(2), right[:2]), (made.with_columns(made_from=pl.lit("x")), right)):
        with pytest.raises(InputInvalid, match="make the counterfactuals again"):
            counterfactual_check.rows(rows, other, verdicts)
    with pytest.raises(InputInvalid, match="was not judged"):
        counterfactual_check.rows(rows.filter(pl.col("pair") != "normad/some"), made, right)


# --- asking


def test_what_is_the_right_twin_is_not_asked_again(files):
    place = made_by_the_script(files)
    backend = fake.Backend(lambda _: judge.write(Report()))
    asking = partial(ask, backend, Sampling(max_tokens=64), Journal(files / "journal.jsonl"))
    record(judge.judge, record_files.read_samples(files / "gold.parquet"), asking)
    before = len(backend.asked)
    _, entries = record(judge.judge, record_files.read_samples(place / "test.parquet"), asking)
    assert len(backend.asked) - before == 2, "only the two rows in which errors are left"
    write(place / "test.jsonl", entries)
    table_counterfactuals(
        [
            *("--counterfactuals", str(place / "test.parquet"), "--rows", str(place / "test.rows.parquet")),
            *("--transcripts", str(place / "test.jsonl"), "--seed", "1"),
            *("--numbers", str(files / "numbers.csv"), "--page", str(files / "page.md")),
        ]
    )
    with (files / "numbers.csv").open() as stream:
        lines = {line["measure"]: line for line in csv.DictReader(stream) if line["dataset"] == "all"}
    assert sum(int(lines[name]["value"]) for name in counterfactuals.OUTCOMES) == 15
    assert (lines["all_undone.turned"]["value"], lines["all_undone.turned"]["n"]) == ("1.0", "2")
    assert lines["all_undone.turned"]["model"] == "m"
    page = (files / "page.md").read_text()
    assert "| m/all/report, all | 15 | 7 | 1 | 1 | 1 | 2 | 2 | 1 | 0 |" in page
    assert "–" in page
