"""`excam demo`: ten answers judged without a model, and what it says of such a judge."""

import csv
from pathlib import Path

from excam_commands import excam, succeed

from excam.error_reports.demo import command
from excam.error_reports.readers.words import MEASURED

NUMBERS = Path(__file__).parents[2] / command.NUMBERS


def test_ten_answers_are_judged_and_put_on_a_page(tmp_path):
    result = succeed("demo", "--to", tmp_path / "page.html")
    lines = result.stdout.splitlines()[:20:2]  # each with its question; the answer stands below
    verdicts = [(line.split("judged ")[1].split()[0], line.split("  is ")[1].split()[0]) for line in lines]
    right = sum(verdict == label for verdict, label in verdicts)
    assert f"\n{right} of 10 verdicts are right." in result.stdout
    assert {verdict for verdict, _ in verdicts} == {"right", "wrong", "not"}
    assert 0 < right < 10, "it shows a wrong verdict too"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "10 rows" in page
    assert "<h2>Most frequent wrong words</h2>" in page
    succeed("demo", "--to", tmp_path / "page.html")  # its own page is written again
    (tmp_path / "mine.html").write_text("mine")
    assert excam("demo", "--to", tmp_path / "mine.html").exit_code == 2


def test_the_numbers_that_the_demo_shows_are_in_the_results():
    lines = csv.DictReader(NUMBERS.read_text(encoding="utf-8").splitlines())
    rows = {tuple(row["what"].split(" | ")): row["value"] for row in lines if row["topic"] == "prose"}

    def two(value):
        return f"{float(value):.2f}".lstrip("0")

    judge = "1.5B untuned, likelihoods, sure of .75"
    right, decided = (two(rows["all", judge, name]) for name in ("right, of those with a verdict", "with a verdict"))
    assert MEASURED in command.WORTH
    assert f"right in {right} of the verdicts that it gives, for {decided} of" in command.WORTH
