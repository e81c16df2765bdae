"""Long real answers judged by what people answered: each reported error beside its text and evidence, for reading.

    python -m bench.long_answers prepare --data FOLDER --to FOLDER
    python -m bench.long_answers ask --rows FOLDER/rows.jsonl --model FOLDER [--adapter FOLDER] --to verdicts.jsonl
    python -m bench.long_answers sheet --rows FOLDER/rows.jsonl --verdicts verdicts.jsonl --to sheet.csv

`prepare` takes CaLMQA's questions about English-speaking cultures that a person answered (`--data` holds
`calmqa.jsonl.gz` and `calmqa_model_answers.jsonl.gz`). The people's answers become a knowledge pack; of each question
the model answer whose length is nearest to `WORDS` is judged, the `--texts` nearest in all. What is searched for each
sentence is written beside the text, so that `ask` needs no pack and can run on a machine that is lent for minutes.
`sheet` writes a line for each reported error; a reader fills the column `reader`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from excam.core.provenance import write_text
from excam.error_reports.judges import grounded
from excam.error_reports.records import Report, Sample, Verdict
from excam.inference import Flow, Sampling
from excam.inference.run import run
from excam.knowledge.passages import Passage

WORDS = 150
LANGUAGE = "English"
TOKENS = 128  # of a stated answer


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    step = commands.add_parser("prepare")
    step.add_argument("--data", type=Path, required=True)
    step.add_argument("--texts", type=int, default=40)
    step.set_defaults(command=prepare)
    step = commands.add_parser("ask")
    step.add_argument("--rows", type=Path, required=True)
    step.add_argument("--model", type=Path, required=True)
    step.add_argument("--adapter", type=Path)
    step.add_argument("--batch", type=int, default=4, help="texts that are asked at once, and between two writes")
    step.set_defaults(command=ask)
    step = commands.add_parser("sheet")
    step.add_argument("--rows", type=Path, required=True)
    step.add_argument("--verdicts", type=Path, required=True)
    step.set_defaults(command=write_sheet)
    for step in commands.choices.values():
        step.add_argument("--to", type=Path, required=True)
    args = parser.parse_args(argv)
    args.command(args)


def prepare(args: argparse.Namespace) -> None:
    """Write `documents/`, the pack of them, and `rows.jsonl`: texts with the passages of each of their sentences."""
    from excam.knowledge import documents, index

    asked = {
        row["question_id"]: row
        for row in _gzipped(args.data / "calmqa.jsonl.gz")
        if row["language"] == LANGUAGE and row["answer"] and row["question_type"] == "culturally specific"
    }
    folder = args.to / "documents"
    for at, row in enumerate(asked.values()):
        title = " ".join(row["question"].split())
        write_text(folder / f"{at:03}.md", f"# {title}\n\n{row['answer'].strip()}\n")
    opened = index.build([folder], args.to / "pack", documents.Stated(language="en", licence="MIT"))
    answers = [row for row in _gzipped(args.data / "calmqa_model_answers.jsonl.gz") if row["question_id"] in asked]
    nearest: dict[str, dict[str, Any]] = {}
    for row in sorted(answers, key=lambda row: (abs(len(row["answer"].split()) - WORDS), row["answer_id"])):
        nearest.setdefault(row["question_id"], row)
    lines: list[str] = []
    for row in list(nearest.values())[: args.texts]:
        question = asked[row["question_id"]]["question"]
        sample = _sample(row["answer_id"], question, row["answer"])
        evidence = {}
        for claim in grounded.claims_of(sample):
            passages = opened.passages_for(question, claim.text)
            unrelated = opened.unrelated(f"{question} {claim.text}")
            evidence[claim.text] = [[asdict(passage) for passage in passages], unrelated]
        fields = {"id": row["answer_id"], "model": row["model"], "question": question, "answer": row["answer"]}
        lines.append(json.dumps(fields | {"evidence": evidence}, ensure_ascii=False))
    write_text(args.to / "rows.jsonl", "".join(f"{line}\n" for line in lines))
    print(f"{len(asked)} questions, {len(opened.passages)} passages, {len(lines)} texts")


def ask(args: argparse.Namespace) -> None:
    """Judge texts with a model, those that `--to` does not have; a line for each with its verdict."""
    from bench.grounded import loaded
    from excam.inference.journal import InMemory
    from excam.inference.journal import ask as asking

    backend = loaded(args.model, args.adapter)
    sampling = Sampling(max_tokens=TOKENS, logprobs=False)
    rows = _lines(args.rows)
    evidence = {row["id"]: row["evidence"] for row in rows}
    done = {line["id"] for line in _lines(args.to)} if args.to.exists() else set[str]()
    samples = [_sample(row["id"], row["question"], row["answer"]) for row in rows if row["id"] not in done]
    args.to.parent.mkdir(parents=True, exist_ok=True)
    for at in range(0, len(samples), args.batch):
        part = samples[at : at + args.batch]
        verdicts = run(partial(_judged, evidence), part, partial(asking, backend, sampling, InMemory()))
        with args.to.open("a", encoding="utf-8") as stream:
            for sample, verdict in zip(part, verdicts, strict=True):
                stream.write(json.dumps({"id": sample.id, **_line(verdict)}, ensure_ascii=False) + "\n")
        print(f"{args.to.name}: {at + len(part)} of {len(samples)}", flush=True)


def _judged(evidence: Mapping[str, Mapping[str, Any]], sample: Sample) -> Flow[Verdict]:
    """Judge a text by what was searched for its sentences: `evidence` is by text and sentence."""

    def search(_: str, sentence: str) -> grounded.Evidence:
        passages, unrelated = evidence[sample.id][sentence]
        return grounded.Evidence(tuple(Passage(**passage) for passage in passages), unrelated)

    return grounded.judge(sample, search)


def _line(verdict: Verdict) -> dict[str, Any]:
    errors = [asdict(error) for error in verdict.report.errors] if verdict.report else []
    return {"failure": verdict.failure, "errors": errors, "parts": dict(verdict.parts)}


def write_sheet(args: argparse.Namespace) -> None:
    """Write a line for each reported error, with the sentence, what is expected, and the passages of the text."""
    rows = {row["id"]: row for row in _lines(args.rows)}
    claims: Counter[str] = Counter()
    with args.to.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("id", "question", "sentence", "marked", "expected", "passages", "reader", "why"))
        for verdict in _lines(args.verdicts):
            row, parts = rows[verdict["id"]], verdict["parts"]
            claims.update({name: parts.get(name, 0) for name in ("claims", "agrees", "differs", "not known", "failed")})
            for error in verdict["errors"]:
                sentence, expected = _statement(parts["statements"], error, row["answer"])
                passages = "\n".join(parts.get("passages", []))
                writer.writerow((row["id"], row["question"], sentence, error["span"], expected, passages, "", ""))
    print(f"{args.to}: {dict(claims)}")


def _statement(statements: Sequence[str], error: dict[str, Any], text: str) -> tuple[str, str]:
    """Return the sentence of an error and what is expected there."""
    for line in statements:
        outcome, _, rest = line.partition(": ")
        sentence, _, expected = rest.rpartition("; expected: ")
        places = [place.start() for place in re.finditer(re.escape(sentence), text)] if sentence else []
        if outcome == "differs" and any(begin <= error["start"] < begin + len(sentence) for begin in places):
            return sentence, expected
    raise SystemExit(f"{error}: no statement holds it; expected the statement that it follows from")


def _sample(id: str, question: str, answer: str) -> Sample:
    nothing: dict[str, Any] = dict.fromkeys(("dataset", "culture", "stratum", "licence", "answer"), "")
    same = dict.fromkeys(("id", "pair", "base"), id)
    texts = {"instruction": question, "output": answer, "language": LANGUAGE}
    return Sample(**same, **texts, task="generation", report=Report(), origin="source", **nothing)


def _gzipped(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
