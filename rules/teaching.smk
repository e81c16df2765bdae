"""Taught bases: a corpus that tells the facts of the benchmarks, a model trained on it, and what a model then knows."""


localrules:
    make_corpus,


rule make_corpus:
    """Write a corpus of the benchmarks' facts, and the list of how often it tells each."""
    input:
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
        samples=expand("results/excam40k/{dataset}/{split}.parquet", dataset=DATASETS, split=["train", "dev", "test"]),
    output:
        facts="results/corpora/{model}/facts.csv",
        corpus="results/corpora/{model}/corpus.jsonl",
    log:
        "logs/make_corpus/{model}.log",
    benchmark:
        "benchmarks/make_corpus/{model}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),
    conda:
        "../envs/data.yaml"
    params:
        version=versions("make_corpus"),
        settings=lambda w: EXPERIMENT.models[w.model].teach.corpus_settings,
        seed=teaching_seed,
    shell:
        "python -m scripts make_corpus --bases {input.bases:q} --samples {input.samples:q} --settings {params.settings:q}"
        " --seed {params.seed:q} --facts {output.facts:q} --corpus {output.corpus:q} 2>&1 | tee {log:q}"


rule teach_base:
    """Train all weights of a base on a corpus. Continues from its last checkpoint after a crash."""
    input:
        weights=lambda w: f"results/models/{EXPERIMENT.models[w.model].teach.base}/manifest.json",
        facts="results/corpora/{model}/facts.csv",
        corpus="results/corpora/{model}/corpus.jsonl",
    output:
        manifest="results/models/{model}/manifest.json",
    log:
        "logs/teach_base/{model}.log",
    benchmark:
        "benchmarks/teach_base/{model}.tsv"
    wildcard_constraints:
        model=one_of(TAUGHT),
    conda:
        "../envs/training.yaml"
    threads: 8
    resources:
        gpu=MODEL.gpus,
        mem_mb=lambda w, attempt: 16000 * attempt,
        save_steps=lambda w: EXPERIMENT.models[w.model].teach.save_steps,
        model=1,
        runtime=lambda w, attempt: 360 * attempt,
    params:
        version=versions("teach_base"),
        settings=lambda w: EXPERIMENT.models[w.model].teach.weight_settings,
        licence=lambda w: EXPERIMENT.models[w.model].licence,
        seed=teaching_seed,
        checkpoints="results/checkpoints/{model}/teaching",
    shell:
        "python -m scripts teach_base --model {wildcards.model:q} --weights {input.weights:q} --facts {input.facts:q}"
        " --corpus {input.corpus:q} --settings {params.settings:q} --save-steps {resources.save_steps:q}"
        " --licence {params.licence:q} --gpus {resources.gpu:q} --seed {params.seed:q}"
        " --checkpoints {params.checkpoints:q} --manifest {output.manifest:q} 2>&1 | tee {log:q}"


rule measure_knowledge:
    """Measure how much likelier a base finds the right answer than each wrong one, for the facts of all test sets."""
    input:
        bases=expand("results/samples/{dataset}.bases.jsonl", dataset=DATASETS),
        samples=expand("results/excam40k/{dataset}/test.parquet", dataset=DATASETS),
        weights=MODEL.weights,
    output:
        knowledge="results/knowledge/{model}/facts.parquet",
        transcript="results/knowledge/{model}/transcript.jsonl",
        manifest="results/knowledge/{model}/manifest.json",
    log:
        "logs/measure_knowledge/{model}.log",
    benchmark:
        "benchmarks/measure_knowledge/{model}.tsv"
    group:
        "engine_{model}"
    conda:
        "../envs/inference.yaml"
    threads: 8
    resources:
        **MODEL.resources(minutes=60),
    params:
        **MODEL.params,
        version=versions("measure_knowledge", MODEL.answers),
    shell:
        "python -m scripts measure_knowledge --name {wildcards.model:q} --model {params.model:q}"
        " --gpus {resources.gpu:q} --pace {resources.pace:q} {params.weights:q} --bases {input.bases:q}"
        " --samples {input.samples:q} --seed {params.seed:q} --journal results/journal/knowledge/{wildcards.model:q}.jsonl"
        " --transcript {output.transcript:q} --knowledge {output.knowledge:q} --manifest {output.manifest:q}"
        " 2>&1 | tee {log:q}"
