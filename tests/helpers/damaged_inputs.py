"""Files of users' rows, and what happens to such files: cut, flipped, mixed, saved by another program.

`DAMAGES` change a sound file; `check` reads the result. Nothing may raise but InputInvalid with one line, and no row may
be lost without a word: where rows are missing, some bad row or the refusal of the file says so.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import polars as pl

from excam.core import row_files
from excam.core.exceptions import ArtifactBroken, InputInvalid, ModelInvalid
from excam.scoring import result_files, rows
from excam.scoring.metric import Outcome, Row, available
from excam.scoring.results import Result
from excam.scoring.scorer import Scorer

METRICS = [available()[name] for name in ("excam", "rubric", "bleu", "acre", "acre-equivalent", "calmqa")]
TEXTS = ("Sushi.", 'Knödel, "groß"; ja', "寿司", "line\nbreak", "=1+1", "'", "\u202e", "a\u2028b", "x" * 700)
ODD = (None, 5, -1.5, True, [], ["x"], {}, {"a": [1]}, "", " ", "NaN", float("nan"), float("inf"), 10**40, "\ud800")


def sound_rows(draw: Random) -> list[dict]:
    return [
        {"id": f"r{at}", "instruction": draw.choice(TEXTS), "output": draw.choice(TEXTS), "language": "German"}
        for at in range(draw.randint(1, 12))
    ]


def as_json_lines(records: list[dict]) -> bytes:
    lines = (json.dumps(record, ensure_ascii=at % 2 == 0) + "\n" for at, record in enumerate(records))
    return "".join(lines).encode("utf-8", "replace")


def as_table(separator: str) -> Callable[[list[dict]], bytes]:
    return lambda records: pl.DataFrame(records).write_csv(separator=separator).encode()


def as_parquet(records: list[dict]) -> bytes:
    pl.DataFrame(records).write_parquet(made := io.BytesIO())
    return made.getvalue()


def as_arrow(records: list[dict]) -> bytes:
    pl.DataFrame(records).write_ipc_stream(made := io.BytesIO())
    return made.getvalue()


def as_chat(records: list[dict]) -> bytes:
    turns = ("user", "instruction"), ("assistant", "output")
    return as_json_lines(
        [
            {"id": record["id"], "messages": [{"role": role, "content": record[name]} for role, name in turns]}
            for record in records
        ]
    )


def as_samples(records: list[dict]) -> bytes:
    return as_json_lines(
        [
            {"doc_id": record["id"], "doc": {"question": record["instruction"]}, "resps": [[record["output"]]],
             "filtered_resps": [record["output"]], "arguments": {"gen_args_0": {"arg_0": record["instruction"]}}}
            for record in records
        ]
    )  # fmt: skip


def as_inspect(records: list[dict]) -> list[dict]:
    return [
        {
            "id": record["id"],
            "epoch": 1,
            "input": record["instruction"],
            "output": {"completion": record["output"], "choices": []},
        }
        for record in records
    ]


FORMATS: Mapping[str, Callable[[list[dict]], bytes]] = {
    ".jsonl": as_json_lines,
    ".json": lambda records: json.dumps(records).encode(),
    ".csv": as_table(","),
    ".tsv": as_table("\t"),
    "-semicolons.csv": as_table(";"),
    "-utf16.csv": lambda records: as_table(";")(records).decode().encode("utf-16"),
    ".txt": as_table("\t"),
    ".jsonl.gz": lambda records: gzip.compress(as_json_lines(records), mtime=0),
    ".parquet": as_parquet,
    ".arrow": as_arrow,
    "-chat.jsonl": as_chat,
    "-samples.jsonl": as_samples,
    "-inspect.jsonl": lambda records: as_json_lines(as_inspect(records)),
}


def flipped(draw: Random, data: bytes) -> bytes:
    if not data:
        return data
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :]


def cut(draw: Random, data: bytes) -> bytes:
    return data[: draw.randrange(len(data) + 1)]


def spliced(draw: Random, data: bytes) -> bytes:
    odd = (b"\0", b'"', b"\xff", b"\n", b"\r", b";", b"\xef\xbb\xbf", b"{", b"]", b"\x1f\x8b", b"\xed\xa0\x80", b"=1+1")
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(odd) * draw.choice((1, 1, 2, 50)) + data[at:]


def swapped(draw: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines)


def doubled(_: Random, data: bytes) -> bytes:
    return data + data


BYTES = (flipped, cut, spliced, swapped, doubled)


def with_odd_values(draw: Random, records: list[dict]) -> list[dict]:
    """Rows of which some have a value of another kind, lack a column, or repeat an id."""
    made = []
    for record in records:
        row = dict(record)
        if draw.random() < 0.4:
            name = draw.choice([*row])
            row[name] = draw.choice(ODD)
            if draw.random() < 0.3:
                del row[name]
        if draw.random() < 0.2:
            row["id"] = draw.choice((records[0]["id"], 1, 1.0, None))
        made.append(row)
    return made


def check(draw: Random, folder: Path, format_: str) -> None:
    """Write rows, damage them as values or as bytes, and read them for a metric."""
    before, path = sound_rows(draw), folder / f"rows{format_}"
    valued = draw.random() < 0.4 and format_ in (".jsonl", ".json", ".jsonl.gz")
    records = with_odd_values(draw, before) if valued else before
    data = FORMATS[format_](records)
    harm = None if valued else draw.choice(BYTES)
    path.write_bytes(harm(draw, data) if harm else data)
    metric = draw.choice(METRICS[:1] if valued else METRICS)
    named = {"translation": "output", "reference": "instruction"} if metric.name in ("bleu", "acre-equivalent") else {}
    named = {name: column for name, column in named.items() if name in metric.reads}
    try:
        file = rows.RowFile(path, metric, named)
        survey, entries = file.survey(), list(file)
        _ = file.said
    except InputInvalid as problem:
        assert_one_line(problem)
        return
    assert survey.rows == len(entries)
    assert sum(survey.failures.values()) == sum(entry.failure is not None for entry in entries)
    assert len({entry.id for entry in entries}) == len(entries)
    if valued:
        assert len(entries) == len(records), "one row for each"
        return
    bad = sum(entry.failure is not None for entry in entries)
    kept = {entry.id for entry in entries if entry.failure is None}
    lost = {record["id"] for record in before} - kept
    if harm is flipped and lost and not format_.endswith((".parquet", ".arrow", ".gz")):
        assert bad or len(entries) == len(before), f"{lost} lost without a word"


def assert_one_line(problem: Exception) -> None:
    line = str(problem)
    assert line, repr(problem)
    assert "\n" not in line, line
    assert len(line) < 2000, line[:300]


def sound_results(draw: Random) -> list[Result]:
    """Results of some rows, some with a failure."""
    metric = available()["excam"]
    made = []
    for record in sound_rows(draw):
        outcome = (
            Outcome(None, "no-json") if draw.random() < 0.2 else Outcome(draw.uniform(-9, 1), certainty=draw.random())
        )
        row = Row(record["id"], {"instruction": record["instruction"], "output": record["output"]})
        made.append(Scorer(metric, None)._result(row, outcome))
    return made


def _alike(read: Result, written: Result) -> bool:
    """Whether a result is the one that was written, but for the fifteenth digit, which a workbook does not keep."""
    pairs = zip(read.to_dict().items(), written.to_dict().items(), strict=True)
    return all(
        a == b or (a[0] == b[0] and isinstance(b[1], float) and math.isclose(a[1], b[1], rel_tol=1e-14))
        for a, b in pairs
    )


def check_results(draw: Random, folder: Path, suffix: str) -> None:
    """Write results in a format, damage the file, and read it: as they were, other sound ones, or one line."""
    path, before = folder / f"scored{suffix}", sound_results(draw)
    result_files.write(path, before)
    if draw.random() < 0.1:
        assert all(_alike(*pair) for pair in zip(result_files.read(path), before, strict=True))
        return
    path.write_bytes(draw.choice(BYTES)(draw, path.read_bytes()))
    try:
        results = list(result_files.read(path))
    except InputInvalid as problem:
        assert_one_line(problem)
        return
    for result in results:
        json.dumps(result.to_dict(), allow_nan=False)
    assert isinstance(result_files.is_scored(path), bool)


def check_tables(draw: Random, folder: Path, _: str) -> None:
    """Labels of `excam meta`, truths of `excam calibrate`, a calibration, documents: one line or sound values."""
    from excam.knowledge import documents
    from excam.scoring import calibration, meta_rows

    table = [
        {"id": f"r{at}", "label": draw.choice((0, 1, 3.5, "true", *ODD)), "error": draw.choice((0, 1, "no", *ODD)),
         "text": draw.choice((*TEXTS, *ODD)), "licence": draw.choice(("MIT", *ODD)), "cluster": draw.choice(("a", *ODD))}
        for at in range(draw.randint(1, 6))
    ]  # fmt: skip
    (place := folder / "documents").mkdir(exist_ok=True)
    path = place / "rows.jsonl"
    path.write_bytes(draw.choice(BYTES)(draw, as_json_lines(table)) if draw.random() < 0.5 else as_json_lines(table))
    kept = folder / "calibration.json"
    kept.write_bytes(draw.choice(BYTES)(draw, json.dumps({"judged": "x", "calibration": {"method": "platt"}}).encode()))
    readers: list[Callable[[], object]] = [
        lambda: meta_rows.read_gold(path, meta_rows.GoldColumns(label="label", cluster=draw.choice((None, "cluster")))),
        lambda: calibration.read(kept, "x", (0.4, 0.6)),
        lambda: documents.read([place]),
        lambda: list(row_files.rows(path)),
    ]
    for read in readers:
        try:
            read()
        except (InputInvalid, ModelInvalid, ArtifactBroken) as problem:
            assert_one_line(problem)


CHECKS: Mapping[str, tuple[Callable[[Random, Path, str], None], str]] = {
    **{f"rows{format_}": (check, format_) for format_ in FORMATS},
    **{f"scored{suffix}": (check_results, suffix) for suffix in result_files.SUFFIXES},
    "labels, truths, calibrations, documents": (check_tables, ""),
}
