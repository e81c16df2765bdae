"""ExCAM, the experiment: nine benchmarks -> instruction-output pairs -> errors -> LoRA adapters -> judgements -> figures.

`snakemake --profile slurm all` runs the paper's experiment (config.yaml) on a cluster, `snakemake --profile local all`
the embedded one (experiments/mini.yaml) on this machine. Any file below results/ is a target of its own.
"""

import os

from snakemake.utils import min_version

min_version("9.27")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, each of some hundred jobs compiles what it imports


configfile: "config.yaml"


report: "report/workflow.rst"


# Snakemake looks for jobs to start whenever one ends. With its default limit of 100 jobs a second it also looks a second
# after each look, and these looks add up: to a fifth of a core with 335 jobs. So on one machine the default is no limit.
onstart:
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if workflow.local_exec and limit and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None
    show_progress()


include: "rules/common.smk"
include: "rules/settings.smk"
include: "rules/inputs.smk"
include: "rules/targets.smk"
include: "rules/excam_files.smk"
include: "rules/step_files.smk"
include: "rules/sources.smk"
include: "rules/samples.smk"
include: "rules/errors.smk"
include: "rules/training.smk"
include: "rules/judging.smk"
include: "rules/reader.smk"
include: "rules/preflight.smk"
include: "rules/macaron_files.smk"
include: "rules/rubric_files.smk"
include: "rules/cult_eval_files.smk"
include: "rules/calmqa_files.smk"
include: "rules/crossing_files.smk"
include: "rules/crossing.smk"
include: "rules/steps.smk"


onsuccess:
    keep_records()
    name_index()


onerror:
    keep_records()


rule all:
    """Every table and figure, and our numbers beside the printed ones; the adapters too, so that a lost one is seen."""
    default_target: True
    input:
        everything(),
        "results/index.html",


rule excam:
    """ExCAM: its data, audited, its adapters, its tables and figures, and what more is measured of them."""
    input:
        excam(),


rule paper:
    """Every table and figure of the paper; from the transcripts on, no model is needed."""
    input:
        paper(),


rule publish:
    """The data set as others get it, whole and its permissive part; nothing is sent anywhere."""
    input:
        expand("results/published/{build}/manifest.json", build=BUILDS),


rule audits:
    """The data set checked: leaks, shortcuts, balance, inventory, licences. Fails where a check does. Asks no model."""
    input:
        "results/audits/summary.md",
        "results/audits/verdict/all.json",


rule adapters:
    """Every LoRA adapter of the experiment."""
    input:
        adapters(),


rule external:
    """The external judge on the balanced subsets; needs its key, so `all` does not ask for it."""
    input:
        external_cells,
        lambda w: pages_of("external"),


rule annotation:
    """The campaign for people, as a file and as a page; their tables, where the configuration names their answers."""
    input:
        annotation_pages(),


rule macaron:
    """The benchmark Macaron: its coverage, what the models answer, and its tables and figures."""
    input:
        of_section("macaron", macaron_pages()),


rule rubric:
    """Ratings by the scoring manual: what models rate, agreement with people, and every table of quality control."""
    input:
        of_section("rubric", rubric_pages()),


rule cult_eval:
    """Translations of culture-loaded expressions: ACRE, metrics of whole sentences, and their tables and figures."""
    input:
        of_section("cult_eval", pages_of("cult_eval")),


rule calmqa:
    """CaLMQA's score of long answers: right language, no loops, true, to the point; and what people's ratings follow."""
    input:
        of_section("calmqa", calmqa_pages()),


rule crossing:
    """All metrics on the same rows: which kinds of errors each misses, and how far it depends on the language."""
    input:
        of_section("crossing", pages_of("crossing")),


rule reader:
    """Adapters that read passages, and what they are worth beside the floors."""
    input:
        of_section("reader", pages_of("reader")),
