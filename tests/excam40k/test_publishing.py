"""What others get: texts stay texts, licences stay apart, and every file loads with the library it was written for."""

import csv
import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest
import yaml
from base_samples import acting

from excam.core import licences, row_files
from excam.core.provenance import hash_record_path
from excam.core.splits import SPLITS
from excam.error_reports import record_files
from excam.error_reports.records import CulturalError, Report, Sample
from excam.excam40k.audits import checks, page
from excam.excam40k.publishing import card, counts, examples, parts
from excam.excam40k.publishing.about import codes
from excam.pages import markdown
from scripts.excam40k import table_2
from scripts.publishing import publish_excam40k as publish
from scripts.publishing import table_examples

ROOT = Path(__file__).parents[2]
LICENCES = {"blend": "CC-BY-SA-4.0", "epic": "CC-BY-NC-SA-4.0", "calmqa": "MIT", "normad": "CC-BY-4.0"}
LICENCES |= {"culturalbench": "CC-BY-4.0", "include": "Apache-2.0"}
SOFT = ("calmqa", "normad")
NASTY = 'a|b `c` *d* _e_ <script>alert("&")</script>\n# no heading\r\n$x$ [l](http://x.y) ~~z~~ \\ www.a.b me@b.c \x1b[2J\u202e'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def pair(dataset: str, number: int, split: str = "train", output: str = "Sushi in Greece", **changes) -> list[Sample]:
    soft = dataset in SOFT
    right = Sample(
        f"{dataset}/{number}/right", f"{dataset}/{number}", f"{dataset}/{number}", dataset, "freeform",
        f"Which dish? {number}", output, Report(), "source", "Greek", "Greece", "Greece", LICENCES.get(dataset, ""), output,
        ("freeform/instruction/01",), f"{dataset}/{number}", split,
    )  # fmt: skip
    right = replace(right, **changes)
    errors = (CulturalError("output", "Sushi", "minor" if soft else "major", "wrong dish", 0, 5),)
    report = Report(errors, "Sushi is Japanese.")
    wrong = replace(right, id=f"{right.pair}/wrong", report=report, origin="soft-minor" if soft else "hard")
    return [right, wrong]


def write_build(*datasets: str, **changes) -> dict[str, list[str]]:
    """A build as the workflow leaves it; the arguments that its rule gives to the script."""
    arguments: dict[str, list[str]] = {"samples": [], "sources": [], "soft": []}
    for dataset in datasets:
        rows = {split: [] for split in SPLITS}
        for number, split in enumerate(("train", "train", "train", "dev", "test", "test")):
            rows[split] += pair(dataset, number, split, **changes)
        for name, samples in {**rows, "test-100": rows["test"][:2]}.items():
            path = Path(f"results/excam40k/{dataset}/{name}.parquet")
            record_files.write_samples(path, samples)
            arguments["samples"].append(str(path))
        source = Path(f"results/sources/{dataset}/manifest.json")
        source.parent.mkdir(parents=True)
        source.write_text(json.dumps({"origin": f"hub x/{dataset}", "revision": "c" * 40}))
        arguments["sources"].append(str(source))
        if dataset in SOFT:
            written = Path(f"results/errors/soft/{dataset}.counts.json")
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(json.dumps({"generators": ["lexicon"]}))
            arguments["soft"].append(str(written))
    Path("summary.md").write_text("# Audits\n\nPassed: 3 of 3 checks, see [leaks](leaks.md)\n")
    return arguments


def build(name: str, arguments: dict[str, list[str]], folder: str = "results/published") -> Path:
    place = Path(folder) / name
    words = [word for option, values in arguments.items() for word in (f"--{option}", *values)]
    files = ["--card", f"{place}/README.md"]
    words += [] if "benchmarks" in arguments else ["--benchmarks", "{}"]
    publish(["--build", name, *words, "--audits", "summary.md", *files, "--manifest", f"{place}/manifest.json"])
    return place


def header(place: Path) -> dict:
    return yaml.safe_load((place / "README.md").read_text(encoding="utf-8").split("---\n")[1])


# --- texts are data


def test_a_text_becomes_no_markup():
    from markdown_it import MarkdownIt

    page = markdown.table(["text"], [[markdown.escape(NASTY)]])
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(page)
    (cell,) = html.split("<td>")[1:]
    cell = cell.split("</td>")[0]
    assert not {tag for tag in ("<script", "<em", "<strong", "<code", "<a ", "<s>", "<h1") if tag in cell}, cell
    shown = [unescape(line) for line in cell.split("<br>")]
    assert shown == [
        'a|b `c` *d* _e_ <script>alert("&")</script>',
        "# no heading",
        "$x$ [l](http://x.y) ~~z~~ \\ www.a.b me@b.c \\x1b[2J\\u202e",
    ]
    assert page.count("\n") == 3, "a text never breaks its table"
    assert not {link for link in ("http://", "www.a", "me@b") if link in page}, "GitHub makes links of these"


def test_errors_are_marked_where_they_stand():
    errors = (
        *[CulturalError("output", "無", "major", "t", 1, 2)] * 2,
        CulturalError("instruction", "x", "major", "t", 0, 1),
        CulturalError("output", "absent", "minor", "t"),
        CulturalError("output", "<b>", "minor", "t", 3, 6),
    )
    marked = examples.mark_errors("a無c<b>", "output", errors)
    assert marked == "a<strong>\\[無\\]</strong>c<strong>\\[&lt;b&gt;\\]</strong>"


def test_links_of_a_page_inside_a_page():
    """Ours go; what looks like one in a text stays as it was escaped."""
    text = f"[leaks](leaks.md) {markdown.escape('[*x*](y.md)')}"
    assert markdown.remove_page_links(text) == r"leaks \[\*x\*\](y.md)"


def test_headings_of_a_page_inside_a_page():
    assert markdown.demote_headings("# A\ntext # no\n\n##### B\n", 2) == "### A\ntext # no\n\n###### B\n"


# --- tables of examples


def test_the_shortest_pair_is_the_example_of_a_dataset():
    rows = [*pair("blend", 1, output="a long long answer"), *pair("blend", 2), *pair("blend", 3)]
    freeform = pair("blend", 4, output="x", pair="blend/4/freeform")
    assert examples.shortest([*freeform, *rows]).id == "blend/2/right", "with its options, then by length, then by id"
    assert examples.shortest([*rows, *pair("blend", 0, language="Korean")], "Korean").id == "blend/0/right"
    assert examples.shortest(rows, "Korean").id == "blend/2/right"
    assert examples.shortest(freeform).pair == "blend/4/freeform"
    assert examples.shortest([]) is None


def test_table_1_shows_both_kinds():
    for name in ("blend", "normad"):
        record_files.write_samples(
            Path(f"{name}/test.parquet"), [*pair(name, 1, "test"), *pair(name, 2, "test", "Sushi, again")]
        )
    table_examples(["--number", "1", "--samples", "blend/test.parquet", "normad/test.parquet", "--page", "t.md"])
    text = Path("t.md").read_text(encoding="utf-8")
    assert "|  | soft error | hard error |\n" in text
    assert "| output | <strong>\\[Sushi\\]</strong>, again | <strong>\\[Sushi\\]</strong>, again |" in text
    assert "| severity | minor | major |" in text
    assert "| gold score | -1 | -5 |" in text
    assert "| explanation | Sushi is Japanese. | Sushi is Japanese. |" in text
    table_examples(["--number", "1", "--samples", "blend/test.parquet", "--page", "t.md"])
    assert "holds no row with a soft error." in Path("t.md").read_text()


def test_table_8_lists_absent_datasets():
    record_files.write_samples(Path("normad/test.parquet"), pair("normad", 1, "test"))
    table_examples(["--number", "8", "--samples", "normad/test.parquet", "--page", "t.md"])
    text = Path("t.md").read_text()
    assert "| NormAd | freeform | Which dish? 1 | Sushi in Greece | CC-BY-4.0 |" in text
    assert "Not in this build, or without a row in its test split: CulturalBench.\n" in text
    table_examples(["--number", "9", "--samples", "--page", "t.md"])
    assert ": INCLUDE, GlobalOpinionQA, NativQA, BLEnD, Mango.\n" in Path("t.md").read_text()


# --- Table 2


def put_counts(dataset: str, kind: str, train: int, dev: int, test: int) -> str:
    none = dict.fromkeys(parts.LABELS, 0)
    halves = dict(zip(SPLITS, (train, dev, test), strict=True))
    cells = {split: {**none, "right": half, f"wrong_{kind}": half} for split, half in halves.items()}
    path = Path(dataset) / "counts.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "beyond_cap": 4, "dropped": {"a": 1, "b": 2, "too-long": 5}}))
    return str(path)


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def made_table_2(*paths: str) -> list[dict[str, str]]:
    printed = ["--printed", str(ROOT / "paper/table-2.csv"), "--printed-claims", str(ROOT / "paper/claims.csv")]
    table_2(["--counts", *paths, *printed, "--numbers", "t.csv", "--claims", "c.csv", "--page", "t.md"])
    return rows_of("t.csv")


def test_table_2_has_every_cell_and_the_printed_numbers_beside():
    blend, normad, everything = made_table_2(
        put_counts("blend", "hard", 1800, 250, 400), put_counts("normad", "soft", 3, 2, 1)
    )
    assert tuple(blend) == counts.COLUMNS
    assert [blend[column] for column in ("train", "dev", "test", "rows")] == ["3600", "500", "800", "4900"]
    assert [blend[f"train_{label}"] for label in parts.LABELS] == ["1800", "1800", "0"]
    assert [normad[f"test_{label}"] for label in parts.LABELS] == ["1", "0", "1"]
    assert (blend["train_paper"], blend["train_difference"]) == ("3500", "100")
    assert (blend["test_paper"], blend["test_difference"], blend["rows_difference"]) == ("1000", "-200", "-100")
    assert everything["rows"] == "4912"
    assert everything["rows_paper"] == str(5000 + 1400), "of the datasets above it"
    assert (everything["beyond_cap"], everything["too_long"], everything["without_twin"]) == ("8", "10", "6")
    for line in rows_of("t.csv"):
        assert int(line["rows"]) == sum(int(line[cell]) for cell in counts.CELLS)
        assert int(line["right"]) * 2 == int(line["rows"])


def test_table_2_without_a_printed_number():
    own, everything = made_table_2(put_counts("macaron", "hard", 1, 1, 1))
    assert {own[column] for column in counts.BESIDE} == {everything[column] for column in counts.BESIDE} == {""}


def test_table_2_beside_the_text_which_contradicts_itself():
    made_table_2(put_counts("blend", "hard", 1000, 100, 100))
    claims = {row["claim"]: row for row in rows_of("c.csv")}
    printed = {"hard error samples": "12200", "soft error samples": "8300", "error-free samples": "18800"}
    assert {name: row["paper"] for name, row in claims.items()} == printed
    assert (claims["hard error samples"]["ours"], claims["hard error samples"]["difference"]) == ("1200", "-11000")
    assert all(row["contradiction"] for row in claims.values())
    page = Path("t.md").read_text(encoding="utf-8")
    assert "| BLEnD | 2000 / 3500 (-1500) | 200 / 500 (-300) |" in page
    assert all(number in page for number in ("37.6k", "39.3k", "20.5k"))


# --- the builds


def test_every_configuration_loads_and_counts_match(tmp_path):
    import datasets

    place = build("all", write_build(*LICENCES))
    configs = {entry["config_name"]: entry for entry in header(place)["configs"]}
    assert set(configs) == {*LICENCES, "cc-by-sa-4.0", "cc-by-nc-sa-4.0", "mit", "cc-by-4.0", "apache-2.0"}
    for name in configs:
        loaded = datasets.load_dataset(str(place), name, cache_dir=str(tmp_path / "cache"))
        own = [dataset for dataset, licence in LICENCES.items() if name in (dataset, licence.lower())]
        sizes = {"train": 6 * len(own), "dev": 2 * len(own), "test": 4 * len(own)}
        assert {split: len(rows) for split, rows in loaded.items()} == sizes
        assert set(loaded["test"]["dataset"]) == set(own)
        assert set(loaded["dev"]["split"]) == {"dev"}
    right, wrong = loaded["test"].select(range(2))
    assert (right["errors"], right["score"], right["in_test_100"]) == ([], 0, True)
    (error,) = wrong["errors"]
    expected = {"where": "output", "span": "Sushi", "type": "wrong dish", "start": 0, "end": 5}
    assert error == expected | {"severity": error["severity"]}
    assert sum(loaded["test"]["in_test_100"]) == 2 * len(own)


def test_features_and_sizes_are_declared_as_the_shards_have_them(tmp_path, caplog):
    """What others load is typed by the card; saved and loaded again, it is the same and our own commands read it."""
    import datasets
    from datasets.exceptions import NonMatchingSplitsSizesError

    place, cache = build("all", write_build("blend", "normad")), str(tmp_path / "cache")
    loaded = datasets.load_dataset(str(place), "blend", cache_dir=cache)
    features = loaded["test"].features
    assert features["templates"] == datasets.List(datasets.Value("string"))
    assert features["errors"].feature["start"] == datasets.Value("int64")
    assert (features["output"], features["in_test_100"]) == (datasets.Value("string"), datasets.Value("bool"))
    shard = place / "cc-by-sa-4.0/blend/test.parquet"
    assert loaded["test"].to_list() == pl.read_parquet(shard).to_dicts()
    assert list(features) == pl.read_parquet_schema(shard).names()
    loaded.save_to_disk(tmp_path / "saved")
    assert datasets.load_from_disk(tmp_path / "saved")["test"].features == features
    assert [row for _, row in row_files.rows(tmp_path / "saved/test")] == loaded["test"].to_list()
    assert "&id" not in (place / "README.md").read_text(encoding="utf-8"), "each configuration is whole for any reader"
    assert "malformed" not in caplog.text, "`datasets` leaves out what it cannot read in a card"
    (place / "cc-by-4.0/normad/dev.parquet").write_bytes((place / "cc-by-4.0/normad/test.parquet").read_bytes())
    with pytest.raises(NonMatchingSplitsSizesError):
        datasets.load_dataset(str(place), "normad", cache_dir=cache)


def test_the_permissive_build_holds_nothing_else():
    """Even where it is given everything."""
    place = build("permissive", write_build(*LICENCES))
    rows = pl.concat([pl.read_parquet(path) for path in place.rglob("*.parquet")])
    assert set(rows["licence"]) == {licence for licence in LICENCES.values() if licences.is_permissive(licence)}
    assert set(rows["dataset"]) == {"calmqa", "normad", "culturalbench", "include"}
    written = (place / "README.md").read_text(encoding="utf-8")
    assert "`blend/" not in written
    assert "epic/" not in written
    assert {path.name for path in place.iterdir() if path.is_dir()} == {"mit", "cc-by-4.0", "apache-2.0"}


def test_rows_that_may_not_be_changed_are_in_no_build(capsys):
    arguments = write_build("epic", "normad", licence="CC-BY-ND-4.0") | {"benchmarks": ['{"epic": {"terms": null}}']}
    place = build("all", arguments)
    assert not list(place.rglob("*.parquet"))
    assert "**Not in it:** EPIC (CC-BY-ND-4.0, 12 rows), NormAd" in (place / "README.md").read_text(encoding="utf-8")
    assert json.loads((place / "manifest.json").read_text())["withheld"] == {"epic": 12, "normad": 12}
    assert "without 12 rows of epic: CC-BY-ND-4.0: no derivatives" in capsys.readouterr().err


def test_a_benchmark_outside_of_the_package_is_titled_cited_and_under_its_stated_terms():
    arguments = write_build("mine", licence="LicenseRef-own")
    said = {"mine": {"terms": ["attribution", "non-commercial"], "title": "Mine & theirs", "citation": "Me 2026. Mine"}}
    place = build("all", arguments | {"benchmarks": [json.dumps(said)]})
    text = (place / "README.md").read_text(encoding="utf-8")
    assert "| `mine` | Mine & theirs |" in text
    assert "- Me 2026. Mine." in text
    assert "- **non-commercial** (LicenseRef-own): no commercial use" in text
    assert not list(build("permissive", arguments | {"benchmarks": [json.dumps(said)]}).rglob("*.parquet"))


def test_nothing_permissive_gives_an_empty_card(capsys):
    place = build("permissive", write_build("blend"))
    assert "holds no rows" in " ".join((place / "README.md").read_text(encoding="utf-8").split())
    assert header(place)["configs"] == []
    assert json.loads((place / "manifest.json").read_text())["rows"] == 0
    assert capsys.readouterr().err.splitlines()[-1].endswith("no dataset is under a permissive licence, an empty card")


def test_a_split_without_rows_has_no_file():
    arguments = write_build("blend")
    record_files.write_samples(Path("results/excam40k/blend/dev.parquet"), [])
    place = build("all", arguments)
    assert not (place / "cc-by-sa-4.0/blend/dev.parquet").exists()
    assert [entry["split"] for entry in header(place)["configs"][0]["data_files"]] == ["train", "test"]


def test_the_same_rows_give_the_same_bytes():
    arguments = write_build("blend", "normad")
    first, second = build("all", arguments), build("all", arguments, "again")
    names = {path.relative_to(first) for path in first.rglob("*") if path.is_file()} - {Path("manifest.json")}
    assert len(names) == 7
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def test_files_of_an_earlier_build_are_removed():
    arguments = write_build("blend", "normad")
    place = build("all", arguments)
    build("all", {option: [value for value in values if "blend" in value] for option, values in arguments.items()})
    assert {path.parent.name for path in place.rglob("*.parquet")} == {"blend"}
    assert "normad" not in json.dumps(json.loads((place / "manifest.json").read_text())["outputs"])
    recorded = {path.parent.name for path in hash_record_path(place).parent.glob("all/*/*/*.sha256")}
    assert recorded == {"blend"}, "an audit misses no file that was withdrawn"


def test_the_manifest_is_written_last(monkeypatch):
    arguments = write_build("blend")
    place = build("all", arguments)
    monkeypatch.setattr(card, "card_text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        build("all", arguments)
    assert not (place / "manifest.json").exists()


# --- the card


def test_the_card_has_the_required_statements():
    place = build("all", write_build(*LICENCES, output=f"Sushi {NASTY}"))
    text = (place / "README.md").read_text(encoding="utf-8")
    top = header(place)
    assert (top["license"], top["language"], top["size_categories"]) == ("other", ["el"], ["n<1K"])
    flat = " ".join(text.split())
    for part in (
        "Soft errors were written by `lexicon`, not by the paper's generator",
        "The collection is never licensed as a whole",
        "### Audits Passed: 3 of 3 checks, see leaks ",
        *("Majority opinion", "favour texts of its own model family", "Knowledge.", "Severity is subjective"),
        *("plausible, not faithful", "Errors on purpose", "find offensive", "anonymised no further"),
        "**share-alike** (CC-BY-SA-4.0)",
        "Myung et al. 2024",
        "| `errors` | errors |",
    ):
        assert part in flat, part
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert all(any(f"Table {number})" in title for title in titles) for number in (1, 2, 8, 9, 10))
    assert "\x1b" not in text
    assert "<script" not in text
    assert [line for line in text.splitlines() if line.startswith("# ")] == [f"# {card.NAME} (all)"]


def test_what_other_annotators_say_is_published_beside_their_rows():
    arguments = write_build("epic", "calmqa")
    shares = dict(enumerate([1.0, 0.75, 0.5, 0.25, 0.0, None]))
    asked = {number: 0 if share is None else 4 for number, share in shares.items()}
    bases = [acting(id=f"epic/{n}", label="ironic", agreement=shares[n], asked=asked[n]) for n in shares]
    unescaped = {"rule": "html-entities", "column": "text", "published": "A &amp; |", "ours": "A & |"}
    bases[0] = replace(bases[0], changes=(unescaped,))
    record_files.write_bases(Path("results/samples/epic.bases.jsonl"), bases)
    place = build("all", {**arguments, "bases": ["results/samples/epic.bases.jsonl"]})
    rows = pl.concat([pl.read_parquet(path) for path in place.glob("*/epic/*.parquet")])
    assert set(rows.select("base", "agreement").iter_rows()) == {(f"epic/{n}", share) for n, share in shares.items()}
    assert set(rows["asked"]) == {4, 0}
    others = pl.concat([pl.read_parquet(path) for path in place.glob("*/calmqa/*.parquet")])
    assert others["agreement"].null_count() == others["asked"].null_count() == others.height
    text = " ".join((place / "README.md").read_text(encoding="utf-8").split())
    said = "(EPIC)**: of 5 base rows, most other annotators of the same text gave the other label for 2, and half"
    assert said in text
    assert "a scaled accuracy of 0.0" in text
    assert text.count("One annotator's label") == 1
    assert "| EPIC | html-entities | 1 of 6 | A &amp;amp; &#124; | A &amp; &#124; |" in text


def of_blend() -> parts.DatasetPart:
    splits = {split: tuple(pair("blend", 1, split)) for split in SPLITS}
    return parts.DatasetPart("blend", "CC-BY-SA-4.0", splits, frozenset(), "", "", (), "share-alike", "BLEnD", "")


def test_the_card_quotes_audits_as_texts():
    bad = checks.Check("c", "d", "<img src=x onerror=alert(1)>", f"{NASTY}", "failed")
    part = of_blend()
    text = card.card_text("all", [part], [], page.summary({"leaks": [bad]}))
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert not {tag for tag in ("<img", "<script", "\x1b", "leaks.md") if tag in text}
    assert "| leaks | 0 | 1 | 0 | 0 | 1 |" in text


def test_the_card_names_a_folder_but_no_machine():
    part = of_blend()
    assert "the folder `mini/blend`" in card.card_text("all", [replace(part, origin="folder mini/blend")], [], "")
    text = card.card_text("all", [replace(part, origin="folder /home/someone/blend")], [], "")
    assert "a local folder" in text
    assert "someone" not in text
    assert "Read from local folders" in text


def test_languages_by_code():
    assert codes(["Greek", "Balochi", "Chinese", "North Macedonian", "Klingon"]) == ["bal", "el", "mk", "zh"]
