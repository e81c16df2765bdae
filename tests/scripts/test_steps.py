"""A step of the workflow is a typed function; the options of its program follow from its parameters."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
from one_line_errors import line_of

from excam.core.exceptions import InputInvalid
from scripts import step

calls = []


@dataclass(frozen=True, kw_only=True)
class Files:
    rows_paths: Annotated[Sequence[Path], "tables"]
    labels_path: Path | None = None


@step(version=1)
def main(
    files: Files,
    seed: int,
    mode: Literal["text", "choose"],
    recipe_json: str,
    shares: Annotated[dict[str, float] | None, json.loads] = None,
    table: Annotated[str, ("a", "b")] = "a",
    soft_names: Sequence[str] = (),
) -> None:
    """Count something."""
    calls.append((files, seed, mode, recipe_json, shares, table, soft_names))


COMMAND = ["--rows", "x.csv", "y.csv", "--seed", "3", "--mode", "text", "--recipe", "{}"]


def test_parameters_are_options():
    main([*COMMAND, "--shares", '{"train": 1}', "--table", "b", "--soft-names", "epic", "blend"])
    files = Files(rows_paths=[Path("x.csv"), Path("y.csv")])
    assert calls.pop() == (files, 3, "text", "{}", {"train": 1}, "b", ["epic", "blend"])


def test_a_parameter_with_a_default_may_be_left_out():
    main([*COMMAND, "--labels", "z.csv"])
    files, *_, shares, table, soft = calls.pop()
    assert (files.labels_path, shares, table, soft) == (Path("z.csv"), None, "a", ())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--seed 3", "", "required: --seed"),
        ("--seed 3", "--seed three", "invalid int value: 'three'"),
        ("--mode text", "--mode talk", "invalid choice: 'talk'"),
        ("x.csv y.csv", "", "expected at least one argument"),
        ("--seed 3", "--seed 3 --labels-path z", "unrecognized arguments: --labels-path"),
    ],
)
def test_what_does_not_fit_is_refused(old, new, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(" ".join(COMMAND).replace(old, new).split())
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
    assert not calls


def test_an_option_is_not_abbreviated(capsys):
    with pytest.raises(SystemExit):
        main([word.replace("--rows", "--row") for word in COMMAND])
    assert "the following arguments are required: --rows" in capsys.readouterr().err


def test_several_files_for_a_parameter_that_takes_one_are_refused_in_one_line():
    words = ["--labels", "results/a.csv", "results/b.csv", "results/c.csv", "--table", "b"]
    expected = "--labels: found 3 values; expected one, or labels_path: Sequence[...] to take several"
    assert line_of(InputInvalid, main, [*COMMAND, *words]) == expected
    assert not calls


def test_help_has_the_docstring_and_the_words_of_an_option(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert "Count something." in text
    assert "tables" in text
