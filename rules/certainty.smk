"""Reliability of the confidence: ranking, calibration, abstention. Beyond the paper, whose Eq. 1 uses p(R)."""


localrules:
    evaluate_certainty,


rule evaluate_certainty:
    """AUROC, reliability and abstention of one system; ExCAM's maps to a probability are fitted on the dev sets."""
    input:
        test=lambda w: judged(w, "test"),
        dev=lambda w: judged(w, "dev") if w.trained_on == "all" else [],
    output:
        numbers="results/certainty/{model}/{trained_on}/{judge}/test.json",
    log:
        "logs/evaluate_certainty/{model}/{trained_on}/{judge}.log",
    benchmark:
        "benchmarks/evaluate_certainty/{model}/{trained_on}/{judge}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("evaluate_certainty"),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts evaluate_certainty --test {input.test:q} --dev {input.dev:q} --seed {params.seed:q}"
        " --numbers {output.numbers:q} 2>&1 | tee {log:q}"
