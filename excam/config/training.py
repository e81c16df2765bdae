"""How ExCAM is generated, trained, judged and compared: sections `generation` to `external`."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from excam.config.base import EACH, LEXICON, DatasetName, ModuleName, Name, Section

Wording = Literal["qa", "statement", "prose"]  # of a passage: question and answer, one sentence, a document


class Generation(Section):
    """Generation of soft errors."""

    generator: str = Field(description=f"a key of `models`, or `{LEXICON}`")
    shards: int = Field(default=2, ge=1, le=999, description="jobs per soft dataset and severity")


class Evidence(Section):
    """Passages before rows of a judge that reads evidence: shares of the rows, by pair."""

    fact: float = Field(default=0.6, ge=0, le=1, description="one passage states the fact, the others nearly do")
    near: float = Field(default=0.2, ge=0, le=1, description="near misses alone: the passages do not say")
    contradicting: float = Field(default=0.1, ge=0, le=1, description="a right and a false passage")
    unrelated: float = Field(default=0.1, ge=0, le=1, description="passages about something else")
    planted: float = Field(default=0.0, ge=0, le=1, description="as fact, the wrong answer said of another culture")
    paraphrased: float = Field(default=0.5, ge=0, le=1, description="share of rows with the question in other words")
    orders: float = Field(default=0.1, ge=0, le=1, description="share of rows of which a passage gives an order")
    passages: int = Field(default=5, ge=1, le=20, description="before a question, but for contradictions: two")
    wordings: list[Wording] = Field(
        default=["qa", "statement", "prose"], min_length=1, description="of passages, drawn evenly"
    )
    stated: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="in training: share of pairs asked to state; of the others, if a text is right",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Raise ValueError unless the shares of the kinds sum to 1."""
        total = self.fact + self.near + self.contradicting + self.unrelated + self.planted
        if abs(total - 1) > 1e-6:
            raise ValueError(f"fact + near + contradicting + unrelated + planted: found {total:g}; expected 1")
        return self


class Recipe(Section):
    """LoRA fine-tuning (Appendix B of the paper)."""

    rank: int = Field(default=128, ge=1, le=1024)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["all-linear"] | list[ModuleName] = Field(
        default="all-linear", description="all linear layers, or names of modules [not stated in the paper]"
    )
    learning_rate: float = Field(default=1e-4, gt=0)
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_steps: int = Field(default=100, ge=0)
    weight_decay: float = Field(default=0.1, ge=0)
    beta1: float = 0.9
    beta2: float = 0.95
    max_grad_norm: float = 1.0
    epochs: float = Field(default=1, gt=0)
    loss: Literal["report", "conversation"] = Field(
        default="report",
        description="on the report and the end of its turn, or on every token [not stated in the paper]",
    )
    report: Literal["errors-first", "explanation-first", "grounded"] = Field(
        default="errors-first",
        description="what a report states first; explanation-first: the expected answer, then the errors [ours]; "
        "grounded: no report, but what passages say, for the judge `grounded` [ours]",
    )
    evidence: Evidence = Field(default=Evidence(), description="the passages of `report: grounded`")
    verdict_weight: float = Field(
        default=1.0, ge=1, description="weight in the loss of the token that opens the list of errors [ours]"
    )
    labels: Literal["gold", "permuted"] = Field(
        default="gold", description="permuted: a control; in half of the pairs the two reports are exchanged [ours]"
    )
    rows_per_step: int = Field(default=8, ge=1, description="effective batch: rows per optimizer step")
    max_length: int = Field(
        default=4096,
        ge=128,
        description="tokens per row, at most the base model's limit; rows are never truncated, see `overflow`",
    )
    overflow: Literal["refuse", "drop"] = Field(
        default="drop", description="rows over max_length: drop and count whole pairs, or refuse"
    )
    order: Literal["random", "length"] = Field(
        default="random", description="rows of a step: random, or of similar length"
    )
    rows: int | None = Field(default=None, ge=2, description="maximum number of rows, evenly over datasets")
    seed: int | None = Field(default=None, description="for order, adapter and dropout; by default the experiment's")
    save_steps: int = Field(default=500, ge=1, description="steps between checkpoints")
    layout: Name = Field(default="single", description="a file of excam/training/layouts: processes, device, memory")
    report_to: Literal["none", "tensorboard", "trackio"] = Field(
        default="none", description="loss tracker, writing below logs/; its package is not installed by default"
    )

    @model_validator(mode="after")
    def _grounded_has_no_report(self) -> Self:
        """Raise ValueError for settings of reports beside `report: grounded`, and for its settings without it."""
        if self.report == "grounded" and (self.labels != "gold" or self.verdict_weight != 1):
            raise ValueError("report: grounded: expected labels: gold and verdict_weight: 1; it has no list of errors")
        if self.report != "grounded" and self.evidence != Evidence():
            raise ValueError(f"evidence: found settings with report: {self.report}; expected report: grounded")
        return self

    @property
    def adapter_settings(self) -> str:
        """The settings that determine an adapter, as JSON: not devices, checkpoint interval and logging.

        `rows` is left out because it determines the mixture, a separate artifact.
        """
        return self.model_dump_json(exclude={"layout", "save_steps", "report_to", "rows"}, exclude_defaults=True)


class Scoring(Section):
    """How answers become numbers."""

    end_token: bool = Field(default=True, description="p(R) includes the token that ends the answer")
    pairs: int | None = Field(
        default=None, ge=1, description="random pairs of rows for the tie-calibrated accuracy; null: all, exactly"
    )


class Judging(Section):
    """Passages that the judge `grounded` is shown before test rows, and when it gives a verdict.

    Passages are made of facts of the same test set. `training.evidence` says those of training.
    """

    split: Literal["test", "test-100"] = Field(
        default="test", description="which test rows; test-100: the balanced subset, `construction.subset` of a dataset"
    )
    evidence: Evidence = Field(default=Evidence(), description="`stated` does not count here")
    least: float = Field(
        default=0.75, ge=0.5, le=1, description="probability of a comparison from which on there is a verdict"
    )


class Tuned(Section):
    """ExCAM: adapters of these base models, one per mixture, evaluated with these judges."""

    models: list[Name] = Field(default=[])
    mixtures: list[DatasetName] = Field(
        default=[],
        description=f"`all`, `permissive`, `without-<dataset>`; `{EACH}` stands for one without each dataset",
    )
    judges: list[Name] = Field(default=["report"])
    compared: list[Name] = Field(
        default=[], description="more models, trained on `all` alone: other recipes, bases and seeds"
    )


class Baselines(Section):
    """Models without adapters, evaluated with these judges; `external` ones only on the balanced subset."""

    models: list[Name] = Field(default=[])
    judges: list[Name] = Field(default=[])
