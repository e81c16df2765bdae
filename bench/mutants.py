"""Do the unit tests notice when the core is wrong? One operator or constant is changed at a time (cosmic-ray).

    pip install cosmic-ray==8.7.0            # in an environment of its own that also has the development dependencies
    python -m bench.mutants                  # 60 mutants of each group, drawn at random
    python -m bench.mutants --groups stats audits --sample 0 --jobs 2    # all mutants; hours

For each mutant the quick unit tests of its module run in a copy of the checkout; it is killed if one of them fails. The
tests that reach the change run first, in a fork (`bench.forked_tests`); where they pass, all run in a new process.
A survivor is printed as the changed line before and after: write a test that fails on it, or, if no test can, list it
in `bench/mutants.yaml` with the reason. Exit code 1 if less than `GOAL` of a group's other mutants are killed. What was
counted is in `bench/mutants.csv`; there, a mutant is undecided if it survived a part of its tests.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

from bench.processes import ROOT
from excam.pages.markdown import table

GOAL = 0.85
SECONDS = 300  # that the tests of a mutant may take
CPU_SECONDS = 60  # of each of their processes; an endless loop is killed
LISTED: Mapping[str, Any] = yaml.safe_load((ROOT / "bench/mutants.yaml").read_text(encoding="utf-8"))
OPERATORS = re.compile(  # of cosmic-ray's: those that change what is computed and not what type it has
    r"core/(ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Lt_Gt|Gt_Lt)"
    r"|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_FloorDiv)"
    r"|ReplaceUnaryOperator_(USub_UAdd|Delete_Not)|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceTrueWithFalse"
    r"|ReplaceFalseWithTrue|NumberReplacer|AddNot)"
)
EXEMPT = re.compile(  # how records are stored; numbers that say themselves when they change; types; any seed is as good
    r"@dataclass|^VERSION\b|TYPE_CHECKING|seed: int = 0"
)
QUOTED = re.compile(r"\[: ?\d+\]\}")  # how many characters of a text a message quotes
LEFT_OUT = (  # tests of time, figures, models, or hundreds of random cases, which other tests work out by hand
    "linear or hostile_sizes or drawn_from_their or slices_of_the_modified or long_clause or hundreds_of_items or "
    "covers or in_a_twentieth or null or hold_the_truth or is_calibrated or random or megabyte or bertscore or "
    "an_encoder or lm_evaluation or over_http or stopped_run"
)
QUICK = "not long and not cluster and not nightly and not run"  # what plain `pytest` runs
PRELOADED = [  # by the process that the tests are forked from
    "hypothesis", "numpy", "polars", "pydantic", "pytest", "regex", "scipy.optimize", "scipy.stats",
    "sklearn.linear_model", "statsmodels.stats.inter_rater",
]  # fmt: skip
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(PRELOADED)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    module: Path  # below the root
    tests: str
    source: str  # mutated

    @property
    def change(self) -> str:
        """The line before and after, without the spaces around: how `mutants.yaml` lists it."""
        return " => ".join(_changed((ROOT / self.module).read_text(encoding="utf-8"), self.source))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", nargs="+", choices=list(LISTED["groups"]), default=list(LISTED["groups"]))
    parser.add_argument("--sample", type=int, default=60, help="mutants of a group, drawn at random; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args(argv)
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")  # forks have no threads
    columns = ("group", "mutants", "killed", "equivalent", "survived", "killed of the others")
    rows, good = [], True
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(args.jobs) as pool:
        copies = SimpleQueue[Path]()
        for number in range(args.jobs):
            copies.put(copied(Path(place, str(number))))
        for group in args.groups:
            drawn = mutants(group, args.sample, args.seed)
            others = [mutant for mutant in drawn if not is_equivalent(mutant)]
            by_tests = [[mutant for mutant in others if mutant.tests == tests] for tests in {m.tests for m in others}]
            quickly = set[Mutant]().union(*pool.map(partial(quickly_killed, copies=copies), by_tests))
            rest = [mutant for mutant in others if mutant not in quickly]
            killed = len(quickly) + sum(pool.map(partial(is_killed, copies=copies), rest))
            share = killed / max(1, len(others))
            good = good and share >= GOAL
            equivalent, survived = len(drawn) - len(others), len(others) - killed
            rows.append((group, f"{len(drawn)}", f"{killed}", f"{equivalent}", f"{survived}", f"{share:.0%}"))
            print(table(columns, rows[-1:]), flush=True)
    print(table(columns, rows))
    sys.exit(0 if good else 1)


def copied(folder: Path) -> Path:
    """Return a copy of the files of the checkout that git does not ignore, to be mutated."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def mutants(group: str, most: int, seed: int) -> list[Mutant]:
    """Return as many mutants of a group at random, sorted by module; all for 0."""
    places = list(_places(LISTED["groups"][group]))
    random.Random(seed).shuffle(places)
    chosen = islice((made for place in places if (made := _mutant(*place))), most or None)
    return sorted(chosen, key=lambda mutant: (mutant.module, mutant.change))


def _places(group: Mapping[str, Any]) -> Iterator[tuple[Path, str, Any, int]]:
    """Yield where a group can be changed: module, its tests, operator and number of the place."""
    from cosmic_ray.ast import ast_nodes, get_ast  # pyright: ignore
    from cosmic_ray.plugins import get_operator, operator_names  # pyright: ignore

    operators = [get_operator(name)() for name in filter(OPERATORS.fullmatch, operator_names())]
    for name, tests in group["modules"].items():
        path = ROOT / "excam" / name
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            nodes = list(ast_nodes(get_ast(module.read_text(encoding="utf-8"))))
            for operator in operators:
                for place in range(sum(1 for node in nodes for _ in operator.mutation_positions(node))):
                    yield module, f"{group['first']} {tests}", operator, place


def _mutant(module: Path, tests: str, operator: Any, place: int) -> Mutant | None:
    """Return the module changed in one place; None for a change that is exempt, or if it is the same or no Python."""
    from cosmic_ray.mutating import mutate_code  # pyright: ignore

    source = module.read_text(encoding="utf-8")
    mutated = mutate_code(source, operator, place)
    if mutated in (None, source):
        return None
    before, after = _changed(source, mutated)
    if EXEMPT.search(before) or QUOTED.sub("", before) == QUOTED.sub("", after):
        return None
    try:
        compile(mutated, module, "exec")
    except SyntaxError:  # a star before an argument is taken for a product
        return None
    return Mutant(module.relative_to(ROOT), tests, mutated)


def _changed(source: str, mutated: str) -> tuple[str, str]:
    """Return the line that a mutation changed, before and after, without the spaces around."""
    pairs = zip(source.splitlines(), mutated.splitlines(), strict=True)
    return next((before.strip(), after.strip()) for before, after in pairs if before != after)


def is_equivalent(mutant: Mutant) -> bool:
    """Return whether the change, or every change of the line, is listed as one that no test can find."""
    changes = LISTED["equivalent"].get(mutant.module.as_posix(), {})
    return mutant.change in changes or mutant.change.partition(" => ")[0] in changes


def quickly_killed(mutants: Sequence[Mutant], copies: SimpleQueue[Path]) -> set[Mutant]:
    """Return the mutants, all with the same tests, that a test kills in a fork. Exit if one fails without a mutant."""
    copy, selection = copies.get(), mutants[0].tests
    receiving, sending = CONTEXT.Pipe(duplex=False)
    sources = [(copy / mutant.module, mutant.source) for mutant in mutants]
    process = CONTEXT.Process(target=run_tests, args=(selection, copy, sources, sending))
    process.start()
    sending.close()
    try:
        verdicts = receiving.recv()
    except EOFError:
        sys.exit(f"{selection}: fail without a mutant; expected tests that pass; run them with pytest first")
    finally:
        process.join()
        copies.put(copy)
    return {mutant for mutant, killed in zip(mutants, verdicts, strict=True) if killed}


def is_killed(mutant: Mutant, copies: SimpleQueue[Path]) -> bool:
    """Return whether a test fails, or takes too long, on a mutant in a free copy; print a survivor."""
    copy = copies.get()
    try:
        (copy / mutant.module).write_text(mutant.source, encoding="utf-8")
        killed = exit_code(mutant.tests, copy) != 0
    finally:
        shutil.copy2(ROOT / mutant.module, copy / mutant.module)
        copies.put(copy)
    if not killed:
        print(f"survived: {mutant.module}: {mutant.change}", flush=True)
    return killed


def exit_code(tests: str, copy: Path) -> int | None:
    """Return pytest's exit code for tests of a copy; that of a killed process after `SECONDS`."""
    process = CONTEXT.Process(target=run_tests, args=(tests, copy))
    process.start()
    process.join(SECONDS)
    if process.is_alive() and process.pid:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return process.exitcode


def run_tests(
    tests: str, copy: Path, mutants: Sequence[tuple[Path, str]] = (), sending: Connection | None = None
) -> None:
    """Run tests of a copy in this process, which ends with pytest's exit code; nothing is printed.

    With `mutants`, run them on each of these, and send which are killed.
    """
    import pytest

    from bench.forked_tests import ForkedTests

    os.setsid()
    plugins = [ForkedTests(mutants, CPU_SECONDS, sending.send)] if sending else []
    if not plugins:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(copy)
    os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(copy))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("bench", "excam")]:
        del sys.modules[name]  # those of the checkout
    files = [f"tests/{name}.py" for name in dict.fromkeys(tests.split())]
    words = ["-x", "-q", "-p", "no:cacheprovider", "-m", QUICK, "-k", f"not ({LEFT_OUT})"]
    sys.exit(pytest.main([*words, *files], plugins))


if __name__ == "__main__":
    main()
