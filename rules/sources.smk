"""Pinned snapshots of benchmarks and models."""


localrules:
    fetch_source,
    fetch_model,
    fetch_tokenizer,


rule fetch_source:
    """Fetch one benchmark's files, pinned."""
    input:
        local_files,
        # an edit of the module is no reason to fetch again: what it says of files and licence is in `params`
        module=ancient(own_module),
    output:
        manifest="results/sources/{dataset}/manifest.json",
    log:
        "logs/fetch_source/{dataset}.log",
    benchmark:
        "benchmarks/fetch_source/{dataset}.tsv"
    wildcard_constraints:
        dataset=one_of(DATASETS),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("fetch_source"),
        patterns=source_patterns,
        licence=lambda w: BENCHMARKS[w.dataset].SOURCE.licence,
        source=source_settings,
        module=flag("module", own_module),
    shell:
        "python -m scripts fetch_source --dataset {wildcards.dataset:q} {params.module:q} --source {params.source:q}"
        " --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule fetch_model:
    """Fetch one model's weights and tokenizer, pinned."""
    input:
        chat_template,
        model_files,
    output:
        manifest="results/models/{model}/manifest.json",
    log:
        "logs/fetch_model/{model}.log",
    benchmark:
        "benchmarks/fetch_model/{model}.tsv"
    conda:
        "../envs/training.yaml"
    params:
        version=versions(conversion),
        source=model_source,
    shell:
        "python -m scripts fetch_model --model {wildcards.model:q} --source {params.source:q}"
        " --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule fetch_tokenizer:
    """Fetch the tokenizer of one model of the hub, pinned: rows are measured before weights are there."""
    input:
        chat_template,
    output:
        manifest="results/tokenizers/{model}/manifest.json",
    log:
        "logs/fetch_tokenizer/{model}.log",
    benchmark:
        "benchmarks/fetch_tokenizer/{model}.tsv"
    conda:
        "../envs/training.yaml"
    params:
        version=versions("fetch_tokenizer"),
        source=model_source,
    shell:
        "python -m scripts fetch_tokenizer --model {wildcards.model:q} --source {params.source:q}"
        " --manifest {output.manifest:q} 2>&1 | tee {log:q}"
