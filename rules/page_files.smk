"""What pages of the results are made of, by the names under which they ask for it, and which pages a target asks for."""


def page_inputs(page):
    """The inputs of a page: paths, and the files of the sets that it names."""
    return {
        name: PAGE_FILES[source] if isinstance(source, str) and "/" not in source else source
        for name, source in page.inputs.items()
    }


def page_outputs(page):
    """The outputs of a page; those that people read are part of a report."""
    caption = f"../report/{page.name.replace('_', '-')}.rst"
    return {
        name: [report(path, caption=caption, category=page.category) if path in page.shown else path for path in paths]
        for name, paths in page.files.items()
    }


def page_settings(page):
    """The options of a page's script that are no files: each wildcard and setting, under its name.

    Snakemake compares them with those of the last run; it does not compare values that depend on inputs or outputs.
    """

    def of(wildcards):
        values = {name: PAGE_SETTINGS[source] for name, source in page.settings.items()}
        return options(
            dict(wildcards) | {name: value(wildcards) if callable(value) else value for name, value in values.items()}
        )

    return of


def page_paths(wildcards, input, output):
    """The options of a page's script that are files: each input and output, under its name."""
    return options(dict(input.items()) | dict(output.items()))


def options(values):
    return [word for name, value in values.items() for word in (f"--{name.replace('_', '-')}", *words(value))]


def words(value):
    return [value] if isinstance(value, (str, int)) else value


def of_systems(systems, pattern):
    return [pattern.format(system=system) for system in systems]


PAGE_FILES = {  # sets of files that pages name as inputs
    "all_splits": expand(
        "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test", "test-100"]
    ),
    "bases": expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
    "cells_of_adapters": lambda w: [
        f"results/evaluation/{s}/{d}/test.json" for s in adapted(w.model) for d in [*DATASETS, "all"]
    ],
    "cells_of_all": of_systems(SYSTEMS, "results/evaluation/{system}/all/test.json"),
    "cells_of_all_in_domain": of_systems(column_systems("all"), "results/evaluation/{system}/all/test.json"),
    "cells_of_columns": [  # every number of Figure 3
        f"results/evaluation/{s}/{d}/test.json" for d in [*DATASETS, "all"] for s in column_systems(d)
    ],
    "certainty_cells": of_systems(column_systems("all"), "results/certainty/{system}/test.json"),
    "certainty_cells_of_excam": of_systems(in_domain_excam(), "results/certainty/{system}/test.json"),
    "cult_eval_items": ["results/cult_eval/items.parquet"] if CULT_EVAL else [],
    "cult_eval_judged": cult_eval_files(
        "judged/equivalent", *(f"judged/{judge}" for judge in (CULT_EVAL.judges if CULT_EVAL else []))
    ),
    "cult_eval_labels": cult_eval_source.labels(Path(CULT_EVAL.folder)) if CULT_EVAL else [],
    "cult_eval_metrics": cult_eval_files("metrics", *(["comet"] if CULT_EVAL and CULT_EVAL.comet else [])),
    "cult_eval_rows": cult_eval_files("rows"),
    "cult_eval_scores": list(CULT_EVAL.scores.values()) if CULT_EVAL else [],
    "crossing_rows": ["results/crossing/rows.parquet"] if CROSSING else [],
    "crossing_rows_in_two_languages": of_row_set("macaron", ["results/crossing/rows.parquet"] if MACARON else []),
    "crossing_scores": [f"results/crossing/scores/{name}.parquet" for name in (CROSSING.metrics if CROSSING else [])],
    "counterfactual_rows": of_systems(reporting_systems(), "results/counterfactuals/{system}/all/test.rows.parquet"),
    "counterfactual_samples": of_systems(reporting_systems(), "results/counterfactuals/{system}/all/test.parquet"),
    "counterfactual_transcripts": of_systems(reporting_systems(), "results/counterfactuals/{system}/all/test.jsonl"),
    "evidence": sets_with_evidence("results/evidence/{dataset}/{split}.parquet"),
    "evidence_numbers": ["results/paper/evidence.csv"] if WITH_EVIDENCE else [],
    "example_samples": lambda w: [  # of the datasets that one of the paper's tables shows, if they are switched on
        f"results/excam40k/{name}/test.parquet"
        for name in EXAMPLE_TABLES.get(int(w.number), DATASETS)
        if name in DATASETS
    ],
    "judgements_in_domain": [
        f"results/judgements/{s}/{d}/test.parquet" for s in column_systems("all") for d in DATASETS
    ],
    "judgements_of_adapters": judgements_of(
        lambda trained_on: trained_on == "all" or trained_on.startswith("without-")
    ),
    "judgements_with_evidence": judgements_with_evidence(),
    "judgements_of_excam": judgements_of(lambda trained_on: trained_on == "all"),
    "judgements_of_excam_reports": [
        f"results/judgements/{s}/{d}/test.parquet"
        for s in in_domain_excam()
        if Path(s).name == "report"
        for d in DATASETS
    ],
    "judgements_of_external": external_judgements,
    "calmqa_languages": ["results/calmqa/languages.csv"] if CALMQA else [],
    "calmqa_ratings": CALMQA_RATINGS,
    "calmqa_scores": ["results/calmqa/scores.parquet"] if CALMQA else [],
    "macaron_answers": macaron_answers(),
    "macaron_instances": ["results/macaron/instances.parquet"] if MACARON else [],
    "macaron_scenarios": ["results/macaron/scenarios.parquet"] if MACARON else [],
    "rubric_responses": RUBRIC_FILES["responses"],
    "judgements_of_trained": [
        f"results/judgements/{m}/{t}/report/{d}/test.parquet" for m, t in reporting_adapters() for d in judged_of(t)
    ],
    "knowledge": expand("results/knowledge/{model}/facts.parquet", model=bases_of_trained()),
    "manifests_of_trained": [f"results/adapters/{m}/{t}/manifest.json" for m, t in reporting_adapters()],
    "taught_bases": expand("results/models/{model}/manifest.json", model=TAUGHT),
    "taught_numbers": ["results/paper/taught.csv"] if TAUGHT else [],
    "taught_facts": expand("results/corpora/{model}/facts.csv", model=TAUGHT),
    "losses": lambda w: [f"results/adapters/{w.model}/{t}/loss.csv" for t in EXPERIMENT.tuned.mixtures],
    "printed_votes": printed_votes,
    "report_cells": [f"results/reports/{m}/{t}/{j}/all/test.json" for m, t, j in EXPERIMENT.systems if j == "report"],
    "sets_with_evidence": sets_with_evidence("results/excam40k/{dataset}/{split}.parquet"),
    "soft_counts": expand("results/errors/soft/{dataset}.counts.json", dataset=SOFT),
    "source_manifests": expand("results/sources/{dataset}/manifest.json", dataset=DATASETS),
    "split_counts": expand("results/excam40k/{dataset}/counts.json", dataset=DATASETS),
    "test_sets": expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
    "tests_of_columns": [f"results/significance/{d}/test.json" for d in [*DATASETS, "all"] if column_systems(d)],
    "token_counts": expand(
        "results/tokens/{model}/{dataset}/train.json",
        model=sorted(EXPERIMENT.tuned.models) if EXPERIMENT.tuned.mixtures else [],
        dataset=DATASETS,
    ),
    "train_dev_test": expand(
        "results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test"]
    ),
    "train_mixtures": expand("results/mixtures/{trained_on}/train.jsonl", trained_on=EXPERIMENT.tuned.mixtures),
    "variant_adapters": expand("results/adapters/{model}/all/manifest.json", model=EXPERIMENT.variants),
    "variant_cells": expand("results/evaluation/{model}/all/report/all/dev.json", model=EXPERIMENT.variants),
}

PAGE_SETTINGS = {  # values that pages name as settings
    "cult_eval_scored": list(CULT_EVAL.scores) if CULT_EVAL else [],
    "calmqa_how": calmqa_how(),
    "crossing_parts": crossing_parts(),
    "datasets": DATASETS,
    "licences": licences(),
    "models_asked": models_asked,
    "rubric_icc": RUBRIC.icc if RUBRIC else "complete",
    "rubric_version": RUBRIC.version if RUBRIC else "",
    "rubric_weights": rubric_weights(),
    "seed": EXPERIMENT.seed,
    "shares": json.dumps(EXPERIMENT.construction.shares, sort_keys=True),
    "soft": SOFT,
    "shown_trained": shown_trained(),
    "unseen": unseen(),
    "weights_of_trained": [f"{name}={EXPERIMENT.weights(name)}" for name in EXPERIMENT.trained],
}


def pages_of(target):
    """Files of every page that belongs to a target and for which this experiment has data."""
    axes = {"model": list(EXPERIMENT.tuned.models)}
    return [
        path.format(**values)
        for page in PAGES.values()
        if page.target == target
        for values in combinations(axes | page.wildcards, page.axes)
        if all(files_of(source, values) for name, source in page_inputs(page).items() if name not in page.optional)
        for paths in page.files.values()
        for path in paths
    ]


def combinations(values, names):
    return [dict(zip(names, chosen)) for chosen in product(*(values[name] for name in names))]


def files_of(source, values):
    return source(SimpleNamespace(**values)) if callable(source) else source
