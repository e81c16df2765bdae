"""Exchanges of norms: what states each one, which stories follow it, and which answers may be exchanged."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import build_excam40k
import pytest
from base_samples import acting, wrapped
from text_tables import table

from excam.core import tables
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.excam40k.construction import lexicon, norms, soft, splits

ROOT = Path(__file__).parents[2]
SEED = 7

# norm -> three sentences that state it, and two that do not
STATEMENTS = table(__file__, "STATEMENTS")

# norm -> three stories in which it is followed, and two in which it is not
STORIES = table(__file__, "STORIES")


@pytest.mark.parametrize("norm", norms.norms(), ids=lambda norm: norm.norm.replace(" ", "-"))
def test_what_states_a_norm_and_what_follows_it(norm):
    for pattern, texts in ((norm.statement, STATEMENTS[norm.norm]), (norm.story, STORIES[norm.norm])):
        assert [bool(pattern.search(text)) for text in texts] == [True, True, True, False, False]


def test_a_sentence_behind_a_line_break_counts():
    """A pattern that excludes a word excludes it in every line."""
    (at_once,) = (norm for norm in norms.norms() if norm.norm == "opened at once")
    assert not at_once.statement.search("Gifts are opened immediately\r\nbut not in front of the giver")
    assert at_once.statement.search("Gifts are\r\nopened immediately")
    assert not at_once.story.search("He opens it\nand puts it aside")


def test_the_table_is_whole():
    customs = defaultdict(list)
    for norm in norms.norms():
        customs[norm.custom].append(norm)
    lines = (ROOT / "excam/excam40k/construction/norms.tsv").read_text(encoding="utf-8").splitlines()
    assert {line.split("\t")[1] for line in lines[1:]} == {"minor", "major"}
    for first, second in customs.values():
        assert first.severity == second.severity
    assert len({norm.norm for norm in norms.norms()}) == len(norms.norms())


# --- exchanges

ASIDE = "{} gets a gift. She puts it aside. Is it acceptable?"
TEARS = "{} gets a gift. She tears the paper. Is it acceptable?"
AT_ONCE, LATER = "Gifts are opened immediately.", "Gifts are not opened in front of the giver."


def norm_sample(number, culture, verdict, statement, story):
    fields = {"role": f"Nation: {culture}", "question": story, "answer": f"{verdict}, explanation: {statement}"}
    return acting(number, culture=culture, stratum=culture, wrong=(), **fields)


CHINA = norm_sample(1, "China", "Yes", LATER, ASIDE.format("Mei"))
GERMANY = norm_sample(2, "Germany", "No", AT_ONCE, ASIDE.format("Eva"))
MEXICO = norm_sample(3, "Mexico", "Yes", AT_ONCE, TEARS.format("Rosa"))
JAPAN = norm_sample(4, "Japan", "No", LATER, TEARS.format("Yui"))


def exchanged(*bases, severity="major", seed=SEED):
    """Base sample -> the base sample whose answer it gets."""
    exchanges = norms.exchanges(wrapped(list(bases), "soft"), severity, seed)
    partners = {pair: exchange.partner for pair, exchange in exchanges.items() if exchange.partner}
    assert all(exchanges[partner.pair].partner.pair == pair for pair, partner in partners.items()), "mutual"
    return {pair.rpartition("/")[0]: partner.base for pair, partner in partners.items()}


def test_two_answers_about_stories_that_follow_one_norm_are_exchanged():
    partners = exchanged(CHINA, GERMANY, MEXICO, JAPAN)
    assert partners == {"normad/1": "normad/2", "normad/2": "normad/1", "normad/3": "normad/4", "normad/4": "normad/3"}
    assert exchanged(CHINA, GERMANY, severity="minor") == {}
    assert exchanged() == {}


@pytest.mark.parametrize(
    "other",
    [
        MEXICO,  # of the same verdict
        JAPAN,  # of the other verdict by the same norm
        replace(GERMANY, culture="China"),  # one culture would hold both
        replace(GERMANY, question=TEARS.format("Eva")),  # "yes" to a story that follows the other norm
        replace(GERMANY, question="Eva gets a gift. Is it acceptable?"),
        replace(GERMANY, question="Eva tears the paper and puts it aside."),
        replace(GERMANY, answer="No, explanation: In Germany gifts are opened immediately."),
        replace(GERMANY, answer="No, explanation: Gifts are opened immediately. This is polite."),
        replace(GERMANY, answer="No, explanation: Gifts are opened immediately"),  # without the full stop of the other
        replace(GERMANY, answer="No. Gifts are opened immediately."),
        replace(GERMANY, answer="Gifts are opened immediately."),
        replace(
            GERMANY, question="At a party Eva gets a gift and puts it aside.", answer=f"No, explanation: Eva: {AT_ONCE}"
        ),
    ],
)
def test_what_is_not_exchanged(other):
    assert exchanged(CHINA, other) == {}


def test_a_culture_that_holds_both_norms_is_not_used():
    both = norm_sample(5, "Germany", "Yes", LATER, ASIDE.format("Ida"))
    assert exchanged(CHINA, GERMANY, both) == {}
    assert exchanged(CHINA, GERMANY, replace(both, culture="Peru", stratum="Peru")) != {}


def test_elsewhere_as_many_verdicts_of_each_kind_are_turned_round_and_stand_alone():
    """A reason beside the other verdict would refute it; so would one that tells the story again in the report."""
    rule = "Guests greet everybody."
    bases = [norm_sample(n, "China", "Yes", rule, "Mei greets all.") for n in range(3)]
    bases += [norm_sample(n, "China", "No", rule, "Mei greets nobody.") for n in range(3, 5)]
    bases.append(norm_sample(5, "China", "No", "Lee greets nobody.", "There Lee greets nobody."))
    samples = [replace(sample, split="train") for sample in wrapped(bases, "soft")]
    exchanges = norms.exchanges(samples, "major", SEED)
    turned = [sample for sample in samples if sample.pair in exchanges]
    assert Counter(sample.answer.partition(",")[0] for sample in turned) == {"Yes": 2, "No": 2}
    assert not any("Lee" in sample.answer for sample in turned)
    assert norms.exchanges(samples, "minor", SEED) == {}
    for right in turned:
        said = lexicon.answer(right, "major", SEED, exchanges[right.pair])
        wrong = soft.soft_error(norms.verdict_alone(right), "major", said, "strict")
        verdict = right.answer.partition(",")[0]
        ((first, second), _) = splits.pair_up([right], [wrong])
        assert [error.span for error in wrong.report.errors] == [{"Yes": "No", "No": "Yes"}[verdict]]
        assert (first.answer, second) == (verdict, wrong)
        assert first.output == right.output.removesuffix(f", explanation: {rule}")
        assert rule.rstrip(".") in wrong.report.explanation
        assert f"'{verdict}'" in wrong.report.explanation
        assert isinstance(lexicon.answer(right, "minor", SEED), lexicon.LeftOut)


@pytest.mark.parametrize(
    ("rule", "turned"),
    [
        ("It is thoughtful to greet everybody.", False),
        ("It is okay not to greet everybody.", False),
        ("It is not acceptable to greet nobody.", True),
        ("One should always be kind and greet everybody.", True),
    ],
)
def test_a_courtesy_that_somebody_omits_is_no_offence(rule, turned):
    bases = [norm_sample(1, "Peru", "Yes", rule, "Eva greets all."), norm_sample(2, "Peru", "No", rule, "Eva nods.")]
    samples = [replace(sample, split="train") for sample in wrapped(bases, "soft")]
    assert len(norms.exchanges(samples, "major", SEED)) == (2 if turned else 0)


def test_no_answer_is_exchanged_between_splits():
    right = wrapped([CHINA, GERMANY], "soft")
    apart = [replace(sample, split="test" if sample.base == "normad/2" else "train") for sample in right]
    assert len(norms.exchanges(right, "major", SEED)) == 2
    assert norms.exchanges(apart, "major", SEED) == {}


def test_the_story_is_found_behind_a_context_of_both_norms():
    """A context may tell of both norms; with any of the templates the story is found behind it."""
    context = "Some open a gift at once, in others' presence: 'with joy'."
    for seed in range(60):
        (right, *_) = wrapped([replace(CHINA, context=context)], "soft", seed=seed)
        assert norms._story(right.instruction).rstrip("':.") == CHINA.question


@pytest.mark.parametrize("early", ["half an hour early", "fifteen minutes before the time"])
def test_an_early_guest_is_neither_late_nor_on_time(early):
    late = norm_sample(1, "Kenya", "Yes", "It is okay to arrive late.", "Ana came an hour late.")
    assert len(exchanged(late, norm_sample(2, "Malta", "No", "Guests come on time.", "Ben came an hour late."))) == 2
    other = norm_sample(2, "Malta", "No", "Guests come on time.", f"Ben came {early} so as not to be late.")
    assert exchanged(late, other) == {}


def test_the_same_in_any_order_and_each_answer_once():
    """Three stories that may be exchanged with either of two others: two exchanges, whatever the order of the rows."""
    more = [replace(CHINA, id=f"normad/{at}", culture=land, stratum=land) for at, land in ((5, "Laos"), (6, "Nepal"))]
    bases = [CHINA, *more, GERMANY, replace(GERMANY, id="normad/7", culture="Malta", stratum="Malta")]
    right = wrapped(bases, "soft")
    first = norms.exchanges(right, "major", SEED)
    assert len(first) == 4
    assert max(Counter(exchange.partner.pair for exchange in first.values()).values()) == 1
    again = norms.exchanges(right[::-1], "major", SEED)
    assert {pair: again[pair].partner.pair for pair in again} == {pair: first[pair].partner.pair for pair in first}


def test_the_exchanged_row_is_one_error_and_says_what_holds():
    right = {sample.pair: sample for sample in wrapped([CHINA, GERMANY], "soft")}
    exchanges = norms.exchanges(list(right.values()), "major", SEED)
    for pair, exchange in exchanges.items():
        for seed in range(6):
            said = lexicon.answer(right[pair], "major", seed, exchange)
            wrong = soft.soft_error(right[pair], "major", said, "strict")
            (error,) = wrong.report.errors
            assert error.type == "misrepresented norm"
            assert error.span == exchange.partner.answer.rstrip(".")
            assert wrong.instruction == right[pair].instruction
            verdict, _, norm = right[pair].answer.partition(", explanation: ")
            assert norm.rstrip(".") in wrong.report.explanation
            assert f"'{verdict}'" in wrong.report.explanation
            assert right[pair].culture in wrong.report.explanation


# --- groups


def test_groups_of_exchanged_rows_are_joined():
    """Also in chains, and whatever was in a group before; nobody who was not exchanged."""
    samples = wrapped([replace(acting(at), group="g5" if at in (5, 6) else "") for at in range(9)], "soft")
    pairs = {(sample.base, sample.pair.rpartition("/")[2]): sample.pair for sample in samples}
    partners = {}
    for (a, b), severity in (((0, 1), "minor"), ((1, 2), "major"), ((3, 6), "minor"), ((5, 8), "major")):
        pair, other = pairs[f"normad/{a}", severity], pairs[f"normad/{b}", severity]
        partners |= {pair: other, other: pair}
    joined = soft.in_joined_groups(samples, partners)
    assert [sample.pair for sample in joined] == [sample.pair for sample in samples]
    together = defaultdict(set)
    for sample in joined:
        together[sample.group].add(int(sample.base.partition("/")[2]))
    assert sorted(map(sorted, together.values())) == [[0, 1, 2], [3, 5, 6, 8], [4], [7]]
    assert all(name in {sample.group for sample in samples} for name in together)
    assert soft.in_joined_groups(samples, {}) == samples


def test_a_partner_that_was_dropped_joins_nothing():
    samples = wrapped([acting(0), acting(1)], "soft")
    kept = [sample for sample in samples if sample.base == "normad/0"]
    assert soft.in_joined_groups(kept, {kept[0].pair: "normad/1/minor"}) == kept


# --- from files to splits


def test_mini_normad_from_lexicon_to_splits(tmp_path):
    results = build_excam40k.build(tmp_path, {"normad": ROOT / "mini/normad"}, cap=330)
    files = (results / "errors/soft/normad").rglob("*.jsonl")
    answers = [row for path in files for row in tables.read_jsonl(path)]
    partners = {row["pair"]: row["partner"] for row in answers if "partner" in row}
    right = {sample.pair: sample for sample in record_files.read_samples(results / "samples/normad.parquet")}
    wrong = {sample.pair: sample for sample in record_files.read_samples(results / "errors/soft/normad.parquet")}
    assert len(partners) >= 20
    assert all(partners[partner] == pair for pair, partner in partners.items())
    for pair, partner in partners.items():
        (error,) = wrong[pair].report.errors
        assert error.span == right[partner].answer.rstrip(".")
        assert wrong[pair].group == wrong[partner].group
        norm = right[pair].answer.partition(", explanation: ")[2].rstrip(".")
        assert norm in wrong[pair].report.explanation
    parts = [record_files.read_samples(results / f"excam40k/normad/{split}.parquet") for split in SPLITS]
    groups = [{sample.group for sample in rows} for rows in parts]
    assert sum(map(len, groups)) == len(set().union(*groups)), "no group is in two splits"
    rows = [sample for part in parts for sample in part]
    assert {sample.group for sample in rows if sample.pair in partners} <= {wrong[pair].group for pair in partners}
    of_pair = defaultdict(set)
    for sample in rows:
        of_pair[sample.pair].add(sample.group)
    assert of_pair
    assert all(len(pair_groups) == 1 for pair_groups in of_pair.values())
