"""Judgements -> numbers, and what is significant."""


localrules:
    evaluate,
    compare_systems,


rule evaluate:
    """Accuracy, correlations, rates of one system: of each dataset, and of all together."""
    input:
        of_each_dataset("results/judgements/{model}/{trained_on}/{judge}/{dataset}/{split}.parquet"),
    output:
        numbers=of_each_dataset("results/evaluation/{model}/{trained_on}/{judge}/{dataset}/{split}.json", "all"),
    log:
        "logs/evaluate/{model}/{trained_on}/{judge}/{split}.log",
    benchmark:
        "benchmarks/evaluate/{model}/{trained_on}/{judge}/{split}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("evaluate"),
        seed=evaluation_choices(),
    shell:
        "python -m scripts evaluate --judgements {input:q} --seed {params.seed:q} --numbers {output.numbers:q}"
        " 2>&1 | tee {log:q}"


rule compare_systems:
    """Paired permutation tests between all systems of one column of Figure 3."""
    input:
        judgements_compared,
    output:
        tests="results/significance/{dataset}/{split}.json",
    log:
        "logs/compare_systems/{dataset}/{split}.log",
    benchmark:
        "benchmarks/compare_systems/{dataset}/{split}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("compare_systems"),
        systems=lambda w: column_systems(w.dataset),
        how=significance_choices(),
    shell:
        "python -m scripts compare_systems --systems {params.systems:q} --judgements {input:q} {params.how:q}"
        " --tests {output.tests:q} 2>&1 | tee {log:q}"


rule compare_correlations:
    """Paired tests of ExCAM's correlations against every other of Table 4, calibrated again in each draw."""
    input:
        lambda w: judgements_compared(w, "all"),
    output:
        tests="results/significance/all/{split}.correlations.json",
    log:
        "logs/compare_correlations/{split}.log",
    benchmark:
        "benchmarks/compare_correlations/{split}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("compare_correlations"),
        systems=column_systems("all"),
        draws=1000,
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts compare_correlations --systems {params.systems:q} --judgements {input:q}"
        " --draws {params.draws:q} --seed {params.seed:q} --tests {output.tests:q} 2>&1 | tee {log:q}"
