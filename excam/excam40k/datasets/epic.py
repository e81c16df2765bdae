"""EPIC (Frenda et al., ACL 2023): is a reply ironic, as its annotators saw it. Impersonation, hard errors.

A hard error is the other label. The role is the annotator's demographics (ExCAM Table 10), the context the parent
post. A row is one annotation: the annotators of a pair may disagree, and nothing is aggregated (the paper is silent),
but if annotators with one role disagree, their rows are dropped: both answers would be right for one instruction.
`agreement` is the share of the other annotators of the same text, of `asked`, who gave the same label. "Not ironic" is
twice as frequent, and as many of either label are drawn: it is dropped where fewer than `least_agreement` say so, too;
"ironic" is dropped where fewer than half do, as readers then took the text literally. Where hardly more than half do,
to miss it is a minor error.
Withdrawn attributes (DATA_EXPIRED) are left out of the role. HTML entities are unescaped. Rows with question marks
where emoji were lost ("????") are dropped if the text to be judged has them: its tone is gone. A text
with a link whose address the source hides ("URL") is dropped: readers cannot see what it comments on. The public
MultiPICo variant has no column for the annotator's language: the language of the texts is given instead.
"""

from __future__ import annotations

import html
from pathlib import Path

import polars as pl

from excam.excam40k.datasets import base
from excam.excam40k.datasets._cells import clean_columns, countries, identifier, map_distinct

VERSION = 10
NAME = "epic"
SOURCE = base.Source(
    licence="CC-BY-NC-SA-4.0",
    files=("EPICorpus.csv", "*/EPICorpus.csv", "EPICorpus_from_multipico_en.csv.gz"),
    hub="Multilingual-Perspectivist-NLU/EPIC",
    homepage="https://huggingface.co/datasets/Multilingual-Perspectivist-NLU/EPIC",
    title="EPIC",
    citation="Frenda et al. 2023. EPIC: Multi-Perspective Annotation of a Corpus of Irony. Proceedings of ACL 2023",
)
TASK: base.Task = "impersonation"
ERRORS: base.Errors = "hard"
MISTAKE: base.Mistake = "irony"

ANSWERS = {"iro": "The text is ironic.", "not": "The text is not ironic."}
LABELS = {"iro": "ironic", "not": "not ironic"}
ATTRIBUTES = {"Age= ": "Age", "Sex=": "Sex", "Ethn.=": "Ethnicity simplified", "Nat.=": "Nationality"}
REQUIRED = ("user", "label", "id_original", "text", "parent_text", *ATTRIBUTES.values())
TEXTS = ("text", "parent_text")
# Question marks that end no word: behind a space, a full stop, another emoji, or with its invisible joiner.
_LOST_EMOJI = r"(?:\A|\s|\p{So}|\p{Sk}|\x{fe0f}|[^.?!\s][.,;])\?|\?\x{200d}"
_NO_WORD = r"@USER|\bURL\b|https?://\S+"
LANGUAGE = "Language_annotator"


def read(folder: Path, *, least_agreement: float = 0.7, minor_below: float = 0.6) -> base.Reading:
    """Return base samples of a snapshot, one per annotation; `lacks` names missing columns.

    `minor_below`: the wrong label is a minor error where a smaller part of the others agrees; 0: none is (§3).
    Raises SourceInvalid.
    """
    path = base.find_one(folder, NAME, SOURCE.files)
    rows = base.table(path, NAME, REQUIRED, (LANGUAGE, "language_instance"))
    unescaped = {name: map_distinct(pl.col(name), html.unescape) for name in TEXTS}
    rows = clean_columns(base.change(rows, "html-entities", **unescaped), TEXTS)
    lacks = () if LANGUAGE in rows.columns else (LANGUAGE,)
    label, pair, text = pl.col("label").str.to_lowercase(), pl.col("id_original"), pl.col("text")
    country = countries(_attribute("Nationality"))
    is_label = label.is_in(list(ANSWERS))
    others = is_label.sum().over(pair).cast(pl.Int64) - 1
    same = pl.len().over(pair, label).cast(pl.Int64) - 1
    least = pl.when(label == "not").then(least_agreement).otherwise(min(least_agreement, 0.5))
    wrong = pl.concat_list(label.replace_strict({"iro": ANSWERS["not"], "not": ANSWERS["iro"]}, default=None))
    frame = base.fields(
        rows,
        id=identifier(NAME, pair, pl.col("user")),
        question="Indicate whether this text is ironic or non-ironic: " + text,
        answer=label.replace_strict(ANSWERS, default=None),
        language=pl.lit("English"),
        culture=country,
        stratum=country,
        wrong=wrong,
        minor=pl.when(same < minor_below * others).then(wrong),
        role=_role(rows),
        context=pl.col("parent_text"),
        group=pair,
        label=label.replace_strict(LABELS, default=None),
        agreement=pl.when(others > 0).then(same / others),
        asked=others,
        reason=base.first_reason(
            unknown_label=base.wrong_cell(~is_label, "label", "iro or not"),
            no_nationality=_attribute("Nationality") == "",  # the stratum
            empty=text == "",
            annotators_disagree=label.n_unique().over(pair, _role(rows)) > 1,  # of one role: both answers are right
            contested=(others > 0) & (same < least * others),
            no_words=~text.str.replace_all(_NO_WORD, "").str.contains(r"\w"),
            lost_emoji=text.str.contains(_LOST_EMOJI),
            hidden_link=text.str.contains(r"\bURL\b"),
        ),
    )
    return base.gather(NAME, TASK, frame, lacks=lacks)


def _role(rows: pl.DataFrame) -> pl.Expr:
    """E.g. "Age= 26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English." without what was withdrawn."""
    column = next((name for name in (LANGUAGE, "language_instance") if name in rows.columns), None)
    language = _attribute(column) if column else pl.lit("")
    attributes = {mark: _attribute(column) for mark, column in ATTRIBUTES.items()}
    attributes["Lang.="] = pl.when(language.str.to_lowercase() == "en").then(pl.lit("English")).otherwise(language)
    stated = [pl.when(value != "").then(pl.lit(mark) + value) for mark, value in attributes.items()]
    return pl.concat_str(stated, separator="; ", ignore_nulls=True) + "."


def _attribute(column: str) -> pl.Expr:
    return pl.when(pl.col(column) == "DATA_EXPIRED").then(pl.lit("")).otherwise(column)
