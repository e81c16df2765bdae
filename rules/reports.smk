"""How good the reports themselves are: spans, severity, types, explanations, twins. Only judges that write reports."""


rule evaluate_reports:
    """Reports of one cell, or of all datasets together, beside the gold reports (spec 61, 63)."""
    input:
        judgements=judgements_pooled,
        samples=lambda w: [
            f"results/excam40k/{name}/{w.split}.parquet" for name in (DATASETS if w.dataset == "all" else [w.dataset])
        ],
    output:
        numbers="results/reports/{model}/{trained_on}/{judge}/{dataset}/{split}.json",
    log:
        "logs/evaluate_reports/{model}/{trained_on}/{judge}/{dataset}/{split}.log",
    benchmark:
        "benchmarks/evaluate_reports/{model}/{trained_on}/{judge}/{dataset}/{split}.tsv"
    wildcard_constraints:
        judge="report",
    conda:
        "../envs/data.yaml"
    params:
        version=versions("evaluate_reports"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.evaluate_reports --judgements {input.judgements:q} --samples {input.samples:q}"
        " --seed {params.seed:q} --numbers {output.numbers:q} 2>&1 | tee {log:q}"


rule table_reports:
    """The reports of every system that writes them, on all test sets together and on each."""
    input:
        cells=[f"results/reports/{m}/{t}/{j}/all/test.json" for m, t, j in EXPERIMENT.systems if j == "report"],
        claims="paper/claims.csv",
    output:
        numbers="results/paper/reports.csv",
        page=report("results/paper/reports.md", caption="../report/reports.rst", category="Results"),
    log:
        "logs/table_reports.log",
    benchmark:
        "benchmarks/table_reports.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_reports"),
    shell:
        "python -m scripts.table_reports --cells {input.cells:q} --printed-claims {input.claims:q}"
        " --numbers {output.numbers:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule judged_rows:
    """Every judged test row of one system in one page: errors marked, both reports, to search and to filter."""
    input:
        judgements=lambda w: judged(w, "test"),
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
    output:
        page=report(
            "results/paper/judged-rows/{model}/{trained_on}/{judge}.html",
            caption="../report/judged-rows.rst",
            category="Judged rows",
            labels={"model": "{model}", "trained on": "{trained_on}", "judge": "{judge}"},
        ),
    log:
        "logs/judged_rows/{model}/{trained_on}/{judge}.log",
    benchmark:
        "benchmarks/judged_rows/{model}/{trained_on}/{judge}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("judged_rows"),
    shell:
        "python -m scripts.judged_rows --system {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --judgements {input.judgements:q} --samples {input.samples:q} --page {output.page:q} 2>&1 | tee {log:q}"


rule compare_explanations:
    """How alike one system's explanations are to the gold ones, row by row (spec 61, 62); an embedding model on a CPU."""
    input:
        judgements=lambda w: judged(w, w.split),
        samples=expand("results/excam40k/{dataset}/{{split}}.parquet", dataset=DATASETS),
        embedder=embedder,
    output:
        similarities="results/explanations/{model}/{trained_on}/{judge}/{split}.parquet",
    log:
        "logs/compare_explanations/{model}/{trained_on}/{judge}/{split}.log",
    benchmark:
        "benchmarks/compare_explanations/{model}/{trained_on}/{judge}/{split}.tsv"
    wildcard_constraints:
        judge="report",
    conda:
        "../envs/training.yaml"
    resources:
        model=1,
    params:
        version=versions("compare_explanations"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.compare_explanations --judgements {input.judgements:q} --samples {input.samples:q}"
        " --embedder {input.embedder:q} --seed {params.seed:q} --similarities {output.similarities:q}"
        " 2>&1 | tee {log:q}"


rule table_explanations:
    """The explanations of every system that writes reports beside floor, ceiling and the printed ratings (spec 61, 62)."""
    input:
        similarities=[f"results/explanations/{system}/test.parquet" for system in reporting_systems()],
        embedder=embedder,
        claims="paper/claims.csv",
    output:
        numbers="results/paper/explanations.csv",
        page=report("results/paper/explanations.md", caption="../report/explanations.rst", category="Results"),
    log:
        "logs/table_explanations.log",
    benchmark:
        "benchmarks/table_explanations.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_explanations"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts.table_explanations --similarities {input.similarities:q} --embedder {input.embedder:q}"
        " --printed-claims {input.claims:q} --seed {params.seed:q} --numbers {output.numbers:q} --page {output.page:q}"
        " 2>&1 | tee {log:q}"
