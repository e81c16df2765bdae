"""H100-hours of the planned experiment on paper: its jobs as planned, and the assumptions in `hours.yaml`.

Training and prompts take FLOPs over a share of the card's peak, answers the bytes that a step reads over a share of its
bandwidth. Rows are counted by what is asked, not by jobs, so a job may ask about one data set or about all.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from bench.processes import Job
from excam.config import Experiment
from excam.core.splits import Split
from excam.excam40k.construction.wrapping import bases_for
from excam.excam40k.datasets import load
from excam.training import layout

FILE = Path(__file__).with_suffix(".yaml")
HEAD = ("work", "jobs", "tokens in, M", "out, M", "PFLOP", "H100-hours", "rests on")


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work. Tokens are read and written, of all its jobs together."""

    what: str
    jobs: int
    read: float
    written: float
    flop: float
    hours: float
    rests: str

    def cells(self) -> tuple[str, ...]:
        counts = (f"{self.read / 1e6:.1f}", f"{self.written / 1e6:.2f}", f"{self.flop / 1e15:,.0f}")
        return (self.what, str(self.jobs), *counts, f"{self.hours:.2f}", self.rests)


def assumptions(changed: Iterable[str] = ()) -> tuple[dict[str, Any], dict[str, str]]:
    """Values by name, some `changed` as `name=value`, and where each is from. Raises ValueError for what is none."""
    facts = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for name, _, value in (assignment.partition("=") for assignment in changed):
        number = isinstance(facts.get(name, [None])[0], int | float)
        if not number or not re.fullmatch(r"[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", value):
            raise ValueError(f"--assume {name}={value}: expected NAME=NUMBER; names with one number: bench/{FILE.name}")
        facts[name] = [float(value), "changed"]
    return {name: value for name, (value, _) in facts.items()}, {name: source for name, (_, source) in facts.items()}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an experiment's jobs take under these assumptions."""

    experiment: Experiment
    assumed: Mapping[str, Any]
    sources: Mapping[str, str]

    def all(self, jobs: Sequence[Job], loads: Sequence[Job]) -> list[Work]:
        """Every kind of work that takes a card, in the order in which it is done."""
        of = [job for job in jobs if job.gpus]
        kinds = [self.generating([job for job in of if job.rule == "generate_soft_errors"])]
        for model in self.experiment.tuned.models:
            kinds.append(self.training(model, [job for job in _of(of, model) if job.rule == "train_adapter"]))
        kinds.append(self.verifying([job for job in of if job.rule == "verify_adapter"]))
        judging = [job for job in of if job.rule == "judge"]
        bare = {job.wildcards["model"] for job in judging if job.wildcards["trained_on"] == "nothing"}
        for model in self.experiment.tuned.models:
            of_model = [job for job in _of(judging, model) if job.wildcards["trained_on"] != "nothing"]
            kinds.append(self.judging(f"judging with adapters, {model}", model, of_model))
        for model in sorted(bare):
            of_model = [job for job in _of(judging, model) if job.wildcards["trained_on"] == "nothing"]
            kinds.append(self.judging(f"baseline {model}", model, of_model))
        return [kind for kind in [*kinds, self.loading(loads)] if kind.jobs]

    def rows(self, name: str) -> float:
        """Rows of a benchmark, right and wrong."""
        cap = self.experiment.datasets[name].cap
        return min(cap, self.assumed.get(f"rows/{name}", cap))

    def row(self, name: str) -> float:
        """Tokens of a row of a benchmark, report included."""
        return self.assumed.get(f"row/{name}", self.assumed["row/others"])

    def prompt(self, name: str, words: str) -> float:
        return self.row(name) - self.assumed["answer/report"] + self.assumed[f"words/{words}"]

    def generating(self, jobs: Sequence[Job]) -> Work:
        soft = [name for name in self.experiment.datasets if load(name).ERRORS == "soft"]
        counts = {n: 2 * bases_for(int(self.rows(n)), load(n).TASK, "soft") for n in soft if jobs}
        read = sum(count * self.prompt(name, "generator") for name, count in counts.items())
        prompts, model = sum(counts.values()), self.experiment.generation.generator
        written = prompts * self.assumed["answer/generator"]
        rests = self.rests("answer/generator", "rows", "row", "words", "reading")
        return self.asking("soft errors", model, jobs, prompts, read, written, rests)

    def judging(self, what: str, model: str, jobs: Sequence[Job]) -> Work:
        """Rows of the test and dev sets of what these jobs ask about."""
        prompts = read = written = 0.0
        for job in jobs:
            kind = job.wildcards["judge"]
            names = [job.dataset] if job.dataset in self.experiment.datasets else list(self.experiment.datasets)
            share = self.experiment.construction.shares[cast(Split, job.wildcards["split"])]
            answer = self.assumed[f"answer/{self._answers(model, kind)}"]
            for count, name in ((self.rows(name) * share, name) for name in names):
                prompts, read = prompts + count, read + count * self.prompt(name, kind)
                written += count * answer
        kinds = sorted({f"answer/{self._answers(model, job.wildcards['judge'])}" for job in jobs})
        rests = self.rests(*kinds, "rows", "row", "words", "reading", "mfu")
        return self.asking(what, model, jobs, prompts, read, written, rests)

    def rests(self, *names: str) -> str:
        """Names of assumptions, each with what it is: measured, published, assumed."""
        kinds = {
            n: {of.split(":")[0] for assumption, of in self.sources.items() if f"{assumption}/".startswith(f"{n}/")}
            for n in names
        }
        return ", ".join(f"{name} ({', '.join(sorted(origins))})" for name, origins in kinds.items())

    def _answers(self, model: str, judge: str) -> str:
        thinking = self.assumed[model].get("thinking") and "thinking"
        return "report" if judge == "report" else thinking or "brief"

    def asking(
        self, what: str, model: str, jobs: Sequence[Job], prompts: float, read: float, written: float, rests: str
    ) -> Work:
        """Prompts by FLOPs, answers by steps of as many at once as go in; in each job a start and a last answer."""
        if not jobs:
            return Work(what, 0, 0, 0, 0, 0, rests)
        cards = self.experiment.models[model].gpus
        adapter = any(job.wildcards.get("trained_on", "nothing") != "nothing" for job in jobs)
        flop = read * 2 * self._active(model)
        context, answer = (read + written) / prompts, written / prompts
        together = max(1.0, min(self.room(model, context, cards), prompts / len(jobs)))
        steps = written / together
        last = min(answer * self.assumed["longest"], self.experiment.models[model].sampling.max_tokens) - answer
        slower = self.assumed["lora"] if adapter else 1.0
        seconds = flop / self._speed(cards) + slower * steps * self.step(model, together, context, cards)
        seconds += len(jobs) * (self.assumed["join"] + slower * max(0, last) * self.step(model, 1, context, cards))
        total = flop + written * 2 * self._active(model)
        return Work(what, len(jobs), read, written, total, seconds * cards / 3600, rests)

    def room(self, model: str, context: float, cards: int) -> float:
        """How many answers are written at once."""
        facts, a = self.assumed[model], self.assumed
        free = cards * (a["memory"] * a["used"] - a["kept"]) - self.bytes(model) - 2 * facts.get("adapter", 0)
        most = self.experiment.models[model].engine.get("max_num_seqs")
        most = most or a["of_hybrids" if facts.get("state") else "sequences"]
        return min(most, free / (context * facts["cache"] + facts.get("state", 0)))

    def step(self, model: str, together: float, context: float, cards: int) -> float:
        """Seconds for one token of each answer: weights and caches are read, or the arithmetic takes longer.

        Then cards that share a model add up their parts. Each has a part of all experts, so none waits to read.
        """
        facts, a = self.assumed[model], self.assumed
        weights = min(1.0, together * self._active(model) / facts["parameters"]) * self.bytes(model)
        read = weights + together * (context * facts["cache"] + 2 * facts.get("state", 0))
        computed = together * 2 * self._active(model) / self._speed(cards) * (a["uneven"] if "active" in facts else 1)
        added = 2 * facts["layers"] * a["reduce"] if cards > 1 else 0
        return a["pause"] + added + max(read / (cards * a["bandwidth"] * a["reading"]), computed)

    def training(self, model: str, jobs: Sequence[Job]) -> Work:
        """Two passes and what is computed again; adapters get a gradient, weights none. Padding is not counted."""
        recipe, facts = self.experiment.recipe(model), self.assumed[model]
        where = layout.load_layout(recipe.layout)
        again = {"full": 1.0, "half": 0.5, "off": 0.0}[where.checkpointing]
        tokens = steps = 0.0
        for job in jobs:
            for name in self.experiment.datasets:
                if job.wildcards["trained_on"] != f"without-{name}":
                    count = self.rows(name) * self.experiment.construction.shares["train"] * recipe.epochs
                    tokens, steps = tokens + count * self.row(name), steps + count / recipe.rows_per_step
        apart = where.padding == "padded" or where.attention == "rows"
        attended = self.assumed["rows_apart"] if apart else recipe.rows_per_step  # of a token: its own or all of a step
        span = attended * tokens / max(1.0, steps * recipe.rows_per_step)
        attention = 4 * facts["heads"] * span * (3 + again)
        flop = tokens * (facts["parameters"] * 2 * (2 + again) + facts["adapter"] * 2 * (3 + again) + attention)
        seconds = flop / (self.assumed["peak"] * self.assumed["mfu_of_steps"])
        seconds += len(jobs) * self.assumed["start"] * where.processes
        seconds += steps / recipe.save_steps * 12 * facts["adapter"] / self.assumed["disk"] * where.processes
        share = 100 * tokens * attention / flop if flop else 0
        rests = f"{steps:,.0f} steps of {tokens / max(1.0, steps):,.0f} tokens, attention {share:.0f} %: "
        rests += self.rests("rows", "row", "mfu_of_steps", "disk")
        return Work(f"training {model}", len(jobs), tokens, 0, flop, seconds / 3600, rests)

    def verifying(self, jobs: Sequence[Job]) -> Work:
        """Eight fixed answers are nothing: a start, and the adapter's file of four bytes a parameter read twice."""
        files = sum(8 * self.assumed[job.wildcards["model"]]["adapter"] for job in jobs)
        seconds = len(jobs) * self.assumed["join"] + files / self.assumed["disk"]
        return Work("verify_adapter", len(jobs), 0, 0, 0, seconds / 3600, self.rests("join", "disk"))

    def loading(self, loads: Sequence[Job]) -> Work:
        """Weights from the shared file system onto cards that wait for them."""
        seconds = size = 0.0
        for job in loads:
            name = job.wildcards.get("model", self.experiment.generation.generator)
            size += self.bytes(name)
            wait = self.bytes(name) * self.assumed["reads"] / self.assumed["disk"]
            seconds += job.gpus * (wait + self.assumed["engine"])
        counted = Counter(job.rule for job in loads).items()
        rests = ", ".join(f"{rule} {number}" for rule, number in counted) + f", {size / 1e9:,.0f} GB: "
        rests += self.rests("disk", "reads", "engine")
        return Work("loads of weights", len(loads), 0, 0, 0, seconds / 3600, rests)

    def bytes(self, model: str) -> float:
        entry = self.experiment.models[model]
        eight = "fp8" in f"{entry.hub}{entry.quantization}".lower()
        return self.assumed[model]["parameters"] * (1 if eight else 2)

    def _active(self, model: str) -> float:
        return self.assumed[model].get("active", self.assumed[model]["parameters"])

    def _speed(self, cards: int) -> float:
        return cards * self.assumed["peak"] * self.assumed["mfu"]


def loads(jobs: Sequence[Job], sizes: Mapping[str, int]) -> list[Job]:
    """Return a job for each time that weights go onto cards; a base with adapters and without takes two engines.

    `sizes` is `group-components` of a profile: so many of a group share an allocation, and so an engine. What hangs
    together (an adapter's proof and its judging) counts once.
    """
    groups: defaultdict[str, defaultdict[tuple[str, ...], list[Job]]] = defaultdict(lambda: defaultdict(list))
    for place, job in enumerate(jobs):
        if job.rule == "generate_soft_errors":
            groups["generator"][str(place),].append(job)
        elif job.gpus and job.rule in ("verify_adapter", "judge"):
            mixture = job.wildcards["trained_on"]
            groups[job.wildcards["model"]][(mixture,) if mixture != "nothing" else (mixture, str(place))].append(job)
    loaded = [job for job in jobs if job.gpus and job.rule == "train_adapter"]
    for name, together in groups.items():
        parts = list(together.values())
        size = sizes.get("generator" if name == "generator" else "engine_{model}", 1)
        for start in range(0, len(parts), size):
            shared = [job for part in parts[start : start + size] for job in part]
            shared.sort(key=lambda job: job.rule == "judge")  # which names the load
            loaded += {job.wildcards.get("trained_on", "nothing") == "nothing": job for job in shared}.values()
    return loaded


def _of(jobs: Iterable[Job], model: str) -> list[Job]:
    return [job for job in jobs if job.wildcards.get("model") == model]
