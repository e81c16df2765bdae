"""Wrong answers that are right elsewhere in their group."""

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from excam.excam40k.datasets._exchanged import exchanged

ANSWERS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("wxyz"), st.sets(st.sampled_from("wxyz"))), max_size=8
)


@given(ANSWERS)
def test_an_exchanged_answer_is_as_often_wrong_as_right(rows):
    columns = dict.fromkeys(("id", "group", "answer", "wrong", "reason"), pl.String) | {"wrong": pl.List(pl.String)}
    cells = [(str(at), group, answer, sorted(wrong - {answer}), None) for at, (group, answer, wrong) in enumerate(rows)]
    frame = pl.DataFrame(cells, columns, orient="row")
    made = exchanged(frame)
    taken = made.filter("_exchanged").explode("wrong")
    pairs = zip(taken.select("group", "answer").rows(), taken.select("group", "wrong").rows(), strict=True)
    right, wrong = zip(*pairs, strict=True) if taken.height else ((), ())
    assert Counter(right) == Counter(wrong)
    assert taken.height == frame.filter(pl.col("id").is_in(taken["id"].implode())).height, "one wrong answer each"
    left = [wrong for (*_, wrong, _), kept in zip(cells, made["_exchanged"], strict=True) if not kept]
    assert made.filter(~pl.col("_exchanged"))["wrong"].to_list() == left
    assert exchanged(frame.reverse()).sort("id").equals(made.sort("id"))
