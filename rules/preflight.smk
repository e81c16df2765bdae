"""Before a long run: every model opened, every recipe stepped, the longest rows measured, on the machines of the run.

What comes from the hub or an address is tried once it is fetched; nothing here fetches it.
"""


localrules:
    try_rows,
    preflight,


rule try_rows:
    """The longest rows of each benchmark in tokens of one model, against what it and its training take."""
    input:
        weights=MODEL.weights,
        samples=expand("results/samples/{dataset}.parquet", dataset=SOURCES_THERE),
    output:
        rows="results/preflight/rows/{model}.parquet",
        trial="results/preflight/rows/{model}.json",
    log:
        "logs/try_rows/{model}.log",
    benchmark:
        "benchmarks/try_rows/{model}.tsv"
    conda:
        "../envs/training.yaml"
    params:
        version=versions("try_rows"),
        model=MODEL.settings,
        recipe=training_rows,
        asked=lambda w: plan.ways_of_asking(EXPERIMENT, w.model),
    shell:
        "python -m scripts try_rows --name {wildcards.model:q} --model {params.model:q} --weights {input.weights:q}"
        " --recipe {params.recipe:q} --asked {params.asked:q} --samples {input.samples:q} --rows {output.rows:q}"
        " --trial {output.trial:q} 2>&1 | tee {log:q}"


rule try_model:
    """Open one model on its GPUs, as `judge` opens it, and ask a few questions; a generator, for errors too."""
    input:
        weights=MODEL.weights,
        samples=probed_samples,
    output:
        trial="results/preflight/models/{model}.json",
    log:
        "logs/try_model/{model}.log",
    benchmark:
        "benchmarks/try_model/{model}.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        gpu=MODEL.gpus,
        model=1,
        mem_mb=MODEL.memory,
        runtime=lambda w, attempt: 60 * attempt,
        pace=MODEL.pace,
    params:
        version=versions("try_model", MODEL.answers),
        model=MODEL.settings,
        samples=lambda w, input: ["--samples", *input.samples] if input.samples else [],
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts try_model --name {wildcards.model:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} --weights {input.weights:q} {params.samples:q} --seed {params.seed:q}"
        " --trial {output.trial:q} 2>&1 | tee {log:q}"


rule try_training:
    """A few optimizer steps of one model's recipe, the last on its longest rows; the adapter is not kept."""
    input:
        weights=MODEL.weights,
        rows="results/preflight/rows/{model}.parquet",
    output:
        trial="results/preflight/training/{model}.json",
    log:
        "logs/try_training/{model}.log",
    benchmark:
        "benchmarks/try_training/{model}.tsv"
    conda:
        "../envs/training.yaml"
    threads: 8
    resources:
        gpu=lambda w: LAYOUTS[w.model].processes if LAYOUTS[w.model].device == "gpu" else 0,
        mem_mb=lambda w, attempt: (64000 if LAYOUTS[w.model].device == "gpu" else 16000) * attempt,
        layout=lambda w: EXPERIMENT.recipe(w.model).layout,
        model=1,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        version=versions("try_training", "train_adapter"),
        recipe=recipe,
        scratch="results/checkpoints/preflight/{model}",
    shell:
        "python -m scripts try_training --name {wildcards.model:q} --weights {input.weights:q} --rows {input.rows:q}"
        " --recipe {params.recipe:q} --layout {resources.layout:q} --scratch {params.scratch:q}"
        " --trial {output.trial:q} 2>&1 | tee {log:q}"


rule preflight:
    """Report problems, unknowns and the planned work. Checked again at each call."""
    input:
        sources=expand("results/sources/{dataset}/manifest.json", dataset=SOURCES_THERE),
        samples=expand("results/samples/{dataset}.parquet", dataset=SOURCES_THERE),
        weights=expand("results/models/{model}/manifest.json", model=WEIGHTS_THERE),
        models=expand("results/preflight/models/{model}.json", model=TRIED),
        rows=expand("results/preflight/rows/{model}.json", model=TRIED),
        training=expand("results/preflight/training/{model}.json", model=TRAINED),
    output:
        numbers="results/preflight/preflight.json",
        page="results/preflight/preflight.md",
    log:
        "logs/preflight.log",
    benchmark:
        "benchmarks/preflight.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions("preflight"),
        experiment=EXPERIMENT.model_dump_json(exclude_defaults=True),
        now=time.time(),  # disks, keys and what is there are of the moment
    shell:
        "python -m scripts preflight --experiment {params.experiment:q} --sources {input.sources:q}"
        " --samples {input.samples:q} --weights {input.weights:q} --models {input.models:q} --rows {input.rows:q}"
        " --training {input.training:q} --results results --numbers {output.numbers:q}"
        " --page {output.page:q} 2>&1 | tee {log:q}"
