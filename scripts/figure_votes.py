"""Draw the votes of Table 3 and the ratings of systems' explanations from the counts it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from excam.annotation import campaign
from excam.core import tables
from excam.excam40k.validation import human_answers, human_ratings, human_votes
from excam.pages import plotting
from scripts import run, step

VERSION = 1
PAGE = {
    "result": "results/paper/human-votes",
    "outputs": ["numbers", "pictures"],
    "target": "annotation",
    "category": "Human validation",
    "inputs": {"campaign": "results/annotation/campaign.json", "answers": "results/annotation/answers.parquet"},
}
COLUMNS = ("panel", "row", "segment", "count")
TITLE = "What annotators say"
VOTES, RATINGS = "Items with three votes, by how many say yes", "Similarity to the provided explanation, ratings"
PARTS = {
    VOTES: ("3 of 3", "2 of 3", "1 of 3", "none"),
    RATINGS: ("5 nearly identical", "4 very", "3 moderately", "2 slightly", "1 not at all"),
}
NOTE = (
    "Shares in percent. Above: don't know is no yes. Below: explanations that a system wrote about items whose "
    "provided one the majority finds valid. Numbers and the paper's beside them: table-3, human-ratings."
)


@step
def main(
    campaign_path: Path,
    answers_path: Annotated[Path, "answers.parquet"],
    numbers_path: Path,
    pictures_paths: Sequence[Path],
) -> None:
    validation_campaign = campaign.read(campaign_path)
    items = human_answers.items(validation_campaign, tables.read_frame(answers_path))
    votes = {criterion.name: human_votes.distribution(items, criterion) for criterion in human_votes.VOTED}
    counts = {VOTES: votes, RATINGS: human_ratings.distributions(validation_campaign, items)}
    tables.write_lines(numbers_path, COLUMNS, _lines(counts))
    draw(tables.read_lines(numbers_path), pictures_paths)


def _lines(counts: Mapping[str, Mapping[str, Sequence[int]]]) -> Iterator[dict[str, object]]:
    for panel, rows in counts.items():
        for row, segment_counts in rows.items():
            for segment, count in zip(PARTS[panel], segment_counts, strict=True):
                yield dict(zip(COLUMNS, (panel, row, segment, count), strict=True))


def draw(lines: Sequence[dict[str, str]], pictures: Sequence[Path]) -> None:
    """Draw from the rows of human-votes.csv alone."""
    rows: dict[str, dict[str, list[int]]] = {}
    for line in lines:
        rows.setdefault(line["panel"], {}).setdefault(line["row"], []).append(int(line["count"]))
    panels = [plotting.Bars(panel, PARTS[panel], counts_by_row) for panel, counts_by_row in rows.items()]
    plotting.save(plotting.stacked(panels, title=TITLE, note=NOTE), pictures)


if __name__ == "__main__":
    run(main)
