"""A model's answers to the annotators' questions, counted, and beside people's majorities where there are any."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from excam import tables
from excam.annotation import campaign
from excam.evaluation import first_look, human_answers
from excam.markdown import escaped, table
from excam.provenance import write_text
from scripts import run

HEAD = """# A model's first look: {model}

**These are a model's answers, not people's.** It saw the explanation at once; annotators never see what it said. "Same
as people": of the tasks where people have a majority. Where nearly all of these are yes, always yes is right as often:
compare it with the last column.

"""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="its name")
    parser.add_argument("--campaign", type=Path, required=True)
    parser.add_argument("--said", type=Path, required=True, help="what pre_annotate wrote")
    parser.add_argument("--answers", type=Path, help="people's, as collect_answers wrote them")
    parser.add_argument("--numbers", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args(argv)

    said = [json.loads(line) for line in args.said.read_text(encoding="utf-8").splitlines()]
    people = human_answers.items(campaign.read(args.campaign), tables.read_frame(args.answers)) if args.answers else []
    tables.write_lines(args.numbers, first_look.COLUMNS, first_look.lines(said, people))
    write_text(args.page, _page(args.model, tables.read_lines(args.numbers), first_look.choices(said)))


def _page(model: str, lines: Sequence[Mapping[str, str]], chosen: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["criterion", "yes", "answers read", "unreadable", "same as people", "people's yes"]
    body = [
        [
            escaped(line["criterion"]),
            *(line[name] for name in ("yes", "read", "unreadable")),
            f"{line['same']} of {line['compared']}" if line["compared"] != "0" else "–",
            f"{line['people_yes']} of {line['compared']}" if line["compared"] != "0" else "–",
        ]
        for line in lines
    ]
    rows = [
        [name, ", ".join(f"{value} {n}" for value, n in counted.items()) or "–"] for name, counted in chosen.items()
    ]
    return HEAD.format(model=escaped(model)) + table(head, body) + "\n" + table(["question", "answers"], rows)


if __name__ == "__main__":
    run(main)
