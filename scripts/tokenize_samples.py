"""The training rows of one set as token ids of one base model, made once for every mixture (spec 46)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from excam import provenance, tables
from excam.inference import chat
from excam.training import tokens
from scripts import run


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="manifest of the fetched base model")
    parser.add_argument("--samples", type=Path, required=True, help="<dataset>/<split>.parquet")
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    args = parser.parse_args(argv)

    tokenizer = chat.load_tokenizer(args.weights.parent / "files")
    rows = tokens.encode(tokenizer, tables.read_samples(args.samples))
    tables.write_frame(args.tokens, rows)
    counts = tokens.statistics(rows)
    provenance.write_json(args.counts, counts)
    provenance.say(f"{args.tokens}: {counts}")


if __name__ == "__main__":
    run(main)
