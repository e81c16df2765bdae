"""The proof that an adapter is active, before it judges."""


rule verify_adapter:
    """Check that an adapter is active in the engine that serves it; an inactive one stops here."""
    input:
        weights=MODEL.weights,
        adapter=adapter,
    output:
        verified="results/adapters/{model}/{trained_on}/verified.json",
    log:
        "logs/verify_adapter/{model}/{trained_on}.log",
    benchmark:
        "benchmarks/verify_adapter/{model}/{trained_on}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=20),
    params:
        version=versions("verify_adapter", MODEL.answers),
        model=lambda w: EXPERIMENT.models[w.model].answer_settings,
        weights=flag("weights", MODEL.weights),
        adapter=flag("adapter", adapter),
        checkpoints="results/checkpoints/{model}/{trained_on}",
    shell:
        "python -m scripts verify_adapter --name {wildcards.model:q}/{wildcards.trained_on:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} {params.adapter:q} --checkpoints {params.checkpoints:q}"
        " --verified {output.verified:q} 2>&1 | tee {log:q}"
