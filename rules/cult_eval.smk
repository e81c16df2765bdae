"""CulT-Eval and ACRE: items -> translations -> verdicts and metrics of whole sentences -> tables and figures (pages)."""


rule cult_eval_translate:
    """Translate every item with one model, without or with an example."""
    input:
        expressions="results/cult_eval/items.parquet",
        example=one_shot_example,
        weights=MODEL.weights,
    output:
        rows="results/cult_eval/rows/{model}/{shots}.parquet",
        transcript="results/cult_eval/transcripts/translations/{model}/{shots}.jsonl",
        manifest="results/cult_eval/transcripts/translations/{model}/{shots}.manifest.json",
    log:
        "logs/cult_eval_translate/{model}/{shots}.log",
    benchmark:
        "benchmarks/cult_eval_translate/{model}/{shots}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=60),
    params:
        **MODEL.params,
        version=versions("cult_eval_translate", MODEL.answers),
        form=lambda w: "plain" if EXPERIMENT.models[w.model].backend == "seq2seq" else "prompt",
        example=flag("example", one_shot_example),
    shell:
        "python -m scripts cult_eval_translate --name {wildcards.model:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --form {params.form:q}"
        " --expressions {input.expressions:q} {params.example:q} --seed {params.seed:q}"
        " --journal results/journal/cult_eval/{wildcards.model:q}.jsonl --rows {output.rows:q}"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule cult_eval_judge:
    """Judge translations as ACRE with one model, in every variant of the ablation."""
    input:
        rows="results/cult_eval/rows/{translator}/{shots}.parquet",
        weights=MODEL.weights,
    output:
        judged="results/cult_eval/judged/{model}/{translator}/{shots}.parquet",
        transcript="results/cult_eval/transcripts/judged/{model}/{translator}/{shots}.jsonl",
        manifest="results/cult_eval/transcripts/judged/{model}/{translator}/{shots}.manifest.json",
    log:
        "logs/cult_eval_judge/{model}/{translator}/{shots}.log",
    benchmark:
        "benchmarks/cult_eval_judge/{model}/{translator}/{shots}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=120),
    params:
        **MODEL.params,
        version=versions("cult_eval_judge", "acre/asks", MODEL.answers),
        variants=CULT_EVAL.variants if CULT_EVAL else [],
        by=CULT_EVAL.mode if CULT_EVAL else "",
        quality=CULT_EVAL.quality if CULT_EVAL else "",
    shell:
        "python -m scripts cult_eval_judge --name {wildcards.model:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --variants {params.variants:q}"
        " --by {params.by:q} --quality {params.quality:q} --rows {input.rows:q} --seed {params.seed:q}"
        " --journal results/journal/cult_eval/{wildcards.model:q}.jsonl --judged {output.judged:q}"
        " --transcript {output.transcript:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule cult_eval_comet:
    """Measure translations with COMET, in an environment of its own."""
    input:
        rows="results/cult_eval/rows/{translator}/{shots}.parquet",
        weights=comet_files,
    output:
        metrics="results/cult_eval/comet/{translator}/{shots}.parquet",
        manifest="results/cult_eval/comet/{translator}/{shots}.manifest.json",
    log:
        "logs/cult_eval_comet/{translator}/{shots}.log",
    benchmark:
        "benchmarks/cult_eval_comet/{translator}/{shots}.tsv"
    conda:
        "../envs/mt.yaml"
    resources:
        mem_mb=lambda w, attempt: 16000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    params:
        version=versions("cult_eval_comet"),
        comet=CULT_EVAL.comet or "" if CULT_EVAL else "",
    shell:
        "python -m scripts cult_eval_comet --rows {input.rows:q} --comet {params.comet:q}"
        " --metrics {output.metrics:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"
