"""Judgements -> numbers, and what is significant."""


localrules:
    evaluate,


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
