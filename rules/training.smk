"""Training rows as tokens, once per base model; then one LoRA adapter per base model and mixture."""


rule train_adapter:
    """Fine-tune on error reports (Appendix B). Continues from its last checkpoint after a crash."""
    input:
        weights=MODEL.weights,
        mixture="results/mixtures/{trained_on}/train.jsonl",
        tokens=train_tokens,
        verdict=ancient("results/audits/verdict/{trained_on}.json"),  # awaited; a new one trains nothing again
    output:
        adapter="results/adapters/{model}/{trained_on}/adapter_model.safetensors",
        config="results/adapters/{model}/{trained_on}/adapter_config.json",
        loss="results/adapters/{model}/{trained_on}/loss.csv",
        card="results/adapters/{model}/{trained_on}/README.md",
        manifest="results/adapters/{model}/{trained_on}/manifest.json",
    log:
        "logs/train_adapter/{model}/{trained_on}.log",
    benchmark:
        "benchmarks/train_adapter/{model}/{trained_on}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
    priority: 1  # judging waits for it: the longest chain of jobs
    conda:
        "../envs/training.yaml"
    threads: 8
    resources:
        gpu=lambda w: LAYOUTS[w.model].processes if LAYOUTS[w.model].device == "gpu" else 0,
        mem_mb=lambda w, attempt: (64000 if LAYOUTS[w.model].device == "gpu" else 16000) * attempt,
        layout=lambda w: EXPERIMENT.recipe(w.model).layout,
        save_steps=lambda w: EXPERIMENT.recipe(w.model).save_steps,
        report_to=lambda w: EXPERIMENT.recipe(w.model).report_to,
        model=1,
        training=1,
        runtime=lambda w, attempt: 360 * attempt,
    params:
        version=versions("train_adapter"),
        recipe=recipe,
        seed=EXPERIMENT.seed,
        checkpoints="results/checkpoints/{model}/{trained_on}",
        folder=subpath(output.manifest, parent=True),
    shell:
        "python -m scripts train_adapter --model {wildcards.model:q} --weights {input.weights:q}"
        " --trained-on {wildcards.trained_on:q} --mixture {input.mixture:q} --tokens {input.tokens:q}"
        " --recipe {params.recipe:q} --layout {resources.layout:q} --save-steps {resources.save_steps:q}"
        " --report-to {resources.report_to:q} --seed {params.seed:q} --checkpoints {params.checkpoints:q}"
        " --adapter {params.folder:q} 2>&1 | tee {log:q}"
