"""Training rows as tokens, once per base model; then one LoRA adapter per base model and mixture."""


rule tokenize_samples:
    """What a model is trained on, as tokens of its base: mixtures are filters of these (spec 46).

    Rows over `training.max_length` are dropped here, whole pairs, and counted.
    """
    input:
        weights=weights,
        samples="results/excam40k/{dataset}/{split}.parquet",
    output:
        tokens="results/tokens/{model}/{dataset}/{split}.parquet",
        counts="results/tokens/{model}/{dataset}/{split}.json",
    log:
        "logs/tokenize_samples/{model}/{dataset}/{split}.log",
    benchmark:
        "benchmarks/tokenize_samples/{model}/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset=one_of(DATASETS),
    conda:
        "../envs/training.yaml"
    params:
        version=versions("tokenize_samples"),
        recipe=longest_row,
    shell:
        "python -m scripts.tokenize_samples --weights {input.weights:q} --samples {input.samples:q}"
        " --recipe {params.recipe:q} --tokens {output.tokens:q} --counts {output.counts:q} 2>&1 | tee {log:q}"


rule train_adapter:
    """Fine-tune on error reports (Appendix B). Continues from its last checkpoint after a crash."""
    input:
        weights=weights,
        mixture="results/mixtures/{trained_on}/train.jsonl",
        tokens=train_tokens,
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
        runtime=lambda w, attempt: 360 * attempt,
    params:
        version=versions("train_adapter"),
        recipe=recipe,
        seed=EXPERIMENT.seed,
        checkpoints="results/checkpoints/{model}/{trained_on}",
        folder=subpath(output.manifest, parent=True),
    shell:
        "python -m scripts.train_adapter --model {wildcards.model:q} --weights {input.weights:q}"
        " --trained-on {wildcards.trained_on:q} --mixture {input.mixture:q} --tokens {input.tokens:q}"
        " --recipe {params.recipe:q} --layout {resources.layout:q} --save-steps {resources.save_steps:q}"
        " --report-to {resources.report_to:q} --seed {params.seed:q} --checkpoints {params.checkpoints:q}"
        " --adapter {params.folder:q} 2>&1 | tee {log:q}"


rule count_tokens:
    """Tokens per training row of every model that is trained, by dataset, and the rows that are too long."""
    input:
        counts=expand(
            "results/tokens/{model}/{dataset}/train.json",
            model=sorted(EXPERIMENT.tuned.models),
            dataset=DATASETS,
        ),
    output:
        numbers="results/paper/tokens.csv",
        page=report("results/paper/tokens.md", caption="../report/tokens.rst", category="Training"),
    log:
        "logs/count_tokens.log",
    benchmark:
        "benchmarks/count_tokens.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("count_tokens"),
    shell:
        "python -m scripts.count_tokens --counts {input.counts:q} --numbers {output.numbers:q} --page {output.page:q}"
        " 2>&1 | tee {log:q}"


rule figure_losses:
    """The loss curves of a base model's adapters."""
    input:
        losses=lambda w: [f"results/adapters/{w.model}/{t}/loss.csv" for t in EXPERIMENT.tuned.mixtures],
    output:
        numbers="results/paper/losses/{model}.csv",
        pdf="results/paper/losses/{model}.pdf",
        svg=report("results/paper/losses/{model}.svg", caption="../report/losses.rst", category="Training"),
        png="results/paper/losses/{model}.png",
    log:
        "logs/figure_losses/{model}.log",
    benchmark:
        "benchmarks/figure_losses/{model}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("figure_losses"),
    shell:
        "python -m scripts.figure_losses --model {wildcards.model:q} --losses {input.losses:q}"
        " --numbers {output.numbers:q} --pictures {output.pdf:q} {output.svg:q} {output.png:q} 2>&1 | tee {log:q}"


rule table_recipes:
    """Recipes that share a base model, on the dev sets: the paper's rank 128 against 16 (spec 47)."""
    input:
        cells=expand("results/evaluation/{model}/all/report/all/dev.json", model=EXPERIMENT.variants),
        adapters=expand("results/adapters/{model}/all/manifest.json", model=EXPERIMENT.variants),
    output:
        numbers=report("results/paper/recipes.csv", caption="../report/recipes.rst", category="Training"),
    log:
        "logs/table_recipes.log",
    benchmark:
        "benchmarks/table_recipes.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("table_recipes"),
    shell:
        "python -m scripts.table_recipes --cells {input.cells:q} --adapters {input.adapters:q}"
        " --numbers {output.numbers:q} 2>&1 | tee {log:q}"
