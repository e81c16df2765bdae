"""One LoRA adapter per base model and mixture."""


rule train_adapter:
    """Fine-tune on error reports (Appendix B). Continues from its last checkpoint after a crash."""
    input:
        weights=weights,
        mixture="results/mixtures/{trained_on}/train.jsonl",
    output:
        adapter="results/adapters/{model}/{trained_on}/adapter_model.safetensors",
        config="results/adapters/{model}/{trained_on}/adapter_config.json",
        loss="results/adapters/{model}/{trained_on}/loss.csv",
        manifest="results/adapters/{model}/{trained_on}/manifest.json",
    log:
        "logs/train_adapter/{model}/{trained_on}.log",
    benchmark:
        "benchmarks/train_adapter/{model}/{trained_on}.tsv"
    wildcard_constraints:
        trained_on=one_of(EXPERIMENT.mixtures),
    conda:
        "../envs/training.yaml"
    threads: 8
    resources:
        gpu=lambda w: min(1, EXPERIMENT.models[w.model].gpus),
        mem_mb=lambda w, attempt: (64000 if EXPERIMENT.models[w.model].gpus else 16000) * attempt,
        rows_per_pass=EXPERIMENT.training.rows_per_pass,
        save_steps=EXPERIMENT.training.save_steps,
        model=1,
        runtime=360,
    params:
        version=versions("train_adapter"),
        recipe=recipe,
        seed=EXPERIMENT.seed,
        checkpoints="results/checkpoints/{model}/{trained_on}",
        folder=subpath(output.manifest, parent=True),
    shell:
        "python -m scripts.train_adapter --model {wildcards.model} --weights {input.weights}"
        " --trained-on {wildcards.trained_on} --mixture {input.mixture} --recipe {params.recipe:q}"
        " --rows-per-pass {resources.rows_per_pass} --save-steps {resources.save_steps}"
        " --seed {params.seed} --checkpoints {params.checkpoints} --adapter {params.folder} 2>&1 | tee {log}"
