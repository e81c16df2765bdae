"""How ExCAM is generated, trained, judged and compared: sections `generation` to `external`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from excam.config.base import EACH, LEXICON, DatasetName, ModuleName, Name, Section


class Generation(Section):
    """Generation of soft errors."""

    generator: str = Field(description=f"a key of `models`, or `{LEXICON}`")
    shards: int = Field(default=2, ge=1, le=999, description="jobs per soft dataset and severity")


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
    report: Literal["errors-first", "explanation-first"] = Field(
        default="errors-first",
        description="what a report states first; explanation-first: the expected answer, then the errors [ours]",
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

    @property
    def adapter_settings(self) -> str:
        """The settings that determine an adapter, as JSON: not devices, checkpoint interval and logging.

        `rows` is left out because it determines the mixture, a separate artifact.
        """
        return self.model_dump_json(exclude={"layout", "save_steps", "report_to", "rows"}, exclude_defaults=True)


class Scoring(Section):
    """How answers become numbers."""

    end_token: bool = Field(default=True, description="p(R) includes the token that ends the answer")
    significance: Literal["exact", "paper"] = Field(
        default="exact",
        description="tests of accuracies: over all swaps of base samples, two-sided, Holm; paper: 1,000 swaps of "
        "rows, for the better of two, uncorrected",
    )
    pairs: int | None = Field(
        default=None, ge=1, description="random pairs of rows for the tie-calibrated accuracy; null: all, exactly"
    )


class Judging(Section):
    """The judge without a model."""

    documents: str | None = Field(
        default=None, min_length=1, description="folder that a judge without a model reads, beside the baselines"
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


class External(Section):
    """Models without adapters, evaluated with these judges only on the balanced subset."""

    models: list[Name] = Field(default=[])
    judges: list[Name] = Field(default=[])


class Baselines(External):
    """Models without adapters, evaluated with these judges on the test sets."""

    encoder: Name | None = Field(
        default=None,
        description="an entry of `models`: its vectors of answers alone are audited, and a trivial baseline",
    )
