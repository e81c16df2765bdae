"""Quality of the reports: spans, severity, types, explanations, pairs. Only judges that write reports."""


localrules:
    evaluate_reports,
    judged_rows,


rule evaluate_reports:
    """Reports of one cell, or of all datasets together, beside the gold reports."""
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
        "python -m scripts evaluate_reports --judgements {input.judgements:q} --samples {input.samples:q}"
        " --seed {params.seed:q} --numbers {output.numbers:q} 2>&1 | tee {log:q}"


rule judged_rows:
    """Write every judged test row of one system on one page, with marked errors, both reports, search and filters."""
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
        "python -m scripts judged_rows --system {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --judgements {input.judgements:q} --samples {input.samples:q} --page {output.page:q} 2>&1 | tee {log:q}"
