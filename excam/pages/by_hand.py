"""A report by hand: the steps of a system's `report.py`, which the workflow runs too, on files that somebody names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from excam.core.exceptions import InputInvalid
from excam.core.provenance import say
from excam.core.steps import option_words, steps_of

PACKAGE = Path(__file__).parents[1]


def write(system: str, folder: Path, files: Mapping[str, Sequence[Path]], settings: Mapping[str, Any]) -> None:
    """Write every page that these files allow, and print the first; a page that lacks something is named on stderr.

    Args:
        system: the room of `excam` whose `report.py` declares the pages
        folder: where all files go, under the names that they have in results/
        files: what pages are made of, by the name of the input; what the paper prints is shipped
        settings: by name, as the workflow gives them; without one, the pages that need it are not made
    """
    module = import_module(f"excam.{system}.report")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    left_out: list[str] = []
    for name, declared in steps_of(PACKAGE / system / "report.py").items():
        page = declared.rule
        assert page, f"{name}: a step without a page"
        inputs = _inputs(page.inputs, files)
        absent = [key for key, paths in inputs.items() if not paths and key not in page.optional]
        absent += [key for key in page.settings if key not in settings]
        if absent:
            left_out.append(f"not written: {Path(page.shown[0]).stem}: found no {', no '.join(absent)}")
            continue
        for values in product(*page.wildcards.values()):
            axes = dict(zip(page.wildcards, values, strict=True))
            made = {key: [folder / Path(path.format(**axes)).name for path in of] for key, of in page.files.items()}
            values_by_option = axes | {key: settings[key] for key in page.settings}
            values_by_option |= {key: paths for key, paths in inputs.items() if paths} | made
            getattr(module, name)(option_words(values_by_option))
            written += [path for paths in made.values() for path in paths]
    if not written:
        raise InputInvalid(f"{folder}: no page can be made of these files; expected more of them; see --help")
    for line in left_out:
        say(line)
    print(next(path for path in written if path.suffix == ".md").read_text(encoding="utf-8"))
    say(f"{folder}: {len(written)} files")


def _inputs(
    sources: Mapping[str, str | Sequence[str]], files: Mapping[str, Sequence[Path]]
) -> dict[str, Sequence[Path]]:
    """Return the files of each input of a page: those that are given, else those that are shipped."""
    inputs: dict[str, Sequence[Path]] = {}
    for key, source in sources.items():
        listed = [source] if isinstance(source, str) else source
        inputs[key] = files.get(key) or [PACKAGE.parent / path for path in listed if path.startswith("excam/")]
    return inputs
