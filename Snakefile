"""ExCAM, the experiment: nine benchmarks -> instruction-output pairs -> errors -> LoRA adapters -> judgements -> figures.

`snakemake --profile slurm all` runs the paper's experiment (config.yaml) on a cluster, `snakemake --profile local all`
the embedded one (experiments/mini.yaml) on this machine. Any file below results/ is a target of its own.
"""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"
include: "rules/sources.smk"
include: "rules/samples.smk"
include: "rules/errors.smk"
include: "rules/excam40k.smk"
include: "rules/training.smk"
include: "rules/judging.smk"
include: "rules/evaluation.smk"
include: "rules/reports.smk"
include: "rules/certainty.smk"
include: "rules/counterfactuals.smk"
include: "rules/paper.smk"
include: "rules/audits.smk"
include: "rules/publishing.smk"
include: "rules/annotation.smk"
include: "rules/preflight.smk"


onsuccess:
    keep_records()


onerror:
    keep_records()


rule all:
    """Every table and figure, and our numbers beside the printed ones; the adapters too, so that a lost one is seen."""
    default_target: True
    input:
        adapters(),
        paper(),
        training_pages(),
        explanation_pages(),
        counterfactual_page(),
        "results/audits/summary.md",
        expand("results/published/{build}/manifest.json", build=BUILDS),


rule paper:
    """Every table and figure of the paper; from the transcripts on, no model is needed."""
    input:
        paper(),


rule publish:
    """The data set as others get it, whole and its permissive part; nothing is sent anywhere."""
    input:
        expand("results/published/{build}/manifest.json", build=BUILDS),


rule audits:
    """The data set checked: leaks, shortcuts, balance, inventory, licences. Needs no model."""
    input:
        "results/audits/summary.md",


rule adapters:
    """Every LoRA adapter of the experiment."""
    input:
        adapters(),


rule external:
    """The external judge on the balanced subsets; needs its key, so `all` does not ask for it."""
    input:
        external_cells,
        external_figure,


rule annotation:
    """The campaign for people, as a file and as a page; their tables, where the configuration names their answers."""
    input:
        annotation_pages(),
