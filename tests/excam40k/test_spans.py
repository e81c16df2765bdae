"""Diff spans: the invariant on any text, scripts without spaces, the autojunk trap, hostile sizes."""

import random
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from text_tables import table

from excam.excam40k.construction import spans
from excam.excam40k.construction.spans import Diff, Span, diff_spans, tokens

MODES = ["paper", "strict"]
PIECES = [
    *"aB1 .,'\"`-_$€%()[]\n\t\r\u200d\u200f\u0301\u00ad\x1c\x85",
    "“", "”", "„", "«", "»", "``", "''", "...", "--", "—", "can", "cannot", "gonna", "don't", "U.S.", "&c", "’s",
    "中", "文字", "。", "，", "カー", "々", "ภาษา", "ไทย", "သ", "ខ្មែរ", "ລາວ", "مرحبا", "؟", "שלום", "हिन्दी",
    "𠮷", "はし", "น้ำ", "កម្ពុជា", "ງານ", "ນ້ຳ", "\ud800", "ה\"ל",
    "👨‍👩‍👧", "👍🏽", "🇯🇵", "1️⃣", "3,141.5", "İ", "ß", "\ud7ff", "\x00",
]  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def holds(diff: Diff, modified: str, mode: str) -> None:
    """Spans are slices in order, apart from one another but for the anchors of deletions, in whole clusters."""
    assert diff.count == len(diff.spans)
    edges = {0, *(match.end() for match in regex.finditer(r"\X", modified))}
    end = 0
    for span in diff.spans:
        assert modified[span.start : span.end] == span.text
        assert span.text or not tokens(modified, mode)
        assert mode == "paper" or {span.start, span.end} <= edges
        assert span.kind == "delete" or span.start >= end
        end = max(end, span.end) if span.kind != "delete" else end
    assert [span.start for span in diff.spans] == sorted(span.start for span in diff.spans)


@pytest.mark.parametrize("mode", MODES)
@given(original=TEXT | st.text(), modified=TEXT | st.text())
def test_spans_are_slices_of_the_modified_text(mode, original, modified):
    diff = diff_spans(original, modified, mode)
    holds(diff, modified, mode)
    holds(diff_spans(modified, original, mode), original, mode)
    assert diff_spans(original, original, mode) == Diff(0, ())


@pytest.mark.parametrize("mode", MODES)
@given(text=TEXT | st.text())
def test_tokens_lie_in_the_text_in_order_and_hold_no_outer_punctuation(mode, text):
    end = 0
    for token in tokens(text, mode):
        assert token.start >= end
        assert text[token.start : token.end] == token.text != ""
        assert not spans.is_punctuation(token.text[0]) or "\u20e3" in token.text  # a keycap: "#️⃣"
        end = token.end


@pytest.mark.parametrize("mode", MODES)
def test_every_kind(mode):
    replaced = Diff(1, (Span(9, 14, "bread", "replace"),))
    assert diff_spans("She eats rice daily.", "She eats bread daily.", mode) == replaced
    assert diff_spans("She eats rice.", "She never eats rice.", mode).spans == (Span(4, 9, "never", "insert"),)
    assert diff_spans("She never eats rice.", "She eats rice.", mode).spans == (Span(0, 3, "She", "delete"),)
    assert diff_spans("Never eat rice.", "eat rice.", mode).spans == (Span(0, 3, "eat", "delete"),)
    assert diff_spans("eat rice", "", mode).spans == (Span(0, 0, "", "delete"),)
    assert diff_spans("eat rice", "…!", mode).spans == (Span(0, 0, "", "delete"),)
    assert diff_spans("", "eat rice", mode).spans == (Span(0, 8, "eat rice", "insert"),)


@pytest.mark.parametrize("mode", MODES)
def test_case_counts_punctuation_and_space_do_not(mode):
    assert diff_spans("The Diwali feast", "The diwali feast", mode).count == 1
    assert diff_spans("“Tea,” he said -- “now”.", '"Tea" he  said\n"now"!', mode).count == 0
    assert diff_spans("It costs $5", "It costs €5", mode).count == 1


@pytest.mark.parametrize("mode", MODES)
def test_quotes_and_emoji_keep_their_offsets(mode):
    modified = 'He said “bow” 👨‍👩‍👧 and "wave" to the «elders».'
    original = 'He said “bow” 👨‍👩‍👧 and "nod" to the «guests».'
    assert [span.text for span in diff_spans(original, modified, mode).spans] == ["wave", "elders"]


UNSPACED = table(__file__, "strict_marks_the_word_of_unspaced_scripts")


@pytest.mark.parametrize(("original", "modified", "expected"), UNSPACED)
def test_strict_marks_the_word_of_unspaced_scripts(original, modified, expected):
    diff = diff_spans(original, modified, "strict")
    holds(diff, modified, "strict")
    assert [span.text for span in diff.spans] == [expected]


@pytest.mark.parametrize(
    "clause",
    [
        "家中布置窗花贴春联以此营造节日氛围除夕夜的守岁放鞭炮贴春联拜年和吃年夜饭等活动都是春节期间不可或缺的部分",
        "お盆には先祖の霊を迎えるために提灯をともし墓参りをする家族が全国各地で見られます",
        "แต่ความหมายที่คนไทยทั่วไปใช้หมายเฉพาะวันและเวลาที่พระอาทิตย์เคลื่อนเข้าสู่ราศีเมษ",
        "ប្រជាជនភូមារាប់ពាន់នាក់បាននាំគ្នាតម្រង់ជួររង់ចាំទទួលទានអាហារសាច់មាន់បំពង",
        "ຊົນເຜົ່າເວົ້າພາສາລາວຕະກູນພາສາໄຕໃນຈີນຫວຽດນາມແລະຊົນກຸ່ມນ້ອຍໃນອິນເດັຍຕາເວັນອອກ",
        "ဆုချီးမြှင့်ပွဲအခမ်းအနားကိုယနေ့နံနက်ပိုင်းတွင်နေပြည်တော်ရှိညီလာခံခန်းမ၌ကျင်းပသည်",
    ],
)
def test_an_edit_in_a_long_clause_stays_small(clause):
    """Two clusters overwritten anywhere by two others: few differences, few words beside them."""
    clusters = regex.findall(r"\X", clause)
    for place in range(len(clusters) - 1):
        new = clusters[(place + 7) % (len(clusters) - 1) :][:2]
        modified = "".join([*clusters[:place], *new, *clusters[place + 2 :]])
        diff = diff_spans(clause, modified, "strict")
        holds(diff, modified, "strict")
        assert diff.count in ([0] if modified == clause else [1, 2])
        assert sum(len(tokens(span.text, "strict")) for span in diff.spans) <= 4


@pytest.mark.parametrize(("original", "modified"), table(__file__, "strict_takes_for_equal_what_looks_equal"))
def test_strict_takes_for_equal_what_looks_equal(original, modified):
    assert diff_spans(original, modified, "strict") == Diff(0, ())
    assert diff_spans(f"one then {original} then x", f"two then {modified} then y", "strict").count == 2


@pytest.mark.parametrize(("original", "modified"), table(__file__, "strict_counts_what_looks_different"))
def test_strict_counts_what_looks_different(original, modified):
    assert diff_spans(f"a {original} b", f"a {modified} b", "strict").count == 1


def test_the_same_text_divided_differently_is_no_change():
    """Keys as ICU might give them: words "AB|A" against "A|BA"; difflib alone sees a deletion and an insertion."""
    assert spans.changes(["AB", "A"], ["A", "BA"], "strict") == []
    assert spans.changes(["AB", "A", "x"], ["A", "BA", "y"], "strict") == [("replace", 2, 3)]
    assert spans.changes(["中国", "人民", "好"], ["中", "国人", "民", "坏"], "strict") == [("replace", 3, 4)]
    words = ["x", "m", "AB", "CD", "o"], ["y", "m", "A", "BCD", "p"]
    assert spans.changes(*words, "strict") == [("replace", 0, 1), ("replace", 4, 5)]


@pytest.mark.parametrize(("text", "words"), table(__file__, "strict_words"))
def test_strict_words(text, words):
    assert [token.text for token in tokens(text, "strict")] == words.split()


def test_paper_marks_the_whole_clause_of_an_unspaced_script():
    (span,) = diff_spans("中国人过春节吃饺子", "中国人过春节吃寿司", "paper").spans
    assert span.text == "中国人过春节吃寿司"


@pytest.mark.parametrize("mode", MODES)
def test_right_to_left_and_combining_marks(mode):
    assert [s.text for s in diff_spans("نأكل التمر في رمضان؟", "نأكل الخبز في رمضان؟", mode).spans] == ["الخبز"]
    assert [s.text for s in diff_spans("cafe\u0301 noir", "the\u0301 noir", mode).spans] == ["the\u0301"]
    assert [s.text for s in diff_spans("दिवाली में मिठाई", "होली में मिठाई", mode).spans] == ["होली"]


def test_autojunk_swallows_edits_in_paper_mode_and_not_in_strict():
    draw = random.Random(7)
    words = [draw.choice([f"w{i}" for i in range(40)]) for _ in range(600)]
    edited = list(words)
    for place in (50, 300, 550):
        edited[place : place + 3] = [f"x{place}", f"y{place}", f"z{place}"]
    strict = diff_spans(" ".join(words), " ".join(edited), "strict")
    paper = diff_spans(" ".join(words), " ".join(edited), "paper")
    assert [len(span.text.split()) for span in strict.spans] == [3, 3, 3]
    assert max(len(span.text.split()) for span in paper.spans) > 100


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("original", "modified"),
    [
        ("a b " * 50_000, "b a " * 50_000),
        ("x " * 150_000, "x " * 149_000 + "y"),
        ("中" * 100_000, "文" + "中" * 99_999),
        (" ".join(f"x u{i}" for i in range(30_000)), " ".join(f"x v{i}" for i in range(30_000))),
        ("Say." + " " * 400_000 + "so", "Say." + " " * 400_000 + "no"),
        ("say.)" * 50_000 + "x", "say.)" * 50_000 + "y"),
        ('"' * 100_000 + "a", "`" * 100_000 + "b"),
        ("a" + "\u0301" * 100_000, "b" + "\u0301" * 100_000),
        ("🇯🇵" * 5_000, "🇫🇷" * 5_000),
    ],
)
def test_hostile_sizes_end(mode, original, modified):
    began = time.process_time()
    diff = diff_spans(original, modified, mode)
    assert time.process_time() - began < 30
    assert diff.count >= 1
    holds(diff, modified, mode)


@pytest.mark.parametrize("mode", MODES)
def test_beyond_the_bound_the_differing_middle_is_one_replacement(mode):
    middle = "p q " * 6000
    original, modified = f"start {middle}end", f"start changed {middle[::-1]} end"
    (span,) = diff_spans(original, modified, mode).spans
    assert (span.kind, span.text.split()[0], modified[span.end :].strip()) == ("replace", "changed", "end")


# --- whole statements


def whole(original: str, modified: str) -> list[str]:
    changed_spans = diff_spans(original, modified, "strict").spans
    return [span.text for span in spans.whole_statements(changed_spans, modified)]


@pytest.mark.parametrize(("original", "modified", "expected"), table(__file__, "whole_statements"))
def test_whole_statements(original, modified, expected):
    """An exchanged sentence is one span; two edits in a long one, or in two sentences, stay two."""
    assert whole(original, modified) == expected


def test_ends_that_spell_the_same_are_trimmed_where_a_word_of_an_unspaced_script_ends():
    """ICU divides 研究生 otherwise before 命: what both spell is trimmed up to the last joint of the new side."""
    assert spans.trim_equal_ends(["研究生", "意"], ["研究", "生命"]) == (["生", "意"], ["生命"], 1)
    assert spans.trim_equal_ends(["teapot", "x"], ["tea", "pots"]) == (["teapot", "x"], ["tea", "pots"], 0)
