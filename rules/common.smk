"""The experiment, the values of each axis, and versions.

Functions are here, in settings.smk, inputs.smk, targets.smk and *_files.smk: the linter refuses them in files with rules.
"""

import gc
import json
import os
from functools import cache
from itertools import product
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError

from excam.config import BY_DOCUMENTS, CHAT_TEMPLATES, LEXICON, load_merged
from excam.core.exceptions import ExcamError
from excam.core.licences import is_permissive
from excam.core.steps import option_words, read_steps
from excam.core.rule_inputs import input_names
from excam.core.source_tables import every_pattern
from excam.core.versions import edited, version
from excam.excam40k import datasets as benchmarks
from excam.excam40k.publishing import BUILDS, EXAMPLE_TABLES
from excam.knowledge.documents import FILES as EVIDENCE_FILES, PASSAGES
from excam.inference.sources import WEIGHTS, matching_files
from excam.training import layout

# Planning allocates many long-lived objects; garbage collection scans cost a tenth of its time.
gc.set_threshold(50_000)

try:
    EXPERIMENT = load_merged(config, ["config.yaml", *workflow.overwrite_configfiles])
    LAYOUTS = {name: layout.load_layout(EXPERIMENT.recipe(name).layout) for name in EXPERIMENT.models}
    for name in EXPERIMENT.trained:
        LAYOUTS[name].passes(EXPERIMENT.recipe(name).rows_per_step)
    BENCHMARKS = {name: benchmarks.load(name, entry.module) for name, entry in EXPERIMENT.datasets.items()}
    for name, entry in EXPERIMENT.datasets.items():
        benchmarks.check_settings(name, BENCHMARKS[name], entry.reading)
    LOCAL_FILES = {  # of a dataset that comes from a local folder
        name: input_names(
            f"datasets.{name}.folder", matching_files(Path(entry.folder), every_pattern(BENCHMARKS[name].SOURCE.files))
        )
        for name, entry in EXPERIMENT.datasets.items()
        if entry.folder
    }
    MODEL_FILES = {  # of a model that comes from a local folder
        name: input_names(f"models.{name}.folder", matching_files(Path(entry.folder), [*WEIGHTS, "*.gguf"]))
        for name, entry in EXPERIMENT.models.items()
        if entry.folder
    }
    STEPS = read_steps(Path(workflow.basedir))
    DECLARED = {name: declared.rule for name, declared in STEPS.items() if declared.rule}
except ExcamError as problem:
    raise WorkflowError(str(problem)) from None

if workflow.is_main_process and (files := edited(Path(workflow.basedir))):
    shown = ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    logger.warning(
        f"edited: {shown}; expected the code that excam/versions.lock names; results are not made again for this: "
        "raise the version of the step or module whose output changes, then `python -m excam lock`; or -R RULE (docs/map.md)"
    )

DATASETS = list(EXPERIMENT.datasets)
HARD = [name for name in DATASETS if BENCHMARKS[name].ERRORS == "hard"]
PERMISSIVE = [name for name in DATASETS if is_permissive(BENCHMARKS[name].SOURCE.licence)]
SOFT = [name for name in DATASETS if name not in HARD]
SHARDS = [f"{shard:02d}" for shard in range(EXPERIMENT.generation.shards)]
SYSTEMS = ["{}/{}/{}".format(*system) for system in EXPERIMENT.systems]
JUDGES = {"report", *(system[2] for system in EXPERIMENT.systems), *EXPERIMENT.external.judges}


def one_of(values):
    return "|".join(re.escape(value) for value in values) or "a^"  # matches nothing: an axis without values


wildcard_constraints:
    dataset=one_of([*DATASETS, "all"]),
    model=one_of([*EXPERIMENT.models, BY_DOCUMENTS[0]]),
    trained_on=one_of(["nothing", *EXPERIMENT.mixtures]),
    judge=one_of(sorted(JUDGES)),
    split="train|dev|test|test-100",
    severity="minor|major",
    shard=one_of(SHARDS),
    build=one_of(BUILDS),


PARTS = {  # module of a stage that is chosen by name
    "datasets": ("excam/excam40k/datasets/{}.py",),
    "templates": ("excam/excam40k/templates/{}/version.txt",),
    "asks": ("excam/error_reports/judges/{}.py", "asks"),
    "judges": ("excam/error_reports/judges/{}.py", "reads"),
    "readers": ("excam/error_reports/readers/{}.py",),
    "answers": ("excam/inference/backends/{}.py",),
    "weights": ("excam/inference/{}.py",),
}


@cache
def stage_version(stage):
    """The version of a step (`score`), of a module chosen by name (`judges.count`) or of any (`acre/asks`), as text."""
    if stage in STEPS:
        return str(STEPS[stage].version)
    part, _, name = stage.partition(".")
    pattern, *field = (f"excam/{part}.py", *filter(None, [name])) if "/" in part else PARTS[part]
    try:
        return str(version(Path(workflow.basedir) / pattern.format(name.replace("-", "_")), *field))
    except ExcamError as problem:
        raise WorkflowError(str(problem)) from None


def versions(*stages):
    """Stage versions for `params`. A stage may hold wildcards, e.g. `judges.{judge}`.

    A function returns the stages that depend on the wildcards in another way.
    """

    def of(wildcards):
        named = (stage(wildcards) if callable(stage) else [stage.format(**dict(wildcards))] for stage in stages)
        return json.dumps({name: stage_version(name) for part in named for name in part}, sort_keys=True)

    return of


def keep_records():
    """At the end of a run: write the records that a copy of results/ needs for an audit."""
    from excam.lineage import recorded_hashes

    recorded_hashes.write_run_records(Path())
