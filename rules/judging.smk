"""Every prediction in the paper: `judge` asks (one engine for the jobs of an allocation), `score` reads (no model)."""


localrules:
    judge_by_documents,
    score,


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


rule judge:
    """Ask one (model, trained_on, judge) about the rows of every dataset, together; a transcript for each dataset."""
    input:
        samples=of_each_dataset("results/excam40k/{dataset}/{split}.parquet"),
        weights=MODEL.weights,
        adapter=adapter,
        verified=verified,
    output:
        transcripts=of_each_dataset("results/transcripts/{model}/{trained_on}/{judge}/{dataset}/{split}.jsonl"),
        manifests=of_each_dataset("results/transcripts/{model}/{trained_on}/{judge}/{dataset}/{split}.manifest.json"),
    log:
        "logs/judge/{model}/{trained_on}/{judge}/{split}.log",
    benchmark:
        "benchmarks/judge/{model}/{trained_on}/{judge}/{split}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        # reports are short; a baseline may think for 2,048 tokens a row
        **MODEL.resources(minutes=lambda w: len(DATASETS) * (20 if w.trained_on == "nothing" else 10)),
    params:
        **MODEL.params,
        version=versions("judge", "asks.{judge}", MODEL.answers),
        adapter=flag("adapter", adapter),
    shell:
        "python -m scripts judge --name {wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}"
        " --model {params.model:q} --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q}"
        " {params.adapter:q} --judge {wildcards.judge:q} --samples {input.samples:q} --seed {params.seed:q}"
        " --journal results/journal/{wildcards.model:q}/{wildcards.trained_on:q}/{wildcards.judge:q}.jsonl"
        " --transcripts {output.transcripts:q} --manifests {output.manifests:q} 2>&1 | tee {log:q}"


rule score:
    """Parse the transcripts of one (model, trained_on, judge) into judgements. A new parser needs no GPU."""
    input:
        samples=of_each_dataset("results/excam40k/{dataset}/{split}.parquet"),
        transcripts=of_each_dataset("results/transcripts/{model}/{trained_on}/{judge}/{dataset}/{split}.jsonl"),
    output:
        judgements=of_each_dataset("results/judgements/{model}/{trained_on}/{judge}/{dataset}/{split}.parquet"),
    log:
        "logs/score/{model}/{trained_on}/{judge}/{split}.log",
    benchmark:
        "benchmarks/score/{model}/{trained_on}/{judge}/{split}.tsv"
    wildcard_constraints:
        model=one_of(EXPERIMENT.models),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("score", "judges.{judge}"),
        end_token="yes" if EXPERIMENT.scoring.end_token else "no",
    shell:
        "python -m scripts score --judge {wildcards.judge:q} --samples {input.samples:q}"
        " --transcripts {input.transcripts:q} --end-token {params.end_token:q} --judgements {output.judgements:q}"
        " 2>&1 | tee {log:q}"


rule judge_by_documents:
    """Judge the rows of every dataset without a model, by the documents that `judging.documents` names."""
    input:
        samples=of_each_dataset("results/excam40k/{dataset}/{split}.parquet"),
        bases=of_each_dataset("results/samples/{dataset}.bases.jsonl"),
        documents=DOCUMENTS,
    output:
        judgements=of_each_dataset("results/judgements/documents/nothing/words/{dataset}/{split}.parquet"),
    log:
        "logs/judge_by_documents/{split}.log",
    benchmark:
        "benchmarks/judge_by_documents/{split}.tsv"
    conda:
        "../envs/data.yaml"
    params:
        version=versions(
            "judge_by_documents",
            "excam40k/by_documents",
            "error_reports/floors",
            "readers.words",
            "knowledge/passages",
        ),
        seed=EXPERIMENT.seed,
    shell:
        "python -m scripts judge_by_documents --samples {input.samples:q} --bases {input.bases:q}"
        " --documents {input.documents:q} --seed {params.seed:q} --judgements {output.judgements:q} 2>&1 | tee {log:q}"
