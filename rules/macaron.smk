"""Macaron: scenarios of a folder -> six instances each -> answers of models -> tables and figures (pages)."""


rule macaron_proofread:
    """Correct spelling and grammar of the English texts with a model; a guard refuses any other edit."""
    input:
        scenarios="results/macaron/built.parquet",
        weights=PROOFREADER.weights,
    output:
        proofread=f"results/macaron/{'scenarios' if proofreader_name() else 'proofread'}.parquet",
        edits="results/macaron/edits.csv",
        transcript="results/macaron/transcripts/proofreading.jsonl",
        manifest="results/macaron/transcripts/proofreading.manifest.json",
    log:
        "logs/macaron_proofread.log",
    benchmark:
        "benchmarks/macaron_proofread.tsv"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **PROOFREADER.resources(minutes=60),
    params:
        **PROOFREADER.params,
        version=versions("macaron_proofread", PROOFREADER.answers),
        name=proofreader_name(),
    shell:
        "python -m scripts macaron_proofread --name {params.name:q} --model {params.model:q} --gpus {resources.gpu:q}"
        " --pace {resources.pace:q} {params.weights:q} --scenarios {input.scenarios:q} --seed {params.seed:q}"
        " --journal results/journal/macaron/proofreading.jsonl --proofread {output.proofread:q} --edits {output.edits:q}"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule macaron_ask:
    """Ask one model about every instance in one mode."""
    input:
        instances="results/macaron/instances.parquet",
        weights=MODEL.weights,
    output:
        transcript="results/macaron/transcripts/{model}/{mode}.jsonl",
        manifest="results/macaron/transcripts/{model}/{mode}.manifest.json",
    log:
        "logs/macaron_ask/{model}/{mode}.log",
    benchmark:
        "benchmarks/macaron_ask/{model}/{mode}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=lambda w: 240 if w.mode == "thinking" else 60),
    params:
        **MODEL.params,
        version=versions("macaron_ask", MODEL.answers),
    shell:
        "python -m scripts macaron_ask --name {wildcards.model:q}/{wildcards.mode:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --mode {wildcards.mode:q}"
        " --instances {input.instances:q} --seed {params.seed:q}"
        " --journal results/journal/macaron/{wildcards.model:q}.jsonl"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
