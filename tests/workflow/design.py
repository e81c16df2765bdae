"""What hangs on what, as the design says it, written without a look at the rules: the reference of the staleness test.

A job is named by its rule and its cell: "score m/all/report/blend/test". Every method gives the jobs that a change
makes stale, the changed job's own followers included. A job that asks a model judges all data sets at once (one load).
"""

from collections.abc import Iterable
from dataclasses import dataclass

Jobs = frozenset[str]


def some(*jobs: str | Iterable[str]) -> Jobs:
    """One set of single jobs and sets of them."""
    return frozenset(one for part in jobs for one in ([part] if isinstance(part, str) else part))


@dataclass(frozen=True)
class Design:
    """An experiment's axes. Models are named as in its configuration."""

    hard: tuple[str, ...]
    soft: tuple[str, ...]
    tuned: tuple[str, ...]
    mixtures: tuple[str, ...]
    plain: tuple[str, ...]  # baselines: <model>/nothing/<judge>
    outside: tuple[str, ...] = ()  # external judges: they see the balanced subsets
    shards: int = 2
    explained: tuple[str, ...] = ()  # systems whose explanations people rate
    first: str = ""  # the model that looks at the tasks before them

    # --- names

    @property
    def datasets(self) -> tuple[str, ...]:
        return (*self.hard, *self.soft)

    @property
    def excam(self) -> tuple[str, ...]:
        return tuple(f"{model}/{mixture}/report" for model in self.tuned for mixture in self.mixtures)

    @property
    def systems(self) -> tuple[str, ...]:
        return (*self.plain, *self.excam)

    def of(self, model: str) -> tuple[str, ...]:
        """Systems of one model."""
        return tuple(system for system in (*self.systems, *self.outside) if system.startswith(f"{model}/"))

    # --- the data set

    def source(self, *names: str) -> Jobs:
        """Raw rows of these benchmarks."""
        return some((f"fetch_source {name}" for name in names), self.samples(*names))

    def samples(self, *names: str) -> Jobs:
        """Right pairs and base samples."""
        return some((f"build_samples {name}" for name in names), self.errors(*names))

    def errors(self, *names: str) -> Jobs:
        """Wrong twins."""
        hard = [f"make_hard_errors {name}" for name in names if name in self.hard]
        soft = [name for name in names if name in self.soft]
        asked = (f"{name}/{s}/{n:02d}" for name in soft for s in ("minor", "major") for n in range(self.shards))
        return some(hard, (f"generate_soft_errors {one}" for one in asked), self.collected(*soft), self.splits(*names))

    def collected(self, *soft: str) -> Jobs:
        """Soft errors, read from the generator's answers."""
        return some((f"collect_soft_errors {name}" for name in soft), self.splits(*soft))

    def splits(self, *names: str) -> Jobs:
        """Train, dev and test sets of some benchmarks: all that is trained and judged together hangs on each."""
        if not names:
            return some()
        shown = {"normad": "table_8", "culturalbench": "table_8", "calmqa": "table_10", "epic": "table_10"}
        tables = {"table_1", "table_2", *(shown.get(name, "table_9") for name in names)}
        own = (f"split_samples {name}" for name in names)
        audits = (f"audit_{audit}" for audit in ("shortcuts", "balance", "inventory", "licences"))
        return some(
            own, tables, audits, "floors", self.duplicates(), self.tokens(*names), self.answers(*self.systems),
            self.subsets(*names),
        )  # fmt: skip

    def subsets(self, *names: str) -> Jobs:
        """Balanced subsets: what external judges see, and published and audited with the rest."""
        audits = (f"audit_{audit}" for audit in ("leaks", "shortcuts", "balance", "inventory", "licences"))
        return some(
            (f"draw_subset {name}" for name in names), audits, self.published(), self.floors(),
            self.answers(*self.outside),
        )  # fmt: skip

    def floors(self) -> Jobs:
        return some("floors", "figure_3", "table_4", "compare_with_paper")

    def published(self) -> Jobs:
        """What a changed audit or a changed set of rows is published with."""
        return some("summarize_audits", "publish_excam40k all", "publish_excam40k permissive")

    def duplicates(self) -> Jobs:
        """Near-duplicates across benchmarks: no mixture is without an eye on them."""
        return some("find_near_duplicates", self.mixed(*self.mixtures))

    # --- training

    def mixed(self, *mixtures: str) -> Jobs:
        own = (f"mix_samples {mixture}/train" for mixture in mixtures)
        return some(own, "audit_leaks", self.published(), self.adapters(*mixtures))

    def tokens(self, *names: str) -> Jobs:
        own = [f"tokenize_samples {model}/{name}/train" for model in self.tuned for name in names]
        taught = [mixture for mixture in self.mixtures if any(mixture != f"without-{name}" for name in names)]
        return some(own, "count_tokens", self.adapters(*taught)) if own else some()

    def adapters(self, *mixtures: str, models: Iterable[str] | None = None) -> Jobs:
        chosen = [(model, mixture) for model in models or self.tuned for mixture in mixtures]
        own = (f"train_adapter {model}/{mixture}" for model, mixture in chosen)
        curves = (f"figure_losses {model}" for model, _ in chosen)
        return some(own, curves, self.verified(*(f"{model}/{mixture}/report" for model, mixture in chosen)))

    def verified(self, *systems: str) -> Jobs:
        own = (f"verify_adapter {system.removesuffix('/report')}" for system in systems)
        return some(own, self.answers(*systems))

    # --- judging

    def splits_judged(self, system: str) -> tuple[str, ...]:
        """On which splits a system is asked: ExCAM on dev too, where its probabilities are calibrated."""
        if system in self.outside:
            return ("test-100",)
        return ("test", "dev") if system.endswith("/all/report") else ("test",)

    def answers(self, *systems: str) -> Jobs:
        own = (f"judge {system}/{split}" for system in systems for split in self.splits_judged(system))
        return some(own, self.asked_again(*systems), self.read(*systems))

    def asked_again(self, *systems: str) -> Jobs:
        """The check that puts flagged words right, of what writes reports: a baseline, or ExCAM trained on all."""
        own = [
            f"judge_counterfactuals {system}"
            for system in systems
            if self._in_column(system, "all") and self._writes(system)
        ]
        return some(own, "table_counterfactuals" if own else ())

    def read(self, *systems: str) -> Jobs:
        """Answers, read into judgements."""
        own = (
            f"score {system}/{name}/{split}"
            for system in systems
            for split in self.splits_judged(system)
            for name in self.datasets
        )
        return some(own, *(self.judged(system) for system in systems))

    def _in_column(self, system: str, column: str) -> bool:
        """Who stands in a column of Figure 3: who never saw its data set; below `all`, who saw all."""
        mixture = system.split("/")[1]
        seen = "all" if column == "all" else f"without-{column}"
        return system in self.systems and mixture in ("nothing", seen)

    def _writes(self, system: str) -> bool:
        return system.endswith("/report")

    def judged(self, system: str) -> Jobs:
        """What is computed from one system's judgements."""
        split = self.splits_judged(system)[0]
        cells = (f"evaluate {system}/{name}/{split}" for name in (*self.datasets, "all"))
        if system in self.outside:
            return some(cells, "figure_4")
        columns = [column for column in (*self.datasets, "all") if self._in_column(system, column)]
        tests = (f"compare_systems {column}/test" for column in columns)
        found = [cells, tests, "table_4", "compare_with_paper", "figure_3" if columns else ()]
        if "all" in columns:
            found += [self._of_column_all(system), "figure_4" if self.outside and system in self.excam else ()]
        if system in self.excam:
            found += [
                self.changes() if not system.endswith("/permissive/report") else f"figure_11 {system.split('/')[0]}"
            ]
        if self._writes(system):
            found += [f"evaluate_reports {system}/all/test", "table_reports"]
        return some(*found, self.drawn() if system in self.explained else ())

    def _of_column_all(self, system: str) -> Jobs:
        own = [
            *("compare_correlations test", "error_rates", "figure_10", "table_certainty"),
            *(f"judged_rows {system}", f"evaluate_certainty {system}"),
        ]
        drawn = ["figure_reliability", "figure_abstention"] if system in self.excam else []
        return some(own, drawn, self.flagged(system) if self._writes(system) else ())

    def flagged(self, system: str) -> Jobs:
        """Of reports: explanations beside the gold ones, flagged words put right."""
        explained = f"compare_explanations {system}/test", "table_explanations"
        return some(explained, self.undone(system))

    def undone(self, *systems: str) -> Jobs:
        return some((f"make_counterfactuals {system}" for system in systems), self.asked_again(*systems))

    # --- human validation

    def drawn(self) -> Jobs:
        """The campaign, its page, and everything that is read beside it."""
        return some("draw_campaign", "annotation_page", self.looked(), self.answered())

    def looked(self) -> Jobs:
        return some(f"pre_annotate {self.first}", f"table_first_look {self.first}")

    def answered(self) -> Jobs:
        """What people answered, and what is made of it."""
        tables = ("table_3", "table_12", "table_13", "table_ratings", "table_agreement", "figure_votes")
        return some("collect_answers", tables, f"table_first_look {self.first}")

    def changes(self) -> Jobs:
        """What one data set less changes; every base model's map shows it."""
        return some("leave_one_out", "compare_with_paper", (f"figure_11 {model}" for model in self.tuned))
