"""What the targets of the Snakefile ask for."""

import atexit

from collections import Counter

from excam.core.paths import Cell
from excam.lineage import progress


def refuse_unknown_cells(words):
    """Stop with one line at a target that is the file of a cell, with a value that no cell of this experiment has."""
    known = {
        "model": [*EXPERIMENT.models, BY_DOCUMENTS[0]],
        "trained_on": ["nothing", *EXPERIMENT.mixtures],
        "judge": sorted(JUDGES),
        "dataset": [*DATASETS, "all"],
    }
    for word in (word for word in words if word.startswith("results/")):
        try:
            cell = Cell.from_path(Path(word))
        except ExcamError:
            continue
        for axis, values in known.items():
            if getattr(cell, axis) not in values:
                raise WorkflowError(f"{word}: {axis}: found {getattr(cell, axis)}; expected {', '.join(values)}")


refuse_unknown_cells(sys.argv[1:] if workflow.is_main_process else [])


def adapters():
    return [file for model, trained_on in EXPERIMENT.adapters for file in adapter_files(model, trained_on)]


def paper():
    """Every table and figure for which this experiment has data, judged rows among them."""
    return [*pages_of("paper"), *judged_pages()]


def excam():
    """The adapters, the audits of what they learn from, the paper's tables and figures, and our own."""
    return [*adapters(), *paper(), *pages_of("all")]


def everything(wildcards=None):
    """All that `all` makes, but for the page that leads to it: tables, figures, pages, adapters, the published data."""
    return [
        *excam(),
        *expand("results/published/{build}/manifest.json", build=BUILDS),
        *macaron_pages(),
        *rubric_pages(),
        *pages_of("cult_eval"),
        *calmqa_pages(),
        *pages_of("crossing"),
        *pages_of("reader"),
    ]


def judged_pages():
    """Every judged test row to look at: of each baseline and of ExCAM trained on all."""
    return [f"results/paper/judged-rows/{system}.html" for system in column_systems("all")]


def external_cells(wildcards):
    """Cells of the external judges; one without its key in the environment is skipped with a message."""
    for m in sorted({*EXPERIMENT.external.models}):
        if key := missing_key(EXPERIMENT.models[m]):
            logger.warning(f"external: {m} skipped: environment variable {key} is not set; expected its key")
    return cells(external_systems(), [*DATASETS, "all"], "test-100")


def external_systems():
    """The external judges whose key is there, as they are asked."""
    keyed = [m for m in EXPERIMENT.external.models if not missing_key(EXPERIMENT.models[m])]
    return [f"{m}/nothing/{j}" for m in keyed for j in EXPERIMENT.external.judges]


def missing_key(model):
    """Name of the API-key environment variable if it is unset, else None."""
    name = model.server and model.server.key_env
    return name if name and not os.environ.get(name) else None


def of_section(name, files):
    """What the target of a section of the configuration asks for. Where that is missing, stop with one line."""

    def of(wildcards):
        if not getattr(EXPERIMENT, name):
            raise WorkflowError(f"{name}: switched off; expected a section `{name}`, as in experiments/mini.yaml")
        return files

    return of


def show_progress():
    """At the start of a run: write a line for each finished job on the terminal, unless commands are asked for."""
    if not workflow.output_settings.verbose and not workflow.output_settings.printshellcmds:
        progress.show(logger, Counter(job.rule.name for job in workflow.dag.needrun_jobs()), Path("benchmarks"))


def name_index():
    """At the end of a run that made it: name the first page of the results, behind Snakemake's own last lines."""
    if {"all", "results/index.html"} & set(workflow.dag_settings.targets or ["all"]):
        atexit.register(
            print, "Open results/index.html: what was run, every figure, and links to all pages.", file=sys.stderr
        )
