"""Does the time of a command grow with its input, or faster? Exponents of processor time, command by command.

    OMP_NUM_THREADS=1 python -m bench.growth --times 1 4 16 64

Each command runs on the same input 1, 4, 16 ... times as long: more rows, files, systems or annotators. Its processor
time (user and system, children included) without that of its start is compared between the two largest inputs: doubling
the input makes 2 to the power of the exponent of it. `REASONS` says why an exponent may be above 1.2.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.processes import ROOT

LIMIT = 1.2
REASONS = {
    "systems compared": "every two systems are tested",
    "annotators of an item": "every two annotators of an item are compared",
}
WORDS = ("tea", "rice", "bride", "feast", "priest", "lantern", "bread", "market", "river", "uncle", "winter", "drum")
Command = Callable[[Path, int], list[str]]  # from a folder and a factor to the words behind `excam`


def _scored(path: Path, rows: int, seed: int) -> str:
    """Write rows that one metric scored, two of each instruction, and return the path."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as stream:
        for row in range(rows):
            texts = {"instruction": f"Question {row // 2}?", "output": " ".join(draw.choices(WORDS, k=12))}
            line = {"id": f"row-{row}", "texts": texts, "score": draw.gauss(row % 5, 2), "language": f"L{row % 3}"}
            stream.write(json.dumps(line | {"signature": f"metric:{seed if path.name[0] == 'm' else 0}"}) + "\n")
    return str(path)


def _gold(path: Path, rows: int) -> str:
    lines = (json.dumps({"id": f"row-{row}", "label": row % 5, "instruction": str(row // 2)}) for row in range(rows))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def _texts(folder: Path, rows: int, *columns: str) -> str:
    draw = random.Random(0)
    texts = ({name: " ".join(draw.choices(WORDS, k=12)) for name in columns} for _ in range(rows))
    lines = (json.dumps({"id": f"row-{row}", "language": "English", **text}) for row, text in enumerate(texts))
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "texts.jsonl")


def _score(folder: Path, times: int) -> list[str]:
    texts = _texts(folder, 250 * times, "translation", "reference")
    return ["score", texts, "--metric", "chrf", "--to", str(folder / "scored.jsonl")]


def _surface(folder: Path, times: int) -> list[str]:
    texts = _texts(folder, 250 * times, "question", "answer")
    return ["score", texts, "--metric", "calmqa-surface", "--to", str(folder / "scored.jsonl")]


def _report(folder: Path, times: int) -> list[str]:
    return ["report", _scored(folder / "rows.jsonl", 1000 * times, 1), "--to", str(folder / "page.html")]


def _meta_rows(folder: Path, times: int) -> list[str]:
    metrics = [_scored(folder / f"m{number}.jsonl", 500 * times, number) for number in (1, 2)]
    return ["meta", _gold(folder / "gold.jsonl", 500 * times), *metrics]


def _compare_rows(folder: Path, times: int) -> list[str]:
    return ["compare", *(_scored(folder / f"{name}.jsonl", 500 * times, name) for name in (1, 2))]


def _compare_systems(folder: Path, times: int) -> list[str]:
    return ["compare", *(_scored(folder / f"{name}.jsonl", 100, name) for name in range(2 * times))]


def _documents(folder: Path, times: int) -> list[str]:
    draw = random.Random(0)
    for number in range(100 * times):
        text = " ".join(draw.choices(WORDS, k=200))
        (folder / f"{number}.md").write_text(f"# Page {number}\n\n{text}\n", encoding="utf-8")
    return ["knowledge", "build", str(folder), "--licence", "CC-BY-4.0", "--to", str(folder / "pack")]


def _audited(folder: Path, times: int) -> list[str]:
    """Files of one manifest, in the results of a workflow without Snakemake's records."""
    from excam.core import provenance

    home = folder / "results/models/tiny"
    files = [home / f"files/{number}.bin" for number in range(25 * times)]
    for number, file in enumerate(files):
        with provenance.publish(file) as temporary:
            temporary.write_bytes(str(number).encode())
    manifest = home / "manifest.json"
    provenance.write_manifest(manifest, inputs=[], outputs=files, settings={}, seconds=0)
    return ["audit", "--results", str(folder / "results")]


def _answered(folder: Path, tasks: int, annotators: int, each: int) -> list[str]:
    """A campaign of a scale and a choice, and the answers of annotators, `each` of them to a task."""
    from excam.annotation import campaign, exchange, form
    from excam.annotation.answers import Answer

    draw = random.Random(0)
    fields = [
        {"field": "polite", "kind": "scale", "label": "?", "values": {level: str(level) for level in range(1, 6)}},
        {"field": "heard", "kind": "choice", "label": "?", "values": {"often": "Often", "never": "Never"}},
    ]
    shows, names = [{"show": "text", "of": ["text"]}], ("name", "version", "title", "purpose")
    asked = form.parse(
        dict.fromkeys(names, "x") | {"shows": shows, "submit": True, "steps": [{"title": "x", "blocks": fields}]}, "x"
    )
    drawn = campaign.campaign(
        "x", asked, [campaign.Task(f"{at:016x}", f"row-{at}", "", "", each, {"text": "x"}, {}) for at in range(tasks)]
    )
    answers = [
        Answer(
            f"{task:016x}",
            f"a{(task + place) % annotators}",
            {
                **asked.empty(),
                "polite": draw.randint(1, 5),
                "heard": draw.choice(["often", "never"]),
                "submitted": True,
            },
            9,
            "2026-04-01T12:00:00.000Z",
        )
        for task in range(tasks)
        for place in range(each)
    ]
    campaign.write(folder / "campaign.json", drawn)
    (folder / "answers.json").write_text(exchange.to_json(drawn, answers), encoding="utf-8")
    return ["annotate", "agreement", str(folder / "campaign.json"), str(folder / "answers.json")]


def _items_rated(folder: Path, times: int) -> list[str]:
    return _answered(folder, 200 * times, 6, 3)


def _annotators(folder: Path, times: int) -> list[str]:
    return _answered(folder, 50 * times, 4 * times, 3)


def _annotators_of_an_item(folder: Path, times: int) -> list[str]:
    return _answered(folder, 20, 2 * times, 2 * times)


COMMANDS: dict[str, Command] = {
    "rows scored": _score,
    "answers checked": _surface,
    "rows reported": _report,
    "rows of excam meta": _meta_rows,
    "rows compared": _compare_rows,
    "systems compared": _compare_systems,
    "files of a pack": _documents,
    "files audited": _audited,
    "items rated": _items_rated,
    "annotators": _annotators,
    "annotators of an item": _annotators_of_an_item,
}


def processor_seconds(words: Sequence[str]) -> float:
    """Return what `excam` with these words took; stop if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-m", "excam", *words]
    done = subprocess.run(
        line, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    if done.returncode not in (0, 3):  # 3: `excam audit` found a file without a record
        sys.exit(f"{' '.join(line)[:200]}: exit code {done.returncode}: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def exponent(name: str, times: Sequence[int]) -> tuple[list[float], float]:
    """Return the seconds at each factor, and the exponent between the two largest, without the time of the start."""
    seconds = []
    for factor in times:
        with tempfile.TemporaryDirectory(prefix="excam-growth-") as place:
            seconds.append(processor_seconds(COMMANDS[name](Path(place), factor)))
    start = processor_seconds(["--version"])
    last, before = (max(value - start, 0.01) for value in (seconds[-1], seconds[-2]))
    return seconds, math.log(last / before) / math.log(times[-1] / times[-2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    chosen = parser.parse_args()
    print(f"{'':<22}" + "".join(f"{f'{factor}x':>9}" for factor in chosen.times) + "  exponent")
    for name in chosen.commands:
        seconds, power = exponent(name, chosen.times)
        numbers = "".join(f"{value:>9.2f}" for value in seconds)
        print(f"{name:<22}{numbers}{power:>10.2f}  {REASONS.get(name, '') if power > LIMIT else ''}", flush=True)


if __name__ == "__main__":
    main()
