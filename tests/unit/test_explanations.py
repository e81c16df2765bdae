"""Explanations beside gold ones: an independent slow matcher, a tiny BERT made here, floors by brute force, the page."""

import csv
import importlib
import itertools
import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import tiny

from excam import tables
from excam.evaluation import explanation_match, explanation_similarity
from excam.exceptions import InputInvalid, ModelInvalid
from excam.inference import embeddings
from excam.inference.embeddings import Embedded
from excam.metaeval.similarity import similarity, strangers
from excam.records import CulturalError, Report, Sample, Verdict

ROOT = Path(__file__).parents[2]
compare_explanations, table_explanations = (
    importlib.import_module(f"scripts.{name}") for name in ("compare_explanations", "table_explanations")
)
WORDS = [
    "the",
    "answer",
    "tea",
    "is",
    "wrong",
    "in",
    "china",
    "right",
    "be",
    "should",
    "##s",
    ".",
    "'",
    "[",
    "]",
    "sep",
]
TEXTS = [
    "the answer tea is wrong",
    "in china the answer should be tea",
    "wrong",
    "tea teas . ' the answer is right in china ' .",
    "unheard of",
    "",
]


# --- the encoder


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    """A BERT with random weights that takes 10 tokens, saved as a fetched model is."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert" / "files"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: at for at, word in enumerate(special + WORDS)}
    raw = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer(lowercase=True)
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=raw, **names).save_pretrained(folder)
    torch.manual_seed(3)
    torch.set_num_threads(1)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=24, initializer_range=0.7,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 10, "do_lower_case": false}')
    manifest = {"origin": "made here", "revision": "by hand"}
    (folder.parent / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def encoder(weights):
    return embeddings.load(weights)


def alone(weights: Path, text: str) -> tuple[list[list[float]], list[float]]:
    """One text by itself through the model: its tokens' states without the first and last, and the mean of all."""
    import torch
    from transformers import BertModel, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(weights)
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", *tokenizer.tokenize(text)[:8], "[SEP]"])
    with torch.no_grad():
        states = BertModel.from_pretrained(weights).eval()(torch.tensor([ids])).last_hidden_state[0].tolist()
    return states[1:-1], [sum(column) / len(states) for column in zip(*states, strict=True)]


def cosine(a: list[float], b: list[float]) -> float:
    def length(vector: list[float]) -> float:
        return sum(x * x for x in vector) ** 0.5

    return sum(x * y for x, y in zip(a, b, strict=True)) / (length(a) * length(b))


def slow(text: tuple, reference: tuple) -> tuple[float, float, float, float]:
    """BERTScore as it is told: for each token the best of the other text, pair by pair."""
    (pieces, sentence), (others, other_sentence) = text, reference
    precision = sum(max(cosine(piece, other) for other in others) for piece in pieces) / len(pieces)
    recall = sum(max(cosine(piece, other) for piece in pieces) for other in others) / len(others)
    return precision, recall, 2 * precision * recall / (precision + recall), cosine(sentence, other_sentence)


def test_greedy_matching_is_that_of_a_slow_one(weights, encoder):
    said = [text for text in TEXTS if text]
    fast = dict(zip(said, embeddings.embed(encoder, said), strict=True))
    plain = {text: alone(weights, text) for text in said}
    seen = set()
    for one, other in itertools.product(said, repeat=2):
        found = similarity(*((fast[text].pieces, fast[text].sentence) for text in (one, other)))
        numbers = (found.precision, found.recall, found.f1, found.cosine)
        assert numbers == pytest.approx(slow(plain[one], plain[other]), abs=2e-6)
        seen.add(round(found.f1, 3))
        if one == other:
            assert numbers == pytest.approx((1, 1, 1, 1), abs=1e-6)
    assert len(seen) > 8, "random weights tell texts apart"


def test_no_text_depends_on_the_texts_beside_it(encoder):
    whole = embeddings.embed(encoder, TEXTS)
    for batch in (1, 2, 5):
        for one, other in zip(whole, embeddings.embed(encoder, TEXTS[::-1], batch)[::-1], strict=True):
            assert np.abs(one.sentence - other.sentence).max() < 1e-6
            assert one.pieces.shape == other.pieces.shape
            assert not len(one.pieces) or np.abs(one.pieces - other.pieces).max() < 1e-6
    assert embeddings.embed(encoder, []) == []


def test_what_is_cut_and_what_is_unknown_is_counted(encoder):
    found = dict(zip(TEXTS, embeddings.embed(encoder, TEXTS), strict=True))
    assert [(len(one.pieces), one.cut, one.unknown) for one in found.values()] == [
        (5, 0, 0), (7, 0, 0), (1, 0, 0), (8, 5, 0), (2, 0, 2), (0, 0, 0),
    ]  # fmt: skip
    one, other = found["wrong"], found[""]
    assert set(vars_of(similarity((one.pieces, one.sentence), (other.pieces, other.sentence)))) == {0.0}


def vars_of(found) -> list[float]:
    return [found.precision, found.recall, found.f1, found.cosine]


def test_a_control_token_that_is_spelled_out_is_text(encoder):
    spelled, words = embeddings.embed(encoder, ["tea [SEP] tea", "tea [ sep ] tea"])
    assert np.array_equal(spelled.pieces, words.pieces)
    assert len(embeddings.embed(encoder, ["tea \ud800"])[0].pieces) == 1


def test_the_limit_is_the_smallest_one(weights, tmp_path):
    import shutil

    folder = shutil.copytree(weights, tmp_path / "other")
    (folder / "sentence_bert_config.json").unlink()
    assert (embeddings.load(weights).limit, embeddings.load(folder).limit) == (10, 24)


def test_what_is_no_encoder_is_refused(weights, tmp_path):
    import shutil

    folder = shutil.copytree(weights, tmp_path / "torn")
    (folder / "model.safetensors").unlink()
    for wrong in (tiny.model(tmp_path / "llama"), folder, tmp_path / "absent"):
        with pytest.raises(ModelInvalid) as caught:
            embeddings.load(wrong)
        assert str(caught.value).startswith(f"{wrong}: ")
        assert "\n" not in str(caught.value)


# --- whose explanation stands for chance


def fewest_without(groups: list[str]) -> int:
    """Of every permutation, how few items at least get none of another group."""
    places = range(len(groups))
    return min(
        sum(groups[a] == groups[b] for a, b in zip(places, order, strict=True))
        for order in itertools.permutations(places)
    )


def test_strangers_are_a_derangement_wherever_there_is_one():
    chance = random.Random(0)
    for _ in range(300):
        groups = [chance.choice("abcd"[: chance.randint(1, 4)]) for _ in range(chance.randint(0, 6))]
        found = strangers(groups)
        taken = [other for other in found if other is not None]
        assert len(set(taken)) == len(taken)
        assert all(other is None or groups[other] != groups[item] for item, other in enumerate(found))
        assert found.count(None) == fewest_without(groups)


# --- rows


def words(text: str) -> Embedded:
    """A text as its words, each a direction of its own: precision is then the share of words the other text has."""
    names = "abcdefghijklmnopqrstuvwxyz"
    pieces = np.array([[float(name == word) for name in names] for word in text.split()], np.float32)
    pieces = pieces.reshape(-1, len(names))
    total = pieces.sum(axis=0)
    return Embedded(
        pieces, total / max(float(np.linalg.norm(total)), 1.0), cut=text.count("z"), unknown=text.count("y")
    )


def by_words(texts) -> list[Embedded]:
    return [words(text) for text in texts]


def sample(base: str, gold: str, origin: str = "hard", variant: str = "0", dataset: str = "blend") -> Sample:
    error = CulturalError("output", "cola", "major", "fact", 0, 4)
    pair = f"{dataset}/{base}/{variant}"
    return Sample(
        id=f"{pair}/{'wrong' if gold else 'right'}", pair=pair, base=f"{dataset}/{base}", dataset=dataset, task="qa",
        instruction="Drink?", output="cola", report=Report((error,), gold) if gold else Report(),
        origin=origin if gold else "source", language="English", culture="China", stratum="China", licence="MIT",
        answer="tea", group=f"g-{base}", split="test",
    )  # fmt: skip


def frames(rows: list[tuple[Sample, str | None]], folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgements and samples; an explanation, "-" for a report without errors, None for no report."""
    error = (CulturalError("output", "cola", "minor", "fact", 0, 4),)
    verdicts = []
    for _, said in rows:
        report = None if said is None else Report() if said == "-" else Report(error, said)
        failure = "no-json" if report is None else None
        found = None if report is None else len(report.errors)
        verdicts.append(Verdict(found, None if found is None else -1.0 * found, report=report, failure=failure))
    folder.mkdir(parents=True, exist_ok=True)
    tables.write_samples(folder / "s.parquet", [row for row, _ in rows])
    tables.write_judgements(folder / "j.parquet", [row for row, _ in rows], verdicts)
    return tables.read_frame(folder / "j.parquet"), tables.read_frame(folder / "s.parquet")


ROWS = [
    (sample("p", "a b c d"), "a b x x"),
    (sample("p", "a b e f", variant="1"), "a"),
    (sample("q", "g h"), "g h z y"),
    (sample("q", "g h", variant="1"), ""),
    (sample("r", "i j"), "-"),
    (sample("r", "i j", variant="1"), None),
    (sample("r", ""), "a b"),
    (sample("s", "k l", "soft-minor", dataset="mango"), "k l"),
    (sample("s", "m n", "soft-major", "1", dataset="mango"), "o"),
    (sample("t", "o p", "soft-major", dataset="mango"), "o o"),
]


@pytest.fixture
def compared(tmp_path) -> pl.DataFrame:
    return explanation_similarity.compare(*frames(ROWS, tmp_path), by_words, seed=1)


def test_every_erroneous_row_once_with_its_outcome(compared):
    assert compared.columns == list(explanation_similarity.SCHEMA)
    assert dict(compared.select("id", "outcome").iter_rows()) == {
        row.id: {"-": "missed", None: "unreadable"}.get(said, "detected") for row, said in ROWS if row.report.errors
    }
    lost = compared.filter(pl.col("outcome") != "detected")
    left = [name for name in compared.columns if name not in ("id", "dataset", "origin", "group", "outcome")]
    assert lost.select(pl.all_horizontal(pl.col(left).is_null()).all()).item()


def test_similarities_by_hand(compared):
    shown = ("precision", "recall", "f1", "tokens", "gold_tokens", "cut", "unknown")
    found = {row["id"]: tuple(row[name] for name in shown) for row in compared.iter_rows(named=True)}
    assert found["blend/p/0/wrong"] == (0.5, 0.5, 0.5, 4, 4, 0, 0)
    assert found["blend/p/1/wrong"] == (1.0, 0.25, 0.4, 1, 4, 0, 0)
    assert found["blend/q/0/wrong"] == (0.5, 1.0, 0.666667, 4, 2, 1, 1)
    assert found["blend/q/1/wrong"] == (0.0, 0.0, 0.0, 0, 2, 0, 0)
    assert compared.filter(id="mango/s/0/wrong")["cosine"].item() == pytest.approx(1)


def test_a_floor_is_another_groups_and_the_same_for_every_judge(compared, tmp_path):
    gold = {row.id: row for row, _ in ROWS}
    floors = dict(compared.filter(outcome="detected").select("id", "floor_row").iter_rows())
    assert all(gold[own].dataset == gold[other].dataset for own, other in floors.items() if other)
    assert all(gold[own].group != gold[other].group for own, other in floors.items() if other)
    alone = [own for own, other in floors.items() if other is None]
    assert len(alone) == 1, "two rows of one group, one of another: one of the two stays without"
    assert alone[0].startswith("mango/s/")
    turned = [(row, "a") for row, _ in reversed(ROWS)]
    again = explanation_similarity.compare(*frames(turned, tmp_path / "again"), by_words, seed=1)
    others = dict(again.select("id", "floor_row").iter_rows())
    assert floors.items() <= others.items()
    some = [(row, said) for row, said in ROWS if row.dataset == "blend"]
    alone = explanation_similarity.compare(*frames(some, tmp_path / "alone"), by_words, seed=1)
    assert alone.equals(compared.filter(dataset="blend")), "datasets do not touch each other"


def test_a_floor_is_what_was_said_against_the_others_gold(compared):
    said, gold = {row.id: text for row, text in ROWS}, {row.id: row.report.explanation for row, _ in ROWS}
    rows = compared.filter(pl.col("floor_row").is_not_null())
    assert rows.height == 6
    for row in rows.iter_rows(named=True):
        one, other = said[row["id"]].split(), gold[row["floor_row"]].split()
        assert row["floor_precision"] == (sum(word in other for word in one) / len(one) if one else 0)
        assert row["floor_recall"] == sum(word in one for word in other) / len(other)
    assert rows["floor_f1"].max() > 0


def test_the_seed_draws_the_floor(tmp_path):
    rows = [(sample(f"b{at}", "a b"), "a") for at in range(12)]
    drawn = [
        explanation_similarity.compare(*frames(rows, tmp_path), by_words, seed=seed)["floor_row"].to_list()
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_ceiling_is_the_same_mistake_in_other_words(compared):
    found = {row["id"]: (row["ceiling_row"], row["ceiling_f1"]) for row in compared.iter_rows(named=True)}
    assert found["blend/p/0/wrong"] == ("blend/p/1/wrong", 0.5)
    assert found["blend/q/0/wrong"] == (None, None), "the same words"
    assert found["mango/s/0/wrong"] == (None, None), "two soft errors are two mistakes"


def test_the_gold_explanations_themselves_are_perfect(tmp_path):
    rows = [(row, row.report.explanation or "-") for row, _ in ROWS]
    found = explanation_similarity.compare(*frames(rows, tmp_path), by_words, seed=1)
    assert found["f1"].to_list() == found["cosine"].round(5).to_list() == [1.0] * 9


def test_rows_that_do_not_belong_together_are_refused(tmp_path):
    judgements, samples = frames(ROWS, tmp_path)
    with pytest.raises(InputInvalid):
        explanation_similarity.compare(judgements.head(3), samples, by_words, seed=1)


# --- numbers


def test_numbers_by_hand(compared):
    hard = explanation_match.numbers(compared.filter(origin="hard"), seed=1)
    assert [hard[name] for name in ("erroneous", "detected", "missed", "unreadable", "wordless")] == [6, 4, 1, 1, 1]
    f1 = [0.5, 0.4, 0.666667, 0.0]
    assert hard["f1"] == pytest.approx(sum(f1) / 4)
    assert hard["f1_low"] <= hard["f1"] <= hard["f1_high"]
    floor = compared.filter(outcome="detected", origin="hard")["floor_f1"].to_list()
    assert (hard["floor_n"], hard["floor_f1"]) == (4, pytest.approx(sum(floor) / 4))
    assert hard["difference_f1"] == pytest.approx((sum(f1) - sum(floor)) / 4)
    wins = [(own > other) + (own == other) / 2 for own, other in itertools.product(f1, floor)]
    assert hard["auroc_f1"] == pytest.approx(sum(wins) / len(wins))
    assert (hard["ceiling_n"], hard["ceiling_f1"]) == (2, 0.5)
    assert (hard["rows_cut"], hard["pieces_cut"], hard["unknown"]) == (1, 1, 1 / 21)


def test_auroc_compares_within_datasets():
    """An easy dataset's foreign explanations are more alike than a hard one's own: pooled, that would cost."""
    line = dict.fromkeys(explanation_similarity.SCHEMA)
    counts = {f"{of}{what}": 1 for of in ("", "gold_") for what in ("tokens", "cut", "unknown")}
    rows = [
        {**line, **counts, "dataset": name, "group": f"{name}{at}", "outcome": "detected", "origin": "hard"}
        | {"f1": low + 0.1, "floor_f1": low, "cosine": low, "floor_cosine": low}
        for name, low in (("blend", 0.2), ("epic", 0.7))
        for at in range(3)
    ]
    found = explanation_match.numbers(pl.DataFrame(rows, schema=explanation_similarity.SCHEMA), seed=1)
    assert (found["auroc_f1"], found["auroc_cosine"]) == (1.0, 0.5)


def test_parts_are_kinds_and_datasets_and_add_up(compared):
    parts = {(part["kind"], part["dataset"]): part for part in explanation_match.parts(compared, seed=1)}
    assert list(parts) == [("soft", "all"), ("soft", "mango"), ("hard", "all"), ("hard", "blend")]
    assert parts["soft", "all"]["erroneous"] + parts["hard", "all"]["erroneous"] == compared.height


def test_nothing_found_is_no_number(tmp_path):
    rows = [(row, "-" if row.report.errors else None) for row, _ in ROWS]
    found = explanation_similarity.compare(*frames(rows, tmp_path), by_words, seed=1)
    for part in explanation_match.parts(found, seed=1):
        assert part["missed"] == part["erroneous"]
        assert part["f1"] is part["difference_f1"] is part["auroc_f1"] is part["unknown"] is None


# --- scripts


@pytest.fixture
def made(tmp_path, monkeypatch, weights) -> tuple[Path, Path, list[str]]:
    """Rows and numbers of one system, and the arguments both scripts share."""
    monkeypatch.chdir(tmp_path)
    frames(ROWS, Path("in"))
    rows, embedder = Path("explanations/m/all/report/test.parquet"), str(weights.parent / "manifest.json")
    common = ["--embedder", embedder, "--seed", "1"]
    given = ["--judgements", "in/j.parquet", "--samples", "in/s.parquet", *common]
    for target in (rows, Path("again.parquet")):
        compare_explanations.main([*given, "--similarities", str(target)])
    claims = str(ROOT / "paper/claims.csv")
    shown = ["--similarities", str(rows), *common, "--printed-claims", claims]
    table_explanations.main([*shown, "--numbers", "e.csv", "--page", "e.md"])
    return rows, Path("again.parquet"), shown


def test_same_seed_same_bytes(made):
    rows, again, shown = made
    assert rows.read_bytes() == again.read_bytes()
    table_explanations.main([*shown, "--numbers", "f.csv", "--page", "f.md"])
    assert [Path(f"e.{kind}").read_bytes() for kind in ("csv", "md")] == [
        Path(f"f.{kind}").read_bytes() for kind in ("csv", "md")
    ]


def test_the_page_shows_numbers_and_the_papers(made):
    with Path("e.csv").open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert [(line["kind"], line["dataset"]) for line in lines] == [
        ("soft", "all"), ("soft", "mango"), ("hard", "all"), ("hard", "blend"),
    ]  # fmt: skip
    for line in lines:
        assert (line["model"], line["trained_on"], line["judge"]) == ("m", "all", "report")
        assert int(line["detected"]) + int(line["missed"]) + int(line["unreadable"]) == int(line["erroneous"])
        assert (line["cell"], line["embedder"]) == ("explanations/m/all/report/test.parquet", "tiny-bert")
    page = Path("e.md").read_text(encoding="utf-8")
    assert f"{float(lines[0]['f1']):.3f}" in page
    for told in (
        "| 4.01 |",
        "| 3.88 |",
        "| 67 |",
        "| 60 |",
        "| 90 |",
        "another scale",
        "`tiny-bert` (made here, by hand)",
    ):
        assert told in page, told
    for block in page.split("\n## ")[1:]:
        table = [line for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in table}) == 1
