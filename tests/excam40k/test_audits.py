"""The audits: every check must be able to fail, so every one is shown a data set with the fault it looks for."""

import json
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from base_samples import base
from build_excam40k import script

from excam.core import tables
from excam.core.exceptions import AuditFailed
from excam.core.licences import Term, terms
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.error_reports.records import BaseSample, to_row
from excam.excam40k.audits import balance, checks, inventory, leaks, licences, page, shortcuts, verdict, views
from excam.excam40k.construction import duplicates, templates, wrapping
from excam.excam40k.construction.hard import hard_errors

ROOT = Path(__file__).parents[2]
SEED = 7
OPTIONS = ("tea with milk", "cola", "water", "mate")


def bases(count: int, dataset: str = "blend") -> list[BaseSample]:
    """Questions with options; which option is right, and which is drawn as wrong, goes around."""
    return [
        base(
            number,
            dataset,
            question=f"What is drunk on day {number}?",
            stratum=f"s{number % 3}",
            options=OPTIONS,
            answer=OPTIONS[number % 4],
            wrong=tuple(option for option in OPTIONS if option != OPTIONS[number % 4]),
        )
        for number in range(count)
    ]


@cache
def rows(count: int = 300, dataset: str = "blend") -> pl.DataFrame:
    """Rows as they are built, 70/10/20, with test-100 inside test."""
    made = bases(count, dataset)
    where = {base.id: ("train",) * 7 + ("dev",) + ("test",) * 2 for base in made}
    splits = {id: parts[number % 10] for number, (id, parts) in enumerate(where.items())}
    right = wrapping.right_samples(made, "hard", "CC-BY-SA-4.0", SEED, splits)
    wrong, _ = hard_errors(right, {base.id: base for base in made}, SEED)
    frame = pl.DataFrame([to_row(s) for s in [*right, *wrong]], schema=record_files.SAMPLE_SCHEMA, orient="row")
    frame = frame.with_columns(part=pl.col("split")).sort("pair", maintain_order=True)
    subset = frame.filter(pl.col("part") == "test").head(8).with_columns(part=pl.lit("test-100"))
    return pl.concat([frame, subset])


def two() -> pl.DataFrame:
    return pl.concat([rows(), rows(40, "normad")])


def asked() -> pl.DataFrame:
    return OF_BASES.select("base", question="asked")


def near(*pairs: tuple[str, str]) -> pl.DataFrame:
    lines = [(a.split("/")[0], a, "", b.split("/")[0], b, "", 0.9, False, "", "") for a, b in pairs]
    return pl.DataFrame(lines, schema=duplicates.COLUMNS, orient="row")


def failed(audit: checks.Audit) -> set[tuple[str, str]]:
    return {(check.check, check.dataset) for check in audit.checks if check.failed}


def with_values(frame: pl.DataFrame, where: pl.Expr, **values) -> pl.DataFrame:
    """The frame with other values in the rows that `where` names."""
    new = {name: value if isinstance(value, pl.Expr) else pl.lit(value) for name, value in values.items()}
    return frame.with_columns(pl.when(where).then(value).otherwise(name).alias(name) for name, value in new.items())


# --- leaks


def train_of(frame: pl.DataFrame, *datasets: str) -> pl.DataFrame:
    return frame.filter(pl.col("part") == "train", pl.col("dataset").is_in(datasets))


def mixtures(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {"all": train_of(frame, "blend", "normad"), "without-blend": train_of(frame, "normad")}


def test_a_built_data_set_has_no_leaks():
    audit = leaks.audit(two(), asked(), near(), mixtures(two()))
    assert failed(audit) == set()
    proof = audit.tables["Left-out datasets, by hash"].row(0, named=True)
    texts = train_of(two(), "normad").height, two().filter(dataset="blend", part="test-100").height
    assert (proof["mixture"], proof["shared"], proof["hashes"]) == ("without-blend", 0, texts[0])
    assert proof["hashes_left_out"] == two().filter(dataset="blend").height - texts[1]


ID_0 = pl.col("pair") == "blend/0/options"  # in train
TEST = pl.col("part") == "test"


WRONG_0 = pl.col("id") == "blend/0/options/wrong"
OF_TWO_SPLITS = pl.col("id").is_in(["blend/0/options/right", "blend/8/options/right"])


@pytest.mark.parametrize(
    ("where", "values", "wanted"),
    [
        (ID_0, {"part": "test", "split": "test"}, {"bases in two splits", "groups in two splits"}),
        (TEST & (pl.col("dataset") == "blend"), {"group": "blend/0"}, {"groups in two splits"}),
        (WRONG_0, {"part": "dev"}, {"pairs in two splits"}),
        (WRONG_0, {"split": "dev"}, {"rows whose split is not that of their file"}),
        (pl.col("id") == "blend/1/options/wrong", {"part": "test-100"}, {"rows of test-100 that are not in test"}),
        (OF_TWO_SPLITS, {"instruction": "a", "output": "b"}, {"equal texts in two splits"}),
    ],
)
def test_a_text_in_two_splits_is_found(where, values, wanted):
    audit = leaks.audit(with_values(two(), where, **values), asked(), near(), {})
    assert {(check, "blend") for check in wanted} <= failed(audit)


def test_one_question_in_two_splits_and_rows_from_nowhere():
    """Whatever the list of near-duplicates says."""
    same = with_values(asked(), pl.col("base") == "blend/8", question="What is  drunk\non day 0?".upper())
    audit = leaks.audit(two(), same, near(), {})
    assert failed(audit) == {("equal questions in two splits", "blend")}
    lacking = leaks.audit(two(), asked().filter(pl.col("base") != "normad/1"), near(), {})
    assert failed(lacking) == {("rows without their base sample", "normad")}


def test_near_duplicates_in_two_splits():
    alike = near(("blend/0", "blend/8"), ("blend/0", "blend/1"), ("blend/0", "blend/gone"))
    audit = leaks.audit(two(), asked(), alike, {})
    assert failed(audit) == {("near-duplicate questions in two splits", "blend")}
    (check,) = (check for check in audit.checks if check.failed)
    assert check.found == "1: blend/0 ~ blend/8"


@pytest.mark.parametrize("pair", [("blend/0", "normad/9"), ("normad/9", "blend/0"), ("normad/7", "blend/0")])
def test_a_training_row_that_is_nearly_judged_elsewhere_is_in_no_mixture(pair):
    whole = mixtures(two())
    audit = leaks.audit(two(), asked(), near(pair), whole)
    assert failed(audit) == {("mixture all: near-duplicates of another dataset's dev or test", "all")}
    assert audit.tables["Near-duplicate questions across datasets, train against dev or test"]["pairs"].to_list() == [1]
    clean = {name: mixture.filter(pl.col("base") != "blend/0") for name, mixture in whole.items()}
    assert failed(leaks.audit(two(), asked(), near(pair), clean)) == set()


def test_a_left_out_row_under_another_name_is_found():
    stowaway = train_of(two(), "blend").head(1).with_columns(id=pl.lit("normad/x"), dataset=pl.lit("normad"))
    mixture = pl.concat([train_of(two(), "normad"), stowaway])
    assert failed(leaks.audit(two(), asked(), near(), {"without-blend": mixture})) == {
        ("mixture without-blend: holds nothing of blend", "without-blend"),
        ("mixture without-blend: rows that are no training rows", "without-blend"),
    }


def test_no_mixture_and_nothing_to_compare_are_no_proof():
    empty = leaks.audit(two(), asked(), near(), {"without-blend": two().clear()})
    assert ("mixture without-blend: holds nothing of blend", "without-blend") in failed(empty)
    unknown = leaks.audit(two(), asked(), near(), {"without-epic": train_of(two(), "normad")})
    assert ("mixture without-epic: holds nothing of epic", "without-epic") in failed(unknown)


def test_a_judged_text_in_a_mixture_is_found():
    mixture = pl.concat([train_of(two(), "normad"), two().filter(TEST, dataset="normad").head(2)])
    assert ("mixture all: texts that stand in a dev or test set", "all") in failed(
        leaks.audit(two(), asked(), near(), {"all": mixture})
    )


# --- shortcuts


def verdicts(frame: pl.DataFrame) -> dict[str, str]:
    audit = shortcuts.audit(frame)
    return {line["view"]: line["verdict"] for table in audit.tables.values() for line in table.iter_rows(named=True)}


WRONG = pl.col("origin") != "source"
SAME = shortcuts.SAME


def test_a_built_data_set_has_no_shortcut():
    audit = shortcuts.audit(rows())
    assert failed(audit) == set()
    must, reported = audit.tables.values()
    by_view = {line["view"]: line for line in must.iter_rows(named=True)}
    assert set(by_view) == {*shortcuts.AT_CHANCE, *shortcuts.IN_KNOWN_GROUPS}
    assert by_view["templates"]["how"] == by_view["lead-in"]["how"] == SAME
    assert (by_view["templates"]["scaled accuracy"], by_view["templates"]["n"]) == (0.0, 1200)
    assert by_view["option letter"]["n"] == 600, "rows without options name no letter"
    assert by_view["copied from the instruction"]["how"] == SAME, "an option stands there whole, an answer without not"
    assert reported["view"].to_list() == [*shortcuts.REPORTED, shortcuts.IN_ITS_GROUP[0]]
    assert audit.notes[0].startswith("An interval has a confidence of 95%; at chance: its high end is below 0.15.")
    assert "at a confidence of 99.50%: 95% for all 10 tests together" in audit.notes[0]
    assert "of 95.00%: 95% for all 0 tests" in shortcuts.audit(rows().clear()).notes[0]
    expected = {check.check: check.expected for check in audit.checks}
    assert expected.pop("at chance: words of the instruction") == "nothing, reported"
    for view in (shortcuts.IN_ITS_GROUP[0], "instruction with the answer"):
        assert expected.pop(f"at chance: {view}") == "nothing, reported"
    assert set(expected.values()) == {"an interval (95%) below 0.15"}


@pytest.mark.parametrize("view", ["words", "characters"])
def test_words_are_of_the_first_1500_characters(view):
    """What comes later has another length, and no words."""
    texts = [f"{'so ' * 500}{word}" for word in ("gut", "bad")], [f"{'so ' * 499}{word}" for word in ("gut", "bad")]
    for (right, wrong), told in zip(texts, (False, True), strict=True):
        frame = with_values(with_values(rows().head(200), WRONG, output=pl.lit(wrong)), ~WRONG, output=pl.lit(right))
        assert (verdicts(frame)[view] == "tells the label") == told


RULE = "On such a day people drink it before noon, and "
PLANTED = {
    "templates": {"templates": pl.col("templates").list.head(1).list.concat(pl.lit(["qa/output/07"]))},
    "lead-in": {"output": pl.concat_str(pl.lit("Well then, I must say that "), pl.col("output"))},
    "lengths": {"output": pl.concat_str(pl.col("output"), pl.lit(", as was said by my good old neighbour"))},
    "words": {"output": pl.concat_str(pl.col("output"), pl.lit(" which is forbidden"))},
    "characters": {"output": pl.concat_str(pl.col("output"), pl.lit(" un"), pl.col("base").str.slice(6), pl.lit("ly"))},
    "punctuation": {"output": pl.concat_str(pl.col("output"), pl.lit("!"))},
    "option letter": {"output": pl.col("output").str.replace(r"\b[A-D]\b", "A")},
    "copied from the instruction": {"output": pl.col("output").str.replace("before noon", "after noon")},
}


def with_rule(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with one rule in the instruction and again, word by word, in the answer."""
    head = pl.concat_str(pl.lit(RULE), pl.col("base"), pl.lit(". "))
    return frame.with_columns(
        instruction=pl.concat_str(head, "instruction"), output=pl.concat_str("output", pl.lit(" "), head)
    )


@pytest.mark.parametrize("view", PLANTED)
def test_a_planted_shortcut_of_each_kind_is_found(view):
    planted = with_values(with_rule(rows()) if "copied" in view else rows(), WRONG, **PLANTED[view])
    assert verdicts(planted)[view] == "tells the label"
    assert {check for check, _ in failed(shortcuts.audit(planted))} >= {f"at chance: {view}"}


def test_a_rule_given_twice_is_no_shortcut_where_both_rows_repeat_it():
    assert verdicts(with_rule(rows()))["copied from the instruction"] == "at chance"


def test_the_words_of_the_instruction_are_reported_and_cannot_fail():
    """On the page of all audits too."""
    telling = pl.concat_str(pl.col("instruction"), pl.lit(" wrongly"))
    audit = shortcuts.audit(with_values(rows(), WRONG, instruction=telling))
    assert audit.tables["Reported"]["scaled accuracy"].to_list()[0] == 1
    (told,) = (check for check in audit.checks if "words of the instruction" in check.check)
    assert told.outcome == "reported"
    shown = page.summary({"shortcuts": audit.checks})
    assert "- **shortcuts**: at chance: words of the instruction, blend: found 1.000" in shown.split("## Reported")[1]


def test_what_is_not_decidable_has_a_section_of_its_own():
    undecided = checks.Check("at chance: v", "d", "0.000 [-1.000, 1.000]", "an interval", "not decidable")
    assert page.verdict([undecided]) == "Passed: 0 of 1 checks; 1 not decidable"
    assert "at chance: v" in page.summary({"shortcuts": [undecided]}).split("## Not decidable")[1]


def test_shortcuts_say_the_same_twice_and_in_any_order():
    planted = with_values(rows(), WRONG & TEST, **PLANTED["lengths"])
    assert shortcuts.audit(planted).checks == shortcuts.audit(planted).checks


def test_the_copied_part_of_an_answer():
    """In runs of eight characters, whatever the case; of a shorter answer all of it."""
    frame = pl.DataFrame(
        {
            "instruction": ["Guests bring flowers. Do they?", "Guests bring flowers.", "Tea or cola?", "No."],
            "output": ["Answer: GUESTS bring wine", "Answer: ola", "Answer: cola", "It is no."],
            "templates": [["freeform/output/03"]] * 4,
        }
    )
    assert views.answers(frame) == ["GUESTS bring wine", "ola", "cola", "It is no."]
    shares, others = zip(*views.copied(frame), strict=True)
    assert shares == ("share copied 5", "share copied 0", "share copied 7", "share copied 0"), "13 of 17, 0, 4 of 4, 0"
    assert others == ("others 2", "others None", "others 0", "others None"), "4, -, 0, -"


def test_a_vowel_sign_is_part_of_a_word():
    """Neither punctuation, nor the end of a word: क is not in का."""
    texts = {"instruction": ["का", "का क"], "output": ["क", "क"]}
    frame = pl.DataFrame({**texts, "templates": [["freeform/output/03"]] * 2})
    assert [tokens[0] for tokens in views.copied(frame)] == ["share copied 0", "share copied 5"]
    marks = views.punctuation(pl.DataFrame({"output": ["समोसे खाते हैं।", "Ka\u0308se."]}))
    assert [[token for token in tokens if token.startswith("has")] for tokens in marks] == [["has ।"], ["has ."]]


def test_views_of_a_row():
    frame = pl.DataFrame(
        {
            "output": ["I choose option C, that is tea", "Tea it is, my friend", "Answer: option tea"],
            "templates": [["qa/output/07"], ["qa/output/07"], ["freeform/output/03"]],
            "instruction": ["Option A: x Option B: y", "Option B: x", "one two"],
        }
    )
    assert templates.paraphrase("qa/output/07") == "I choose option {letter}, that is {answer}"
    assert views.letter(frame) == [["C"], [], []]
    assert views.lead_in(frame) == [["I choose option {letter}, that is "], ["Tea it is, my friend"], ["Answer: "]]
    assert views.options_shown(frame) == [2, 0, 0]
    assert [tokens[1] for tokens in views.lengths(frame)] == [f"instruction words {n}" for n in (6, 3, 0)]


# --- balance

OF_BASES = pl.DataFrame(
    [(base.id, "", base.question, "|".join(base.options)) for base in [*bases(300), *bases(40, "normad")]],
    schema=list(balance.BASES),
    orient="row",
)
USED = "Uses of templates in pairs, the most uneven slot (p: least of chi-square tests)"
LOST = {"dropped": {}, "beyond_cap": 0}
SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}


def balanced(frame: pl.DataFrame, of_bases: pl.DataFrame = OF_BASES, **changes) -> checks.Audit:
    settings = {"dropped": {}, "shares": SHARES, "soft": {}} | changes
    return balance.audit(frame, of_bases, **settings)


def counts_of(generator: str) -> dict:
    return {"generators": [generator], "severity": {"minor": {"minor": 3, "major": 1}, "major": {}}}


def test_a_built_data_set_is_balanced():
    audit = balanced(rows())
    assert failed(audit) == set()
    assert audit.tables[USED].height == 3
    used = balance.template_uses(rows())
    assert (used["most"] - used["least"]).max() == 1
    assert used["templates"].to_list() == [50] * used.height
    assert set(used["slot"]) == {"qa/instruction", "qa/options", "qa/output", "freeform/instruction", "freeform/output"}
    assert audit.tables["Rows per stratum"].row(0) == ("blend", 3, 400, 400.0, 400, 1200)


def test_an_uneven_split_and_an_uneven_template_are_found():
    lacking = rows().filter(pl.col("id") != "blend/0/options/wrong")
    assert failed(balanced(lacking)) == {
        ("right and wrong rows in train", "blend"),
        ("templates used more in right or in wrong rows of a split", "blend"),
    }


def test_templates_used_unevenly_are_found():
    names = pl.lit(["qa/instruction/01", "qa/options/01", "qa/output/01"])
    uneven = with_values(rows(), (pl.col("task") == "qa") & (pl.col("part") == "dev"), templates=names)
    more, unequal = ("uses of a template, most minus least", "blend"), ("uses of the templates of a slot", "blend")
    assert failed(balanced(uneven)) == {more, unequal}
    assert failed(balanced(uneven, dropped={"blend": 29})) == {unequal}, "30 uses against none: 1, and 29 more lost"
    assert more in failed(balanced(uneven, dropped={"blend": 28}))
    soft = with_values(uneven, WRONG, origin="soft-minor")
    assert failed(balanced(soft, dropped={"blend": 200})) == {unequal}, "pairs were lost, and by template"
    used = balanced(soft).tables[USED].filter(part="dev").row(0, named=True)
    assert (used["slots"], used["pairs"], used["spread"]) == (5, 30, 30)
    assert used["p"] < 1e-6


def test_an_empty_split_is_found():
    """Also where nothing is left of a dataset."""
    without = two().filter(~((pl.col("part") == "dev") & (pl.col("dataset") == "normad")))
    assert ("no split is empty", "normad") not in failed(balanced(without)), "dev alone is reported"
    for part in ("train", "test"):
        lacking = two().filter(~((pl.col("part") == part) & (pl.col("dataset") == "normad")))
        assert ("no split is empty", "normad") in failed(balanced(lacking))
        assert ("no split is empty", "blend") not in failed(balanced(lacking))
    assert ("no split is empty", "epic") in failed(balanced(rows(), dropped={"epic": 3}))


def test_a_split_off_its_share_is_found():
    """Groups are of one base sample here: off by two at most, and by one more for each pair that was lost.

    How many rows a base sample has does not matter.
    """
    assert SHARES["dev"] * 300 == 30
    dev = rows().filter(pl.col("part") == "dev")["base"].unique(maintain_order=True)
    moved = (pl.col("base").is_in(dev[:count].to_list()) for count in (2, 3))
    tolerated, too_many = (with_values(rows(), where, part="train") for where in moved)

    def off(frame: pl.DataFrame, **changes) -> set[str]:
        return {check for check, _ in failed(balanced(frame, **changes)) if check.startswith("share of ")}

    assert off(tolerated) == set()
    assert off(rows().filter((pl.col("part") != "dev") | (pl.col("task") == "qa"))) == set()
    assert off(too_many) == {"share of train", "share of dev"}
    assert off(too_many, dropped={"blend": 1}) == set()
    assert off(with_values(too_many, pl.col("base").is_in(["blend/0", "blend/1"]), group="g")) == set()
    halves = dict(zip(SPLITS, (0.5, 0.25, 0.25), strict=True))
    assert off(rows(), shares=halves) == {"share of train", "share of dev", "share of test"}


def test_the_right_option_always_in_one_place_is_found():
    first = with_values(rows(), ~WRONG, **PLANTED["option letter"])
    assert failed(balanced(first)) == {("position of the right one of 4 options", "blend")}


def test_labels_are_counted_and_must_be_even():
    number = pl.col("base").str.extract(r"(\d+)$").cast(pl.Int64)
    labels = OF_BASES.with_columns(label=pl.when(number % 2 == 0).then(pl.lit("yes")).otherwise(pl.lit("no")))
    audit = balanced(rows(), labels)
    assert failed(audit) == set()
    counts = audit.tables["Labels of right answers"].rows()
    assert counts == [("blend", "no", 180, 60, 60, 300), ("blend", "yes", 240, 0, 60, 300)]
    more = with_values(labels, pl.col("base") == "blend/1", label="yes")
    assert failed(balanced(rows(), more)) == {("labels of right answers", "blend")}


TWICE = pl.col("pair").is_in(["blend/0/listed", "blend/1/listed"])
MARK = '[{"where": "instruction", "span": "eaten", "severity": "major", "type": "t", "start": 8, "end": 13}]'


def outcome(audit: checks.Audit, name: str) -> tuple[str, str]:
    (check,) = (check for check in audit.checks if (check.check, check.dataset) == (name, "blend"))
    return check.outcome, check.found


def test_an_edited_instruction_is_found():
    """A language model may edit it, as the paper asks it to, and the gold report marks that."""
    listing = "2 of 600: blend/0/listed, blend/1/listed"
    edited = with_values(rows(), WRONG & TWICE, instruction=pl.col("instruction").str.replace("drunk", "eaten"))
    marked = with_values(edited, WRONG & TWICE, errors=MARK)
    for frame, soft, expected in (
        (edited, {}, "failed"),
        (marked, {}, "failed"),
        (marked, {"blend": counts_of("lexicon")}, "failed"),
        (marked, {"blend": counts_of("a-model")}, "reported"),
        (edited, {"blend": counts_of("a-model")}, "failed"),
    ):
        assert outcome(balanced(frame, soft=soft), "pairs with two instructions") == (expected, listing)
    assert outcome(balanced(rows()), "pairs with two instructions") == ("passed", "0 of 600")


def test_an_answer_that_is_right_and_wrong_is_found():
    """In one pair; in two pairs of one question; where options are shown only among the same ones."""
    name = "answers that are right and wrong for one question"
    (right,) = rows().filter(~WRONG, pair="blend/0/listed")["output"]
    same = right.replace("tea with", "TEA  with") + "."
    tie = with_values(rows(), WRONG & (pl.col("pair") == "blend/0/listed"), output=same)
    assert outcome(balanced(tie), name) == ("failed", "1: tea with milk (blend/0/listed)")
    answers = rows().filter(pl.col("base") == "blend/0", WRONG)["output"]
    other = next(n for n in range(1, 4) if OPTIONS[n] in answers[0])  # whose right answer is wrong for blend/0
    one_question = with_values(OF_BASES, pl.col("base") == f"blend/{other}", asked=bases(1)[0].question)
    assert outcome(balanced(rows(), one_question), name)[0] == "failed"
    others = with_values(one_question, pl.col("base") == f"blend/{other}", options="rakija|raki")
    assert outcome(balanced(rows(), others), name) == ("passed", "0"), "both pairs show their options"
    alone = with_values(rows(), pl.col("pair").str.ends_with("/listed"), pair=pl.col("base") + "/freeform")
    verdict, shown = outcome(balanced(alone, others), name)
    assert (verdict, "/freeform)" in shown, "/options)" in shown) == ("failed", True, False), "shown without them"


def test_severities_asked_for_and_stated():
    audit = balanced(rows(), soft={"mango": counts_of("lexicon")})
    severity = audit.tables["Severity of soft errors, asked for against stated"]
    assert "kept answers" in severity.columns
    assert severity.rows() == [("mango", "major", 0, "", None), ("mango", "minor", 4, "major 1, minor 3", 0.25)]


def test_an_audit_says_the_same_twice():
    """In the same order too: the same rows give the same bytes."""
    names = near(("blend/0", "blend/8"), ("blend/1", "blend/9"), ("blend/0", "normad/9"))
    for audit in (lambda: leaks.audit(two(), asked(), names, mixtures(two())), lambda: balanced(two())):
        assert len({page.text_of(audit()) for _ in range(5)}) == 1


# --- inventory

PAPER = pl.DataFrame({"name": ["China", "Côte d'Ivoire", "Türkiye"], "printed": ["China", "Côte d’Ivoire", "Türkiye"]})
SPOKEN = pl.DataFrame({"name": ["English", "Dutch"], "printed": ["English", "Dutch; Flemish"]})


def test_names_are_compared_whatever_their_accents():
    three = pl.concat([rows(), rows(4, "mango").with_columns(culture=pl.lit("Māori"))])
    three = with_values(three, pl.col("base") == "blend/0", culture="Cote d’Ivoire")
    three = with_values(three, pl.col("base") == "blend/1", culture="Turkey")
    three = with_values(three, pl.col("base") == "blend/2", culture="Korean", language="Korean")
    audit = inventory.audit(three, PAPER, SPOKEN)
    assert failed(audit) == set()
    assert audit.tables["Beside Appendix E"].rows() == [
        ("regions", 3, 3, 2, "Türkiye", "Turkey"),
        ("languages", 2, 2, 1, "Dutch", "Korean"),
        ("cultures of Mango", 4470, 1, None, None, None),
    ]


def test_a_row_without_a_culture_is_found():
    for column in ("culture", "language"):
        nameless = with_values(rows(), pl.col("base") == "blend/0", **{column: " "})
        assert failed(inventory.audit(nameless, PAPER, SPOKEN)) == {(f"rows without a {column}", "blend")}


def test_the_lists_of_the_paper():
    for name, count in (("regions", 122), ("languages", 45)):
        table = pl.read_csv(ROOT / f"paper/appendix-e-{name}.csv")
        assert table.columns == ["name", "printed"]
        assert table["name"].n_unique() == table["printed"].n_unique() == count


# --- licences

MANIFEST = {"licence": "CC-BY-SA-4.0", "revision": "abc", "origin": "folder x", "outputs": {"a.csv": "1", "b.csv": "2"}}


def licensed(
    frame: pl.DataFrame, licence: str = "CC-BY-SA-4.0", manifest: dict | None = MANIFEST, stated: tuple[Term, ...] = ()
) -> checks.Audit:
    manifests = {"blend": manifest} if manifest else {}
    asked = terms(licence, stated)
    said = licences.Licensed(licence, None if asked is None else sorted(asked), "own/blend.py")
    return licences.audit(licences.ledger(frame, manifests), {"blend": said}, manifests)


def test_the_ledger_has_every_row_once():
    ledger = licences.ledger(rows(), {"blend": MANIFEST})
    assert ledger.height == ledger["id"].n_unique() == 1200
    assert ledger.select("licence", "revision").unique().row(0) == ("CC-BY-SA-4.0", "abc")
    assert len(ledger["source"][0]) == 64
    audit = licensed(rows())
    assert failed(audit) == set()
    counts = audit.tables["Rows per licence and dataset"].rows()
    assert counts == [("share-alike", "CC-BY-SA-4.0", "blend", 840, 120, 240, 1200)]


OF_ANOTHER = "rows that are not under the loader's licence (CC-BY-SA-4.0)"


@pytest.mark.parametrize(
    ("audit", "wanted"),
    [
        (lambda: licensed(with_values(rows(), ID_0, licence="MIT")), OF_ANOTHER),
        (lambda: licensed(with_values(rows(), ID_0, licence=pl.lit(None))), OF_ANOTHER),
        (lambda: licensed(rows(), "CC BY-SA 4.0"), "licence of a known kind"),
        (lambda: licensed(rows(), "C-UDA-1.0"), "licence of a known kind"),
        (lambda: licensed(rows(), manifest=MANIFEST | {"licence": "MIT"}), "licence in the source's manifest"),
        (lambda: licensed(rows(), manifest=None), "rows without a source"),
    ],
)
def test_a_row_whose_licence_is_not_known_is_found(audit, wanted):
    assert (wanted, "blend") in failed(audit())


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("cc-by-sa-4.0", "an identifier of https://spdx.org/licenses such as CC-BY-SA-4.0, "),
        ("see the page", "such as CC-BY-4.0, CC0-1.0, MIT, or LicenseRef-NAME and its `terms`"),
        ("C-UDA-1.0", "its `terms` as you read them, some of attribution, non-commercial, share-alike, no-derivatives"),
    ],
)
def test_the_advice_about_a_licence_names_what_to_write_and_where(licence, expected):
    failures = [check for check in licensed(rows(), licence).checks if check.failed]
    (check,) = (check for check in failures if check.check.startswith("licence of"))
    assert expected in check.expected
    assert check.expected.endswith(", in SOURCE of own/blend.py")
    line = verdict.refusal([("licences", check)], "summary.md")
    assert "correct the licence in SOURCE of the benchmark's module" in line
    assert "mend the rows" not in line
    both = [("leaks", check), ("licences", check)]
    assert "mend the rows, or set `audits: warn`" in verdict.refusal(both, "summary.md")


def test_stated_terms_are_enough_and_no_derivatives_are_reported():
    frame, manifest = rows().with_columns(licence=pl.lit("LicenseRef-own")), MANIFEST | {"licence": "LicenseRef-own"}
    audit = licensed(frame, "LicenseRef-own", manifest, ("attribution", "no-derivatives"))
    assert failed(audit) == set()
    assert [check.check for check in audit.checks if check.outcome == "reported"] == ["rows that may be published"]


# --- pages and scripts


def test_the_first_line_says_it():
    good = checks.absence_check("a", "blend", 0)
    bad = checks.absence_check("b", "blend", ["x|y", "z", "u", "v"], "of 9")
    assert page.text_of(checks.Audit("n", (good,))).splitlines()[0] == "**Passed: 1 of 1 checks** – audit of n"
    text = page.text_of(checks.Audit("n", (good, bad)))
    assert text.splitlines()[0] == "**FAILED: 1 of 2 checks** – audit of n"
    assert "- b, blend: found 4 of 9: x&#124;y, z, u; expected 0\n" in text
    assert "| b | blend | 4 of 9: x&#124;y, z, u | 0 | FAILED |" in text
    summary = page.summary({"n": [good, bad], "m": [good]})
    assert summary.index("**n**: b, blend") < summary.index("| [n](n.md) | 1 | 1 | 0 | 0 | 2 |")
    assert "Content notice" in summary


def test_the_verdict_is_about_the_training_rows():
    """Its datasets, its own mixture, and what is said of all of them."""
    good, bad = (lambda where: checks.absence_check("a", where, 0)), (lambda where: checks.absence_check("b", where, 3))
    audits = {"m": [good("blend"), bad("normad")], "n": [bad("without-blend"), good("all")]}
    for trained_on, datasets, failed_checks in (
        ("all", ["blend", "normad"], ["b, normad"]),
        ("without-blend", ["normad"], ["b, normad", "b, without-blend"]),
        ("without-normad", ["blend"], []),
    ):
        named_checks = verdict.concerning(audits, trained_on, datasets)
        assert [f"{check.check}, {check.dataset}" for _, check in named_checks if check.failed] == failed_checks
        line = verdict.refusal(named_checks, "page.md")
        assert (line is None) == (not failed_checks)
    assert verdict.refusal(verdict.concerning(audits, "without-blend", ["normad"]), "page.md") == (
        "page.md: 2 of 3 checks failed: the first is m: b, normad: found 3; expected 0; "
        "mend the rows, or set `audits: warn` to go on"
    )


def test_what_a_page_quotes_becomes_no_markup():
    hostile, image = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"
    bad = checks.Check(f"c {image}", f"d {image}", f"f {image}", f"e {image}", "failed")
    cultures = inventory.audit(with_values(rows(), ID_0, culture=hostile, language=hostile), PAPER, SPOKEN)
    pages = [page.text_of(cultures), page.text_of(checks.Audit("n", (bad,)))]
    summary = page.summary({"n": [bad]})
    for text, wanted in zip([*pages, summary], ("&lt;script&gt;", *("&lt;img src=x",) * 2), strict=True):
        assert wanted in text
        assert not {tag for tag in ("<script", "<img") if tag in text}
    assert "| [n](n.md) | 0 | 1 | 0 | 0 | 1 |" in summary, "our own links stay links"
    assert "<img" in page.check_line(bad), "a terminal shows it as it is"


def test_the_scripts_from_files_to_the_summary(tmp_path, monkeypatch, capsys):
    """As their rules run them; a failed check stops nothing and is said aloud."""
    monkeypatch.chdir(tmp_path)
    for part, own in rows().group_by("part"):
        tables.write_frame(Path("blend", f"{part[0]}.parquet"), own.select(list(record_files.SAMPLE_SCHEMA)))
    samples = sorted(Path("blend").glob("*.parquet"))
    record_files.write_bases(Path("blend.bases.jsonl"), bases(300))
    near().write_csv("near.csv")
    Path("all").mkdir()
    train = train_of(with_values(rows(), ID_0, output="changed"), "blend")
    train.select("id", "base", "dataset", "instruction", "output").write_ndjson("all/train.jsonl")
    for name, content in (("blend/manifest.json", MANIFEST), ("blend/counts.json", LOST)):
        Path(name).write_text(json.dumps(content))
    Path("mango.counts.json").write_text('{"severity": {"minor": {"minor": 1}}, "generators": ["lexicon"]}')
    files = {
        name: {"samples": samples, "numbers": f"{name}.csv", "page": f"{name}.md"}
        for name in ("leaks", "shortcuts", "balance", "inventory", "licences")
    }
    compared = {"near_duplicates": "near.csv", "mixtures": ["all/train.jsonl"]}
    script("audit_leaks", bases="blend.bases.jsonl", **compared, **files["leaks"])
    script("audit_shortcuts", **files["shortcuts"])
    counts = {"counts": "blend/counts.json", "soft": "mango.counts.json", "uses": "uses.csv"}
    shares = json.dumps(SHARES)
    script("audit_balance", bases="blend.bases.jsonl", shares=shares, **counts, **files["balance"])
    lists = {name: ROOT / f"paper/appendix-e-{name}.csv" for name in ("regions", "languages")}
    script("audit_inventory", cultures="cultures.csv", **lists, **files["inventory"])
    expected = json.dumps({"blend": ["CC-BY-SA-4.0", ["share-alike"], "own/blend.py"]})
    script("audit_licences", sources="blend/manifest.json", licences=expected, ledger="l.parquet", **files["licences"])
    script("summarize_audits", checks=[own["numbers"] for own in files.values()], page="summary.md")
    said = capsys.readouterr().err
    assert "FAILED leaks: mixture all: rows that are no training rows, all: found 2 of 840 rows; expected 0" in said
    assert said.count("FAILED leaks: ") == said.count("FAILED ") == 1
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.startswith("**FAILED: 1 of ")
    assert "- **leaks**: mixture all: rows that are no training rows" in summary
    assert pl.read_csv("cultures.csv").rows() == [("blend", "region", "China", 840, 120, 240, 1200)]
    assert pl.read_csv("uses.csv").height == 15
    assert tables.read_frame(Path("l.parquet")).height == 1200
    assert Path("shortcuts.md").read_text(encoding="utf-8").startswith("**Passed: 13 of 13 checks**")

    asked = {"checks": [own["numbers"] for own in files.values()], "summary": "summary.md", "verdict": "verdict.json"}
    asked |= {"trained_on": "all", "datasets": ["blend"]}
    with pytest.raises(AuditFailed) as stopped:
        script("check_audits", if_failed="stop", **asked)
    assert "\n" not in str(stopped.value)
    assert str(stopped.value).startswith("summary.md: 1 of ")
    assert str(stopped.value).endswith(
        " checks failed: leaks: mixture all: rows that are no training rows, all: found 2 of 840 rows; expected 0; "
        "mend the rows, or set `audits: warn` to go on"
    )
    assert not Path("verdict.json").exists()
    script("check_audits", if_failed="warn", **asked)
    assert f"warning: {stopped.value}" in capsys.readouterr().err
    assert json.loads(Path("verdict.json").read_text())["checks"]["failed"] == 1
